#include "models/megakv/real/calibrate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/megakv/cuckoo.h"
#include "models/megakv/real/device.h"
#include "models/megakv/real/index_measurement.h"
#include "models/megakv/real/measurement.h"
#include "models/megakv/real/survey.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"
#include "sim/probes/fit.h"
#include "sim/probes/machine.h"
#include "sim/probes/pin.h"
#include "sim/probes/profile.h"
#include "sim/probes/steadiness.h"
#include "sim/probes/timing.h"

/* ---- stages ----
 *
 * The real tasks work on real stores, each stage alone, for different lengths of keys and values, footprints
 * of the store and numbers of threads at once. The result is the part of the store's cost profile
 * (models/megakv/cost_profile.h) that does not belong to the index. */

/* A list of lengths of values for keys of one length. */
enum { VALUES_MAX = 8, FRAMES_MAX = 8 };
struct shapes {
    uint32_t key_bytes;               /* 0 ends the list of shapes. */
    uint32_t value_bytes[VALUES_MAX]; /* In ascending order; 0 ends the list. */
};

enum { FOOTPRINTS_MAX = 8 };

struct stage_options {
    double nearby_bytes; /* Size of all items in the store that represents popular items [bytes]. */
    double items_bytes[FOOTPRINTS_MAX]; /* Larger sizes, ascending; 0 ends the list [bytes]. */
    struct shapes shapes[KVC_MEGAKV_COST_KEYS_MAX];
    /* Length of values while neither it nor the length of the keys is varied. */
    uint32_t usual_value_bytes;
    uint32_t frames[FRAMES_MAX]; /* Requests of the measured frames; 0 ends the list. */
    uint32_t cores;              /* Hardware threads of this machine that may be used. */
};

enum {
    THREADS_MAX = 2, /* Numbers of threads that are measured. */
    CORES_OF_A_PIPELINE = 3,
};

/* The numbers of pipelines that are measured: one alone, and as many as the machine has cores for. */
struct threads {
    uint32_t count, value[THREADS_MAX], most;
};

/* Returns how many pipelines have a core for each of their threads on a machine of `cores`, at least 1. */
static uint32_t pipelines_of(uint32_t cores)
{
    uint32_t own = (cores - 1) / 2, most = own > 0 ? own : 1;
    return most < KVC_MEGAKV_REAL_PIPELINES_MAX ? most : KVC_MEGAKV_REAL_PIPELINES_MAX;
}

static struct threads threads_of(uint32_t cores)
{
    struct threads threads = {.most = pipelines_of(cores)};
    threads.value[threads.count++] = 1;
    if (threads.most > 1) {
        threads.value[threads.count++] = threads.most;
    }
    return threads;
}

/* A survey and its goals. */
struct plan {
    const struct stage_options *params;
    struct threads threads;
    struct kvc_steadiness *steadiness;
    const struct kvc_progress *progress;
    struct kvc_megakv_survey survey;
};

static enum kvc_status survey_frames(struct plan *plan, uint32_t key_bytes, uint32_t pipelines,
                                     struct kvc_diag *diag)
{
    const struct stage_options *params = plan->params;
    enum kvc_status status = KVC_OK;
    for (int f = 0; status == KVC_OK && f < FRAMES_MAX && params->frames[f] > 0; f++) {
        status = kvc_megakv_survey_open(&plan->survey, key_bytes, params->usual_value_bytes,
                                        params->items_bytes[0], 0, params->frames[f], pipelines,
                                        KVC_MEGAKV_TESTBENCH_GETS, diag);
        if (status == KVC_OK) {
            kvc_megakv_survey_receive(&plan->survey, params->frames[f]);
        }
        kvc_megakv_testbench_close(&plan->survey.testbench);
    }
    return status;
}

static enum kvc_status survey_full_store(struct plan *plan, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct stage_options *params = plan->params;
    const struct shapes *shapes = &params->shapes[0];
    double items_bytes = params->items_bytes[1] > 0 ? params->items_bytes[1] : params->items_bytes[0];
    enum kvc_status status =
        kvc_megakv_survey_open(&plan->survey, shapes->key_bytes, params->usual_value_bytes, items_bytes, 0, 0,
                               pipelines, KVC_MEGAKV_TESTBENCH_MIX, diag);
    if (status == KVC_OK) {
        kvc_megakv_survey_read_batches(&plan->survey);
        kvc_megakv_survey_pass(&plan->survey);
        kvc_megakv_survey_mix(&plan->survey);
        kvc_megakv_survey_drain(&plan->survey);
    }
    kvc_megakv_testbench_close(&plan->survey.testbench);
    return status;
}

/* Measures one length of keys and values in a small store for the popular items and in larger ones. */
static enum kvc_status survey_items(struct plan *plan, uint32_t key_bytes, uint32_t value_bytes,
                                    bool first_of_key, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct stage_options *params = plan->params;
    struct kvc_megakv_survey *survey = &plan->survey;
    enum kvc_status status = kvc_megakv_survey_open(survey, key_bytes, value_bytes, params->nearby_bytes, 0,
                                                    0, pipelines, KVC_MEGAKV_TESTBENCH_GETS, diag);
    if (status == KVC_OK) {
        status = kvc_megakv_survey_reads_nearby(survey, first_of_key, diag);
    }
    kvc_megakv_testbench_close(&survey->testbench);
    for (int f = 0; status == KVC_OK && f < FOOTPRINTS_MAX && params->items_bytes[f] > 0; f++) {
        status = kvc_megakv_survey_open(survey, key_bytes, value_bytes, params->items_bytes[f],
                                        kvc_megakv_survey_room_bytes, 0, pipelines, KVC_MEGAKV_TESTBENCH_SETS,
                                        diag);
        if (status == KVC_OK) {
            status = kvc_megakv_survey_senders(survey, first_of_key, diag);
        }
        if (status == KVC_OK) {
            kvc_megakv_survey_writes(survey);
        }
        kvc_megakv_testbench_close(&survey->testbench);
        kvc_steadiness_check(plan->steadiness);
    }
    return status;
}

static uint32_t keys_of(const struct stage_options *params)
{
    uint32_t keys = 0;
    while (keys < KVC_MEGAKV_COST_KEYS_MAX && params->shapes[keys].key_bytes > 0) {
        keys++;
    }
    return keys;
}

/* Measures everything with a number of pipelines. Items of other lengths of keys than the first are measured
 * with the most pipelines only, which saves minutes. */
static enum kvc_status survey_pipelines(struct plan *plan, uint32_t pipelines, double done_frac,
                                        struct kvc_diag *diag)
{
    const struct stage_options *params = plan->params;
    uint32_t keys = keys_of(params), items = pipelines < plan->threads.most ? 1 : keys;
    enum kvc_status status = KVC_OK;
    for (uint32_t k = 0; status == KVC_OK && k < keys; k++) {
        status = survey_frames(plan, params->shapes[k].key_bytes, pipelines, diag);
    }
    if (status == KVC_OK) {
        status = survey_full_store(plan, pipelines, diag);
    }
    for (uint32_t k = 0; status == KVC_OK && k < items; k++) {
        const struct shapes *shapes = &params->shapes[k];
        kvc_progress_report(plan->progress, "stages", done_frac + (double)k / items / plan->threads.count);
        for (int v = 0; status == KVC_OK && v < VALUES_MAX && shapes->value_bytes[v] > 0; v++) {
            status = survey_items(plan, shapes->key_bytes, shapes->value_bytes[v], v == 0, pipelines, diag);
        }
    }
    return status;
}

/* Adds all curves except launches to the measurement, and checks the steadiness of the machine from time to
 * time. Returns KVC_ERR_RUNTIME if threads cannot be started. */
static enum kvc_status measure_stages(const struct stage_options *params, struct kvc_steadiness *steadiness,
                                      const struct kvc_progress *progress,
                                      struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    struct plan *plan = kvc_array_of(1, sizeof(*plan));
    *plan = (struct plan){.params = params,
                          .threads = threads_of(params->cores),
                          .steadiness = steadiness,
                          .progress = progress,
                          .survey = {.watching = {steadiness, kvc_thread_pool_create(params->cores)},
                                     .measurement = measurement,
                                     .cores = params->cores,
                                     .shared_cores = params->cores < CORES_OF_A_PIPELINE}};
    enum kvc_status status = KVC_OK;
    if (plan->survey.watching.pool == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%u threads cannot be started", params->cores);
    }
    for (uint32_t t = 0; status == KVC_OK && t < plan->threads.count; t++) {
        status = survey_pipelines(plan, plan->threads.value[t], (double)t / plan->threads.count, diag);
    }
    kvc_thread_pool_free(plan->survey.watching.pool);
    free(plan);
    return status;
}

/* ---- launches ----
 *
 * Launches of the index alone, T = k jobs + b, by operation, layout of the table and load factor. They show
 * what the design would gain from another layout. */

enum { LAUNCH_FITS = 2 * 3 * 3 };

struct launch_fit {
    const char *layout, *operation;
    double load_frac;   /* Fraction of the table's slots that are in use. */
    struct kvc_fit fit; /* Time of a launch over its jobs [ns]. */
};

struct launch_fits {
    uint64_t table_bytes; /* Size of the table [bytes]. */
    struct launch_fit fit[LAUNCH_FITS];
};

enum {
    TABLE_BYTES = 64 << 20,
    SLOT_BYTES = 8,
    SLOTS = TABLE_BYTES / SLOT_BYTES,
    JOBS_MAX = 65536,
    SIZES = 5
};

static const uint32_t jobs_of[SIZES] = {256, 1024, 4096, 16384, JOBS_MAX};
static const double loads[] = {0.3, 0.6, 0.9};
static const struct {
    const char *name;
    enum kvc_megakv_cuckoo_layout layout;
    uint32_t slots;
} layouts[] = {{"8 slots, apart", KVC_MEGAKV_CUCKOO_APART, 8},
               {"4 slots, interleaved", KVC_MEGAKV_CUCKOO_INTERLEAVED, 4}};
enum { LOADS = sizeof(loads) / sizeof(*loads), LAYOUTS = sizeof(layouts) / sizeof(*layouts) };

/* An index and the jobs of a launch. Elements [0, held) are in the table; element i has hash mix(i + 1) and
 * location i. */
struct table {
    struct kvc_index *index;
    uint64_t *hash;
    uint32_t *location, *found;
    uint32_t jobs, held;
};

static void choose_elements(struct table *table, uint32_t first)
{
    for (uint32_t i = 0; i < table->jobs; i++) {
        table->hash[i] = kvc_mix64(first + i + 1);
        table->location[i] = first + i;
    }
}

static void choose_held(void *data, uint32_t repetition)
{
    struct table *table = data;
    for (uint32_t i = 0; i < table->jobs; i++) {
        uint32_t element = (uint32_t)(kvc_mix64(i + (uint64_t)repetition * JOBS_MAX) % table->held);
        table->hash[i] = kvc_mix64(element + 1);
    }
}

/* Chooses the elements that an operation adds to the held ones. They are always the same, so that the next
 * operation can remove them. */
static void choose_others(void *data, uint32_t repetition)
{
    struct table *table = data;
    (void)repetition;
    choose_elements(table, table->held);
}

static void search(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_search(table->index, table->hash, table->jobs, table->found, &stats);
}

static void insert(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_insert(table->index, table->hash, table->location, table->jobs, NULL, &stats);
}

static void erase(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_erase(table->index, table->hash, table->location, table->jobs, table->found, &stats);
}

static void make_absent(void *data, uint32_t repetition)
{
    choose_others(data, repetition);
    erase(data, repetition);
}

static void make_present(void *data, uint32_t repetition)
{
    choose_others(data, repetition);
    insert(data, repetition);
}

static const struct {
    const char *name;
    kvc_timing_fn *prepare, *work;
} operations[] = {
    {"search", choose_held, search}, {"insert", make_absent, insert}, {"delete", make_present, erase}};
enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

/* Inserts elements until the table holds `held` of them. */
static void fill(struct table *table, uint32_t held)
{
    table->jobs = JOBS_MAX;
    for (; table->held < held; table->held += table->jobs) {
        if (held - table->held < table->jobs) {
            table->jobs = held - table->held;
        }
        choose_elements(table, table->held);
        insert(table, 0);
    }
}

static enum kvc_status fit_operation(struct table *table, int operation, struct kvc_fit *fit,
                                     struct kvc_diag *diag)
{
    double jobs[SIZES], ns[SIZES];
    for (int i = 0; i < SIZES; i++) {
        table->jobs = jobs_of[i];
        jobs[i] = table->jobs;
        ns[i] = 1e9 *
                kvc_timing_measure(operations[operation].prepare, operations[operation].work, table).median_s;
    }
    table->jobs = JOBS_MAX; /* Removes the elements that the last operation left in the table. */
    make_absent(table, 0);
    return kvc_fit_line(jobs, ns, SIZES, fit, diag);
}

static enum kvc_status fit_layout(struct table *table, int layout, struct launch_fit *fit,
                                  struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int l = 0; l < LOADS; l++) {
        fill(table, (uint32_t)(loads[l] * SLOTS));
        for (int o = 0; status == KVC_OK && o < OPERATIONS; o++, fit++) {
            *fit = (struct launch_fit){layouts[layout].name, operations[o].name, loads[l], {0}};
            status = fit_operation(table, o, &fit->fit, diag);
        }
    }
    return status;
}

/* Measures the launches. Returns KVC_ERR_RUNTIME if memory is short. */
static enum kvc_status measure_launches(bool on_gpu, struct launch_fits *fits, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    fits->table_bytes = TABLE_BYTES;
    for (int layout = 0; status == KVC_OK && layout < LAYOUTS; layout++) {
        const struct kvc_megakv_cuckoo_params params = {.bytes = TABLE_BYTES,
                                                        .layout = layouts[layout].layout,
                                                        .slots = layouts[layout].slots,
                                                        .max_displacements = 100};
        struct table table = {.index = kvc_megakv_real_device_index(on_gpu, &params),
                              .hash = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint64_t)),
                              .location = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t)),
                              .found = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t))};
        if (table.index == NULL || table.hash == NULL || table.location == NULL || table.found == NULL) {
            status =
                kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for an index of %d MiB", TABLE_BYTES >> 20);
        } else {
            status = fit_layout(&table, layout, &fits->fit[layout * LOADS * OPERATIONS], diag);
        }
        kvc_index_free(table.index);
        kvc_megakv_real_device_array_free(on_gpu, table.hash);
        kvc_megakv_real_device_array_free(on_gpu, table.location);
        kvc_megakv_real_device_array_free(on_gpu, table.found);
    }
    return status;
}

/* ---- the profile ---- */

enum { LINE_BYTES = 64 };

/* Stores from a size that fits the caches next to a core to the sizes of real ones; keys and values from the
 * shortest to the longest. Keys of 8 bytes are the most common ones, and their items take from 1 to 129 cache
 * lines. */
static const struct stage_options full = {.nearby_bytes = 0x1p15,
                                          .items_bytes = {0x1p21, 0x1p26, 0x1p30},
                                          .shapes = {{8, {2, 8, 16, 64, 256, 1024, 8192}},
                                                     {16, {2, 64, 256, 1024, 8192}},
                                                     {64, {8, 64, 256, 1024, 8192}},
                                                     {250, {2, 64, 1024, 8192}}},
                                          .usual_value_bytes = 8,
                                          .frames = {1, 8, 32, 92}};
static const struct stage_options quick = {.nearby_bytes = 0x1p15,
                                           .items_bytes = {0x1p21, 0x1p26},
                                           .shapes = {{8, {8, 64, 256, 1024}}, {64, {8, 1024}}},
                                           .usual_value_bytes = 8,
                                           .frames = {1, 8, 32, 92}};

/* Indexes from a size that fits the caches to the sizes of real ones. On a thread, streams are served in
 * turn. On a GPU, the size matters less than the number of streams. The last number of streams is set below.
 */
static const struct kvc_megakv_index_options full_on_thread = {
    .bytes = {0x1p20, 0x1p24, 0x1p26, 0x1p28, 0x1p30, 0x1p32},
    .load_frac = {0.1, 0.5, 0.75, 0.9},
    .jobs = {64, 256, 1024, 4096, 16384, 65536},
    .streams = {1}};
static const struct kvc_megakv_index_options full_on_gpu = {.bytes = {0x1p24, 0x1p28, 0x1p32},
                                                            .load_frac = {0.1, 0.5, 0.9},
                                                            .jobs = {64, 256, 1024, 4096, 16384, 65536},
                                                            .streams = {1, 2, 4}};
static const struct kvc_megakv_index_options quick_index = {.bytes = {0x1p20, 0x1p25, 0x1p28},
                                                            .load_frac = {0.1, 0.5, 0.9},
                                                            .jobs = {64, 512, 4096, 32768},
                                                            .streams = {1}};

/* Smallest index on a GPU in a quick calibration [bytes]. In a smaller one, a large launch of inserts
 * would be measured in pieces, which take a thread as long as the launch, but each adds the latency of a
 * launch on a GPU. */
static const double quick_on_gpu_bytes = 0x1p23;

/* Memory besides the largest items: a margin for free places and the index, and room for packets and buffers.
 */
static const double items_margin = 1.5, beside_bytes = 0x1p30;

/* Adds the slope and the base of a fitted line as two costs of the GPU's kernels. */
static void add_kernel(struct kvc_profile *profile, const char *per_op, const char *base,
                       const struct kvc_fit *fit, const char *what)
{
    char text[160];
    kvc_fit_describe(fit, fit->slope, fit->slope_half, text, sizeof(text));
    kvc_profile_estimate(profile, "gpu.clocks", per_op, fit->slope, fit->slope_half, "ns", "%s: %s", what,
                         text);
    kvc_fit_describe(fit, fit->base, fit->base_half, text, sizeof(text));
    kvc_profile_estimate(profile, "gpu.clocks", base, fit->base, fit->base_half, "ns", "%s: %s", what, text);
}

/* Adds those parameters of cpu, dram and gpu that measurements of the store's own code determine. */
static void add_devices(const struct kvc_megakv_measurement *measurement, struct kvc_profile *profile)
{
    const struct kvc_fit *receive = &measurement->receive.fit, *read = &measurement->read.fit;
    char text[160];
    kvc_fit_describe(receive, receive->slope, receive->slope_half, text, sizeof(text));
    kvc_profile_estimate(profile, "cpu", "packet", receive->slope, receive->slope_half, "ns",
                         "slope of a received frame's time over its GETs: %s", text);
    kvc_fit_describe(read, read->base, read->base_half, text, sizeof(text));
    kvc_profile_estimate(profile, "dram", "random_line", read->base, read->base_half, "ns",
                         "base of a GET's time over its item's bytes: %s", text);
    kvc_fit_describe(read, LINE_BYTES * read->slope, LINE_BYTES * read->slope_half, text, sizeof(text));
    kvc_profile_estimate(profile, "dram", "next_line", LINE_BYTES * read->slope,
                         LINE_BYTES * read->slope_half, "ns", "64 times the slope of the same line: %s",
                         text);
    add_kernel(profile, "search_per_op", "search_base", &measurement->search.fit,
               "launches of searches that hit, all pipelines");
    add_kernel(profile, "insert_per_op", "insert_base", &measurement->insert.fit,
               "launches of inserts of new keys");
}

static void add_curve(struct kvc_profile *profile, const char *name,
                      const struct kvc_megakv_measured_curve *measured)
{
    for (uint32_t i = 0; i < measured->curve.count; i++) {
        const struct kvc_megakv_cost_point *point = &measured->curve.point[i];
        const struct kvc_profile_point row = {.size = point->size,
                                              .key_bytes = point->key_bytes,
                                              .load_frac = point->load_frac,
                                              .footprint_bytes = point->footprint_bytes,
                                              .threads = (unsigned)point->threads,
                                              .ns = point->ns,
                                              .low_ns = measured->low_ns[i],
                                              .high_ns = measured->high_ns[i],
                                              .repetitions = KVC_MEGAKV_REPETITIONS};
        kvc_profile_point(profile, kvc_megakv_cost_profile_kind.name, name, &row);
    }
}

static void add_curves(const struct kvc_megakv_measurement *measurement, struct kvc_profile *profile)
{
    kvc_profile_name(profile, kvc_megakv_cost_profile_kind.name, "Mega-KV's own code on this machine");
    for (int i = 0; i < KVC_MEGAKV_MEASURED_CURVES; i++) {
        const struct kvc_megakv_named_curve *named = &kvc_megakv_named_curves[i];
        add_curve(profile, named->name, kvc_megakv_curve_of(measurement, named));
    }
}

static void comment_launches(const struct launch_fits *launches, struct kvc_profile *profile)
{
    kvc_profile_comment(profile,
                        "Launches of an index of %llu MiB alone, T = k jobs + b, 256 to 65536 jobs, by load "
                        "factor; 95 %%:",
                        (unsigned long long)(launches->table_bytes >> 20));
    kvc_profile_comment(profile,
                        "  table                  load  operation   k, ns            b, us            worst");
    for (int i = 0; i < LAUNCH_FITS; i++) {
        const struct launch_fit *row = &launches->fit[i];
        const struct kvc_fit *fit = &row->fit;
        kvc_profile_comment(profile, "  %-22s %.1f   %-9s %7.3f +- %-6.2g %8.2f +- %-6.2g %.0f %%%s",
                            row->layout, row->load_frac, row->operation, fit->slope, fit->slope_half,
                            fit->base / 1e3, fit->base_half / 1e3, 100 * fit->worst_frac,
                            fit->linear ? "" : ", NOT a straight line");
    }
}

static void summarize_curve(struct kvc_profile *profile, const char *what, const struct kvc_fit *fit,
                            const char *per)
{
    if (fit->points == 0) {
        kvc_profile_summarize(profile, "%-22s takes no time that could be measured, for most sizes", what);
        return;
    }
    kvc_profile_summarize(
        profile, "%-22s %9.4g ns per %-8s +- %-8.2g and %9.4g ns +- %-8.2g worst point %4.1f %% off%s", what,
        fit->slope, per, fit->slope_half, fit->base, fit->base_half, 100 * fit->worst_frac,
        fit->linear ? "" : ": NOT a straight line");
}

/* The comparison has no straight line over the item's bytes: the key is as long in all of them. */
static void summarize_comparison(const struct kvc_megakv_cost_curve *compare, struct kvc_profile *profile)
{
    double low_ns = INFINITY, high_ns = 0;
    for (uint32_t i = 0; i < compare->count; i++) {
        low_ns = fmin(low_ns, compare->point[i].ns);
        high_ns = fmax(high_ns, compare->point[i].ns);
    }
    kvc_profile_summarize(profile, "%-22s %9.4g .. %.4g ns of a read, which api = \"getk\" saves",
                          "compare keys", low_ns, high_ns);
}

static void summarize(const struct kvc_megakv_measurement *measurement, bool on_gpu,
                      struct kvc_profile *profile)
{
    kvc_profile_summarize(profile, "Mega-KV's index is on  %s", on_gpu ? "the GPU" : "one thread");
    summarize_curve(profile, "receive a frame", &measurement->receive.fit, "request");
    summarize_curve(profile, "write an item", &measurement->write.fit, "byte");
    summarize_curve(profile, "read an item", &measurement->read.fit, "byte");
    summarize_comparison(&measurement->compare.curve, profile);
    summarize_curve(profile, "search", &measurement->search.fit, "job");
    summarize_curve(profile, "insert", &measurement->insert.fit, "job");
    summarize_curve(profile, "delete", &measurement->erase.fit, "job");
}

/* Returns the options of the launches. On a GPU, also as many streams as the machine has pipelines are
 * measured. */
static struct kvc_megakv_index_options index_options(bool is_quick, bool on_gpu, uint32_t pipelines)
{
    struct kvc_megakv_index_options options = is_quick ? quick_index : on_gpu ? full_on_gpu : full_on_thread;
    uint32_t last = 0;
    options.on_gpu = on_gpu;
    while (options.streams[last] > 0 && options.streams[last] < pipelines) {
        last++;
    }
    if (on_gpu) {
        options.streams[last] = pipelines;
        options.streams[last + 1] = 0;
        options.bytes[0] = fmax(options.bytes[0], quick_on_gpu_bytes);
    }
    return options;
}

/* Passes over all points. */
enum { FULL_PASSES = 3, QUICK_PASSES = 2 };

/* Measures everything. */
static enum kvc_status measure(const struct kvc_calibration *calibration, struct launch_fits *launches,
                               struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    bool on_gpu = calibration->machine->gpu.present;
    struct stage_options params = calibration->quick ? quick : full;
    params.cores = kvc_pin_cores();
    struct kvc_megakv_index_options index =
        index_options(calibration->quick, on_gpu, pipelines_of(params.cores));
    enum kvc_status status = KVC_OK;
    if (!calibration->quick) {
        kvc_progress_report(calibration->progress, "launches", 0);
        status = measure_launches(on_gpu, launches, diag);
    }
    uint32_t passes = calibration->quick ? QUICK_PASSES : FULL_PASSES;
    struct kvc_megakv_measurement *pass = kvc_array_of(passes, sizeof(*pass));
    for (uint32_t p = 0; p < passes && status == KVC_OK; p++) {
        status =
            kvc_megakv_measure_index(&index, calibration->steadiness, calibration->progress, &pass[p], diag);
        if (status == KVC_OK) {
            status = measure_stages(&params, calibration->steadiness, calibration->progress, &pass[p], diag);
        }
    }
    if (status == KVC_OK) {
        kvc_steadiness_settle(calibration->steadiness);
        kvc_megakv_measurement_choose(pass, passes, calibration->steadiness, measurement);
        status = kvc_megakv_measurement_fit(measurement, diag);
    }
    free(pass);
    return status;
}

enum kvc_status kvc_megakv_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    double most_bytes = 0;
    struct launch_fits launches;
    for (int i = 0; i < FOOTPRINTS_MAX; i++) {
        most_bytes = fmax(most_bytes, (calibration->quick ? quick : full).items_bytes[i] * items_margin);
    }
    for (int i = 0; i < KVC_MEGAKV_INDEX_LIST_MAX && !calibration->quick; i++) {
        most_bytes = fmax(most_bytes, full_on_thread.bytes[i]);
    }
    enum kvc_status status = kvc_machine_check_memory(most_bytes + beside_bytes, diag);
    struct kvc_megakv_measurement *measurement = kvc_array_of(1, sizeof(*measurement));
    if (status == KVC_OK) {
        status = measure(calibration, &launches, measurement, diag);
    }
    if (status == KVC_OK) {
        add_devices(measurement, calibration->profile);
        if (!calibration->quick) {
            comment_launches(&launches, calibration->profile);
        }
        add_curves(measurement, calibration->profile);
        summarize(measurement, calibration->machine->gpu.present, calibration->profile);
    }
    free(measurement);
    return status;
}
