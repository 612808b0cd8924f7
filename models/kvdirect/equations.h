/* KV-Direct's closed form: what the NIC's DRAM serves, what each resource takes of an operation (how often
 * memory is accessed: layout.h).
 *
 * Source: KV-Direct (SOSP 2017), sec. 2.4, 3.3.4 and 5.2.2. The paper takes the hit probability of the
 * cache as log(cache) / log(cacheable corpus); here it is the exact sum over the keys of a direct map in
 * which each place holds the line that was used last. */
#ifndef KVC_MODELS_KVDIRECT_EQUATIONS_H
#define KVC_MODELS_KVDIRECT_EQUATIONS_H

#include <stdint.h>

#include "models/kvdirect/layout.h"
#include "sim/devices/fpga.h"
#include "sim/devices/nic.h"
#include "sim/devices/pcie.h"
#include "sim/workload/workload.h"

/* Hit probability of the cache for an access, by l. Filled once, it answers for any l. */
enum { KVC_KVDIRECT_REUSE_STEPS = 1024 };
struct kvc_kvdirect_reuse {
    uint32_t steps;
    double weight[KVC_KVDIRECT_REUSE_STEPS]; /* of accesses whose line was used so long ago */
    double lines[KVC_KVDIRECT_REUSE_STEPS];  /* other lines used since */
    double places;
};

/* `places`: lines of all caches together. */
void kvc_kvdirect_reuse_of(const struct kvc_workload *workload, const struct kvc_kvdirect_accesses *accesses,
                           double buckets, double places, struct kvc_kvdirect_reuse *reuse);

/* h(l), 0..1; l above 0. */
double kvc_kvdirect_hit_frac(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac);

/* What one operation takes of a NIC, ns, at a dispatch ratio. */
struct kvc_kvdirect_loads {
    double clock_ns;  /* of the decoder: one operation a clock */
    double access_ns; /* of the memory access engine: one access a clock */
    double pcie_ns, dram_ns, receive_ns, send_ns;
    double hit_frac, merged_frac;
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
    double request_bytes, response_bytes; /* Inside a packet. */
    uint32_t packet_requests;             /* Requests that a client packs into a packet. */
};

struct kvc_kvdirect_loads kvc_kvdirect_loads_of(const struct kvc_kvdirect_card *card,
                                                const struct kvc_kvdirect_operation_mean *mean,
                                                const struct kvc_kvdirect_reuse *reuse, double dispatch_frac,
                                                double merged_frac);

/* The dispatch ratio l at which PCIe and the NIC's DRAM take equally long for an operation (sec. 3.3.4): 1 if
 * PCIe always takes longer, 0 without DRAM. */
double kvc_kvdirect_best_dispatch(const struct kvc_kvdirect_card *card,
                                  const struct kvc_kvdirect_operation_mean *mean,
                                  const struct kvc_kvdirect_reuse *reuse);

#endif
