#include "scenarios/explore/point.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/evaluator.h"
#include "scenarios/explore/patches/regions.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "sim/base/array.h"

enum {
    VERIFIED_FORECASTS = 6, /* Forecasts by new patches that are compared with loads. */
    REPEATS = 2,            /* Forecasts of the same options after which patches are worth their search. */
};

/* What is known of an option that is set. */
struct option {
    bool loads;    /* A load is needed when it changes: it is not plain. */
    uint32_t axis; /* Axis of the evaluator; UINT32_MAX: none. */
};

struct kvc_point {
    char *path;
    struct kvc_load_session *session;
    struct kvc_overrides set;
    struct option *option;     /* By entry of `set`. */
    uint32_t repeats;          /* Forecasts since an option changed that needs a load. */
    uint32_t verified;         /* Forecasts by the evaluator that were compared. */
    bool has_no_patches;       /* For these options; there is no use in looking for them. */
    struct kvc_overrides base; /* The options that are no axes; a list of its own. */
    struct kvc_sweep_value value[KVC_SWEEP_AXES_MAX]; /* The value of each axis: one entry of `set`. */
    struct kvc_sweep_axis axis[KVC_SWEEP_AXES_MAX];
    struct kvc_space space;
    struct kvc_evaluator *evaluator; /* NULL: forecasts are loads. */
};

static void drop_evaluator(struct kvc_point *point)
{
    kvc_evaluator_free(point->evaluator);
    point->evaluator = NULL;
    point->repeats = 0;
}

void kvc_point_free(struct kvc_point *point)
{
    if (point == NULL) {
        return;
    }
    drop_evaluator(point);
    kvc_load_session_close(point->session);
    kvc_overrides_clear(&point->set);
    kvc_overrides_clear(&point->base);
    free(point->option);
    free(point->path);
    free(point);
}

enum kvc_status kvc_point_open(const char *path, struct kvc_point **out, struct kvc_diag *diag)
{
    struct kvc_point *point = kvc_array_of(1, sizeof(*point));
    *out = NULL;
    point->path = kvc_array_of(strlen(path) + 1, 1);
    strcpy(point->path, path);
    enum kvc_status status = kvc_load_session_open(path, &point->session, diag);
    if (status != KVC_OK) {
        kvc_point_free(point);
        return status;
    }
    *out = point;
    return KVC_OK;
}

const struct kvc_overrides *kvc_point_options(const struct kvc_point *point)
{
    return &point->set;
}

bool kvc_point_is_fast(const struct kvc_point *point)
{
    return point->evaluator != NULL && point->verified >= VERIFIED_FORECASTS;
}

/* Forgets what is known of the options, because there is one more or one less of them. */
static void begin_anew(struct kvc_point *point)
{
    drop_evaluator(point);
    point->option = kvc_array_grown(point->option, point->set.count + 1, sizeof(*point->option));
    memset(point->option, 0, (point->set.count + 1) * sizeof(*point->option));
    point->has_no_patches = false;
}

/* Changes the value of an option that was set before. */
static void change(struct kvc_point *point, uint32_t entry, const char *value)
{
    const struct option *option = &point->option[entry];
    if (strcmp(point->set.entry[entry].value, value) == 0) {
        return;
    }
    strcpy(point->set.entry[entry].value, value);
    bool assigned = point->evaluator != NULL && option->axis != UINT32_MAX &&
                    kvc_evaluator_assign(point->evaluator, option->axis, 0, value);
    if (!assigned && (point->evaluator != NULL || option->loads)) {
        drop_evaluator(point);
    }
}

enum kvc_status kvc_point_set(struct kvc_point *point, const char *path, const char *value,
                              struct kvc_diag *diag)
{
    struct kvc_overrides *set = &point->set, checked = {0};
    uint32_t entry = 0;
    while (entry < set->count && strcmp(set->entry[entry].path, path) != 0) {
        entry++;
    }
    if (value == NULL) {
        if (entry == set->count) {
            return kvc_diag_fail_at(
                diag, KVC_ERR_SCENARIO, "--set", 0,
                "found NULL for \"%.100s\", which is not set; allowed: an option that was set", path);
        }
        set->count--;
        memmove(&set->entry[entry], &set->entry[entry + 1], (set->count - entry) * sizeof(*set->entry));
        begin_anew(point);
        return KVC_OK;
    }
    if (entry == set->count) {
        enum kvc_status status = kvc_overrides_add(set, path, value, diag);
        if (status == KVC_OK) {
            begin_anew(point);
        }
        return status;
    }
    enum kvc_status status = kvc_overrides_add(&checked, path, value, diag);
    kvc_overrides_clear(&checked);
    if (status == KVC_OK) {
        change(point, entry, value);
    }
    return status;
}

/* Notes which options are not plain because of their kind. Returns false if the scenario cannot be decoded,
 * which the load will explain. */
static bool look_at_options(struct kvc_point *point)
{
    struct kvc_loaded *loaded;
    struct kvc_diag unused = {0};
    bool decoded = kvc_load_session_decode(point->session, &point->set, NULL, &loaded, &unused) == KVC_OK;
    for (uint32_t i = 0; decoded && i < point->set.count; i++) {
        point->option[i].loads |=
            kvc_region_field_of(&loaded->scenario, point->set.entry[i].path).row == NULL;
    }
    kvc_loaded_free(loaded);
    return decoded;
}

/* Makes an axis of every option that may be plain, and the base of the others. */
static enum kvc_status divide(struct kvc_point *point, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    kvc_overrides_clear(&point->base);
    point->space = (struct kvc_space){.axis = point->axis, .points = 1};
    for (uint32_t i = 0; i < point->set.count && status == KVC_OK; i++) {
        struct kvc_override *entry = &point->set.entry[i];
        uint32_t a = point->space.axis_count;
        point->option[i].axis = UINT32_MAX;
        if (point->option[i].loads || a == KVC_SWEEP_AXES_MAX) {
            point->option[i].loads = true;
            status = kvc_overrides_add(&point->base, entry->path, entry->value, diag);
            continue;
        }
        point->option[i].axis = a;
        point->value[a] = (struct kvc_sweep_value){.set = {.count = 1, .entry = entry}};
        point->axis[a] = (struct kvc_sweep_axis){.count = 1, .value = &point->value[a]};
        memcpy(point->axis[a].path, entry->path, sizeof(entry->path));
        point->space.axis_count++;
    }
    return status;
}

/* Looks for patches of the options. Options that turn out not to be plain join the base. Whatever fails here,
 * the load that follows explains. */
static void find_patches(struct kvc_point *point)
{
    bool all_are_plain = !look_at_options(point);
    point->verified = 0;
    while (!point->has_no_patches && !all_are_plain) {
        struct kvc_diag unused = {0};
        drop_evaluator(point);
        point->has_no_patches = divide(point, &unused) != KVC_OK ||
                                kvc_evaluator_create(point->path, &point->base, &point->space,
                                                     &point->evaluator, &unused) != KVC_OK ||
                                !kvc_evaluator_is_fast(point->evaluator);
        all_are_plain = true;
        for (uint32_t i = 0; i < point->set.count && !point->has_no_patches; i++) {
            struct option *option = &point->option[i];
            if (!option->loads) {
                option->loads =
                    !kvc_evaluator_assign(point->evaluator, option->axis, 0, point->set.entry[i].value);
                all_are_plain &= !option->loads;
            }
        }
    }
}

static enum kvc_status forecast_loaded(const struct kvc_point *point, struct kvc_forecast *out,
                                       struct kvc_diag *diag)
{
    struct kvc_loaded *loaded;
    enum kvc_status status = kvc_load_session_point(point->session, &point->set, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_driver_forecast(&loaded->scenario, out, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

enum kvc_status kvc_point_forecast(struct kvc_point *point, struct kvc_forecast *out, struct kvc_diag *diag)
{
    static const uint32_t only[KVC_SWEEP_AXES_MAX];
    struct kvc_forecast patched;
    struct kvc_diag said = {0};
    if (kvc_point_is_fast(point)) {
        return kvc_evaluator_forecast(point->evaluator, only, out, diag);
    }
    if (point->evaluator == NULL && !point->has_no_patches && point->repeats++ >= REPEATS) {
        find_patches(point);
    }
    memset(out, 0, sizeof(*out));
    memset(&patched, 0, sizeof(patched));
    enum kvc_status status = forecast_loaded(point, out, diag);
    if (point->evaluator != NULL && status != KVC_ERR_RUNTIME) {
        point->verified++;
        point->has_no_patches = kvc_evaluator_forecast(point->evaluator, only, &patched, &said) != status ||
                                (status == KVC_OK && memcmp(out, &patched, sizeof(patched)) != 0);
    }
    if (point->has_no_patches) {
        drop_evaluator(point);
    }
    return status;
}
