#include "models/memcachedgpu/real/derive.h"

#include <math.h>
#include <stddef.h>

enum {
    SHORT_KEY_BYTES = 16,
    BATCH = 512, /* Its blocks have a multiprocessor each, and copies do not limit it. */
    CALLS = 6,   /* Of a copied batch: copy in, launch, copy out, copy rows out, record, ask. */
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

/* Time of the kernel of a batch, which is that of its slowest block [cycles]. */
static double kernel_cycles(const struct kvc_memcachedgpu_survey_batch *row,
                            const struct kvc_memcachedgpu_derived *derived)
{
    return row->kernel_ns.middle * derived->clock_hz / 1e9;
}

/* Fills in what a batch tells whose blocks run side by side. */
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

/* Fills in the slope of the least squares over the lengths of keys. */
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

/* Fills in the slope between the two largest batches. */
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

/* Returns the highest rate of copied batches, which the calls of one thread limit [Mops]; 0: there are none.
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

/* Fills in the times of a call. */
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
