#include "models/memcachedgpu/real/calibrate.h"

#include <math.h>
#include <stddef.h>

#include "sim/probes/machine.h"

/* ---- derive ---- */

enum {
    SHORT_KEY_BYTES = 16,
    BATCH = 512, /* Each block of such a batch has a multiprocessor to itself, and copies are not its
                    bottleneck. */
    CALLS = 6,   /* Calls of a copied batch: copy in, launch, copy out, copy rows out, record, query. */
};

static const struct kvc_memcachedgpu_survey_batch *find(const struct kvc_memcachedgpu_survey *survey,
                                                        uint32_t key_bytes, uint32_t packets,
                                                        enum kvc_memcachedgpu_lines lines)
{
    for (uint32_t i = 0; i < survey->batches; i++) {
        const struct kvc_memcachedgpu_survey_batch *row = &survey->batch[i];
        if (row->hits && row->key_bytes == key_bytes && row->packets == packets && row->lines == lines) {
            return row;
        }
    }
    return NULL;
}

/* Returns the time of a batch's kernel, which is the time of its slowest block [cycles]. */
static double kernel_cycles(const struct kvc_memcachedgpu_survey_batch *row,
                            const struct kvc_memcachedgpu_derived *derived)
{
    return row->kernel_ns.middle * derived->clock_hz / 1e9;
}

/* Derives the costs of a block from a batch whose blocks all run at the same time. */
static bool derive_block(const struct kvc_memcachedgpu_survey *survey,
                         struct kvc_memcachedgpu_derived *derived)
{
    const struct kvc_memcachedgpu_survey_batch *arrived =
        find(survey, SHORT_KEY_BYTES, BATCH, KVC_MEMCACHEDGPU_LINES_ARRIVED);
    const struct kvc_memcachedgpu_survey_batch *near =
        find(survey, SHORT_KEY_BYTES, BATCH, KVC_MEMCACHEDGPU_LINES_NEAR);
    if (arrived == NULL || near == NULL || survey->far.cycles <= survey->near.cycles) {
        return false;
    }
    derived->clock_hz = survey->far.cycles / survey->far.ns * 1e9;
    double slowest_cycles = kernel_cycles(arrived, derived);
    derived->accesses =
        (slowest_cycles - kernel_cycles(near, derived)) / (survey->far.cycles - survey->near.cycles);
    derived->block_cycles = slowest_cycles - derived->accesses * survey->far.cycles;
    derived->set_cycles = fmax(survey->set_cycles.middle - derived->accesses * survey->far.cycles, 0);
    return true;
}

/* Derives the cycles per key byte: the least-squares slope over the lengths of keys. */
static bool derive_keys(const struct kvc_memcachedgpu_survey *survey,
                        struct kvc_memcachedgpu_derived *derived)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (uint32_t i = 0; i < survey->batches; i++) {
        const struct kvc_memcachedgpu_survey_batch *row = &survey->batch[i];
        if (row->hits && row->packets == BATCH && row->lines == KVC_MEMCACHEDGPU_LINES_ARRIVED) {
            double bytes = row->key_bytes, cycles = kernel_cycles(row, derived);
            n++;
            x += bytes;
            y += cycles;
            xx += bytes * bytes;
            xy += bytes * cycles;
        }
    }
    double spread = n * xx - x * x;
    derived->key_cycles = spread > 0 ? (n * xy - x * y) / spread : 0;
    return spread > 0;
}

/* Derives the cycles per packet: the slope between the two largest batches. */
static bool derive_packets(const struct kvc_memcachedgpu_survey *survey,
                           struct kvc_memcachedgpu_derived *derived)
{
    const struct kvc_memcachedgpu_survey_batch *largest = NULL, *second = NULL;
    for (uint32_t i = 0; i < survey->batches; i++) {
        const struct kvc_memcachedgpu_survey_batch *row = &survey->batch[i];
        if (!row->hits || row->key_bytes != SHORT_KEY_BYTES || row->lines != KVC_MEMCACHEDGPU_LINES_ARRIVED) {
            continue;
        }
        if (largest == NULL || row->packets > largest->packets) {
            second = largest;
            largest = row;
        } else if (second == NULL || row->packets > second->packets) {
            second = row;
        }
    }
    if (second == NULL) {
        return false;
    }
    derived->packet_cycles = (largest->kernel_ns.middle - second->kernel_ns.middle) /
                             (largest->packets - second->packets) * survey->multiprocessors *
                             derived->clock_hz / 1e9;
    return true;
}

/* Returns the highest rate of copied batches [Mops], which the calls of one thread limit, or 0 if there are
 * none.
 */
static double highest_mops(const struct kvc_memcachedgpu_survey *survey, bool polled)
{
    double mops = 0;
    for (uint32_t i = 0; i < survey->streams_count; i++) {
        const struct kvc_memcachedgpu_survey_streams *row = &survey->streams[i];
        if (row->copied && row->packets == BATCH && row->background_blocks == 0 && row->polled == polled) {
            mops = fmax(mops, row->mops);
        }
    }
    return mops;
}

/* Derives the times of a call. */
static bool derive_calls(const struct kvc_memcachedgpu_survey *survey,
                         struct kvc_memcachedgpu_derived *derived)
{
    double mops = highest_mops(survey, false), polled_mops = highest_mops(survey, true);
    derived->call_ns = mops > 0 ? BATCH / mops * 1e3 / CALLS : 0;
    derived->call_polled_ns = polled_mops > 0 ? BATCH / polled_mops * 1e3 / CALLS : NAN;
    return mops > 0;
}

bool kvc_memcachedgpu_derive(const struct kvc_memcachedgpu_survey *survey,
                             struct kvc_memcachedgpu_derived *derived)
{
    *derived = (struct kvc_memcachedgpu_derived){.answer_ns = survey->answer_near_ns.middle};
    return derive_block(survey, derived) && derive_keys(survey, derived) && derive_packets(survey, derived) &&
           derive_calls(survey, derived);
}

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
