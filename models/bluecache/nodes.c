#include "models/bluecache/nodes.h"

#include <math.h>
#include <string.h>

#include "models/bluecache/costs.h"
#include "sim/base/serve.h"

/* Appends as many bytes of a message as fit into the open segment or, if there is none, into a free one.
 * Returns the bytes that are left: all of them if no segment is free. */
static uint32_t append_bytes(struct kvc_bluecache_segments *segments, uint32_t bytes)
{
    if (!segments->open) {
        if (segments->free == 0) {
            return bytes;
        }
        segments->free--;
        segments->open = true;
        segments->filled = 0;
    }
    uint32_t room = segments->bytes - segments->filled, taken = bytes < room ? bytes : room;
    segments->filled += taken;
    return bytes - taken;
}

static bool is_full(const struct kvc_bluecache_segments *segments)
{
    return segments->open && segments->filled == segments->bytes;
}

/* Convert a time to the value of a ring entry, and back. */
static uint64_t bits_of(double time_ns)
{
    uint64_t bits;
    memcpy(&bits, &time_ns, sizeof(bits));
    return bits;
}

static double time_of(uint64_t bits)
{
    double time_ns;
    memcpy(&time_ns, &bits, sizeof(time_ns));
    return time_ns;
}

/* Returns the bytes of a request or, once it is answered, of its response. */
static uint32_t bytes_of(const struct kvc_bluecache_request *request)
{
    return request->answered
               ? kvc_bluecache_response_bytes((enum kvc_op)request->op, request->hit, request->value_bytes)
               : kvc_bluecache_request_bytes((enum kvc_op)request->op, request->key_bytes,
                                             request->value_bytes);
}

/* ---- hosts ---- */

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
        kvc_ring_push(&protocol->queue, bits_of(there_ns), message.tag);
    }
    host->segments.open = false;
    host->sent += messages;
    kvc_ring_push(&protocol->unread, bits_of(read_ns), host->sent);
    kvc_events_add(&cluster->events, first_ns, KVC_BLUECACHE_SEGMENT, (uint16_t)app, messages);
    cluster->segments++;
}

/* Writes waiting messages while there are segments. */
static void write_on(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    while (host->unwritten.count > 0) {
        struct kvc_ring_entry *message = kvc_ring_first(&host->unwritten);
        uint32_t number = message->tag;
        message->value = append_bytes(&host->segments, (uint32_t)message->value);
        bool ends = message->value == 0;
        if (!host->segments.open) {
            return;
        }
        if (ends) {
            kvc_ring_pop(&host->unwritten);
            kvc_ring_push(&host->written, host->segments.filled, number);
        }
        if (is_full(&host->segments) || (ends && number == KVC_BLUECACHE_END)) {
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

/* Plans to look for further requests when the flushing thread is awake and the lock is free. */
static void plan_look(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_host *host = &cluster->node[app].host;
    if (!host->looks && !host->flushing && host->unanswered > 0) {
        host->looks = true;
        kvc_events_add(&cluster->events, fmax(now_ns, fmax(host->awake_ns, host->call_free_ns)),
                       KVC_BLUECACHE_LOOKS, (uint16_t)app, 0);
    }
}

/* Returns whether all requests of a saturating host wait for a segment or lie in open segments and bursts. */
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
    write_message(cluster, now_ns, app, number, bytes_of(request));
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
    if (host->call_free_ns > now_ns) { /* A thread is writing a request. */
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

/* ---- protocol engines ---- */

/* Looks for the key of a request in the card's DRAM. */
static void search(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    struct kvc_bluecache_request *request = &cluster->request[number];
    request->reached_ns = now_ns;
    double dram_ns = kvc_bluecache_dram_ns(cluster->config, (enum kvc_op)request->op, request->place,
                                           request->key_bytes, request->value_bytes);
    /* Buckets are hashed, so each channel is equally likely. */
    uint32_t channels = cluster->config->dram_channels;
    uint32_t channel = channels > 1 ? (uint32_t)(kvc_rng_u64(&cluster->choice) % channels) : 0;
    double done_ns = kvc_serve(&node->dram_free_ns[channel], &node->dram_busy_ns, now_ns, dram_ns);
    kvc_events_add(&cluster->events, done_ns, KVC_BLUECACHE_SEARCHED, (uint16_t)at, number);
}

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
        !kvc_workload_reacts(&cluster->scenario->workload) && !kvc_bluecache_has_database(cluster)) {
        /* Requests arrive in the order in which they are sent, and none waits for a write buffer. */
        search(cluster, now_ns, 0, number);
        return;
    }
    kvc_events_add(&cluster->events, now_ns,
                   app == cluster->request[number].store ? KVC_BLUECACHE_ARRIVES : KVC_BLUECACHE_HOPS,
                   (uint16_t)app, number);
}

/* Acknowledges the segments whose messages have all been taken. */
static void acknowledge(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    while (protocol->segments_there > 0 &&
           (int32_t)(protocol->taken - kvc_ring_first(&protocol->unread)->tag) >= 0) {
        double read_ns = time_of(kvc_ring_pop(&protocol->unread).value);
        protocol->segments_there--;
        kvc_events_add(&cluster->events, fmax(now_ns, read_ns) + cluster->config->pcie->latency_ns,
                       KVC_BLUECACHE_ACKNOWLEDGED, (uint16_t)app, 0);
    }
}

/* Takes requests out of segments while the table has room. */
static void take(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_protocol *protocol = &cluster->node[app].protocol;
    while (protocol->there > 0 && !protocol->ending) {
        bool ends = kvc_ring_first(&protocol->queue)->tag == KVC_BLUECACHE_END;
        if (!ends && protocol->in_flight == cluster->config->table) {
            break;
        }
        struct kvc_ring_entry message = kvc_ring_pop(&protocol->queue);
        double there_ns = fmax(now_ns, time_of(message.value));
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

/* Puts responses into bursts while there are segments. */
static void collect(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    struct kvc_bluecache_node *node = &cluster->node[app];
    struct kvc_bluecache_protocol *protocol = &node->protocol;
    while (protocol->unsent.count > 0) {
        struct kvc_ring_entry *message = kvc_ring_first(&protocol->unsent);
        uint32_t number = message->tag, left = (uint32_t)message->value;
        message->value = append_bytes(&protocol->segments, left);
        if (!protocol->segments.open) {
            return;
        }
        bool whole = message->value == 0, marks = number == KVC_BLUECACHE_END;
        bool ends = whole && number != KVC_BLUECACHE_PART;
        double out_ns = kvc_bluecache_out_ns(cluster->config, (double)(left - message->value));
        double sent_ns = kvc_serve(&node->out_free_ns, &node->out_busy_ns, now_ns, out_ns);
        protocol->burst_ns = fmax(protocol->burst_ns, sent_ns);
        if (whole) {
            kvc_ring_pop(&protocol->unsent);
        }
        if (ends) {
            kvc_ring_push(&node->host.coming, 0, number);
            protocol->in_burst++;
            protocol->in_flight -= !marks;
            protocol->burst_ns = fmax(protocol->burst_ns, marks ? 0 : cluster->request[number].tail_ns);
        }
        if (is_full(&protocol->segments) || (ends && marks)) {
            send_burst(cluster, app);
        }
    }
}

/* Takes requests, and answers the end mark if it is due. */
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
        /* The host may wait for the responses in the open burst. */
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

/* A request of the card's host has been served. */
static void answer(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_bluecache_protocol *protocol = &cluster->node[request->app].protocol;
    kvc_ring_push(&protocol->unsent, bytes_of(request) - request->streamed_bytes, number);
    collect(cluster, now_ns, request->app);
    proceed(cluster, now_ns, request->app);
}

/* A page of a request of the card's host has been read, and not the last one. */
static void stream(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    struct kvc_bluecache_request *request = &cluster->request[number];
    uint32_t bytes =
        kvc_bluecache_response_bytes(KVC_OP_GET, true, request->value_bytes) / request->page_count;
    request->streamed_bytes += bytes;
    kvc_ring_push(&cluster->node[request->app].protocol.unsent, bytes, KVC_BLUECACHE_PART);
    collect(cluster, now_ns, request->app);
}

void kvc_bluecache_protocol_returned(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    cluster->node[app].protocol.segments.free++;
    collect(cluster, now_ns, app);
    proceed(cluster, now_ns, app);
}

/* ---- ways between cards ---- */

static double hop_of(const struct kvc_bluecache_cluster *cluster, const struct kvc_bluecache_request *request)
{
    enum kvc_op op = (enum kvc_op)request->op;
    return request->answered ? kvc_bluecache_response_hop_ns(cluster->config, op, request->hit)
                             : kvc_bluecache_request_hop_ns(cluster->config, op);
}

/* The packets of a message follow one another: the first ones leave a card while the last ones still
 * arrive. */
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

/* ---- stores ---- */

/* Returns whether both write buffers are being programmed. */
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
    search(cluster, now_ns, at, number);
}

/* Gives tags to waiting pages, alternately for the own host and for other hosts. */
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
    cluster->request[number].found_ns = now_ns;
    cluster->request[number].tail_ns = 0;
    cluster->served++;
    kvc_bluecache_move(cluster, now_ns, at, number);
}

void kvc_bluecache_searched(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at,
                            uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    struct kvc_bluecache_request *request = &cluster->request[number];
    request->searched_ns = now_ns;
    request->streamed_bytes = 0;
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
            search(cluster, now_ns, at, kvc_ring_pop(&node->blocked).tag);
        }
        return;
    }
    struct kvc_bluecache_request *request = &cluster->request[number];
    node->tags_used--;
    if (--request->pages_left == 0) {
        respond(cluster, now_ns, at, number);
    } else if (request->hit && request->app == at) {
        stream(cluster, now_ns, number);
    }
    read_wanted(cluster, now_ns, node);
}
