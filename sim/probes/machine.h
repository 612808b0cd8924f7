/* The machine that we run on: facts of its system, results of the probes, and the part of its machine file
 * with both. */
#ifndef KVC_SIM_PROBES_MACHINE_H
#define KVC_SIM_PROBES_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/cores.h"
#include "sim/probes/profile.h"
#include "sim/probes/steadiness.h"
#include "sim/probes/timing.h"

/* The GPU of this machine: facts of its driver, and the costs of the simplest operations on it. */
struct kvc_gpu_facts {
    bool present; /* False without a GPU or in a program built without CUDA; the other fields are then not
                     set. */
    char name[128];
    uint32_t multiprocessors;
    uint64_t memory_bytes;
    struct kvc_timing launch; /* An empty kernel, launched and waited for. */
    struct kvc_timing copy;   /* A copy of 64 bytes in the slower of the two directions. */
    double h2d_bytes_per_s;   /* Copies of 64 MiB of pinned memory to the device [bytes/s]. */
    double d2h_bytes_per_s;   /* Copies of 64 MiB from the device to pinned memory [bytes/s]. */
    double access_ns;         /* A dependent access of 32 threads to random sectors of 2 GiB [ns]. */
    double clock_hz;          /* Clock of the multiprocessors during these accesses [Hz]. */
    double sectors_per_s;     /* Random reads of 32-byte sectors while threads fill the device [1/s]. */
};

/* Sets what the driver says of the GPU, if there is one, and measures nothing. */
void kvc_gpu_find(struct kvc_gpu_facts *facts);

/* Measures the GPU if there is one. KVC_ERR_RUNTIME: the GPU has too little free memory, or it fails. */
enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag);

enum { KVC_MEMORY_LATENCY_SIZES_MAX = 16, KVC_MEMORY_LATENCY_CHAINS = 6 };

/* One working set. */
struct kvc_memory_latency_point {
    uint64_t bytes; /* Size of the working set [bytes]. */
    /* Time per random line when a core follows 1, 2, 4, ... 32 dependent chains at once [ns]. The first is
     * the latency; the others show how many misses a core overlaps. */
    double line_ns[KVC_MEMORY_LATENCY_CHAINS];
};

/* The cost of a cache line on this machine: latency and throughput by working set, and sequential bandwidth.
 */
struct kvc_memory_latency_curve {
    uint32_t count; /* Measured working sets. */
    struct kvc_memory_latency_point point[KVC_MEMORY_LATENCY_SIZES_MAX];
    double sequential_bytes_per_s; /* One core that reads the largest working set in order [bytes/s]. */
};

/* Measures working sets from 16 KiB to `bytes_max`, each four times as large as the one before, on huge pages
 * if the system provides them. A repetition follows `lines` lines. KVC_ERR_RUNTIME: there is too little
 * memory. */
enum kvc_status kvc_memory_latency_measure(uint64_t bytes_max, uint32_t lines,
                                           struct kvc_memory_latency_curve *curve, struct kvc_diag *diag);

enum { KVC_PAGE_COSTS_MAX = 16 };

/* Random lines of one core on huge and on small pages, by working set. */
struct kvc_page_costs {
    uint32_t count;
    struct kvc_page_cost {
        uint64_t bytes;
        /* Time of a line of a prefetched batch, and of a line that depends on the one before
         * (sim/probes/memory/memory_watch.h), on huge and on small pages: medians [ns]. */
        double line_ns[2], latency_ns[2];
    } point[KVC_PAGE_COSTS_MAX];
};

/* Measures working sets from 1 MiB to `bytes_max`, each twice as large as the one before. KVC_ERR_RUNTIME:
 * there is too little memory. */
enum kvc_status kvc_page_costs_measure(uint64_t bytes_max, struct kvc_page_costs *costs,
                                       struct kvc_diag *diag);

enum { KVC_CONTENTION_MAX = 5 };

/* Random lines of one core beside a co-runner on all others. */
struct kvc_contention {
    uint32_t count;
    struct kvc_contention_point {
        double taken_bytes_per_s;   /* Bandwidth that the co-runner took. */
        double line_ns, latency_ns; /* As in struct kvc_page_cost, in 256 MiB on huge pages. */
    } point[KVC_CONTENTION_MAX];
};

/* Measures the first core beside a co-runner on the others that takes nothing, a quarter, a half, three
 * quarters and all of what it can. There are no points on a single core. KVC_ERR_RUNTIME: a thread or memory
 * is missing. */
enum kvc_status kvc_contention_measure(uint32_t cores, struct kvc_contention *contention,
                                       struct kvc_diag *diag);

enum { KVC_HANDOFF_CORES_MAX = 256 };

/* The time that an item needs through a ring, from a thread on the first core to a thread on each of the
 * others. */
struct kvc_handoffs {
    uint32_t cores;                   /* ns[1] to ns[cores - 1] are set. */
    double ns[KVC_HANDOFF_CORES_MAX]; /* Time of one handoff, half a round trip [ns]. */
};

/* Measures the first `cores` cores, at most KVC_HANDOFF_CORES_MAX. The calling thread stays on the first core
 * afterwards. KVC_ERR_RUNTIME: a thread cannot be started. */
enum kvc_status kvc_handoffs_measure(uint32_t cores, struct kvc_handoffs *handoffs, struct kvc_diag *diag);

struct kvc_machine_facts {
    char cpu[128];             /* Name of the processor. */
    char date[32];             /* Today, like 2026-11-21. */
    uint32_t cores;            /* Physical cores among those that the process may use. */
    uint32_t threads_per_core; /* Hardware threads of a core, 1 or 2. */
    double clock_hz;
    uint64_t memory_bytes;     /* Main memory [bytes]. */
    uint64_t near_cache_bytes; /* Size of the largest cache that a core has for itself [bytes]. */
};

/* Fills in the facts of the system. The default is one thread per core, 1 GHz and a 1 MiB cache. */
void kvc_machine_ask(struct kvc_machine_facts *facts);

/* Checks that enough memory is free for a calibration. KVC_ERR_RUNTIME: it is less than `needed_bytes`. */
enum kvc_status kvc_machine_check_memory(double needed_bytes, struct kvc_diag *diag);

struct kvc_probed_machine {
    struct kvc_machine_facts facts;
    struct kvc_memory_latency_curve memory;
    struct kvc_page_costs pages;
    struct kvc_contention contention;
    struct kvc_handoffs handoffs;
    struct kvc_cores cores;
    struct kvc_gpu_facts gpu; /* Without a GPU, one thread of the processor stands in for it. */
};

/* Returns a new profile with the results of the probes. It has places for the fields cpu.packet,
 * dram.random_line and dram.next_line, which only a store's own code can measure, and for cpu.core_speed.
 * `version` is the version of kvcast. Free it with kvc_profile_free. */
struct kvc_profile *kvc_machine_profile(const struct kvc_probed_machine *machine, const char *version);

/* Adds cpu.core_speed at the end of a calibration, or a comment line that says why its value is not known:
 * hardware threads that share a core slow each other down. The measured speed of a thread then depends on its
 * sibling, whose load the simulation charges separately, so the clock does not tell how fast a core is. */
void kvc_machine_add_core_speed(const struct kvc_probed_machine *machine,
                                const struct kvc_steadiness *steadiness, struct kvc_profile *profile);

/* Adds dram.watched_line, the time of a random line while all cores read, as runs watch it
 * (sim/probes/memory/memory_watch.h), unless it was not measured. */
void kvc_machine_add_memory_speed(const struct kvc_steadiness *steadiness, struct kvc_profile *profile);

/* Adds the measured curves of handoffs, cores and memory as comment lines, and how steady the machine was. */
void kvc_machine_comment(const struct kvc_probed_machine *machine, const struct kvc_steadiness *steadiness,
                         struct kvc_profile *profile);

#endif
