/** @file
 * A GPU runs launches of index operations; this model gives the time of one launch over all streams.
 *
 * The time has two forms. The fitted form is a straight line over the jobs, measured on the card for each
 * clock pair, copies included (Mega-KV, VLDB J. 2017, Table 2). The mechanistic form serves clock pairs
 * without such a line: the streams' chunks pass through copy-in engine, SMs and copy-out engine as a flow
 * shop of equal jobs. A kernel takes the longer of two times: its random 32-byte sectors over the card's
 * rate, or its dependent accesses one after the other, in as many waves as the SMs need to hold all jobs.
 *
 * In a simulation, the kernels of all streams share the card: see kvc_gpu_kernel_of(). Power covers the whole
 * board, idle at the clocks of the pair or busy with index kernels. Not modelled: limits of shared memory on
 * occupancy, clock ramps.
 *
 * Where the card states its L2 cache, half of it keeps the sectors that kernels read, since each half has a
 * copy of what its own multiprocessors read: on an H100 with 50 MiB and an H200 with 60 MiB, random reads
 * are as fast in tables of up to 25 and 28 MiB as in 4 MiB, and beyond 64 MiB as slow as if 26 to 33 MiB of
 * them hit (validate/measured/h100 and h200-pcie5, footprint_cuda_bench.txt). What misses takes its time in
 * the device memory, and every sector its time in the cache; both add up, because a job looks at a
 * signature before it reads the location next to it. Jobs of popular keys meet at one place, where the warps
 * wait for one another: they do not merge into one access.
 *
 * A third form (struct kvc_gpu_waves) gives the time of a kernel that is stated by what its threads do:
 * instructions, accesses, and how many of the accesses wait for one another. A multiprocessor holds some
 * waves at a time, begins a few instructions of all of them in a cycle, and one of each wave in `wave_gap`
 * cycles. So a kernel takes the longer of two times: all its wave instructions at the rate of all
 * multiprocessors, or a thread's instructions and dependent accesses one after the other, in as many rounds
 * as the multiprocessors need to hold all waves. On a GPU that translates addresses as the CPU does, random
 * accesses to a large memory also wait for translations, of which few are looked up at a time: a third time.
 * Its lines also occupy the memory, whose time the caller adds where others draw on the same memory
 * (sim/devices/dram.h).
 *
 * Not modelled: waves whose threads part ways (a wave takes the instructions of its longest thread, whose
 * number the caller states), and accesses of a wave that meet in a bank. */
#ifndef KVC_SIM_DEVICES_GPU_H
#define KVC_SIM_DEVICES_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/node.h"
#include "sim/devices/pcie.h"

enum { KVC_GPU_CLOCKS_MAX = 8 };

/** Straight line through measured launch times, copies included: T = ns_per_op * jobs + base_ns. */
struct kvc_gpu_fit {
    double ns_per_op; /**< Time per job; 0: not measured. */
    double base_ns;   /**< Time of a launch without jobs. */
};

/** One pair of clock frequencies, with the lines that were fitted at them. */
struct kvc_gpu_clock {
    double core_hz;            /**< Clock of the multiprocessors [Hz]. */
    double memory_hz;          /**< Clock of the memory [Hz]. */
    struct kvc_gpu_fit search; /**< Line of search launches. */
    struct kvc_gpu_fit insert; /**< Line of launches of inserts and deletes. */
    double idle_watts;         /**< Power of the board at these clocks without work; NaN: not published. */
    double busy_watts;         /**< Power of the board while kernels run; NaN: not published. */
};

/** Parameters of one card. */
struct kvc_gpu {
    char name[KVC_TEXT_MAX]; /**< Name of the product, for people. */
    uint64_t sms;            /**< Streaming multiprocessors. */
    uint64_t threads_per_sm; /**< Threads that a multiprocessor holds at once, by its compute capability (CUDA
                                C++ Programming Guide). */
    uint64_t
        blocks_per_sm;   /**< Thread blocks that a multiprocessor holds at once, by its compute capability. */
    double shared_bytes; /**< Shared memory of a multiprocessor; 0: no limit. */
    uint64_t wave_threads;   /**< Threads of a warp or wavefront, which take each instruction together. */
    double wave_issue;       /**< Wave instructions that a multiprocessor begins in a cycle; 0: unknown. */
    double wave_gap_cycles;  /**< Cycles between two instructions of one wave. */
    uint64_t walkers;        /**< Translations that are looked up at the same time; 0: they never miss. */
    double walk_ns;          /**< Time of a translation that the GPU does not hold. */
    double walk_free_bytes;  /**< Memory whose translations the GPU holds. */
    bool shares_memory;      /**< The GPU has no memory of its own and uses the host's. */
    double memory_bytes;     /**< Device memory. */
    double pinned_bytes;     /**< Device memory that other devices can write to; 0: all of it. */
    double sectors_per_s;    /**< Random 32-byte sectors per second of the whole card; 0: from channels. */
    uint64_t channels;       /**< Channels of the device memory that open rows of their own; 0: unknown. */
    double l2_bytes;         /**< Last cache in front of the device memory; 0: unknown. */
    double l2_sectors_per_s; /**< Random 32-byte sectors per second that hit this cache; 0: from its size. */
    double hot_read_ns;      /**< Time of a warp's reads of a place that most jobs read; 0: as on an H200. */
    double hot_write_ns; /**< Time of a warp's writes to a place that most jobs write; 0: as on an H200. */
    double access_ns;    /**< Time of one dependent access to device memory. */
    double launch_ns;    /**< Time of launch and completion as the host sees it. */
    double launch_queued_ns; /**< Time of launch and completion after another launch that was enqueued with
                                it; 0: launch_ns. */
    double price_usd;        /**< Price of the card [US dollars]; 0: unknown. */
    uint32_t clock_count;    /**< Clock pairs. */
    struct kvc_gpu_clock clocks[KVC_GPU_CLOCKS_MAX]; /**< Clock pairs, fastest first. */
};

/** The descriptor of a GPU. */
extern const struct kvc_device_kind kvc_gpu_kind;

/** Finds the node's GPU. Returns NULL if it has none. */
static inline const struct kvc_gpu *kvc_gpu_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_gpu_kind);
}

/** Returns the random 32-byte sectors per second of the whole card in a table of 2 GiB: the profile's, or
 * else carried over from an H200 with 39.5 G/s, 192 channels and 60 MiB of L2 cache (kvc_gpu_carry). 0 if the
 * profile states neither a rate nor channels.
 *
 * Another H200 had 43.4 G/s, which moves all that is derived by 10 %. How far the rule holds for HBM2e and
 * GDDR6 is not measured. */
double kvc_gpu_sectors_per_s(const struct kvc_gpu *gpu);

/** Replaces the rates and times of `to` that no data sheet states by those that follow from a measured card:
 *
 * - Every sector that misses the cache opens a row of its channel, which takes a time that depends on the
 *   cells and not on the rate of the pins. So their rate grows with the channels.
 * - The L2 cache has as many slices as its size says, and each serves as many sectors.
 * - Accesses, launches and waits at one place take the time that they take on `from`.
 *
 * Both cards must state channels and l2. validate/carried_over.csv has the errors. */
void kvc_gpu_carry(const struct kvc_gpu *from, struct kvc_gpu *to);

/** Returns how much of the L2 cache keeps what kernels read at random places [bytes]; 0: unknown. */
static inline double kvc_gpu_l2_reach_bytes(const struct kvc_gpu *gpu)
{
    return gpu->l2_bytes / 2;
}

/** Returns whether both watts of the pair are known, so that its energy is too. */
static inline bool kvc_gpu_has_watts(const struct kvc_gpu_clock *clock)
{
    return clock->busy_watts >= clock->idle_watts; /* False if one is NaN. */
}

/** Work of one launch, all streams together. */
struct kvc_gpu_work {
    double jobs;      /**< Index operations. */
    double in_bytes;  /**< Bytes copied to the device. */
    double out_bytes; /**< Bytes copied back. */
    double sectors;   /**< Random 32-byte sectors of the table; all that counts if the card does not state its
                         L2   cache. */
    double accesses;  /**< Accesses to device memory of up to 64 bytes each, jobs and results included. */
    double l2_frac;   /**< Share of the accesses, 0 to 1, that hit the L2 cache. */
    double l2_sectors;      /**< 32-byte sectors that pass through the L2 cache. */
    double hot_reads;       /**< Warps that read the place which most jobs read. */
    double hot_writes;      /**< Warps that write to the place to which most jobs write. */
    double depth;           /**< Dependent accesses of one job. */
    double threads_per_job; /**< Threads that work on one job. */
    uint32_t streams;       /**< Streams that the work is divided over. */
};

/** Returns the time of one launch [ns]; 0 jobs take no time. `fit` is the measured line of this kernel at
 * the card's clocks; NULL selects the mechanistic form, for which `pcie` must state bulk copies. */
double kvc_gpu_launch_ns(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                         const struct kvc_gpu_fit *fit, const struct kvc_gpu_work *work);

/** One stream's part of a launch, as the shared multiprocessors see it. */
struct kvc_gpu_kernel {
    double latency_ns; /**< Time before the kernel begins: launching, waiting for the device. */
    double amount_ns;  /**< Time of the whole card that the kernel takes. */
    double alone_ns;   /**< Time that the kernel takes without kernels of other launches. */
};

/** Returns the kernel of a stream that has `frac` of the launch's work.
 *
 * The mechanistic form is bound by random sectors if the stream has many jobs, and by the latency of
 * dependent accesses if it has few. The fitted form states the time of a whole launch with its copies: the
 * line's base is latency, and the slope is work of the whole card, less the copies of one stream, which no
 * kernel of the launch hides. Copies and their latency come on top. */
struct kvc_gpu_kernel kvc_gpu_kernel_of(const struct kvc_gpu *gpu, const struct kvc_pcie *pcie,
                                        const struct kvc_gpu_fit *fit, const struct kvc_gpu_work *work,
                                        double frac);

/** Returns the number of the clock pair with this core clock, of the fastest one for 0 Hz; the count of pairs
 * if the card has no such pair. */
uint32_t kvc_gpu_clock_of(const struct kvc_gpu *gpu, double core_hz);

/** Checks the core clock that a scenario states as `system.gpu_core`; 0 Hz is the fastest. Kernels must have
 * a fit at its pair, or the card a rate of random sectors. */
enum kvc_status kvc_gpu_check_clock(const struct kvc_gpu *gpu, double core_hz, struct kvc_diag *diag);

/** Makes the card faster by a factor, for a what-if question. Fitted lines do not change, because they
 * include copies: see kvc_gpu_launch_speed_up(). The stated clocks do not change either. */
void kvc_gpu_speed_up(struct kvc_gpu *gpu, double factor);

/** Returns the time of a measured launch [ns] after its kernels became faster by one factor and its copies by
 * another. `launch_ns` is the measured time, and `copying_ns` its part in which copies and their latency are
 * not hidden behind kernels. */
double kvc_gpu_launch_speed_up(double launch_ns, double copying_ns, double kernel_factor, double copy_factor);

/** Work of a kernel. */
struct kvc_gpu_waves {
    double threads;      /**< Threads of the kernel. */
    double instructions; /**< Instructions of a thread. */
    double depth;        /**< Accesses of a thread to memory that wait for one another. */
    double random;       /**< Accesses of these at random places. */
    double bytes;        /**< Memory in which these places are [bytes]. */
    double further_ns;   /**< Time of an access beyond the GPU's own, as over a link to the memory [ns]. */
};

/** Returns how many waves all multiprocessors hold at a time. */
double kvc_gpu_waves_held(const struct kvc_gpu *gpu);

/** Returns the time of the kernel on the idle GPU, without launch and without the rate of its memory [ns]; 0
 * threads take no time. The GPU must state `wave_issue` and a clock. */
double kvc_gpu_waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves);

/** Returns the time of the whole GPU that the kernel takes: other kernels find the places that its waves
 * leave free [ns]. */
double kvc_gpu_waves_amount_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves);

#endif
