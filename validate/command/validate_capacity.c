/* kvcast validate: cases whose value is a capacity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/command/validate.h"
#include "scenarios/run/capacity.h"
#include "sim/base/files/data_dir.h"

static const double precision_default_frac = 0.02;

/* Half of the default, so that a paper with many cases stays affordable. */
enum { LONGEST = 4 };

/* Parses one override of the case if it is one of the search. Sets *taken if so. */
static enum kvc_status take_bound(const char *text, struct kvc_capacity_bounds *bounds, bool *taken,
                                  struct kvc_diag *diag)
{
    static const struct {
        const char *key;
        enum kvc_status (*parse)(const char *, struct kvc_capacity_bounds *, struct kvc_diag *);
    } keys[] = {{"capacity.loss=", kvc_capacity_parse_loss},
                {"capacity.latency=", kvc_capacity_parse_latency},
                {"capacity.precision=", kvc_capacity_parse_precision}};
    *taken = strncmp(text, "capacity.", strlen("capacity.")) == 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (strncmp(text, keys[i].key, strlen(keys[i].key)) == 0) {
            return keys[i].parse(text + strlen(keys[i].key), bounds, diag);
        }
    }
    return !*taken ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "found \"%.40s\", allowed: capacity.loss, capacity.latency and "
                                   "capacity.precision",
                                   text);
}

enum kvc_status kvc_validate_capacity_bounds(const char *overrides, char *scenario, size_t size,
                                             struct kvc_capacity_bounds *bounds, struct kvc_diag *diag)
{
    char one[256];
    size_t used = 0;
    bool taken;
    enum kvc_status status = KVC_OK;
    *bounds = kvc_capacity_bounds_default;
    bounds->precision_frac = precision_default_frac;
    scenario[0] = '\0';
    while (*overrides != '\0' && status == KVC_OK) {
        size_t length = strcspn(overrides, ";");
        snprintf(one, sizeof(one), "%.*s", (int)length, overrides);
        status = take_bound(one, bounds, &taken, diag);
        if (!taken) {
            used += (size_t)snprintf(scenario + used, size - used, "%s%s", used > 0 ? ";" : "", one);
        }
        overrides += length + (overrides[length] == ';');
    }
    return status;
}

struct kvc_interval kvc_validate_capacity_value(const struct kvc_capacity *capacity, const char *metric)
{
    /* A search without a latency curve ends at such a load, or fails. */
    const struct kvc_capacity_point *sure = &capacity->point[capacity->sure];
    const struct {
        const char *name;
        struct kvc_interval value;
    } values[] = {
        {"throughput_mops", {capacity->mean_mops, (capacity->high_mops - capacity->low_mops) / 2}},
        {"latency_mean_us", sure->latency[KVC_CAPACITY_MEAN]},
        {"latency_p95_us", sure->latency[KVC_CAPACITY_P95]},
        {"latency_p99_us", sure->latency[KVC_CAPACITY_P99]},
        {"capacity_low_mops", {capacity->low_mops, NAN}},
        {"capacity_high_mops", {capacity->high_mops, NAN}},
        {"closed_form_mops", {capacity->closed_form_mops, NAN}},
        {"closed_form_limit_mops", {capacity->closed_form_limit_mops, NAN}},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        if (strcmp(values[i].name, metric) == 0) {
            return values[i].value;
        }
    }
    return (struct kvc_interval){NAN, NAN};
}

enum kvc_status kvc_validate_capacity(const struct kvc_case *asked, const struct kvc_run_options *options,
                                      struct kvc_capacity *capacity, struct kvc_diag *diag)
{
    char path[PATH_MAX], overrides[sizeof(asked->overrides)];
    struct kvc_capacity_options search = {
        .no_curve = true, .longest = LONGEST, .jobs = options->jobs, .progress = options->progress};
    struct kvc_loaded *loaded = NULL;
    kvc_data_path(asked->scenario, path);
    enum kvc_status status =
        kvc_validate_capacity_bounds(asked->overrides, overrides, sizeof(overrides), &search.bounds, diag);
    if (status == KVC_OK) {
        status = kvc_validate_load(path, overrides, &loaded, diag);
    }
    if (status == KVC_OK) {
        kvc_validate_replicate(&loaded->scenario);
        status = kvc_capacity_find(loaded, &search, capacity, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}
