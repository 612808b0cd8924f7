#include "sim/workload/trace/facts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/workload/trace/key_sample.h"
#include "sim/workload/trace/replay.h"

/* Writes `rows` rows of `keys` keys in turn, a microsecond apart, to a new file, and returns its name. */
static char *write_rows(uint32_t rows, uint32_t keys)
{
    char *path = strdup("/tmp/kvc_facts_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    for (uint32_t i = 0; i < rows; i++) {
        fprintf(file, "%u,%s,k%u,%u,%u\n", i, i % 4 == 0 ? "set" : "get", i % keys, 8 + i % keys % 2,
                100 * (i % keys % 3));
    }
    fclose(file);
    return path;
}

Test(trace_facts, of_a_short_trace_are_exact)
{
    enum { ROWS = 60000, KEYS = 30000 };
    char *path = write_rows(ROWS, KEYS);
    struct kvc_trace_facts facts;
    for (int again = 0; again < 2; again++) { /* The second time, they are known. */
        cr_assert_eq(kvc_trace_facts_read(path, &facts, NULL), KVC_OK);
        cr_expect_eq(facts.requests, ROWS);
        cr_expect_eq(facts.keys, KEYS);
        cr_expect_eq(facts.written_keys, KEYS / 4);
        cr_expect_eq(facts.end_ns, (ROWS - 1) * 1e3);
        cr_expect_float_eq(facts.set_frac, 0.25, 1e-12);
        cr_expect_float_eq(facts.key_bytes, 8.5, 1e-12);
        cr_expect_float_eq(facts.value_bytes, 100, 1e-9);
        cr_expect(facts.key_bytes_max == 9 && facts.value_bytes_max == 200);
        cr_expect(facts.is_whole && facts.is_timed && facts.has_writes);
        cr_expect_eq(facts.pairs, KVC_SIZE_PAIRS_MAX);
        cr_expect_eq(facts.pair[0].value_bytes, 0);
        cr_expect_eq(facts.pair[KVC_SIZE_PAIRS_MAX - 1].value_bytes, 200);
    }
    FILE *file = fopen(path, "a");
    fprintf(file, "60001,delete,other,5,0\n");
    fclose(file);
    cr_assert_eq(kvc_trace_facts_read(path, &facts, NULL), KVC_OK);
    cr_expect_eq(facts.keys, KEYS + 1, "a file that has changed is read again");
    unlink(path);
    free(path);
}

/* The standard error of the number of keys is 1 / sqrt(32768 .. 65536), at most 0.6 %. */
Test(trace_facts, of_many_keys_are_estimated)
{
    enum { ROWS = 400000, KEYS = 300000 };
    char *path = write_rows(ROWS, KEYS);
    struct kvc_trace_facts facts;
    cr_assert_eq(kvc_trace_facts_read(path, &facts, NULL), KVC_OK);
    cr_expect_float_eq(facts.keys, KEYS, 0.018 * KEYS);
    cr_expect_float_eq(facts.value_bytes, 100, 2);
    unlink(path);
    free(path);
}

Test(trace_facts, a_trace_that_cannot_be_read_is_named)
{
    struct kvc_trace_facts facts;
    struct kvc_diag diag = {0};
    char *path = strdup("/tmp/kvc_facts_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("time_us,op,key,key_bytes,value_bytes\n", file);
    fclose(file);
    cr_expect_eq(kvc_trace_facts_read(path, &facts, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "without requests"), "%s", diag.message);
    file = fopen(path, "a");
    fputs("1,get,a,1,8\n2,get,a,1,8,9\n", file);
    fclose(file);
    cr_expect_eq(kvc_trace_facts_read(path, &facts, &diag), KVC_ERR_SCENARIO);
    cr_expect(diag.line == 3 && strcmp(diag.file, path) == 0);
    unlink(path);
    free(path);
}

/* Counts the keys that have left. */
static void count_left(void *data, const struct kvc_sampled_key *key)
{
    (void)key;
    ++*(uint64_t *)data;
}

Test(key_sample, keeps_a_constant_number_of_the_keys)
{
    enum { KEYS = 1000000 };
    struct kvc_key_sample sample;
    uint64_t left = 0, added = 0;
    kvc_key_sample_open(&sample);
    for (uint64_t i = 0; i < 2ull * KEYS; i++) {
        uint64_t hash = (i % KEYS + 1) * 0x9e3779b97f4a7c15ull;
        struct kvc_sampled_key *key = kvc_key_sample_find(&sample, hash, count_left, &left);
        added += key != NULL && key->requests == 0;
        if (key != NULL) {
            key->requests++;
        }
    }
    cr_expect_eq(sample.count, added - left);
    cr_expect(sample.count <= KVC_KEY_SAMPLE_MAX && sample.count > KVC_KEY_SAMPLE_MAX / 4);
    cr_expect_float_eq(sample.count * kvc_key_sample_scale(&sample), KEYS, 0.02 * KEYS);
    kvc_key_sample_close(&sample);
}

/* Opens a replay, or fails the test. */
static struct kvc_replay *replay_of(const char *path, double speed, double sampled_frac, uint32_t copies)
{
    struct kvc_diag diag = {0};
    const struct kvc_replay_params params = {
        .path = path, .seed = 1, .speed = speed, .sampled_frac = sampled_frac, .copies = copies};
    struct kvc_replay *replay = kvc_replay_open(&params, &diag);
    cr_assert_not_null(replay, "%s", diag.message);
    return replay;
}

Test(replay, scales_time_samples_keys_and_adds_users)
{
    enum { ROWS = 20000, KEYS = 1000, COPIES = 3 };
    char *path = write_rows(ROWS, KEYS);
    struct kvc_trace_row row;
    struct kvc_replay *replay = replay_of(path, 10, 0.25, COPIES);
    uint32_t rows = 0, copies = 0;
    double last_ns = 0;
    bool seen[KEYS] = {false};
    uint32_t keys = 0;
    while (kvc_replay_read(replay, &row, NULL) == KVC_TRACE_ROW) {
        unsigned key = (unsigned)strtoul((const char *)row.key + 1, NULL, 10);
        cr_assert_geq(row.time_ns, last_ns);
        last_ns = row.time_ns;
        copies += strchr((const char *)row.key, '~') != NULL;
        keys += !seen[key];
        seen[key] = true;
        rows++;
    }
    cr_expect_float_eq(keys, KEYS / 4.0, 50);
    cr_expect_eq(rows, keys * (ROWS / KEYS) * COPIES);
    cr_expect_eq(copies, rows / COPIES * (COPIES - 1));
    cr_expect_float_eq(last_ns, ROWS * 1e3 / 10, 1e3);
    kvc_replay_close(replay);
    unlink(path);
    free(path);
}

/* 1000 rows in each of two seconds: within a second, the places are uniform and independent. */
Test(replay, spreads_rows_over_their_second)
{
    enum { ROWS = 1000 };
    char *path = strdup("/tmp/kvc_replay_XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    struct kvc_trace_row row;
    for (int i = 0; i < 2 * ROWS; i++) {
        fprintf(file, "%d,k%d,4,1,1,get,0\n", 5 + i / ROWS, i % 50);
    }
    fclose(file);
    struct kvc_replay *replay = replay_of(path, 1, 1, 1);
    double last_ns = 0, sum = 0, gap_squares = 0;
    for (int i = 0; i < 2 * ROWS; i++) {
        cr_assert_eq(kvc_replay_read(replay, &row, NULL), KVC_TRACE_ROW);
        cr_assert_geq(row.time_ns, last_ns);
        cr_assert_eq((int)(row.time_ns / 1e9), i / ROWS);
        double gap = (row.time_ns - last_ns) / 1e9 * ROWS;
        gap_squares += gap * gap / (2 * ROWS);
        sum += (row.time_ns / 1e9 - i / ROWS) / (2 * ROWS);
        last_ns = row.time_ns;
    }
    cr_expect_float_eq(sum, 0.5, 4 * 0.289 / 44.7);
    cr_expect_float_eq(gap_squares, 2, 0.4, "gaps of a Poisson process have twice the square of their mean");
    kvc_replay_close(replay);
    unlink(path);
    free(path);
}
