#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "sim/workload/source/source_fixture.h"

static void write_trace(struct kvc_workload *workload, const char *head, uint32_t lines)
{
    strcpy(workload->trace, "/tmp/kvc_source_XXXXXX");
    FILE *file = fdopen(mkstemp(workload->trace), "w");
    cr_assert_not_null(file);
    fputs(head, file);
    for (uint32_t i = 0; i < lines; i++) {
        fprintf(file, "%u.%u,%s,key%u,12,%u\n", i / 4, i % 4 * 25, i % 3 == 0 ? "set" : "get", i % 1000,
                i % 500);
    }
    fclose(file);
}

static const char trace_header[] = "time_us,op,key,key_bytes,value_bytes\n";

Test(source_trace, replays_with_its_own_times_on_all_shards)
{
    enum { LINES = 5000, NODES = 3 };
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    write_trace(&workload, trace_header, LINES);
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
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, a_bad_line_stops_the_stream_and_is_named)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    write_trace(&workload, "0,get,a,1,1\n0,get,b,1,1\n0,get,c,1\n", 10);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 100);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_OK);
    while (kvc_source_drain(source, 0, 1e9, batch) != 0) {
        ;
    }
    cr_assert_eq(batch->count, 2);
    cr_assert_eq(kvc_source_error(source, &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 3);
    cr_assert_str_eq(diag.file, workload.trace);
    cr_assert(isinf(kvc_source_next_ns(source, 0)));
    cr_assert_neq(kvc_source_ended(source), 0);
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(source_trace, without_requests_is_an_error)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag;
    write_trace(&workload, "", 0);
    const struct kvc_source_params params = {
        .workload = &workload, .nodes = 1, .sockets = 1, .frame_requests = 1};
    struct kvc_source *source = kvc_source_create(&params, &diag);
    cr_expect(isinf(kvc_source_next_ns(source, 0)));
    cr_expect_eq(kvc_source_error(source, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "without requests"), "%s", diag.message);
    kvc_source_free(source);
    unlink(workload.trace);
}

Test(source_trace, a_missing_file_is_refused)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_TRACE);
    struct kvc_diag diag = {0};
    struct kvc_source_params params = {.workload = &workload, .nodes = 1, .sockets = 1, .frame_requests = 1};
    strcpy(workload.trace, "/nonexistent/trace.csv");
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
    unlink(workload.trace);
    kvc_batch_free(batch);
    kvc_source_free(source);
}
