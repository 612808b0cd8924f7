#include "models/megakv/sizes.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "sim/base/diag.h"
#include "sim/workload/sizes.h"

enum { LINE_BYTES = 64 };

double kvc_megakv_touched_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t bytes = KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes;
    uint32_t apart = kvc_megakv_slab_item_bytes(key_bytes, value_bytes), lines = 0, places = 0, begin = 0;
    do { /* Until an item begins with a line again. */
        lines += (begin + bytes + LINE_BYTES - 1) / LINE_BYTES;
        places++;
        begin = (begin + apart) % LINE_BYTES;
    } while (begin != 0);
    return lines == places ? bytes : (double)LINE_BYTES * lines / places;
}

double kvc_megakv_item_lines(const struct kvc_dram *dram, uint32_t key_bytes, uint32_t value_bytes)
{
    return ceil((KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes + value_bytes) / dram->line_bytes);
}

double kvc_megakv_response_payload(enum kvc_megakv_api api, enum kvc_megakv_outcome outcome,
                                   uint32_t key_bytes, uint32_t value_bytes)
{
    if (outcome != KVC_MEGAKV_HIT) {
        return 0;
    }
    return api == KVC_MEGAKV_GETK ? key_bytes + value_bytes : value_bytes;
}

double kvc_megakv_request_bytes(const struct kvc_nic *nic, enum kvc_op op, uint32_t key_bytes,
                                uint32_t value_bytes)
{
    return (double)nic->request_header_bytes + key_bytes + (op == KVC_OP_SET ? value_bytes : 0);
}

double kvc_megakv_response_bytes(const struct kvc_nic *nic, enum kvc_megakv_api api,
                                 enum kvc_megakv_outcome outcome, uint32_t key_bytes, uint32_t value_bytes)
{
    return (double)nic->response_header_bytes +
           kvc_megakv_response_payload(api, outcome, key_bytes, value_bytes);
}

enum kvc_megakv_outcome kvc_megakv_usual_outcome(enum kvc_op op)
{
    return op == KVC_OP_GET ? KVC_MEGAKV_HIT : KVC_MEGAKV_DONE;
}

double kvc_megakv_op_frac(const struct kvc_workload *workload, enum kvc_op op)
{
    return op == KVC_OP_GET   ? workload->get_frac
           : op == KVC_OP_SET ? workload->set_frac
                              : workload->delete_frac;
}

uint32_t kvc_megakv_sample_sizes(const struct kvc_workload *workload, struct kvc_megakv_size_sample *sample)
{
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    if (sizes == NULL) {
        kvc_out_of_memory("the size distribution");
    }
    uint32_t samples = kvc_sizes_fixed(sizes) ? 1 : KVC_MEGAKV_SIZE_SAMPLES_MAX;
    for (uint32_t i = 0; i < samples; i++) {
        uint64_t key_id = (uint64_t)((double)workload->keys * i / samples);
        sample[i].weight = 1.0 / samples;
        kvc_sizes_fill(sizes, &key_id, 1, &sample[i].key_bytes, &sample[i].value_bytes);
    }
    kvc_sizes_free(sizes);
    return samples;
}

struct kvc_megakv_means kvc_megakv_means_of(const struct kvc_workload *workload, const struct kvc_dram *dram,
                                            const struct kvc_nic *nic, enum kvc_megakv_api api)
{
    struct kvc_megakv_means means = {0};
    struct kvc_megakv_size_sample sample[KVC_MEGAKV_SIZE_SAMPLES_MAX];
    uint32_t samples = kvc_megakv_sample_sizes(workload, sample);
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t key_bytes = sample[i].key_bytes, value_bytes = sample[i].value_bytes;
        means.key_bytes += key_bytes * sample[i].weight;
        means.item_bytes += kvc_megakv_slab_item_bytes(key_bytes, value_bytes) * sample[i].weight;
        means.touched_bytes += kvc_megakv_touched_bytes(key_bytes, value_bytes) * sample[i].weight;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            double weight = kvc_megakv_op_frac(workload, op) * sample[i].weight;
            if (nic != NULL) {
                means.request_bytes += weight * kvc_megakv_request_bytes(nic, op, key_bytes, value_bytes);
                means.response_bytes +=
                    weight *
                    kvc_megakv_response_bytes(nic, api, kvc_megakv_usual_outcome(op), key_bytes, value_bytes);
            }
            if (dram != NULL && op != KVC_OP_DELETE) {
                means.dram_bytes +=
                    weight * kvc_megakv_item_lines(dram, key_bytes, value_bytes) * dram->line_bytes;
            }
        }
    }
    return means;
}
