#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/devices/database.h"

/* Hands the engine its events until none is left, or `queries` results have arrived. Returns when the last
 * result arrived. Each result leads to a new query if `again`. */
static double run(struct kvc_database_engine *engine, uint32_t results, bool again)
{
    double last_ns = 0;
    for (uint32_t done = 0; done < results;) {
        struct kvc_event event = kvc_events_pop(engine->events);
        if (!kvc_database_engine_handle(engine, &event)) {
            continue;
        }
        done++;
        last_ns = event.time_ns;
        if (again) {
            kvc_database_ask(engine, last_ns, false, 0, event.tag);
        }
    }
    return last_ns;
}

Test(database_engine, works_on_as_many_queries_as_it_can_and_lets_others_wait)
{
    struct kvc_database database = {
        .queries = 2, .read_ns = 100, .write_ns = -1, .latency_ns = 7, .times = KVC_DATABASE_FIXED};
    struct kvc_events events = {0};
    struct kvc_database_engine engine;
    kvc_database_engine_open(&engine, &database, &events, 1, 0);
    for (uint32_t i = 0; i < 5; i++) {
        kvc_database_ask(&engine, 0, false, 0, i);
    }
    cr_expect_eq(engine.running, 2);
    cr_expect_eq(engine.waiting.count, 3);
    double last_ns = run(&engine, 5, false);
    cr_expect_float_eq(last_ns, 307, 1e-9, "two at a time, and the way once");
    cr_expect_eq(events.count, 0);
    cr_expect_eq(engine.reads, 5);
    double busy_ns = kvc_database_engine_busy_ns(&engine);
    cr_expect_float_eq(busy_ns, 500 / 2.0, 1e-9);
    kvc_database_engine_close(&engine);
    kvc_events_free(&events);
}

Test(database_engine, answers_in_the_order_of_arrival)
{
    struct kvc_database database = {
        .queries = 1, .read_ns = 10, .write_ns = 100, .times = KVC_DATABASE_FIXED};
    struct kvc_events events = {0};
    struct kvc_database_engine engine;
    kvc_database_engine_open(&engine, &database, &events, 1, 0);
    for (uint32_t i = 0; i < 200; i++) { /* More than the ring has places at first. */
        kvc_database_ask(&engine, 0, i == 0, 0, i);
    }
    for (uint32_t i = 0; i < 200; i++) {
        struct kvc_event event = kvc_events_pop(&events);
        bool answered = kvc_database_engine_handle(&engine, &event);
        cr_assert(answered);
        cr_assert_eq(event.tag, i);
        cr_assert_float_eq(event.time_ns, 100 + 10.0 * i, 1e-9);
    }
    cr_expect_eq(engine.writes, 1);
    kvc_database_engine_close(&engine);
    kvc_events_free(&events);
}

Test(database_engine, has_the_capacity_of_its_queries_whatever_their_spread)
{
    struct kvc_database database = {
        .queries = 8, .read_ns = 1000, .write_ns = -1, .times = KVC_DATABASE_EXPONENTIAL};
    struct kvc_events events = {0};
    struct kvc_database_engine engine;
    kvc_database_engine_open(&engine, &database, &events, 1, 0);
    for (uint32_t i = 0; i < 20; i++) { /* Twenty clients without time to think. */
        kvc_database_ask(&engine, 0, false, 0, i);
    }
    enum { RESULTS = 100000 };
    double ns = run(&engine, RESULTS, true);
    /* The mean of 100,000 exponential times errs by 1 of 316. */
    cr_expect_float_eq(RESULTS / ns, 8.0 / 1000, 0.012 * 8 / 1000, "%g a second", RESULTS / ns * 1e9);
    kvc_database_engine_close(&engine);
    kvc_events_free(&events);
}

/* A machine of which each part can be the slowest one. */
static struct kvc_database machine(void)
{
    return (struct kvc_database){.queries = 1000,
                                 .read_ns = -1,
                                 .write_ns = -1,
                                 .times = KVC_DATABASE_FIXED,
                                 .cores = 2,
                                 .statements = 3,
                                 .statement_ns = 100,
                                 .pages = 2,
                                 .page_bytes = 1000,
                                 .data_bytes = 1e6,
                                 .pool_bytes = 1000,
                                 .page_read_ns = 700,
                                 .page_mops = 5};
}

/* Asks for `queries` keys that follow each other, and waits for all results. Returns when the last one
 * arrived. */
static double ask_all(const struct kvc_database *database, uint32_t queries,
                      struct kvc_database_engine *engine)
{
    struct kvc_events events = {0};
    kvc_database_engine_open(engine, database, &events, 1, 0);
    for (uint32_t i = 0; i < queries; i++) {
        kvc_database_ask(engine, 0, i % 2 == 1, i, i);
    }
    double last_ns = run(engine, queries, false);
    cr_expect_eq(events.count, 0);
    kvc_events_free(&events);
    return last_ns;
}

Test(database_engine, lone_query_on_a_machine_takes_its_statements_and_the_pages_that_are_missing)
{
    struct kvc_database database = machine();
    struct kvc_database_engine engine;
    double last_ns = ask_all(&database, 1, &engine);
    cr_expect_eq(engine.pages_used, 2);
    cr_expect_eq(engine.pages_read, 2);
    cr_expect_float_eq(last_ns, 3 * 100 + 2 * 700, 1e-9, "%g", last_ns);
    kvc_database_engine_close(&engine);
    database.pool_bytes = database.data_bytes;
    database.latency_ns = 50;
    last_ns = ask_all(&database, 1, &engine);
    cr_expect_eq(engine.pages_read, 0);
    cr_expect_float_eq(last_ns, 350, 1e-9, "%g", last_ns);
    kvc_database_engine_close(&engine);
}

Test(database_engine, busiest_part_of_a_machine_bounds_the_rate)
{
    enum { QUERIES = 900 };
    const struct {
        double pool_bytes, page_mops, queries, each_ns;
    } cases[] = {
        {1e6, 1e3, 1000, 150}, /* All pages are in the pool: two cores. */
        {1000, 2, 1000, 1000}, /* Hardly any is: two pages at 500 ns each. */
        {1000, 1e3, 1, 1700},  /* One query at a time. */
    };
    for (int i = 0; i < 3; i++) {
        struct kvc_database database = machine();
        struct kvc_database_engine engine;
        database.pool_bytes = cases[i].pool_bytes;
        database.page_mops = cases[i].page_mops;
        database.queries = (uint64_t)cases[i].queries;
        double ns = ask_all(&database, QUERIES, &engine) / QUERIES;
        cr_expect_float_eq(ns, cases[i].each_ns, 0.01 * cases[i].each_ns, "%d: %g ns", i, ns);
        struct kvc_database_load load = kvc_database_load_of(&database, false, QUERIES);
        cr_expect_float_eq(load.busy_ns, cases[i].each_ns, 0.01 * cases[i].each_ns, "%d: %g ns", i,
                           load.busy_ns);
        double busy_ns = kvc_database_engine_busy_ns(&engine) / QUERIES;
        cr_expect(i == 2 || fabs(busy_ns - cases[i].each_ns) < 0.01 * cases[i].each_ns, "%d: %g ns", i,
                  busy_ns);
        kvc_database_engine_close(&engine);
    }
}

Test(database, memory_of_the_simulation_grows_with_the_pages_of_a_machine)
{
    struct kvc_database database = machine();
    double bytes = kvc_database_memory_bytes(&database);
    cr_expect_eq(bytes, 1000 * 8);
    database.read_ns = 1000;
    bytes = kvc_database_memory_bytes(&database);
    cr_expect_eq(bytes, 0);
}

Test(database_engine, pool_spares_as_many_reads_as_the_closed_form_says)
{
    enum { QUERIES = 200000, KEYS = 300 };
    struct kvc_database database = machine();
    struct kvc_events events = {0};
    struct kvc_database_engine engine;
    struct kvc_rng rng;
    database.pool_bytes = 200e3;
    database.pages = 1.5;
    kvc_rng_init(&rng, 7, "test", 0);
    kvc_database_engine_open(&engine, &database, &events, 1, 0);
    for (uint32_t i = 0; i < QUERIES; i++) {
        kvc_database_ask(&engine, 0, false, kvc_rng_below(&rng, KEYS), 0);
        run(&engine, 1, false);
    }
    cr_expect_float_eq((double)engine.pages_used / QUERIES, 1.5, 0.01);
    double read = (double)engine.pages_read / QUERIES;
    double closed = (kvc_database_load_of(&database, false, KEYS).time_ns - 300) / 700;
    /* The first page of a key is asked for twice as often as the second, which the closed form does not know.
     */
    cr_expect_float_eq(read, closed, 0.15 * closed, "%g and %g", read, closed);
    kvc_database_engine_close(&engine);
    kvc_events_free(&events);
}

Test(database, refuses_a_machine_of_which_something_is_missing)
{
    struct kvc_diag diag = {0};
    struct kvc_database database = {.queries = 1, .read_ns = -1, .cores = 1, .statements = NAN};
    enum kvc_status status = kvc_database_kind.check(&database, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "database.statements is missing"), "%s", diag.message);
    database = (struct kvc_database){.read_ns = -1, .cores = 1, .data_bytes = 1e18, .page_bytes = 16384};
    status = kvc_database_kind.check(&database, &diag);
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "database.data has 6.1e+13 pages"), "%s", diag.message);
}

Test(page_pool, keeps_the_pages_that_were_used_last)
{
    enum { PAGES = 40, ROOM_MAX = 7, USES = 20000 };
    for (uint32_t room = 1; room <= ROOM_MAX; room++) {
        struct kvc_page_pool pool;
        struct kvc_rng rng;
        uint64_t used[PAGES];
        for (uint32_t page = 0; page < PAGES; page++) { /* Page room - 1 was used last, at time ROOM_MAX. */
            used[page] = page < room ? page + ROOM_MAX + 1 - room : 0;
        }
        kvc_rng_init(&rng, room, "test", 0);
        kvc_page_pool_open(&pool, PAGES, room);
        for (uint64_t now = ROOM_MAX + 1; now < USES; now++) {
            uint32_t page = (uint32_t)(kvc_rng_below(&rng, PAGES) * kvc_rng_below(&rng, PAGES) / PAGES),
                     after = 0;
            for (uint32_t other = 0; other < PAGES; other++) {
                after += used[other] > used[page];
            }
            bool held = kvc_page_pool_use(&pool, page);
            cr_assert_eq(held, used[page] > 0 && after < room, "page %u after %u others, room for %u", page,
                         after, room);
            used[page] = now;
        }
        kvc_page_pool_close(&pool);
    }
}
