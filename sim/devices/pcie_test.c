#include "sim/devices/pcie.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/devices/pcie_fixture.h"

struct outcome {
    double mops, mean_ns;
    uint32_t most;
};

/* Keeps `clients` requests outstanding on each endpoint at all times, of which the first `readers` read. */
static struct outcome saturate_mixed(const struct kvc_pcie *pcie, uint32_t clients, uint32_t readers,
                                     uint32_t bytes)
{
    enum { REQUESTS = 400000 };
    struct kvc_events events = {0};
    struct kvc_pcie_root root = {0};
    struct kvc_pcie_engine engine[8];
    static double asked_ns[8 * 4096];
    double sum_ns = 0, now_ns = 0;
    uint32_t done = 0, tag;
    for (uint16_t e = 0; e < pcie->endpoints; e++) {
        kvc_pcie_engine_open(&engine[e], pcie, &root, &events, e, 1);
        for (uint32_t c = 0; c < clients; c++) {
            asked_ns[e * 4096 + c] = 0;
            (c < readers ? kvc_pcie_engine_read : kvc_pcie_engine_write)(&engine[e], 0, bytes, c);
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
        (tag < readers ? kvc_pcie_engine_read : kvc_pcie_engine_write)(&engine[event.unit], now_ns, bytes,
                                                                       tag);
    }
    struct outcome outcome = {REQUESTS / now_ns * 1e3, sum_ns / REQUESTS, 0};
    for (uint16_t e = 0; e < pcie->endpoints; e++) {
        uint32_t most = readers == 0 ? engine[e].writes.most : engine[e].reads.most;
        outcome.most = most > outcome.most ? most : outcome.most;
        kvc_pcie_engine_close(&engine[e]);
    }
    kvc_events_free(&events);
    return outcome;
}

static struct outcome saturate(const struct kvc_pcie *pcie, uint32_t clients, uint32_t bytes, bool write)
{
    return saturate_mixed(pcie, clients, write ? 0 : clients, bytes);
}

/* Facts kvdirect.hw.pcie.bw, .ops_64, .concurrency_needed: 7.87 GB/s, 87 Mops, 92 requests in flight. */
Test(pcie_engine, link_of_generation_3)
{
    cr_expect_float_eq(kvc_pcie_link_bytes_per_s(&kvc_test_published_pcie) / 1e9, 7.87, 0.01);
    cr_expect_float_eq(kvc_pcie_link_per_s(&kvc_test_published_pcie, 64) / 1e6, 87, 1);
    cr_expect_float_eq(kvc_pcie_link_per_s(&kvc_test_published_pcie, 64) * 1050e-9, 92, 1);
}

/* Each generation about doubles the rate; that of 6 is 236/256 of 64 GT/s. */
Test(pcie_engine, links_of_generations)
{
    struct kvc_pcie pcie = kvc_test_published_pcie;
    double before = 0;
    for (pcie.generation = 1; pcie.generation <= 6; pcie.generation++) {
        double rate = kvc_pcie_link_bytes_per_s(&pcie);
        cr_expect(before == 0 || fabs(rate / before - 2) < 0.2, "generation %d: %g B/s", (int)pcie.generation,
                  rate);
        before = rate;
    }
    cr_expect_float_eq(before / 1e9, 59, 1e-6);
}

/* Fact kvdirect.hw.pcie.read_tag_limit, fig. 3: 64 tags give about 60 Mops of 64-byte reads. */
Test(pcie_engine, tags_bound_small_reads)
{
    struct outcome outcome = saturate(&kvc_test_published_pcie, 300, 64, false);
    cr_expect_float_eq(outcome.mops, 60, 3, "%g Mops", outcome.mops);
    cr_expect_eq(outcome.most, 64);
    cr_expect_float_eq(kvc_pcie_flight_reads_per_s(&kvc_test_published_pcie) / 1e6, 60, 3);
}

/* With more tags, first the credits and then the link are the limit. */
Test(pcie_engine, credits_and_then_the_link_bound_reads_with_many_tags)
{
    struct kvc_pcie many = kvc_test_published_pcie;
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
    struct outcome outcome = saturate(&kvc_test_published_pcie, 1, 64, false);
    cr_expect_float_eq(outcome.mean_ns, kvc_pcie_read_ns(&kvc_test_published_pcie, 64), 3, "%g ns",
                       outcome.mean_ns);
    cr_expect_eq(outcome.most, 1);
}

/* 88 credits that come back after half a microsecond are enough for the link. */
Test(pcie_engine, writes_fill_the_link)
{
    struct outcome outcome = saturate(&kvc_test_published_pcie, 300, 64, true);
    cr_expect_float_eq(outcome.mops, kvc_pcie_link_per_s(&kvc_test_published_pcie, 64) / 1e6, 0.5, "%g Mops",
                       outcome.mops);
    cr_expect_leq(outcome.most, 88);
    struct kvc_pcie few = kvc_test_published_pcie;
    few.write_credits = 4;
    outcome = saturate(&few, 300, 64, true);
    double hold_ns = 90 / 7.877 + 64 / 13.2 + 500;
    cr_expect_eq(outcome.most, 4);
    cr_expect_float_eq(outcome.mops, 4e3 / hold_ns, 0.3, "%g Mops", outcome.mops);
}

/* Facts kvdirect.f3.write and kvdirect.f14.baseline, fig. 3a and 14: the DMA engine of a link bounds writes
 * by their size, and reads and writes together to what either would reach alone. Without it each has its own
 * direction of the link. */
Test(pcie_engine, the_dma_engine_bounds_reads_and_writes_together)
{
    static const double published_mops[] = {83.7, 62.5, 41.6, 25.0};
    struct kvc_pcie card = kvc_test_published_pcie;
    card.dma_read_ns = 15.5;
    card.dma_write_ns = 8;
    card.dma_bytes_per_s = 8e9;
    for (uint32_t i = 0; i < sizeof(published_mops) / sizeof(*published_mops); i++) {
        struct outcome outcome = saturate(&card, 300, 32 << i, true);
        cr_expect_float_eq(outcome.mops, published_mops[i], 0.01 * published_mops[i], "%d bytes: %g Mops",
                           32 << i, outcome.mops);
    }
    struct outcome outcome = saturate_mixed(&card, 300, 150, 64);
    cr_expect_float_eq(outcome.mops, 61.2, 2.5, "%g Mops", outcome.mops);
    cr_expect_float_eq(kvc_pcie_dma_ns(&card, 1, 1, 64), 15.5 + 8 + 8, 1e-9);
    outcome = saturate_mixed(&kvc_test_published_pcie, 300, 150, 64);
    cr_expect_gt(outcome.mops, 100, "%g Mops", outcome.mops);
}

/* Large requests on two endpoints reach the rate of the root complex, 13.2 GB/s. */
Test(pcie_engine, endpoints_share_the_root)
{
    struct kvc_pcie two = kvc_test_published_pcie;
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
    cr_expect_eq(kvc_pcie_packets(&kvc_test_published_pcie, 64), 1);
    cr_expect_eq(kvc_pcie_packets(&kvc_test_published_pcie, 256), 1);
    cr_expect_eq(kvc_pcie_packets(&kvc_test_published_pcie, 600), 3);
    kvc_pcie_engine_open(&engine, &kvc_test_published_pcie, &root, &events, 0, 1);
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
    cr_expect_eq(engine.reads.data_free, 1024);
    cr_expect_eq(engine.writes.data_free, 440);
    kvc_pcie_engine_close(&engine);
    kvc_events_free(&events);
}

/* Data credits bound large packets as header credits bound small ones. 64 credits are 1 KiB: 4 packets of 256
 * bytes or 16 of 64 bytes. */
Test(pcie_engine, data_credits_bound_large_packets)
{
    struct kvc_pcie few = kvc_test_published_pcie;
    few.write_data_credits = 64;
    for (uint32_t bytes = 64; bytes <= 256; bytes *= 2) {
        struct outcome outcome = saturate(&few, 300, bytes, true);
        double hold_ns = (26 + bytes) / 7.877 + bytes / 13.2 + 500, at_once = 1024.0 / bytes;
        cr_expect_eq(outcome.most, at_once);
        cr_expect_float_eq(outcome.mops, at_once * 1e3 / hold_ns, 0.05 * outcome.mops, "%u bytes: %g Mops",
                           bytes, outcome.mops);
    }
    few = kvc_test_published_pcie;
    few.completion_credits = 64;
    struct outcome outcome = saturate(&few, 300, 256, false);
    cr_expect_eq(outcome.most, 4);
    cr_expect_float_eq(outcome.mops, 4e3 / kvc_pcie_read_ns(&few, 256), 0.1, "%g Mops", outcome.mops);
}

enum { MIXED = 20000 };

/* Outcome of a random mix of reads and writes on one link. */
struct mixed {
    bool write[MIXED];
    double asked_ns[MIXED], done_ns[MIXED];
};

/* Asks for requests of up to 256 bytes at random times and waits for all of them. */
static void ask_mixed(const struct kvc_pcie *pcie, struct mixed *mixed)
{
    struct kvc_events events = {0};
    struct kvc_pcie_root root = {0};
    struct kvc_pcie_engine engine;
    struct kvc_rng rng;
    uint32_t tag, asked = 0, done = 0;
    double next_ns = 0;
    uint64_t bytes[2] = {0};
    kvc_rng_init(&rng, 3, "mixed", 0);
    kvc_pcie_engine_open(&engine, pcie, &root, &events, 0, 1);
    while (done < MIXED) {
        if (asked < MIXED && next_ns <= kvc_events_next_ns(&events)) {
            uint32_t size = 1 + (uint32_t)kvc_rng_below(&rng, 256);
            mixed->write[asked] = kvc_rng_below(&rng, 2) == 0;
            mixed->asked_ns[asked] = next_ns;
            bytes[mixed->write[asked]] += size;
            (mixed->write[asked] ? kvc_pcie_engine_write : kvc_pcie_engine_read)(&engine, next_ns, size,
                                                                                 asked);
            asked++;
            next_ns += kvc_rng_exponential(&rng, 30);
            continue;
        }
        struct kvc_event event = kvc_events_pop(&events);
        if (kvc_pcie_engine_handle(&engine, &event, &tag)) {
            mixed->done_ns[tag] = event.time_ns;
            done++;
        }
    }
    while (events.count > 0) {
        struct kvc_event event = kvc_events_pop(&events);
        kvc_pcie_engine_handle(&engine, &event, &tag);
    }
    cr_expect(engine.reads.bytes == bytes[0] && engine.writes.bytes == bytes[1]);
    cr_expect(engine.reads.free_count == engine.reads.limit &&
              engine.writes.free_count == engine.writes.limit);
    cr_expect_eq(engine.reads.data_free, engine.reads.data_limit);
    cr_expect_eq(engine.writes.data_free, engine.writes.data_limit);
    kvc_pcie_engine_close(&engine);
    kvc_events_free(&events);
}

/* Writes keep their order, and a read is answered no earlier than its latency after every write that was
 * asked for before it is on the wire. With 2 credits, writes wait for long. Reads pass each other. */
Test(pcie_engine, a_read_never_overtakes_a_write)
{
    static struct mixed mixed;
    struct kvc_pcie few = kvc_test_published_pcie;
    for (uint32_t credits = 2; credits <= 88; credits += 86) {
        double write_ns = 0, read_ns = 0;
        uint32_t overtaken = 0;
        few.write_credits = credits;
        ask_mixed(&few, &mixed);
        for (uint32_t i = 0; i < MIXED; i++) {
            if (mixed.write[i]) {
                cr_assert_geq(mixed.done_ns[i], write_ns, "writes must keep their order");
                write_ns = mixed.done_ns[i];
            } else {
                cr_assert_geq(mixed.done_ns[i], fmax(write_ns, mixed.asked_ns[i]) + few.read_ns);
                overtaken += mixed.done_ns[i] < read_ns;
                read_ns = fmax(read_ns, mixed.done_ns[i]);
            }
        }
        cr_expect_gt(overtaken, 0, "the data of reads comes in any order");
    }
}
