/* megakv_carried: forecasts measured launches of a card from another card alone, by several rules, and prints
 * validate/carried_over.csv.
 *
 * A rule may use what was measured on the other card and what the data sheet of this one states. Answers
 * about cards that nobody has measured follow the rule "mechanism". */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/megakv/costs.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/text/csv.h"

static const char header[] = "kernel,jobs,index_mib,zipf,h100_us,h200_us";

enum column { KERNEL, JOBS, INDEX, ZIPF, H100, H200, COLUMNS };
enum { CARDS = 2 };
static const char *const cards[CARDS] = {"h100", "h200"};

enum kernel { SEARCH, INSERT, COPIED_SEARCH, KERNELS };
static const char *const kernels[KERNELS] = {"search", "insert", "copied_search"};

enum rule { MECHANISM, SCALED, BANDWIDTH, UNCHANGED, RULES };
static const char *const rules[RULES] = {
    [MECHANISM] = "mechanism", /* The model with the rates of kvc_gpu_carry(). */
    [SCALED] = "scaled",       /* The other card's time, times the ratio of the mechanisms. */
    [BANDWIDTH] =
        "bandwidth", /* The other card's time, its part above a launch by the memories' bandwidth. */
    [UNCHANGED] = "unchanged", /* The other card's time. */
};

/* The errors of a rule for the launches of a kernel. */
struct errors {
    uint32_t points;
    double sum_frac, worst_frac;
    char worst_case[64];
};

struct scores {
    struct errors errors[CARDS][KERNELS][RULES]; /* By the card from which values are carried over. */
};

/* The calibrated machines, and the rules for the tasks of their threads. */
static const char *const machines[CARDS] = {"two-cores", "h200-pcie5"};
enum cpu_rule { CPU_UNCHANGED, CPU_CLOCK, CPU_LINES, CPU_RULES };
static const char *const cpu_rules[CPU_RULES] = {
    [CPU_UNCHANGED] = "unchanged", /* The other machine's time. */
    [CPU_CLOCK] = "clock",         /* All of it by the clocks that the systems report. */
    [CPU_LINES] = "lines", /* What it takes in the smallest memory by the clocks, the rest by a line. */
};

/* A half-full table with searches that hit and inserts of present keys. */
static const struct kvc_index_stats stats = {
    .searches = 1000, .search_lines = 1008, .inserts = 1000, .insert_lines = 1008};

/* Loads a scenario with overrides that semicolons separate. */
static enum kvc_status load_with(const char *path, const char *overrides, struct kvc_loaded **loaded,
                                 struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = kvc_overrides_parse_list(&set, overrides, diag);
    status = status == KVC_OK ? kvc_scenario_load(path, &set, loaded, diag) : status;
    kvc_overrides_clear(&set);
    return status;
}

/* ---- launches of GPUs ---- */

static enum kvc_status load(char *const *cell, int card, struct kvc_loaded **loaded, struct kvc_diag *diag)
{
    char path[PATH_MAX], overrides[256];
    double index_mib;
    enum kvc_status status = kvc_csv_number(cell[INDEX], &index_mib, diag);
    if (status != KVC_OK) {
        return status;
    }
    snprintf(overrides, sizeof(overrides), "node.gpu=%s;system.index=%.0fMiB;workload.keys=%.0f%s%.20s",
             cards[card], index_mib, index_mib * 0x1p20 / 16,
             strcmp(cell[ZIPF], "0") != 0 ? ";workload.dist.zipf=" : "",
             strcmp(cell[ZIPF], "0") != 0 ? cell[ZIPF] : "");
    kvc_data_path("validate/carried/megakv.lua", path);
    return load_with(path, overrides, loaded, diag);
}

/* Returns the time of a launch on the scenario's card [us]. */
static double launch_us(const struct kvc_scenario *scenario, enum kernel kernel, double jobs)
{
    struct kvc_megakv_costs costs = kvc_megakv_costs_of(scenario);
    struct kvc_megakv_launch_work work = {
        .kernel = kernel == INSERT ? KVC_SHARDS_INSERT : KVC_SHARDS_SEARCH, .jobs = jobs, .stats = &stats};
    if (kernel == COPIED_SEARCH) {
        return kvc_megakv_launch_ns(&costs, &work) * 1e-3;
    }
    struct kvc_gpu_kernel alone = kvc_megakv_kernel_of(&costs, &work, jobs);
    return (alone.latency_ns + alone.alone_ns) * 1e-3;
}

static double bandwidth(const struct kvc_gpu *gpu)
{
    return (double)gpu->channels * gpu->clocks[0].memory_hz;
}

static void add(struct errors *errors, double frac, const char *name)
{
    errors->sum_frac += fabs(frac);
    if (errors->points++ == 0 || fabs(frac) > fabs(errors->worst_frac)) {
        errors->worst_frac = frac;
        snprintf(errors->worst_case, sizeof(errors->worst_case), "%s", name);
    }
}

/* Forecasts a launch of one card from the other, which takes `known_us`. */
static void score(const struct kvc_scenario *from, struct kvc_scenario *to, enum kernel kernel, double jobs,
                  double known_us, double measured_us, char *const *cell, struct errors errors[RULES])
{
    const struct kvc_gpu *known = kvc_gpu_of(&from->node);
    struct kvc_gpu *carried = kvc_node_device(&to->node, &kvc_gpu_kind), stated = *carried;
    double part_us = known_us - known->launch_ns * 1e-3, us[RULES];
    char name[sizeof(errors->worst_case)];
    us[UNCHANGED] = known_us;
    us[BANDWIDTH] = known_us - part_us + part_us * bandwidth(known) / bandwidth(carried);
    kvc_gpu_carry(known, carried);
    us[MECHANISM] = launch_us(to, kernel, jobs);
    us[SCALED] = known_us * us[MECHANISM] / launch_us(from, kernel, jobs);
    *carried = stated;
    snprintf(name, sizeof(name), "%.12s jobs in %.12s MiB zipf %.8s", cell[JOBS], cell[INDEX], cell[ZIPF]);
    for (int i = 0; i < RULES; i++) {
        add(&errors[i], us[i] / measured_us - 1, name);
    }
}

static enum kvc_status take(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct scores *scores = data;
    struct kvc_loaded *loaded[CARDS] = {NULL};
    double jobs, us[CARDS];
    int kernel = 0;
    (void)line;
    while (kernel < KERNELS && strcmp(kernels[kernel], cell[KERNEL]) != 0) {
        kernel++;
    }
    if (kernel == KERNELS) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "kernel: found \"%.40s\", allowed: search, insert and copied_search",
                             cell[KERNEL]);
    }
    enum kvc_status status = kvc_csv_number(cell[JOBS], &jobs, diag);
    for (int i = 0; i < CARDS && status == KVC_OK; i++) {
        status = kvc_csv_number(cell[H100 + i], &us[i], diag);
        status = status == KVC_OK ? load(cell, i, &loaded[i], diag) : status;
    }
    for (int from = 0; from < CARDS && status == KVC_OK; from++) {
        int to = 1 - from;
        score(&loaded[from]->scenario, &loaded[to]->scenario, (enum kernel)kernel, jobs, us[from], us[to],
              cell, scores->errors[from][kernel]);
    }
    kvc_loaded_free(loaded[0]);
    kvc_loaded_free(loaded[1]);
    return status;
}

/* ---- tasks of threads ---- */

/* Finds the point of the curve that agrees in all but its memory, which is `bytes`, or else the smallest. */
static const struct kvc_megakv_cost_point *find(const struct kvc_megakv_cost_curve *curve,
                                                const struct kvc_megakv_cost_point *like, double bytes)
{
    const struct kvc_megakv_cost_point *found = NULL;
    for (uint32_t i = 0; i < curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &curve->point[i];
        if (point->size != like->size || point->key_bytes != like->key_bytes || point->threads != 1) {
            continue;
        }
        if (point->footprint_bytes == bytes) {
            return point;
        }
        bool smaller = found == NULL || point->footprint_bytes < found->footprint_bytes;
        found = isnan(bytes) && smaller ? point : found;
    }
    return found;
}

/* Forecasts the points of a task that both machines have measured with one thread. */
static void score_task(const struct kvc_node *from, const struct kvc_node *to, size_t at, const char *task,
                       struct errors errors[CPU_RULES])
{
    const struct kvc_megakv_cost_profile *known = kvc_node_device(from, &kvc_megakv_cost_profile_kind);
    const struct kvc_megakv_cost_profile *measured = kvc_node_device(to, &kvc_megakv_cost_profile_kind);
    const struct kvc_megakv_cost_curve *curve = (const void *)((const char *)known + at);
    const struct kvc_megakv_cost_curve *other = (const void *)((const char *)measured + at);
    double clocks = kvc_cpu_of(from)->clock_hz / kvc_cpu_of(to)->clock_hz;
    double lines = kvc_dram_of(to)->random_line_ns / kvc_dram_of(from)->random_line_ns;
    for (uint32_t i = 0; i < curve->count; i++) {
        const struct kvc_megakv_cost_point *point = &curve->point[i];
        const struct kvc_megakv_cost_point *same = find(other, point, point->footprint_bytes);
        if (point->threads != 1 || same == NULL || !(point->ns > 0 && same->ns > 0)) {
            continue; /* The extra cost of a SET may be 0. */
        }
        double near_ns = fmin(find(curve, point, NAN)->ns, point->ns);
        const double ns[CPU_RULES] = {[CPU_UNCHANGED] = point->ns,
                                      [CPU_CLOCK] = point->ns * clocks,
                                      [CPU_LINES] = near_ns * clocks + (point->ns - near_ns) * lines};
        char name[sizeof(errors->worst_case)];
        snprintf(name, sizeof(name), "%s of %g with keys of %g B in %.0f KiB", task, point->size,
                 point->key_bytes, point->footprint_bytes / 0x1p10);
        for (int rule = 0; rule < CPU_RULES; rule++) {
            add(&errors[rule], ns[rule] / same->ns - 1, name);
        }
    }
}

/* Scores the tasks of receivers and senders by the machine from which they are carried over. */
static enum kvc_status score_machines(struct errors errors[CARDS][CPU_RULES], struct kvc_diag *diag)
{
    static const struct {
        const char *name;
        size_t at;
    } tasks[] = {{"receive", offsetof(struct kvc_megakv_cost_profile, receive)},
                 {"write", offsetof(struct kvc_megakv_cost_profile, write)},
                 {"evict", offsetof(struct kvc_megakv_cost_profile, evict)},
                 {"read", offsetof(struct kvc_megakv_cost_profile, read)},
                 {"read_checked", offsetof(struct kvc_megakv_cost_profile, read_checked)},
                 {"read_marked", offsetof(struct kvc_megakv_cost_profile, read_marked)}};
    struct kvc_loaded *loaded[CARDS] = {NULL};
    char path[PATH_MAX], overrides[128];
    enum kvc_status status = KVC_OK;
    kvc_data_path("validate/carried/machine.lua", path);
    for (int i = 0; i < CARDS && status == KVC_OK; i++) {
        snprintf(overrides, sizeof(overrides), "node.machine=../measured/%s/machine.lua", machines[i]);
        status = load_with(path, overrides, &loaded[i], diag);
    }
    for (int from = 0; from < CARDS && status == KVC_OK; from++) {
        for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
            score_task(&loaded[from]->scenario.node, &loaded[1 - from]->scenario.node, tasks[i].at,
                       tasks[i].name, errors[from]);
        }
    }
    kvc_loaded_free(loaded[0]);
    kvc_loaded_free(loaded[1]);
    return status;
}

/* ---- stores ---- */

/* Rules for the throughput of saturated stores on an H100 from an H200 and its machine. */
enum store_rule { STORE_UNCHANGED, STORE_MEASURED, STORE_RULES };
static const char *const store_rules[STORE_RULES] = {
    [STORE_UNCHANGED] = "unchanged", /* The closed form with the costs of the H200's machine. */
    [STORE_MEASURED] = "measured",   /* What the H200's machine was measured to serve. */
};

enum store_column { STORE_ID, STORE_H100, STORE_H200, STORE_OVERRIDES };

static enum kvc_status take_store(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct errors *errors = data;
    struct kvc_loaded *loaded = NULL;
    struct kvc_outcome *outcome = NULL;
    char path[PATH_MAX], overrides[512];
    double measured_mops, h200_mops;
    (void)line;
    enum kvc_status status = kvc_csv_number(cell[STORE_H100], &measured_mops, diag);
    status = status == KVC_OK ? kvc_csv_number(cell[STORE_H200], &h200_mops, diag) : status;
    snprintf(overrides, sizeof(overrides), "%.400s;node.gpu=h100;run.functional=sampled",
             cell[STORE_OVERRIDES]);
    kvc_data_path("validate/measured/h200-pcie5/megakv.lua", path);
    status = status == KVC_OK ? load_with(path, overrides, &loaded, diag) : status;
    status = status == KVC_OK ? kvc_driver_predict(&loaded->scenario, &outcome, diag) : status;
    if (status == KVC_OK) {
        double mops = kvc_outcome_interval(outcome, "throughput_mops").mean;
        add(&errors[STORE_UNCHANGED], mops / measured_mops - 1, cell[STORE_ID]);
        add(&errors[STORE_MEASURED], h200_mops / measured_mops - 1, cell[STORE_ID]);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return status;
}

static enum kvc_status score_stores(struct errors errors[STORE_RULES], struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = "id,h100_mops,h200_mops,overrides", .needs_rows = true};
    char path[PATH_MAX];
    kvc_data_path("validate/carried/stores.csv", path);
    return kvc_csv_visit(path, &format, take_store, errors, diag);
}

/* ---- the file ---- */

static void write_line(const struct errors *errors, const char *device, const char *const names[CARDS],
                       int from, const char *task, const char *rule)
{
    if (errors->points > 0) {
        printf("%s,%s,%s,%s,%s,%u,%.4f,%.4f,%s\n", device, names[from], names[1 - from], task, rule,
               errors->points, errors->sum_frac / errors->points, errors->worst_frac, errors->worst_case);
    }
}

static enum kvc_status print_all(struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header, .needs_rows = true};
    struct scores scores = {0};
    struct errors cpu[CARDS][CPU_RULES] = {0}, stores[STORE_RULES] = {0};
    char path[PATH_MAX];
    kvc_data_path("validate/carried/launches.csv", path);
    enum kvc_status status = kvc_csv_visit(path, &format, take, &scores, diag);
    status = status == KVC_OK ? score_machines(cpu, diag) : status;
    status = status == KVC_OK ? score_stores(stores, diag) : status;
    if (status != KVC_OK) {
        return status;
    }
    printf("device,from,to,task,rule,points,mean_abs_frac,worst_frac,worst_case\n");
    for (int i = 0; i < CARDS * KERNELS * RULES; i++) {
        int from = i / (KERNELS * RULES), kernel = i / RULES % KERNELS, rule = i % RULES;
        write_line(&scores.errors[from][kernel][rule], "gpu", cards, from, kernels[kernel], rules[rule]);
    }
    for (int rule = 0; rule < STORE_RULES; rule++) {
        write_line(&stores[rule], "gpu", cards, 1, "stores", store_rules[rule]);
    }
    for (int i = 0; i < CARDS * CPU_RULES; i++) {
        int from = i / CPU_RULES, rule = i % CPU_RULES;
        write_line(&cpu[from][rule], "cpu", machines, from, "threads", cpu_rules[rule]);
    }
    return KVC_OK;
}

int main(void)
{
    struct kvc_diag diag = {0};
    if (print_all(&diag) != KVC_OK) {
        fprintf(stderr, "megakv_carried: %s:%d: %s\n", diag.file, diag.line, diag.message);
        return 1;
    }
    return 0;
}
