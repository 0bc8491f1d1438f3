#include "r1cs/expand.h"

#include "r1cs/expand_kernel.h"

static const expand_kernel *kernel(void) {
#if defined(__x86_64__)
    if (field.isa == CPU_IFMA) return &expand_ifma;
#endif
    return &expand_portable;
}

bool expand_rows(const compact_witness *w, expansion_path path, uint64_t first, size_t n, fr *a, fr *b, fr *c,
                 bool stream) {
    row_sink sink = {.first = first, .out = {a, b, c}, .stream = stream};
    kernel()->rows(&sink, w, path, first, n);
    return sink.bad == 0;
}

bool expand_check(const compact_witness *w, uint64_t first, size_t n) {
    return kernel()->check(w, first, n);
}

bool expand_codes(const compact_witness *w, uint64_t first, unsigned n, uint64_t planes[6], uint64_t *full) {
    memset(planes, 0, 6 * sizeof *planes);
    *full = 0;
    row_sink sink = {.first = first, .planes = planes, .full = full};
    kernel()->rows(&sink, w, EXPAND_TEMPLATES, first, n);
    return sink.bad == 0;
}

void expand_aux(const compact_witness *w, uint32_t first, size_t n, fr *out, bool stream) {
    kernel()->aux(w, first, n, out, stream);
}
