/** @file
 * The blocks of kernels that share a card: which multiprocessor runs them, and which kernel waits.
 *
 * A kernel is a grid of equal blocks. A multiprocessor holds a block until it ends; its room is limited in
 * threads, in blocks and in shared memory. Blocks are placed in the order in which their kernels were
 * launched: a kernel whose blocks do not all fit keeps every later kernel waiting until its last block is
 * placed, even if the later blocks are smaller. Nothing is taken back from a running block. So a large kernel
 * delays later ones by almost its whole time, and the same work in small kernels delays them by little.
 *
 * The blocks that are placed at one moment are one activity on the card's host in the platform. SimGrid
 * shares what the blocks of all kernels take from the card, such as its memory bandwidth.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 5.4; CUDA C++ Programming Guide, "Compute Capabilities" (limits of a
 * multiprocessor). Not modelled: registers as a limit, the time to
 * divide a multiprocessor's memory anew between shared memory and cache, priorities of streams, preemption.
 */
#ifndef KVC_SIM_DEVICES_GPU_BLOCKS_H
#define KVC_SIM_DEVICES_GPU_BLOCKS_H

#include <stdint.h>

#include "sim/devices/gpu.h"

/** The multiprocessors of a card. */
struct kvc_gpu_blocks;

/** A kernel: equal blocks. */
struct kvc_gpu_grid {
    uint32_t blocks;     /**< Number of blocks, at least 1. */
    uint32_t threads;    /**< Threads of a block, at most as many as a multiprocessor holds. */
    double shared_bytes; /**< Shared memory of a block. */
    double amount_ns;    /**< Time of the whole card that a block takes [ns]. */
    double alone_ns;     /**< Time that a block takes on the idle card [ns]. */
    double *placed_ns;   /**< Receives the time when the last block has its place [ns]; may be NULL. */
};

/** What a kernel does whose blocks each serve some jobs. A multiprocessor serves the jobs of its blocks one
 * after the other; a block also waits for accesses that depend on one another. */
struct kvc_gpu_block_work {
    double jobs;         /**< Jobs of all blocks. */
    uint32_t block_jobs; /**< Jobs of a full block, at least 1. */
    uint32_t threads;    /**< Threads of a block. */
    double shared_bytes; /**< Shared memory of a block. */
    double job_cycles;   /**< Cycles of a multiprocessor for a job. */
    double block_cycles; /**< Cycles of a block on an idle card, without its accesses. */
    double accesses;     /**< Dependent accesses of a block to device memory. */
    double sectors;      /**< Random 32-byte sectors of all jobs. */
};

/** Returns the kernel of some work at a clock pair. It has at least one block. */
struct kvc_gpu_grid kvc_gpu_grid_of(const struct kvc_gpu *gpu, const struct kvc_gpu_clock *clock,
                                    const struct kvc_gpu_block_work *work);

/** Returns how many of the grid's blocks the whole card holds at once. */
uint64_t kvc_gpu_blocks_at_once(const struct kvc_gpu *gpu, const struct kvc_gpu_grid *grid);

/** Returns a grid as a kernel that shares the card with others as a fluid, without the place of each block:
 * it takes the card for its work, or for the places that its blocks hold, whichever is longer. The latency is
 * that of the launch. */
struct kvc_gpu_kernel kvc_gpu_grid_kernel(const struct kvc_gpu *gpu, const struct kvc_gpu_grid *grid);

/** Creates the multiprocessors of an idle card, which is `host` in the platform. */
struct kvc_gpu_blocks *kvc_gpu_blocks_create(const struct kvc_gpu *gpu, uint32_t host);

/** Frees the multiprocessors. NULL is allowed. */
void kvc_gpu_blocks_free(struct kvc_gpu_blocks *blocks);

/** Runs a kernel, and returns when its last block has ended. Only an actor may call this. A block that no
 * multiprocessor can hold is a bug (KVC_BUG). */
void kvc_gpu_blocks_run(struct kvc_gpu_blocks *blocks, const struct kvc_gpu_grid *grid);

/** Returns the kernels that have been launched and have not ended. */
uint32_t kvc_gpu_blocks_kernels(const struct kvc_gpu_blocks *blocks);

#endif
