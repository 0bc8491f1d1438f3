/* The engine as the daemon runs it: made from the settings, its events in the log. */
#ifndef CUZK_CLI_DAEMON_HOST_H
#define CUZK_CLI_DAEMON_HOST_H

#include "engine/engine.h"
#include "server/config.h"

/* Engine settings of the daemon's; strings point into *c. */
void host_engine_config(engine_config *out, const config *c);

/* Create the engine. Without `store` jobs live in memory alone. *c must outlive it. */
cuzk_code host_start(engine **out, const config *c, const engine_store *store, cuzk_error *err);

/* Load the keys of keys.preload in a thread of its own, one after the other. Call host_preload_join before
 * the engine is destroyed. What fails is logged: jobs that need it will say so, too. */
cuzk_code host_preload(engine *e, const config *c, cuzk_error *err);
void host_preload_join(void);

#endif
