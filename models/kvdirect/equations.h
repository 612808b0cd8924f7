/* KV-Direct's closed form: the hit ratio of the NIC's DRAM, and the time for which an operation occupies
 * each resource.
 *
 * Source: KV-Direct (SOSP 2017), sec. 2.4, 3.3.4 and 5.2.2. The paper estimates the hit ratio of the cache as
 * log(cache) / log(cacheable corpus). Here it is the exact sum over the keys for a direct map in which each
 * place holds the line that was used last. The number of memory accesses comes from layout.h. */
#ifndef KVC_MODELS_KVDIRECT_EQUATIONS_H
#define KVC_MODELS_KVDIRECT_EQUATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/devices/dram.h"
#include "sim/devices/fpga.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/workload/workload.h"

/* Layout of KV-Direct's memory: the accesses of an operation by hash index fraction and inline threshold, and
 * the best choice of both.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.1 and 5.1.1, fig. 6, 9 and 10. A larger index has shorter chains
 * but leaves less memory for slabs and chained buckets. The largest index that leaves room for all pairs
 * needs the fewest accesses. */

enum { KVC_KVDIRECT_INLINE_AUTO = 255 };

/* Memory accesses of an operation on an existing key. A PUT of the same size also writes one bucket or
 * slab. */
struct kvc_kvdirect_accesses {
    double bucket_reads, slab_reads; /* Accesses of an operation. */
    double pairs_per_bucket;         /* Mean over the index. */
    double slab_lines, used_lines;   /* Lines of a pair's slab, and lines that the pair fills; 0: inline. */
};

/* Returns the reads of an operation. */
static inline double kvc_kvdirect_reads(const struct kvc_kvdirect_accesses *accesses)
{
    return accesses->bucket_reads + accesses->slab_reads;
}

/* Returns the accesses for pairs of `pair_bytes` that are spread at random over the buckets of a hash
 * index. */
struct kvc_kvdirect_accesses kvc_kvdirect_accesses_of(double keys, double buckets, uint32_t inline_bytes,
                                                      uint32_t pair_bytes);

/* Returns the mean fraction of the memory that index, chained buckets and slabs need. They do not fit if it
 * exceeds 1. */
double kvc_kvdirect_needed_frac(double keys, double bytes, double index_frac, uint32_t inline_bytes,
                                uint32_t pair_bytes);

/* Returns the largest index fraction that leaves room for everything else, or 0 if there is none. */
double kvc_kvdirect_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes);

struct kvc_kvdirect_layout {
    double index_frac;
    uint32_t inline_bytes;
};

/* Returns the layout with the fewest reads for `keys` pairs in `bytes` of memory. Only automatic values are
 * chosen: an index_frac of 0 or less, and inline_bytes = KVC_KVDIRECT_INLINE_AUTO. If the pairs do not fit,
 * the index takes half of the memory. */
struct kvc_kvdirect_layout kvc_kvdirect_best_layout(double keys, double bytes, uint32_t pair_bytes,
                                                    double index_frac, uint32_t inline_bytes);

struct kvc_card_reuse; /* sim/workload/line_cache.h */

/* The time for which one operation occupies each resource of a NIC [ns]. */
struct kvc_kvdirect_loads {
    double clock_ns;  /* The decoder: one operation a clock. */
    double access_ns; /* The memory access engine: one read and one write a clock. */
    double pcie_ns, dram_ns, receive_ns, send_ns;
    double lambda_ns;                         /* The copies of the user's function. */
    double host_reads, host_writes;           /* DMA operations. */
    double host_read_bytes, host_write_bytes; /* Data of these accesses. */
    double hit_frac;                          /* Hit ratio of cacheable accesses. */
    double merged_frac; /* Operations that need no memory, because their key is in flight. */
};

/* Devices of a programmable NIC. */
struct kvc_kvdirect_card {
    const struct kvc_pcie *pcie;
    const struct kvc_fpga *fpga;
    const struct kvc_nic *nic;
};

/* The mean operation of a workload. */
struct kvc_kvdirect_operation_mean {
    struct kvc_kvdirect_accesses accesses;
    double put_frac;                      /* Share of the operations that write. */
    double lambda_clocks;                 /* Clocks for which an operation occupies the user's function. */
    double request_bytes, response_bytes; /* Inside a packet. */
    uint32_t packet_requests;             /* Most requests that a client packs into a packet. */
    double packet_mean;                   /* Mean requests of a full packet. */
};

/* Returns the loads at the dispatch ratio l = `dispatch_frac`. */
struct kvc_kvdirect_loads kvc_kvdirect_loads_of(const struct kvc_kvdirect_card *card,
                                                const struct kvc_kvdirect_operation_mean *mean,
                                                const struct kvc_card_reuse *reuse, double dispatch_frac,
                                                double merged_frac);

/* Returns the limit of the host [operations/ns]: the memory of its sockets, which all NICs of a node
 * share, or the links between the sockets. *memory_ns is then the time for which an operation occupies the
 * memory of the node. */
double kvc_kvdirect_host_limit_per_ns(const struct kvc_kvdirect_loads *loads, const struct kvc_pcie *pcie,
                                      const struct kvc_dram *dram, double sockets, double socket_bytes_per_s,
                                      double *memory_ns);

/* Returns the dispatch ratio l at which PCIe and the NIC's DRAM take equally long for the reads of an
 * operation: 1 if PCIe always takes longer, 0 without DRAM. The equation of sec. 3.3.4 has no writes, and
 * with a ratio for PUTs of 10 bytes one NIC would exceed the published rate of PUTs by far (fig. 16b). */
double kvc_kvdirect_best_dispatch(const struct kvc_kvdirect_card *card,
                                  const struct kvc_kvdirect_operation_mean *mean,
                                  const struct kvc_card_reuse *reuse);

#endif
