#include "validate/cases.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char header[] =
    "id,mode,scenario,overrides,figure,published,low,high,tolerance_frac,role,lacks,fact";

enum column {
    ID,
    MODE,
    SCENARIO,
    OVERRIDES,
    FIGURE,
    PUBLISHED,
    LOW,
    HIGH,
    TOLERANCE,
    ROLE,
    LACKS,
    FACT,
    COLUMNS
};

void kvc_cases_free(struct kvc_cases *cases)
{
    free(cases->entry);
    *cases = (struct kvc_cases){0};
}

long kvc_cases_find(const struct kvc_cases *cases, const char *id, size_t id_length)
{
    for (size_t i = 0; i < cases->count; i++)
        if (strlen(cases->entry[i].id) == id_length && memcmp(cases->entry[i].id, id, id_length) == 0)
            return (long)i;
    return -1;
}

/* Splits at commas in place; the last column keeps its commas. */
static int split(char *line, char **column)
{
    int count = 0;
    column[count++] = line;
    for (char *c = line; *c != '\0' && count < COLUMNS; c++) {
        if (*c != ',')
            continue;
        *c = '\0';
        column[count++] = c + 1;
    }
    return count;
}

static enum kvc_status copy(const char *text, char *to, size_t size, struct kvc_diag *diag)
{
    if (strlen(text) >= size)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.40s...\", allowed are %zu characters", text,
                             size - 1);
    strcpy(to, text);
    return KVC_OK;
}

static enum kvc_status number(const char *text, double *value, struct kvc_diag *diag)
{
    char *end;
    *value = NAN;
    if (*text == '\0')
        return KVC_OK;
    *value = strtod(text, &end);
    if (*end != '\0' || !isfinite(*value))
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%s\", expected a number", text);
    return KVC_OK;
}

static enum kvc_status word(const char *text, const char *const *words, int *index, struct kvc_diag *diag)
{
    for (*index = 0; words[*index] != NULL; (*index)++)
        if (strcmp(words[*index], text) == 0)
            return KVC_OK;
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%s\", expected %s, %s or %s", text, words[0],
                         words[1], words[2]);
}

static enum kvc_status parse(char *line, struct kvc_case *made, struct kvc_diag *diag)
{
    static const char *const modes[] = {"run", "predict", "ratio", NULL};
    static const char *const roles[] = {"prediction", "equation", "input", NULL};
    char *column[COLUMNS];
    int mode = 0, role = 0, count = split(line, column);
    if (count != COLUMNS)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %d columns, expected %d", count, COLUMNS);
    enum kvc_status status = copy(column[ID], made->id, sizeof made->id, diag);
    status = status != KVC_OK ? status : word(column[MODE], modes, &mode, diag);
    status = status != KVC_OK ? status : copy(column[SCENARIO], made->scenario, sizeof made->scenario, diag);
    status =
        status != KVC_OK ? status : copy(column[OVERRIDES], made->overrides, sizeof made->overrides, diag);
    status = status != KVC_OK ? status : copy(column[FIGURE], made->figure, sizeof made->figure, diag);
    status = status != KVC_OK ? status : number(column[PUBLISHED], &made->published, diag);
    status = status != KVC_OK ? status : number(column[LOW], &made->low, diag);
    status = status != KVC_OK ? status : number(column[HIGH], &made->high, diag);
    status = status != KVC_OK ? status : number(column[TOLERANCE], &made->tolerance_frac, diag);
    status = status != KVC_OK ? status : word(column[ROLE], roles, &role, diag);
    status = status != KVC_OK ? status : copy(column[LACKS], made->lacks, sizeof made->lacks, diag);
    status = status != KVC_OK ? status : copy(column[FACT], made->fact, sizeof made->fact, diag);
    if (status != KVC_OK)
        return status;
    made->mode = (enum kvc_case_mode)mode;
    made->role = (enum kvc_case_role)role;
    if (isnan(made->published) && isnan(made->low) && isnan(made->high))
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found neither a published figure nor a bound");
    if (isnan(made->tolerance_frac) || made->tolerance_frac < 0)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found tolerance_frac \"%s\", expected a number from 0 on", column[TOLERANCE]);
    return KVC_OK;
}

static enum kvc_status append(struct kvc_cases *cases, char *line, struct kvc_diag *diag)
{
    struct kvc_case made = {0};
    enum kvc_status status = parse(line, &made, diag);
    if (status != KVC_OK)
        return status;
    if (kvc_cases_find(cases, made.id, strlen(made.id)) >= 0)
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found case \"%s\" a second time", made.id);
    struct kvc_case *bigger = realloc(cases->entry, (cases->count + 1) * sizeof *bigger);
    if (bigger == NULL)
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %zu cases", cases->count + 1);
    cases->entry = bigger;
    cases->entry[cases->count++] = made;
    return KVC_OK;
}

enum kvc_status kvc_cases_read(const char *path, struct kvc_cases *cases, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    char *line = NULL;
    size_t room = 0;
    int number_of_line = 0;
    FILE *in = fopen(path, "r");
    *cases = (struct kvc_cases){0};
    if (in == NULL)
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot read: %s", strerror(errno));
    while (status == KVC_OK && getline(&line, &room, in) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (++number_of_line == 1 && strcmp(line, header) != 0)
            status = kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found header \"%.60s\", expected \"%s\"", line,
                                   header);
        else if (number_of_line > 1 && line[0] != '\0')
            status = append(cases, line, diag);
    }
    free(line);
    fclose(in);
    if (status == KVC_OK)
        return KVC_OK;
    kvc_cases_free(cases);
    if (diag != NULL) {
        snprintf(diag->file, sizeof diag->file, "%s", path);
        diag->line = number_of_line;
    }
    return status;
}
