/* What a sender does with the rows of a searched batch: reads the items, copies their values out, checks them
 * and takes the latencies. */
#ifndef KVC_MODELS_MEGAKV_REAL_ANSWER_H
#define KVC_MODELS_MEGAKV_REAL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/options.h"
#include "sim/metrics/histogram.h"
#include "models/megakv/real/buffer.h"

struct kvc_megakv_real_answerer {
    struct kvc_megakv_slab *slab;
    double started_s;         /* wall clock that all times count from */
    double from_ns, until_ns; /* answers within are counted */
    bool time_writes;         /* latencies are those of the writes: the load has no GETs */
    uint32_t rows_max;        /* answered together, up to KVC_MEGAKV_SEND_ROWS */
    uint8_t *values;          /* where they are copied to */
    struct kvc_histogram *latency;
    struct kvc_megakv_slab_stats stats;
    uint64_t answered;                               /* in all */
    uint64_t completed, hits, misses, sets, deletes; /* within the time */
    uint64_t wrong;                                  /* values that are not their key's */
    uint8_t result[KVC_MEGAKV_SEND_ROWS];
    uint32_t value_bytes[KVC_MEGAKV_SEND_ROWS];
    double done_ns[KVC_MEGAKV_SEND_ROWS];
};

/* `value_bytes`: the longest. false: no memory; kvc_megakv_real_answerer_close frees what there is. */
bool kvc_megakv_real_answerer_open(struct kvc_megakv_real_answerer *answerer, struct kvc_megakv_slab *slab,
                                   uint32_t value_bytes);
void kvc_megakv_real_answerer_close(struct kvc_megakv_real_answerer *answerer); /* a zeroed one is allowed */

/* GETs [first, first + count) of the buffer, up to rows_max. Under getk it is the client that compares keys;
 * whoever does, a wrong key is no hit. Returns when they were answered. */
double kvc_megakv_real_answer_gets(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, uint32_t first,
                                   uint32_t count);

/* The SETs and DELETEs of the buffer, all at done_ns. */
void kvc_megakv_real_answer_writes(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, double done_ns);

#endif
