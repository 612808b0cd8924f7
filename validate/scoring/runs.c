#include "validate/scoring/runs.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/text/csv.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/quiet.h"

/* runs.csv as it was before the memory was watched, before it had stalls, and now. */
#define EARLIER_HEADER                                                                                       \
    "id,scenario,load_frac,of,overrides,repetitions,quiet_frac,windows,core_speed_steps_per_ns,spread_frac," \
    "stalled_frac,throughput_mops,latency_mean_us,latency_p99_us,t_search_us,jobs_per_search,t_insert_us,"   \
    "jobs_per_insert,search_ns_per_job,insert_ns_per_job,throughput_half_frac,latency_mean_half_frac,"       \
    "latency_p99_half_frac,search_job_half_frac,insert_job_half_frac,bottleneck"
#define MEMORY_HEADER EARLIER_HEADER ",memory_line_ns,memory_latency_ns,memory_bytes_per_s"
static const char header[] = MEMORY_HEADER ",raw_latency_p99_us,stalls";

/* Columns of runs.csv up to the readings, of which plan.csv has the first five, and perhaps one more. */
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
    HALVES = READINGS + KVC_READINGS,
    AGAINST = REPETITIONS
};

/* ---- plan ---- */

enum { UNSEEN_EVERY = 3 };

static const double load_frac_max = 2;

bool kvc_measuring_plan_unseen(size_t index)
{
    return (index + 1) % UNSEEN_EVERY == 0;
}

void kvc_measuring_plan_free(struct kvc_measuring_plan *plan)
{
    free(plan->entry);
    free(plan->pair);
    *plan = (struct kvc_measuring_plan){.count = 0};
}

long kvc_measuring_plan_find(const struct kvc_measuring_plan *plan, const char *id)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->entry[i].id, id) == 0) {
            return (long)i;
        }
    }
    return -1;
}

void kvc_measuring_plan_describe_load(const struct kvc_measuring_plan *plan,
                                      const struct kvc_measuring_plan_line *line,
                                      char text[KVC_MEASURING_PLAN_LOAD_BYTES])
{
    strcpy(text, ",");
    if (kvc_measuring_plan_line_is_relative(line)) {
        snprintf(text, KVC_MEASURING_PLAN_LOAD_BYTES, "%g,%s", line->load_frac, plan->entry[line->of].id);
    }
}

/* Reads load_frac and of, which a line has both or not at all. */
static enum kvc_status take_load(const struct kvc_measuring_plan *plan, char *const *column,
                                 struct kvc_measuring_plan_line *line, struct kvc_diag *diag)
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
    long of = kvc_measuring_plan_find(plan, column[OF]);
    if (of < 0 || kvc_measuring_plan_line_is_relative(&plan->entry[of])) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "of: found \"%.60s\", allowed: the id of an earlier run without load_frac",
                             column[OF]);
    }
    line->of = (size_t)of;
    return KVC_OK;
}

/* A plan while its file is read. */
struct plan_file {
    struct kvc_measuring_plan *plan;
    bool has_against; /* The file has that column. */
};

static enum kvc_status take_line(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct plan_file *file = data;
    struct kvc_measuring_plan *plan = file->plan;
    struct kvc_measuring_plan_line made = {.line = line};
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
    bool is_twice = kvc_measuring_plan_find(plan, made.id) >= 0;
    for (size_t i = 0; i < plan->pairs; i++) {
        is_twice = is_twice || strcmp(plan->pair[i].a.id, made.id) == 0;
    }
    if (is_twice) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%s\" twice", made.id);
    }
    if (file->has_against && column[AGAINST][0] != '\0') {
        plan->pair = kvc_array_grown(plan->pair, plan->pairs + 1, sizeof(*plan->pair));
        struct kvc_measuring_pair *pair = &plan->pair[plan->pairs];
        pair->a = made;
        status = kvc_csv_copy(column[AGAINST], pair->against, sizeof(pair->against), diag);
        plan->pairs += status == KVC_OK;
        return status;
    }
    plan->entry = kvc_array_grown(plan->entry, plan->count + 1, sizeof(*plan->entry));
    plan->entry[plan->count++] = made;
    return KVC_OK;
}

enum kvc_status kvc_measuring_plan_read(const char *path, struct kvc_measuring_plan *plan,
                                        struct kvc_diag *diag)
{
    *plan = (struct kvc_measuring_plan){.count = 0};
    struct plan_file file = {.plan = plan};
    enum kvc_status status = kvc_csv_copy(path, plan->path, sizeof(plan->path), diag);
    if (status == KVC_OK) {
        status = kvc_csv_has_column(path, "against", &file.has_against, diag);
    }
    if (status == KVC_OK) {
        const struct kvc_csv_format format = {.header = file.has_against
                                                            ? "id,scenario,load_frac,of,overrides,against"
                                                            : "id,scenario,load_frac,of,overrides"};
        status = kvc_csv_visit(path, &format, take_line, &file, diag);
    }
    if (status == KVC_OK && plan->count + plan->pairs == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "the plan has no runs");
    }
    if (status != KVC_OK) {
        kvc_measuring_plan_free(plan);
    }
    return status;
}

/* ---- readings ---- */

const char *const kvc_reading_names[KVC_READINGS] = {
    "throughput_mops", "latency_mean_us", "latency_p99_us",    "t_search_us",       "jobs_per_search",
    "t_insert_us",     "jobs_per_insert", "search_ns_per_job", "insert_ns_per_job",
};

const char *const kvc_reading_half_names[KVC_READINGS] = {
    [KVC_READING_THROUGHPUT] = "throughput_half_frac",
    [KVC_READING_LATENCY_MEAN] = "latency_mean_half_frac",
    [KVC_READING_LATENCY_P99] = "latency_p99_half_frac",
    [KVC_READING_SEARCH_JOB] = "search_job_half_frac",
    [KVC_READING_INSERT_JOB] = "insert_job_half_frac",
};

void kvc_readings_of(const struct kvc_result *result, struct kvc_readings *readings)
{
    for (int i = KVC_READING_T_SEARCH; i < KVC_READINGS; i++) {
        readings->value[i] = kvc_metrics_get(&result->model, kvc_reading_names[i]);
    }
    readings->value[KVC_READING_THROUGHPUT] = result->throughput_mops;
    readings->value[KVC_READING_LATENCY_MEAN] = kvc_result_latency_mean_us(result);
    readings->value[KVC_READING_LATENCY_P99] = kvc_result_latency_percentile_us(result, 0.99);
    for (int i = 0; i < KVC_READINGS; i++) {
        readings->half_frac[i] = kvc_reading_half_names[i] != NULL
                                     ? kvc_metrics_get(&result->model, kvc_reading_half_names[i])
                                     : NAN;
    }
    strcpy(readings->bottleneck, result->bottleneck_stage);
}

/* Sorts the existing values of one reading and returns how many there are. */
static uint32_t sorted(const struct kvc_readings *repetitions, uint32_t count, int reading, double *values)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(repetitions[i].value[reading])) {
            values[kept++] = repetitions[i].value[reading];
        }
    }
    gsl_sort(values, 1, kept);
    return kept;
}

/* Names the stages that more than half of the repetitions name. */
static void join_bottlenecks(const struct kvc_readings *repetitions, uint32_t count, char *joined)
{
    char every[KVC_NAME_MAX], *rest;
    joined[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        strcpy(every, repetitions[i].bottleneck);
        for (char *name = strtok_r(every, "+", &rest); name != NULL; name = strtok_r(NULL, "+", &rest)) {
            uint32_t votes = 0;
            for (uint32_t j = 0; j < count; j++) {
                votes += kvc_bottleneck_names(repetitions[j].bottleneck, name);
            }
            if (2 * votes > count && !kvc_bottleneck_names(joined, name)) {
                kvc_bottleneck_add_name(joined, name);
            }
        }
    }
    if (joined[0] == '\0') {
        strcpy(joined, kvc_bottleneck_undecided);
    }
}

/* Half the width of the interval of a median, relative to it. An unknown interval within a repetition makes
 * the median's unknown. `values` holds the existing values. */
static double half_width(const struct kvc_readings *repetitions, uint32_t count, int reading,
                         const double *values, uint32_t kept, double median)
{
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(repetitions[i].value[reading])) {
            double half = repetitions[i].half_frac[reading] * repetitions[i].value[reading];
            squares += half * half;
        }
    }
    double within = sqrt(squares) / kept, among = kvc_quiet_half_width(values, kept);
    bool among_counts = !isnan(within) && among > within;
    return (among_counts ? among : within) / median;
}

void kvc_readings_median(const struct kvc_readings *repetitions, uint32_t count, struct kvc_readings *median,
                         double *spread_frac)
{
    double *values = malloc((count + 1) * sizeof(*values));
    if (values == NULL || count == 0) {
        KVC_BUG("no median of %u repetitions", count);
    }
    for (int i = 0; i < KVC_READINGS; i++) {
        uint32_t kept = sorted(repetitions, count, i, values);
        median->value[i] = kept > 0 ? (values[(kept - 1) / 2] + values[kept / 2]) / 2 : NAN;
        median->half_frac[i] =
            kept > 0 ? half_width(repetitions, count, i, values, kept, median->value[i]) : NAN;
        if (i == KVC_READING_THROUGHPUT) {
            *spread_frac = kept > 0 ? (values[kept - 1] - values[0]) / median->value[i] : NAN;
        }
    }
    join_bottlenecks(repetitions, count, median->bottleneck);
    free(values);
}

/* ---- measured runs ---- */

struct reading_file {
    const struct kvc_measuring_plan *plan;
    uint32_t repetitions; /* Room for each line of the plan. */
    bool has_memory;      /* The file has the rates of the memory. */
    bool has_stalls;      /* The file has the latency in all windows, and the stalls. */
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

/* Reads the columns of the intervals, and sets *end to the column after them. */
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

/* Reads the numbers about the machine during the run. */
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

/* Reads the rates of the memory from the columns that begin at `column`, if the file has them. */
static enum kvc_status parse_memory(char *const *column, bool has_memory, struct kvc_memory_rates *memory,
                                    struct kvc_diag *diag)
{
    double *const fields[] = {&memory->line_ns, &memory->latency_ns, &memory->bytes_per_s};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && status == KVC_OK; i++) {
        *fields[i] = NAN;
        status = has_memory ? kvc_csv_number(column[i], fields[i], diag) : KVC_OK;
    }
    return status;
}

/* Reads the latency in all windows, and the stalls, from the columns that begin at `column`. */
static enum kvc_status parse_stalls(char *const *column, struct kvc_measured_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_csv_number(column[0], &run->raw_latency_p99_us, diag);
    return status == KVC_OK ? kvc_csv_copy(column[1], run->stalls, sizeof(run->stalls), diag) : status;
}

static enum kvc_status parse(char *const *column, const struct reading_file *file,
                             struct kvc_measured_run *run, struct kvc_diag *diag)
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
    if (status == KVC_OK) {
        status = parse_memory(column + bottleneck + 1, file->has_memory, &run->memory, diag);
    }
    run->raw_latency_p99_us = NAN;
    if (status == KVC_OK && file->has_stalls) {
        status = parse_stalls(column + bottleneck + 4, run, diag);
    }
    run->repetitions = status == KVC_OK ? (uint32_t)repetitions : 0;
    return status;
}

static enum kvc_status take(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct reading_file *file = data;
    long found = kvc_measuring_plan_find(file->plan, column[ID]);
    (void)line;
    if (found < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found run \"%.60s\", which is not in the plan",
                             column[ID]);
    }
    const struct kvc_measuring_plan_line *planned = &file->plan->entry[found];
    char load[KVC_MEASURING_PLAN_LOAD_BYTES];
    kvc_measuring_plan_describe_load(file->plan, planned, load);
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
    return parse(column, file, &runs[repetition], diag);
}

enum kvc_status kvc_runs_read_repetitions(const char *path, const struct kvc_measuring_plan *plan,
                                          uint32_t repetitions, struct kvc_measured_run *runs,
                                          struct kvc_diag *diag)
{
    struct reading_file file = {.plan = plan, .repetitions = repetitions, .runs = runs};
    memset(runs, 0, plan->count * repetitions * sizeof(*runs));
    enum kvc_status status = kvc_csv_has_column(path, "memory_line_ns", &file.has_memory, diag);
    if (status == KVC_OK) {
        status = kvc_csv_has_column(path, "stalls", &file.has_stalls, diag);
    }
    const struct kvc_csv_format format = {.header = file.has_stalls   ? header
                                                    : file.has_memory ? MEMORY_HEADER
                                                                      : EARLIER_HEADER};
    return status == KVC_OK ? kvc_csv_visit(path, &format, take, &file, diag) : status;
}

enum kvc_status kvc_runs_read(const char *path, const struct kvc_measuring_plan *plan,
                              struct kvc_measured_run *runs, struct kvc_diag *diag)
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

void kvc_runs_write_line(FILE *out, const struct kvc_measuring_plan *plan, size_t line,
                         const struct kvc_measured_run *run)
{
    const struct kvc_measuring_plan_line *planned = &plan->entry[line];
    char load[KVC_MEASURING_PLAN_LOAD_BYTES];
    kvc_measuring_plan_describe_load(plan, planned, load);
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
    fprintf(out, ",%s", run->readings.bottleneck);
    write_number(out, run->memory.line_ns);
    write_number(out, run->memory.latency_ns);
    write_number(out, run->memory.bytes_per_s);
    write_number(out, run->raw_latency_p99_us);
    fprintf(out, ",%s\n", run->stalls);
}

/* Returns the repetition with the median p99 in all windows, or the first one if it is unknown. */
static const struct kvc_measured_run *typical(const struct kvc_measured_run *repetitions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t below = 0, equal = 0;
        for (uint32_t j = 0; j < count; j++) {
            below += repetitions[j].raw_latency_p99_us < repetitions[i].raw_latency_p99_us;
            equal += repetitions[j].raw_latency_p99_us == repetitions[i].raw_latency_p99_us;
        }
        if (below <= (count - 1) / 2 && below + equal > (count - 1) / 2) {
            return &repetitions[i];
        }
    }
    return repetitions;
}

void kvc_runs_combine(const struct kvc_measured_run *repetitions, uint32_t count,
                      struct kvc_measured_run *combined)
{
    struct kvc_readings *kept = malloc((count + 1) * sizeof(*kept));
    uint32_t quiet = 0;
    if (kept == NULL) {
        kvc_out_of_memory("%u repetitions", count);
    }
    *combined = (struct kvc_measured_run){
        .repetitions = count, .raw_latency_p99_us = typical(repetitions, count)->raw_latency_p99_us};
    strcpy(combined->stalls, typical(repetitions, count)->stalls);
    for (uint32_t i = 0; i < count; i++) {
        if (repetitions[i].quiet_frac > 0) {
            kept[quiet++] = repetitions[i].readings;
        }
        combined->quiet_frac += repetitions[i].quiet_frac / count;
        combined->core_speed_steps_per_ns += repetitions[i].core_speed_steps_per_ns / count;
        combined->memory.line_ns += repetitions[i].memory.line_ns / count;
        combined->memory.latency_ns += repetitions[i].memory.latency_ns / count;
        combined->memory.bytes_per_s += repetitions[i].memory.bytes_per_s / count;
        combined->windows += repetitions[i].windows;
        combined->stalled_frac = fmax(combined->stalled_frac, repetitions[i].stalled_frac);
    }
    for (uint32_t i = 0; quiet == 0 && i < count; i++) {
        kept[i] = repetitions[i].readings;
    }
    kvc_readings_median(kept, quiet > 0 ? quiet : count, &combined->readings, &combined->spread_frac);
    free(kept);
}
