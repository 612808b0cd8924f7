#include "models/rdma/predict.h"

#include <math.h>

#include "models/latency.h"
#include "models/rdma/resources.h"
#include "sim/metrics/bottleneck.h"

/* The mean times for which an operation occupies each resource [ns]. `core` and `key` are the busiest core
 * and key. */
struct loads {
    double receive_ns, message_ns, core_ns, key_ns, send_ns;
    double messages;            /* Mean number of messages of an operation. */
    double cores_frac;          /* Share of the operations that come to a core. */
    double core_frac, key_frac; /* Shares of those that come to the busiest core and key. */
    struct kvc_latency_law latency;
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
    loads->messages += share * messages;
    switch (kvc_rdma_unit_of(config, op)) {
    case KVC_RDMA_NIC:
        break;
    case KVC_RDMA_KEY:
        unit_ns = fmax(unit_ns, config->atomic_ns);
        loads->key_ns += share * popular * config->atomic_ns;
        loads->key_frac += share * popular;
        break;
    case KVC_RDMA_CORE:
        unit_ns = config->core_ns;
        loads->core_ns += share * fmax(1.0 / config->cores, popular) * unit_ns;
        loads->cores_frac += share;
        loads->core_frac += share * fmax(1.0 / config->cores, popular);
        break;
    }
    kvc_latency_add(&loads->latency, share,
                    messages * (2 * nic->latency_ns + receive_ns + config->message_ns + unit_ns + send_ns),
                    0);
}

/* Sets the latencies: an operation sends one message after another, each of which may wait. */
static void set_latencies(struct loads *loads, const struct kvc_rdma_config *config,
                          const struct kvc_workload *workload, double per_ns, struct kvc_result *result)
{
    double messages = loads->messages, core_frac = loads->core_frac, key_frac = loads->key_frac;
    const struct {
        const char *name;
        double busy_ns, share, equals_frac, visits;
        enum kvc_latency_group group;
    } queues[] = {{"receive", loads->receive_ns, 1, 1, messages, KVC_LATENCY_IN_LINE},
                  {"message", loads->message_ns, 1, 1, messages, KVC_LATENCY_IN_LINE},
                  {"the busiest core", loads->core_ns, core_frac, loads->cores_frac, 1, KVC_LATENCY_PARALLEL},
                  {"the busiest key", loads->key_ns, key_frac, key_frac, 1, KVC_LATENCY_PARALLEL},
                  {"send", loads->send_ns, 1, 1, messages, KVC_LATENCY_IN_LINE}};
    for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
        double jobs = queues[i].share * queues[i].visits;
        kvc_latency_queue(&loads->latency, workload,
                          &(struct kvc_latency_queue){.group = queues[i].group,
                                                      .name = queues[i].name,
                                                      .servers = 1,
                                                      .job_ns = jobs > 0 ? queues[i].busy_ns / jobs : 0,
                                                      .utilization_frac = per_ns * queues[i].busy_ns,
                                                      .share = queues[i].share,
                                                      .equals_frac = queues[i].equals_frac,
                                                      .visits = queues[i].visits});
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE) {
        kvc_latency_closed(&loads->latency, config->outstanding / per_ns);
    }
    kvc_result_set_latencies(result, &loads->latency, workload);
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
        per_ns = fmin(per_ns, config->outstanding / kvc_latency_alone_ns(&loads.latency));
    } else {
        per_ns = fmin(per_ns, kvc_workload_rate_max_mops(workload) * 1e-3);
    }
    result->throughput_mops = per_ns * 1e3;
    set_latencies(&loads, config, workload, per_ns, result);
    const double utilization_frac[KVC_RDMA_STAGES] = {
        [KVC_RDMA_AT_RECEIVE] = per_ns * loads.receive_ns, [KVC_RDMA_AT_MESSAGE] = per_ns * loads.message_ns,
        [KVC_RDMA_AT_CORE] = per_ns * loads.core_ns,       [KVC_RDMA_AT_KEY] = per_ns * loads.key_ns,
        [KVC_RDMA_AT_SEND] = per_ns * loads.send_ns,
    };
    kvc_stages_predict(kvc_rdma_stages, scenario, utilization_frac, result);
    kvc_bottleneck_find(result);
    return KVC_OK;
}
