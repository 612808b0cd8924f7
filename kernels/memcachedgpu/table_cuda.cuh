/* The common part of the three tables in device memory: their arrays and the functions of index.h.
 *
 * A table is a struct that derives from table_cuda and offers:
 *  - params, cpu: types of its parameters and of its twin in host memory,
 *  - table: its geometry and memory, as in the twin,
 *  - geometry(), published(): compute the geometry of parameters, and the published parameters,
 *  - params_of(): the parameters of a twin,
 *  - arrays(): calls a function for each of its arrays with the array, that of a twin, which is nullptr if
 *    the twin has none, and its size, until one returns false,
 *  - launch(): starts the kernels of a batch,
 *  - ended(): notes what a batch counted,
 *  - capacity(), used(): as in index.h,
 *  - copy_rest(), download_rest(): copy what arrays() does not cover from and to a twin. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_TABLE_CUDA_CUH
#define KVC_KERNELS_MEMCACHEDGPU_TABLE_CUDA_CUH

#include <cerrno>
#include <new>
#include <type_traits>

#include "kernels/cuda.h"
#include "kernels/memcachedgpu/table.h"
#include "kernels/staging.cuh"

namespace kvc
{

constexpr uint32_t block_threads = 128;
constexpr uint32_t warp_threads = 32;

inline uint32_t blocks_for(uint64_t threads)
{
    return static_cast<uint32_t>((threads + block_threads - 1) / block_threads);
}

__device__ __forceinline__ void add_to(uint64_t *to, uint64_t value)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(value));
}

/* Adds the values of all threads of a warp, all of which call it. */
__device__ __forceinline__ void add_of_warp(uint64_t *to, uint32_t value)
{
    uint32_t sum = __reduce_add_sync(0xffffffffu, value);
    if (threadIdx.x % warp_threads == 0 && sum != 0) {
        add_to(to, sum);
    }
}

/* Allocates zeroed device memory; nullptr with errno. */
inline void *alloc_zeroed(uint64_t bytes)
{
    void *memory = kvc_cuda_alloc(bytes);
    if (memory != nullptr && cudaMemset(memory, 0, bytes) != cudaSuccess) {
        kvc_cuda_free(memory);
        errno = ENODEV;
        memory = nullptr;
    }
    return memory;
}

inline bool copy(void *to, const void *from, uint64_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault) == cudaSuccess;
}

/* The members that all tables begin with. */
struct table_cuda {
    struct kvc_index index;
    struct kvc_index_stats *counted; /* what the batch of a function of index.h counts, in device memory */
    uint32_t clock;                  /* as in struct kvc_table */
    void ended(enum kvc_table_operation, uint32_t, const struct kvc_index_stats &)
    {
    }
};

template <typename TABLE> struct table_index {
    using cpu = typename TABLE::cpu;

    static TABLE *of(struct kvc_index *index)
    {
        return static_cast<TABLE *>(reinterpret_cast<table_cuda *>(index)); /* the first member */
    }

    static const TABLE *of(const struct kvc_index *index)
    {
        return static_cast<const TABLE *>(reinterpret_cast<const table_cuda *>(index));
    }

    /* Performs one call of index.h: makes the arrays accessible to the device, launches, waits and adds the
     * statistics to `stats`, which may be NULL. Nothing is counted if the device fails. */
    static void run(TABLE *self, enum kvc_table_operation operation, const uint64_t *hash,
                    const uint32_t *location, uint32_t *out, uint32_t count, uint32_t now,
                    struct kvc_index_stats *stats)
    {
        cudaStream_t stream = nullptr;
        if (count == 0) {
            return;
        }
        staged<const uint64_t> hashes(hash, count, true, false, stream);
        staged<const uint32_t> locations(location, count, true, false, stream);
        staged<uint32_t> outs(out, count, false, true, stream);
        if (hashes.error() != cudaSuccess || locations.error() != cudaSuccess ||
            outs.error() != cudaSuccess ||
            cudaMemsetAsync(self->counted, 0, sizeof(*self->counted), stream) != cudaSuccess) {
            return;
        }
        struct kvc_table_batch batch = {};
        batch.hash = hashes.device();
        batch.location = locations.device();
        batch.location_out = outs.device();
        if (self->launch(operation, batch, count, now, stream, self->counted) != cudaSuccess) {
            return;
        }
        outs.finish();
        struct kvc_index_stats local = {};
        if (cudaMemcpyAsync(&local, self->counted, sizeof(local), cudaMemcpyDeviceToHost, stream) !=
                cudaSuccess ||
            cudaStreamSynchronize(stream) != cudaSuccess) {
            return;
        }
        self->ended(operation, count, local);
        local.searches = operation == KVC_TABLE_SEARCH ? count : 0;
        local.inserts = operation == KVC_TABLE_INSERT ? count : 0;
        local.erases = operation == KVC_TABLE_ERASE ? count : 0;
        if (stats != nullptr) {
            kvc_index_stats_add(stats, &local);
        }
    }

    static void search(struct kvc_index *index, const uint64_t *hash, uint32_t count, uint32_t *location,
                       struct kvc_index_stats *stats)
    {
        uint32_t now = of(index)->clock++;
        run(of(index), KVC_TABLE_SEARCH, hash, nullptr, location, count, now, stats);
    }

    static void insert(struct kvc_index *index, const uint64_t *hash, const uint32_t *location,
                       uint32_t count, uint32_t *out, struct kvc_index_stats *stats)
    {
        uint32_t now = of(index)->clock;
        of(index)->clock += count;
        run(of(index), KVC_TABLE_INSERT, hash, location, out, count, now, stats);
    }

    static void erase(struct kvc_index *index, const uint64_t *hash, const uint32_t *location, uint32_t count,
                      uint32_t *out, struct kvc_index_stats *stats)
    {
        run(of(index), KVC_TABLE_ERASE, hash, location, out, count, 0, stats);
    }

    static uint64_t capacity(const struct kvc_index *index)
    {
        return of(index)->capacity();
    }

    static uint64_t used(const struct kvc_index *index)
    {
        return of(index)->used();
    }

    static void free(struct kvc_index *index)
    {
        TABLE *self = of(index);
        self->arrays(self->table, [](auto *&array, const void *, uint64_t) {
            kvc_cuda_free(array);
            return true;
        });
        kvc_cuda_free(self->counted);
        delete self;
    }

    static constexpr struct kvc_index_ops ops = {free, search, insert, erase, capacity, used};

    /* Frees a table that could not be made, and passes the error on. */
    static struct kvc_index *failed(TABLE *self, int error)
    {
        free(&self->index);
        errno = error;
        return nullptr;
    }

    static struct kvc_index *create(const typename TABLE::params *params)
    {
        TABLE *self = new (std::nothrow) TABLE();
        if (self == nullptr) {
            errno = ENOMEM;
            return nullptr;
        }
        self->index = {&ops};
        if (!self->geometry(*params)) {
            return failed(self, EINVAL);
        }
        self->counted = static_cast<struct kvc_index_stats *>(alloc_zeroed(sizeof(*self->counted)));
        if (self->counted == nullptr ||
            !self->arrays(self->table, [](auto *&array, const void *, uint64_t bytes) {
                array = static_cast<std::remove_reference_t<decltype(array)>>(alloc_zeroed(bytes));
                return array != nullptr;
            })) {
            return failed(self, errno);
        }
        return cudaDeviceSynchronize() == cudaSuccess ? &self->index : failed(self, ENODEV);
    }

    static struct kvc_index *create_published(uint64_t bytes, uint64_t)
    {
        typename TABLE::params params = {};
        if (!TABLE::published(bytes, &params)) {
            errno = EINVAL;
            return nullptr;
        }
        return create(&params);
    }

    static struct kvc_index *create_copy(const cpu *from)
    {
        typename TABLE::params params = TABLE::params_of(*from);
        struct kvc_index *index = create(&params);
        if (index == nullptr) {
            return nullptr;
        }
        TABLE *self = of(index);
        self->clock = from->base.clock;
        bool copied = self->arrays(from->table, [](void *array, const void *its, uint64_t bytes) {
            return its == nullptr || copy(array, its, bytes);
        });
        return copied && self->copy_rest(*from) ? index : failed(self, ENODEV);
    }

    static bool download(const struct kvc_index *index, cpu *to)
    {
        TABLE *self = of(const_cast<struct kvc_index *>(index)); /* arrays() is for changes as well */
        if (!self->same_geometry(to->table) || cudaDeviceSynchronize() != cudaSuccess ||
            !self->arrays(to->table, [](const void *array, void *its, uint64_t bytes) {
                return its == nullptr || copy(its, array, bytes);
            })) {
            return false;
        }
        to->base.clock = self->clock;
        return self->download_rest(to);
    }
};

} // namespace kvc

#endif
