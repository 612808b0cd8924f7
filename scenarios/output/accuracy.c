#include "scenarios/output/accuracy.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/json_value.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/text/csv.h"
#include "sim/devices/gpu.h"

const char *const kvc_accuracy_answers[KVC_ACCURACY_ANSWERS] = {"simulation", "closed form"};
const char *const kvc_accuracy_loads[KVC_ACCURACY_LOADS] = {"saturated", "capacity", "open loop",
                                                            "closed loop"};
const char *const kvc_accuracy_metrics[KVC_ACCURACY_METRICS] = {"throughput", "latency_mean", "latency_tail",
                                                                "energy"};
static const char *const labels[KVC_ACCURACY_METRICS] = {"throughput", "mean latency", "tail latency",
                                                         "energy"};

static const char file[] = "validate/accuracy.csv";

static const char header[] =
    "system,answer,load,metric,points,median_abs_frac,worst_abs_frac,worst_case,bounds,bounds_held,unseen,"
    "unseen_mean_abs_frac,unseen_worst_abs_frac,from";

enum {
    SYSTEM,
    ANSWER,
    LOAD,
    METRIC,
    POINTS,
    MEDIAN,
    WORST,
    WORST_CASE,
    BOUNDS,
    BOUNDS_HELD,
    UNSEEN,
    UNSEEN_MEAN,
    UNSEEN_WORST,
    FROM
};

enum kvc_accuracy_metric kvc_accuracy_metric_of(const char *name)
{
    static const struct {
        const char *name;
        enum kvc_accuracy_metric metric;
    } metrics[] = {
        {"throughput_mops", KVC_ACCURACY_THROUGHPUT},
        {"latency_mean_us", KVC_ACCURACY_LATENCY_MEAN},
        {"latency_p95_us", KVC_ACCURACY_LATENCY_TAIL},
        {"latency_p99_us", KVC_ACCURACY_LATENCY_TAIL},
        {"latency_p999_us", KVC_ACCURACY_LATENCY_TAIL},
        {"latency_max_us", KVC_ACCURACY_LATENCY_TAIL},
        {"watts_mean", KVC_ACCURACY_ENERGY},
        {"kops_per_watt", KVC_ACCURACY_ENERGY},
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        if (strcmp(metrics[i].name, name) == 0) {
            return metrics[i].metric;
        }
    }
    return KVC_ACCURACY_METRICS;
}

enum kvc_accuracy_load kvc_accuracy_load_of(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_SATURATE ? KVC_ACCURACY_SATURATED
           : workload->arrival == KVC_ARRIVAL_CLOSED ? KVC_ACCURACY_CLOSED
                                                     : KVC_ACCURACY_OPEN;
}

/* Returns whether a path that a sweep sets may change the store or the kind of arrivals. */
static bool decides(const char *path, enum kvc_accuracy_load load)
{
    static const char arrival[] = "workload.arrival";
    const char *end = path + strlen(arrival);
    if (strncmp(path, arrival, strlen(arrival)) != 0) {
        return strcmp(path, "system.kind") == 0;
    }
    bool is_closed = strcmp(end, ".clients") == 0 || strcmp(end, ".think") == 0;
    return *end != '.' || load != (is_closed ? KVC_ACCURACY_CLOSED : KVC_ACCURACY_OPEN);
}

/* Returns whether the scenario has another device than the calibrated machine, whose costs it takes. */
static bool replaces(const struct kvc_loaded *loaded, const char *base)
{
    char path[KVC_PATH_MAX];
    snprintf(path, sizeof(path), "node.%.64s_costs.base", loaded->scenario.model->name);
    const struct kvc_parameter *device = kvc_parameters_find(&loaded->parameters, base),
                               *costs = kvc_parameters_find(&loaded->parameters, path);
    return kvc_parameters_find(&loaded->parameters, "node.machine.name") != NULL && device != NULL &&
           costs != NULL && strcmp(device->value, costs->value) != 0;
}

static const char *gpu_rule(const struct kvc_loaded *loaded)
{
    const struct kvc_gpu *gpu = kvc_gpu_of(&loaded->scenario.node);
    if (gpu == NULL || replaces(loaded, "node.gpu.base")) {
        return gpu != NULL ? "unchanged" : NULL;
    }
    return gpu->sectors_per_s > 0 || gpu->channels == 0 ? NULL : "mechanism"; /* kvc_gpu_sectors_per_s() */
}

struct kvc_accuracy_kind kvc_accuracy_kind_of(const struct kvc_loaded *loaded,
                                              enum kvc_accuracy_answer answer, bool all_points)
{
    const struct kvc_scenario *scenario = &loaded->scenario;
    struct kvc_accuracy_kind kind = {scenario->model->name, answer, kvc_accuracy_load_of(&scenario->workload),
                                     gpu_rule(loaded),
                                     replaces(loaded, "node.cpu.base") ? "unchanged" : NULL};
    for (uint32_t i = 0; i < loaded->sweep.count && all_points; i++) {
        const struct kvc_sweep_axis *axis = &loaded->sweep.axis[i];
        for (uint32_t j = 0; j < axis->count; j++) {
            for (uint32_t k = 0; k < axis->value[j].set.count; k++) {
                kind.system = decides(axis->value[j].set.entry[k].path, kind.load) ? NULL : kind.system;
            }
        }
    }
    return kind;
}

/* ---- the file ---- */

/* Finds a name in a list of `count`. */
static enum kvc_status find(const char *name, const char *const *list, int count, int *found,
                            struct kvc_diag *diag)
{
    for (*found = 0; *found < count; ++*found) {
        if (strcmp(list[*found], name) == 0) {
            return KVC_OK;
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found \"%.60s\", allowed: names such as \"%s\"", name,
                         list[0]);
}

/* Reads a number that is at least 0, or `missing` for an empty cell. */
static enum kvc_status read_number(const char *cell, double missing, double *value, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_csv_number(cell, value, diag);
    if (status == KVC_OK && *value < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %.40s, allowed: numbers from 0", cell);
    }
    *value = status == KVC_OK && isnan(*value) ? missing : *value;
    return status;
}

static enum kvc_status read_count(const char *cell, uint32_t *count, struct kvc_diag *diag)
{
    double value;
    enum kvc_status status = read_number(cell, 0, &value, diag);
    if (status == KVC_OK && value != floor(fmin(value, UINT32_MAX))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %.40s, allowed: whole numbers", cell);
    }
    *count = status == KVC_OK ? (uint32_t)value : 0;
    return status;
}

static enum kvc_status read_score(char *const *cell, struct kvc_accuracy_score *score, struct kvc_diag *diag)
{
    const struct {
        int column;
        uint32_t *count;
    } counts[] = {{POINTS, &score->points},
                  {BOUNDS, &score->bounds},
                  {BOUNDS_HELD, &score->bounds_held},
                  {UNSEEN, &score->unseen}};
    const struct {
        int column;
        double *value;
    } numbers[] = {{MEDIAN, &score->median_abs_frac},
                   {WORST, &score->worst_abs_frac},
                   {UNSEEN_MEAN, &score->unseen_mean_frac},
                   {UNSEEN_WORST, &score->unseen_worst_frac}};
    enum kvc_status status =
        kvc_csv_copy(cell[WORST_CASE], score->worst_case, sizeof(score->worst_case), diag);
    status = status != KVC_OK ? status : kvc_csv_copy(cell[FROM], score->from, sizeof(score->from), diag);
    for (int i = 0; i < 4 && status == KVC_OK; i++) {
        status = read_count(cell[counts[i].column], counts[i].count, diag);
        status =
            status != KVC_OK ? status : read_number(cell[numbers[i].column], NAN, numbers[i].value, diag);
    }
    if (status == KVC_OK &&
        (score->bounds_held > score->bounds ||
         (score->points > 0) != !isnan(score->median_abs_frac + score->worst_abs_frac) ||
         (score->unseen > 0) != !isnan(score->unseen_mean_frac + score->unseen_worst_frac))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "found %u points, %u of %u bounds and %u unseen runs, whose errors do not fit; "
                             "allowed: what kvcast validate --accuracy writes",
                             score->points, score->bounds_held, score->bounds, score->unseen);
    }
    return status;
}

struct reading {
    const char *system;
    struct kvc_accuracy *accuracy;
};

static enum kvc_status take_row(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    const struct reading *reading = data;
    int answer, load, metric;
    (void)line;
    if (strcmp(cell[SYSTEM], reading->system) != 0) {
        return KVC_OK;
    }
    enum kvc_status status = find(cell[ANSWER], kvc_accuracy_answers, KVC_ACCURACY_ANSWERS, &answer, diag);
    if (status == KVC_OK) {
        status = find(cell[LOAD], kvc_accuracy_loads, KVC_ACCURACY_LOADS, &load, diag);
    }
    if (status == KVC_OK) {
        status = find(cell[METRIC], kvc_accuracy_metrics, KVC_ACCURACY_METRICS, &metric, diag);
    }
    return status == KVC_OK ? read_score(cell, &reading->accuracy->score[answer][load][metric], diag)
                            : status;
}

enum kvc_status kvc_accuracy_read(const char *path, const char *system, struct kvc_accuracy *accuracy,
                                  struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header};
    struct reading reading = {system, accuracy};
    memset(accuracy, 0, sizeof(*accuracy));
    return kvc_csv_visit(path, &format, take_row, &reading, diag);
}

void kvc_accuracy_write_header(FILE *out)
{
    fprintf(out, "%s\n", header);
}

/* Writes a fraction, and nothing if there is none. */
static void write_frac(bool known, double frac, FILE *out)
{
    if (known) {
        fprintf(out, ",%.4f", frac);
    } else {
        fputc(',', out);
    }
}

static bool is_scored(const struct kvc_accuracy_score *score)
{
    return score->points + score->bounds + score->unseen > 0;
}

void kvc_accuracy_write(const struct kvc_accuracy *accuracy, const char *system, FILE *out)
{
    for (int i = 0; i < KVC_ACCURACY_ANSWERS * KVC_ACCURACY_LOADS * KVC_ACCURACY_METRICS; i++) {
        int metric = i % KVC_ACCURACY_METRICS, load = i / KVC_ACCURACY_METRICS % KVC_ACCURACY_LOADS;
        int answer = i / KVC_ACCURACY_METRICS / KVC_ACCURACY_LOADS;
        const struct kvc_accuracy_score *score = &accuracy->score[answer][load][metric];
        if (!is_scored(score)) {
            continue;
        }
        fprintf(out, "%s,%s,%s,%s,%u", system, kvc_accuracy_answers[answer], kvc_accuracy_loads[load],
                kvc_accuracy_metrics[metric], score->points);
        write_frac(score->points > 0, score->median_abs_frac, out);
        write_frac(score->points > 0, score->worst_abs_frac, out);
        fprintf(out, ",%s,%u,%u,%u", score->worst_case, score->bounds, score->bounds_held, score->unseen);
        write_frac(score->unseen > 0, score->unseen_mean_frac, out);
        write_frac(score->unseen > 0, score->unseen_worst_frac, out);
        fprintf(out, ",%s\n", score->from);
    }
}

/* ---- answers ---- */

/* Reads the scores that the program comes with. */
static enum kvc_status read_own(const char *system, struct kvc_accuracy *accuracy, struct kvc_diag *diag)
{
    char path[PATH_MAX];
    kvc_data_path(file, path);
    enum kvc_status status = kvc_accuracy_read(path, system, accuracy, diag);
    if (status == KVC_ERR_RUNTIME) {
        kvc_out_of_memory("the scores of %s", system);
    }
    return status;
}

/* Lists the other ways and loads for which the metric has scores: ["simulation, saturated", ...]. */
static json_t *elsewhere(const struct kvc_accuracy *accuracy, int metric,
                         const struct kvc_accuracy_kind *kind)
{
    json_t *list = json_array();
    for (int i = 0; i < KVC_ACCURACY_ANSWERS * KVC_ACCURACY_LOADS; i++) {
        int other = i / KVC_ACCURACY_LOADS, other_load = i % KVC_ACCURACY_LOADS;
        char text[64];
        if ((other != (int)kind->answer || other_load != (int)kind->load) &&
            is_scored(&accuracy->score[other][other_load][metric])) {
            snprintf(text, sizeof(text), "%s, %s", kvc_accuracy_answers[other],
                     kvc_accuracy_loads[other_load]);
            json_array_append_new(list, json_string(text));
        }
    }
    return list;
}

static json_t *words_of(const char *text)
{
    json_t *list = json_array();
    for (size_t length; *text != '\0'; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, length));
    }
    return list;
}

static json_t *metric_json(const struct kvc_accuracy *accuracy, int metric,
                           const struct kvc_accuracy_kind *kind)
{
    const struct kvc_accuracy_score *score = &accuracy->score[kind->answer][kind->load][metric];
    bool has_points = score->points > 0, has_unseen = score->unseen > 0;
    json_t *object = json_object(), *unseen = json_object();
    json_object_set_new(object, "metric", json_string(kvc_accuracy_metrics[metric]));
    json_object_set_new(object, "points", kvc_json_count(score->points));
    json_object_set_new(object, "median_abs_frac",
                        kvc_json_number(has_points ? score->median_abs_frac : NAN));
    json_object_set_new(object, "worst_abs_frac", kvc_json_number(has_points ? score->worst_abs_frac : NAN));
    json_object_set_new(object, "worst_case", kvc_json_text_or_null(score->worst_case));
    json_object_set_new(object, "bounds", kvc_json_count(score->bounds));
    json_object_set_new(object, "bounds_held", kvc_json_count(score->bounds_held));
    json_object_set_new(unseen, "points", kvc_json_count(score->unseen));
    json_object_set_new(unseen, "mean_abs_frac", kvc_json_number(has_unseen ? score->unseen_mean_frac : NAN));
    json_object_set_new(unseen, "worst_abs_frac",
                        kvc_json_number(has_unseen ? score->unseen_worst_frac : NAN));
    json_object_set_new(object, "unseen", unseen);
    json_object_set_new(object, "from", words_of(score->from));
    json_object_set_new(object, "elsewhere", elsewhere(accuracy, metric, kind));
    return object;
}

/* ---- costs of other devices ---- */

enum {
    CARRIED_DEVICE,
    CARRIED_FROM,
    CARRIED_TO,
    CARRIED_TASK,
    CARRIED_RULE,
    CARRIED_POINTS,
    CARRIED_MEAN,
    CARRIED_WORST,
    CARRIED_CASE
};

/* A device whose costs another one has, and its entry. */
struct carried {
    const char *device, *rule;
    json_t *entry, *tasks;
};

/* Takes a line that carries the H200, from which profiles are derived, or its machine over. */
static enum kvc_status take_carried(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct carried *carried = data;
    double points, mean_frac, worst_frac;
    (void)line;
    if (strcmp(cell[CARRIED_DEVICE], carried->device) != 0 ||
        strcmp(cell[CARRIED_RULE], carried->rule) != 0 || strncmp(cell[CARRIED_FROM], "h200", 4) != 0) {
        return KVC_OK;
    }
    enum kvc_status status = kvc_csv_number(cell[CARRIED_POINTS], &points, diag);
    status = status != KVC_OK ? status : kvc_csv_number(cell[CARRIED_MEAN], &mean_frac, diag);
    status = status != KVC_OK ? status : kvc_csv_number(cell[CARRIED_WORST], &worst_frac, diag);
    if (status != KVC_OK) {
        return status;
    }
    json_object_set_new(carried->entry, "from", json_string(cell[CARRIED_FROM]));
    json_object_set_new(carried->entry, "to", json_string(cell[CARRIED_TO]));
    json_array_append_new(carried->tasks,
                          json_pack("{s:s, s:o, s:o, s:o, s:s}", "task", cell[CARRIED_TASK], "points",
                                    kvc_json_number(points), "mean_abs_frac", kvc_json_number(mean_frac),
                                    "worst_frac", kvc_json_number(worst_frac), "worst_case",
                                    cell[CARRIED_CASE]));
    return KVC_OK;
}

/* Adds a device whose costs are carried over. Its list of tasks is empty if there are no scores of the rule.
 */
static void add_carried(json_t *list, const char *device, const char *rule)
{
    const struct kvc_csv_format format = {
        .header = "device,from,to,task,rule,points,mean_abs_frac,worst_frac,worst_case"};
    struct kvc_diag diag = {0};
    char path[PATH_MAX];
    if (rule == NULL) {
        return;
    }
    struct carried carried = {device, rule, .tasks = json_array()};
    carried.entry = json_pack("{s:s, s:s, s:n, s:n, s:o}", "device", device, "rule", rule, "from", "to",
                              "tasks", carried.tasks);
    kvc_data_path("validate/carried_over.csv", path);
    if (kvc_csv_visit(path, &format, take_carried, &carried, &diag) != KVC_OK) {
        json_array_clear(carried.tasks);
    }
    json_array_append_new(list, carried.entry);
}

static json_t *carried_json(const struct kvc_accuracy_kind *kind)
{
    json_t *list = json_array();
    add_carried(list, "gpu", kind->gpu_rule);
    add_carried(list, "cpu", kind->cpu_rule);
    return list;
}

/* Writes "; gpu carried over from h200, as measured on h100: search 9.8 % off (largest 41.3 %), ...". */
static void write_carried(const struct kvc_accuracy_kind *kind, FILE *out)
{
    json_t *list = carried_json(kind);
    const json_t *entry, *task;
    size_t i, j;
    json_array_foreach(list, i, entry)
    {
        const json_t *tasks = json_object_get(entry, "tasks");
        fprintf(out, "; %s carried over", json_string_value(json_object_get(entry, "device")));
        if (json_array_size(tasks) == 0) {
            fputs(" from another one: no score", out);
            continue;
        }
        fprintf(out, " from %s, as measured on %s:", json_string_value(json_object_get(entry, "from")),
                json_string_value(json_object_get(entry, "to")));
        json_array_foreach(tasks, j, task)
        {
            fprintf(out, "%s %s %.1f %% off (largest %.1f %%)", j > 0 ? "," : "",
                    json_string_value(json_object_get(task, "task")),
                    100 * json_number_value(json_object_get(task, "mean_abs_frac")),
                    100 * fabs(json_number_value(json_object_get(task, "worst_frac"))));
        }
    }
    json_decref(list);
}

json_t *kvc_accuracy_json(const struct kvc_accuracy_kind *kind)
{
    struct kvc_accuracy accuracy;
    struct kvc_diag diag = {0};
    if (kind->system == NULL || read_own(kind->system, &accuracy, &diag) != KVC_OK) {
        return json_null();
    }
    json_t *object = json_object(), *metrics = json_array();
    json_object_set_new(object, "answer", json_string(kvc_accuracy_answers[kind->answer]));
    json_object_set_new(object, "load", json_string(kvc_accuracy_loads[kind->load]));
    for (int i = 0; i < KVC_ACCURACY_METRICS; i++) {
        json_array_append_new(metrics, metric_json(&accuracy, i, kind));
    }
    json_object_set_new(object, "metrics", metrics);
    json_object_set_new(object, "carried_over", carried_json(kind));
    return object;
}

/* Writes "tail latency 9.4 % off (median of 8 points, worst 40.2 %; 3 unseen 6.4 %)". */
static void write_score(const char *label, const struct kvc_accuracy_score *score, FILE *out)
{
    const char *separator = "(";
    fprintf(out, "%s ", label);
    if (score->points > 0) {
        fprintf(out, "%.1f %% off (median of %u point%s, worst %.1f %%", 100 * score->median_abs_frac,
                score->points, score->points == 1 ? "" : "s", 100 * score->worst_abs_frac);
        separator = "; ";
    }
    if (score->unseen > 0) {
        fprintf(out, "%s%u unseen %.1f %%", separator, score->unseen, 100 * score->unseen_mean_frac);
        separator = "; ";
    }
    if (score->bounds > 0) {
        fprintf(out, "%s%u of %u bounds held", separator, score->bounds_held, score->bounds);
    }
    fputc(')', out);
}

/* Writes for which metrics there is no score, and which answers and loads have one. */
static void write_unscored(const struct kvc_accuracy *accuracy, const struct kvc_accuracy_kind *kind,
                           const char *separator, FILE *out)
{
    json_t *places = json_object(); /* A set in order of insertion. */
    const char *place;
    json_t *value;
    bool first = true;
    for (int i = 0; i < KVC_ACCURACY_METRICS; i++) {
        size_t j;
        if (is_scored(&accuracy->score[kind->answer][kind->load][i])) {
            continue;
        }
        fprintf(out, "%s%s", first ? separator : ", ", first ? "no score of " : "");
        fputs(labels[i], out);
        first = false;
        json_t *others = elsewhere(accuracy, i, kind);
        json_array_foreach(others, j, value)
        {
            json_object_set_new(places, json_string_value(value), json_true());
        }
        json_decref(others);
    }
    separator = " (only ";
    json_object_foreach(places, place, value)
    {
        fprintf(out, "%s%s", separator, place);
        separator = "; ";
    }
    fputs(json_object_size(places) > 0 ? ")" : "", out);
    json_decref(places);
}

void kvc_accuracy_write_line(const struct kvc_accuracy_kind *kind, const char *bold, const char *plain,
                             FILE *out)
{
    struct kvc_accuracy accuracy;
    struct kvc_diag diag = {0};
    const char *separator = "";
    fprintf(out, "%s%-14s%s", bold, "accuracy", plain);
    if (kind->system == NULL) {
        fputs("differs from point to point with the store or the arrivals; kvcast run states that of one\n",
              out);
        return;
    }
    if (read_own(kind->system, &accuracy, &diag) != KVC_OK) {
        fprintf(out, "unknown: %s: %s\n", file, diag.message);
        return;
    }
    fprintf(out, "%s of %s, %s, against measured: ", kvc_accuracy_answers[kind->answer], kind->system,
            kvc_accuracy_loads[kind->load]);
    for (int i = 0; i < KVC_ACCURACY_METRICS; i++) {
        const struct kvc_accuracy_score *score = &accuracy.score[kind->answer][kind->load][i];
        if (is_scored(score)) {
            fputs(separator, out);
            write_score(labels[i], score, out);
            separator = "; ";
        }
    }
    write_unscored(&accuracy, kind, separator, out);
    write_carried(kind, out);
    fputc('\n', out);
}
