#include "scenarios/run/calibrate.h"

#include "models/registry.h"
#include "sim/probes/pin.h"

/* Largest working set of the memory probe, far beyond the caches. */
static const uint64_t full_bytes = UINT64_C(1) << 30, quick_bytes = UINT64_C(1) << 26;

/* Largest working set on both kinds of pages of a quick calibration, which has an index of that size. */
static const uint64_t quick_pages_bytes = UINT64_C(1) << 28;

/* Time that may be lost because the machine is disturbed [s]. */
static const double endurance_s = 120;

/* Lines of a working set that a repetition follows. Fewer tell as much about the small sets of a quick one.
 */
enum { FULL_LINES = 1 << 18, QUICK_LINES = FULL_LINES / 4 };

static enum kvc_status probe(struct kvc_probed_machine *machine, bool is_quick,
                             const struct kvc_progress *progress, struct kvc_diag *diag)
{
    uint64_t working_set_bytes = is_quick ? quick_bytes : full_bytes;
    kvc_machine_ask(&machine->facts);
    uint32_t cores = kvc_pin_cores();
    kvc_pin_core(0);
    enum kvc_status status = kvc_machine_check_memory((double)working_set_bytes, diag);
    if (status == KVC_OK) {
        kvc_progress_report(progress, "memory", 0);
        status = kvc_memory_latency_measure(working_set_bytes, is_quick ? QUICK_LINES : FULL_LINES,
                                            &machine->memory, diag);
    }
    if (status == KVC_OK) {
        kvc_progress_report(progress, "memory on small pages", 0);
        status = kvc_page_costs_measure(is_quick ? quick_pages_bytes : full_bytes, &machine->pages, diag);
    }
    if (status == KVC_OK) {
        kvc_progress_report(progress, "memory beside a co-runner", 0);
        status = kvc_contention_measure(cores, &machine->contention, diag);
    }
    if (status == KVC_OK) {
        status = kvc_handoffs_measure(cores, &machine->handoffs, diag);
    }
    if (status == KVC_OK) {
        status = kvc_cores_measure(&machine->cores, diag);
    }
    if (status == KVC_OK) {
        kvc_progress_report(progress, "GPU", 0);
        status = kvc_gpu_measure(&machine->gpu, diag);
    }
    return status;
}

enum kvc_status kvc_calibrate(const struct kvc_calibration_options *options,
                              const struct kvc_progress *progress, struct kvc_calibrated *calibrated,
                              struct kvc_diag *diag)
{
    *calibrated = (struct kvc_calibrated){.profile = NULL};
    enum kvc_status status = probe(&calibrated->machine, options->quick, progress, diag);
    if (status != KVC_OK) {
        return status;
    }
    calibrated->steadiness.endurance_s = endurance_s;
    calibrated->profile = kvc_machine_profile(&calibrated->machine, options->version);
    const struct kvc_calibration calibration = {.machine = &calibrated->machine,
                                                .quick = options->quick,
                                                .steadiness = &calibrated->steadiness,
                                                .progress = progress,
                                                .profile = calibrated->profile};
    for (size_t i = 0; status == KVC_OK && kvc_models[i] != NULL; i++) {
        if (kvc_models[i]->calibrate != NULL) {
            status = kvc_models[i]->calibrate(&calibration, diag);
        }
    }
    if (status == KVC_OK && calibrated->steadiness.endurance_s <= 0) {
        status = kvc_diag_fail(
            diag, KVC_ERR_RUNTIME,
            "for %.0f s in all, this machine's memory was slower than in any of its usual states; "
            "calibrate again when nothing else uses the machine",
            endurance_s);
    }
    kvc_machine_add_core_speed(&calibrated->machine, &calibrated->steadiness, calibrated->profile);
    kvc_machine_add_memory_speed(&calibrated->steadiness, calibrated->profile);
    kvc_machine_comment(&calibrated->machine, &calibrated->steadiness, calibrated->profile);
    return status;
}

void kvc_calibrated_free(struct kvc_calibrated *calibrated)
{
    kvc_steadiness_free(&calibrated->steadiness);
    kvc_profile_free(calibrated->profile);
    calibrated->profile = NULL;
}
