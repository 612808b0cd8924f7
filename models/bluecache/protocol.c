#include "models/bluecache/protocol.h"

#include <math.h>

#include "models/bluecache/cluster_internal.h"
#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

void kvc_bluecache_protocol_open(struct kvc_bluecache_cluster *cluster, uint32_t app)
{
    const struct kvc_bluecache_options *options = cluster->config->options;
    cluster->node[app].protocol = (struct kvc_bluecache_protocol){
        .segments = {.bytes = (uint32_t)options->segment_bytes, .free = (uint32_t)options->segments}};
}

void kvc_bluecache_protocol_close(struct kvc_bluecache_protocol *protocol)
{
    kvc_ring_free(&protocol->queue);
    kvc_ring_free(&protocol->unread);
    kvc_ring_free(&protocol->unsent);
}

/* Sends a request on its way to its store. */
static void dispatch(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app, uint32_t number)
{
    if (cluster->config->nodes == 1 && cluster->scenario->workload.set_frac <= 0 &&
        !kvc_bluecache_has_database(cluster)) {
        /* Requests arrive in the order in which they are sent, and none waits for a write buffer. */
        kvc_bluecache_search(cluster, now_ns, 0, number);
        return;
    }
    kvc_events_add(&cluster->events, now_ns,
                   app == cluster->request[number].store ? KVC_BLUECACHE_ARRIVES : KVC_BLUECACHE_HOPS,
                   (uint16_t)app, number);
}

/* Acknowledges the segments of which nothing is left to read. */
static void acknowledge(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    while (protocol->segments_there > 0 &&
           (int32_t)(protocol->taken - kvc_ring_first(&protocol->unread)->tag) >= 0) {
        double read_ns = kvc_bluecache_time(kvc_ring_pop(&protocol->unread).value);
        protocol->segments_there--;
        kvc_events_add(&cluster->events, fmax(now_ns, read_ns) + cluster->config->pcie->latency_ns,
                       KVC_BLUECACHE_ACKNOWLEDGED, (uint16_t)app, 0);
    }
}

/* Takes requests out of segments as far as the table has room. */
static void take(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    while (protocol->there > 0 && !protocol->ending) {
        bool ends = kvc_ring_first(&protocol->queue)->tag == KVC_BLUECACHE_END;
        if (!ends && protocol->in_flight == cluster->config->table) {
            break;
        }
        struct kvc_ring_entry message = kvc_ring_pop(&protocol->queue);
        double there_ns = fmax(now_ns, kvc_bluecache_time(message.value));
        protocol->there--;
        protocol->taken++;
        if (ends) {
            protocol->ending = true;
            protocol->end_ns = there_ns;
        } else {
            protocol->in_flight++;
            dispatch(cluster, there_ns, app, message.tag);
        }
    }
    acknowledge(cluster, now_ns, app);
}

static void send_burst(struct kvc_bluecache_cluster *cluster, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    kvc_events_add(&cluster->events, protocol->burst_ns + cluster->config->pcie->latency_ns,
                   KVC_BLUECACHE_BURST, (uint16_t)app, protocol->in_burst);
    protocol->segments.open = false;
    protocol->in_burst = 0;
    cluster->bursts++;
}

/* Puts responses into bursts as far as there are segments. */
static void collect(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_node *node = &cluster->node[app];
    struct kvc_bluecache_protocol *protocol = &node->protocol;
    while (protocol->unsent.count > 0) {
        struct kvc_ring_entry *message = kvc_ring_first(&protocol->unsent);
        uint32_t number = message->tag, left = (uint32_t)message->value;
        message->value = kvc_bluecache_segments_append(&protocol->segments, left);
        if (!protocol->segments.open) {
            return;
        }
        bool ends = message->value == 0, marks = number == KVC_BLUECACHE_END;
        double out_ns = kvc_bluecache_out_ns(cluster->config, (double)(left - message->value));
        double sent_ns = kvc_serve(&node->out_free_ns, &node->out_busy_ns, now_ns, out_ns);
        protocol->burst_ns = fmax(protocol->burst_ns, sent_ns);
        if (ends) {
            kvc_ring_pop(&protocol->unsent);
            kvc_ring_push(&node->host.coming, 0, number);
            protocol->in_burst++;
            protocol->in_flight -= !marks;
            protocol->burst_ns = fmax(protocol->burst_ns, marks ? 0 : cluster->request[number].tail_ns);
        }
        if (kvc_bluecache_segments_full(&protocol->segments) || (ends && marks)) {
            send_burst(cluster, app);
        }
    }
}

/* Takes what can be taken, and answers the end mark if it is due. */
static void proceed(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    take(cluster, now_ns, app);
    while (protocol->ending && protocol->in_flight == 0) {
        protocol->ending = false;
        kvc_ring_push(&protocol->unsent, KVC_BLUECACHE_HEADER_BYTES, KVC_BLUECACHE_END);
        collect(cluster, fmax(now_ns, protocol->end_ns), app);
        take(cluster, now_ns, app);
    }
    if (protocol->in_flight == 0 && kvc_bluecache_saturates(cluster)) {
        /* Its host may wait for what the open burst holds. */
        kvc_events_add(&cluster->events, now_ns, KVC_BLUECACHE_LOOKS, (uint16_t)app, 0);
    }
}

void kvc_bluecache_protocol_receive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                                    uint32_t messages)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    protocol->there += messages;
    protocol->segments_there++;
    proceed(cluster, now_ns, app);
}

void kvc_bluecache_protocol_answer(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_bluecache_protocol *protocol = &cluster->node[request->app].protocol;
    kvc_ring_push(&protocol->unsent, kvc_bluecache_bytes_of(request), number);
    collect(cluster, now_ns, request->app);
    proceed(cluster, now_ns, request->app);
}

void kvc_bluecache_protocol_returned(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    cluster->node[app].protocol.segments.free++;
    collect(cluster, now_ns, app);
    proceed(cluster, now_ns, app);
}
