/*
 * The study as a chart: one bar per strategy and allocator, stacked from what the gadgets cost (none), what
 * evaluation adds (direct) and what storage adds, with the spread as a line on top.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "lc_study.h"

#define LEFT  150.0 /* where bars begin */
#define WIDTH 520.0 /* of the longest */
#define TOP   92.0
#define BAR   15.0
#define GAP   8.0

static const char *const colours[STUDY_ALLOCATORS] = {"#0a7d5c", "#b5651d"};

static double longest(const study *s) {
    double most = 1;
    for (unsigned i = 0; i < s->n; i++)
        for (int k = 0; k < STUDY_ALLOCATORS; k++)
            if (s->present[k] && study_time(s, i, (study_allocator)k, -1).most > most)
                most = study_time(s, i, (study_allocator)k, -1).most;
    return most;
}

static void put_part(FILE *out, double y, double from, double to, double scale, const char *colour) {
    if (to > from)
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\"/>\n",
                LEFT + from * scale, y, (to - from) * scale, BAR, colour);
}

static void put_bar(FILE *out, const study *s, unsigned row, study_allocator allocator, double y,
                    double scale) {
    const bench_spread t = study_time(s, row, allocator, -1);
    const double gadgets = study_time(s, STUDY_NONE_ROW, allocator, -1).median;
    const double direct = study_time(s, STUDY_DIRECT_ROW, allocator, -1).median;
    const double end = t.median;
    put_part(out, y, 0, end < gadgets ? end : gadgets, scale, "#c9c9c9");
    put_part(out, y, gadgets, end < direct ? end : direct, scale, "#9a9a9a");
    put_part(out, y, direct, end, scale, colours[allocator]);
    fprintf(out,
            "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\" stroke=\"#222\" fill=\"none\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\">%.0f</text>\n",
            LEFT + t.least * scale, y + BAR / 2, LEFT + t.most * scale, LEFT + t.least * scale,
            y + BAR / 2 - 3, LEFT + t.most * scale, y + BAR / 2 - 3, LEFT + t.most * scale + 6, y + 12,
            t.median);
}

static void put_key(FILE *out, double x, const char *colour, const char *text) {
    fprintf(out,
            "<rect x=\"%.0f\" y=\"54\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" "
            "y=\"65\">%s</text>\n",
            x, colour, x + 17, text);
}

static void put_chart(FILE *out, const study *s) {
    unsigned bars = 0;
    for (int k = 0; k < STUDY_ALLOCATORS; k++) bars += s->present[k];
    const double group = bars * BAR + GAP, scale = WIDTH / longest(s);
    const double height = TOP + s->n * group + 8;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%.0f\" viewBox=\"0 0 760 %.0f\">\n"
        "<style>text{font:13px sans-serif;fill:#222}.title{font-size:16px;font-weight:600}"
        ".note{fill:#666}</style>\n<rect width=\"760\" height=\"%.0f\" fill=\"#fff\"/>\n"
        "<text x=\"16\" y=\"24\" class=\"title\">Generic synthesis, ns of CPU time per constraint: shorter "
        "is "
        "better</text>\n<text x=\"16\" y=\"42\" class=\"note\">Median of %u, the line is least to most. %llu "
        "constraints, one thread.</text>\n",
        height, height, height, s->rounds, (unsigned long long)s->measured);
    put_key(out, 16, "#c9c9c9", "gadgets");
    put_key(out, 100, "#9a9a9a", "evaluation");
    double x = 200;
    for (int k = 0; k < STUDY_ALLOCATORS; k++) {
        char text[48];
        if (!s->present[k]) continue;
        snprintf(text, sizeof text, "storage, %s", study_allocator_names[k]);
        put_key(out, x, colours[k], text);
        x += 150;
    }
    for (unsigned i = 0; i < s->n; i++) {
        double y = TOP + i * group;
        fprintf(out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
                y + bars * BAR / 2 + 5, s->rows[i].strategy->name);
        for (int k = 0; k < STUDY_ALLOCATORS; k++) {
            if (!s->present[k]) continue;
            put_bar(out, s, i, (study_allocator)k, y, scale);
            y += BAR;
        }
    }
    fprintf(out, "</svg>\n");
}

cuzk_code study_write_chart(const study *s, const char *path, cuzk_error *err) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return error_no_memory(err, 1 << 16, "the chart");
    put_chart(out, s);
    cuzk_code code = CUZK_OK;
    if (fclose(out) != 0)
        code = error_no_memory(err, size, "the chart");
    else
        code = file_write_all(path, text, size, err);
    free(text);
    return code;
}
