#include "validate/scoring/runs.h"

#include <math.h>
#include <string.h>

#include "sim/base/csv.h"

static const char header[] =
    "id,scenario,overrides,repetitions,spread_frac,stalled_frac,throughput_mops,latency_mean_us,"
    "latency_p99_us,t_search_us,jobs_per_search,t_insert_us,jobs_per_insert,"
    "bottleneck";

enum column {
    ID,
    SCENARIO,
    OVERRIDES,
    REPETITIONS,
    SPREAD,
    STALLED,
    READINGS,
    BOTTLENECK = READINGS + KVC_READINGS
};

struct reading_file {
    const struct kvc_plan *plan;
    struct kvc_measured_run *runs;
};

/* Reads a number that must be present and at least `least`. */
static enum kvc_status needed(const char *text, const char *name, double least, double *value,
                              struct kvc_diag *diag)
{
    enum kvc_status status = kvc_csv_number(text, value, diag);
    if (status == KVC_OK && (isnan(*value) || *value < least)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "%s: found \"%s\", expected a number that is at least %g", name, text, least);
    }
    return status;
}

static enum kvc_status parse(char *const *column, struct kvc_measured_run *run, struct kvc_diag *diag)
{
    double repetitions = 0;
    struct kvc_readings *readings = &run->readings;
    enum kvc_status status = needed(column[REPETITIONS], "repetitions", 1, &repetitions, diag);
    if (status == KVC_OK && (repetitions != floor(repetitions) || repetitions > UINT32_MAX)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "repetitions: found \"%s\", expected a whole number",
                             column[REPETITIONS]);
    }
    if (status == KVC_OK) {
        status = needed(column[SPREAD], "spread_frac", 0, &run->spread_frac, diag);
    }
    if (status == KVC_OK) {
        status = needed(column[STALLED], "stalled_frac", 0, &run->stalled_frac, diag);
    }
    for (int i = 0; i < KVC_READINGS && status == KVC_OK; i++) {
        status = i == KVC_READING_THROUGHPUT
                     ? needed(column[READINGS + i], kvc_reading_names[i], 0, &readings->value[i], diag)
                     : kvc_csv_number(column[READINGS + i], &readings->value[i], diag);
    }
    if (status == KVC_OK) {
        status = kvc_csv_copy(column[BOTTLENECK], readings->bottleneck, sizeof(readings->bottleneck), diag);
    }
    if (status == KVC_OK && readings->bottleneck[0] == '\0') {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found an empty bottleneck");
    }
    run->repetitions = (uint32_t)repetitions;
    return status;
}

static enum kvc_status take(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct reading_file *file = data;
    long found = kvc_plan_find(file->plan, column[ID]);
    (void)line;
    if (found < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%.60s\", which is not in the plan",
                             column[ID]);
    }
    const struct kvc_plan_line *planned = &file->plan->entry[found];
    if (strcmp(planned->scenario, column[SCENARIO]) != 0 ||
        strcmp(planned->overrides, column[OVERRIDES]) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "run \"%s\" differs from the plan, which says \"%s,%s\"",
                             planned->id, planned->scenario, planned->overrides);
    }
    if (file->runs[found].repetitions > 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%s\" twice", planned->id);
    }
    return parse(column, &file->runs[found], diag);
}

enum kvc_status kvc_runs_read(const char *path, const struct kvc_plan *plan, struct kvc_measured_run *runs,
                              struct kvc_diag *diag)
{
    struct reading_file file = {plan, runs};
    const struct kvc_csv_format format = {.header = header};
    memset(runs, 0, plan->count * sizeof(*runs));
    enum kvc_status status = kvc_csv_visit(path, &format, take, &file, diag);
    for (size_t i = 0; i < plan->count && status == KVC_OK; i++) {
        if (runs[i].repetitions == 0) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plan->path, plan->entry[i].line,
                                      "run \"%s\" is planned but not in runs.csv", plan->entry[i].id);
        }
    }
    return status;
}

void kvc_runs_write(FILE *out, const struct kvc_plan *plan, const struct kvc_measured_run *runs)
{
    fprintf(out, "%s\n", header);
    for (size_t i = 0; i < plan->count; i++) {
        const struct kvc_plan_line *planned = &plan->entry[i];
        fprintf(out, "%s,%s,%s,%u,%.4f,%.4f", planned->id, planned->scenario, planned->overrides,
                runs[i].repetitions, runs[i].spread_frac, runs[i].stalled_frac);
        for (int j = 0; j < KVC_READINGS; j++) {
            fputc(',', out);
            if (isfinite(runs[i].readings.value[j])) {
                fprintf(out, "%.6g", runs[i].readings.value[j]);
            }
        }
        fprintf(out, ",%s\n", runs[i].readings.bottleneck);
    }
}
