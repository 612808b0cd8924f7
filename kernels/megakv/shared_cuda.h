/** @file
 * A GPU that answers queries from a store in the host's memory: DIDO's tasks search, insert, delete, KC, RD
 * and WR on the published cuckoo table (cuckoo.h) and the slab store (slab.h), one thread a query.
 *
 * There is one copy of the data. Its memory and the memory of the batches are pinned and mapped into the
 * GPU's address space (kvc_cuda_share), so the GPU reads and writes it in place, over PCIe, while threads of
 * the host use it too:
 *   - Atomic operations of the GPU on the host's memory are not atomic for the host. So only one side may
 * change the table while both use it: either the GPU inserts and erases, or threads of the host do.
 *   - The GPU changes a bucket under locks in its own memory, with plain stores of 4 bytes: a location before
 * its signature, and a moved element's new place before its old one. The host's searches allow that.
 *   - A search of the GPU reads words in the order in which the host's writer relies on. If elements moved
 *     meanwhile, it makes sure that signature and location belong together, or searches again.
 *   - The GPU reads items as kvc_megakv_slab_read() does: a changed header reveals an item that was rewritten
 *     meanwhile. It does not mark items as referenced; kvc_megakv_slab_mark() does that on the host.
 *
 * Calls of one object run one after another, those that end in _begin in its stream.
 */
#ifndef KVC_KERNELS_MEGAKV_SHARED_CUDA_H
#define KVC_KERNELS_MEGAKV_SHARED_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cuda.h"
#include "kernels/index.h"
#include "kernels/megakv/slab.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The tasks, as bits. */
enum kvc_megakv_shared_task {
    KVC_MEGAKV_SHARED_SEARCH = 1 << 0,  /**< Finds the locations of the GETs. */
    KVC_MEGAKV_SHARED_INSERT = 1 << 1,  /**< Adds the locations of the SETs that have one. */
    KVC_MEGAKV_SHARED_ERASE = 1 << 2,   /**< Removes the locations of evicted items and of DELETEs. */
    KVC_MEGAKV_SHARED_COMPARE = 1 << 3, /**< KC: compares the keys of the GETs. */
    KVC_MEGAKV_SHARED_READ = 1 << 4,    /**< RD: reads the values of the GETs. */
    KVC_MEGAKV_SHARED_RESPOND = 1 << 5, /**< WR: writes the responses. */
};

/** Queries that belong together, as threads of the host see them. */
struct kvc_megakv_shared_set {
    uint32_t first;     /**< First row. */
    uint32_t rows;      /**< Number of rows. */
    uint32_t evictions; /**< Items evicted for them; their list begins at evicted[first]. */
};

/** A batch. All arrays are by row and lie in memory that the device shares. */
struct kvc_megakv_shared_batch {
    uint32_t rows;                           /**< Queries. */
    uint32_t sets;                           /**< Sets that they are divided into. */
    uint32_t key_stride;                     /**< Distance between two keys [bytes], a multiple of 8. */
    uint32_t value_stride;                   /**< Room for a value [bytes], a multiple of 8. */
    const struct kvc_megakv_shared_set *set; /**< Sets. */
    const struct kvc_megakv_slab_evicted
        *evicted;             /**< Evicted items; the items of a set begin at its first row. */
    const uint8_t *op;        /**< enum kvc_megakv_packet_op. */
    const uint8_t *keys;      /**< Keys, padded with zeros. */
    const uint8_t *key_bytes; /**< Lengths of the keys [bytes]. */
    const uint64_t *hash;     /**< Hashes of the keys. */
    /** Locations. SEARCH sets the location of a GET, and COMPARE changes it to KVC_LOCATION_NONE if the item
     * holds another key. The caller gives the location of a SET's new item. ERASE sets the location that a
     * DELETE has removed, or KVC_LOCATION_NONE. */
    uint32_t *location;
    uint8_t *result;      /**< Receives enum kvc_megakv_slab_read_result, from COMPARE and from READ. */
    uint32_t *read_bytes; /**< Lengths of the values that were read [bytes]; 0 for anything but a hit. */
    /** Values. READ without RESPOND writes the value of row i to i * value_stride. RESPOND without READ finds
     * the values of a set one after another, beginning at the place of its first row. */
    uint8_t *values;
    /** Responses. The response of row i begins at i * (8 + value_stride): a header (the operation, from bit
     * 16 on whether it is a hit, from bit 32 on the length of the value), then the value. */
    uint8_t *responses;
};

/** A store that host and device share. */
struct kvc_megakv_shared;

/** Returns whether the device's work on a batch can hold these tasks: at least one of them, and READ between
 * COMPARE or SEARCH and RESPOND. */
bool kvc_megakv_shared_allows(uint32_t tasks);

/** Shares the table and the store, which must outlive the object. Returns NULL with errno EINVAL (the table
 * has another geometry than the published one), ENODEV (no device), ENOMEM, or EIO (the device or the system
 * refuses to share memory; kvc_cuda_error() says why). */
struct kvc_megakv_shared *kvc_megakv_shared_create(struct kvc_index *index, struct kvc_megakv_slab *slab);

/** Waits for the device and ends the sharing. NULL is allowed. */
void kvc_megakv_shared_free(struct kvc_megakv_shared *shared);

/** Begins to do tasks on a batch, in this order: SEARCH, COMPARE, READ and RESPOND for each query, INSERT,
 * ERASE. The batch must not change until kvc_megakv_shared_state() says that the work is done. Returns false
 * if the device refuses. */
bool kvc_megakv_shared_begin(struct kvc_megakv_shared *shared, const struct kvc_megakv_shared_batch *batch,
                             uint32_t tasks);

/** Asks without waiting whether the work on the last batch is done. */
enum kvc_cuda_event_state kvc_megakv_shared_state(struct kvc_megakv_shared *shared);

/** Waits for the device and adds its counts since the last call to `stats`; the table then knows its number
 * of elements. Returns false if the device failed. */
bool kvc_megakv_shared_count(struct kvc_megakv_shared *shared, struct kvc_index_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
