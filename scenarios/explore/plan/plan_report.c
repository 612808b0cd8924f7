#include "scenarios/explore/plan/plan_report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "models/model.h"

struct kvc_interval kvc_plan_found(const struct kvc_planned *planned, uint32_t candidate, uint32_t goal)
{
    return kvc_plan_value(&planned->search, &planned->search.candidate[candidate],
                          planned->goal[goal].metric);
}

uint32_t kvc_plan_count(const struct kvc_planned *planned, enum kvc_plan_fate fate, int goal)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < planned->search.count; i++) {
        const struct kvc_plan_candidate *candidate = &planned->search.candidate[i];
        count += candidate->fate == fate && (goal < 0 || candidate->goal == (uint32_t)goal);
    }
    return count;
}

void kvc_plan_describe(const struct kvc_planned *planned, uint32_t candidate, char *text, size_t size)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    size_t used = 0;
    text[0] = '\0';
    kvc_space_point(planned->space, candidate, value);
    for (uint32_t i = 0; i < planned->space->axis_count && used < size; i++) {
        const struct kvc_sweep_axis *axis = &planned->space->axis[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s = %s", i > 0 ? ", " : "", axis->path,
                                 axis->value[value[i]].label);
    }
}

void kvc_plan_explain(const struct kvc_planned *planned, char *text, size_t size)
{
    const struct kvc_plan_search *search = &planned->search;
    char values[512];
    uint32_t goal, which = (uint32_t)search->nearest;
    double short_frac = kvc_plan_shortfall_frac(search, &search->candidate[which], &goal);
    kvc_plan_describe(planned, which, values, sizeof(values));
    if (!(short_frac > 0)) {
        snprintf(text, size, "no candidate is confirmed to meet the slo; %s stays undecided at %s", values,
                 kvc_plan_metric_names[planned->goal[search->candidate[which].goal].metric]);
        return;
    }
    snprintf(text, size,
             "no candidate meets the slo; %s comes nearest and misses %s by %.3g %%: %.4g, %s %.4g", values,
             kvc_plan_metric_names[planned->goal[goal].metric], 100 * short_frac,
             kvc_plan_found(planned, which, goal).mean, planned->goal[goal].at_least ? "at least" : "at most",
             planned->goal[goal].bound);
}

static void add(struct kvc_plan_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct kvc_plan_notes *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes->note[notes->count++], KVC_PLAN_NOTE_BYTES, format, arguments);
    va_end(arguments);
}

/* Returns whether the closed form can prune by any goal but the price. */
static bool can_prune(const struct kvc_planned *planned)
{
    for (uint32_t i = 0; i < planned->goal_count; i++) {
        for (int j = 0; j < KVC_PLAN_METRICS; j++) {
            if (planned->errors.of[j][planned->goal[i].metric].answers > 0) {
                return true;
            }
        }
    }
    return false;
}

void kvc_plan_note(const struct kvc_planned *planned, struct kvc_plan_notes *notes)
{
    uint32_t refused = kvc_plan_count(planned, KVC_PLAN_REFUSED, -1);
    uint32_t undecided = kvc_plan_count(planned, KVC_PLAN_UNDECIDED, -1);
    notes->count = 0;
    if (planned->is_served_implied) {
        add(notes, "the slo states no mops, so at least %g of the offered load must be served",
            kvc_plan_served_least_frac);
    }
    if (refused > 0) {
        add(notes, "%u points are refused, the first because: %.300s", refused, planned->refusal);
    }
    if (undecided > 0) {
        add(notes,
            "%u candidates stay undecided after up to %u replicas%s; a longer run.duration or more plan.replicas "
            "decide them",
            undecided, planned->search.test.most,
            planned->search.chosen >= 0 ? ", although they would be better than the chosen one" : "");
    }
    if (!can_prune(planned)) {
        add(notes,
            "the closed form of this store was never compared with its simulation, so it prunes nothing "
            "(kvcast validate mechanisms)");
    }
}
