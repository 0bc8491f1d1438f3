/* Moving a combination as compiled Rust does: small structs by vector registers, larger ones by memcpy. */
#ifndef CUZK_BENCH_LC_MOVE_H
#define CUZK_BENCH_LC_MOVE_H

#include <string.h>

#define LC_MOVE_INLINE 128u /* LLVM's limit for x86-64 */

static inline __attribute__((always_inline)) void lc_move(void *out, const void *from, size_t bytes) {
    if (bytes <= LC_MOVE_INLINE) {
        memcpy(out, from, bytes);
        return;
    }
    __asm__("" : "+r"(bytes)); /* of a size unknown to the compiler, so that it calls the library */
    memcpy(out, from, bytes);
}

/* Zeros by the library's memset; of a size that it knows, gcc would use slow string instructions. */
static inline __attribute__((always_inline)) void lc_zero_bytes(void *out, size_t bytes) {
    __asm__("" : "+r"(bytes));
    memset(out, 0, bytes);
}

#endif
