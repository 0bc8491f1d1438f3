/* Loading the keys of keys.preload while the daemon already serves. */
#ifndef CUZK_CLI_DAEMON_PRELOAD_H
#define CUZK_CLI_DAEMON_PRELOAD_H

#include "engine/engine.h"
#include "server/config.h"

typedef struct preload preload;

/* Load them one after the other in a thread; what fails is logged, and jobs that need it will say so, too.
 * *out is NULL when there are none. */
cuzk_code preload_start(preload **out, engine *e, const config_list *circuits, cuzk_error *err);
/* Wait for the thread, before the engine is destroyed (draining it ends the loading). */
void preload_join(preload *p);

#endif
