#include "sim/devices/pcie_engine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* KV-Direct (SOSP 2017) sec. 2.4: one Gen3 x8 endpoint of its card. */
static const struct kvc_pcie published = {.endpoints = 1,
                                          .generation = 3,
                                          .lanes = 8,
                                          .header_bytes = 26,
                                          .payload_max_bytes = 256,
                                          .tags = 64,
                                          .read_credits = 84,
                                          .write_credits = 88,
                                          .read_ns = 800,
                                          .memory_ns = 250,
                                          .credit_ns = 500,
                                          .root_bytes_per_s = 13.2e9};

struct outcome {
    double mops, mean_ns;
    uint32_t most;
};

/* Keeps `clients` requests outstanding on each endpoint at all times. */
static struct outcome saturate(const struct kvc_pcie *pcie, uint32_t clients, uint32_t bytes, bool write)
{
    enum { REQUESTS = 400000 };
    struct kvc_events events = {0};
    struct kvc_pcie_root root = {0};
    struct kvc_pcie_engine engine[8];
    static double asked_ns[8 * 4096];
    double sum_ns = 0, now_ns = 0;
    uint32_t done = 0, tag;
    void (*ask)(struct kvc_pcie_engine *, double, uint32_t, uint32_t) =
        write ? kvc_pcie_engine_write : kvc_pcie_engine_read;
    for (uint16_t e = 0; e < pcie->endpoints; e++) {
        kvc_pcie_engine_open(&engine[e], pcie, &root, &events, e, 1);
        for (uint32_t c = 0; c < clients; c++) {
            asked_ns[e * 4096 + c] = 0;
            ask(&engine[e], 0, bytes, c);
        }
    }
    while (done < REQUESTS) {
        struct kvc_event event = kvc_events_pop(&events);
        cr_assert_geq(event.time_ns, now_ns);
        now_ns = event.time_ns;
        if (!kvc_pcie_engine_handle(&engine[event.unit], &event, &tag)) {
            continue;
        }
        done++;
        sum_ns += now_ns - asked_ns[event.unit * 4096 + tag];
        asked_ns[event.unit * 4096 + tag] = now_ns;
        ask(&engine[event.unit], now_ns, bytes, tag);
    }
    struct outcome outcome = {REQUESTS / now_ns * 1e3, sum_ns / REQUESTS, 0};
    for (uint16_t e = 0; e < pcie->endpoints; e++) {
        uint32_t most = write ? engine[e].writes.most : engine[e].reads.most;
        outcome.most = most > outcome.most ? most : outcome.most;
        kvc_pcie_engine_close(&engine[e]);
    }
    kvc_events_free(&events);
    return outcome;
}

/* Facts kvdirect.hw.pcie.bw, .ops_64, .concurrency_needed: 7.87 GB/s, 87 Mops, 92 requests in flight. */
Test(pcie_engine, link_of_generation_3)
{
    cr_expect_float_eq(kvc_pcie_link_bytes_per_s(&published) / 1e9, 7.87, 0.01);
    cr_expect_float_eq(kvc_pcie_link_per_s(&published, 64) / 1e6, 87, 1);
    cr_expect_float_eq(kvc_pcie_link_per_s(&published, 64) * 1050e-9, 92, 1);
}

/* Fact kvdirect.hw.pcie.read_tag_limit, fig. 3: 64 tags give about 60 Mops of 64-byte reads. */
Test(pcie_engine, tags_bound_small_reads)
{
    struct outcome outcome = saturate(&published, 300, 64, false);
    cr_expect_float_eq(outcome.mops, 60, 3, "%g Mops", outcome.mops);
    cr_expect_eq(outcome.most, 64);
    cr_expect_float_eq(kvc_pcie_flight_reads_per_s(&published) / 1e6, 60, 3);
}

/* With more tags, first the credits and then the link are the limit. */
Test(pcie_engine, credits_and_then_the_link_bound_reads_with_many_tags)
{
    struct kvc_pcie many = published;
    many.tags = 1024;
    struct outcome outcome = saturate(&many, 300, 64, false);
    cr_expect_eq(outcome.most, 84);
    cr_expect_lt(outcome.mops, 84 / 1.05);
    cr_expect_gt(outcome.mops, 0.85 * 84 / 1.05);
    many.read_credits = 1024;
    outcome = saturate(&many, 300, 64, false);
    cr_expect_float_eq(outcome.mops, kvc_pcie_link_per_s(&many, 64) / 1e6, 0.5, "%g Mops", outcome.mops);
}

/* A single read at a time takes the mean latency. */
Test(pcie_engine, a_read_alone_takes_its_latency)
{
    struct outcome outcome = saturate(&published, 1, 64, false);
    cr_expect_float_eq(outcome.mean_ns, kvc_pcie_read_ns(&published, 64), 3, "%g ns", outcome.mean_ns);
    cr_expect_eq(outcome.most, 1);
}

/* 88 credits that come back after half a microsecond are enough for the link. */
Test(pcie_engine, writes_fill_the_link)
{
    struct outcome outcome = saturate(&published, 300, 64, true);
    cr_expect_float_eq(outcome.mops, kvc_pcie_link_per_s(&published, 64) / 1e6, 0.5, "%g Mops", outcome.mops);
    cr_expect_leq(outcome.most, 88);
    struct kvc_pcie few = published;
    few.write_credits = 4;
    outcome = saturate(&few, 300, 64, true);
    double hold_ns = 90 / 7.877 + 64 / 13.2 + 500;
    cr_expect_eq(outcome.most, 4);
    cr_expect_float_eq(outcome.mops, 4e3 / hold_ns, 0.3, "%g Mops", outcome.mops);
}

/* Large requests on two endpoints reach the rate of the root complex, 13.2 GB/s. */
Test(pcie_engine, endpoints_share_the_root)
{
    struct kvc_pcie two = published;
    two.endpoints = 2;
    struct outcome outcome = saturate(&two, 300, 256, false);
    cr_expect_float_eq(outcome.mops * 256 / 1e3, 13.2, 0.1, "%g GB/s", outcome.mops * 256 / 1e3);
    outcome = saturate(&two, 300, 64, false);
    cr_expect_float_eq(outcome.mops, 120, 6, "%g Mops", outcome.mops);
}

/* A request of 600 bytes is cut into three packets, and its tag comes back three times. */
Test(pcie_engine, large_requests_are_cut)
{
    struct kvc_events events = {0};
    struct kvc_pcie_root root = {0};
    struct kvc_pcie_engine engine;
    uint32_t tag, done = 0;
    cr_expect_eq(kvc_pcie_packets(&published, 64), 1);
    cr_expect_eq(kvc_pcie_packets(&published, 256), 1);
    cr_expect_eq(kvc_pcie_packets(&published, 600), 3);
    kvc_pcie_engine_open(&engine, &published, &root, &events, 0, 1);
    kvc_pcie_engine_read(&engine, 5, 600, 42);
    kvc_pcie_engine_write(&engine, 5, 257, 43);
    while (events.count > 0) {
        struct kvc_event event = kvc_events_pop(&events);
        if (kvc_pcie_engine_handle(&engine, &event, &tag)) {
            cr_expect(tag == 42 || tag == 43);
            done++;
        }
    }
    cr_expect_eq(done, 5);
    cr_expect_eq(engine.reads.bytes, 600);
    cr_expect_eq(engine.writes.bytes, 257);
    cr_expect_eq(engine.reads.free_count, 64);
    cr_expect_eq(engine.writes.free_count, 88);
    kvc_pcie_engine_close(&engine);
    kvc_events_free(&events);
}
