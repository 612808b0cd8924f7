#include "models/rdma/predict.h"

#include <math.h>

#include "models/rdma/resources.h"
#include "sim/metrics/bottleneck.h"

/* The mean times for which an operation occupies each resource, and its mean latency [ns]. `core` and `key`
 * are the busiest core and key. */
struct loads {
    double receive_ns, message_ns, core_ns, key_ns, send_ns, latency_ns;
};

static void add_load(struct loads *loads, const struct kvc_rdma_config *config, enum kvc_op op, double share)
{
    const struct kvc_nic *nic = config->nic;
    uint32_t key_bytes = config->key_bytes, value_bytes = config->value_bytes;
    double messages = kvc_rdma_messages_of(config, op);
    double receive_ns = kvc_nic_wire_ns(nic, kvc_rdma_request_bytes(config, op, key_bytes, value_bytes), 1);
    double send_ns = kvc_nic_wire_ns(nic, kvc_rdma_response_bytes(config, op, value_bytes), 1);
    double popular = config->largest_share, unit_ns = config->read_ns;
    loads->receive_ns += share * messages * receive_ns;
    loads->send_ns += share * messages * send_ns;
    loads->message_ns += share * messages * config->message_ns;
    switch (kvc_rdma_unit_of(config, op)) {
    case KVC_RDMA_NIC:
        break;
    case KVC_RDMA_KEY:
        unit_ns = fmax(unit_ns, config->atomic_ns);
        loads->key_ns += share * popular * config->atomic_ns;
        break;
    case KVC_RDMA_CORE:
        unit_ns = config->core_ns;
        loads->core_ns += share * fmax(1.0 / config->cores, popular) * unit_ns;
        break;
    }
    loads->latency_ns +=
        share * messages * (2 * nic->latency_ns + receive_ns + config->message_ns + unit_ns + send_ns);
}

enum kvc_status kvc_rdma_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                 struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_rdma_config *config = kvc_rdma_config_of(scenario);
    struct loads loads = {0};
    add_load(&loads, config, KVC_OP_GET, workload->get_frac);
    add_load(&loads, config, KVC_OP_SET, workload->set_frac);
    add_load(&loads, config, KVC_OP_DELETE, workload->delete_frac);
    double slowest_ns = fmax(fmax(loads.receive_ns, loads.send_ns),
                             fmax(loads.message_ns, fmax(loads.core_ns, loads.key_ns)));
    double per_ns = 1 / slowest_ns;
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        per_ns = fmin(per_ns, config->outstanding / loads.latency_ns);
    } else {
        per_ns = fmin(per_ns, kvc_workload_rate_max_mops(workload) * 1e-3);
    }
    result->throughput_mops = per_ns * 1e3;
    result->latency_mean_us = loads.latency_ns / 1e3;
    result->latency_p95_us = NAN;
    const double utilization_frac[KVC_RDMA_STAGES] = {
        [KVC_RDMA_AT_RECEIVE] = per_ns * loads.receive_ns, [KVC_RDMA_AT_MESSAGE] = per_ns * loads.message_ns,
        [KVC_RDMA_AT_CORE] = per_ns * loads.core_ns,       [KVC_RDMA_AT_KEY] = per_ns * loads.key_ns,
        [KVC_RDMA_AT_SEND] = per_ns * loads.send_ns,
    };
    kvc_stages_predict(kvc_rdma_stages, scenario, utilization_frac, result);
    kvc_bottleneck_find(result);
    return KVC_OK;
}
