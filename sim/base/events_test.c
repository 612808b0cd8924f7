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
