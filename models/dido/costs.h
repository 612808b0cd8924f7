/* What a batch of queries takes of the processors and of the memory, stage by stage.
 *
 * The closed form and the simulation share these costs. A task is what its code does (tasks.h): instructions,
 * lines at random places and lines that follow them.
 *
 *   CPU   A core completes instructions at the rate at which it executes such code from its first-level cache
 *         (cpu.sustained_ipc). It waits for a line at a random place as long as the memory's random access
 *         takes, or a hit in the last-level cache, as often as the workload's reuse says
 *         (sim/workload/keys/reuse.h); what it executes meanwhile is taken off (cpu.lookahead). Lines that
 * follow are prefetched. Frames cost the operating system's time in RV and SD. GPU   One kernel does the
 * tasks of all queries, one thread each. Insert and delete have a kernel each, as in Mega-KV, and so has PP,
 * whose threads parse a frame each: where a request begins follows from the one before it. A wave executes
 * what any of its threads has to do, so a batch with few SETs pays for both kinds of queries. Every kernel is
 * launched. See sim/devices/gpu.h. If the GPU has memory of its own, each access takes a round trip
 * over the PCIe link on top, and a kernel takes at least the time of the link for its bytes. See link.h.
 *
 * RD after KC in the same stage finds the item in the cache (task affinity, sec. III.B.1). If WR is in
 * another stage than RD, RD writes the value to a buffer and WR reads it there, both in order (sec. III.A).
 *
 * Every line that no cache answers occupies the channels of the memory that both processors share
 * (sim/devices/dram.h). How much that delays them depends on what they do at the same time: the closed form
 * adds it up, the simulation lets them draw on the same channels. */
#ifndef KVC_MODELS_DIDO_COSTS_H
#define KVC_MODELS_DIDO_COSTS_H

#include "models/dido/config.h"

/* The queries of a batch, by their kind, and what the structures did with them; all per query. */
struct kvc_dido_mix {
    double get_frac, set_frac; /* The rest are DELETEs. */
    double hit_frac;           /* Share of the GETs that find their item. */
    double insert_frac;        /* New elements of the index. */
    double erase_frac;         /* Elements that are removed: evicted and deleted ones. */
    double key_bytes, value_bytes;
    double search_lines, insert_lines,
        erase_lines; /* Lines of one operation on the index; 0: tasks.h says. */
};

/* Returns the mix that the workload has in the long run. */
struct kvc_dido_mix kvc_dido_mix_of(const struct kvc_dido_config *config,
                                    const struct kvc_workload *workload);

/* Returns how many queries of an operation do a task, per query of the batch. */
double kvc_dido_share_of(const struct kvc_dido_mix *mix, enum kvc_dido_task task, enum kvc_op op);

/* Returns how many queries do a task, per query of the batch. */
double kvc_dido_task_share(const struct kvc_dido_mix *mix, enum kvc_dido_task task);

/* What the tasks of a stage take of the machine. */
struct kvc_dido_cost {
    double core_ns;                 /* CPU: time of one core [ns]. */
    double kernel_ns;               /* GPU: time of its kernels without their launches [ns]. */
    double launch_ns;               /* GPU: time of their launches [ns]. */
    double channel_ns;              /* Time of the memory's channels, summed over them [ns]. */
    double down_ns, up_ns;          /* GPU: time of each direction of the link, to it and to the CPU [ns]. */
    double task_ns[KVC_DIDO_TASKS]; /* What each task adds to core_ns, or to kernel_ns and launch_ns. */
};

/* Returns what `queries` queries of a batch take in the tasks of a stage, by a core or by the GPU. `tasks`
 * may be a part of the stage's tasks, as for queries that were stolen. */
struct kvc_dido_cost kvc_dido_cost_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline, uint32_t tasks, bool on_gpu,
                                      const struct kvc_dido_mix *mix, double queries);

/* Returns the time of taking all sets of a batch, of one core or of the GPU [ns]. The tags of a batch, 4
 * bytes each, are neighbours. A core fetches a line of them from the other processor, and then changes one
 * after the other where its caches keep them; the first-level caches of the paper's processor write through
 * to the second. A thief begins at the other end, so that both do not want the same line before they meet. On
 * the GPU, as many waves wait for their tags at the same time as the multiprocessors hold,
 * and, with a link, for its round trip, too. */
double kvc_dido_taking_ns(const struct kvc_dido_config *config, bool on_gpu, double queries);

/* Returns the tasks of a stage that the other processor can do for queries of which nothing is done yet:
 * those before the first one that it cannot do. */
uint32_t kvc_dido_stealable(const struct kvc_dido_stage *stage);

#endif
