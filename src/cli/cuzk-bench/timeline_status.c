/* Status documents of cuzk-daemon: their times of stages are exact, pauses and cores are seen when polled. */
#include <string.h>
#include <yajl/yajl_tree.h>

#include "timeline_record.h"

static yajl_val member(yajl_val object, const char *name) {
    const char *path[] = {name, NULL};
    return object ? yajl_tree_get(object, path, yajl_t_any) : NULL;
}

static double real(yajl_val object, const char *name, double fallback) {
    yajl_val v = member(object, name);
    return YAJL_IS_NUMBER(v) && __builtin_isfinite(YAJL_GET_DOUBLE(v)) ? YAJL_GET_DOUBLE(v) : fallback;
}

static void text(char *out, size_t size, yajl_val object, const char *name) {
    yajl_val v = member(object, name);
    if (YAJL_IS_STRING(v)) snprintf(out, size, "%s", v->u.string);
}

static void add_partition(timeline *t, timeline_job *job, uint32_t index, yajl_val p, double now,
                          double ended) {
    double synth = real(p, "synth_start", -1), prove = real(p, "prove_start", -1);
    double synth_end = real(p, "synth_end", -1), prove_end = real(p, "prove_end", -1);
    if (synth >= 0)
        timeline_set(t, job, index, TIMELINE_SYNTHESIS, synth, synth_end >= synth ? synth_end : ended);
    if (prove >= 0)
        timeline_set(t, job, index, TIMELINE_PROVE, prove, prove_end >= prove ? prove_end : ended);
    if (YAJL_IS_TRUE(member(p, "paused")))
        timeline_start(t, job, index, TIMELINE_PAUSE, now);
    else
        timeline_end(t, job, index, TIMELINE_PAUSE, now, 0);
}

/* Of the whole job: what comes before the first synthesis and after the last proof. */
static void add_whole(timeline *t, timeline_job *job, yajl_val j, yajl_val partitions) {
    double started = real(j, "started", -1), first = -1, last = -1;
    for (size_t i = 0; YAJL_IS_ARRAY(partitions) && i < partitions->u.array.len; i++) {
        double synth = real(partitions->u.array.values[i], "synth_start", -1);
        double proved = real(partitions->u.array.values[i], "prove_end", -1);
        if (synth >= 0 && (first < 0 || synth < first)) first = synth;
        if (proved > last) last = proved;
    }
    bool checking = YAJL_IS_TRUE(member(j, "checking")), verifying = YAJL_IS_TRUE(member(j, "verifying"));
    if (started >= 0 && (checking || first > started))
        timeline_set(t, job, TIMELINE_WHOLE_JOB, TIMELINE_CHECK, started, checking ? -1 : first);
    bool completed = strcmp(job->state, "completed") == 0;
    if (last >= 0 && (verifying || (completed && job->ended > last)))
        timeline_set(t, job, TIMELINE_WHOLE_JOB, TIMELINE_VERIFY, last, verifying ? -1 : job->ended);
}

static void add_job(timeline *t, yajl_val j, double since, double now) {
    yajl_val id = member(j, "id"), partitions = member(j, "partitions");
    double ended = real(j, "ended", -1);
    if (!YAJL_IS_STRING(id) || (ended >= 0 && ended < since)) return;
    timeline_job *job = timeline_job_named(t, id->u.string);
    if (!job) return;
    job->submitted = real(j, "accepted", -1);
    job->ended = ended;
    text(job->kind, sizeof job->kind, j, "kind");
    text(job->priority, sizeof job->priority, j, "priority");
    text(job->state, sizeof job->state, j, "state");
    for (size_t i = 0; YAJL_IS_ARRAY(partitions) && i < partitions->u.array.len; i++)
        add_partition(t, job, (uint32_t)i, partitions->u.array.values[i], now, ended);
    add_whole(t, job, j, partitions);
}

cuzk_code timeline_add_status(timeline *t, const char *json, double since, double *now, cuzk_error *err) {
    char why[256];
    yajl_val root = yajl_tree_parse(json, why, sizeof why);
    if (!root) return error_set(err, CUZK_ERR_INPUT, "/status", CUZK_NO_OFFSET, "not JSON: %.200s", why);
    yajl_val jobs = member(root, "jobs"), cores = member(root, "cores");
    *now = real(root, "uptime_secs", -1);
    cuzk_code code = CUZK_OK;
    if (*now < 0 || !YAJL_IS_ARRAY(jobs))
        code = error_set(err, CUZK_ERR_INPUT, "/status", CUZK_NO_OFFSET,
                         "no %s in it: expected the status document of cuzk-daemon",
                         *now < 0 ? "uptime_secs" : "jobs");
    for (size_t i = 0; code == CUZK_OK && i < jobs->u.array.len; i++)
        add_job(t, jobs->u.array.values[i], since < 0 ? *now : since, *now);
    double total = real(cores, "total", 0);
    if (code == CUZK_OK && total >= 1 && total < 1e6)
        timeline_sampled(t, *now, (unsigned)real(cores, "busy", 0), (unsigned)total);
    yajl_tree_free(root);
    return code;
}
