#include "sim/base/events.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/rng.h"

Test(events, come_in_order_of_time_and_then_of_addition)
{
    enum { COUNT = 20000, KINDS = 5, IN_ORDER = 2, UNITS = 9 };
    struct kvc_events events = {0};
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "events", 0);
    cr_expect_eq(kvc_events_next_ns(&events), INFINITY);
    double last_ns = 0;
    uint64_t last_order = 0;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        /* Few different times, so that many events are simultaneous, but none before those already removed.
         */
        uint16_t kind = (uint16_t)(i % KINDS), unit = (uint16_t)(i % UNITS);
        double later_ns = kind == IN_ORDER ? 20 : (double)kvc_rng_below(&rng, 20);
        kvc_events_add(&events, last_ns + later_ns, kind, unit, i);
        while (events.count > 200 || (i == COUNT - 1 && events.count > 0)) {
            double next_ns = kvc_events_next_ns(&events);
            struct kvc_event event = kvc_events_pop(&events);
            cr_assert_eq(event.time_ns, next_ns);
            cr_assert_eq(event.kind, event.tag % KINDS);
            cr_assert_eq(event.unit, event.tag % UNITS);
            cr_assert_eq(event.order, event.tag);
            cr_assert(event.time_ns > last_ns || taken == 0 || event.time_ns == last_ns);
            cr_assert(event.time_ns > last_ns || taken == 0 || event.order > last_order,
                      "%u: order %llu after %llu", taken, (unsigned long long)event.order,
                      (unsigned long long)last_order);
            last_ns = event.time_ns;
            last_order = event.order;
            taken++;
        }
    }
    cr_expect_eq(taken, COUNT);
    kvc_events_free(&events);
}

Test(events, of_lanes_come_in_order_of_time_and_then_of_lanes)
{
    enum { COUNT = 20000, MOST = 900 };
    struct kvc_events events = {0};
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "lanes", 0);
    double last_ns = 0, lane_ns[KVC_EVENTS_LANES] = {0};
    uint32_t taken = 0, last_lane = 0, last_tag[KVC_EVENTS_LANES] = {0};
    bool added_since = true;
    for (uint32_t i = 1; i <= COUNT; i++) {
        uint16_t lane = (uint16_t)kvc_rng_below(&rng, KVC_EVENTS_LANES);
        /* In lanes, times ascend but for a few, which are as if there were no lane. */
        bool early = lane == 0 || i % 50 == 0;
        double now_ns = last_ns > lane_ns[lane] ? last_ns : lane_ns[lane];
        double time_ns = (early ? last_ns : now_ns) + (double)kvc_rng_below(&rng, early ? 2000 : 3);
        bool in_lane = lane > 0 && time_ns >= lane_ns[lane];
        lane_ns[lane] = in_lane ? time_ns : lane_ns[lane];
        if (lane > 0) {
            kvc_events_append(&events, lane, time_ns, in_lane ? lane : 0, 0, i);
        } else {
            kvc_events_add(&events, time_ns, 0, 0, i);
        }
        added_since = true;
        while (events.count > (i < COUNT ? MOST : 0)) {
            double next_ns = kvc_events_next_ns(&events);
            struct kvc_event event = kvc_events_pop(&events);
            cr_assert_eq(event.time_ns, next_ns);
            cr_assert(event.time_ns > last_ns ||
                          (event.time_ns == last_ns && (added_since || event.kind >= last_lane)),
                      "event %u at %g ns after %g ns, lane %u after %u", event.tag, event.time_ns, last_ns,
                      event.kind, last_lane);
            cr_assert(event.time_ns > last_ns || event.kind != last_lane || event.tag > last_tag[event.kind]);
            last_ns = event.time_ns;
            last_lane = event.kind;
            last_tag[event.kind] = event.tag;
            added_since = false;
            taken++;
        }
    }
    cr_expect_eq(taken, COUNT);
    cr_expect_eq(kvc_events_next_ns(&events), INFINITY);
    kvc_events_free(&events);
}

Test(events, of_lanes_that_differ_by_rounding_are_simultaneous)
{
    struct kvc_events events = {0};
    double later_ns = nextafter(1e6, INFINITY);
    kvc_events_append(&events, 2, 1e6, 0, 0, 2);
    kvc_events_append(&events, 1, later_ns, 0, 0, 1);
    for (uint32_t lane = 1; lane <= 2; lane++) {
        cr_expect_eq(kvc_events_pop(&events).tag, lane);
    }
    kvc_events_free(&events);
}
