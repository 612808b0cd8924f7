#include "validate/calibrate/calibrate.h"

#include <unistd.h>

/* Working set of the memory curve, index and slabs: far beyond any cache, as a store's are. */
static const uint64_t full_bytes[] = {UINT64_C(1) << 30, UINT64_C(512) << 20, UINT64_C(1536) << 20};
static const uint64_t quick_bytes[] = {UINT64_C(64) << 20, UINT64_C(32) << 20, UINT64_C(96) << 20};

static enum kvc_status check_memory(uint64_t needed, struct kvc_diag *diag)
{
    uint64_t free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (free_bytes >= needed)
        return KVC_OK;
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                         "calibration needs %llu MiB of memory, %llu MiB are free; --quick needs less",
                         (unsigned long long)(needed >> 20), (unsigned long long)(free_bytes >> 20));
}

enum kvc_status kvc_calibrate(const struct kvc_calibration *calibration, const struct kvc_progress *progress,
                              struct kvc_machine_report *report, struct kvc_diag *diag)
{
    const uint64_t *bytes = calibration->quick ? quick_bytes : full_bytes;
    struct kvc_stage_params stages = {.index_bytes = bytes[1], .slab_bytes = bytes[2]};
    *report = (struct kvc_machine_report){.version = calibration->version};
    /* the largest of its tables, their locations, and something to spare */
    enum kvc_status status = check_memory(bytes[2] + bytes[2] / 4 + (UINT64_C(64) << 20), diag);
    kvc_machine_ask(&report->facts);
    kvc_probe_pin(0);
    kvc_steadiness_check(&report->steadiness);
    if (status == KVC_OK && progress != NULL)
        progress->report(progress->data, "memory", 0);
    if (status == KVC_OK)
        status = kvc_memory_measure(bytes[0], &report->memory, diag);
    kvc_steadiness_check(&report->steadiness);
    if (status == KVC_OK)
        status = kvc_stages_measure(&stages, &report->steadiness, progress, &report->stages, diag);
    if (status == KVC_OK && progress != NULL)
        progress->report(progress->data, "gpu", 0.95);
    if (status == KVC_OK)
        status = kvc_gpu_measure(bytes[1], &report->gpu, diag);
    return status;
}
