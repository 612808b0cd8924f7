#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "sim/workload/source/source.h"
#include "sim/workload/source/source_fixture.h"

static void write_trace(struct kvc_workload *workload, const char *head, uint32_t lines)
{
    strcpy(workload->trace.path, "/tmp/kvc_source_XXXXXX");
    FILE *file = fdopen(mkstemp(workload->trace.path), "w");
    cr_assert_not_null(file);
    fputs(head, file);
    for (uint32_t i = 0; i < lines; i++) {
        fprintf(file, "%u.%u,%s,key%u,12,%u\n", i / 4, i % 4 * 25, i % 3 == 0 ? "set" : "get", i % 1000,
                i % 500);
    }
    fclose(file);
}

/* Reads the facts of the workload's trace, or fails the test. */
static void read_facts(struct kvc_workload *workload)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_workload_read_trace(workload, &diag), KVC_OK, "%s", diag.message);
}

static const char trace_header[] = "time_us,op,key,key_bytes,value_bytes\n";

Test(source_trace, replays_with_its_own_times_on_all_shards)
{
    enum { LINES = 5000, NODES = 3 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    write_trace(&workload, trace_header, LINES);
    read_facts(&workload);
    struct kvc_source *source = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, LINES);
    uint32_t line = 0;
    cr_assert_eq(kvc_source_ended(source), 0);
    while (!kvc_source_ended(source)) {
        double next_ns = INFINITY;
        uint32_t from = 0;
        for (uint32_t shard = 0; shard < NODES; shard++) {
            if (kvc_source_next_ns(source, shard) < next_ns) {
                next_ns = kvc_source_next_ns(source, shard);
                from = shard;
            }
        }
        cr_assert(isfinite(next_ns));
        cr_assert_float_eq(next_ns, (line / 4 + line % 4 * 0.25) * 1e3, 1e-6);
        cr_assert_eq(kvc_source_drain(source, from, next_ns - 1e-3, batch), 0);
        line += kvc_source_drain(source, from, next_ns, batch);
        cr_assert_eq(batch->count, line);
        cr_assert_eq(batch->key_bytes[line - 1], 12);
        cr_assert_eq(batch->hash[line - 1],
                     kvc_hash(batch->keys + (size_t)(line - 1) * batch->key_stride, 12, KVC_TEST_HASH_SEED));
        cr_assert_eq(batch->key_id[line - 1], batch->hash[line - 1]);
        cr_assert_eq(kvc_source_shard(source, batch->hash[line - 1]), from);
    }
    cr_assert_eq(line, LINES);
    cr_assert_eq(kvc_source_error(source, NULL), KVC_OK);
    kvc_source_keys(source, 0, 10, batch);
    cr_assert_eq(batch->count, LINES);
    unlink(workload.trace.path);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, a_bad_line_stops_the_stream_and_is_named)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    write_trace(&workload, "0,get,a,1,1\n0,get,b,1,1\n0,get,c,1,1\n", 10);
    read_facts(&workload); /* The file then changes. */
    FILE *file = fopen(workload.trace.path, "w");
    cr_assert(file != NULL && fputs("0,get,a,1,1\n0,get,b,1,1\n0,get,c,1\n", file) >= 0);
    fclose(file);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 100);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_OK);
    while (kvc_source_drain(source, 0, 1e9, batch) != 0) {
        ;
    }
    cr_assert_eq(batch->count, 2);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 3);
    cr_assert_str_eq(diag.file, workload.trace.path);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    cr_assert_neq(kvc_source_ended(source), 0);
    unlink(workload.trace.path);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, a_sample_without_keys_is_an_error)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    workload.trace.sampled_frac = 1e-9;
    write_trace(&workload, "0,get,a,1,1\n", 0);
    read_facts(&workload);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    cr_expect(isinf(kvc_source_next_ns(source, 0)));
    cr_expect_eq(kvc_source_error(source, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "leaves no key"), "%s", diag.message);
    kvc_source_free(source);
    unlink(workload.trace.path);
}

Test(source_trace, a_missing_file_is_refused)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {.workload = &workload, .nodes = 1, .sockets = 1, .frame_requests = 1};
    strcpy(workload.trace.path, "/nonexistent/trace.csv");
    cr_assert_null(kvc_source_create(&params, &diag));
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "/nonexistent/trace.csv"));
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

Test(source_trace, a_long_file_is_streamed)
{
    enum { LINES = 1000000 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    write_trace(&workload, trace_header, LINES); /* 20 MB. */
    read_facts(&workload);
    long before = peak_kib();
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 100);
    uint32_t lines = 0;
    while (!kvc_source_ended(source)) {
        batch->count = 0;
        lines += kvc_source_drain(source, 0, 1e18, batch);
    }
    cr_assert_eq(lines, LINES);
    cr_assert_lt(peak_kib() - before, 4096);
    unlink(workload.trace.path);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Writes a trace of these lines, and opens a source of one shard for it. */
static struct kvc_source *source_of(struct kvc_workload *workload, const char *lines)
{
    write_trace(workload, lines, 0);
    read_facts(workload);
    unlink(workload->trace.path); /* The source opens it again, so it is written anew. */
    FILE *file = fopen(workload->trace.path, "w");
    cr_assert(file != NULL && fputs(lines, file) >= 0);
    fclose(file);
    struct kvc_source *source = kvc_test_source(workload, 1, 1, KVC_TEST_SEED);
    unlink(workload->trace.path);
    return source;
}

/* Drains one request, which must be this one. */
static void expect_request(struct kvc_source *source, struct kvc_batch *batch, double sent_ns, enum kvc_op op,
                           const char *key, uint32_t value_bytes)
{
    batch->count = 0;
    cr_assert_float_eq(kvc_source_next_ns(source, 0), sent_ns, 1e-6);
    cr_assert_eq(kvc_source_drain(source, 0, sent_ns, batch), 1);
    cr_assert_float_eq(batch->sent_ns[0], sent_ns, 1e-6);
    cr_assert_eq(batch->op[0], op);
    cr_assert_eq(batch->key_bytes[0], strlen(key));
    cr_assert_eq(memcmp(batch->keys, key, strlen(key)), 0);
    cr_assert(op == KVC_OP_DELETE || batch->value_bytes[0] == value_bytes);
}

Test(source_trace, clients_fill_what_missed_in_the_order_of_time)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    workload.trace.misses = KVC_TRACE_MISSES_FILL;
    struct kvc_source *source = source_of(&workload, "1,get,aa,2,5\n2,get,bb,2,6\n4,get,cc,2,7\n");
    struct kvc_batch *batch = kvc_test_batch(&workload, 4);
    expect_request(source, batch, 1000, KVC_OP_GET, "aa", 5);
    kvc_source_miss_row(source, batch, 0, 3000);
    expect_request(source, batch, 2000, KVC_OP_GET, "bb", 6);
    kvc_source_miss_row(source, batch, 0, 2500);
    expect_request(source, batch, 2500, KVC_OP_SET, "bb", 6);
    expect_request(source, batch, 3000, KVC_OP_SET, "aa", 5);
    cr_expect_eq(kvc_source_ended(source), 0);
    expect_request(source, batch, 4000, KVC_OP_GET, "cc", 7);
    cr_expect_eq(kvc_source_drain(source, 0, 1e9, batch), 0);
    cr_expect_neq(kvc_source_ended(source), 0);
    cr_expect_eq(kvc_source_trace_counts(source).filled, 2);
    cr_expect_eq(kvc_source_trace_counts(source).read, 3);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, misses_are_left_if_the_trace_has_its_own_writes)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_source *source = source_of(&workload, "1,get,aa,2,5\n2,set,aa,2,5\n");
    struct kvc_batch *batch = kvc_test_batch(&workload, 4);
    cr_expect_not(kvc_source_fills(source));
    expect_request(source, batch, 1000, KVC_OP_GET, "aa", 5);
    kvc_source_miss_row(source, batch, 0, 1500);
    expect_request(source, batch, 2000, KVC_OP_SET, "aa", 5);
    cr_expect_eq(kvc_source_trace_counts(source).filled, 0);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* b lives for 3 s and is deleted then; a is written again after 1 s, lives 4 s from there, and the trace ends
 * before. */
Test(source_trace, pairs_are_deleted_when_their_time_to_live_has_passed)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    workload.trace.scale = 1;
    struct kvc_source *source =
        source_of(&workload, "OK\n"
                             "ts=10.0 gid=1 type=item_store key=a status=stored cmd=set ttl=2 size=5\n"
                             "ts=10.5 gid=2 type=item_store key=b status=stored cmd=set ttl=3 size=5\n"
                             "ts=11.0 gid=3 type=item_store key=a status=stored cmd=set ttl=4 size=6\n"
                             "ts=14.0 gid=4 type=item_get key=c status=not_found size=0\n");
    struct kvc_batch *batch = kvc_test_batch(&workload, 4);
    expect_request(source, batch, 0, KVC_OP_SET, "a", 5);
    expect_request(source, batch, 5000, KVC_OP_SET, "b", 5);
    expect_request(source, batch, 1e9, KVC_OP_SET, "a", 6);
    expect_request(source, batch, 3e9 + 5000, KVC_OP_DELETE, "b", 0);
    expect_request(source, batch, 4e9, KVC_OP_GET, "c", 0);
    cr_expect_eq(kvc_source_drain(source, 0, 1e12, batch), 0);
    cr_expect_eq(kvc_source_trace_counts(source).expired, 1);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, pairs_that_are_too_large_are_counted_and_not_filled)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    workload.trace.misses = KVC_TRACE_MISSES_FILL;
    workload.trace.key_bytes_most = 3;
    workload.trace.value_bytes_most = 10;
    struct kvc_source *source =
        source_of(&workload, "1,get,aa,2,11\n2,set,bb,2,11\n3,get,long,4,1\n4,get,cc,2,10\n");
    struct kvc_batch *batch = kvc_test_batch(&workload, 4);
    expect_request(source, batch, 1000, KVC_OP_GET, "aa", 10);
    kvc_source_miss_row(source, batch, 0, 1500);
    expect_request(source, batch, 4000, KVC_OP_GET, "cc", 10);
    kvc_source_miss_row(source, batch, 0, 4500);
    expect_request(source, batch, 4500, KVC_OP_SET, "cc", 10);
    cr_expect_eq(kvc_source_trace_counts(source).too_large, 3);
    cr_expect_eq(kvc_source_trace_counts(source).filled, 1);
    kvc_batch_free(batch);
    kvc_source_free(source);
}
