#include "models/megakv/costs.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/options.h"
#include "sim/workload/batch.h"
#include "sim/workload/sizes.h"

/* Of a request's entries in its batch: 32-bit signatures, hashes and locations (sec. 4.1), a pointer to the
 * request. */
enum { SIGNATURE_BYTES = 4, HASH_BYTES = 4, LOCATION_BYTES = 4, POINTER_BYTES = 8 };

double kvc_megakv_item_lines(const struct kvc_node *node, uint32_t key_bytes, uint32_t value_bytes)
{
    return ceil((KVC_SLAB_HEADER_BYTES + key_bytes + value_bytes) / node->dram.line_bytes);
}

struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_node *node, int op, uint32_t key_bytes,
                                            uint32_t value_bytes)
{
    double job_bytes = SIGNATURE_BYTES + HASH_BYTES + (op == KVC_OP_SET ? LOCATION_BYTES : 0);
    struct kvc_cpu_cost cost = {.compute_ns = node->cpu.packet_ns,
                                .stall_ns = kvc_dram_stream_ns(&node->dram, job_bytes)};
    if (op == KVC_OP_SET)
        cost.stall_ns += kvc_dram_stream_ns(&node->dram, key_bytes + value_bytes) +
                         kvc_dram_object_ns(&node->dram, kvc_megakv_item_lines(node, key_bytes, value_bytes));
    return cost;
}

static double response_payload(int api, int outcome, uint32_t key_bytes, uint32_t value_bytes)
{
    if (outcome != KVC_MEGAKV_HIT)
        return 0;
    return api == KVC_MEGAKV_GETK ? key_bytes + value_bytes : value_bytes;
}

struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_node *node, int api, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes)
{
    struct kvc_cpu_cost cost = {.compute_ns = node->cpu.packet_ns};
    if (outcome != KVC_MEGAKV_DONE)
        cost.stall_ns = kvc_dram_stream_ns(&node->dram, LOCATION_BYTES);
    if (outcome == KVC_MEGAKV_HIT)
        cost.stall_ns +=
            kvc_dram_object_ns(&node->dram, kvc_megakv_item_lines(node, key_bytes, value_bytes)) +
            kvc_dram_stream_ns(&node->dram, response_payload(api, outcome, key_bytes, value_bytes));
    if (outcome == KVC_MEGAKV_MISMATCH)
        cost.stall_ns += kvc_dram_object_ns(&node->dram, 1);
    if (api == KVC_MEGAKV_GET && (outcome == KVC_MEGAKV_HIT || outcome == KVC_MEGAKV_MISMATCH))
        cost.stall_ns += kvc_dram_stream_ns(&node->dram, POINTER_BYTES) + kvc_cpu_llc_hit_ns(&node->cpu);
    return cost;
}

double kvc_megakv_request_bytes(const struct kvc_node *node, int op, uint32_t key_bytes, uint32_t value_bytes)
{
    return (double)node->nic.request_header_bytes + key_bytes + (op == KVC_OP_SET ? value_bytes : 0);
}

double kvc_megakv_response_bytes(const struct kvc_node *node, int api, int outcome, uint32_t key_bytes,
                                 uint32_t value_bytes)
{
    return (double)node->nic.response_header_bytes + response_payload(api, outcome, key_bytes, value_bytes);
}

/* Adds what one operation on one key contributes with probability `weight`. */
static void add_weighted(struct kvc_megakv_means *means, const struct kvc_scenario *scenario, int op,
                         double weight, uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_node *node = &scenario->node;
    const struct kvc_megakv *system = scenario->system;
    int outcome = op == KVC_OP_GET ? KVC_MEGAKV_HIT : KVC_MEGAKV_DONE;
    struct kvc_cpu_cost receive = kvc_megakv_receive_cost(node, op, key_bytes, value_bytes);
    struct kvc_cpu_cost send = kvc_megakv_send_cost(node, system->api, outcome, key_bytes, value_bytes);
    means->receive.compute_ns += weight * receive.compute_ns;
    means->receive.stall_ns += weight * receive.stall_ns;
    means->send.compute_ns += weight * send.compute_ns;
    means->send.stall_ns += weight * send.stall_ns;
    means->request_bytes += weight * kvc_megakv_request_bytes(node, op, key_bytes, value_bytes);
    means->response_bytes +=
        weight * kvc_megakv_response_bytes(node, system->api, outcome, key_bytes, value_bytes);
    if (op != KVC_OP_DELETE)
        means->dram_bytes +=
            weight * kvc_megakv_item_lines(node, key_bytes, value_bytes) * node->dram.line_bytes;
}

struct kvc_megakv_means kvc_megakv_means_of(const struct kvc_scenario *scenario)
{
    enum { SAMPLES = 4096 };
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_sizes *sizes = kvc_sizes_create(workload);
    struct kvc_megakv_means means = {0};
    if (sizes == NULL)
        KVC_BUG("no memory for the size distribution");
    uint32_t samples = kvc_sizes_fixed(sizes) ? 1 : SAMPLES;
    for (uint32_t i = 0; i < samples; i++) {
        uint64_t key_id = (uint64_t)((double)workload->keys * i / samples);
        uint8_t key_bytes;
        uint32_t value_bytes;
        kvc_sizes_fill(sizes, &key_id, 1, &key_bytes, &value_bytes);
        add_weighted(&means, scenario, KVC_OP_GET, workload->get_frac / samples, key_bytes, value_bytes);
        add_weighted(&means, scenario, KVC_OP_SET, workload->set_frac / samples, key_bytes, value_bytes);
        add_weighted(&means, scenario, KVC_OP_DELETE, workload->delete_frac / samples, key_bytes,
                     value_bytes);
        means.item_bytes += (double)kvc_slab_item_bytes(key_bytes, value_bytes) / samples;
    }
    kvc_sizes_free(sizes);
    return means;
}
