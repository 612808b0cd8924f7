#include "sim/workload/keys/zipf_sums.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/rng.h"

enum {
    PART = 64,         /* A block is 1/64 of its first rank wide. */
    HEAD_TERMS = 64,   /* Terms summed one by one; the Euler-Maclaurin formula gives the rest. */
    BLOCKS_MAX = 1300, /* 2^32 ranks make fewer. */
    EXPONENTS = 16,    /* Exponents that a thread keeps, a power of two. */
};

struct kvc_zipf_sums {
    double s;                /* 0: nothing is kept. */
    uint32_t users;          /* Calls of kvc_zipf_sums_open() that have not been closed. */
    bool is_kept;            /* The sums stay when the last user closes them. */
    double term[HEAD_TERMS]; /* k^-s for k from 1 on. */
    double head;             /* Sum of the first HEAD_TERMS - 1 of them, which the larger sums share. */
    uint32_t blocks;         /* Blocks whose sums are known. */
    uint64_t last;           /* Ranks up to the end of the last of them. */
    double block[BLOCKS_MAX];
};

/* Returns the sum of the first terms, the small ones first. */
static double sum_terms(const struct kvc_zipf_sums *sums, uint64_t last)
{
    double sum = 0;
    for (uint64_t k = last; k > 0; k--) {
        sum += sums->term[k];
    }
    return sum;
}

double kvc_zipf_sums_to(const struct kvc_zipf_sums *sums, uint64_t last)
{
    double s = sums->s;
    if (last < HEAD_TERMS) {
        return sum_terms(sums, last);
    }
    double a = HEAD_TERMS, b = (double)last;
    double fa = pow(a, -s), fb = pow(b, -s), t = 1 - s, span = log(b / a);
    double integral = a * fa * (fabs(t * span) > 1e-12 ? expm1(t * span) / t : span);
    double first = s * (fa / a - fb / b) / 12;
    double third = s * (s + 1) * (s + 2) * (fa / (a * a * a) - fb / (b * b * b)) / 720;
    return sums->head + integral + (fa + fb) / 2 + first - third;
}

static void set_exponent(struct kvc_zipf_sums *sums, double s)
{
    sums->s = s;
    sums->blocks = 0;
    sums->last = 0;
    for (uint32_t k = 1; k < HEAD_TERMS; k++) {
        sums->term[k] = pow((double)k, -s);
    }
    sums->head = sum_terms(sums, HEAD_TERMS - 1);
}

struct kvc_zipf_sums *kvc_zipf_sums_open(double s)
{
    static _Thread_local struct kvc_zipf_sums *kept; /* EXPONENTS of them. */
    uint64_t bits;
    if (kept == NULL) {
        kept = kvc_array_of(EXPONENTS, sizeof(*kept));
    }
    memcpy(&bits, &s, sizeof(bits));
    struct kvc_zipf_sums *sums = &kept[kvc_mix64(bits) & (EXPONENTS - 1)];
    if (sums->users > 0 && sums->s != s) { /* Somebody iterates over the exponent that has this place. */
        sums = kvc_array_of(1, sizeof(*sums));
    } else {
        sums->is_kept = true;
    }
    if (sums->s != s) {
        set_exponent(sums, s);
    }
    sums->users++;
    return sums;
}

void kvc_zipf_sums_close(struct kvc_zipf_sums *sums)
{
    if (sums != NULL && --sums->users == 0 && !sums->is_kept) {
        free(sums);
    }
}

uint64_t kvc_zipf_sums_width(uint64_t first)
{
    return first / PART > 0 ? first / PART : 1;
}

double kvc_zipf_sums_to_block(struct kvc_zipf_sums *sums, uint32_t block)
{
    if (block >= BLOCKS_MAX) {
        KVC_BUG("more than %d blocks of ranks", BLOCKS_MAX);
    }
    while (sums->blocks <= block) {
        sums->last += kvc_zipf_sums_width(sums->last);
        sums->block[sums->blocks++] = kvc_zipf_sums_to(sums, sums->last);
    }
    return sums->block[block];
}
