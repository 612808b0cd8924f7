#include "models/bluecache/host.h"

#include <math.h>

#include "models/bluecache/cluster_internal.h"
#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

void kvc_bluecache_host_open(struct kvc_bluecache_cluster *cluster, uint32_t app)
{
    const struct kvc_bluecache_options *options = cluster->config->options;
    cluster->node[app].host = (struct kvc_bluecache_host){
        .segments = {.bytes = (uint32_t)options->segment_bytes, .free = (uint32_t)options->segments}};
}

void kvc_bluecache_host_close(struct kvc_bluecache_host *host)
{
    kvc_ring_free(&host->unwritten);
    kvc_ring_free(&host->written);
    kvc_ring_free(&host->coming);
}

/* Hands the open segment to the card, whose DMA reads it as soon as PCIe is free. */
static void send_segment(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    const struct kvc_bluecache_config *config = cluster->config;
    struct kvc_bluecache_node *node = &cluster->node[app];
    struct kvc_bluecache_host *host = &node->host;
    struct kvc_bluecache_protocol *protocol = &node->protocol;
    uint32_t messages = host->written.count;
    double in_ns = kvc_bluecache_in_ns(config, host->segments.filled);
    double read_ns =
        kvc_serve(&node->in_free_ns, &node->in_busy_ns, now_ns, in_ns) + config->pcie->latency_ns;
    double first_ns = read_ns;
    for (uint32_t i = 0; i < messages; i++) {
        struct kvc_ring_entry message = kvc_ring_pop(&host->written);
        double there_ns = read_ns - in_ns + kvc_bluecache_in_ns(config, (double)message.value);
        first_ns = fmin(first_ns, there_ns);
        kvc_ring_push(&protocol->queue, kvc_bluecache_bits(there_ns), message.tag);
    }
    host->segments.open = false;
    host->sent += messages;
    kvc_ring_push(&protocol->unread, kvc_bluecache_bits(read_ns), host->sent);
    kvc_events_add(&cluster->events, first_ns, KVC_BLUECACHE_SEGMENT, (uint16_t)app, messages);
    cluster->segments++;
}

/* Writes what waits as far as there are segments. */
static void write_on(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    while (host->unwritten.count > 0) {
        struct kvc_ring_entry *message = kvc_ring_first(&host->unwritten);
        uint32_t number = message->tag;
        message->value = kvc_bluecache_segments_append(&host->segments, (uint32_t)message->value);
        bool ends = message->value == 0;
        if (!host->segments.open) {
            return;
        }
        if (ends) {
            kvc_ring_pop(&host->unwritten);
            kvc_ring_push(&host->written, host->segments.filled, number);
        }
        if (kvc_bluecache_segments_full(&host->segments) || (ends && number == KVC_BLUECACHE_END)) {
            send_segment(cluster, now_ns, app);
        }
    }
}

static void write_message(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app, uint32_t number,
                          uint32_t bytes)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    if (cluster->config->threads) {
        now_ns =
            kvc_serve(&host->call_free_ns, &host->call_busy_ns, now_ns, cluster->config->options->call_ns);
    }
    kvc_ring_push(&host->unwritten, bytes, number);
    write_on(cluster, now_ns, app);
}

/* Plans to look for further requests when the flushing thread is awake and nobody holds the lock. */
static void plan_look(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    if (!host->looks && !host->flushing && host->unanswered > 0) {
        host->looks = true;
        kvc_events_add(&cluster->events, fmax(now_ns, fmax(host->awake_ns, host->call_free_ns)),
                       KVC_BLUECACHE_LOOKS, (uint16_t)app, 0);
    }
}

/* Whether all requests of a saturating host are answered or in the open segment. */
static bool is_stuck(const struct kvc_bluecache_node *node)
{
    return node->host.unanswered ==
           node->host.unwritten.count + node->host.written.count + node->protocol.in_burst;
}

void kvc_bluecache_send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_request *request = &cluster->request[number];
    uint32_t app = request->app;
    cluster->remote += request->app != request->store;
    cluster->node[app].host.unanswered++;
    write_message(cluster, now_ns, app, number, kvc_bluecache_bytes_of(request));
    if (!kvc_bluecache_saturates(cluster) || is_stuck(&cluster->node[app])) {
        plan_look(cluster, now_ns, app);
    }
}

void kvc_bluecache_host_acknowledged(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    cluster->node[app].host.segments.free++;
    write_on(cluster, now_ns, app);
}

void kvc_bluecache_host_look(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    host->looks = false;
    if (host->flushing || host->unanswered == 0 ||
        (kvc_bluecache_saturates(cluster) && !is_stuck(&cluster->node[app]))) {
        return;
    }
    if (host->call_free_ns > now_ns) { /* Somebody writes a request. */
        plan_look(cluster, now_ns, app);
        return;
    }
    host->flushing = true;
    cluster->flushes++;
    write_message(cluster, now_ns, app, KVC_BLUECACHE_END, KVC_BLUECACHE_HEADER_BYTES);
    if (cluster->config->threads) {
        host->awake_ns = host->call_free_ns + cluster->config->options->flush_pause_ns;
    }
}

double kvc_bluecache_host_take(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app,
                               uint32_t *number)
{
    const struct kvc_bluecache_options *options = cluster->config->options;
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    *number = kvc_ring_pop(&host->coming).tag;
    double wake_ns = *number == KVC_BLUECACHE_END ? 0 : options->wake_ns;
    host->unanswered -= *number != KVC_BLUECACHE_END;
    if (!cluster->config->threads) {
        return now_ns;
    }
    double woken_ns =
        kvc_serve(&host->thread_free_ns, &host->thread_busy_ns, now_ns + options->switch_ns, wake_ns);
    return *number == KVC_BLUECACHE_END ? woken_ns : woken_ns + options->switch_ns;
}

void kvc_bluecache_host_took(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    const struct kvc_bluecache_host *host = &cluster->node[app].host;
    kvc_events_add(&cluster->events, fmax(now_ns, host->thread_free_ns) + cluster->config->pcie->latency_ns,
                   KVC_BLUECACHE_RETURNED, (uint16_t)app, 0);
}

void kvc_bluecache_host_flushed(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    cluster->node[app].host.flushing = false;
    plan_look(cluster, now_ns, app);
}
