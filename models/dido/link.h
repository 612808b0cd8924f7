/* What the stages of a GPU with memory of its own take of the PCIe link to the CPU.
 *
 * There is one copy of the index and of the items, in the memory of the CPU, and the batches are there, too.
 * It is pinned and mapped, so that threads of the GPU read and write it over the link (zero-copy):
 *
 *   - A line of a bucket or of an item is one read, cut into packets as large as the link allows: a request
 *     goes to the host, and header and data come back. A line of an item that MM writes is likewise one
 * write.
 *   - insert and delete write a slot of each line that they read, as they load the memory's channels.
 *   - Requests, responses, values between RD and WR, hashes and locations lie in order, so that neighbours in
 *     a wave fill the packets. A hash or a location that the same kernel has found is not read again.
 *
 * Each direction of the link takes the longest of these times: its packets' bytes over the rate of the link;
 * their data over the rate of the root complex; to the card, the time that the tags and credits of reads, and
 * the card's room for their data, leave for so many round trips; to the host, the time that the credits of
 * writes leave. sim/devices/pcie.h simulates the same rules packet by packet.
 *
 * Not modelled: lines that the GPU's cache keeps from one query to the next, misses of its translations of
 * pinned memory, and the tags of stolen sets, of which 64 queries have one. PCIe 3.0 has atomic operations,
 * but whether a pair of CPU and GPU does them for each other is not asked. */
#ifndef KVC_MODELS_DIDO_LINK_H
#define KVC_MODELS_DIDO_LINK_H

#include "models/dido/costs.h"
#include "models/dido/tasks.h"

/* Packets and data that cross a link; all zero is nothing. */
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
 * the CPU's memory. `work` is what the query does without the lines that the kernel has already, and
 * `buffered_bytes` what WR reads of a value that RD has written to a buffer. */
struct kvc_dido_link_load kvc_dido_link_load_of(const struct kvc_dido_config *config, uint32_t tasks,
                                                enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                                                const struct kvc_dido_work *work, double buffered_bytes);

/* Times for which a load takes the two directions of a link. */
struct kvc_dido_link_time {
    double down_ns; /* To the GPU [ns]. */
    double up_ns;   /* To the CPU [ns]. */
};

/* Returns these times; 0 without a link, for which `pcie` is NULL. Otherwise it must state packets. */
struct kvc_dido_link_time kvc_dido_link_time_of(const struct kvc_pcie *pcie,
                                                const struct kvc_dido_link_load *load);

#endif
