#include "models/kvdirect/share.h"

#include <math.h>

#include "sim/devices/dram.h"

_Static_assert((int)KVC_KVDIRECT_SOCKETS_MAX <= (int)KVC_DRAWS_MAX,
               "an activity draws from the memory of all sockets");

/* The ports of a NIC have no other user. */
static void own_port(struct kvc_slice_mover *mover, struct kvc_kvdirect_share *share, uint32_t from,
                     uint32_t to)
{
    kvc_slice_outages_add_route(&share->outages, from, to);
    kvc_slice_mover_own_link(mover, from, to);
}

static void open_transfer(struct kvc_slice_mover *mover, struct kvc_kvdirect_share *share, uint32_t from,
                          uint32_t to)
{
    mover->outages.platform = share->outages.platform;
    kvc_slice_outages_add_route(&mover->outages, from, to);
    kvc_slice_outages_add_route(&share->outages, from, to);
    kvc_slice_mover_open_transfer(mover, from, to);
}

void kvc_kvdirect_share_open(struct kvc_kvdirect_share *share, const struct kvc_kvdirect_machine *machine,
                             const struct kvc_scenario *scenario, uint32_t number,
                             struct kvc_kvdirect_processor *processor)
{
    const struct kvc_pcie *pcie = kvc_pcie_of(&scenario->node);
    uint32_t node = number / machine->nics, here = number % machine->nics % machine->sockets;
    uint32_t first = node * machine->sockets, port = machine->port[number];
    bool local = kvc_kvdirect_config_of(scenario)->placement == KVC_KVDIRECT_LOCAL;
    uint32_t sockets = local ? 1 : machine->sockets;
    *share = (struct kvc_kvdirect_share){.processor = processor,
                                         .dram = kvc_dram_of(&scenario->node),
                                         .nics = machine->nics,
                                         .sockets = sockets,
                                         .memories = machine->sockets,
                                         .link_bytes_per_s =
                                             (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie),
                                         .outages = {.platform = machine->platform}};
    kvc_slice_outages_add_host(&share->outages, machine->card[number]);
    kvc_slice_mover_open_work(&share->cores, machine->cpu[first + here]);
    kvc_slice_mover_open_work(&share->card, machine->card[number]);
    own_port(&share->receive, share, machine->clients[node], port);
    own_port(&share->send, share, port, machine->clients[node]);
    share->memory.hosts = sockets;
    for (uint32_t s = 0; s < sockets; s++) {
        uint32_t dram = machine->dram[first + (local ? here : s)];
        share->memory.host[s] = dram;
        open_transfer(&share->up[s], share, port, dram);
        open_transfer(&share->down[s], share, dram, port);
    }
    kvc_slice_mover_open(&share->memory);
}

void kvc_kvdirect_share_close(struct kvc_kvdirect_share *share)
{
    kvc_slice_mover_close(&share->memory);
    kvc_slice_mover_close(&share->cores);
    kvc_slice_mover_close(&share->card);
    for (uint32_t s = 0; s < share->sockets; s++) {
        kvc_slice_mover_close(&share->up[s]);
        kvc_slice_mover_close(&share->down[s]);
    }
}

/* Sets how much the other users of the host slow the next slices down. */
static void apply(struct kvc_kvdirect_share *share)
{
    struct kvc_kvdirect_memory_engine *memory = &share->processor->memory;
    double down = share->memory.stretch, up = share->memory.stretch;
    for (uint32_t s = 0; s < share->sockets; s++) {
        down = fmax(down, share->down[s].stretch);
        up = fmax(up, share->up[s].stretch);
    }
    memory->root.down_stretch = down;
    memory->root.up_stretch = up;
}

void kvc_kvdirect_share_advance(struct kvc_kvdirect_share *share, double until_ns)
{
    struct kvc_slice_stop stop =
        kvc_slice_outages_split(&share->outages, until_ns - share->ended_ns, &share->off);
    share->ended_ns = until_ns;
    apply(share);
    if (stop.before_ns > 0) {
        kvc_kvdirect_processor_stop(share->processor, stop.before_ns);
    }
    kvc_kvdirect_processor_advance(share->processor, until_ns - stop.after_ns);
    if (stop.after_ns > 0) {
        kvc_kvdirect_processor_stop(share->processor, stop.after_ns);
    }
}

/* Returns the accesses to host memory since the last call. Gathering cores read and write it for the card,
 * whose own accesses then go to queues in the cache of the host. */
static struct kvc_dram_load accesses_of(struct kvc_kvdirect_share *share)
{
    const struct kvc_kvdirect_memory_engine *memory = &share->processor->memory;
    const struct kvc_dram_load *now = &memory->root.load, *before = &share->before.load;
    struct kvc_dram_load load = {now->random_reads - before->random_reads,
                                 now->random_writes - before->random_writes,
                                 now->streamed_bytes - before->streamed_bytes};
    if (memory->gather.cores > 0) {
        load = (struct kvc_dram_load){.random_reads = (double)(memory->gather.accesses - share->gathered)};
        share->gathered = memory->gather.accesses;
    }
    return load;
}

void kvc_kvdirect_share_post(struct kvc_kvdirect_share *share)
{
    const struct kvc_kvdirect_processor *processor = share->processor;
    const struct kvc_kvdirect_memory_engine *memory = &processor->memory;
    struct kvc_dram_load load = accesses_of(share);
    double up = memory->root.up_bytes - share->before.up_bytes;
    double down = memory->root.down_bytes - share->before.down_bytes;
    double byte_ns = 1e9 / share->link_bytes_per_s;
    double core_ns = processor->counts.daemon_busy_ns + memory->gather.busy_ns;
    double gathering_ns = memory->gather.access_ns / fmax(memory->gather.cores, 1) * load.random_reads;
    kvc_slice_mover_post(&share->memory, kvc_dram_channel_ns(share->dram, &load),
                         fmax(fmax(up, down) * byte_ns, gathering_ns));
    for (uint32_t s = 0; s < share->sockets; s++) {
        kvc_slice_mover_post(&share->up[s], up / share->sockets, up * byte_ns);
        kvc_slice_mover_post(&share->down[s], down / share->sockets, down * byte_ns);
    }
    const struct kvc_kvdirect_counts *counts = &processor->counts;
    double port_bytes_per_ns = (double)processor->nic->ports * processor->nic->bytes_per_s * 1e-9;
    kvc_slice_mover_post_busy(&share->cores, &share->core_ns, core_ns, 1);
    kvc_slice_mover_post_busy(
        &share->card, &share->card_ns,
        fmax(counts->decode_busy_ns, fmax(counts->access_busy_ns[0], counts->access_busy_ns[1])), 1);
    kvc_slice_mover_post_busy(&share->receive, &share->receive_ns, counts->receive_busy_ns,
                              port_bytes_per_ns);
    kvc_slice_mover_post_busy(&share->send, &share->send_ns, counts->send_busy_ns, port_bytes_per_ns);
    share->before = memory->root;
}
