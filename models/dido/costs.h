/* Costs of a batch of queries on the processors and on the memory, stage by stage.
 *
 * The closed form and the simulation share these costs. A task is what its code does (tasks.h): instructions,
 * lines at random places and lines that follow them.
 *
 *   CPU   A core completes instructions at the rate at which it executes such code from its first-level cache
 *         (cpu.sustained_ipc). A line at a random place stalls it for a random access to the memory, or for a
 *         hit in the last-level cache with the probability that follows from the workload's reuse
 *         (sim/workload/keys/reuse.h), less what it executes meanwhile (cpu.lookahead). Lines that follow are
 *         prefetched. Frames cost the operating system's time in RV and SD.
 *
 *   GPU   One kernel does the
 * tasks of all queries, one thread each. Insert and delete have a kernel each, as in Mega-KV, and so has PP,
 * whose threads parse a frame each: where a request begins follows from the one before it. A wave executes
 * what any of its threads has to do, so a batch with few SETs pays for both kinds of queries. Every kernel is
 * launched. See sim/devices/gpu.h. If the GPU has memory of its own, each access takes a round trip
 * over the PCIe link on top, and a kernel takes at least the time of the link for its bytes, as the link of a
 * task says below.
 *
 * RD after KC in the same stage finds the item in the cache (task affinity, sec. III.B.1). If WR is in
 * another stage than RD, RD writes the value to a buffer and WR reads it there, both in order (sec. III.A).
 *
 * A stage that receives or sends takes at least the time of its frames on the wire, as the buffers of sockets
 * and the rings of the NIC are full under a load that saturates: its frames are those of the mean request and
 * of the mean response. Below that load, frames have come before RV begins.
 *
 * Every line that no cache answers occupies the channels of the memory that both processors share
 * (sim/devices/dram.h). How much that delays them depends on what they do at the same time: the closed form
 * adds it up, the simulation lets them draw on the same channels. */
#ifndef KVC_MODELS_DIDO_COSTS_H
#define KVC_MODELS_DIDO_COSTS_H

#include "models/dido/config.h"
#include "models/dido/tasks.h"

/* The queries of a batch by kind, and their effects on the structures, per query. */
struct kvc_dido_mix {
    double get_frac, set_frac; /* The rest are DELETEs. */
    double hit_frac;           /* Share of the GETs that find their item. */
    double insert_frac;        /* New elements of the index. */
    double erase_frac;         /* Elements that are removed: evicted and deleted ones. */
    double key_bytes, value_bytes;
    double search_lines, insert_lines,
        erase_lines; /* Lines of one operation on the index; 0: the lines in tasks.h. */
};

/* Returns the mix that the workload has in the long run. */
struct kvc_dido_mix kvc_dido_mix_of(const struct kvc_dido_config *config,
                                    const struct kvc_workload *workload);

/* Returns how many queries of an operation do a task, per query of the batch. */
double kvc_dido_share_of(const struct kvc_dido_mix *mix, enum kvc_dido_task task, enum kvc_op op);

/* Returns how many queries do a task, per query of the batch. */
double kvc_dido_task_share(const struct kvc_dido_mix *mix, enum kvc_dido_task task);

/* Load of a stage's tasks on the machine. */
struct kvc_dido_cost {
    double core_ns;                 /* CPU: time of one core [ns]. */
    double kernel_ns;               /* GPU: time of its kernels without their launches [ns]. */
    double launch_ns;               /* GPU: time of their launches [ns]. */
    double channel_ns;              /* Time of the memory's channels, summed over them [ns]. */
    double down_ns, up_ns;          /* GPU: time of each direction of the link, to it and to the CPU. CPU:
                                       time of the network port for frames received and sent [ns]. */
    double task_ns[KVC_DIDO_TASKS]; /* Share of each task in core_ns, or in kernel_ns and launch_ns. */
};

/* Returns the cost of the tasks of a stage for `queries` queries of a batch, on a core or on the GPU. `tasks`
 * may be a part of the stage's tasks, as for stolen queries. */
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

/* Returns the tasks of a stage that the other processor can do for untouched queries: all tasks before the
 * first one that it cannot do. */
uint32_t kvc_dido_stealable(const struct kvc_dido_stage *stage);

/* Use of the PCIe link to the CPU by the stages of a GPU with memory of its own.
 *
 * There is one copy of the index and of the items, in the memory of the CPU, and the batches are there, too.
 * It is pinned and mapped, so that threads of the GPU read and write it over the link (zero-copy):
 *
 *   - A line of a bucket or of an item is one read, cut into packets as large as the link allows: a request
 *     goes to the host, and header and data come back. A line of an item that MM writes is one write.
 *   - insert and delete write a slot of each line that they read, as they load the memory's channels.
 *   - Requests, responses, values between RD and WR, hashes and locations lie in order, so that neighbours in
 *     a wave fill the packets. A hash or a location that the same kernel has found is not read again.
 *
 * Each direction of the link takes the longest of these times: its packets' bytes over the rate of the link;
 * their data over the rate of the root complex; to the card, the time that the tags and credits of reads, and
 * the card's room for their data, leave for the number of round trips; to the host, the time that the credits
 * of writes leave. sim/devices/pcie.h simulates the same rules packet by packet.
 *
 * Not modelled: lines that the GPU's cache keeps from one query to the next, misses of its translations of
 * pinned memory, and the tags of stolen sets, of which 64 queries have one. PCIe 3.0 has atomic operations,
 * but whether a pair of CPU and GPU supports them is not checked. */

/* Packets and data that cross a link; all zero is no load. */
struct kvc_dido_link_load {
    double reads, read_bytes;     /* Packets that the GPU reads, and their data [bytes]. */
    double writes, written_bytes; /* Packets that it writes, and their data [bytes]. */
};

/* Adds `count` times a load to a sum. */
static inline void kvc_dido_link_load_add(struct kvc_dido_link_load *sum,
                                          const struct kvc_dido_link_load *load, double count)
{
    sum->reads += count * load->reads;
    sum->read_bytes += count * load->read_bytes;
    sum->writes += count * load->writes;
    sum->written_bytes += count * load->written_bytes;
}

/* Returns the load of a query in a task of a GPU's stage, whose tasks are `tasks`; nothing if the GPU shares
 * the CPU's memory. `work` is the query's work without the lines that the kernel already has, and
 * `buffered_bytes` the bytes that WR reads of a value that RD has written to a buffer. */
struct kvc_dido_link_load kvc_dido_link_load_of(const struct kvc_dido_config *config, uint32_t tasks,
                                                enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                                                const struct kvc_dido_work *work, double buffered_bytes);

/* Times for which a load takes the two directions of a link. */
struct kvc_dido_link_time {
    double down_ns; /* Time of the direction to the GPU [ns]. */
    double up_ns;   /* Time of the direction to the CPU [ns]. */
};

/* Returns these times; 0 without a link, for which `pcie` is NULL. Otherwise it must state packets. */
struct kvc_dido_link_time kvc_dido_link_time_of(const struct kvc_pcie *pcie,
                                                const struct kvc_dido_link_load *load);

#endif
