#include "validate/scoring/plan.h"

#include <string.h>

#include "sim/base/csv.h"

enum { UNSEEN_EVERY = 3 };

enum column { ID, SCENARIO, OVERRIDES };

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

static enum kvc_status take(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    struct kvc_plan *plan = data;
    struct kvc_plan_line made = {.line = line};
    enum kvc_status status = kvc_csv_copy(column[ID], made.id, sizeof(made.id), diag);
    if (status == KVC_OK) {
        status = kvc_csv_copy(column[SCENARIO], made.scenario, sizeof(made.scenario), diag);
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
    const struct kvc_csv_format format = {.header = "id,scenario,overrides"};
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
