#include "validate/scoring/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/csv.h"

static const char header[] =
    "id,scenario,load_frac,of,overrides,repetitions,quiet_frac,windows,core_speed_steps_per_ns,spread_frac,"
    "stalled_frac,throughput_mops,latency_mean_us,latency_p99_us,t_search_us,jobs_per_search,t_insert_us,"
    "jobs_per_insert,search_ns_per_job,insert_ns_per_job,throughput_half_frac,latency_mean_half_frac,"
    "latency_p99_half_frac,search_job_half_frac,insert_job_half_frac,bottleneck";

enum column {
    ID,
    SCENARIO,
    LOAD_FRAC,
    OF,
    OVERRIDES,
    REPETITIONS,
    QUIET,
    WINDOWS,
    SPEED,
    SPREAD,
    STALLED,
    READINGS,
    HALVES = READINGS + KVC_READINGS
};

struct reading_file {
    const struct kvc_plan *plan;
    uint32_t repetitions; /* Room for each line of the plan. */
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

/* Reads the columns of the intervals, and sets *end to the column behind them. */
static enum kvc_status parse_halves(char *const *column, struct kvc_readings *readings, int *end,
                                    struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    *end = HALVES;
    for (int i = 0; i < KVC_READINGS && status == KVC_OK; i++) {
        readings->half_frac[i] = NAN;
        if (kvc_reading_half_names[i] != NULL) {
            status = kvc_csv_number(column[(*end)++], &readings->half_frac[i], diag);
        }
    }
    return status;
}

/* Reads the numbers that say how the machine was. */
static enum kvc_status parse_machine(char *const *column, struct kvc_measured_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_csv_number(column[QUIET], &run->quiet_frac, diag);
    if (status == KVC_OK) {
        status = kvc_csv_number(column[WINDOWS], &run->windows, diag);
    }
    if (status == KVC_OK) {
        status = kvc_csv_number(column[SPEED], &run->core_speed_steps_per_ns, diag);
    }
    if (status == KVC_OK) {
        status = needed(column[SPREAD], "spread_frac", 0, &run->spread_frac, diag);
    }
    if (status == KVC_OK) {
        status = needed(column[STALLED], "stalled_frac", 0, &run->stalled_frac, diag);
    }
    return status;
}

static enum kvc_status parse(char *const *column, struct kvc_measured_run *run, struct kvc_diag *diag)
{
    double repetitions = 0;
    int bottleneck = HALVES;
    struct kvc_readings *readings = &run->readings;
    enum kvc_status status = needed(column[REPETITIONS], "repetitions", 1, &repetitions, diag);
    if (status == KVC_OK && (repetitions != floor(repetitions) || repetitions > UINT32_MAX)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "repetitions: found \"%s\", expected a whole number",
                             column[REPETITIONS]);
    }
    if (status == KVC_OK) {
        status = parse_machine(column, run, diag);
    }
    for (int i = 0; i < KVC_READINGS && status == KVC_OK; i++) {
        status = i == KVC_READING_THROUGHPUT
                     ? needed(column[READINGS + i], kvc_reading_names[i], 0, &readings->value[i], diag)
                     : kvc_csv_number(column[READINGS + i], &readings->value[i], diag);
    }
    if (status == KVC_OK) {
        status = parse_halves(column, readings, &bottleneck, diag);
    }
    if (status == KVC_OK) {
        status = kvc_csv_copy(column[bottleneck], readings->bottleneck, sizeof(readings->bottleneck), diag);
    }
    if (status == KVC_OK && readings->bottleneck[0] == '\0') {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found an empty bottleneck");
    }
    if (status == KVC_OK && strpbrk(readings->bottleneck, ",\"\r\n") != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found the bottleneck %s, expected a name without commas and quotes",
                             readings->bottleneck);
    }
    run->repetitions = status == KVC_OK ? (uint32_t)repetitions : 0;
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
    char load[KVC_PLAN_LOAD_BYTES];
    kvc_plan_describe_load(file->plan, planned, load);
    char measured_load[sizeof(load)];
    snprintf(measured_load, sizeof(measured_load), "%.20s,%.63s", column[LOAD_FRAC], column[OF]);
    if (strcmp(planned->scenario, column[SCENARIO]) != 0 || strcmp(load, measured_load) != 0 ||
        strcmp(planned->overrides, column[OVERRIDES]) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run \"%s\" differs from the plan, which says \"%s,%s,%s\"", planned->id,
                             planned->scenario, load, planned->overrides);
    }
    struct kvc_measured_run *runs = &file->runs[(size_t)found * file->repetitions];
    uint32_t repetition = 0;
    while (repetition < file->repetitions && runs[repetition].repetitions > 0) {
        repetition++;
    }
    if (repetition == file->repetitions) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%s\" %s", planned->id,
                             repetition == 1 ? "twice" : "more often than --repetitions says");
    }
    return parse(column, &runs[repetition], diag);
}

enum kvc_status kvc_runs_read_repetitions(const char *path, const struct kvc_plan *plan, uint32_t repetitions,
                                          struct kvc_measured_run *runs, struct kvc_diag *diag)
{
    struct reading_file file = {plan, repetitions, runs};
    const struct kvc_csv_format format = {.header = header};
    memset(runs, 0, plan->count * repetitions * sizeof(*runs));
    return kvc_csv_visit(path, &format, take, &file, diag);
}

enum kvc_status kvc_runs_read(const char *path, const struct kvc_plan *plan, struct kvc_measured_run *runs,
                              struct kvc_diag *diag)
{
    enum kvc_status status = kvc_runs_read_repetitions(path, plan, 1, runs, diag);
    for (size_t i = 0; i < plan->count && status == KVC_OK; i++) {
        if (runs[i].repetitions == 0) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, plan->path, plan->entry[i].line,
                                      "run \"%s\" is planned but not in runs.csv", plan->entry[i].id);
        }
    }
    return status;
}

/* Writes a cell; a number that is not known is empty. */
static void write_number(FILE *out, double value)
{
    fputc(',', out);
    if (isfinite(value)) {
        fprintf(out, "%.6g", value);
    }
}

void kvc_runs_write_header(FILE *out)
{
    fprintf(out, "%s\n", header);
}

void kvc_runs_write_line(FILE *out, const struct kvc_plan *plan, size_t line,
                         const struct kvc_measured_run *run)
{
    const struct kvc_plan_line *planned = &plan->entry[line];
    char load[KVC_PLAN_LOAD_BYTES];
    kvc_plan_describe_load(plan, planned, load);
    fprintf(out, "%s,%s,%s,%s,%u", planned->id, planned->scenario, load, planned->overrides,
            run->repetitions);
    write_number(out, run->quiet_frac);
    write_number(out, run->windows);
    write_number(out, run->core_speed_steps_per_ns);
    fprintf(out, ",%.4f,%.4f", run->spread_frac, run->stalled_frac);
    for (int i = 0; i < KVC_READINGS; i++) {
        write_number(out, run->readings.value[i]);
    }
    for (int i = 0; i < KVC_READINGS; i++) {
        if (kvc_reading_half_names[i] != NULL) {
            write_number(out, run->readings.half_frac[i]);
        }
    }
    fprintf(out, ",%s\n", run->readings.bottleneck);
}

void kvc_runs_write(FILE *out, const struct kvc_plan *plan, const struct kvc_measured_run *runs)
{
    kvc_runs_write_header(out);
    for (size_t i = 0; i < plan->count; i++) {
        kvc_runs_write_line(out, plan, i, &runs[i]);
    }
}

void kvc_runs_combine(const struct kvc_measured_run *repetitions, uint32_t count,
                      struct kvc_measured_run *combined)
{
    struct kvc_readings *kept = malloc((count + 1) * sizeof(*kept));
    uint32_t quiet = 0;
    if (kept == NULL) {
        kvc_out_of_memory("%u repetitions", count);
    }
    *combined = (struct kvc_measured_run){.repetitions = count};
    for (uint32_t i = 0; i < count; i++) {
        if (repetitions[i].quiet_frac > 0) {
            kept[quiet++] = repetitions[i].readings;
        }
        combined->quiet_frac += repetitions[i].quiet_frac / count;
        combined->core_speed_steps_per_ns += repetitions[i].core_speed_steps_per_ns / count;
        combined->windows += repetitions[i].windows;
        combined->stalled_frac = fmax(combined->stalled_frac, repetitions[i].stalled_frac);
    }
    for (uint32_t i = 0; quiet == 0 && i < count; i++) {
        kept[i] = repetitions[i].readings;
    }
    kvc_readings_median(kept, quiet > 0 ? quiet : count, &combined->readings, &combined->spread_frac);
    free(kept);
}
