#include "validate/scoring/cases.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/text/csv.h"

static const char header[] =
    "id,mode,scenario,overrides,metric,published,low,high,tolerance_frac,role,lacks,fact";

enum column { ID, MODE, SCENARIO, OVERRIDES, METRIC, PUBLISHED, LOW, HIGH, TOLERANCE, ROLE, LACKS, FACT };

const char *const kvc_case_roles[KVC_CASE_ROLES + 1] = {"prediction", "equation", "input",
                                                        "duplicate",  "excluded", NULL};

const char *const kvc_case_kinds[KVC_KIND_KINDS] = {"point", "range", "claim", "equation", "input"};

enum kvc_case_kind kvc_case_kind_of(const struct kvc_case *asked)
{
    if (asked->role == KVC_CASE_INPUT || asked->role == KVC_CASE_EQUATION) {
        return asked->role == KVC_CASE_INPUT ? KVC_KIND_INPUT : KVC_KIND_EQUATION;
    }
    if (!isnan(asked->published)) {
        return KVC_KIND_POINT;
    }
    return isnan(asked->low) || isnan(asked->high) ? KVC_KIND_CLAIM : KVC_KIND_RANGE;
}

bool kvc_case_is_beside(const struct kvc_case *asked)
{
    return asked->role == KVC_CASE_DUPLICATE || asked->role == KVC_CASE_EXCLUDED;
}

bool kvc_case_is_aggregate(const struct kvc_case *asked)
{
    return asked->mode == KVC_CASE_MEAN || asked->mode == KVC_CASE_DEVIATION ||
           asked->mode == KVC_CASE_MOST || asked->mode == KVC_CASE_LEAST;
}

bool kvc_case_is_derived(const struct kvc_case *asked)
{
    return asked->mode == KVC_CASE_RATIO || kvc_case_is_aggregate(asked);
}

void kvc_cases_free(struct kvc_cases *cases)
{
    free(cases->entry);
    *cases = (struct kvc_cases){0};
}

long kvc_cases_find(const struct kvc_cases *cases, const char *id, size_t id_length)
{
    for (size_t i = 0; i < cases->count; i++) {
        if (strlen(cases->entry[i].id) == id_length && memcmp(cases->entry[i].id, id, id_length) == 0) {
            return (long)i;
        }
    }
    return -1;
}

enum kvc_status kvc_cases_add(struct kvc_cases *cases, const struct kvc_case *added, struct kvc_diag *diag)
{
    struct kvc_case *bigger = realloc(cases->entry, (cases->count + 1) * sizeof(*bigger));
    if (bigger == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %zu cases", cases->count + 1);
    }
    cases->entry = bigger;
    cases->entry[cases->count++] = *added;
    return KVC_OK;
}

static enum kvc_status word(const char *text, const char *const *words, int *index, struct kvc_diag *diag)
{
    char allowed[128] = "";
    size_t length = 0;
    for (*index = 0; words[*index] != NULL; (*index)++) {
        if (strcmp(words[*index], text) == 0) {
            return KVC_OK;
        }
        const char *separator = *index == 0 ? "" : words[*index + 1] == NULL ? " or " : ", ";
        length +=
            (size_t)snprintf(allowed + length, sizeof(allowed) - length, "%s%s", separator, words[*index]);
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.40s\", expected %s", text, allowed);
}

/* Checks that the values suit the role, and that only a published value has a tolerance. */
static enum kvc_status check(const struct kvc_case *made, const char *tolerance, struct kvc_diag *diag)
{
    bool has_point = !isnan(made->published), has_bound = !isnan(made->low) || !isnan(made->high);
    if (made->role == KVC_CASE_INPUT && (has_point || has_bound)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found an input with a published value or a bound, allowed: neither");
    }
    if (made->role != KVC_CASE_INPUT && has_point == has_bound) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %s, expected either a published value or bounds",
                             has_point ? "a published value with a bound"
                                       : "neither a published value nor a bound");
    }
    if (has_point && (isnan(made->tolerance_frac) || made->tolerance_frac < 0)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found tolerance_frac \"%s\", expected a number that is at least 0", tolerance);
    }
    if (!has_point && !isnan(made->tolerance_frac)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found tolerance_frac \"%s\" without a published value, expected nothing: a bound "
            "is held or it is missed",
            tolerance);
    }
    if (made->role == KVC_CASE_EXCLUDED && made->lacks[0] == '\0') {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found nothing in lacks, expected the calculation by which the paper contradicts "
            "itself");
    }
    return KVC_OK;
}

static enum kvc_status parse(char *const *column, struct kvc_case *made, struct kvc_diag *diag)
{
    static const char *const modes[] = {"run",       "predict", "ratio", "capacity", "mean",
                                        "deviation", "most",    "least", NULL};
    int mode = 0, role = 0;
    enum kvc_status status = kvc_csv_copy(column[ID], made->id, sizeof(made->id), diag);
    status = status != KVC_OK ? status : word(column[MODE], modes, &mode, diag);
    status = status != KVC_OK ? status
                              : kvc_csv_copy(column[SCENARIO], made->scenario, sizeof(made->scenario), diag);
    status = status != KVC_OK
                 ? status
                 : kvc_csv_copy(column[OVERRIDES], made->overrides, sizeof(made->overrides), diag);
    status =
        status != KVC_OK ? status : kvc_csv_copy(column[METRIC], made->metric, sizeof(made->metric), diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[PUBLISHED], &made->published, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[LOW], &made->low, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[HIGH], &made->high, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[TOLERANCE], &made->tolerance_frac, diag);
    status = status != KVC_OK ? status : word(column[ROLE], kvc_case_roles, &role, diag);
    status = status != KVC_OK ? status : kvc_csv_copy(column[LACKS], made->lacks, sizeof(made->lacks), diag);
    status = status != KVC_OK ? status : kvc_csv_copy(column[FACT], made->fact, sizeof(made->fact), diag);
    if (status != KVC_OK) {
        return status;
    }
    made->mode = (enum kvc_case_mode)mode;
    made->role = (enum kvc_case_role)role;
    return check(made, column[TOLERANCE], diag);
}

static enum kvc_status append(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    struct kvc_cases *cases = data;
    struct kvc_case made = {.line = line};
    enum kvc_status status = parse(column, &made, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (kvc_cases_find(cases, made.id, strlen(made.id)) >= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found case \"%s\" twice", made.id);
    }
    return kvc_cases_add(cases, &made, diag);
}

/* A duplicate names a case that counts. */
static enum kvc_status check_duplicates(const char *path, const struct kvc_cases *cases,
                                        struct kvc_diag *diag)
{
    for (size_t i = 0; i < cases->count; i++) {
        const struct kvc_case *twin = &cases->entry[i];
        long counts = kvc_cases_find(cases, twin->lacks, strlen(twin->lacks));
        if (twin->role == KVC_CASE_DUPLICATE &&
            (counts < 0 || cases->entry[counts].role != KVC_CASE_PREDICTION)) {
            return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, twin->line,
                                    "found \"%.60s\" in lacks, expected the id of the prediction that counts",
                                    twin->lacks);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_cases_read(const char *path, struct kvc_cases *cases, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header, .last_has_commas = true};
    *cases = (struct kvc_cases){0};
    enum kvc_status status = kvc_csv_visit(path, &format, append, cases, diag);
    status = status == KVC_OK ? check_duplicates(path, cases, diag) : status;
    if (status != KVC_OK) {
        kvc_cases_free(cases);
    }
    return status;
}
