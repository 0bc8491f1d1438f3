/* States of an engine that never ran: what status pages are tested and shown with. */
#ifndef CUZK_TESTS_SCENE_H
#define CUZK_TESTS_SCENE_H

#include "engine/engine.h"

typedef enum scene {
    SCENE_EMPTY,    /* just started: nothing at all */
    SCENE_ONE,      /* one job, ten partitions */
    SCENE_BUSY,     /* several kinds and priorities, results, a failure */
    SCENE_THOUSAND, /* 1,000 waiting jobs behind two running ones */
    SCENE_FAILURES, /* every way to fail, self-checks too; draining */
    SCENE_HOSTILE   /* ids and messages that try to be markup, text and numbers that break layouts */
} scene;

/* "empty", "one", "busy", "thousand", "failures", "hostile"; false when it is none of them. */
bool scene_parse(scene *out, const char *name);

/* The state `seconds` after the scene began: jobs move on. scene_free it. */
void scene_make(engine_snapshot *out, scene kind, double seconds);
void scene_free(engine_snapshot *s);

#endif
