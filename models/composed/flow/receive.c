#include "models/composed/flow/receive.h"

#include "models/composed/flow/prices.h"
#include "models/composed/flow/shared.h"
#include "sim/base/array.h"
#include "sim/base/serve.h"

/* Whether no frame waits in the ports for the stage behind them. */
static bool goes_on(const struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_fixed *next = &server->fixed[1];
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    bool has_room = next->room == 0 || next->drops || (saturates && next->room >= config->outstanding);
    return config->stages > 2 && (config->batched == 1 ? server->fixed[0].turns : has_room);
}

void kvc_composed_receive_open(struct kvc_composed_server *server)
{
    const struct kvc_composed_config *config = server->config;
    const struct kvc_composed_stage *first = &config->stage[0];
    /* A policy sees the queue of the ports. */
    if (first->place == KVC_COMPOSED_NIC_RX && server->fixed[0].is_straight && first->does == 0 &&
        server->fixed[0].room == 0 && config->options->policy[0] == '\0' && goes_on(server)) {
        server->ports = config->pool[first->pool].servers;
        server->port_free_ns = kvc_array_of(server->ports, sizeof(*server->port_free_ns));
    }
}

void kvc_composed_receive(struct kvc_composed_server *server, uint32_t number, double arrives_ns)
{
    struct kvc_composed_job *job = server->job[number];
    const struct kvc_composed_price *price = kvc_composed_price_of(server, 0, &job->counts, job->alike);
    double *free_ns = server->port_free_ns;
    for (uint32_t i = 1; i < server->ports; i++) {
        free_ns = server->port_free_ns[i] < *free_ns ? &server->port_free_ns[i] : free_ns;
    }
    *free_ns = kvc_later_ns(*free_ns, arrives_ns) + price->cost.busy_ns;
    job->ready_ns = arrives_ns;
    job->latency_ns = price->cost.latency_ns;
    kvc_events_append(&server->events, KVC_COMPOSED_LINKS, *free_ns, KVC_COMPOSED_RECEIVED, 0, number);
}

double kvc_composed_received(struct kvc_composed_server *server, struct kvc_composed_job *job, double now_ns)
{
    const struct kvc_composed_price *price = kvc_composed_price_of(server, 0, &job->counts, job->alike);
    double wait_ns = 0, waited_ns = now_ns - price->cost.busy_ns - job->ready_ns;
    for (uint32_t left = price->shares; left != 0; left &= left - 1) {
        double before_ns = kvc_composed_left_of(server, job, __builtin_ctz(left), now_ns);
        wait_ns = before_ns > wait_ns ? before_ns : wait_ns;
    }
    kvc_composed_take_shared(server, job, price, now_ns, 0);
    kvc_composed_count_messages(server, job, KVC_COMPOSED_NIC_RX, 0, price->cost.busy_ns,
                                kvc_later_ns(waited_ns, 0));
    return wait_ns;
}
