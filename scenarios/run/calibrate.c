#include "scenarios/run/calibrate.h"

#include <unistd.h>

#include "validate/probes/pin.h"

/* Footprints from what caches hold to far beyond, as a store's are. */
static const struct kvc_megakv_measurement_options full = {{0x1p21, 0x1p26, 0x1p29, 0x1p30}, 4, 2, false, 0};
static const struct kvc_megakv_measurement_options quick = {{0x1p24, 0x1p26}, 2, 1, false, 0};

/* Packets, buffers and index beside the largest slabs. */
static const double beside_bytes = 0x1p30;

static enum kvc_status check_memory(double needed, struct kvc_diag *diag)
{
    double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (free_bytes >= needed) {
        return KVC_OK;
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "calibration needs %.0f MiB of memory, %.0f MiB are free; --quick needs less",
                         needed / 0x1p20, free_bytes / 0x1p20);
}

enum kvc_status kvc_calibrate(const struct kvc_calibration_options *calibration,
                              const struct kvc_progress *progress, struct kvc_machine_report *report,
                              struct kvc_diag *diag)
{
    struct kvc_megakv_measurement_options params = calibration->quick ? quick : full;
    double largest_bytes = params.slab_bytes[params.footprints - 1];
    *report = (struct kvc_machine_report){.version = calibration->version};
    enum kvc_status status = check_memory(2.5 * largest_bytes + beside_bytes, diag);
    kvc_machine_ask(&report->facts);
    params.cores = kvc_pin_cores();
    kvc_pin_core(0);
    if (status == KVC_OK && progress != NULL) {
        progress->report(progress->data, "memory", 0);
    }
    if (status == KVC_OK) {
        status = kvc_memory_latency_measure((uint64_t)largest_bytes, &report->memory, diag);
    }
    if (status == KVC_OK) {
        status = kvc_handoffs_measure(params.cores, &report->handoffs, diag);
    }
    if (status == KVC_OK) {
        status = kvc_cores_measure(&report->cores, diag);
    }
    if (status == KVC_OK && progress != NULL) {
        progress->report(progress->data, "launches", 0);
    }
    if (status == KVC_OK) {
        status = kvc_gpu_measure(&report->gpu, diag);
    }
    params.on_gpu = report->gpu.present;
    if (status == KVC_OK) {
        status = kvc_megakv_measure_launches(params.on_gpu, &report->launches, diag);
    }
    if (status == KVC_OK) {
        status = kvc_megakv_measure_stages(&params, &report->steadiness, progress, &report->stages, diag);
    }
    return status;
}
