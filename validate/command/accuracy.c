/* kvcast validate --accuracy: gathers the accepted errors into the file that every answer reads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/registry.h"
#include "scenarios/output/accuracy.h"
#include "sim/base/array.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/files/partial_file.h"
#include "sim/base/text/csv.h"
#include "validate/command/validate.h"

/* One accepted error, or the errors of the unseen runs of one machine. */
struct error {
    const struct kvc_model *model;
    int answer, load, metric; /* As in scenarios/output/accuracy.h. */
    enum { POINT, BOUND, UNSEEN } kind;
    double frac;        /* The error, or the mean of the unseen ones. */
    uint32_t unseen;    /* Runs that were unseen. */
    double unseen_most; /* Their largest error. */
    const char *subject;
    char id[96];
};

struct errors {
    size_t count;
    struct error *entry;
};

static void add(struct errors *errors, const struct error *added)
{
    errors->entry = kvc_array_grown(errors->entry, errors->count + 1, sizeof(*errors->entry));
    errors->entry[errors->count++] = *added;
}

/* Fills model and load from the scenario. */
static void describe(const struct kvc_scenario *scenario, struct error *error)
{
    error->model = scenario->model;
    error->load = (int)kvc_accuracy_load_of(&scenario->workload);
}

/* ---- papers ---- */

/* Finds the case whose scenario a value belongs to: itself, or the numerator of a ratio of values of two
 * metrics, such as the capacity of a cluster from that of a socket. *basis is NULL if there is none. */
static enum kvc_status find_basis(const struct kvc_cases *cases, size_t at, const struct kvc_case **basis,
                                  struct kvc_diag *diag)
{
    *basis = NULL;
    while (cases->entry[at].mode == KVC_CASE_RATIO) {
        size_t numerator, denominator;
        enum kvc_status status = kvc_score_parts(cases, at, &numerator, &denominator, diag);
        if (status != KVC_OK) {
            return status;
        }
        if (strcmp(cases->entry[numerator].metric, cases->entry[denominator].metric) == 0) {
            return KVC_OK;
        }
        at = numerator;
    }
    *basis = kvc_case_is_aggregate(&cases->entry[at]) ? NULL : &cases->entry[at];
    return KVC_OK;
}

/* Fills what the scenario of a case says. */
static enum kvc_status describe_case(const struct kvc_case *basis, struct error *error, struct kvc_diag *diag)
{
    struct kvc_capacity_bounds bounds;
    struct kvc_loaded *loaded;
    enum kvc_status status = kvc_validate_load_case(basis, basis->overrides, &bounds, &loaded, diag);
    if (status == KVC_OK) {
        describe(&loaded->scenario, error);
        error->load = basis->mode == KVC_CASE_CAPACITY ? (int)KVC_ACCURACY_CAPACITY : error->load;
        error->answer = basis->mode == KVC_CASE_PREDICT ? KVC_ACCURACY_CLOSED_FORM : KVC_ACCURACY_SIMULATION;
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status add_case(const struct kvc_paper *paper, size_t at, struct errors *errors,
                                struct kvc_diag *diag)
{
    const struct kvc_case *scored = &paper->cases.entry[at];
    const struct kvc_score *score = &paper->scores[at];
    const struct kvc_case *basis;
    struct error error = {.metric = kvc_accuracy_metric_of(scored->metric),
                          .kind = kvc_case_kind_of(scored) == KVC_KIND_POINT ? POINT : BOUND,
                          .frac = fabs(score->baseline_frac.mean),
                          .subject = paper->subject->name};
    if (!kvc_score_counts(scored, score) || isnan(error.frac) || error.metric == KVC_ACCURACY_METRICS) {
        return KVC_OK;
    }
    snprintf(error.id, sizeof(error.id), "%s", scored->id);
    enum kvc_status status = find_basis(&paper->cases, at, &basis, diag);
    if (status == KVC_OK && basis != NULL) {
        status = describe_case(basis, &error, diag);
        if (status == KVC_OK) {
            add(errors, &error);
        }
    }
    return status;
}

/* Writes the accepted errors of the cases that count. */
static void write_fidelity(const struct kvc_paper *paper, FILE *out)
{
    for (size_t i = 0; i < paper->cases.count; i++) {
        const struct kvc_case *scored = &paper->cases.entry[i];
        double facts_frac = paper->scores[i].baseline_frac.mean;
        double cross_frac = paper->cross_validated[i].baseline_frac.mean;
        if (kvc_score_counts(scored, &paper->scores[i]) && !isnan(facts_frac)) {
            fprintf(out, "%s,%zu,%s,%s,%.4f,%.4f\n", paper->subject->name,
                    kvc_identified_used(&paper->identified), scored->id,
                    kvc_case_kinds[kvc_case_kind_of(scored)], facts_frac,
                    paper->identified.count > 0 && !isnan(cross_frac) ? cross_frac : facts_frac);
        }
    }
}

static enum kvc_status add_paper(const struct kvc_subject *subject, struct errors *errors, FILE *fidelity,
                                 struct kvc_diag *diag)
{
    struct kvc_paper paper;
    enum kvc_status status = kvc_paper_read(subject, &paper, diag);
    if (status == KVC_OK) {
        status = kvc_paper_read_identification(&paper, diag);
    }
    if (status == KVC_OK) {
        write_fidelity(&paper, fidelity);
    }
    for (size_t i = 0; i < paper.cases.count && status == KVC_OK; i++) {
        status = add_case(&paper, i, errors, diag);
    }
    kvc_paper_free(&paper);
    return status;
}

/* ---- machines ---- */

/* Fills what the scenario of a line of the plan says. */
static enum kvc_status describe_line(const struct kvc_measured_machine *machine, size_t line,
                                     struct error *error, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = kvc_validate_load_line(machine->subject, &machine->plan.entry[line],
                                                    kvc_validate_any_capacity_mops, "", &loaded, diag);
    if (status == KVC_OK) {
        describe(&loaded->scenario, error);
    }
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status add_seen(const struct kvc_measured_machine *machine, struct errors *errors,
                                struct kvc_diag *diag)
{
    const struct kvc_comparison *comparison = &machine->comparison;
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; i < comparison->cases.count && status == KVC_OK; i++) {
        const struct kvc_case *scored = &comparison->cases.entry[i];
        struct error error = {.metric = kvc_accuracy_metric_of(scored->metric),
                              .kind = POINT,
                              .frac = fabs(comparison->score[i].baseline_frac.mean),
                              .subject = machine->subject->name};
        if (scored->role != KVC_CASE_PREDICTION || isnan(error.frac) ||
            error.metric == KVC_ACCURACY_METRICS) {
            continue;
        }
        snprintf(error.id, sizeof(error.id), "%s", machine->plan.entry[comparison->entry[i].run].id);
        status = describe_line(machine, comparison->entry[i].run, &error, diag);
        if (status == KVC_OK) {
            add(errors, &error);
        }
    }
    return status;
}

/* The unseen runs of a machine, the last ones of each metric. */
struct unseen {
    struct error of_metric[KVC_READINGS];
};

static enum kvc_status take_unseen(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct unseen *unseen = data;
    double count, mean_frac, most_frac;
    (void)line;
    for (int i = 0; i < KVC_READINGS; i++) {
        if (strcmp(cell[2], kvc_reading_names[i]) != 0) {
            continue;
        }
        enum kvc_status status = kvc_csv_number(cell[3], &count, diag);
        status = status != KVC_OK ? status : kvc_csv_number(cell[4], &mean_frac, diag);
        status = status != KVC_OK ? status : kvc_csv_number(cell[6], &most_frac, diag);
        if (status == KVC_OK && !(count >= 1 && mean_frac >= 0 && most_frac >= 0)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %.20s runs with the errors %.20s and %.20s",
                                 cell[3], cell[4], cell[6]);
        }
        if (status != KVC_OK) {
            return status;
        }
        unseen->of_metric[i] = (struct error){
            .kind = UNSEEN, .frac = mean_frac, .unseen = (uint32_t)count, .unseen_most = most_frac};
    }
    return KVC_OK;
}

/* Adds the unseen runs. The plan's rule says what load they had: the throughput of saturating runs is scored,
 * and the latency of open loops (validate/scoring/comparison.h). */
static enum kvc_status add_unseen(const struct kvc_measured_machine *machine, struct errors *errors,
                                  struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = kvc_unseen_header};
    struct unseen unseen = {.of_metric = {{.unseen = 0}}};
    char path[PATH_MAX];
    kvc_subject_path(machine->subject, "unseen.log", path);
    if (access(path, F_OK) != 0) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_csv_visit(path, &format, take_unseen, &unseen, diag);
    for (int i = 0; i < KVC_READINGS && status == KVC_OK; i++) {
        struct error *error = &unseen.of_metric[i];
        error->metric = kvc_accuracy_metric_of(kvc_reading_names[i]);
        error->subject = machine->subject->name;
        if (error->unseen == 0 || error->metric == KVC_ACCURACY_METRICS) {
            continue;
        }
        status = describe_line(machine, 0, error, diag);
        error->load = error->metric == KVC_ACCURACY_THROUGHPUT ? KVC_ACCURACY_SATURATED : KVC_ACCURACY_OPEN;
        if (status == KVC_OK) {
            add(errors, error);
        }
    }
    return status;
}

static enum kvc_status add_machine(const struct kvc_subject *subject, struct errors *errors,
                                   struct kvc_diag *diag)
{
    struct kvc_measured_machine machine;
    enum kvc_status status = kvc_measured_machine_read(subject, false, &machine, diag);
    status = status != KVC_OK ? status : add_seen(&machine, errors, diag);
    status = status != KVC_OK ? status : add_unseen(&machine, errors, diag);
    kvc_measured_machine_free(&machine);
    return status;
}

/* ---- scores ---- */

/* Adds the subject unless it is the last one. Errors of a subject stand together. */
static void add_subject(char *text, size_t size, const char *subject)
{
    size_t length = strlen(text);
    const char *space = strrchr(text, ' '), *last = space != NULL ? space + 1 : text;
    if (strcmp(last, subject) != 0) {
        snprintf(text + length, size - length, "%s%s", length > 0 ? " " : "", subject);
    }
}

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return first < second ? -1 : first > second;
}

static void add_to_score(struct kvc_accuracy_score *score, const struct error *error)
{
    add_subject(score->from, sizeof(score->from), error->subject);
    if (error->kind == BOUND) {
        score->bounds++;
        score->bounds_held += error->frac == 0;
    } else if (error->kind == UNSEEN) {
        score->unseen_mean_frac = (score->unseen_mean_frac * score->unseen + error->frac * error->unseen) /
                                  (score->unseen + error->unseen);
        score->unseen_worst_frac = fmax(score->unseen_worst_frac, error->unseen_most);
        score->unseen += error->unseen;
    } else if (score->points++ == 0 || error->frac > score->worst_abs_frac) {
        score->worst_abs_frac = error->frac;
        snprintf(score->worst_case, sizeof(score->worst_case), "%s %s", error->subject, error->id);
    }
}

/* Summarises the errors of a store. */
static void summarise(const struct errors *errors, const struct kvc_model *model,
                      struct kvc_accuracy *accuracy)
{
    double *points = kvc_array_of(errors->count + 1, sizeof(*points));
    memset(accuracy, 0, sizeof(*accuracy));
    for (int kind = 0; kind < KVC_ACCURACY_ANSWERS * KVC_ACCURACY_LOADS * KVC_ACCURACY_METRICS; kind++) {
        int metric = kind % KVC_ACCURACY_METRICS, load = kind / KVC_ACCURACY_METRICS % KVC_ACCURACY_LOADS;
        int answer = kind / KVC_ACCURACY_METRICS / KVC_ACCURACY_LOADS;
        struct kvc_accuracy_score *score = &accuracy->score[answer][load][metric];
        for (size_t i = 0; i < errors->count; i++) {
            const struct error *error = &errors->entry[i];
            if (error->model == model && error->answer == answer && error->load == load &&
                error->metric == metric) {
                points[score->points] = error->frac; /* Stays only if it is a point. */
                add_to_score(score, error);
            }
        }
        qsort(points, score->points, sizeof(*points), by_size);
        score->median_abs_frac =
            score->points > 0 ? (points[(score->points - 1) / 2] + points[score->points / 2]) / 2 : NAN;
    }
    free(points);
}

static enum kvc_status write_file(const struct errors *errors, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    struct kvc_partial_file file = {0};
    struct kvc_accuracy accuracy;
    kvc_data_path("validate/accuracy.csv", path);
    enum kvc_status status = kvc_partial_file_open(&file, path, diag);
    if (status != KVC_OK) {
        return status;
    }
    kvc_accuracy_write_header(file.file);
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        summarise(errors, kvc_models[i], &accuracy);
        kvc_accuracy_write(&accuracy, kvc_models[i]->name, file.file);
    }
    return kvc_partial_file_commit(&file, diag);
}

enum kvc_status kvc_accuracy_make(const struct kvc_subject *subjects, size_t count, struct kvc_diag *diag)
{
    struct errors errors = {0};
    struct kvc_partial_file fidelity = {0};
    char path[PATH_MAX];
    kvc_data_path("validate/fidelity.csv", path);
    enum kvc_status status = kvc_partial_file_open(&fidelity, path, diag);
    if (status == KVC_OK) {
        fprintf(fidelity.file, "paper,parameters,case,kind,facts_frac,cross_validated_frac\n");
    }
    for (size_t i = 0; i < count && status == KVC_OK; i++) {
        if (subjects[i].kind == KVC_SUBJECT_PAPER) {
            status = add_paper(&subjects[i], &errors, fidelity.file, diag);
        } else if (subjects[i].is_measured) {
            status = add_machine(&subjects[i], &errors, diag);
        }
    }
    status = status == KVC_OK ? write_file(&errors, diag) : status;
    status = status == KVC_OK ? kvc_partial_file_commit(&fidelity, diag) : status;
    kvc_partial_file_discard(&fidelity);
    free(errors.entry);
    return status;
}
