/* What one request costs on Mega-KV's receiver and sender threads.
 *
 * Shared by the closed form and the simulation. The unit costs come from the hardware profile; what is
 * charged: receiver  every request: packet I/O and parsing (compute), and its index job (signature and hash,
 * for a SET the location too) written to the batch as a stream (stall). SET: the payload is read from the
 * packet as a stream and written to its item, whose first line is a random access (stall). sender    every
 * response: packet I/O (compute). GET: its location read from the batch as a stream (stall). GET that hit:
 * the item's lines, the first at random, and the response written as a stream (stall). api get: a pointer to
 * the request is read as a stream and the request's key fetched again to compare; two cycles after it was
 * parsed it has left the core's own caches, so this is one last-level-cache hit (stall). SET, DELETE: the
 * acknowledgement only. Not charged (no published or measured cost): signature and hash computation,
 * allocation and the CLOCK bitmap, stores into the NIC's rings. */
#ifndef KVC_MODELS_MEGAKV_COSTS_H
#define KVC_MODELS_MEGAKV_COSTS_H

#include <stdint.h>

#include "sim/devices/cpu.h"
#include "sim/scenario.h"

/* Outcome of a request at its sender. */
enum kvc_megakv_outcome {
    KVC_MEGAKV_HIT,
    KVC_MEGAKV_MISS,     /* no location found */
    KVC_MEGAKV_MISMATCH, /* a location was found, but the item is another key or was evicted */
    KVC_MEGAKV_DONE,     /* SET or DELETE */
    KVC_MEGAKV_OUTCOMES,
};

/* Lines of an item with its header. */
double kvc_megakv_item_lines(const struct kvc_node *node, uint32_t key_bytes, uint32_t value_bytes);

struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_node *node, int op, uint32_t key_bytes,
                                            uint32_t value_bytes);

/* `api`: enum kvc_megakv_api. */
struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_node *node, int api, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes);

/* Bytes of a request and of a response inside a frame. */
double kvc_megakv_request_bytes(const struct kvc_node *node, int op, uint32_t key_bytes,
                                uint32_t value_bytes);
double kvc_megakv_response_bytes(const struct kvc_node *node, int api, int outcome, uint32_t key_bytes,
                                 uint32_t value_bytes);

/* Means over the workload's operations and keys (all GETs hit), for the closed form and for frame packing. */
struct kvc_megakv_means {
    struct kvc_cpu_cost receive, send;
    double request_bytes, response_bytes;
    double item_bytes;
    double dram_bytes; /* moved between memory and cores per request */
};
struct kvc_megakv_means kvc_megakv_means_of(const struct kvc_scenario *scenario);

#endif
