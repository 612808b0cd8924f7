#include "sim/devices/database_engine.h"

#include <criterion/criterion.h>
#include <math.h>

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
            kvc_database_ask(engine, last_ns, false, event.tag);
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
    kvc_database_engine_open(&engine, &database, &events, 1);
    for (uint32_t i = 0; i < 5; i++) {
        kvc_database_ask(&engine, 0, false, i);
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
    kvc_database_engine_open(&engine, &database, &events, 1);
    for (uint32_t i = 0; i < 200; i++) { /* More than the ring has places at first. */
        kvc_database_ask(&engine, 0, i == 0, i);
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
    kvc_database_engine_open(&engine, &database, &events, 1);
    for (uint32_t i = 0; i < 20; i++) { /* Twenty clients without time to think. */
        kvc_database_ask(&engine, 0, false, i);
    }
    enum { RESULTS = 100000 };
    double ns = run(&engine, RESULTS, true);
    /* The mean of as many exponential times errs by 1 of 316. */
    cr_expect_float_eq(RESULTS / ns, 8.0 / 1000, 0.012 * 8 / 1000, "%g a second", RESULTS / ns * 1e9);
    kvc_database_engine_close(&engine);
    kvc_events_free(&events);
}
