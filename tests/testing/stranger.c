/* Two kernels of k-means in C, as a stranger would write them; FAULT plants a mistake. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define LIMBS 72 /* of 32 bits: 2304 bits hold every double, and sums of 2^31 of them */
#define LOWEST 1126 /* bits behind the point of the least double's mantissa */

#ifndef FAULT
#define FAULT 0
#endif

/* The nearest centre by differences in doubles; rows that rounding may have decided are marked. */
void assign(const double *rows, long n, long d, const double *centres, long k, int32_t *labels,
            unsigned char *doubtful)
{
    const double bound = 4.0 * (double)(d + 8) * 0x1p-53;
#if FAULT == 3
    double *lost = malloc(8192); /* never freed */
    for (long j = 0; j < 1024; j++) lost[j] = (double)j;
#endif
    for (long i = 0; i < n; i++) {
        double best = INFINITY, second = INFINITY;
        int32_t label = 0;
        for (long c = 0; c < k; c++) {
            double square = 0.0;
            for (long j = 0; j < d; j++) {
                double gap = rows[i * d + j] - centres[c * d + j];
                square += gap * gap;
            }
            if (square < best) {
                second = best;
                best = square;
                label = (int32_t)c;
            } else if (!(square >= second)) {
                second = square;
            }
        }
        labels[i] = label;
#if FAULT == 1
        doubtful[i] = 0; /* plain doubles, without any bound */
#else
        doubtful[i] = k > 1 && !(second - best > bound * (second + best) + 0x1p-1000 &&
                                 second < INFINITY);
#endif
    }
}

/* Exact sums: the mantissa of every number is added to limbs of 32 bits, which never overflow. */
void accumulate(const double *rows, long n, long d, const int32_t *labels, int64_t *limbs,
                int64_t *counts)
{
    for (long i = 0; i < n; i++) {
        counts[labels[i]] += 1;
#if FAULT == 2
        counts[labels[i]] &= 255; /* a byte */
#endif
        for (long j = 0; j < d; j++) {
            int exponent;
            double fraction = frexp(rows[i * d + j], &exponent);
            if (fraction == 0.0) continue;
            long place = exponent - 53 + LOWEST;
            __int128 value = (__int128)(int64_t)ldexp(fraction, 53) * ((int64_t)1 << (place % 32));
            int64_t *into = limbs + ((long)labels[i] * d + j) * LIMBS + place / 32;
            into[0] += (int64_t)(value & 0xffffffff);
            into[1] += (int64_t)((value >> 32) & 0xffffffff);
            into[2] += (int64_t)(value >> 64);
        }
    }
}
