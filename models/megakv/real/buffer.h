/* The batch of a pipeline: the receiver fills it, the scheduler searches it and the sender answers it. */
#ifndef KVC_MODELS_MEGAKV_REAL_BUFFER_H
#define KVC_MODELS_MEGAKV_REAL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_megakv_real_buffer {
    uint32_t rows, room; /* Requests of any kind, and how many fit. */
    uint32_t key_stride; /* Distance between two keys [bytes]. */
    bool on_gpu;         /* The GPU reads the GETs' hashes and writes their locations in place. */
    /* The GETs. */
    uint32_t gets;
    uint8_t *key_bytes;
    uint8_t *keys; /* Key i at i * key_stride, padded with zeros. */
    uint64_t *hash;
    uint32_t *location; /* Set by the search. */
    double *sent_ns;    /* Intended send time, from the start of the measurement [ns]. */
    /* The SETs and DELETEs, which complete together with their batch. */
    uint32_t sets, deletes;
    double *write_sent_ns;
    /* Index jobs of the buffer; a SET may add an erase, because it may evict an item. */
    uint32_t inserts, erases;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
};

/* Opens a buffer for `room` requests. Returns false if memory is short; the buffer must be closed even
 * then. */
bool kvc_megakv_real_buffer_open(struct kvc_megakv_real_buffer *buffer, uint32_t room, uint32_t key_stride,
                                 bool on_gpu);
void kvc_megakv_real_buffer_close(struct kvc_megakv_real_buffer *buffer);

/* Removes all requests. */
void kvc_megakv_real_buffer_clear(struct kvc_megakv_real_buffer *buffer);

#endif
