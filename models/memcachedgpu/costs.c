#include "models/memcachedgpu/costs.h"

#include <math.h>

#include "kernels/memcachedgpu/get.h"
#include "kernels/megakv/slab.h"

enum {
    SECTOR_BYTES = 32,
    WARP = 32,
    COPY_ALIGN = 16, /* Alignment of packets and heads [bytes]. */
    /* Ethernet header, which is part of the packet's bytes. The NIC profile counts it with preamble, FCS and
     * gap. */
    ETHERNET_BYTES = 14,
    MIN_PAYLOAD_BYTES = 46, /* IEEE 802.3: shorter payloads are padded. */
    /* CUDA calls of a batch: the launch, and the event that marks its end. The measured runtime copies a
     * description before, and without GPUDirect packets, heads and results, too. The authors' program
     * (cuda_stream_manager.cpp) copies the packets only, without GPUDirect. */
    BATCH_CALLS = 2,
    COPY_CALLS = 3,
    /* CUDA calls of a SET: the copy of the key, the launch, the copy of the evicted item, and a wait for
     * them.
     */
    SET_CALLS = 4,
};

static const double key_bytes_measured = 16;

static uint32_t aligned(uint32_t bytes, uint32_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static double host_factor(const struct kvc_memcachedgpu_config *config)
{
    return config->profile->host_clock_hz / config->cpu->clock_hz;
}

/* Warps of a block serve as many packets each in both programs. */
struct kvc_gpu_grid kvc_memcachedgpu_get_grid(const struct kvc_memcachedgpu_config *config, uint32_t clock,
                                              uint32_t packets, uint32_t key_bytes, double sectors)
{
    const struct kvc_memcachedgpu_cost_profile *profile = config->profile;
    const struct kvc_gpu *gpu = config->gpu;
    double longer = fmax(key_bytes - key_bytes_measured, 0);
    bool published = config->options->program == KVC_MEMCACHEDGPU_PUBLISHED;
    const struct kvc_gpu_block_work work = {
        .jobs = packets,
        .block_jobs = config->block_packets,
        .threads = config->block_packets * KVC_MEMCACHEDGPU_PACKET_THREADS,
        .shared_bytes = published ? (double)KVC_MEMCACHEDGPU_PUBLISHED_SHARED * config->block_packets
                                  : profile->block_shared_bytes,
        .job_cycles = profile->packet_cycles,
        .block_cycles = profile->block_cycles + profile->key_cycles * longer,
        .accesses = profile->accesses,
        .sectors = sectors};
    return kvc_gpu_grid_of(gpu, &gpu->clocks[clock], &work);
}

struct kvc_gpu_grid kvc_memcachedgpu_set_grid(const struct kvc_memcachedgpu_config *config, uint32_t clock)
{
    const struct kvc_memcachedgpu_cost_profile *profile = config->profile;
    const struct kvc_gpu *gpu = config->gpu;
    double alone_ns =
        profile->set_cycles * 1e9 / gpu->clocks[clock].core_hz + profile->accesses * gpu->access_ns;
    return (struct kvc_gpu_grid){
        .blocks = 1, .threads = WARP, .amount_ns = alone_ns / (double)gpu->sms, .alone_ns = alone_ns};
}

struct kvc_gpu_grid kvc_memcachedgpu_background_grid(const struct kvc_memcachedgpu_config *config,
                                                     uint32_t blocks)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    struct kvc_gpu_grid grid = {.blocks = blocks, .threads = (uint32_t)options->background_threads};
    double at_once = (double)kvc_gpu_blocks_at_once(config->gpu, &grid);
    double rounds = ceil((double)options->background_blocks / at_once);
    grid.alone_ns = options->background_ns / rounds;
    grid.amount_ns = grid.alone_ns / at_once;
    return grid;
}

double kvc_memcachedgpu_packet_sectors(const struct kvc_memcachedgpu_config *config, double key_bytes,
                                       double lines)
{
    double entry_bytes = (double)sizeof(struct kvc_set_assoc_entry) + key_bytes;
    double table = isnan(lines) ? 1 + ceil(entry_bytes / SECTOR_BYTES) : 2 * lines;
    double packet = ceil((KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes + 2) / SECTOR_BYTES);
    double head = ceil((KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes) / SECTOR_BYTES);
    return table + packet + (config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU ? head : 0);
}

static double call_ns(const struct kvc_memcachedgpu_config *config, bool polled)
{
    const struct kvc_memcachedgpu_cost_profile *profile = config->profile;
    double ns = polled && !isnan(profile->call_polled_ns) ? profile->call_polled_ns : profile->call_ns;
    return ns * host_factor(config);
}

struct kvc_cpu_cost kvc_memcachedgpu_receive_cost(const struct kvc_memcachedgpu_config *config,
                                                  double packet_bytes)
{
    struct kvc_cpu_cost cost = {0};
    if (config->feed == KVC_MEMCACHEDGPU_NETWORK) {
        cost.compute_ns = config->cpu->packet_ns;
    }
    if (kvc_memcachedgpu_pre_fills(config)) { /* Each packet has a buffer of its own. */
        double line_bytes = (double)config->dram->line_bytes;
        cost.stall_ns = kvc_dram_stream_ns(config->dram, ceil(packet_bytes / line_bytes) * line_bytes);
    }
    return cost;
}

uint32_t kvc_memcachedgpu_latencies(const struct kvc_memcachedgpu_config *config)
{
    bool measured = config->options->program == KVC_MEMCACHEDGPU_MEASURED;
    return (config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST) + measured;
}

double kvc_memcachedgpu_staged_ns(const struct kvc_memcachedgpu_config *config, double bytes)
{
    double staging = config->profile->staging_bytes_per_s;
    return isnan(staging) ? 0 : bytes / staging * 1e9 * host_factor(config);
}

double kvc_memcachedgpu_launch_cpu_ns(const struct kvc_memcachedgpu_config *config, bool polled,
                                      double copied_bytes)
{
    bool measured = config->options->program == KVC_MEMCACHEDGPU_MEASURED;
    bool host = config->receive == KVC_MEMCACHEDGPU_RECEIVE_HOST;
    double calls = BATCH_CALLS + (measured || host) +
                   (measured && host && !kvc_memcachedgpu_pre_fills(config) ? COPY_CALLS : 0);
    return calls * call_ns(config, polled) +
           (kvc_memcachedgpu_pre_fills(config) ? kvc_memcachedgpu_staged_ns(config, copied_bytes) : 0);
}

double kvc_memcachedgpu_set_calls_ns(const struct kvc_memcachedgpu_config *config, bool polled)
{
    return SET_CALLS * call_ns(config, polled);
}

double kvc_memcachedgpu_set_latency_ns(const struct kvc_memcachedgpu_config *config)
{
    return config->gpu->launch_ns + 2 * config->pcie->latency_ns;
}

double kvc_memcachedgpu_set_cpu_ns(const struct kvc_memcachedgpu_config *config)
{
    return config->profile->set_ns * host_factor(config);
}

struct kvc_cpu_cost kvc_memcachedgpu_answer_cost(const struct kvc_memcachedgpu_config *config, bool found,
                                                 uint32_t head_bytes, uint32_t key_bytes,
                                                 uint32_t value_bytes)
{
    const struct kvc_dram *dram = config->dram;
    struct kvc_cpu_cost cost = {.compute_ns = config->profile->answer_ns * host_factor(config)};
    /* The GPU wrote the heads contiguously, and the core reads them in order. */
    cost.stall_ns = kvc_dram_stream_ns(dram, kvc_memcachedgpu_returned_bytes(head_bytes));
    if (found) {
        double item_bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + (double)key_bytes + value_bytes;
        cost.stall_ns += kvc_dram_object_ns(dram, ceil(item_bytes / dram->line_bytes));
    }
    return cost;
}

struct kvc_dram_load kvc_memcachedgpu_answer_load(const struct kvc_memcachedgpu_config *config, bool found,
                                                  uint32_t head_bytes, uint32_t key_bytes,
                                                  uint32_t value_bytes)
{
    double item_bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + (double)key_bytes + value_bytes;
    double packet_bytes = kvc_memcachedgpu_response_bytes(found, head_bytes, value_bytes);
    /* Heads are written by the GPU and read; packets are written and read by the NIC. */
    return (struct kvc_dram_load){.random_reads = found ? ceil(item_bytes / config->dram->line_bytes) : 0,
                                  .streamed_bytes =
                                      2 * kvc_memcachedgpu_returned_bytes(head_bytes) + 2 * packet_bytes};
}

double kvc_memcachedgpu_wire_ns(const struct kvc_memcachedgpu_config *config, uint32_t packet_bytes)
{
    const struct kvc_nic *nic = config->nic;
    double payload = fmax((double)packet_bytes - ETHERNET_BYTES, MIN_PAYLOAD_BYTES);
    double wire_ns = (payload + (double)nic->frame_overhead_bytes) / nic->bytes_per_s * 1e9;
    double port_packets_per_s = nic->packets_per_s / (double)nic->ports;
    return port_packets_per_s > 0 ? fmax(wire_ns, 1e9 / port_packets_per_s) : wire_ns;
}

double kvc_memcachedgpu_copied_bytes(const struct kvc_memcachedgpu_config *config, uint32_t packet_bytes)
{
    return kvc_memcachedgpu_pre_fills(config)
               ? packet_bytes
               : aligned(packet_bytes, COPY_ALIGN) + (double)sizeof(struct kvc_memcachedgpu_get_packet);
}

double kvc_memcachedgpu_returned_bytes(uint32_t head_bytes)
{
    return aligned(head_bytes, COPY_ALIGN) + (double)sizeof(struct kvc_memcachedgpu_get_result);
}
