/* The progress bar, and turning SIGINT and SIGTERM into an orderly stop. */
#include "command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_WIDTH 32

static volatile sig_atomic_t interrupted;

static void on_signal(int signal_number) {
    interrupted = 1;
    /* A second one ends the process at once. */
    signal(signal_number, SIG_DFL);
}

/* The bar, the share done, and the time left by linear extrapolation within the phase. */
static void draw(progress_bar *bar, uint64_t done, uint64_t total, double now) {
    double elapsed = now - bar->phase_start;
    if (total == 0) {
        fprintf(stderr, "%s%-12s %" PRIu64 "  %.0f s%s", bar->terminal ? "\r" : "", bar->phase, done, elapsed,
                bar->terminal ? "\x1b[K" : "\n");
        return;
    }
    double share = (double)done / (double)total;
    if (share > 1) share = 1;
    char text[BAR_WIDTH + 1];
    int filled = (int)(share * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++) text[i] = i < filled ? '#' : '.';
    text[BAR_WIDTH] = 0;
    char tail[48] = "";
    if (done >= total)
        snprintf(tail, sizeof tail, "  %.1f s", elapsed);
    else if (share > 0.01 && elapsed > 1)
        snprintf(tail, sizeof tail, "  %.0f s left", elapsed / share - elapsed);
    if (bar->terminal)
        fprintf(stderr, "\r%-12s [%s] %3.0f%%%s\x1b[K", bar->phase, text, 100 * share, tail);
    else
        fprintf(stderr, "%-12s %3.0f%%%s\n", bar->phase, 100 * share, tail);
    bar->drawn = true;
}

/* On a terminal the bar moves ten times a second. Elsewhere a line comes every five seconds, and one when a
 * phase that took a second or more ends. */
static bool report(void *ctx, const char *phase, uint64_t done, uint64_t total) {
    progress_bar *bar = ctx;
    if (interrupted) return false;
    if (!bar->enabled) return true;
    double now = clock_seconds();
    if (strcmp(phase, bar->phase) != 0) {
        if (bar->drawn && bar->terminal) fputc('\n', stderr);
        bar->drawn = false;
        snprintf(bar->phase, sizeof bar->phase, "%s", phase);
        bar->phase_start = now;
    }
    bool last = total != 0 && done >= total;
    bool due = bar->terminal ? last || now - bar->last_drawn >= 0.1
                             : now - bar->last_drawn >= 5 || (last && now - bar->phase_start >= 1);
    if (!due) return true;
    bar->last_drawn = now;
    draw(bar, done, total, now);
    return true;
}

cuzk_progress progress_start(progress_bar *bar, const common_options *options) {
    memset(bar, 0, sizeof *bar);
    bar->enabled = !options->quiet;
    bar->terminal = isatty(STDERR_FILENO) == 1;
    bar->phase_start = bar->last_drawn = clock_seconds();
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return (cuzk_progress){report, bar};
}

void progress_finish(progress_bar *bar) {
    if (bar->enabled && bar->drawn && bar->terminal) fputc('\n', stderr);
    bar->drawn = false;
}
