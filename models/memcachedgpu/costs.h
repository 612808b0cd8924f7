/* The costs of MemcachedGPU's parts on the scenario's devices. The simulation and the closed form use the
 * same functions. */
#ifndef KVC_MODELS_MEMCACHEDGPU_COSTS_H
#define KVC_MODELS_MEMCACHEDGPU_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/memcachedgpu/config.h"
#include "sim/devices/gpu_blocks.h"

/* Returns the GET kernel for `packets` packets. `key_bytes` is the length of the longest key, `sectors` the
 * random 32-byte sectors of all packets, and `clock` the GPU's clock pair. A kernel always has at least one
 * block. */
struct kvc_gpu_grid kvc_memcachedgpu_get_grid(const struct kvc_memcachedgpu_config *config, uint32_t clock,
                                              uint32_t packets, uint32_t key_bytes, double sectors);

/* Returns the kernel of a SET or DELETE: one warp. */
struct kvc_gpu_grid kvc_memcachedgpu_set_grid(const struct kvc_memcachedgpu_config *config, uint32_t clock);

/* Returns one kernel of the other task. */
struct kvc_gpu_grid kvc_memcachedgpu_background_grid(const struct kvc_memcachedgpu_config *config,
                                                     uint32_t blocks);

/* Returns the 32-byte sectors that a packet touches on average. `lines` is the number of 64-byte lines that
 * the search reads in the table; NaN stands for a search that finds its key. */
double kvc_memcachedgpu_packet_sectors(const struct kvc_memcachedgpu_config *config, double key_bytes,
                                       double lines);

/* Returns the time of a packet on the thread that receives it: the NIC driver's or, if it fills batches, the
 * pre thread. The second reads the packet from memory and writes it to the batch, which stays in a cache. */
struct kvc_cpu_cost kvc_memcachedgpu_receive_cost(const struct kvc_memcachedgpu_config *config,
                                                  double packet_bytes);

/* Returns the time of the pre thread for a batch's calls [ns] if nothing shares its core. `polled` says
 * whether post threads poll events meanwhile. A batch that the thread filled is not pinned, so that the call
 * of its copy moves `copied_bytes` to pinned memory. */
double kvc_memcachedgpu_launch_cpu_ns(const struct kvc_memcachedgpu_config *config, bool polled,
                                      double copied_bytes);

/* Returns the time in which the call of a copy moves bytes that are not pinned to pinned memory [ns]. */
double kvc_memcachedgpu_staged_ns(const struct kvc_memcachedgpu_config *config, double bytes);

/* Returns how many copies of a batch the host waits for: of packets or their description, and of results. */
uint32_t kvc_memcachedgpu_latencies(const struct kvc_memcachedgpu_config *config);

/* Return the compute of the CUDA calls of a SET, and of its part before them [ns]. */
double kvc_memcachedgpu_set_calls_ns(const struct kvc_memcachedgpu_config *config, bool polled);
double kvc_memcachedgpu_set_cpu_ns(const struct kvc_memcachedgpu_config *config);

/* Returns the time from the first of these calls to the kernel's end, without the kernel itself [ns]: a
 * launch and two copies as the host sees them, including its calls. */
double kvc_memcachedgpu_set_latency_ns(const struct kvc_memcachedgpu_config *config);

/* Returns the time of a host thread for one response; `found` says whether it has a value, of `value_bytes`
 * bytes, and `head_bytes` is the length of its head. */
struct kvc_cpu_cost kvc_memcachedgpu_answer_cost(const struct kvc_memcachedgpu_config *config, bool found,
                                                 uint32_t head_bytes, uint32_t key_bytes,
                                                 uint32_t value_bytes);

/* Returns the load of a response on the host's memory. */
struct kvc_dram_load kvc_memcachedgpu_answer_load(const struct kvc_memcachedgpu_config *config, bool found,
                                                  uint32_t head_bytes, uint32_t key_bytes,
                                                  uint32_t value_bytes);

/* Returns the time of a packet on a port [ns]. */
double kvc_memcachedgpu_wire_ns(const struct kvc_memcachedgpu_config *config, uint32_t packet_bytes);

/* Returns the bytes of a packet in the buffers that are copied to the GPU. A thread that fills batches packs
 * the packets one behind another. */
double kvc_memcachedgpu_copied_bytes(const struct kvc_memcachedgpu_config *config, uint32_t packet_bytes);

/* Returns the bytes of a response that the kernel writes to the host: the head and the result. */
double kvc_memcachedgpu_returned_bytes(uint32_t head_bytes);

#endif
