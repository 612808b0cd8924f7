/* A pipeline's batch: what its receiver hands to the scheduler, and the scheduler to its sender. */
#ifndef KVC_MODELS_MEGAKV_REAL_BUFFER_H
#define KVC_MODELS_MEGAKV_REAL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_megakv_real_buffer {
    uint32_t rows, room; /* requests of any kind */
    uint32_t key_stride;
    bool on_gpu; /* where the index is, which reads the GETs' hashes and writes their locations in place */
    /* GETs */
    uint32_t gets;
    uint8_t *key_bytes;
    uint8_t *keys; /* row i at i * key_stride, zero behind the key */
    uint64_t *hash;
    uint32_t *location; /* after the search */
    double *sent_ns;    /* intended send time, from the start of the measurement */
    /* SETs and DELETEs: done when their batch is */
    uint32_t sets, deletes;
    double *write_sent_ns;
    /* and their index jobs; every SET may evict an item, too */
    uint32_t inserts, erases;
    uint64_t *insert_hash, *erase_hash;
    uint32_t *insert_location, *erase_location;
};

/* false: no memory; kvc_megakv_real_buffer_close frees what there is. */
bool kvc_megakv_real_buffer_open(struct kvc_megakv_real_buffer *buffer, uint32_t room, uint32_t key_stride,
                                 bool on_gpu);
void kvc_megakv_real_buffer_close(struct kvc_megakv_real_buffer *buffer);
void kvc_megakv_real_buffer_clear(struct kvc_megakv_real_buffer *buffer);

#endif
