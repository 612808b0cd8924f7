#include "sim/run/stalls.h"

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
    *stalls = (struct kvc_stalls){.node = node};
    if (node->stall_count > 0) {
        kvc_rng_init(&stalls->rng, seed, "stalls", number);
        draw(stalls, 0);
    }
}

void kvc_stalls_wait(struct kvc_stalls *stalls, double since_ns)
{
    if (stalls->node->stall_count == 0) {
        return;
    }
    for (double now_ns = kvc_engine_now_ns(); stalls->begin_ns <= now_ns; now_ns = kvc_engine_now_ns()) {
        double end_ns = stalls->begin_ns + stalls->length_ns;
        double left_ns = stalls->begin_ns >= since_ns ? stalls->length_ns : end_ns - since_ns;
        draw(stalls, end_ns);
        if (left_ns > 0) {
            kvc_engine_sleep_until_ns(now_ns + left_ns);
        }
    }
}
