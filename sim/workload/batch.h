/** @file
 * A batch of requests as a struct of arrays. It corresponds to a unit that the real system moves as a
 * whole, such as a receive buffer.
 *
 * Keys have their real bytes. Requests are in the order in which they reach the node. */
#ifndef KVC_SIM_WORKLOAD_BATCH_H
#define KVC_SIM_WORKLOAD_BATCH_H

#include <stdint.h>

/** The operation of a request. */
enum kvc_op {
    KVC_OP_GET,    /**< Reads a value. */
    KVC_OP_SET,    /**< Writes a value. */
    KVC_OP_DELETE, /**< Removes a key. */
    KVC_OP_COUNT,  /**< Number of operations. */
};

/** A batch. Each array has `capacity` entries, of which the first `count` are in use. */
struct kvc_batch {
    uint32_t count;        /**< Requests in the batch. */
    uint32_t capacity;     /**< Requests that the batch has room for. */
    uint32_t key_stride;   /**< Distance between two keys in `keys` [bytes], a multiple of 8. */
    uint8_t *op;           /**< enum kvc_op. */
    uint8_t *key_bytes;    /**< Size of the key [bytes], 1 to 255. */
    uint32_t *value_bytes; /**< Size of the key's value [bytes], also for GET and DELETE. */
    uint8_t *keys;         /**< capacity * key_stride bytes; the bytes after each key are zero. */
    uint64_t *key_id;      /**< Rank of the key by popularity, from 0; for a trace, the hash. */
    uint64_t *hash;        /**< kvc_hash of the key's bytes. */
    double *sent_ns;       /**< Intended send time at the client [ns]; latency is counted from here. */
    uint32_t *client;      /**< Closed loop: the client that sent it. Tenants: the tenant. Otherwise 0. */
    double left_ns;        /**< When the frame drained last left its client [ns]; saturating: NaN. */
    uint32_t connection;   /**< Connection of that frame, below kvc_workload_connections(). */
};

/** Frees a batch with its arrays. NULL is allowed. */
void kvc_batch_free(struct kvc_batch *batch);

/** Returns the memory that a batch with room for `room` requests takes when it has held `rows` of them
 * [bytes]. */
double kvc_batch_memory_bytes(double room, double rows, uint32_t key_stride);

/** Creates an empty batch. If memory is short, the program ends (kvc_out_of_memory). */
struct kvc_batch *kvc_batch_create(uint32_t capacity, uint32_t key_stride);

#endif
