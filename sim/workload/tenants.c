#include "sim/workload/tenants.h"

#include <math.h>

#include "sim/workload/batch.h"
#include "sim/workload/rates.h"

uint32_t kvc_tenants_with_objective(const struct kvc_workload *workload)
{
    uint32_t tenant = 0;
    while (tenant < workload->tenant_count && workload->tenants[tenant].p99_ns <= 0) {
        tenant++;
    }
    return tenant;
}

void kvc_tenants_settle(struct kvc_workload *workload)
{
    double rate_mops = 0, op_frac[KVC_OP_COUNT] = {0};
    if (workload->tenant_count == 0) {
        return;
    }
    workload->keys = 0;
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        const struct kvc_tenant *tenant = &workload->tenants[i];
        rate_mops += tenant->rate_mops;
        workload->keys += tenant->keys;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            op_frac[op] += kvc_workload_tenant_share(workload, i) * kvc_tenants_op_frac(tenant, op);
        }
    }
    workload->rate_mops = workload->rate_of_tenants ? rate_mops : workload->rate_mops;
    workload->get_frac = op_frac[KVC_OP_GET];
    workload->set_frac = op_frac[KVC_OP_SET];
    workload->delete_frac = op_frac[KVC_OP_DELETE];
    workload->popularity = KVC_POPULARITY_TENANTS;
    workload->zipf_s = kvc_tenants_mark(workload->tenants, workload->tenant_count);
}

uint32_t kvc_tenants_first_flow(const struct kvc_workload *workload, uint32_t tenant)
{
    double before = 0, flows = kvc_workload_flows(workload);
    uint32_t first = 0;
    for (uint32_t i = 0; i < tenant; i++) { /* Every tenant has a client. */
        before += kvc_workload_tenant_share(workload, i);
        first = (uint32_t)fmax(first + 1, round(flows * before));
    }
    return first;
}

struct kvc_workload kvc_tenants_workload(const struct kvc_workload *workload, uint32_t tenant)
{
    const struct kvc_tenant *like = &workload->tenants[tenant];
    double share = kvc_workload_tenant_share(workload, tenant);
    struct kvc_workload one;
    kvc_workload_copy(&one, workload);
    one.flows = kvc_tenants_first_flow(workload, tenant + 1) - kvc_tenants_first_flow(workload, tenant);
    one.tenant_count = 0;
    one.keys = like->keys;
    one.key_bytes = like->key_bytes;
    one.value_bytes = like->value_bytes;
    one.get_frac = like->get_frac;
    one.set_frac = kvc_tenants_op_frac(like, KVC_OP_SET);
    one.delete_frac = like->delete_frac;
    one.popularity = like->zipf_s > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM;
    one.zipf_s = like->zipf_s;
    kvc_workload_scale_rates(&one, share);
    return one;
}
