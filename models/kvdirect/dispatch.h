/* KV-Direct's DRAM load dispatcher: which memory accesses go to the NIC's own DRAM, and what they find there.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.4 and sec. 4. A share l of host memory, by a hash of the line's
 * address, may be cached in the NIC's DRAM; the rest is always read and written over PCIe. The cache has one
 * place for each line (a direct map), 64 bytes, written back when another line takes its place; its tag and
 * dirty bit lie in spare bits of the line, so that looking is a read of the DRAM.
 *
 * Functional alone: `kvc_kvdirect_dispatch` turns an access of the table into steps, which memory.h gives
 * their time. The cache's state follows the order of these calls. */
#ifndef KVC_MODELS_KVDIRECT_DISPATCH_H
#define KVC_MODELS_KVDIRECT_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kvdirect/table.h"
#include "sim/base/rng.h"

enum { KVC_KVDIRECT_LINE_BYTES = 64 };

enum kvc_kvdirect_step_kind {
    KVC_KVDIRECT_HOST_READ,   /* DMA */
    KVC_KVDIRECT_HOST_WRITE,  /* DMA */
    KVC_KVDIRECT_CACHE_READ,  /* a hit: the NIC's DRAM is read */
    KVC_KVDIRECT_CACHE_FETCH, /* a miss: it is read in vain, the line comes by DMA and is stored */
    KVC_KVDIRECT_CACHE_WRITE, /* it is read for the tag and written */
    KVC_KVDIRECT_STEP_KINDS,
};

/* Part of an access; all parts of one are under way at the same time. */
struct kvc_kvdirect_step {
    uint8_t kind;     /* enum kvc_kvdirect_step_kind */
    bool evicts;      /* a line of the cache goes to the host */
    bool fetches;     /* CACHE_WRITE of a part of a line that is not there: it comes first */
    bool ends_access; /* the last part */
    uint16_t endpoint;
    uint16_t bytes;
};

struct kvc_kvdirect_cache_stats {
    uint64_t lines;      /* of all accesses */
    uint64_t cacheable;  /* of them */
    uint64_t hits;       /* of those: found */
    uint64_t writebacks; /* lines evicted that were newer than the host's */
};

struct kvc_kvdirect_dispatch {
    double cacheable_frac;    /* l */
    uint64_t cacheable_below; /* of the line's hash */
    bool all_cacheable;
    uint64_t places;
    uint32_t *place; /* tag + 1, and the highest bit where it is newer than the host's; 0: empty */
    uint32_t endpoints;
    struct kvc_kvdirect_cache_stats stats;
};

/* A cache of `dram_bytes` (0: none, nothing is cacheable). False: no memory. */
bool kvc_kvdirect_dispatch_open(struct kvc_kvdirect_dispatch *dispatch, double cacheable_frac,
                                double dram_bytes, uint32_t endpoints);
void kvc_kvdirect_dispatch_close(struct kvc_kvdirect_dispatch *dispatch);

bool kvc_kvdirect_dispatch_cacheable(const struct kvc_kvdirect_dispatch *dispatch, uint64_t line);

/* Puts a line into the cache, as it would be after a long run. */
void kvc_kvdirect_dispatch_place(struct kvc_kvdirect_dispatch *dispatch, uint64_t line, bool changed);

enum { KVC_KVDIRECT_STEPS_MAX = 9 }; /* of an access: 512 bytes may begin within a line */

/* Steps of one access; how many. */
uint32_t kvc_kvdirect_dispatch_steps(struct kvc_kvdirect_dispatch *dispatch,
                                     const struct kvc_kvdirect_table_access *access,
                                     struct kvc_kvdirect_step *step);

#endif
