#include "scenarios/explore/evaluator.h"

#include <stdlib.h>

struct kvc_evaluator {
    char path[KVC_TEXT_MAX];
    struct kvc_overrides set; /* The user's. */
    const struct kvc_space *space;
};

/* Loads the scenario of a point. */
static enum kvc_status load_point(const struct kvc_evaluator *evaluator, const uint32_t *value,
                                  struct kvc_loaded **out, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = kvc_overrides_join(&set, &evaluator->set, diag);
    *out = NULL;
    for (uint32_t a = 0; status == KVC_OK && a < evaluator->space->axis_count; a++) {
        status = kvc_overrides_join(&set, &evaluator->space->axis[a].value[value[a]].set, diag);
    }
    if (status == KVC_OK) {
        status = kvc_scenario_load_point(evaluator->path, &set, out, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

void kvc_evaluator_free(struct kvc_evaluator *evaluator)
{
    if (evaluator == NULL) {
        return;
    }
    kvc_overrides_clear(&evaluator->set);
    free(evaluator);
}

enum kvc_status kvc_evaluator_create(const char *path, const struct kvc_overrides *set,
                                     const struct kvc_space *space, struct kvc_evaluator **out,
                                     struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_evaluator *evaluator = calloc(1, sizeof(*evaluator));
    if (evaluator == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for an evaluator");
    }
    snprintf(evaluator->path, sizeof(evaluator->path), "%s", path);
    evaluator->space = space;
    enum kvc_status status = kvc_overrides_join(&evaluator->set, set, diag);
    if (status != KVC_OK) {
        kvc_evaluator_free(evaluator);
        return status;
    }
    *out = evaluator;
    return KVC_OK;
}

enum kvc_status kvc_evaluator_forecast(struct kvc_evaluator *evaluator, const uint32_t *value,
                                       struct kvc_forecast *out, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded;
    enum kvc_status status = load_point(evaluator, value, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_forecast(&loaded->scenario, out, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}
