/*
 * The table of settings. Everything else about them follows from here: add a line, a member of struct config,
 * and run the two commands that tests/test_config.c names when docs or the example fall behind.
 */
#include <string.h>

#include "server/config.h"
#include "server/config_parts.h"

#define SECOND    UINT64_C(1000)
#define HOUR      (3600 * SECOND)
#define DAY       (24 * HOUR)
#define MIB       (UINT64_C(1) << 20)
#define GIB       (UINT64_C(1) << 30)
#define PIB       (UINT64_C(1) << 50)
#define ANY_BYTES (UINT64_C(1) << 60)

static const char *const level_choices[] = {"off", "error", "warn", "info", "debug", "trace", NULL};
static const char *const format_choices[] = {"text", "json", NULL};

#define AT(member)               .offset = offsetof(config, member)
#define ON_CPU                   "proofs are made on the CPU"
#define NOT_USED(status_, note_) .offset = CONFIG_NO_PLACE, .status = status_, .note = note_

/* clang-format off */
static const config_key table[] = {
    {"daemon.listen", .type = CONFIG_ADDRESS, AT(daemon.listen), .fallback = "unix:///run/curio/cuzk.sock",
     .environment = "CUZK_DAEMON_LISTEN", .flag = "--listen",
     .meaning = "Where gRPC is served: unix:///PATH (mode 0660), or IP:PORT, which needs no credentials of anyone who can reach it"},
    {"daemon.status_listen", .type = CONFIG_INET, AT(daemon.status_listen), .fallback = "", .optional = true,
     .environment = "CUZK_DAEMON_STATUS_LISTEN", .flag = "--status-listen",
     .meaning = "IP:PORT of the HTTP side: the page, /status, /metrics, /healthz, /readyz; empty = off"},
    {"daemon.state_dir", .type = CONFIG_PATH, AT(daemon.state_dir), .fallback = "", .optional = true,
     .environment = "CUZK_DAEMON_STATE_DIR", .flag = "--state-dir",
     .meaning = "Directory where accepted jobs and results outlive the process; empty = kept in memory alone"},
    {"daemon.drain_timeout", .type = CONFIG_DURATION, AT(daemon.drain_timeout_ms), .fallback = "30m", .high = 7 * DAY, .reload = true,
     .environment = "CUZK_DAEMON_DRAIN_TIMEOUT", .flag = "--drain-timeout",
     .meaning = "How long accepted jobs may still run after SIGTERM or SIGINT; then they are cancelled"},
    {"daemon.max_connections", .type = CONFIG_COUNT, AT(daemon.max_connections), .fallback = "4096", .low = 1, .high = 1000000,
     .environment = "CUZK_DAEMON_MAX_CONNECTIONS",
     .meaning = "gRPC connections open at once"},
    {"daemon.max_message_size", .type = CONFIG_BYTES, AT(daemon.max_message_size), .fallback = "256MiB", .low = MIB, .high = 2 * GIB,
     .environment = "CUZK_DAEMON_MAX_MESSAGE_SIZE",
     .meaning = "The largest request; a larger one is refused before it is read"},
    {"daemon.request_budget", .type = CONFIG_BYTES, AT(daemon.request_budget), .fallback = "auto", .automatic = true, .low = MIB, .high = PIB,
     .environment = "CUZK_DAEMON_REQUEST_BUDGET",
     .meaning = "Bytes of all requests being uploaded or held; beyond it requests are refused with a hint when to retry. "
                "auto = an eighth of memory.total_budget, at least one message"},
    {"daemon.upload_stall_timeout", .type = CONFIG_DURATION, AT(daemon.upload_stall_timeout_ms), .fallback = "60s", .low = SECOND, .high = DAY,
     .environment = "CUZK_DAEMON_UPLOAD_STALL_TIMEOUT",
     .meaning = "A request whose upload makes no progress for so long is dropped"},
    {"daemon.result_ttl", .type = CONFIG_DURATION, AT(daemon.result_ttl_ms), .fallback = "1h", .low = SECOND, .high = 30 * DAY, .reload = true,
     .environment = "CUZK_DAEMON_RESULT_TTL",
     .meaning = "How long the result of a finished job can be fetched again"},
    {"daemon.result_bytes", .type = CONFIG_BYTES, AT(daemon.result_bytes), .fallback = "64MiB", .low = 1 << 16, .high = ANY_BYTES, .reload = true,
     .environment = "CUZK_DAEMON_RESULT_BYTES",
     .meaning = "Memory for results of finished jobs; the oldest go first"},
    {"daemon.failure_dir", .type = CONFIG_PATH, AT(daemon.failure_dir), .fallback = "", .optional = true,
     .environment = "CUZK_DAEMON_FAILURE_DIR",
     .meaning = "Directory that keeps the input of proofs that failed their own check; empty = not kept"},
    {"daemon.failure_bytes", .type = CONFIG_BYTES, AT(daemon.failure_bytes), .fallback = "2GiB", .high = ANY_BYTES, .reload = true,
     .environment = "CUZK_DAEMON_FAILURE_BYTES",
     .meaning = "Disk space for daemon.failure_dir; the oldest go first"},

    {"memory.total_budget", .type = CONFIG_BYTES, AT(memory.total_budget), .fallback = "auto", .automatic = true, .low = 64 * MIB, .high = PIB, .reload = true,
     .environment = "CUZK_MEMORY_TOTAL_BUDGET", .flag = "--memory-budget",
     .meaning = "Memory for requests, proofs in work and locked keys together. auto = the least of physical memory, cgroup limit and "
                "address-space limit, less memory.safety_margin"},
    {"memory.safety_margin", .type = CONFIG_BYTES, AT(memory.safety_margin), .fallback = "5GiB", .high = PIB, .reload = true,
     .environment = "CUZK_MEMORY_SAFETY_MARGIN",
     .meaning = "What an automatic budget leaves to others; the default shrinks to a quarter of a smaller machine"},
    {"memory.eviction_min_idle", .type = CONFIG_DURATION, AT(memory.eviction_min_idle_ms), .fallback = "5m", .high = 30 * DAY, .reload = true,
     .environment = "CUZK_MEMORY_EVICTION_MIN_IDLE",
     .meaning = "How long a proving key must be out of use before it may be evicted"},
    {"memory.pinned_budget", .type = CONFIG_BYTES, .fallback = "0", .high = ANY_BYTES,
     NOT_USED(CONFIG_DEPRECATED, "use memory.total_budget, which covers everything"),
     .meaning = "Formerly a budget for keys alone"},
    {"memory.working_memory_budget", .type = CONFIG_BYTES, .fallback = "0", .high = ANY_BYTES,
     NOT_USED(CONFIG_DEPRECATED, "use memory.total_budget, which covers everything"),
     .meaning = "Formerly a budget for proofs in work alone"},

    {"srs.param_cache", .type = CONFIG_PATH, AT(srs.param_cache), .fallback = "/data/zk/params",
     .environment = "FIL_PROOFS_PARAMETER_CACHE", .flag = "--params",
     .meaning = "Directory of the .params and .vk files; never written to"},
    {"srs.preload", .type = CONFIG_STRINGS, .fallback = "",
     NOT_USED(CONFIG_DEPRECATED, "use keys.preload"),
     .meaning = "Formerly the keys to load at start"},

    {"keys.preload", .type = CONFIG_STRINGS, AT(keys.preload), .fallback = "",
     .environment = "CUZK_KEYS_PRELOAD", .flag = "--preload",
     .meaning = "Circuits whose keys are loaded at start, such as porep-32g ('cuzk params list' names all)"},
    {"keys.lock", .type = CONFIG_BOOL, AT(keys.lock), .fallback = "true",
     .environment = "CUZK_KEYS_LOCK",
     .meaning = "Lock preloaded keys in memory, as far as the limit of locked memory allows"},

    {"engine.threads", .type = CONFIG_COUNT, AT(engine.threads), .fallback = "0", .automatic = true, .high = 1024,
     .environment = "CUZK_ENGINE_THREADS", .flag = "--threads",
     .meaning = "Cores for all work together; 0 = every CPU the process may use"},
    {"synthesis.threads", .type = CONFIG_COUNT, .fallback = "0", .high = 1024,
     NOT_USED(CONFIG_NO_EFFECT, "synthesis takes the cores that proving leaves free, and all of them when it leaves all; engine.threads bounds both"),
     .meaning = "Formerly the threads of synthesis"},
    {"synthesis.partition_workers", .type = CONFIG_COUNT, .fallback = "0", .high = 1024,
     NOT_USED(CONFIG_DEPRECATED, "use pipeline.synthesis_lookahead"),
     .meaning = "Formerly the partitions synthesized at once"},
    {"pipeline.enabled", .type = CONFIG_BOOL, .fallback = "true",
     NOT_USED(CONFIG_NO_EFFECT, "synthesis and proving always overlap; pipeline.synthesis_lookahead bounds it"),
     .meaning = "Formerly the choice between two engines"},
    {"pipeline.synthesis_lookahead", .type = CONFIG_COUNT, AT(pipeline.synthesis_lookahead), .fallback = "1", .low = 1, .high = 256, .reload = true,
     .environment = "CUZK_PIPELINE_SYNTHESIS_LOOKAHEAD",
     .meaning = "Partitions synthesized ahead of the prover"},
    {"pipeline.synthesis_concurrency", .type = CONFIG_COUNT, .fallback = "1", .high = 1024,
     NOT_USED(CONFIG_NO_EFFECT, "nothing waits for a single dispatcher; pipeline.synthesis_lookahead bounds what is ahead"),
     .meaning = "Formerly the dispatches at once"},
    {"pipeline.max_parallel_synthesis", .type = CONFIG_COUNT, .fallback = "0", .high = 1024,
     NOT_USED(CONFIG_NO_EFFECT, "pipeline.synthesis_lookahead bounds what is ahead"),
     .meaning = "Formerly a cap of synthesis workers"},
    {"pipeline.slot_size", .type = CONFIG_COUNT, .fallback = "0", .high = 1024,
     NOT_USED(CONFIG_NO_EFFECT, "remove it"),
     .meaning = "Formerly the partitions of a slot"},
    {"pipeline.max_gpu_queue_depth", .type = CONFIG_COUNT, .fallback = "0", .high = 1024,
     NOT_USED(CONFIG_NO_EFFECT, ON_CPU "; pipeline.synthesis_lookahead bounds what is ahead"),
     .meaning = "Formerly the target of a pacer"},

    {"scheduler.max_batch_size", .type = CONFIG_COUNT, AT(scheduler.max_batch_size), .fallback = "1", .low = 1, .high = 16, .reload = true,
     .environment = "CUZK_SCHEDULER_MAX_BATCH_SIZE",
     .meaning = "Partitions of one circuit proved over one pass of its key; 1 = no batches"},
    {"scheduler.max_batch_wait_ms", .type = CONFIG_COUNT, AT(scheduler.max_batch_wait_ms), .fallback = "10000", .high = HOUR, .reload = true,
     .environment = "CUZK_SCHEDULER_MAX_BATCH_WAIT_MS",
     .meaning = "Milliseconds the first of a batch waits for others"},
    {"scheduler.sort_by_type", .type = CONFIG_BOOL, AT(scheduler.sort_by_type), .fallback = "true", .reload = true,
     .environment = "CUZK_SCHEDULER_SORT_BY_TYPE",
     .meaning = "Prefer jobs of the circuit proved last where priorities allow"},
    {"scheduler.max_queue", .type = CONFIG_COUNT, AT(scheduler.max_queue), .fallback = "1024", .low = 1, .high = 1000000, .reload = true,
     .environment = "CUZK_SCHEDULER_MAX_QUEUE",
     .meaning = "Unfinished jobs; one more is refused with a hint when to retry"},
    {"scheduler.ageing", .type = CONFIG_DURATION, AT(scheduler.ageing_ms), .fallback = "10m", .high = 30 * DAY, .reload = true,
     .environment = "CUZK_SCHEDULER_AGEING",
     .meaning = "When jobs of a priority have starved this long because of more urgent ones, one of them gets a turn; 0 = never"},

    {"logging.level", .type = CONFIG_CHOICE, AT(logging.level), .fallback = "info", .choices = level_choices, .reload = true,
     .environment = "CUZK_LOGGING_LEVEL", .flag = "--log-level",
     .meaning = "What is logged: off, error, warn, info, debug or trace"},
    {"logging.format", .type = CONFIG_CHOICE, AT(logging.format), .fallback = "text", .choices = format_choices, .reload = true,
     .environment = "CUZK_LOGGING_FORMAT", .flag = "--log-format",
     .meaning = "Lines of text, or one JSON object a line"},

    {"gpus.devices", .type = CONFIG_COUNTS, .fallback = "", .high = 1023, NOT_USED(CONFIG_NO_EFFECT, ON_CPU),
     .meaning = "GPUs to use"},
    {"gpus.gpu_threads", .type = CONFIG_COUNT, .fallback = "0", .high = 1024, NOT_USED(CONFIG_NO_EFFECT, ON_CPU "; engine.threads counts its cores"),
     .meaning = "CPU threads of the GPU side"},
    {"gpus.gpu_workers_per_device", .type = CONFIG_COUNT, .fallback = "2", .low = 1, .high = 64, NOT_USED(CONFIG_NO_EFFECT, ON_CPU),
     .meaning = "Proofs at once on one GPU"},
};
/* clang-format on */

const config_key *config_keys(size_t *n) {
    *n = sizeof table / sizeof table[0];
    return table;
}

const config_key *config_find_key(const char *key) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].key, key) == 0) return &table[i];
    return NULL;
}

const config_key *config_find_variable(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].environment && strlen(table[i].environment) == length &&
            memcmp(table[i].environment, name, length) == 0)
            return &table[i];
    return NULL;
}
