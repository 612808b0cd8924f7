/* A plan as CSV: one row for each candidate, with its closed form, its replicas and its fate. */
#include <math.h>
#include <string.h>

#include "scenarios/explore/plan/plan_report.h"

static void put_number(double value, FILE *out)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.12g", value);
    }
}

/* Labels may contain commas. */
static void put_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const char *at = text; *at != '\0'; at++) {
        fputs(*at == '"' ? "\"\"" : (char[]){*at, '\0'}, out);
    }
    fputc('"', out);
}

static void put_header(const struct kvc_planned *planned, FILE *out)
{
    fputs("point", out);
    for (uint32_t i = 0; i < planned->space->axis_count; i++) {
        fprintf(out, ",%s", planned->space->axis[i].path);
    }
    fputs(",nodes,fate,decided_by,replicas", out);
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        fprintf(out, ",%s%s", i == KVC_PLAN_PRICE_USD ? "" : "closed_form_", kvc_plan_metric_names[i]);
    }
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        fprintf(out, ",%s,%s_half_width", kvc_plan_metric_names[i], kvc_plan_metric_names[i]);
    }
    fputs(",bottleneck,is_on_front\n", out);
}

static const char *decided_by(const struct kvc_planned *planned, const struct kvc_plan_candidate *candidate)
{
    bool has_goal = candidate->fate == KVC_PLAN_PRUNED || candidate->fate == KVC_PLAN_FAILED ||
                    candidate->fate == KVC_PLAN_UNDECIDED;
    return has_goal ? kvc_plan_metric_names[planned->goal[candidate->goal].metric] : "";
}

static void put_candidate(const struct kvc_planned *planned, uint32_t number, bool is_on_front, FILE *out)
{
    const struct kvc_plan_candidate *candidate = &planned->search.candidate[number];
    uint32_t value[KVC_SWEEP_AXES_MAX];
    kvc_space_point(planned->space, number, value);
    fprintf(out, "%u", number + 1);
    for (uint32_t i = 0; i < planned->space->axis_count; i++) {
        fputc(',', out);
        put_text(planned->space->axis[i].value[value[i]].label, out);
    }
    put_number(candidate->nodes, out);
    fprintf(out, ",%s,%s,%u", kvc_plan_fate_names[candidate->fate], decided_by(planned, candidate),
            candidate->replicas);
    for (int i = 0; i < KVC_PLAN_METRICS; i++) {
        put_number(candidate->closed_form[i], out);
    }
    for (int i = 0; i < KVC_PLAN_PRICE_USD; i++) {
        struct kvc_interval interval = {NAN, NAN};
        if (candidate->replicas > 0) {
            interval = kvc_plan_value(&planned->search, candidate, (enum kvc_plan_metric)i);
        }
        put_number(interval.mean, out);
        put_number(interval.half_width, out);
    }
    fprintf(out, ",%s,%d\n",
            candidate->fate == KVC_PLAN_REFUSED ? "" : planned->forecast[number].bottleneck_stage,
            is_on_front);
}

static bool is_on_front(const struct kvc_plan_front *front, uint32_t number)
{
    bool found = false;
    for (uint32_t i = 0; i < front->count && !found; i++) {
        found = front->candidate[i] == number;
    }
    return found;
}

void kvc_plan_write_csv(const struct kvc_planned *planned, FILE *out)
{
    put_header(planned, out);
    for (uint32_t i = 0; i < planned->search.count; i++) {
        put_candidate(planned, i, is_on_front(&planned->front, i), out);
    }
}
