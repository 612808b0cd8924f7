#include "validate/scoring/identified.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/files/partial_file.h"
#include "sim/base/text/csv.h"
#include "validate/scoring/score.h"

static const char asked_header[] = "system,scenarios,parameter,low,high,figures,source";
static const char answer_header[] =
    "system,scenarios,parameter,left_out,value,low,high,facts,condition,dropped";

struct reading {
    const struct kvc_cases *cases;
    struct kvc_identified *identified;
    bool has_value[KVC_IDENTIFIED_MAX];
};

/* Parses "2us" into 2 and "us". */
static enum kvc_status parse_bound(const char *cell, double *number, char *unit, size_t size,
                                   struct kvc_diag *diag)
{
    char *end;
    *number = strtod(cell, &end);
    if (end == cell || !(*number > 0) || !isfinite(*number)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found the bound \"%.40s\", allowed: a number above 0",
                             cell);
    }
    return kvc_csv_copy(end, unit, size, diag);
}

/* Returns the index among the figures of the case itself, or -1. */
static long own_figure(const struct kvc_identified *identified, size_t at)
{
    for (size_t i = 0; i < identified->figures; i++) {
        if (identified->figure[i] == at) {
            return (long)i;
        }
    }
    return -1;
}

long kvc_identified_figure(const struct kvc_identified *identified, const struct kvc_cases *cases, size_t at)
{
    long found = own_figure(identified, at);
    for (size_t i = 0; i < identified->figures && found < 0; i++) {
        found = kvc_score_follows(cases, identified->figure[i], at) ? (long)i : -1;
    }
    return found;
}

/* Adds the case with this id to the figures of the parameter, and to all figures. */
static enum kvc_status add_figure(const struct kvc_cases *cases, const char *id, size_t length,
                                  struct kvc_identified *identified, struct kvc_diag *diag)
{
    struct kvc_identified_parameter *parameter = &identified->parameter[identified->count];
    long found = kvc_cases_find(cases, id, length);
    if (found < 0 || kvc_case_kind_of(&cases->entry[found]) != KVC_KIND_POINT) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found figure \"%.*s\", allowed: ids of cases with a published value",
                             (int)length, id);
    }
    bool is_new = own_figure(identified, (size_t)found) < 0;
    if (parameter->figures == KVC_FIGURES_MAX || (is_new && identified->figures == KVC_FIGURES_MAX)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found more than %d figures", KVC_FIGURES_MAX);
    }
    parameter->figure[parameter->figures++] = (size_t)found;
    if (is_new) {
        identified->figure[identified->figures++] = (size_t)found;
    }
    return KVC_OK;
}

static enum kvc_status take_parameter(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct reading *reading = data;
    struct kvc_identified *identified = reading->identified;
    struct kvc_identified_parameter *parameter = &identified->parameter[identified->count];
    char unit[sizeof(parameter->unit)];
    if (identified->count == KVC_IDENTIFIED_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found more than %d parameters", KVC_IDENTIFIED_MAX);
    }
    *parameter = (struct kvc_identified_parameter){.line = line};
    enum kvc_status status = kvc_csv_copy(column[0], parameter->system, sizeof(parameter->system), diag);
    status = status != KVC_OK
                 ? status
                 : kvc_csv_copy(column[1], parameter->scenarios, sizeof(parameter->scenarios), diag);
    status =
        status != KVC_OK ? status : kvc_csv_copy(column[2], parameter->path, sizeof(parameter->path), diag);
    status = status != KVC_OK ? status
                              : kvc_csv_copy(column[6], parameter->source, sizeof(parameter->source), diag);
    status = status != KVC_OK ? status : parse_bound(column[3], &parameter->low, unit, sizeof(unit), diag);
    status = status != KVC_OK
                 ? status
                 : parse_bound(column[4], &parameter->high, parameter->unit, sizeof(parameter->unit), diag);
    if (status == KVC_OK && (strcmp(unit, parameter->unit) != 0 || parameter->low >= parameter->high)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found the bounds %.40s and %.40s, allowed: a lower and a higher one in the same unit", column[3],
            column[4]);
    }
    parameter->is_whole =
        unit[0] == '\0' && strpbrk(column[3], ".e") == NULL && strpbrk(column[4], ".e") == NULL;
    for (const char *id = column[5]; status == KVC_OK && *id != '\0'; id += *id == ' ') {
        size_t length = strcspn(id, " ");
        status = length > 0 ? add_figure(reading->cases, id, length, identified, diag) : KVC_OK;
        id += length;
    }
    if (status == KVC_OK && parameter->figures == 0) {
        status = kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found no figures that determine %s", parameter->path);
    }
    identified->count += status == KVC_OK;
    return status;
}

enum kvc_status kvc_identified_read(const char *path, const struct kvc_cases *cases,
                                    struct kvc_identified *identified, struct kvc_diag *diag)
{
    struct reading reading = {.cases = cases, .identified = identified};
    const struct kvc_csv_format format = {.header = asked_header, .last_has_commas = true};
    memset(identified, 0, sizeof(*identified));
    return access(path, F_OK) != 0 ? KVC_OK : kvc_csv_visit(path, &format, take_parameter, &reading, diag);
}

/* Parses "22.5us" in the unit of the parameter. An empty cell is NaN. */
static enum kvc_status parse_value(const struct kvc_identified_parameter *parameter, const char *cell,
                                   double *value, struct kvc_diag *diag)
{
    char *end;
    *value = NAN;
    if (cell[0] == '\0') {
        return KVC_OK;
    }
    *value = strtod(cell, &end);
    return end > cell && isfinite(*value) && strcmp(end, parameter->unit) == 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.40s\", allowed: a number in %s, or nothing",
                               cell, parameter->unit[0] != '\0' ? parameter->unit : "no unit");
}

static enum kvc_status take_whole(const struct kvc_identified_parameter *parameter, char *const *column,
                                  struct kvc_identified_value *value, struct kvc_diag *diag)
{
    double *const fields[] = {&value->value, &value->low, &value->high, &value->facts};
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && status == KVC_OK; i++) {
        status = parse_value(parameter, column[4 + i], fields[i], diag);
    }
    status = status != KVC_OK ? status : kvc_csv_number(column[8], &value->condition, diag);
    status =
        status != KVC_OK ? status : kvc_csv_copy(column[9], value->dropped, sizeof(value->dropped), diag);
    if (status == KVC_OK && value->dropped[0] == '\0' && isnan(value->value)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found no value of %s, which is not dropped either",
                             parameter->path);
    }
    return status;
}

static enum kvc_status take_answer(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    struct reading *reading = data;
    struct kvc_identified *identified = reading->identified;
    size_t at = 0;
    (void)line;
    while (at < identified->count && (strcmp(identified->parameter[at].system, column[0]) != 0 ||
                                      strcmp(identified->parameter[at].scenarios, column[1]) != 0 ||
                                      strcmp(identified->parameter[at].path, column[2]) != 0)) {
        at++;
    }
    if (at == identified->count) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found %.40s of %.40s, which identified.csv does not ask for", column[2],
                             column[0]);
    }
    struct kvc_identified_value *value = &identified->value[at];
    if (column[3][0] == '\0') {
        reading->has_value[at] = true;
        return take_whole(&identified->parameter[at], column, value, diag);
    }
    long found = kvc_cases_find(reading->cases, column[3], strlen(column[3]));
    long figure = found >= 0 ? own_figure(identified, (size_t)found) : -1;
    if (figure < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found left_out \"%.60s\", which is no figure of identified.csv", column[3]);
    }
    return parse_value(&identified->parameter[at], column[4], &value->without[figure], diag);
}

enum kvc_status kvc_identification_read(const char *path, const struct kvc_cases *cases,
                                        struct kvc_identified *identified, struct kvc_diag *diag)
{
    struct reading reading = {.cases = cases, .identified = identified};
    const struct kvc_csv_format format = {.header = answer_header, .last_has_commas = true};
    for (size_t i = 0; i < identified->count; i++) {
        for (size_t j = 0; j < KVC_FIGURES_MAX; j++) {
            identified->value[i].without[j] = NAN;
        }
    }
    enum kvc_status status = kvc_csv_visit(path, &format, take_answer, &reading, diag);
    for (size_t i = 0; i < identified->count && status == KVC_OK; i++) {
        if (!reading.has_value[i]) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "%s of %s is missing",
                                      identified->parameter[i].path, identified->parameter[i].system);
        }
    }
    return status;
}

static void write_value(FILE *out, const struct kvc_identified_parameter *parameter, double value)
{
    if (isfinite(value)) {
        fprintf(out, "%.4g%s", value, parameter->unit);
    }
}

enum kvc_status kvc_identification_write(const char *path, const struct kvc_cases *cases,
                                         const struct kvc_identified *identified, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    fprintf(file.file, "%s\n", answer_header);
    for (size_t i = 0; i < identified->count; i++) {
        const struct kvc_identified_parameter *parameter = &identified->parameter[i];
        const struct kvc_identified_value *value = &identified->value[i];
        const double whole[] = {value->value, value->low, value->high, value->facts};
        fprintf(file.file, "%s,%s,%s,", parameter->system, parameter->scenarios, parameter->path);
        for (size_t j = 0; j < sizeof(whole) / sizeof(*whole); j++) {
            fprintf(file.file, ",");
            write_value(file.file, parameter, whole[j]);
        }
        if (!isfinite(value->condition)) {
            fprintf(file.file, ",,%s\n", value->dropped);
        } else {
            fprintf(file.file, ",%.3g,%s\n", value->condition, value->dropped);
        }
        for (size_t j = 0; j < identified->figures && value->dropped[0] == '\0'; j++) {
            fprintf(file.file, "%s,%s,%s,%s,", parameter->system, parameter->scenarios, parameter->path,
                    cases->entry[identified->figure[j]].id);
            write_value(file.file, parameter, value->without[j]);
            fprintf(file.file, ",,,,,\n");
        }
    }
    return kvc_partial_file_commit(&file, diag);
}

bool kvc_identified_concerns(const struct kvc_identified_parameter *parameter, const char *system,
                             const struct kvc_case *asked)
{
    char text[sizeof(asked->scenario) + sizeof(asked->overrides) + 1];
    const char *slash = strrchr(asked->scenario, '/'), *file = slash != NULL ? slash + 1 : asked->scenario;
    snprintf(text, sizeof(text), "%s %s", file, asked->overrides);
    return fnmatch(parameter->system, system, FNM_EXTMATCH) == 0 &&
           (fnmatch(parameter->scenarios, file, FNM_EXTMATCH) == 0 ||
            fnmatch(parameter->scenarios, text, FNM_EXTMATCH) == 0);
}

size_t kvc_identified_used(const struct kvc_identified *identified)
{
    size_t used = 0;
    for (size_t i = 0; i < identified->count; i++) {
        used += identified->value[i].dropped[0] == '\0';
    }
    return used;
}

void kvc_identified_print(const struct kvc_identified *identified, const double *value,
                          char text[KVC_IDENTIFIED_TEXT])
{
    size_t length = 0;
    for (size_t i = 0; i < identified->count && length < KVC_IDENTIFIED_TEXT; i++) {
        if (!isnan(value[i])) {
            length += (size_t)snprintf(text + length, KVC_IDENTIFIED_TEXT - length, "%s%s=%.4g%s",
                                       length > 0 ? " " : "", identified->parameter[i].path, value[i],
                                       identified->parameter[i].unit);
        }
    }
    if (length == 0) {
        strcpy(text, "facts alone");
    }
}

/* Returns whether the overrides of a case set this path. */
static bool sets(const char *overrides, const char *path)
{
    size_t length = strlen(path);
    bool found = false;
    for (; *overrides != '\0' && !found; overrides += *overrides == ';') {
        found = strncmp(overrides, path, length) == 0 && overrides[length] == '=';
        overrides += strcspn(overrides, ";");
    }
    return found;
}

bool kvc_identified_overrides(const struct kvc_identified *identified, const double *value,
                              const struct kvc_case *asked, const char *system,
                              char text[KVC_IDENTIFIED_TEXT])
{
    size_t length = (size_t)snprintf(text, KVC_IDENTIFIED_TEXT, "%s", asked->overrides);
    bool added = false;
    for (size_t i = 0; i < identified->count; i++) {
        const struct kvc_identified_parameter *parameter = &identified->parameter[i];
        if (!isnan(value[i]) && length < KVC_IDENTIFIED_TEXT && !sets(asked->overrides, parameter->path) &&
            kvc_identified_concerns(parameter, system, asked)) {
            length += (size_t)snprintf(text + length, KVC_IDENTIFIED_TEXT - length, "%s%s=%.4g%s",
                                       length > 0 ? ";" : "", parameter->path, value[i], parameter->unit);
            added = true;
        }
    }
    return added;
}

void kvc_identified_unseen(const struct kvc_identified *identified, const struct kvc_cases *cases, size_t at,
                           double value[KVC_IDENTIFIED_MAX])
{
    long figure = kvc_identified_figure(identified, cases, at);
    for (size_t i = 0; i < KVC_IDENTIFIED_MAX; i++) {
        const struct kvc_identified_value *made = &identified->value[i];
        bool used = i < identified->count && made->dropped[0] == '\0';
        value[i] = !used ? NAN : figure >= 0 ? made->without[figure] : made->value;
    }
}
