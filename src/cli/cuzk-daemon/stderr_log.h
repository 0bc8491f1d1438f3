/* The log on standard error, whole lines, for people and for the journal. */
#ifndef CUZK_CLI_DAEMON_STDERR_LOG_H
#define CUZK_CLI_DAEMON_STDERR_LOG_H

/* Become the sink of base/log.h. When standard error is the journal (JOURNAL_STREAM), each line begins with
 * its priority, "<6>", which the journal takes off again. */
void stderr_log_start(void);

#endif
