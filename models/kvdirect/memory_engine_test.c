#include <criterion/criterion.h>
#include <math.h>

#include "models/kvdirect/card_fixture.h"
#include "models/kvdirect/dispatch.h"
#include "models/kvdirect/memory_engine.h"

enum { STEPS_MAX = 4096, PLACES = 4 };

/* A memory engine whose cache has four places, with the outcome of each step. */
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
    kvc_kvdirect_dispatch_open(&bench->dispatch, 1, PLACES * KVC_KVDIRECT_LINE_BYTES, 2);
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

/* With a random load on few places, every step ends once, nothing stays in flight, and each miss fetches its
 * line once. */
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

static uint32_t steps_of(struct kvc_kvdirect_dispatch *dispatch, uint32_t line, uint32_t bytes, bool write,
                         struct kvc_kvdirect_step *step)
{
    const struct kvc_kvdirect_table_access access = {.line = line, .bytes = (uint16_t)bytes, .write = write};
    uint32_t count = kvc_kvdirect_dispatch_steps(dispatch, &access, KVC_KVDIRECT_OWN, step);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(step[i].ends_access, i == count - 1);
    }
    return count;
}

/* If no line is cacheable, a slab of any size is one DMA operation. */
Test(dispatch, without_a_cache_everything_goes_to_the_host)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    kvc_kvdirect_dispatch_open(&dispatch, 0.7, 0, 2);
    cr_expect_eq(steps_of(&dispatch, 7, 64, false, step), 1);
    cr_expect_eq(step[0].kind, KVC_KVDIRECT_HOST_READ);
    cr_expect_eq(steps_of(&dispatch, 8, 500, true, step), 1);
    cr_expect_eq(step[0].kind, KVC_KVDIRECT_HOST_WRITE);
    cr_expect_eq(step[0].bytes, 500);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* Slabs of 256 bytes begin at every fourth line. */
Test(dispatch, endpoints_get_as_much_each)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    uint32_t operations[2] = {0};
    kvc_kvdirect_dispatch_open(&dispatch, 0, 0, 2);
    for (uint32_t slab = 0; slab < 10000; slab++) {
        steps_of(&dispatch, 4 * slab, 256, false, step);
        operations[step[0].endpoint]++;
    }
    cr_expect_float_eq((double)operations[0], 5000, 200);
    kvc_kvdirect_dispatch_close(&dispatch);
}

Test(dispatch, a_share_of_the_lines_is_cacheable)
{
    for (double share = 0.1; share < 1; share += 0.2) {
        struct kvc_kvdirect_dispatch dispatch;
        uint32_t cacheable = 0;
        kvc_kvdirect_dispatch_open(&dispatch, share, 65536, 1);
        for (uint32_t line = 0; line < 100000; line++) {
            cacheable += kvc_kvdirect_dispatch_cacheable(&dispatch, line);
        }
        cr_expect_float_eq(cacheable / 1e5, share, 0.01);
        kvc_kvdirect_dispatch_close(&dispatch);
    }
}

/* Looks up a line and, if it is missing or written, puts it into its place. */
static struct kvc_kvdirect_step use(struct kvc_kvdirect_dispatch *dispatch, uint32_t line, uint32_t bytes,
                                    bool write)
{
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    cr_assert_eq(steps_of(dispatch, line, bytes, write, step), 1);
    cr_assert(step[0].open, "the state of the cache must not matter before the step starts");
    cr_assert_eq(step[0].line, line);
    kvc_kvdirect_dispatch_look(dispatch, &step[0]);
    cr_assert_not(step[0].open);
    if (step[0].kind != KVC_KVDIRECT_CACHE_READ) {
        kvc_kvdirect_dispatch_place(dispatch, line, write);
    }
    return step[0];
}

/* The cache has four places, and lines 1, 5 and 9 share one. */
Test(dispatch, a_place_holds_the_line_used_last)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step;
    kvc_kvdirect_dispatch_open(&dispatch, 1, 256, 1);
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH);
    cr_expect_not(step.evicts, "the place was empty");
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_READ);
    step = use(&dispatch, 2, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH, "another place");
    step = use(&dispatch, 5, 64, true);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_WRITE);
    cr_expect_not(step.evicts, "line 1 equals the host's copy");
    cr_expect_not(step.fetches, "all of line 5 is written");
    step = use(&dispatch, 9, 20, true);
    cr_expect(step.evicts, "line 5 is newer than the host's");
    cr_expect(step.fetches, "20 bytes are only a part of line 9");
    step = use(&dispatch, 9, 20, true);
    cr_expect_not(step.fetches);
    cr_expect_not(step.evicts);
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH);
    cr_expect(step.evicts);
    cr_expect_eq(dispatch.stats.lines, 7);
    cr_expect_eq(dispatch.stats.hits, 2);
    cr_expect_eq(dispatch.stats.writebacks, 2);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* PCIe orders the requests of a link only, so an evicted line must take the link on which it is read again.
 */
Test(dispatch, an_evicted_line_takes_its_own_link)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step;
    uint32_t other = 0;
    kvc_kvdirect_dispatch_open(&dispatch, 1, 256, 2);
    for (uint32_t line = 0; line < 400; line += 4) {
        struct kvc_kvdirect_step written = use(&dispatch, line, 64, true);
        step = use(&dispatch, line + 4, 64, false);
        cr_assert(step.evicts);
        cr_assert_eq(step.evicted_endpoint, written.endpoint);
        other += step.evicted_endpoint != step.endpoint;
    }
    cr_expect_gt(other, 0);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* Adjacent lines of a slab that are not cacheable form one operation. */
Test(dispatch, neighbours_on_the_host_are_one_operation)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    uint64_t bytes = 0, host = 0, runs = 0;
    kvc_kvdirect_dispatch_open(&dispatch, 0.5, 65536, 1);
    for (uint32_t line = 0; line < 8; line++) {
        bool cacheable = kvc_kvdirect_dispatch_cacheable(&dispatch, line);
        runs += cacheable || line == 0 || kvc_kvdirect_dispatch_cacheable(&dispatch, line - 1);
        host += !cacheable;
    }
    cr_assert(host > 0 && host < 8);
    uint32_t count = steps_of(&dispatch, 0, 512, false, step);
    cr_expect_eq(count, runs);
    for (uint32_t i = 0; i < count; i++) {
        bytes += step[i].kind == KVC_KVDIRECT_HOST_READ ? step[i].bytes : 0;
    }
    cr_expect_eq(bytes, 64 * host);
    kvc_kvdirect_dispatch_close(&dispatch);
}

enum { RATE = 8, HOT_PLACES = 1024, INDEX = 8192, LINES = 16384 };

static const struct kvc_kvdirect_extent whole = {INDEX, LINES, HOT_PLACES},
                                        sample = {INDEX / RATE, LINES / RATE, HOT_PLACES / RATE};

/* Lines of the whole table: a line, another line at its place, a line at another place with the same
 * stand-in place, and a line elsewhere. */
enum { LINE = 5, RIVAL = LINE + HOT_PLACES, COUSIN = LINE + HOT_PLACES / RATE, OTHER = LINE + 1 };

static struct kvc_kvdirect_hot opened(void)
{
    struct kvc_kvdirect_hot hot;
    kvc_kvdirect_hot_open(&hot, &whole, &sample);
    return hot;
}

static bool has(const struct kvc_kvdirect_hot *hot, uint64_t line)
{
    bool evicts;
    return kvc_kvdirect_hot_look(hot, line, KVC_KVDIRECT_NO_LINE, &evicts);
}

static bool evicts(const struct kvc_kvdirect_hot *hot, uint64_t line)
{
    bool evicts;
    cr_assert_not(kvc_kvdirect_hot_look(hot, line, KVC_KVDIRECT_NO_LINE, &evicts));
    return evicts;
}

Test(hot, lines_stay_until_their_place_is_used)
{
    struct kvc_kvdirect_hot hot = opened();
    cr_expect_not(has(&hot, LINE));
    kvc_kvdirect_hot_put(&hot, LINE, false);
    kvc_kvdirect_hot_put(&hot, COUSIN, false);
    kvc_kvdirect_hot_note(&hot, OTHER, true, false);
    cr_expect(has(&hot, LINE) && has(&hot, COUSIN), "places that are alike hold a line each");
    kvc_kvdirect_hot_put(&hot, RIVAL, false);
    cr_expect(!has(&hot, LINE) && has(&hot, RIVAL) && has(&hot, COUSIN));
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect(!has(&hot, RIVAL) && !has(&hot, COUSIN), "a use in the sample is one at every place alike");
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, the_keys_of_its_bucket_bring_a_line_back)
{
    struct kvc_kvdirect_hot hot = opened();
    bool unused;
    kvc_kvdirect_hot_put(&hot, LINE, false);
    kvc_kvdirect_hot_note(&hot, LINE, true, false); /* At the place. */
    cr_expect_not(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_note(&hot, OTHER, true, false); /* In the bucket. */
    cr_expect(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect_not(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, changed_lines_are_evicted)
{
    struct kvc_kvdirect_hot hot = opened();
    cr_expect_not(evicts(&hot, LINE));
    kvc_kvdirect_hot_put(&hot, RIVAL, true);
    cr_expect(evicts(&hot, LINE), "the rival's line");
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect_not(evicts(&hot, LINE), "an unchanged line of the sample");
    kvc_kvdirect_hot_note(&hot, LINE, true, true);
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect(evicts(&hot, LINE), "a changed one that was read since");
    kvc_kvdirect_hot_note(&hot, LINE, false, false);
    cr_expect_not(evicts(&hot, LINE), "one that was fetched since");
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, the_latest_line_is_there_first)
{
    struct kvc_kvdirect_hot hot = opened();
    for (uint32_t line = 0; line < LINES; line++) {
        kvc_kvdirect_hot_fill(&hot, line, (float)(line / HOT_PLACES == 3 ? 1 : 2), false);
    }
    for (uint32_t line = 0; line < LINES; line++) {
        cr_assert_eq(has(&hot, line), line / HOT_PLACES == 3);
    }
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, buckets_are_those_of_the_whole_table)
{
    struct kvc_kvdirect_hot hot = opened();
    for (uint64_t hash = 1; hash < UINT64_C(1) << 32; hash += 12345677) {
        cr_assert_eq(kvc_kvdirect_hot_line(&hot, hash, 3), hash * INDEX >> 32);
        uint32_t behind = kvc_kvdirect_hot_line(&hot, hash, INDEX / RATE + 3);
        cr_assert(behind >= INDEX && behind < LINES);
    }
    kvc_kvdirect_hot_close(&hot);
}
