/* From the daemon's settings to the engine's. */
#ifndef CUZK_SERVER_ENGINE_SETTINGS_H
#define CUZK_SERVER_ENGINE_SETTINGS_H

#include "engine/engine.h"
#include "server/config.h"

/* Set in *out what `c` decides; backends, store and events stay as they are. Strings are those of c, which
 * must live as long as *out is used. */
void engine_settings(engine_config *out, const config *c);

#endif
