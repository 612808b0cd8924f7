/* Fuzz target that takes any bytes as one of the tables of kvcast validate, which the first byte selects:
 * cases and facts of a paper, plan and measured runs of a machine, baseline, elasticities, identified
 * parameters and their values. A table that is refused has one message. Cases and facts that are accepted are
 * checked against each other, and measured runs that are written read back as the same. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"
#include "validate/scoring/elasticities.h"
#include "validate/scoring/facts_fixture.h"
#include "validate/scoring/identified.h"
#include "validate/scoring/runs.h"
#include "validate/scoring/score.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The cases and lines that the other tables refer to. */
static struct kvc_case known_case[] = {
    {.id = "a", .mode = KVC_CASE_PREDICT, .metric = "throughput_mops", .published = 1, .fact = "f"},
    {.id = "b", .mode = KVC_CASE_RATIO, .scenario = "a/a", .published = 2, .fact = "g, of two"},
};
static const struct kvc_cases known_cases = {.count = 2, .entry = known_case};

static struct kvc_measuring_plan_line known_line[] = {
    {.id = "a", .scenario = "a.lua", .load_frac = NAN, .line = 2},
    {.id = "b", .scenario = "a.lua", .load_frac = 0.7, .of = 0, .overrides = "run.seed=2", .line = 3},
};
static const struct kvc_measuring_plan known_plan = {.path = "plan.csv", .count = 2, .entry = known_line};

static char *written(const struct kvc_measured_run *runs, size_t *bytes)
{
    char *text;
    FILE *out = open_memstream(&text, bytes);
    kvc_fuzz_check(out != NULL);
    kvc_runs_write_header(out);
    for (size_t i = 0; i < known_plan.count; i++) {
        kvc_runs_write_line(out, &known_plan, i, &runs[i]);
    }
    fclose(out);
    return text;
}

static enum kvc_status read_runs(const char *path, struct kvc_diag *diag)
{
    struct kvc_measured_run runs[2], again[2], combined;
    enum kvc_status status = kvc_runs_read(path, &known_plan, runs, diag);
    if (status != KVC_OK) {
        return status;
    }
    size_t bytes, bytes_again;
    char *text = written(runs, &bytes);
    path = kvc_memory_file((const uint8_t *)text, bytes);
    kvc_fuzz_check(kvc_runs_read(path, &known_plan, again, diag) == KVC_OK);
    char *text_again = written(again, &bytes_again);
    kvc_fuzz_check(strcmp(text, text_again) == 0);
    free(text_again);
    free(text);
    kvc_runs_combine(runs, 2, &combined);
    return KVC_OK;
}

static enum kvc_status read_cases(const char *path, struct kvc_diag *diag)
{
    struct kvc_cases cases;
    enum kvc_status status = kvc_cases_read(path, &cases, diag);
    if (status != KVC_OK) {
        kvc_fuzz_check(cases.entry == NULL);
        return status;
    }
    struct kvc_score *scores = calloc(cases.count + 1, sizeof(*scores));
    kvc_fuzz_check(scores != NULL);
    for (size_t i = 0; i < cases.count; i++) {
        struct kvc_interval value = {.mean = 1, .half_width = 0.5};
        struct kvc_diag inner = {0};
        enum kvc_status derived =
            kvc_case_is_aggregate(&cases.entry[i]) ? kvc_aggregate_value(&cases, i, scores, &value, &inner)
            : kvc_case_is_derived(&cases.entry[i]) ? kvc_score_ratio(&cases, i, scores, &value, &inner)
                                                   : KVC_OK;
        if (derived != KVC_OK) {
            kvc_fuzz_check_refusal(derived, &inner);
        }
        scores[i] = kvc_score_case(&cases.entry[i], value, (struct kvc_interval){NAN, NAN});
    }
    kvc_score_summarise(&cases, scores);
    free(scores);
    kvc_cases_free(&cases);
    return KVC_OK;
}

static enum kvc_status read_facts(const char *path, struct kvc_diag *diag)
{
    struct kvc_facts facts;
    enum kvc_status status = kvc_facts_read(path, &facts, diag);
    if (status != KVC_OK) {
        kvc_fuzz_check(facts.entry == NULL);
        return status;
    }
    struct kvc_diag inner = {0};
    status = kvc_facts_check(&facts, &known_cases, &inner);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &inner);
    }
    kvc_facts_free(&facts);
    return KVC_OK;
}

static enum kvc_status read_plan(const char *path, struct kvc_diag *diag)
{
    struct kvc_measuring_plan plan;
    enum kvc_status status = kvc_measuring_plan_read(path, &plan, diag);
    for (size_t i = 0; status == KVC_OK && i < plan.count; i++) {
        char load[KVC_MEASURING_PLAN_LOAD_BYTES];
        kvc_measuring_plan_describe_load(&plan, &plan.entry[i], load);
        kvc_fuzz_check(!kvc_measuring_plan_line_is_relative(&plan.entry[i]) || plan.entry[i].of < i);
        kvc_fuzz_check(kvc_measuring_plan_find(&plan, plan.entry[i].id) == (long)i);
    }
    if (status == KVC_OK) {
        kvc_measuring_plan_free(&plan);
    }
    return status;
}

static enum kvc_status read_identified(const char *path, struct kvc_diag *diag)
{
    struct kvc_identified identified;
    enum kvc_status status = kvc_identified_read(path, &known_cases, &identified, diag);
    for (size_t i = 0; status == KVC_OK && i < identified.count; i++) {
        const struct kvc_identified_parameter *parameter = &identified.parameter[i];
        kvc_fuzz_check(parameter->low > 0 && parameter->low < parameter->high && parameter->figures > 0);
    }
    return status;
}

static enum kvc_status read_identification(const char *path, struct kvc_diag *diag)
{
    double value[KVC_IDENTIFIED_MAX];
    struct kvc_identified identified = {
        .count = 1,
        .parameter =
            {{.system = "mica", .scenarios = "*", .path = "system.cost", .unit = "us", .figures = 1}},
        .figures = 1};
    enum kvc_status status = kvc_identification_read(path, &known_cases, &identified, diag);
    if (status == KVC_OK) {
        kvc_identified_unseen(&identified, &known_cases, 1, value);
        kvc_fuzz_check(!isnan(value[0]) == (kvc_identified_used(&identified) == 1));
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const char *path = kvc_memory_file(data + 1, bytes - 1);
    struct kvc_score scores[2] = {0};
    struct kvc_moved_by moved_by[2] = {0};
    struct kvc_diag diag = {0};
    enum kvc_status status;
    switch (data[0] % 8) {
    case 0:
        status = read_cases(path, &diag);
        break;
    case 1:
        status = read_facts(path, &diag);
        break;
    case 2:
        status = read_plan(path, &diag);
        break;
    case 3:
        status = read_runs(path, &diag);
        break;
    case 4:
        status = kvc_baseline_read(path, &known_cases, scores, &diag);
        break;
    case 5:
        status = read_identified(path, &diag);
        break;
    case 6:
        status = read_identification(path, &diag);
        break;
    default:
        status = kvc_elasticities_read(path, &known_cases, moved_by, &diag);
    }
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
    }
    return 0;
}
