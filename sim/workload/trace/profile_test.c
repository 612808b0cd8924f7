#include "sim/workload/trace/profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "sim/workload/keys/zipf.h"

enum { ROWS = 30000, KEYS = 3000 };

/* A request of the trace that the tests write. */
struct row {
    uint32_t key, value_bytes;
    enum kvc_op op;
};

static struct row rows[ROWS];

/* Writes a trace with a Zipf popularity, whose values change their sizes and are deleted now and then. */
static char *write_trace(double zipf_s)
{
    static const char *const ops[] = {"get", "set", "delete"};
    char *path = strdup("/tmp/kvc_profile_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    struct kvc_zipf *zipf = kvc_zipf_create(KEYS, zipf_s);
    struct kvc_rng rng;
    kvc_rng_init(&rng, 5, "profile", 0);
    for (int i = 0; i < ROWS; i++) {
        uint64_t key;
        kvc_zipf_fill(zipf, &rng, &key, 1);
        double unit = kvc_rng_unit(&rng);
        rows[i] = (struct row){.key = (uint32_t)key,
                               .value_bytes = 1 + (uint32_t)(key * 37 % 500) + (uint32_t)(i / 10000),
                               .op = unit < 0.9    ? KVC_OP_GET
                                     : unit < 0.97 ? KVC_OP_SET
                                                   : KVC_OP_DELETE};
        fprintf(file, "%d,%s,k%u,8,%u\n", i * 100, ops[rows[i].op], rows[i].key, rows[i].value_bytes);
    }
    fclose(file);
    kvc_zipf_free(zipf);
    return path;
}

/* Returns the share of the GETs that an LRU cache of cache_bytes misses. A list has the keys in order of use.
 */
static double exact_miss_frac(double cache_bytes)
{
    static uint32_t stack[KEYS], bytes[KEYS];
    uint32_t count = 0, gets = 0, misses = 0;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        uint32_t at = 0;
        double before = 0;
        for (; at < count && stack[at] != row->key; at++) {
            before += bytes[stack[at]];
        }
        bool present = at < count;
        gets += row->op == KVC_OP_GET;
        misses += row->op == KVC_OP_GET && (!present || before + 8 + row->value_bytes > cache_bytes);
        if (present) {
            memmove(&stack[at], &stack[at + 1], (--count - at) * sizeof(*stack));
        }
        if (row->op != KVC_OP_DELETE) {
            memmove(&stack[1], &stack[0], count++ * sizeof(*stack));
            stack[0] = row->key;
            bytes[row->key] = 8 + row->value_bytes;
        }
    }
    return (double)misses / gets;
}

Test(trace_profile, of_a_short_trace_has_the_misses_of_an_lru_cache)
{
    struct kvc_trace_profile *profile = malloc(sizeof(*profile));
    char *path = write_trace(0.8);
    cr_assert_eq(kvc_trace_profile_read(path, profile, NULL, NULL, NULL), KVC_OK);
    for (double bytes = 500; bytes < 4e6; bytes *= 3.1) {
        double miss_frac = 1 - kvc_trace_hit_frac(profile, &profile->bytes, bytes);
        cr_expect_float_eq(miss_frac, exact_miss_frac(bytes), 0.003, "%g bytes: %g", bytes, miss_frac);
    }
    double all = 1 - profile->repeated_gets / profile->gets;
    cr_expect_float_eq(all, exact_miss_frac(INFINITY), 1e-12);
    cr_expect_eq(profile->busiest_s_requests, 10000);
    unlink(path);
    free(path);
    free(profile);
}

/* The popularity of the keys, in the order of their requests, is a bit steeper than the one that they were
 * drawn from, because rare keys are ranked by chance. */
Test(trace_profile, finds_the_exponent_of_zipf)
{
    static const double exponents[] = {0.6, 0.99, 1.3};
    struct kvc_trace_profile *profile = malloc(sizeof(*profile));
    for (int i = 0; i < 3; i++) {
        char *path = write_trace(exponents[i]);
        cr_assert_eq(kvc_trace_profile_read(path, profile, NULL, NULL, NULL), KVC_OK);
        cr_expect_float_eq(profile->zipf_s, exponents[i], 0.06, "%g", profile->zipf_s);
        cr_expect_lt(profile->zipf_distance, 0.05, "%g", profile->zipf_distance);
        unlink(path);
        free(path);
    }
    free(profile);
}

Test(trace_profile, of_many_keys_is_that_of_a_sample)
{
    enum { LONG_ROWS = 600000, LONG_KEYS = 150000 };
    struct kvc_trace_profile *profile = malloc(sizeof(*profile));
    char *path = strdup("/tmp/kvc_profile_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    for (int i = 0; i < LONG_ROWS; i++) { /* All keys in turn: a cache has all of them or none. */
        fprintf(file, "%d,get,k%d,8,92\n", i, i % LONG_KEYS);
    }
    fclose(file);
    cr_assert_eq(kvc_trace_profile_read(path, profile, NULL, NULL, NULL), KVC_OK);
    cr_expect_float_eq(profile->facts.keys, LONG_KEYS, 0.02 * LONG_KEYS);
    cr_expect_float_eq(profile->repeated_gets / profile->gets, 0.75, 0.01);
    cr_expect_float_eq(kvc_trace_hit_frac(profile, &profile->bytes, 0.9 * 100 * LONG_KEYS), 0, 0.01);
    cr_expect_float_eq(kvc_trace_hit_frac(profile, &profile->bytes, 1.1 * 100 * LONG_KEYS), 0.75, 0.01);
    cr_expect_float_eq(kvc_trace_reuse_quantile(profile, &profile->keys, 0.5), LONG_KEYS, 0.03 * LONG_KEYS);
    unlink(path);
    free(path);
    free(profile);
}

Test(trace_profile, a_malformed_row_is_named)
{
    struct kvc_trace_profile *profile = malloc(sizeof(*profile));
    struct kvc_diag diag = {0};
    char *path = strdup("/tmp/kvc_profile_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("1,get,a,1,8\n2,get,a,1\n", file);
    fclose(file);
    cr_expect_eq(kvc_trace_profile_read(path, profile, NULL, NULL, &diag), KVC_ERR_SCENARIO);
    cr_expect_eq(diag.line, 2);
    unlink(path);
    free(path);
    free(profile);
}
