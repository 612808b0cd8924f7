/* The sender's work on a searched batch: it reads the items, copies out their values, checks them and records
 * the latencies.
 *
 * With api = "get" the sender compares the keys. With "getk" the client does, and the sender reads neither
 * the requested key nor the item's. Not modelled: with "getk" the sender would copy the item's key, too. */
#ifndef KVC_MODELS_MEGAKV_REAL_ANSWER_H
#define KVC_MODELS_MEGAKV_REAL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/config.h"
#include "models/megakv/real/buffer.h"
#include "sim/metrics/histogram.h"

struct kvc_megakv_real_answerer {
    struct kvc_megakv_slab *slab;
    double started_s;         /* Wall clock at time 0 [s]. */
    double from_ns, until_ns; /* The measured time [ns]; answers within it count. */
    bool time_writes;         /* Records the latencies of SETs and DELETEs, for a load without GETs. */
    bool compare;             /* The sender compares the keys; false: the client does. */
    uint32_t rows_max;        /* Rows that one call answers, at most KVC_MEGAKV_SEND_ROWS. */
    uint8_t *values;          /* The buffer that the values are copied to. */
    struct kvc_histogram *latency;
    struct kvc_megakv_slab_stats stats;
    uint64_t answered;                               /* Requests answered in all. */
    uint64_t completed, hits, misses, sets, deletes; /* Requests answered within the measured time. */
    double
        oldest_sent_ns; /* Earliest send time among the answers; the observer of the answers resets this. */
    uint64_t wrong;     /* Values that do not belong to their keys. */
    uint8_t result[KVC_MEGAKV_SEND_ROWS];
    uint32_t wrong_row[KVC_MEGAKV_SEND_ROWS];
    uint32_t value_bytes[KVC_MEGAKV_SEND_ROWS];
    double done_ns[KVC_MEGAKV_SEND_ROWS];
};

/* Opens an answerer. `value_bytes` is the length of the longest value. Returns false if memory is short;
 * the answerer must be closed even then. */
bool kvc_megakv_real_answerer_open(struct kvc_megakv_real_answerer *answerer, struct kvc_megakv_slab *slab,
                                   uint32_t value_bytes);
/* A zeroed answerer is allowed. */
void kvc_megakv_real_answerer_close(struct kvc_megakv_real_answerer *answerer);

/* Answers the GETs [first, first + count) of the buffer; `count` is at most rows_max. An item whose key
 * differs from the requested one is a miss, no matter who compares the keys. The client does so after the
 * time of the answers, by the value: it begins with the hash of its key. An empty value of another key
 * therefore counts as a hit. Returns the time of the answers [ns]. */
double kvc_megakv_real_answer_gets(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, uint32_t first,
                                   uint32_t count);

/* Answers the SETs and DELETEs of the buffer, all at `done_ns`. */
void kvc_megakv_real_answer_writes(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, double done_ns);

#endif
