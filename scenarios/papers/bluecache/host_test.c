/* Laws of the software of BlueCache's hosts: DMA segments, flushes, bursts, and the table of requests in
 * flight. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

#define READS "get = 1, set = 0, "
#define DRAM "dram = \"16MiB\""
#define FLASH "dram = \"0B\""

/* Answers for one small node; `system` and `workload` add to the tables. The caller frees the outcome. */
static struct kvc_outcome *answer(const char *system, const char *workload, bool predict)
{
    struct kvc_loaded *loaded = kvc_laws_load(
        "return { name = \"laws\", system = { kind = \"bluecache\", index = \"1MiB\", flash = \"256MiB\", %s },"
        " workload = { keys = 1e4, key = 32, %s },"
        " run = { warmup = \"5ms\", duration = \"50ms\", bottleneck = \"utilization\" } }",
        system, workload);
    return kvc_laws_answer(loaded, predict);
}

static double value(const char *system, const char *workload, bool predict, const char *name)
{
    struct kvc_outcome *outcome = answer(system, workload, predict);
    double found = kvc_laws_value(outcome, name);
    kvc_outcome_free(outcome);
    return found;
}

/* Requests of 56 bytes, and responses of a header and a value, follow one another without gaps. */
Test(bluecache_host, saturating_requests_fill_segments_and_share_interrupts)
{
    const int segments[] = {2048, 8192}, values[] = {32, 1000};
    for (int i = 0; i < 4; i++) {
        char system[60], workload[80];
        snprintf(system, sizeof(system), DRAM ", segment = \"%dB\"", segments[i % 2]);
        snprintf(workload, sizeof(workload), READS "value = %d, arrival = \"saturate\"", values[i / 2]);
        for (int predict = 0; predict < 2; predict++) {
            struct kvc_outcome *outcome = answer(system, workload, predict);
            double requests = segments[i % 2] / 56.0, responses = segments[i % 2] / (24.0 + values[i / 2]);
            double sent = kvc_laws_value(outcome, "requests_per_segment"),
                   answered = kvc_laws_value(outcome, "responses_per_interrupt");
            cr_expect_float_eq(sent / requests, 1, 0.01, "%s, %s: %.2f", system, workload, sent);
            cr_expect_float_eq(answered / responses, 1, 0.01, "%s, %s: %.2f", system, workload, answered);
            kvc_outcome_free(outcome);
        }
    }
}

/* Nobody waits for a segment to fill. */
Test(bluecache_host, a_request_alone_takes_as_long_with_any_segment)
{
    const char *loads[] = {READS "value = 900, arrival = { fixed_mops = 0.002 }",
                           READS "value = 900, arrival = { clients = 1, think = \"500us\" }"};
    for (int i = 0; i < 2; i++) {
        double small_us = value(DRAM ", segment = \"1KiB\"", loads[i], false, "latency_mean_us"),
               large_us = value(DRAM ", segment = \"1MiB\"", loads[i], false, "latency_mean_us");
        cr_expect_float_eq(large_us, small_us, 0.01, "%s: %.3f and %.3f us", loads[i], large_us, small_us);
        double sent = value(DRAM, loads[i], false, "requests_per_segment");
        cr_expect_eq(sent, 1);
    }
}

/* The flushing thread sleeps after each flush, whoever waits. */
Test(bluecache_host, a_thread_alone_waits_for_the_flushing_thread)
{
    const char *workload = READS "value = 900, arrival = { clients = 1 }";
    for (int predict = 0; predict < 2; predict++) {
        double awake = value(DRAM ", flush_pause = \"0us\"", workload, predict, "latency_mean_us");
        double asleep = value(DRAM ", flush_pause = \"300us\"", workload, predict, "latency_mean_us");
        cr_expect_lt(awake, 40, "%.2f us", awake);
        cr_expect_float_eq(asleep, 300, 0.1, "%.2f us", asleep);
    }
}

/* A segment is free again after its bytes have crossed PCIe at 1.2 GB/s and a round trip of 20 us. */
Test(bluecache_host, each_segment_carries_its_requests_once_in_a_round_trip)
{
    const char *workload = READS "value = 32, arrival = \"saturate\"";
    for (int segments = 1; segments <= 3; segments++) {
        char system[60];
        snprintf(system, sizeof(system), DRAM ", segment = \"1KiB\", segments = %d", segments);
        double expected = segments * (1024 / 56.0) / (20 + 1.024 / 1.2);
        for (int predict = 0; predict < 2; predict++) {
            double mops = value(system, workload, predict, "throughput_mops");
            cr_expect_float_eq(mops / expected, 1, 0.01, "%d segments: %.3f Mops", segments, mops);
        }
    }
}

/* With one entry, a request is taken when the one before it is answered. */
Test(bluecache_host, the_table_bounds_the_requests_in_flight)
{
    const char *saturate = READS "value = 900, arrival = \"saturate\"";
    double alone_us =
        value(FLASH, READS "value = 900, arrival = { fixed_mops = 0.002 }", false, "latency_mean_us");
    const int tables[] = {1, 4};
    for (int i = 0; i < 2; i++) {
        char system[40];
        snprintf(system, sizeof(system), FLASH ", table = %d", tables[i]);
        double inside = value(system, saturate, false, "throughput_mops") * (alone_us - 20);
        /* Requests that meet at a channel or a chip take longer than one alone. */
        cr_expect_leq(inside, tables[i] * 1.02, "%d: %.3f in flight", tables[i], inside);
        cr_expect_geq(inside, tables[i] * (i == 0 ? 0.97 : 0.85), "%d: %.3f in flight", tables[i], inside);
    }
}

/* A flush is answered as a whole, so that threads wait for the slowest of all reads. */
Test(bluecache_host, flushes_of_threads_take_what_the_closed_form_says)
{
    const int clients[] = {4, 32, 128, 512};
    for (int i = 0; i < 4; i++) {
        char workload[60];
        snprintf(workload, sizeof(workload), READS "value = 900, arrival = { clients = %d }", clients[i]);
        double run = value(FLASH, workload, false, "throughput_mops"),
               closed = value(FLASH, workload, true, "throughput_mops");
        cr_expect_float_eq(closed / run, 1, 0.12, "%d threads: %.4f, simulated %.4f", clients[i], closed,
                           run);
        /* The store alone does 0.158. */
        cr_expect_lt(run, 0.15, "%d threads: %.4f", clients[i], run);
    }
}

/* Messages longer than all segments together go through them piece by piece. */
Test(bluecache_host, pairs_span_segments)
{
    const char *loads[] = {"get = 0, set = 1, value = 100000, arrival = { fixed_mops = 0.0005 }",
                           READS "value = 100000, arrival = { fixed_mops = 0.0005 }"};
    const char *counts[] = {"requests_per_segment", "responses_per_interrupt"};
    for (int i = 0; i < 2; i++) {
        struct kvc_outcome *outcome =
            answer("dram = \"0B\", flash = \"2GiB\", segments = 2", loads[i], false);
        double pieces = 1 / kvc_laws_value(outcome, counts[i]);
        cr_expect_eq(kvc_laws_value(outcome, "throughput_mops"), 0.0005);
        cr_expect_float_eq(pieces, 13, 1e-9, "%s: 100 KB in %.2f segments of 8 KB", counts[i], pieces);
        kvc_outcome_free(outcome);
    }
}
