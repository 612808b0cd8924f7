#include "models/memcachedgpu/real/derive.h"

#include <math.h>
#include <stddef.h>

enum { SHORT_KEY_BYTES = 16, BLOCK_PACKETS = 32 };

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

/* Fills in what a single block tells. */
static bool derive_block(const struct kvc_memcachedgpu_survey *survey,
                         struct kvc_memcachedgpu_derived *derived)
{
    const struct kvc_memcachedgpu_survey_batch *arrived =
        find(survey, SHORT_KEY_BYTES, BLOCK_PACKETS, KVC_MEMCACHEDGPU_LINES_ARRIVED);
    const struct kvc_memcachedgpu_survey_batch *near =
        find(survey, SHORT_KEY_BYTES, BLOCK_PACKETS, KVC_MEMCACHEDGPU_LINES_NEAR);
    if (arrived == NULL || near == NULL || survey->far.cycles <= survey->near.cycles) {
        return false;
    }
    derived->clock_hz = survey->far.cycles / survey->far.ns * 1e9;
    derived->accesses = (arrived->block_cycles.middle - near->block_cycles.middle) /
                        (survey->far.cycles - survey->near.cycles);
    derived->block_cycles = arrived->block_cycles.middle - derived->accesses * survey->far.cycles;
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
        if (row->hits && row->packets == BLOCK_PACKETS && row->lines == KVC_MEMCACHEDGPU_LINES_ARRIVED) {
            double bytes = row->key_bytes, cycles = row->block_cycles.middle;
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

bool kvc_memcachedgpu_derive(const struct kvc_memcachedgpu_survey *survey,
                             struct kvc_memcachedgpu_derived *derived)
{
    static const enum kvc_memcachedgpu_call beginning[] = {
        KVC_MEMCACHEDGPU_CALL_COPY_IN, KVC_MEMCACHEDGPU_CALL_LAUNCH, KVC_MEMCACHEDGPU_CALL_COPY_OUT,
        KVC_MEMCACHEDGPU_CALL_COPY_ROWS, KVC_MEMCACHEDGPU_CALL_RECORD};
    const uint32_t calls = sizeof(beginning) / sizeof(*beginning);
    *derived = (struct kvc_memcachedgpu_derived){.answer_ns = survey->answer_near_ns.middle};
    for (uint32_t c = 0; c < calls; c++) {
        derived->call_ns += survey->call_ns[beginning[c]].middle / calls;
    }
    return derive_block(survey, derived) && derive_keys(survey, derived) && derive_packets(survey, derived);
}
