#include "validate/scoring/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/csv.h"

enum { UNSEEN_EVERY = 3 };

enum column { ID, SCENARIO, LOAD_FRAC, OF, OVERRIDES };

static const double load_frac_max = 2;

bool kvc_plan_unseen(size_t index)
{
    return (index + 1) % UNSEEN_EVERY == 0;
}

void kvc_plan_free(struct kvc_plan *plan)
{
    free(plan->entry);
    *plan = (struct kvc_plan){.count = 0};
}

long kvc_plan_find(const struct kvc_plan *plan, const char *id)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->entry[i].id, id) == 0) {
            return (long)i;
        }
    }
    return -1;
}

void kvc_plan_describe_load(const struct kvc_plan *plan, const struct kvc_plan_line *line,
                            char text[KVC_PLAN_LOAD_BYTES])
{
    strcpy(text, ",");
    if (kvc_plan_line_is_relative(line)) {
        snprintf(text, KVC_PLAN_LOAD_BYTES, "%g,%s", line->load_frac, plan->entry[line->of].id);
    }
}

/* Reads load_frac and of, which a line has both or not at all. */
static enum kvc_status take_load(const struct kvc_plan *plan, char *const *column, struct kvc_plan_line *line,
                                 struct kvc_diag *diag)
{
    bool is_number = kvc_csv_number(column[LOAD_FRAC], &line->load_frac, diag) == KVC_OK;
    if (is_number && isnan(line->load_frac) && column[OF][0] == '\0') {
        return KVC_OK;
    }
    if (!is_number || !(line->load_frac > 0 && line->load_frac <= load_frac_max)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "load_frac: found \"%s\", allowed: above 0 and up to %g, or nothing in the columns "
            "load_frac and of",
            column[LOAD_FRAC], load_frac_max);
    }
    long of = kvc_plan_find(plan, column[OF]);
    if (of < 0 || kvc_plan_line_is_relative(&plan->entry[of])) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "of: found \"%.60s\", allowed: the id of an earlier run without load_frac",
                             column[OF]);
    }
    line->of = (size_t)of;
    return KVC_OK;
}

static enum kvc_status take(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    struct kvc_plan *plan = data;
    struct kvc_plan_line made = {.line = line};
    enum kvc_status status = kvc_csv_copy(column[ID], made.id, sizeof(made.id), diag);
    if (status == KVC_OK) {
        status = kvc_csv_copy(column[SCENARIO], made.scenario, sizeof(made.scenario), diag);
    }
    if (status == KVC_OK) {
        status = take_load(plan, column, &made, diag);
    }
    if (status == KVC_OK) {
        status = kvc_csv_copy(column[OVERRIDES], made.overrides, sizeof(made.overrides), diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (made.id[0] == '\0' || made.scenario[0] == '\0') {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found an empty %s",
                             made.id[0] == '\0' ? "id" : "scenario");
    }
    if (kvc_plan_find(plan, made.id) >= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%s\" twice", made.id);
    }
    struct kvc_plan_line *bigger = realloc(plan->entry, (plan->count + 1) * sizeof(*bigger));
    if (bigger == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu runs", plan->count + 1);
    }
    plan->entry = bigger;
    plan->entry[plan->count++] = made;
    return KVC_OK;
}

enum kvc_status kvc_plan_read(const char *path, struct kvc_plan *plan, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = "id,scenario,load_frac,of,overrides"};
    *plan = (struct kvc_plan){.count = 0};
    enum kvc_status status = kvc_csv_copy(path, plan->path, sizeof(plan->path), diag);
    if (status == KVC_OK) {
        status = kvc_csv_visit(path, &format, take, plan, diag);
    }
    if (status == KVC_OK && plan->count == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "the plan has no runs");
    }
    if (status != KVC_OK) {
        kvc_plan_free(plan);
    }
    return status;
}
