/*
 * limbs_add_mod and limbs_sub_mod in assembly of the base x86-64 instruction set: compilers neither keep the
 * carries of such chains in the flag nor the words in integer registers, and a vector store made of two
 * words, or a vector load after two word stores, stalls what follows.
 *
 * OUT, A, B: pointers to 4 or 6 limbs, which may alias. MODULUS: a static constant object of as many limbs.
 */
#ifndef CUZK_FIELD_LIMBS_X86_H
#define CUZK_FIELD_LIMBS_X86_H

#include <stdint.h>

#define X86_LIMBS4_ADD_MOD(OUT, A, B, MODULUS)                                                               \
    do {                                                                                                     \
        uint64_t t0, t1, t2, t3, s0, s1, s2, s3;                                                             \
        __asm__ volatile("movq (%[a]), %[t0]\n\tmovq 8(%[a]), %[t1]\n\t"                                     \
                         "movq 16(%[a]), %[t2]\n\tmovq 24(%[a]), %[t3]\n\t"                                  \
                         "addq (%[b]), %[t0]\n\tadcq 8(%[b]), %[t1]\n\t"                                     \
                         "adcq 16(%[b]), %[t2]\n\tadcq 24(%[b]), %[t3]\n\t"                                  \
                         "movq %[t0], %[s0]\n\tmovq %[t1], %[s1]\n\t"                                        \
                         "movq %[t2], %[s2]\n\tmovq %[t3], %[s3]\n\t"                                        \
                         "subq %[m], %[s0]\n\tsbbq 8+%[m], %[s1]\n\t"                                        \
                         "sbbq 16+%[m], %[s2]\n\tsbbq 24+%[m], %[s3]\n\t"                                    \
                         "cmovncq %[s0], %[t0]\n\tcmovncq %[s1], %[t1]\n\t"                                  \
                         "cmovncq %[s2], %[t2]\n\tcmovncq %[s3], %[t3]\n\t"                                  \
                         "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\t"                                     \
                         "movq %[t2], 16(%[o])\n\tmovq %[t3], 24(%[o])"                                      \
                         : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [s0] "=&r"(s0),   \
                           [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)                                    \
                         : [o] "r"(OUT), [a] "r"(A), [b] "r"(B), [m] "m"(MODULUS)                            \
                         : "cc", "memory");                                                                  \
    } while (0)

#define X86_LIMBS4_SUB_MOD(OUT, A, B, MODULUS)                                                               \
    do {                                                                                                     \
        uint64_t t0, t1, t2, t3, s0, s1, s2, s3;                                                             \
        __asm__ volatile("movq (%[a]), %[t0]\n\tmovq 8(%[a]), %[t1]\n\t"                                     \
                         "movq 16(%[a]), %[t2]\n\tmovq 24(%[a]), %[t3]\n\t"                                  \
                         "subq (%[b]), %[t0]\n\tsbbq 8(%[b]), %[t1]\n\t"                                     \
                         "sbbq 16(%[b]), %[t2]\n\tsbbq 24(%[b]), %[t3]\n\t"                                  \
                         "sbbq %[s0], %[s0]\n\tmovq %[s0], %[s1]\n\t"                                        \
                         "movq %[s0], %[s2]\n\tmovq %[s0], %[s3]\n\t"                                        \
                         "andq %[m], %[s0]\n\tandq 8+%[m], %[s1]\n\t"                                        \
                         "andq 16+%[m], %[s2]\n\tandq 24+%[m], %[s3]\n\t"                                    \
                         "addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\t"                                        \
                         "adcq %[s2], %[t2]\n\tadcq %[s3], %[t3]\n\t"                                        \
                         "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\t"                                     \
                         "movq %[t2], 16(%[o])\n\tmovq %[t3], 24(%[o])"                                      \
                         : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [s0] "=&r"(s0),   \
                           [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)                                    \
                         : [o] "r"(OUT), [a] "r"(A), [b] "r"(B), [m] "m"(MODULUS)                            \
                         : "cc", "memory");                                                                  \
    } while (0)

/* For six limbs the registers of A and B, once read, serve as the last two temporaries. */
#define X86_LIMBS6_ADD_MOD(OUT, A, B, MODULUS)                                                               \
    do {                                                                                                     \
        uint64_t t0, t1, t2, t3, t4, t5, s0, s1, s2, s3;                                                     \
        const uint64_t *s4 = (A), *s5 = (B);                                                                 \
        __asm__ volatile("movq (%[s4]), %[t0]\n\tmovq 8(%[s4]), %[t1]\n\tmovq 16(%[s4]), %[t2]\n\t"          \
                         "movq 24(%[s4]), %[t3]\n\tmovq 32(%[s4]), %[t4]\n\tmovq 40(%[s4]), %[t5]\n\t"       \
                         "addq (%[s5]), %[t0]\n\tadcq 8(%[s5]), %[t1]\n\tadcq 16(%[s5]), %[t2]\n\t"          \
                         "adcq 24(%[s5]), %[t3]\n\tadcq 32(%[s5]), %[t4]\n\tadcq 40(%[s5]), %[t5]\n\t"       \
                         "movq %[t0], %[s0]\n\tmovq %[t1], %[s1]\n\tmovq %[t2], %[s2]\n\t"                   \
                         "movq %[t3], %[s3]\n\tmovq %[t4], %[s4]\n\tmovq %[t5], %[s5]\n\t"                   \
                         "subq %[m], %[s0]\n\tsbbq 8+%[m], %[s1]\n\tsbbq 16+%[m], %[s2]\n\t"                 \
                         "sbbq 24+%[m], %[s3]\n\tsbbq 32+%[m], %[s4]\n\tsbbq 40+%[m], %[s5]\n\t"             \
                         "cmovncq %[s0], %[t0]\n\tcmovncq %[s1], %[t1]\n\tcmovncq %[s2], %[t2]\n\t"          \
                         "cmovncq %[s3], %[t3]\n\tcmovncq %[s4], %[t4]\n\tcmovncq %[s5], %[t5]\n\t"          \
                         "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\tmovq %[t2], 16(%[o])\n\t"             \
                         "movq %[t3], 24(%[o])\n\tmovq %[t4], 32(%[o])\n\tmovq %[t5], 40(%[o])"              \
                         : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),   \
                           [t5] "=&r"(t5), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),   \
                           [s4] "+&r"(s4), [s5] "+&r"(s5)                                                    \
                         : [o] "r"(OUT), [m] "m"(MODULUS)                                                    \
                         : "cc", "memory");                                                                  \
    } while (0)

#define X86_LIMBS6_SUB_MOD(OUT, A, B, MODULUS)                                                               \
    do {                                                                                                     \
        uint64_t t0, t1, t2, t3, t4, t5, s0, s1, s2, s3;                                                     \
        const uint64_t *s4 = (A), *s5 = (B);                                                                 \
        __asm__ volatile("movq (%[s4]), %[t0]\n\tmovq 8(%[s4]), %[t1]\n\tmovq 16(%[s4]), %[t2]\n\t"          \
                         "movq 24(%[s4]), %[t3]\n\tmovq 32(%[s4]), %[t4]\n\tmovq 40(%[s4]), %[t5]\n\t"       \
                         "subq (%[s5]), %[t0]\n\tsbbq 8(%[s5]), %[t1]\n\tsbbq 16(%[s5]), %[t2]\n\t"          \
                         "sbbq 24(%[s5]), %[t3]\n\tsbbq 32(%[s5]), %[t4]\n\tsbbq 40(%[s5]), %[t5]\n\t"       \
                         "sbbq %[s0], %[s0]\n\tmovq %[s0], %[s1]\n\tmovq %[s0], %[s2]\n\t"                   \
                         "movq %[s0], %[s3]\n\tmovq %[s0], %[s4]\n\tmovq %[s0], %[s5]\n\t"                   \
                         "andq %[m], %[s0]\n\tandq 8+%[m], %[s1]\n\tandq 16+%[m], %[s2]\n\t"                 \
                         "andq 24+%[m], %[s3]\n\tandq 32+%[m], %[s4]\n\tandq 40+%[m], %[s5]\n\t"             \
                         "addq %[s0], %[t0]\n\tadcq %[s1], %[t1]\n\tadcq %[s2], %[t2]\n\t"                   \
                         "adcq %[s3], %[t3]\n\tadcq %[s4], %[t4]\n\tadcq %[s5], %[t5]\n\t"                   \
                         "movq %[t0], (%[o])\n\tmovq %[t1], 8(%[o])\n\tmovq %[t2], 16(%[o])\n\t"             \
                         "movq %[t3], 24(%[o])\n\tmovq %[t4], 32(%[o])\n\tmovq %[t5], 40(%[o])"              \
                         : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),   \
                           [t5] "=&r"(t5), [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3),   \
                           [s4] "+&r"(s4), [s5] "+&r"(s5)                                                    \
                         : [o] "r"(OUT), [m] "m"(MODULUS)                                                    \
                         : "cc", "memory");                                                                  \
    } while (0)

#endif
