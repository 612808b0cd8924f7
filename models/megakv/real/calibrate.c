#include "models/megakv/real/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "models/megakv/real/index_measurement.h"
#include "models/megakv/real/launches.h"
#include "models/megakv/real/stage_measurement.h"
#include "sim/base/progress.h"
#include "sim/probes/machine.h"
#include "sim/probes/pin.h"
#include "sim/probes/profile.h"

enum { LINE_BYTES = 64 };

/* Stores from a size that fits the caches next to a core to the sizes of real ones; keys and values from the
 * shortest to the longest. Keys of 8 bytes are the most common ones, and their items take from 1 to 129 cache
 * lines. */
static const struct kvc_megakv_measurement_options full = {.nearby_bytes = 0x1p15,
                                                           .items_bytes = {0x1p21, 0x1p26, 0x1p30},
                                                           .shapes = {{8, {2, 8, 16, 64, 256, 1024, 8192}},
                                                                      {16, {2, 64, 256, 1024, 8192}},
                                                                      {64, {8, 64, 256, 1024, 8192}},
                                                                      {250, {2, 64, 1024, 8192}}},
                                                           .usual_value_bytes = 8,
                                                           .frames = {1, 8, 32, 92}};
static const struct kvc_megakv_measurement_options quick = {
    .nearby_bytes = 0x1p15,
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
static const struct kvc_megakv_index_options quick_index = {
    .bytes = {0x1p20, 0x1p26}, .load_frac = {0.5, 0.9}, .jobs = {64, 1024, 8192, 65536}, .streams = {1}};

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

static void comment_launches(const struct kvc_megakv_launch_fits *launches, struct kvc_profile *profile)
{
    kvc_profile_comment(profile,
                        "Launches of an index of %llu MiB alone, T = k jobs + b, 256 to 65536 jobs, by load "
                        "factor; 95 %%:",
                        (unsigned long long)(launches->table_bytes >> 20));
    kvc_profile_comment(profile,
                        "  table                  load  operation   k, ns            b, us            worst");
    for (int i = 0; i < KVC_MEGAKV_LAUNCH_FITS; i++) {
        const struct kvc_megakv_launch_fit *row = &launches->fit[i];
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

/* Returns the options of the launches. A GPU runs as many streams as the machine has pipelines, too. */
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
    }
    return options;
}

/* Measures everything. */
static enum kvc_status measure(const struct kvc_calibration *calibration,
                               struct kvc_megakv_launch_fits *launches,
                               struct kvc_megakv_measurement *measurement, struct kvc_diag *diag)
{
    bool on_gpu = calibration->machine->gpu.present;
    struct kvc_megakv_measurement_options params = calibration->quick ? quick : full;
    params.cores = kvc_pin_cores();
    struct kvc_megakv_index_options index =
        index_options(calibration->quick, on_gpu, kvc_megakv_pipelines_of(params.cores));
    enum kvc_status status = KVC_OK;
    if (!calibration->quick) {
        kvc_progress_report(calibration->progress, "launches", 0);
        status = kvc_megakv_measure_launches(on_gpu, launches, diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_measure_index(&index, calibration->steadiness, calibration->progress, measurement,
                                          diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_measure_stages(&params, calibration->steadiness, calibration->progress,
                                           measurement, diag);
    }
    return status == KVC_OK ? kvc_megakv_measurement_fit(measurement, diag) : status;
}

enum kvc_status kvc_megakv_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    double most_bytes = 0;
    struct kvc_megakv_launch_fits launches;
    for (int i = 0; i < KVC_MEGAKV_FOOTPRINTS_MAX; i++) {
        most_bytes = fmax(most_bytes, (calibration->quick ? quick : full).items_bytes[i] * items_margin);
    }
    for (int i = 0; i < KVC_MEGAKV_INDEX_LIST_MAX && !calibration->quick; i++) {
        most_bytes = fmax(most_bytes, full_on_thread.bytes[i]);
    }
    enum kvc_status status = kvc_machine_check_memory(most_bytes + beside_bytes, diag);
    struct kvc_megakv_measurement *measurement = NULL;
    if (status == KVC_OK && (measurement = calloc(1, sizeof(*measurement))) == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a measurement");
    }
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
