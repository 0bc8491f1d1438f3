/*
 * Montgomery multiplication with MULX and the two carry chains of ADCX and ADOX, limbs in registers.
 *
 * Operand scanning, as in the portable code: for each limb b[i], t += a * b[i], then t = (t + q m) / 2^64
 * with q = -t / m mod 2^64. In a row of products the low words go into t through the overflow flag (ADOX) and
 * the high words one place further through the carry flag (ADCX), so that the two chains overlap. The word
 * above t is `top`; it never overflows, because t stays below 2 r < 2^256 or 3 p < 2^384 between rows.
 *
 * An Fp square replaces row i by a[i] times (a[i], 2 a[i+1], ..., 2 a[5]), starting at t[i]: each cross
 * product once, doubled. For Fr that would need t up to 3 r > 2^256, so an Fr square is a product.
 */
#include "field/fp.h"
#include "field/fr.h"

static const uint64_t fr_inv64 = FR_INV, fp_inv64 = FP_INV;

/* One column of a row: 2^64 hi + lo = rdx * SRC, lo to T and hi to NEXT. */
#define COLUMN(SRC, T, NEXT)                                                                                 \
    "mulxq " SRC ", %[lo], %[hi]\n\tadoxq %[lo], %[" T "]\n\tadcxq %[hi], %[" NEXT "]\n\t"
/* Before a row: rdx = its multiplier, top = 0 and both flags clear; ON keeps top, for a second row before the
 * same reduction. */
#define ROW(B)    "movq " B ", %%rdx\n\txorl %k[top], %k[top]\n\t"
#define ROW_ON(B) "movq " B ", %%rdx\n\txorl %k[lo], %k[lo]\n\t"
#define ROW_END   "movl $0, %k[lo]\n\tadoxq %[lo], %[top]\n\t"

/* The columns of the first row, which set t instead of adding to it. */
#define FIRST(SRC, T, NEXT)    "mulxq " SRC ", %[" T "], %[" NEXT "]\n\t"
#define SET(ADD, SRC, T, NEXT) "mulxq " SRC ", %[lo], %[" NEXT "]\n\t" ADD " %[lo], %[" T "]\n\t"
#define FIRST_END              "adcq $0, %[top]\n\t"

/* t = (t + q m) / 2^64: column j of q m goes into t[j - 1]. */
#define REDUCE                                                                                               \
    "movq %[t0], %%rdx\n\timulq %[inv], %%rdx\n\txorl %k[lo], %k[lo]\n\t"                                    \
    "mulxq %[m], %[lo], %[hi]\n\tadcxq %[t0], %[lo]\n\tmovq %[hi], %[t0]\n\tadcxq %[t1], %[t0]\n\t"
#define REDUCE_COLUMN(M, TO, T, NEXT)                                                                        \
    "mulxq " M "+%[m], %[lo], %[" T "]\n\tadoxq %[lo], %[" TO "]\n\tadcxq %[" NEXT "], %[" T "]\n\t"
#define REDUCE_END(M, TO, T)                                                                                 \
    "mulxq " M "+%[m], %[lo], %[" T "]\n\tadoxq %[lo], %[" TO "]\n\tmovl $0, %k[lo]\n\t"                     \
    "adcxq %[lo], %[" T "]\n\tadoxq %[top], %[" T "]\n\t"

/* Four limbs. */

#define FIRST4                                                                                               \
    "movq (%[b]), %%rdx\n\t" FIRST("(%[a])", "t0", "t1") SET("addq", "8(%[a])", "t1", "t2")                  \
        SET("adcq", "16(%[a])", "t2", "t3") SET("adcq", "24(%[a])", "t3", "top") FIRST_END
#define ROW4(B)                                                                                              \
    ROW(B)                                                                                                   \
    COLUMN("(%[a])", "t0", "t1")                                                                             \
    COLUMN("8(%[a])", "t1", "t2") COLUMN("16(%[a])", "t2", "t3") COLUMN("24(%[a])", "t3", "top") ROW_END
#define REDUCE4                                                                                              \
    REDUCE REDUCE_COLUMN("8", "t0", "t1", "t2") REDUCE_COLUMN("16", "t1", "t2", "t3")                        \
        REDUCE_END("24", "t2", "t3")
/* out = t - m if t >= m, else t. */
#define STORE4                                                                                               \
    "movq %[t0], %[lo]\n\tmovq %[t1], %[hi]\n\tmovq %[t2], %[top]\n\tmovq %[t3], %%rdx\n\t"                  \
    "subq %[m], %[lo]\n\tsbbq 8+%[m], %[hi]\n\tsbbq 16+%[m], %[top]\n\tsbbq 24+%[m], %%rdx\n\t"              \
    "cmovncq %[lo], %[t0]\n\tcmovncq %[hi], %[t1]\n\tcmovncq %[top], %[t2]\n\tcmovncq %%rdx, %[t3]\n\t"      \
    "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\tmovq %[t2], 16(%[o])\n\tmovq %[t3], 24(%[o])"

static void mul_fr(fr *out, const fr *a, const fr *b) {
    uint64_t t0, t1, t2, t3, top, lo, hi;
    __asm__ volatile(FIRST4 REDUCE4 ROW4("8(%[b])") REDUCE4 ROW4("16(%[b])") REDUCE4 ROW4("24(%[b])")
                         REDUCE4 STORE4
                     : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [top] "=&r"(top),
                       [lo] "=&r"(lo), [hi] "=&r"(hi)
                     : [o] "r"(out), [a] "r"(a), [b] "r"(b), [m] "m"(FR_MODULUS), [inv] "m"(fr_inv64)
                     : "rdx", "cc", "memory");
}

static void sqr_fr(fr *out, const fr *a) {
    mul_fr(out, a, a);
}

/* Six limbs. */

#define FIRST6(A0, A1, A2, A3, A4, A5)                                                                       \
    FIRST(A0, "t0", "t1")                                                                                    \
    SET("addq", A1, "t1", "t2")                                                                              \
    SET("adcq", A2, "t2", "t3")                                                                              \
    SET("adcq", A3, "t3", "t4") SET("adcq", A4, "t4", "t5") SET("adcq", A5, "t5", "top") FIRST_END
#define FIRST6_A FIRST6("(%[a])", "8(%[a])", "16(%[a])", "24(%[a])", "32(%[a])", "40(%[a])")
#define COLUMNS6(A)                                                                                          \
    COLUMN("(%[" A "])", "t0", "t1")                                                                         \
    COLUMN("8(%[" A "])", "t1", "t2")                                                                        \
    COLUMN("16(%[" A "])", "t2", "t3")                                                                       \
    COLUMN("24(%[" A "])", "t3", "t4")                                                                       \
    COLUMN("32(%[" A "])", "t4", "t5") COLUMN("40(%[" A "])", "t5", "top") ROW_END
#define REDUCE6                                                                                              \
    REDUCE REDUCE_COLUMN("8", "t0", "t1", "t2") REDUCE_COLUMN("16", "t1", "t2", "t3")                        \
        REDUCE_COLUMN("24", "t2", "t3", "t4") REDUCE_COLUMN("32", "t3", "t4", "t5")                          \
            REDUCE_END("40", "t4", "t5")
/* out = t - m if t >= m, else t. S and T name registers that are no longer needed. */
#define STORE6(S, T)                                                                                         \
    "movq %[t0], %[lo]\n\tmovq %[t1], %[hi]\n\tmovq %[t2], %[top]\n\t"                                       \
    "movq %[t3], %%rdx\n\tmovq %[t4], %[" S "]\n\tmovq %[t5], %[" T "]\n\t"                                  \
    "subq %[m], %[lo]\n\tsbbq 8+%[m], %[hi]\n\tsbbq 16+%[m], %[top]\n\t"                                     \
    "sbbq 24+%[m], %%rdx\n\tsbbq 32+%[m], %[" S "]\n\tsbbq 40+%[m], %[" T "]\n\t"                            \
    "cmovncq %[lo], %[t0]\n\tcmovncq %[hi], %[t1]\n\tcmovncq %[top], %[t2]\n\t"                              \
    "cmovncq %%rdx, %[t3]\n\tcmovncq %[" S "], %[t4]\n\tcmovncq %[" T "], %[t5]\n\t"                         \
    "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\tmovq %[t2], 16(%[o])\n\t"                                  \
    "movq %[t3], 24(%[o])\n\tmovq %[t4], 32(%[o])\n\tmovq %[t5], 40(%[o])"

#define ROW6(B) ROW(B) COLUMNS6("a") REDUCE6

static void mul_fp(fp *out, const fp *a, const fp *b) {
    uint64_t t0, t1, t2, t3, t4, t5, top, lo, hi;
    __asm__ volatile(
        "movq (%[b]), %%rdx\n\t" FIRST6_A REDUCE6 ROW6("8(%[b])") ROW6("16(%[b])") ROW6("24(%[b])")
            ROW6("32(%[b])") ROW6("40(%[b])") STORE6("a", "b")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
          [top] "=&r"(top), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(a), [b] "+&r"(b)
        : [o] "r"(out), [m] "m"(FP_MODULUS), [inv] "m"(fp_inv64)
        : "rdx", "cc", "memory");
}

/* Twice a[2..5] each by itself, for the column beside a square, to w[0..3]; 2 (a >> 64), to w[4..8]. */
#define DOUBLE6                                                                                              \
    "movq 8(%[a]), %[t1]\n\tmovq 16(%[a]), %[t2]\n\tmovq 24(%[a]), %[t3]\n\t"                                \
    "movq 32(%[a]), %[t4]\n\tmovq 40(%[a]), %[t5]\n\t"                                                       \
    "leaq (%[t2], %[t2]), %[lo]\n\tmovq %[lo], (%[w])\n\tleaq (%[t3], %[t3]), %[hi]\n\t"                     \
    "movq %[hi], 8(%[w])\n\tleaq (%[t4], %[t4]), %[lo]\n\tmovq %[lo], 16(%[w])\n\t"                          \
    "leaq (%[t5], %[t5]), %[hi]\n\tmovq %[hi], 24(%[w])\n\t"                                                 \
    "addq %[t1], %[t1]\n\tadcq %[t2], %[t2]\n\tadcq %[t3], %[t3]\n\tadcq %[t4], %[t4]\n\t"                   \
    "adcq %[t5], %[t5]\n\tmovq %[t1], 32(%[w])\n\tmovq %[t2], 40(%[w])\n\tmovq %[t3], 48(%[w])\n\t"          \
    "movq %[t4], 56(%[w])\n\tmovq %[t5], 64(%[w])\n\t"

static void sqr_fp(fp *out, const fp *a) {
    uint64_t t0, t1, t2, t3, t4, t5, top, lo, hi, words[9], *w = words;
    __asm__ volatile(
        DOUBLE6 "movq (%[a]), %%rdx\n\t" FIRST6("%%rdx", "32(%[w])", "40(%[w])", "48(%[w])", "56(%[w])",
                                                "64(%[w])") REDUCE6
            /* row 1 */ ROW("8(%[a])") COLUMN("%%rdx", "t1", "t2") COLUMN("(%[w])", "t2", "t3")
                COLUMN("48(%[w])", "t3", "t4") COLUMN("56(%[w])", "t4", "t5") COLUMN("64(%[w])", "t5",
                                                                                     "top") ROW_END REDUCE6
                    /* row 2 */ ROW("16(%[a])") COLUMN("%%rdx", "t2", "t3") COLUMN("8(%[w])", "t3", "t4")
                        COLUMN("56(%[w])", "t4", "t5") COLUMN("64(%[w])", "t5", "top") ROW_END REDUCE6
                            /* row 3 */ ROW("24(%[a])") COLUMN("%%rdx", "t3", "t4")
                                COLUMN("16(%[w])", "t4", "t5") COLUMN("64(%[w])", "t5", "top") ROW_END REDUCE6
                                    /* row 4 */ ROW("32(%[a])") COLUMN("%%rdx", "t4", "t5")
                                        COLUMN("24(%[w])", "t5", "top") ROW_END REDUCE6
                                            /* row 5 */ ROW("40(%[a])") COLUMN("%%rdx", "t5", "top")
                                                ROW_END REDUCE6 STORE6("a", "w")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
          [top] "=&r"(top), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(a), [w] "+&r"(w)
        : [o] "r"(out), [m] "m"(FP_MODULUS), [inv] "m"(fp_inv64)
        : "rdx", "cc", "memory");
}

/* Two rows before each reduction. There are no registers left for the pointers b and d. */
#define LOAD(POINTER)  "movq %[" POINTER "], %%rdx\n\t"
#define ROW6_C(OFFSET) LOAD("d") ROW_ON(OFFSET "(%%rdx)") COLUMNS6("c") REDUCE6
#define ROWS6(OFFSET)  LOAD("b") ROW(OFFSET "(%%rdx)") COLUMNS6("a") ROW6_C(OFFSET)

static void dot2_fp(fp *out, const fp *a, const fp *b, const fp *c, const fp *d) {
    uint64_t t0, t1, t2, t3, t4, t5, top, lo, hi;
    __asm__ volatile(
        LOAD("b") "movq (%%rdx), %%rdx\n\t" FIRST6_A ROW6_C("") ROWS6("8") ROWS6("16") ROWS6("24") ROWS6("32")
            ROWS6("40") STORE6("a", "c")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
          [top] "=&r"(top), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(a), [c] "+&r"(c)
        : [o] "r"(out), [b] "m"(b), [d] "m"(d), [m] "m"(FP_MODULUS), [inv] "m"(fp_inv64)
        : "rdx", "cc", "memory");
}

const field_table field_adx = {.name = "adx",
                               .isa = CPU_ADX,
                               .fr_mul = mul_fr,
                               .fr_sqr = sqr_fr,
                               .fp_mul = mul_fp,
                               .fp_sqr = sqr_fp,
                               .fp_dot2 = dot2_fp};
