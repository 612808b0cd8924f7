#include "models/memcachedgpu/real/calibrate.h"

#include "sim/probes/machine.h"

#ifndef KVC_HAVE_CUDA

enum kvc_status kvc_memcachedgpu_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    (void)diag;
    kvc_profile_summarize(calibration->profile, "MemcachedGPU is not measured: built without CUDA");
    return KVC_OK;
}

#else

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/memcachedgpu/get_cuda.h"

#include "models/memcachedgpu/real/derive.h"

static const char costs_device[] = "memcachedgpu_costs";

static void add_costs(const struct kvc_memcachedgpu_survey *survey,
                      const struct kvc_memcachedgpu_derived *derived, double cpu_hz,
                      struct kvc_profile *profile)
{
    kvc_profile_name(profile, costs_device, "MemcachedGPU's own code on this machine");
    kvc_profile_value(profile, costs_device, "clock", derived->clock_hz / 1e6, "MHz",
                      "cycles of a chain of accesses over its time");
    kvc_profile_value(profile, costs_device, "block_cycles", derived->block_cycles, "",
                      "the kernel of 512 hits that have just arrived, less %.2f accesses of %.0f cycles",
                      derived->accesses, survey->far.cycles);
    kvc_profile_value(profile, costs_device, "accesses", derived->accesses, "",
                      "what it takes longer than with all lines in the cache, over %.0f cycles",
                      survey->far.cycles - survey->near.cycles);
    kvc_profile_value(profile, costs_device, "key_cycles", derived->key_cycles, "",
                      "slope of such kernels over keys of 16, 64 and 128 bytes");
    kvc_profile_value(profile, costs_device, "packet_cycles", derived->packet_cycles, "",
                      "slope of the kernel's time between the two largest batches, times %u multiprocessors",
                      survey->multiprocessors);
    kvc_profile_value(profile, costs_device, "set_cycles", derived->set_cycles, "",
                      "a SET of a held key, %.0f cycles, quartiles %.0f .. %.0f, less as many accesses",
                      survey->set_cycles.middle, survey->set_cycles.low, survey->set_cycles.high);
    kvc_profile_value(profile, costs_device, "call", derived->call_ns, "ns",
                      "a batch of 512 with three copies in a thread that makes six calls for it");
    if (!isnan(derived->call_polled_ns)) {
        kvc_profile_value(profile, costs_device, "call_polled", derived->call_polled_ns, "ns",
                          "the same while another thread asks for an event that is pending");
    }
    kvc_profile_value(profile, costs_device, "block_shared", kvc_memcachedgpu_get_cuda_shared_bytes(), "B",
                      "as the kernel declares it");
    kvc_profile_value(profile, costs_device, "host_clock", cpu_hz / 1e6, "MHz", "as the system reports it");
    kvc_profile_value(profile, costs_device, "answer", derived->answer_ns, "ns",
                      "a response whose lines are all in caches; %.1f ns with values in 1 GiB of slabs",
                      survey->answer_far_ns.middle);
}

/* Adds the lines of the survey as comments. */
static enum kvc_status comment_survey(const struct kvc_memcachedgpu_survey *survey,
                                      struct kvc_profile *profile, struct kvc_diag *diag)
{
    char *text = NULL, *rest = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the lines of a survey");
    }
    kvc_memcachedgpu_survey_write(survey, out);
    fclose(out);
    kvc_profile_comment(profile, "MemcachedGPU, a table of 2 GiB that is half full:");
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        kvc_profile_comment(profile, "  %s", line);
    }
    free(text);
    return KVC_OK;
}

static enum kvc_status add_survey(const struct kvc_memcachedgpu_survey *survey,
                                  const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    struct kvc_profile *profile = calibration->profile;
    struct kvc_memcachedgpu_derived derived;
    if (!kvc_memcachedgpu_derive(survey, &derived)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "the GPU's cache and memory take the same time: no costs follow from that");
    }
    add_costs(survey, &derived, calibration->machine->facts.clock_hz, profile);
    kvc_profile_summarize(profile, "%-22s %9.0f cycles and %.2f accesses of %.0f ns", "a kernel of 512 GETs",
                          derived.block_cycles, derived.accesses, survey->far.ns);
    kvc_profile_summarize(profile, "%-22s %9.1f cycles of a multiprocessor", "a GET in large batches",
                          derived.packet_cycles);
    kvc_profile_summarize(profile, "%-22s %9.0f ns", "a CUDA call", derived.call_ns);
    kvc_profile_summarize(profile, "%-22s %9.1f ns, and %.1f ns with values in memory", "a response",
                          derived.answer_ns, survey->answer_far_ns.middle);
    return calibration->quick ? KVC_OK : comment_survey(survey, profile, diag);
}

enum kvc_status kvc_memcachedgpu_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    if (!calibration->machine->gpu.present) {
        kvc_profile_summarize(calibration->profile, "MemcachedGPU is not measured: no GPU was found");
        return KVC_OK;
    }
    struct kvc_memcachedgpu_survey *survey = calloc(1, sizeof(*survey));
    if (survey == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a survey");
    }
    enum kvc_status status =
        kvc_memcachedgpu_survey_run(survey, calibration->quick, calibration->progress, diag);
    kvc_steadiness_check(calibration->steadiness);
    if (status == KVC_OK) {
        status = add_survey(survey, calibration, diag);
    }
    free(survey);
    return status;
}

#endif
