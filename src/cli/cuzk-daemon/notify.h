/* What systemd wants to hear of a Type=notify service: datagrams to the socket NOTIFY_SOCKET names. */
#ifndef CUZK_CLI_DAEMON_NOTIFY_H
#define CUZK_CLI_DAEMON_NOTIFY_H

#include <stdbool.h>

/* Send lines such as "READY=1\nSTATUS=serving". False when nobody asked for them or they cannot be sent,
 * which is no reason to stop. */
bool notify_send(const char *lines);

/* Has anybody asked? */
bool notify_wanted(void);

/* Seconds within which systemd wants a WATCHDOG=1 again and again; 0 when it does not. */
double notify_watchdog_seconds(void);

#endif
