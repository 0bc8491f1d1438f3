/*
 * The chart: a lane for each job and partition, time to the right, cores below. Colours are told apart by
 * those who see fewer, too; what waits is pale, a pause is a gap of stripes. Plain fills, and others by a
 * media query where the reader's scheme is dark. Every bar has its numbers as a tooltip.
 */
#include <math.h>
#include <string.h>

#include "timeline_record.h"

#define LEFT      230.0
#define WIDTH     960.0 /* of the time axis */
#define RIGHT     24.0
#define TOP       84.0
#define LANE      13.0
#define LANE_GAP  3.0
#define JOB_GAP   7.0
#define CORES     54.0 /* height of the line of cores */
#define LABEL_MAX 24u  /* characters of a job id */

typedef struct chart {
    FILE *out;
    const timeline *t;
    double scale, height, bottom; /* bottom: of the lanes */
} chart;

/* XML text: at most `most` characters, whole ones of UTF-8; what XML cannot hold becomes '?'. */
static void put_text(FILE *out, const char *text, size_t most) {
    size_t shown = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if ((*s & 0xc0) != 0x80 && shown++ == most) {
            fputs("…", out);
            return;
        }
        if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '"')
            fputs("&quot;", out);
        else
            fputc(*s < 0x20 ? '?' : *s, out);
    }
}

static double x_of(const chart *c, double time) {
    return LEFT + (time - c->t->first) * c->scale;
}

/* A lane of the whole job is drawn with the only partition, if there is just one. */
static bool shares_lane(const timeline_job *job, const timeline_lane *lane) {
    return lane->partition == TIMELINE_WHOLE_JOB && job->n_lanes == 2;
}

static unsigned lanes_drawn(const timeline_job *job) {
    unsigned n = 0;
    for (size_t k = 0; k < job->n_lanes; k++) n += !shares_lane(job, &job->lanes[k]);
    return n ? n : 1;
}

static void put_span(const chart *c, const timeline_job *job, const timeline_lane *lane,
                     const timeline_span *s, double y) {
    double x = x_of(c, s->start), width = (s->end - s->start) * c->scale;
    bool thin = s->stage == TIMELINE_WAIT;
    fprintf(c->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>",
            timeline_stage_names[s->stage], x, thin ? y + 4 : y, width < 0.6 ? 0.6 : width,
            thin ? LANE - 8 : LANE);
    put_text(c->out, job->id, 200);
    if (lane->partition != TIMELINE_WHOLE_JOB) fprintf(c->out, ", partition %u", lane->partition);
    fprintf(c->out, ": %s %.3f s, from %.3f s</title></rect>\n", timeline_stage_names[s->stage],
            s->end - s->start, s->start - c->t->first);
}

static void put_lane(const chart *c, const timeline_job *job, const timeline_lane *lane, double y) {
    for (size_t i = 0; i < lane->n_spans; i++)
        if (lane->spans[i].stage != TIMELINE_PAUSE) put_span(c, job, lane, &lane->spans[i], y);
    for (size_t i = 0; i < lane->n_spans; i++)
        if (lane->spans[i].stage == TIMELINE_PAUSE) put_span(c, job, lane, &lane->spans[i], y);
}

static void put_job_label(const chart *c, const timeline_job *job, double y) {
    fprintf(c->out, "<text x=\"12\" y=\"%.1f\">", y + LANE - 2);
    put_text(c->out, job->id, LABEL_MAX);
    fputs("<title>", c->out);
    put_text(c->out, job->id, 300);
    if (job->kind[0]) {
        fputs(", ", c->out);
        put_text(c->out, job->kind, 30);
    }
    if (job->priority[0]) {
        fputs(", ", c->out);
        put_text(c->out, job->priority, 30);
    }
    fputs("</title></text>\n", c->out);
}

/* How the job ended, where that was not with a proof, and its retries. */
static void put_job_end(const chart *c, const timeline_job *job, double y) {
    bool good = !job->state[0] || strcmp(job->state, "completed") == 0 || job->ended < 0;
    if (good && job->retries == 0) return;
    double x = x_of(c, job->ended >= 0 ? job->ended : c->t->last);
    bool left = x > LEFT + WIDTH - 90;
    fprintf(c->out, "<text class=\"bad\" x=\"%.1f\" y=\"%.1f\"%s>", left ? x - 4 : x + 4, y + LANE - 2,
            left ? " text-anchor=\"end\"" : "");
    if (!good) put_text(c->out, job->state, 16);
    if (job->retries) fprintf(c->out, "%s%u computed again", good ? "" : ", ", job->retries);
    fputs("</text>\n", c->out);
}

/* From acceptance to the first stage: a line. */
static void put_queue_wait(const chart *c, const timeline_job *job, double y) {
    double first = -1;
    for (size_t k = 0; k < job->n_lanes; k++)
        for (size_t i = 0; i < job->lanes[k].n_spans; i++)
            if (first < 0 || job->lanes[k].spans[i].start < first) first = job->lanes[k].spans[i].start;
    double until = first >= 0 ? first : job->ended >= 0 ? job->ended : c->t->last;
    if (job->submitted < c->t->first || until <= job->submitted) return;
    fprintf(c->out, "<path class=\"queue\" d=\"M%.2f %.1fH%.2f\"/>\n", x_of(c, job->submitted), y + LANE / 2,
            x_of(c, until));
}

static void put_job(const chart *c, const timeline_job *job, double y) {
    put_queue_wait(c, job, y);
    put_job_label(c, job, y);
    double end_y = y;
    bool numbered = lanes_drawn(job) > 1;
    for (size_t k = 0; k < job->n_lanes; k++) {
        const timeline_lane *lane = &job->lanes[k];
        if (shares_lane(job, lane)) {
            put_lane(c, job, lane, y);
            continue;
        }
        if (numbered)
            fprintf(c->out, "<text class=\"note\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8,
                    y + LANE - 2);
        if (numbered && lane->partition == TIMELINE_WHOLE_JOB) fputs("job</text>\n", c->out);
        if (numbered && lane->partition != TIMELINE_WHOLE_JOB)
            fprintf(c->out, "%u</text>\n", lane->partition);
        put_lane(c, job, lane, y);
        end_y = y;
        y += LANE + LANE_GAP;
    }
    put_job_end(c, job, end_y);
}

/* 1, 2 or 5 times a power of ten, for some ten marks. */
static double step_of(double span) {
    double power = pow(10, floor(log10(span / 10)));
    double wanted = span / 10 / power;
    return power * (wanted <= 1 ? 1 : wanted <= 2 ? 2 : wanted <= 5 ? 5 : 10);
}

static void put_axis(const chart *c) {
    double span = c->t->last - c->t->first, step = step_of(span);
    int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    for (unsigned i = 0; i * step <= span * 1.0001; i++) {
        double x = LEFT + i * step * c->scale;
        fprintf(c->out,
                "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"note\" x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\">%.*f s</text>\n",
                x, TOP - 6, c->bottom, x, TOP - 10, decimals, i * step);
    }
}

static unsigned most_cores(const timeline *t) {
    unsigned most = 1;
    for (size_t i = 0; i < t->n_samples; i++) {
        if (t->samples[i].total > most) most = t->samples[i].total;
        if (t->samples[i].busy > most) most = t->samples[i].busy;
    }
    return most;
}

/* Busy cores as steps, each sample until the next. */
static void put_cores(const chart *c) {
    const timeline *t = c->t;
    if (t->n_samples == 0) return;
    double base = c->bottom + 18 + CORES;
    unsigned most = most_cores(t);
    fprintf(
        c->out,
        "<text x=\"12\" y=\"%.1f\">cores busy</text><text class=\"note\" x=\"%.0f\" y=\"%.1f\" "
        "text-anchor=\"end\">%u</text><text class=\"note\" x=\"%.0f\" y=\"%.1f\" "
        "text-anchor=\"end\">0</text>\n"
        "<path class=\"grid\" d=\"M%.1f %.1fH%.1fM%.1f %.1fH%.1f\"/>\n<path class=\"cores\" d=\"M%.2f %.1f",
        base - CORES + 10, LEFT - 8, base - CORES + 8, most, LEFT - 8, base + 2, LEFT, base, LEFT + WIDTH,
        LEFT, base - CORES, LEFT + WIDTH, x_of(c, t->samples[0].time), base);
    for (size_t i = 0; i < t->n_samples; i++)
        fprintf(c->out, "H%.2fV%.1f", x_of(c, t->samples[i].time), base - CORES * t->samples[i].busy / most);
    fprintf(c->out, "V%.1fZ\"/>\n", base);
}

static void put_legend(const chart *c) {
    static const char *const words[TIMELINE_STAGES] = {"check", "synthesis",    "waits for the prover",
                                                       "proof", "verification", "paused"};
    double x = 12;
    for (unsigned s = 0; s < TIMELINE_STAGES; s++) {
        fprintf(c->out,
                "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"%.0f\"/><text x=\"%.0f\" "
                "y=\"53\">%s</text>\n",
                timeline_stage_names[s], x, s == TIMELINE_WAIT ? 46.0 : 43.0, s == TIMELINE_WAIT ? 5.0 : 11.0,
                x + 20, words[s]);
        x += 38 + 7.2 * (double)strlen(words[s]);
    }
    fprintf(
        c->out,
        "<path class=\"queue\" d=\"M%.0f 48.5h14\"/><text x=\"%.0f\" y=\"53\">waits for its turn</text>\n", x,
        x + 20);
}

static const char style[] =
    "text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:16px;font-weight:600}.note{fill:#666;"
    "font-size:11px}.bad{fill:#b3261e;font-weight:600}.bg{fill:#fff}.grid{stroke:#e2e2e2;fill:none}"
    ".queue{stroke:#8a8a8a;stroke-dasharray:2 3;fill:none}.cores{fill:#5b7fb4;fill-opacity:.55}"
    ".check{fill:#8a8a8a}.synthesis{fill:#0072b2}.wait{fill:#b9cfe0}.prove{fill:#e08a00}.verify{fill:#009e73}"
    ".pause{fill:url(#stripes)}.gap{fill:#fff}.stripe{stroke:#555}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.note{fill:#a0a0a0}.bad{fill:#ff8a80}.bg{fill:#"
    "16181c}"
    ".grid{stroke:#33373d}.queue{stroke:#8f8f8f}.cores{fill:#7fa3da}.check{fill:#9a9a9a}.synthesis{fill:#"
    "56b4e9}"
    ".wait{fill:#34506a}.prove{fill:#f0a30a}.verify{fill:#2cc295}.gap{fill:#16181c}.stripe{stroke:#cfcfcf}}";

void timeline_draw(FILE *out, const timeline *given) {
    timeline t = *given;
    if (!(t.last > t.first)) t.last = t.first + 0.001;
    chart c = {.out = out, .t = &t, .scale = WIDTH / (t.last - t.first), .bottom = TOP};
    timeline_totals sums;
    timeline_sum(&sums, given);
    for (size_t i = 0; i < t.n_jobs; i++) c.bottom += lanes_drawn(&t.jobs[i]) * (LANE + LANE_GAP) + JOB_GAP;
    c.height = c.bottom + (t.n_samples ? CORES + 18 : 0) + 16;
    const double width = LEFT + WIDTH + RIGHT;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
            "%.0f\">\n"
            "<style>%s</style>\n<defs><pattern id=\"stripes\" width=\"5\" height=\"5\" "
            "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"gap\" width=\"5\" "
            "height=\"5\"/><path class=\"stripe\" d=\"M1 0V5\"/></pattern></defs>\n<rect class=\"bg\" "
            "width=\"%.0f\" height=\"%.0f\"/>\n<text class=\"title\" x=\"12\" y=\"26\">%zu job%s, %zu "
            "partition%s, "
            "%.1f s</text>\n",
            width, c.height, width, c.height, style, width, c.height, sums.jobs, sums.jobs == 1 ? "" : "s",
            sums.partitions, sums.partitions == 1 ? "" : "s", t.last - t.first);
    put_legend(&c);
    put_axis(&c);
    double y = TOP;
    for (size_t i = 0; i < t.n_jobs; i++) {
        put_job(&c, &t.jobs[i], y);
        y += lanes_drawn(&t.jobs[i]) * (LANE + LANE_GAP) + JOB_GAP;
    }
    put_cores(&c);
    fprintf(out, "</svg>\n");
}
