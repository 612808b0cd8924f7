#include "models/bluecache/cluster_internal.h"

#include <math.h>

#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

static uint32_t bytes_of(const struct kvc_bluecache_request *request)
{
    return request->answered
               ? kvc_bluecache_response_bytes((enum kvc_op)request->op, request->hit, request->value_bytes)
               : kvc_bluecache_request_bytes((enum kvc_op)request->op, request->key_bytes,
                                             request->value_bytes);
}

void kvc_bluecache_send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_config *config = cluster->config;
    struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_bluecache_node *node = &cluster->node[request->app];
    if (config->threads) {
        now_ns = kvc_serve(&node->call_free_ns, &node->call_busy_ns, now_ns, config->options->call_ns);
    }
    double in_ns = kvc_bluecache_in_ns(config, bytes_of(request));
    double there_ns =
        kvc_serve(&node->in_free_ns, &node->in_busy_ns, now_ns, in_ns) + config->pcie->latency_ns;
    cluster->remote += request->app != request->store;
    if (config->nodes == 1 && cluster->scenario->workload.set_frac <= 0 &&
        !kvc_bluecache_has_database(cluster)) {
        /* Requests arrive in the order in which they are sent, and none waits for a write buffer. */
        kvc_bluecache_search(cluster, there_ns, 0, number);
        return;
    }
    kvc_events_add(&cluster->events, there_ns,
                   request->app == request->store ? KVC_BLUECACHE_ARRIVES : KVC_BLUECACHE_HOPS, request->app,
                   number);
}

/* Hands a response to its host. */
static void answer(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_config *config = cluster->config;
    const struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_bluecache_node *node = &cluster->node[request->app];
    double out_ns = kvc_bluecache_out_ns(config, bytes_of(request));
    double sent_ns = kvc_serve(&node->out_free_ns, &node->out_busy_ns, now_ns, out_ns);
    double there_ns = fmax(sent_ns, request->tail_ns) + config->pcie->latency_ns;
    if (config->threads) {
        there_ns =
            kvc_serve(&node->thread_free_ns, &node->thread_busy_ns, there_ns, config->options->wake_ns) +
            config->options->switch_ns;
    }
    kvc_events_add(&cluster->events, there_ns, KVC_BLUECACHE_DONE, request->app, number);
}

static double hop_of(const struct kvc_bluecache_cluster *cluster, const struct kvc_bluecache_request *request)
{
    enum kvc_op op = (enum kvc_op)request->op;
    return request->answered ? kvc_bluecache_response_hop_ns(cluster->config, op, request->hit)
                             : kvc_bluecache_request_hop_ns(cluster->config, op);
}

/* Moves a request or response on from a card: to the next one, or to where it ends. Its packets follow one
 * another; the first ones leave a card while the last ones still arrive. */
void kvc_bluecache_move(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    const struct kvc_bluecache_config *config = cluster->config;
    struct kvc_bluecache_request *request = &cluster->request[number];
    uint32_t to = request->answered ? request->app : request->store;
    if (at == to) {
        if (request->answered) {
            answer(cluster, now_ns, number);
        } else {
            kvc_events_add(&cluster->events, now_ns, KVC_BLUECACHE_ARRIVES, (uint16_t)at, number);
        }
        return;
    }
    uint32_t next = cluster->route[at * config->nodes + to], edge = at * config->nodes + next;
    double edge_ns = kvc_bluecache_edge_ns(config, bytes_of(request)), hop_ns = hop_of(cluster, request);
    double crossed_ns =
        kvc_serve(&cluster->edge_free_ns[edge], &cluster->edge_busy_ns[edge], now_ns, edge_ns);
    request->tail_ns = fmax(request->tail_ns, crossed_ns) + hop_ns;
    kvc_events_add(&cluster->events, crossed_ns - edge_ns + hop_ns, KVC_BLUECACHE_HOPS, (uint16_t)next,
                   number);
}
