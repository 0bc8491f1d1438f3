/* Everything a running daemon consists of, from the settings to the end of the last job. */
#ifndef CUZK_CLI_DAEMON_DAEMON_H
#define CUZK_CLI_DAEMON_DAEMON_H

#include "settings.h"
#include "supervise.h"

/* Serve until signals end it (supervise.h). The log's sink is set before; *s is kept and read again on
 * SIGHUP, `c` is used and changed until this returns. */
cuzk_code daemon_serve(supervise_end *end, const settings *s, config *c, cuzk_error *err);

#endif
