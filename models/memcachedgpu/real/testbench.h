/* A table on the GPU and prepared GETs for it, for measurements of the GET kernel. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_TESTBENCH_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_TESTBENCH_H

#include "models/memcachedgpu/real/lane.h"
#include "sim/base/diag.h"
#include "sim/base/rng.h"

/* Largest number of packets in a batch. */
enum { KVC_MEMCACHEDGPU_TESTBENCH_BATCH_MAX = 65536 };

struct kvc_memcachedgpu_testbench {
    struct kvc_index *index;
    uint32_t key_bytes;
    uint64_t stored; /* Keys 0 to stored - 1 are in the table. */
    struct kvc_rng rng;
    uint32_t now; /* Timestamp of the next batch. */
    /* Prepared batches. */
    struct kvc_memcachedgpu_real_layout layout;
    uint32_t batches;
    uint8_t *images;        /* In pinned host memory. */
    uint8_t *device_images; /* Copy of the images in device memory. */
    void *scratch;          /* Zeros in device memory; reading them evicts other lines from the caches. */
};

/* Size of the scratch memory, a power of two beyond the caches of a GPU [bytes]. */
#define KVC_MEMCACHEDGPU_TESTBENCH_SCRATCH_BYTES (UINT64_C(1) << 31)

/* Opens a half-full table of `bytes` bytes and 16 ways for keys of one length. It must be closed even after a
 * failure. Returns KVC_ERR_RUNTIME if there is no device or not enough memory. */
enum kvc_status kvc_memcachedgpu_testbench_open(struct kvc_memcachedgpu_testbench *bench, uint64_t bytes,
                                                uint32_t key_bytes, struct kvc_diag *diag);
void kvc_memcachedgpu_testbench_close(struct kvc_memcachedgpu_testbench *bench);

/* Prepares `packets` GETs of different keys in batches of `batch`. The table has these keys if `hits`. The
 * GETs replace the earlier ones. */
enum kvc_status kvc_memcachedgpu_testbench_prepare(struct kvc_memcachedgpu_testbench *bench, uint32_t batch,
                                                   uint32_t packets, bool hits, struct kvc_diag *diag);

/* Returns image `number` modulo the number of images, on the host or on the device. */
const uint8_t *kvc_memcachedgpu_testbench_image(const struct kvc_memcachedgpu_testbench *bench,
                                                uint64_t number, bool on_device);

/* Fills the GPU's second-level cache with other lines. Returns false if the device failed. */
bool kvc_memcachedgpu_testbench_flush(struct kvc_memcachedgpu_testbench *bench);

/* A batch of SETs in pinned host memory, and its copy in device memory. */
struct kvc_memcachedgpu_testbench_sets {
    uint8_t *keys, *device_keys;
    uint32_t *offset, *device_offset;
    uint8_t *bytes, *device_bytes;
    struct kvc_set_assoc_item *items, *device_items;
    struct kvc_set_assoc_item *out; /* Items that have left the table. */
    uint64_t *cycles;               /* Cycles of each SET. */
    uint32_t room, key_bytes;
};
bool kvc_memcachedgpu_testbench_sets_open(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t room,
                                          uint32_t key_bytes);
void kvc_memcachedgpu_testbench_sets_close(struct kvc_memcachedgpu_testbench_sets *sets);
/* Puts key `id` of any length, with location `id`, into place i. */
void kvc_memcachedgpu_testbench_sets_put_sized(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t i,
                                               uint64_t id, uint32_t key_bytes, uint32_t value_bytes);
/* Puts key `id` of sets->key_bytes bytes with a short value into place i. */
void kvc_memcachedgpu_testbench_sets_put(struct kvc_memcachedgpu_testbench_sets *sets, uint32_t i,
                                         uint64_t id);
/* Copies `count` SETs to the device and starts them as one launch. Returns false if the device refuses. */
bool kvc_memcachedgpu_testbench_sets_begin(struct kvc_memcachedgpu_testbench_sets *sets,
                                           struct kvc_index *index, uint32_t count, uint32_t now,
                                           struct kvc_cuda_stream *stream);

#endif
