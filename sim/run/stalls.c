#include "sim/run/stalls.h"

#include <math.h>

#include "sim/engine.h"

/* Draws the stall that begins next after a time. */
static void draw(struct kvc_stalls *stalls, double after_ns)
{
    const struct kvc_node *node = stalls->node;
    double rate = 0;
    for (uint32_t i = 0; i < node->stall_count; i++) {
        rate += 1 / node->stalls[i].every_ns;
    }
    double pick = kvc_rng_unit(&stalls->rng) * rate;
    uint32_t kind = 0;
    while (kind + 1 < node->stall_count && pick >= 1 / node->stalls[kind].every_ns) {
        pick -= 1 / node->stalls[kind++].every_ns;
    }
    stalls->length_ns = node->stalls[kind].length_ns;
    stalls->begin_ns = after_ns + kvc_rng_exponential(&stalls->rng, 1 / rate);
}

void kvc_stalls_open(struct kvc_stalls *stalls, const struct kvc_node *node, uint64_t seed, uint64_t number)
{
    *stalls = (struct kvc_stalls){.node = node, .begin_ns = INFINITY};
    if (node->stall_count > 0) {
        kvc_rng_init(&stalls->rng, seed, "stalls", number);
        draw(stalls, 0);
    }
}

/* Returns the part of the latest stall by which it delays such work [ns]. */
static double part_ns(const struct kvc_stalls *stalls, double start_ns, double end_ns)
{
    return stalls->met_from_ns <= end_ns ? fmax(stalls->met_until_ns - fmax(stalls->met_from_ns, start_ns), 0)
                                         : 0;
}

double kvc_stalls_ns(struct kvc_stalls *stalls, double start_ns, double end_ns)
{
    double late_ns = part_ns(stalls, start_ns, end_ns);
    while (stalls->begin_ns <= end_ns + late_ns) {
        stalls->met_from_ns = stalls->begin_ns;
        stalls->met_until_ns = stalls->begin_ns + stalls->length_ns;
        stalls->met_sum_ns += stalls->length_ns;
        draw(stalls, stalls->met_until_ns);
        late_ns += part_ns(stalls, start_ns, end_ns + late_ns);
    }
    return late_ns;
}

void kvc_stalls_wait(struct kvc_stalls *stalls, double since_ns)
{
    double now_ns = kvc_engine_now_ns(), late_ns = kvc_stalls_ns(stalls, since_ns, now_ns);
    if (late_ns > 0) {
        kvc_engine_sleep_until_ns(now_ns + late_ns);
    }
}
