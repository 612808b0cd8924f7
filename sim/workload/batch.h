/* A batch of requests as a struct of arrays: what the real system moves as one (a receiver's buffer).
 *
 * Keys have their real bytes. Requests are in the order in which they reach the node. */
#ifndef KVC_SIM_WORKLOAD_BATCH_H
#define KVC_SIM_WORKLOAD_BATCH_H

#include <stdint.h>

enum kvc_op { KVC_OP_GET, KVC_OP_SET, KVC_OP_DELETE, KVC_OP_COUNT };

struct kvc_batch {
    uint32_t count, capacity;
    uint32_t key_stride;   /* bytes from key to key, a multiple of 8 */
    uint8_t *op;           /* enum kvc_op */
    uint8_t *key_bytes;    /* 1..255 */
    uint32_t *value_bytes; /* of the key's value, also for GET and DELETE */
    uint8_t *keys;         /* capacity * key_stride bytes; zero behind each key */
    uint64_t *key_id;      /* 0 is the most popular key; for traces, the hash */
    uint64_t *hash;        /* kvc_hash of the key's bytes */
    double *sent_ns;       /* intended send time at the client; latency counts from here */
    uint32_t *client;      /* closed loop: who sent it; else 0 */
};

void kvc_batch_free(struct kvc_batch *batch); /* frees the arrays and the struct; NULL is allowed */

/* NULL when memory is short. */
struct kvc_batch *kvc_batch_create(uint32_t capacity, uint32_t key_stride);

#endif
