#include "models/shards/sizes.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "sim/base/diag.h"
#include "sim/workload/phases.h"
#include "sim/workload/sizes.h"
#include "sim/workload/tenants.h"

enum { LINE_BYTES = 64, SLOT_BYTES = 8 };

double kvc_shards_index_bytes(double keys)
{
    static const double load_most = 0.9;
    double bytes = LINE_BYTES;
    while (keys * SLOT_BYTES > load_most * bytes) {
        bytes *= 2;
    }
    return bytes;
}

double kvc_shards_slots(double index_bytes)
{
    return index_bytes / SLOT_BYTES;
}

double kvc_shards_touched_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes;
    uint32_t apart = kvc_megakv_slab_item_bytes(key_bytes, value_bytes), lines = 0, places = 0, begin = 0;
    do { /* Repeats until an item starts at a line boundary again. */
        lines += (begin + bytes + LINE_BYTES - 1) / LINE_BYTES;
        places++;
        begin = (begin + apart) % LINE_BYTES;
    } while (begin != 0);
    return lines == places ? bytes : (double)LINE_BYTES * lines / places;
}

double kvc_shards_item_lines(const struct kvc_dram *dram, uint32_t key_bytes, uint32_t value_bytes)
{
    return ceil((KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes) / dram->line_bytes);
}

uint32_t kvc_shards_hit_payload(bool with_key, uint32_t key_bytes, uint32_t value_bytes)
{
    return with_key ? key_bytes + value_bytes : value_bytes;
}

double kvc_shards_request_bytes(const struct kvc_nic *nic, enum kvc_op op, uint32_t key_bytes,
                                uint32_t value_bytes)
{
    return (double)nic->request_header_bytes + key_bytes + (op == KVC_OP_SET ? value_bytes : 0);
}

double kvc_shards_op_frac(const struct kvc_workload *workload, enum kvc_op op)
{
    return op == KVC_OP_GET   ? workload->get_frac
           : op == KVC_OP_SET ? workload->set_frac
                              : workload->delete_frac;
}

static uint32_t sample_tenants(const struct kvc_workload *workload, struct kvc_shards_size_sample *sample)
{
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        const struct kvc_tenant *tenant = &workload->tenants[i];
        sample[i] = (struct kvc_shards_size_sample){.weight = (double)tenant->keys / (double)workload->keys,
                                                    .key_bytes = (uint8_t)tenant->key_bytes,
                                                    .value_bytes = (uint32_t)tenant->value_bytes};
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            sample[i].requests[op] = kvc_workload_tenant_share(workload, i) * kvc_tenants_op_frac(tenant, op);
        }
    }
    return workload->tenant_count;
}

/* Each phase has an equal part of the keys, and requests of its part of the time. */
static uint32_t sample_phases(const struct kvc_workload *workload, struct kvc_shards_size_sample *sample)
{
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        const struct kvc_workload one = kvc_phases_workload(workload, i);
        double time_frac = kvc_phases_length_ns(workload, i) / kvc_phases_cycle_ns(workload);
        sample[i] = (struct kvc_shards_size_sample){.weight = (double)one.keys / (double)workload->keys,
                                                    .key_bytes = (uint8_t)one.key_bytes,
                                                    .value_bytes = (uint32_t)one.value_bytes};
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            sample[i].requests[op] = time_frac * kvc_shards_op_frac(&one, op);
        }
    }
    return workload->phase_count;
}

static uint32_t sample_values(const struct kvc_workload *workload, struct kvc_shards_size_sample *sample)
{
    for (uint32_t i = 0; i < workload->value_count; i++) {
        sample[i] = (struct kvc_shards_size_sample){.weight = kvc_workload_values_keys_frac(workload, i),
                                                    .key_bytes = (uint8_t)workload->key_bytes,
                                                    .value_bytes = (uint32_t)workload->values[i].value_bytes};
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            sample[i].requests[op] =
                kvc_workload_values_requests_frac(workload, i) * kvc_shards_op_frac(workload, op);
        }
    }
    return workload->value_count;
}

uint32_t kvc_shards_sample_sizes(const struct kvc_workload *workload, struct kvc_shards_size_sample *sample)
{
    if (workload->tenant_count > 0) {
        return sample_tenants(workload, sample);
    }
    if (workload->phase_count > 0) {
        return sample_phases(workload, sample);
    }
    if (workload->value_count > 0 && workload->arrival != KVC_ARRIVAL_TRACE) {
        return sample_values(workload, sample);
    }
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    uint32_t samples = kvc_sizes_fixed(sizes) ? 1 : KVC_SHARDS_SIZE_SAMPLES_MAX;
    for (uint32_t i = 0; i < samples; i++) {
        uint64_t key_id = (uint64_t)((double)workload->keys * i / samples);
        sample[i].weight = 1.0 / samples;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            sample[i].requests[op] = kvc_shards_op_frac(workload, op) * sample[i].weight;
        }
        kvc_sizes_fill(sizes, &key_id, 1, &sample[i].key_bytes, &sample[i].value_bytes);
    }
    kvc_sizes_free(sizes);
    return samples;
}

struct kvc_shards_means kvc_shards_means_of(const struct kvc_workload *workload, const struct kvc_dram *dram,
                                            const struct kvc_nic *nic, bool with_key)
{
    struct kvc_shards_means means = {0};
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    uint32_t samples = kvc_shards_sample_sizes(workload, sample);
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t key_bytes = sample[i].key_bytes, value_bytes = sample[i].value_bytes;
        means.key_bytes += key_bytes * sample[i].weight;
        means.item_bytes += kvc_megakv_slab_item_bytes(key_bytes, value_bytes) * sample[i].weight;
        means.touched_bytes += kvc_shards_touched_bytes(key_bytes, value_bytes) * sample[i].weight;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            double weight = sample[i].requests[op];
            if (nic != NULL) {
                means.request_bytes += weight * kvc_shards_request_bytes(nic, op, key_bytes, value_bytes);
                uint32_t payload =
                    op == KVC_OP_GET ? kvc_shards_hit_payload(with_key, key_bytes, value_bytes) : 0;
                means.response_bytes += weight * ((double)nic->response_header_bytes + payload);
            }
            if (dram != NULL && op != KVC_OP_DELETE) {
                means.dram_bytes +=
                    weight * kvc_shards_item_lines(dram, key_bytes, value_bytes) * dram->line_bytes;
            }
        }
    }
    return means;
}
