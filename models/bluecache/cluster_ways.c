#include "models/bluecache/cluster_internal.h"

#include <math.h>

#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

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
            kvc_bluecache_protocol_answer(cluster, now_ns, number);
        } else {
            kvc_events_add(&cluster->events, now_ns, KVC_BLUECACHE_ARRIVES, (uint16_t)at, number);
        }
        return;
    }
    uint32_t next = cluster->route[at * config->nodes + to], edge = at * config->nodes + next;
    double edge_ns = kvc_bluecache_edge_ns(config, kvc_bluecache_bytes_of(request)),
           hop_ns = hop_of(cluster, request);
    double crossed_ns =
        kvc_serve(&cluster->edge_free_ns[edge], &cluster->edge_busy_ns[edge], now_ns, edge_ns);
    request->tail_ns = fmax(request->tail_ns, crossed_ns) + hop_ns;
    kvc_events_add(&cluster->events, crossed_ns - edge_ns + hop_ns, KVC_BLUECACHE_HOPS, (uint16_t)next,
                   number);
}
