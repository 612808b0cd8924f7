#include "models/bluecache/cluster_internal.h"

#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

void kvc_bluecache_search(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    const struct kvc_bluecache_request *request = &cluster->request[number];
    double dram_ns = kvc_bluecache_dram_ns(cluster->config, (enum kvc_op)request->op, request->place,
                                           request->key_bytes, request->value_bytes);
    /* Buckets are hashed, so that a request needs any of the channels. */
    uint32_t channels = cluster->config->dram_channels;
    uint32_t channel = channels > 1 ? (uint32_t)(kvc_rng_u64(&cluster->choice) % channels) : 0;
    double done_ns = kvc_serve(&node->dram_free_ns[channel], &node->dram_busy_ns, now_ns, dram_ns);
    kvc_events_add(&cluster->events, done_ns, KVC_BLUECACHE_SEARCHED, (uint16_t)at, number);
}

/* Whether both write buffers are being programmed. */
static bool is_blocked(const struct kvc_bluecache_cluster *cluster, const struct kvc_bluecache_node *node)
{
    return node->writer.programs - node->flash.programs > cluster->config->options->chunk_pages;
}

void kvc_bluecache_arrive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    if (cluster->request[number].op == KVC_OP_SET && (is_blocked(cluster, node) || node->blocked.count > 0)) {
        kvc_ring_push(&node->blocked, 0, number);
        return;
    }
    kvc_bluecache_search(cluster, now_ns, at, number);
}

/* Gives tags to pages that wait, those of the own host and of others in turn. */
static void read_wanted(struct kvc_bluecache_cluster *cluster, double now_ns, struct kvc_bluecache_node *node)
{
    while (node->tags_used < kvc_flash_tags(cluster->config->flash) &&
           node->wanted[0].count + node->wanted[1].count > 0) {
        node->turn = node->wanted[node->turn ^ 1].count > 0 ? node->turn ^ 1 : node->turn;
        struct kvc_ring_entry wanted = kvc_ring_pop(&node->wanted[node->turn]);
        node->tags_used++;
        const struct kvc_bluecache_request *request = &cluster->request[wanted.tag];
        double bytes = kvc_bluecache_fetched_bytes(cluster->config, request->key_bytes, request->value_bytes);
        kvc_flash_read(&node->flash, now_ns, wanted.value, bytes, wanted.tag);
    }
}

static void respond(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    cluster->request[number].answered = true;
    cluster->request[number].tail_ns = 0;
    cluster->served++;
    kvc_bluecache_move(cluster, now_ns, at, number);
}

void kvc_bluecache_searched(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                            uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    const struct kvc_bluecache_request *request = &cluster->request[number];
    if (request->page_count == 0) {
        respond(cluster, now_ns, at, number);
        return;
    }
    cluster->flash_reads += request->page_count;
    for (uint32_t i = 0; i < request->page_count; i++) {
        uint64_t page = request->pages != NULL ? request->pages[i] : request->page;
        kvc_ring_push(&node->wanted[request->app != at], page, number);
    }
    read_wanted(cluster, now_ns, node);
}

void kvc_bluecache_chip_done(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                             uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    if ((number & KVC_BLUECACHE_WRITER_TAG) != 0) {
        kvc_bluecache_writer_ended(&node->writer, now_ns, number);
        while (node->blocked.count > 0 && !is_blocked(cluster, node)) {
            kvc_bluecache_search(cluster, now_ns, at, kvc_ring_pop(&node->blocked).tag);
        }
        return;
    }
    node->tags_used--;
    if (--cluster->request[number].pages_left == 0) {
        respond(cluster, now_ns, at, number);
    }
    read_wanted(cluster, now_ns, node);
}
