#include "models/megakv/real/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "models/megakv/real/launches.h"
#include "models/megakv/real/stage_measurement.h"
#include "sim/base/progress.h"
#include "validate/probes/machine.h"
#include "validate/probes/pin.h"
#include "validate/probes/profile.h"

enum { LINE_BYTES = 64 };

/* The slabs of a full calibration range from a size that fits the caches to the sizes of real stores. A
 * quick calibration uses two smaller sizes. */
static const struct kvc_megakv_measurement_options full = {
    .slab_bytes = {0x1p21, 0x1p26, 0x1p29, 0x1p30}, .footprints = 4, .passes = 2};
static const struct kvc_megakv_measurement_options quick = {
    .slab_bytes = {0x1p24, 0x1p26}, .footprints = 2, .passes = 1};

/* Memory besides the largest slabs: a margin for a store with a high load factor, and room for packets,
 * buffers and indexes. */
static const double slab_margin = 2.5, beside_bytes = 0x1p30;

/* Adds the slope and the base of a fitted line as two costs of the GPU's kernels. */
static void add_kernel(struct kvc_profile *profile, const char *per_op, const char *base,
                       const struct kvc_fit *fit, const char *what)
{
    char text[160];
    kvc_fit_describe(fit, fit->slope, fit->slope_half, text, sizeof(text));
    kvc_profile_value(profile, "gpu.clocks", per_op, fmax(fit->slope, 0), "ns", "%s: %s", what, text);
    kvc_fit_describe(fit, fit->base, fit->base_half, text, sizeof(text));
    kvc_profile_value(profile, "gpu.clocks", base, fmax(fit->base, 0), "ns", "%s: %s", what, text);
}

/* Adds those parameters of cpu, dram and gpu that measurements of the store's own code determine. */
static void add_devices(const struct kvc_megakv_measurement *measurement, struct kvc_profile *profile)
{
    const struct kvc_fit *receive = &measurement->receive.fit, *read = &measurement->read.fit;
    char text[160];
    kvc_fit_describe(receive, receive->slope, receive->slope_half, text, sizeof(text));
    kvc_profile_value(profile, "cpu", "packet", fmax(receive->slope, 0), "ns",
                      "slope of a received frame's time over its GETs: %s", text);
    kvc_fit_describe(read, read->base, read->base_half, text, sizeof(text));
    kvc_profile_value(profile, "dram", "random_line", fmax(read->base, 0), "ns",
                      "base of a GET's time over its item's bytes: %s", text);
    kvc_fit_describe(read, LINE_BYTES * read->slope, LINE_BYTES * read->slope_half, text, sizeof(text));
    kvc_profile_value(profile, "dram", "next_line", fmax(LINE_BYTES * read->slope, 0), "ns",
                      "64 times the slope of the same line: %s", text);
    add_kernel(profile, "search_per_op", "search_base", &measurement->search.fit,
               "launches of searches that hit, all pipelines");
    add_kernel(profile, "insert_per_op", "insert_base", &measurement->insert.fit,
               "launches of inserts and deletes, all pipelines");
}

static void add_curve(struct kvc_profile *profile, const char *name,
                      const struct kvc_megakv_measured_curve *measured)
{
    for (uint32_t i = 0; i < measured->curve.count; i++) {
        const struct kvc_megakv_cost_point *point = &measured->curve.point[i];
        const struct kvc_profile_point row = {.size = point->size,
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
    uint32_t points = 0, disagreeing = 0;
    kvc_profile_name(profile, kvc_megakv_cost_profile_kind.name, "Mega-KV's own code on this machine");
    for (int i = 0; i < KVC_MEGAKV_MEASURED_CURVES; i++) {
        const struct kvc_megakv_named_curve *named = &kvc_megakv_named_curves[i];
        const struct kvc_megakv_measured_curve *curve = kvc_megakv_curve_of(measurement, named);
        add_curve(profile, named->name, curve);
        points += curve->curve.count;
        disagreeing += curve->disagreeing;
    }
    kvc_profile_comment(profile, "Two passes differ by more than 10 %% at %u of %u points of the stages.",
                        disagreeing, points);
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
    summarize_curve(profile, "insert and delete", &measurement->insert.fit, "job");
}

enum kvc_status kvc_megakv_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    struct kvc_megakv_measurement_options params = calibration->quick ? quick : full;
    struct kvc_megakv_launch_fits launches;
    params.on_gpu = calibration->machine->gpu.present;
    params.cores = kvc_pin_cores();
    enum kvc_status status =
        kvc_machine_check_memory(slab_margin * params.slab_bytes[params.footprints - 1] + beside_bytes, diag);
    struct kvc_megakv_measurement *measurement = NULL;
    if (status == KVC_OK && (measurement = malloc(sizeof(*measurement))) == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a measurement");
    }
    if (status == KVC_OK) {
        kvc_progress_report(calibration->progress, "launches", 0);
        status = kvc_megakv_measure_launches(params.on_gpu, &launches, diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_measure_stages(&params, calibration->steadiness, calibration->progress,
                                           measurement, diag);
    }
    if (status == KVC_OK) {
        add_devices(measurement, calibration->profile);
        comment_launches(&launches, calibration->profile);
        add_curves(measurement, calibration->profile);
        summarize(measurement, params.on_gpu, calibration->profile);
    }
    free(measurement);
    return status;
}
