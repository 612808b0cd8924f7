#include "sim/run/stalls.h"

#include <math.h>

#include "sim/engine.h"

static const double few_stalls = 10; /* Fewer of a kind leave the tail to chance. */

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

void kvc_stalls_sample(const struct kvc_node *node, double sum_ns, struct kvc_recorder *recorder)
{
    const struct kvc_ratio ratio = {
        "model", NULL, "stalled_frac", sum_ns, kvc_engine_now_ns(), KVC_RATIO_OF_ENGINE};
    if (node->stall_count > 0) {
        kvc_recorder_sample(recorder, &ratio, 1);
    }
}

void kvc_stalls_report(const struct kvc_scenario *scenario, const struct kvc_recorder *recorder,
                       double sum_ns, double cores, struct kvc_result *result)
{
    const struct kvc_node *node = &scenario->node;
    double measured_ns = recorder->until_ns - recorder->from_ns,
           all_ns = measured_ns * (double)scenario->run.replicas;
    if (node->stall_count > 0) {
        kvc_metrics_set(&result->model, "stalled_frac", sum_ns / measured_ns);
    }
    for (uint32_t i = 0; i < node->stall_count; i++) {
        double expected = cores * all_ns / node->stalls[i].every_ns;
        if (expected < few_stalls) {
            kvc_result_note(result,
                            "node.stalls.%u: %.2g such stalls are expected in the %.3g s of this run, so "
                            "that its tail depends on chance; a longer run.duration has more of them",
                            i + 1, expected, all_ns / 1e9);
        }
    }
}

void kvc_stalls_wait(struct kvc_stalls *stalls, double since_ns)
{
    double now_ns = kvc_engine_now_ns(), late_ns = kvc_stalls_ns(stalls, since_ns, now_ns);
    if (late_ns > 0) {
        kvc_engine_sleep_until_ns(now_ns + late_ns);
    }
}
