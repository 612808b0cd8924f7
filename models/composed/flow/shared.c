#include "models/composed/flow/shared.h"

#include <math.h>

double kvc_composed_left_of(struct kvc_composed_server *server, enum kvc_composed_shared device,
                            double now_ns)
{
    kvc_composed_fluid_until(&server->fluid[device], now_ns);
    return server->fluid[device].backlog_ns;
}

double kvc_composed_left_to_send(struct kvc_composed_server *server, double now_ns)
{
    return fmax(kvc_composed_left_of(server, KVC_COMPOSED_WIRE, now_ns),
                kvc_composed_left_of(server, KVC_COMPOSED_ROOT_OUT, now_ns));
}

void kvc_composed_take_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                              uint32_t stage, const struct kvc_composed_cost *cost, double now_ns,
                              double over_ns)
{
    enum kvc_composed_place place = server->config->stage[stage].place;
    bool in = place == KVC_COMPOSED_NIC_RX || place == KVC_COMPOSED_PCIE_UP;
    const double work_ns[KVC_COMPOSED_SHARED] = {
        [KVC_COMPOSED_MEMORY] = cost->channel_ns / server->config->host_cores.channels,
        [KVC_COMPOSED_CARD_MEMORY] =
            cost->card_ns > 0 ? cost->card_ns / kvc_composed_card_memory_of(server->config).channels : 0,
        [KVC_COMPOSED_DMA] = cost->dma_ns,
        [KVC_COMPOSED_ROOT_IN] = in ? cost->root_ns : 0,
        [KVC_COMPOSED_ROOT_OUT] = in ? 0 : cost->root_ns,
        [KVC_COMPOSED_WIRE] = place == KVC_COMPOSED_NIC_TX || place == KVC_COMPOSED_NODE ? cost->busy_ns : 0,
    };
    server->channel_ns += cost->channel_ns;
    for (int i = 0; i < KVC_COMPOSED_SHARED; i++) {
        if (work_ns[i] > 0) {
            job->share[i] += kvc_composed_fluid_begin(&server->fluid[i], now_ns, work_ns[i], over_ns);
        }
    }
}

double kvc_composed_end_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns)
{
    static const double nothing_ns = 1e-3; /* What rounding leaves. */
    bool core = kvc_composed_has_cores(server->config->stage[stage].place);
    double wait_ns = 0;
    for (int i = 0; i < KVC_COMPOSED_SHARED; i++) {
        if (job->share[i] > 0) {
            double left_ns = kvc_composed_fluid_end(&server->fluid[i], now_ns, job->share[i]);
            bool memory = i == KVC_COMPOSED_MEMORY || i == KVC_COMPOSED_CARD_MEMORY;
            bool waits = memory || (!core && i != KVC_COMPOSED_WIRE);
            wait_ns = waits ? fmax(wait_ns, left_ns) : wait_ns;
            job->share[i] = 0;
        }
    }
    return wait_ns > nothing_ns ? wait_ns : 0;
}
