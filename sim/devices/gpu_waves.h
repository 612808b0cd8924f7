/** @file
 * The time of a kernel that is stated by what its threads do: instructions, accesses, and how many of the
 * accesses wait for one another.
 *
 * A multiprocessor holds some waves at a time, begins a few instructions of all of them in a cycle, and one
 * of each wave in `wave_gap` cycles. So a kernel takes the longer of two times: all its wave instructions at
 * the rate of all multiprocessors, or a thread's instructions and dependent accesses one after the other, in
 * as many rounds as the multiprocessors need to hold all waves. On a GPU that translates addresses as the CPU
 * does, random accesses to a large memory also wait for translations, of which few are looked up at a time: a
 * third time. What its lines take of the memory is a third time, which the caller adds where others draw on
 * the same memory (sim/devices/dram.h).
 *
 * Not modelled: waves whose threads part ways (a wave takes the instructions of its longest thread: the
 * caller says how many), and accesses of a wave that meet in a bank. */
#ifndef KVC_SIM_DEVICES_GPU_WAVES_H
#define KVC_SIM_DEVICES_GPU_WAVES_H

#include "sim/devices/gpu.h"

/** What a kernel does. */
struct kvc_gpu_waves {
    double threads;      /**< Threads of the kernel. */
    double instructions; /**< Of a thread. */
    double depth;        /**< Accesses of a thread to memory that wait for one another. */
    double random;       /**< Those of them that are at random places. */
    double bytes;        /**< Memory in which these places are [bytes]. */
    double further_ns;   /**< Time of an access beyond the GPU's own, as over a link to the memory [ns]. */
};

/** Returns how many waves all multiprocessors hold at a time. */
double kvc_gpu_waves_held(const struct kvc_gpu *gpu);

/** Returns the time of the kernel on the idle GPU, without launch and without the rate of its memory [ns]; 0
 * threads take no time. The GPU must state `wave_issue` and a clock. */
double kvc_gpu_waves_ns(const struct kvc_gpu *gpu, const struct kvc_gpu_waves *waves);

#endif
