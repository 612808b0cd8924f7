#include "validate/scoring/elasticities.h"

#include <math.h>
#include <string.h>

#include "sim/base/text/csv.h"
#include "sim/base/files/partial_file.h"

static const char header[] = "case,parameter,elasticity";

/* Replaces the parameter in the line of a costly case. */
static const char not_searched[] = "not searched";

/* Largest distance from 1 of the elasticity of a returned input. */
static const double INPUT_SLACK = 0.02;

void kvc_moved_by_add(struct kvc_moved_by *moved_by, const char *parameter, double value, double least)
{
    uint32_t at = moved_by->count;
    moved_by->known = true;
    if (!(fabs(value) >= least)) {
        return;
    }
    while (at > 0 && fabs(moved_by->entry[at - 1].value) < fabs(value)) {
        at--;
    }
    if (at == KVC_ELASTICITIES_KEPT) {
        return;
    }
    moved_by->count += moved_by->count < KVC_ELASTICITIES_KEPT;
    memmove(&moved_by->entry[at + 1], &moved_by->entry[at],
            (moved_by->count - 1 - at) * sizeof(moved_by->entry[0]));
    snprintf(moved_by->entry[at].parameter, sizeof(moved_by->entry[at].parameter), "%s", parameter);
    moved_by->entry[at].value = value;
}

bool kvc_moved_by_nothing_or_input(const struct kvc_moved_by *moved_by)
{
    if (moved_by->costly) {
        return false;
    }
    return moved_by->count == 0 ||
           (moved_by->count == 1 && fabs(moved_by->entry[0].value - 1) <= INPUT_SLACK);
}

struct elasticity_file {
    const struct kvc_cases *cases;
    struct kvc_moved_by *moved_by;
};

static enum kvc_status take(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    const struct elasticity_file *file = data;
    struct kvc_elasticity read;
    long found = kvc_cases_find(file->cases, column[0], strlen(column[0]));
    (void)line;
    enum kvc_status status = kvc_csv_copy(column[1], read.parameter, sizeof(read.parameter), diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[2], &read.value, diag);
    if (status != KVC_OK || found < 0) {
        return status;
    }
    struct kvc_moved_by *moved_by = &file->moved_by[found];
    if (strcmp(read.parameter, not_searched) == 0) {
        moved_by->known = moved_by->costly = true;
        return KVC_OK;
    }
    if ((read.parameter[0] == '\0') != isnan(read.value)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found parameter \"%s\" with elasticity \"%s\", expected both or neither",
                             column[1], column[2]);
    }
    if (moved_by->count == KVC_ELASTICITIES_KEPT) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found more than %d elasticities of \"%s\"",
                             KVC_ELASTICITIES_KEPT, column[0]);
    }
    kvc_moved_by_add(moved_by, read.parameter, read.value, 0);
    return KVC_OK;
}

enum kvc_status kvc_elasticities_read(const char *path, const struct kvc_cases *cases,
                                      struct kvc_moved_by *moved_by, struct kvc_diag *diag)
{
    struct elasticity_file file = {cases, moved_by};
    const struct kvc_csv_format format = {.header = header};
    memset(moved_by, 0, cases->count * sizeof(*moved_by));
    enum kvc_status status = kvc_csv_visit(path, &format, take, &file, diag);
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        if (!moved_by[i].known && kvc_case_kind_of(&cases->entry[i]) <= KVC_KIND_CLAIM) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "case \"%s\" is missing",
                                      cases->entry[i].id);
        }
    }
    return status;
}

enum kvc_status kvc_elasticities_write(const char *path, const struct kvc_cases *cases,
                                       const struct kvc_moved_by *moved_by, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    fprintf(file.file, "%s\n", header);
    for (size_t i = 0; i < cases->count; i++) {
        const char *id = cases->entry[i].id;
        if (moved_by[i].known && moved_by[i].count == 0) {
            fprintf(file.file, "%s,%s,\n", id, moved_by[i].costly ? not_searched : "");
        }
        for (uint32_t j = 0; j < moved_by[i].count; j++) {
            fprintf(file.file, "%s,%s,%.3f\n", id, moved_by[i].entry[j].parameter,
                    moved_by[i].entry[j].value);
        }
    }
    return kvc_partial_file_commit(&file, diag);
}
