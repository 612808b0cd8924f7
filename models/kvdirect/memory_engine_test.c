#include "models/kvdirect/memory_engine.h"

#include <criterion/criterion.h>
#include <math.h>

#include "models/kvdirect/card_fixture.h"

enum { STEPS_MAX = 4096, PLACES = 4 };

/* A memory engine whose cache has four places, with what became of each step. */
struct bench {
    struct kvc_test_card card;
    struct kvc_events events;
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_memory_engine memory;
    struct kvc_kvdirect_step step[STEPS_MAX];
    double done_ns[STEPS_MAX];
    uint32_t steps, done;
    double now_ns;
};

static void open_bench(struct bench *bench)
{
    *bench = (struct bench){.card = kvc_test_published_card};
    cr_assert(kvc_kvdirect_dispatch_open(&bench->dispatch, 1, PLACES * KVC_KVDIRECT_LINE_BYTES, 2));
    kvc_kvdirect_memory_engine_open(&bench->memory, &bench->card.pcie, &bench->card.fpga, &bench->dispatch, 0,
                                    &bench->events, 1);
}

static void close_bench(struct bench *bench)
{
    kvc_kvdirect_memory_engine_close(&bench->memory);
    kvc_kvdirect_dispatch_close(&bench->dispatch);
    kvc_events_free(&bench->events);
}

static uint32_t start(struct bench *bench, uint32_t line, uint32_t bytes, bool write)
{
    const struct kvc_kvdirect_table_access access = {.line = line, .bytes = (uint16_t)bytes, .write = write};
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    cr_assert_eq(kvc_kvdirect_dispatch_steps(&bench->dispatch, &access, KVC_KVDIRECT_OWN, step), 1);
    bench->step[bench->steps] = step[0];
    kvc_kvdirect_memory_engine_start(&bench->memory, bench->now_ns, &bench->step[bench->steps], bench->steps);
    return bench->steps++;
}

/* Handles all events up to a time. */
static void run(struct bench *bench, double until_ns)
{
    while (bench->events.count > 0 && kvc_events_next_ns(&bench->events) <= until_ns) {
        struct kvc_event event = kvc_events_pop(&bench->events);
        bench->now_ns = event.time_ns;
        kvc_kvdirect_memory_engine_handle(&bench->memory, &event);
        for (uint32_t i = 0; i < bench->memory.done_count; i++) {
            bench->done_ns[bench->memory.done[i]] = event.time_ns;
            bench->done++;
        }
    }
    bench->now_ns = isfinite(until_ns) ? until_ns : bench->now_ns;
}

/* Ten reads of a line: one fetches it, and the others get it when it arrives, not before. */
Test(memory_engine, a_line_under_way_is_fetched_once)
{
    struct bench bench;
    open_bench(&bench);
    for (uint32_t i = 0; i < 10; i++) {
        start(&bench, 1, 64, false);
        run(&bench, bench.now_ns + 20);
    }
    cr_expect_eq(bench.done, 0, "no line can have come from the host yet");
    run(&bench, INFINITY);
    cr_expect_eq(bench.done, 10);
    cr_expect_eq(bench.memory.host_reads, 1);
    cr_expect_eq(bench.step[0].kind, KVC_KVDIRECT_CACHE_FETCH);
    cr_expect_gt(bench.done_ns[0], bench.card.pcie.read_ns);
    for (uint32_t i = 1; i < 10; i++) {
        cr_expect_eq(bench.step[i].kind, KVC_KVDIRECT_CACHE_JOIN);
        cr_expect_eq(bench.done_ns[i], bench.done_ns[0]);
    }
    double now_ns = bench.now_ns;
    uint32_t hit = start(&bench, 1, 64, false);
    run(&bench, INFINITY);
    cr_expect_eq(bench.step[hit].kind, KVC_KVDIRECT_CACHE_READ, "the line has arrived");
    cr_expect_float_eq(bench.done_ns[hit] - now_ns, 41.25 + 2 * 64 / 12.8, 1e-6, "behind the line's store");
    cr_expect_eq(bench.memory.host_reads, 1);
    close_bench(&bench);
}

/* Lines 1 and 5 share a place: the second waits for the first and takes its place then. */
Test(memory_engine, another_line_of_the_place_waits)
{
    struct bench bench;
    open_bench(&bench);
    uint32_t first = start(&bench, 1, 64, true), second = start(&bench, 5, 64, false),
             third = start(&bench, 1, 64, false);
    run(&bench, INFINITY);
    cr_expect_eq(bench.done, 3);
    cr_expect_lt(bench.done_ns[first], bench.done_ns[second]);
    cr_expect_lt(bench.done_ns[second], bench.done_ns[third]);
    cr_expect(bench.step[second].evicts, "line 1 was written");
    cr_expect_eq(bench.step[third].kind, KVC_KVDIRECT_CACHE_FETCH, "line 5 has taken its place");
    cr_expect_eq(bench.memory.host_reads, 2);
    cr_expect_eq(bench.memory.host_writes, 1);
    cr_expect_geq(bench.done_ns[third] - bench.done_ns[second], bench.card.pcie.read_ns);
    close_bench(&bench);
}

/* With a random load on few places every step ends once, nothing stays under way, and a line comes from the
 * host as often as it is missed. */
Test(memory_engine, every_step_ends_once)
{
    static struct bench bench;
    struct kvc_rng rng;
    uint64_t fetched = 0, evicted = 0, kinds[KVC_KVDIRECT_STEP_KINDS] = {0};
    open_bench(&bench);
    kvc_rng_init(&rng, 5, "steps", 0);
    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        uint32_t bytes = kvc_rng_below(&rng, 2) == 0 ? 64 : 20;
        start(&bench, (uint32_t)kvc_rng_below(&rng, 3 * PLACES), bytes, kvc_rng_below(&rng, 3) == 0);
        run(&bench, bench.now_ns + kvc_rng_exponential(&rng, 200));
    }
    run(&bench, INFINITY);
    cr_expect_eq(bench.done, STEPS_MAX);
    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        cr_assert_not(bench.step[i].open);
        cr_assert_gt(bench.done_ns[i], 0);
        kinds[bench.step[i].kind]++;
        fetched += bench.step[i].kind == KVC_KVDIRECT_CACHE_FETCH || bench.step[i].fetches;
        evicted += bench.step[i].evicts;
    }
    for (uint32_t i = 0; i < KVC_KVDIRECT_UNDER_WAY_LISTS; i++) {
        cr_assert_eq(bench.memory.under_way[i], UINT32_MAX);
    }
    cr_expect_eq(bench.memory.free_count, bench.memory.part_count);
    cr_expect_eq(bench.memory.host_reads, fetched);
    cr_expect_eq(bench.memory.host_writes, evicted);
    cr_expect(kinds[KVC_KVDIRECT_CACHE_JOIN] > 0 && kinds[KVC_KVDIRECT_CACHE_READ] > 0);
    close_bench(&bench);
}
