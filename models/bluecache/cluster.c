#include "models/bluecache/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/bluecache/costs.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

/* Events of requests; `unit` is the node. Those of flash engines have numbers from 64 on. */
enum { HOP, ARRIVES, SEARCHED, DONE };

struct kvc_bluecache_request {
    double sent_ns;
    double tail_ns;        /* When the last byte has crossed the link behind it. */
    uint64_t page, *pages; /* Pages to read: the only one, or all of them. */
    uint32_t value_bytes, client, page_count, pages_left;
    uint16_t app, store;
    uint8_t op, key_bytes, place;
    bool hit, answered;
};

static bool saturates(const struct kvc_bluecache_cluster *cluster)
{
    return cluster->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

/* ---- queues and requests ---- */

static void push(struct kvc_bluecache_queue *queue, uint32_t request, uint64_t page)
{
    if (queue->count == queue->room) {
        uint32_t room = queue->room > 0 ? 2 * queue->room : 64;
        struct kvc_bluecache_wanted *entry = kvc_array_of(room, sizeof(*entry));
        for (uint32_t i = 0; i < queue->count; i++) {
            entry[i] = queue->entry[(queue->first + i) & (queue->room - 1)];
        }
        free(queue->entry);
        queue->entry = entry;
        queue->room = room;
        queue->first = 0;
    }
    queue->entry[(queue->first + queue->count++) & (queue->room - 1)] =
        (struct kvc_bluecache_wanted){page, request};
}

static struct kvc_bluecache_wanted pop(struct kvc_bluecache_queue *queue)
{
    struct kvc_bluecache_wanted entry = queue->entry[queue->first];
    queue->first = (queue->first + 1) & (queue->room - 1);
    queue->count--;
    return entry;
}

static uint32_t new_request(struct kvc_bluecache_cluster *cluster)
{
    if (cluster->free_count == 0) {
        uint32_t count = cluster->requests > 0 ? 2 * cluster->requests : 1024;
        cluster->request = kvc_array_grown(cluster->request, count, sizeof(*cluster->request));
        cluster->free_request = kvc_array_grown(cluster->free_request, count, sizeof(*cluster->free_request));
        while (cluster->requests < count) {
            cluster->request[cluster->requests].pages = NULL;
            cluster->free_request[cluster->free_count++] = cluster->requests++;
        }
    }
    return cluster->free_request[--cluster->free_count];
}

static void free_request(struct kvc_bluecache_cluster *cluster, uint32_t number)
{
    free(cluster->request[number].pages);
    cluster->request[number].pages = NULL;
    cluster->free_request[cluster->free_count++] = number;
}

void kvc_bluecache_cluster_open(struct kvc_bluecache_cluster *cluster, const struct kvc_scenario *scenario,
                                struct kvc_bluecache_shards *shards, struct kvc_source *source, uint64_t seed)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    *cluster = (struct kvc_bluecache_cluster){
        .scenario = scenario, .config = config, .shards = shards, .source = source};
    size_t pairs = (size_t)config->nodes * config->nodes;
    cluster->node = kvc_array_of(config->nodes, sizeof(*cluster->node));
    cluster->route = kvc_array_of(pairs, sizeof(*cluster->route));
    cluster->edge_free_ns = kvc_array_of(pairs, sizeof(*cluster->edge_free_ns));
    cluster->edge_busy_ns = kvc_array_of(pairs, sizeof(*cluster->edge_busy_ns));
    kvc_fabric_routes(config->fabric, config->nodes, cluster->route);
    kvc_rng_init(&cluster->choice, seed, "bluecache.choice", 0);
    for (uint32_t i = 0; i < config->nodes; i++) {
        struct kvc_bluecache_node *node = &cluster->node[i];
        kvc_flash_engine_open(&node->flash, config->flash, &cluster->events, (uint16_t)i);
        kvc_bluecache_writer_open(&node->writer, &node->flash, (uint32_t)config->options->chunk_pages);
        node->staged = kvc_batch_create(KVC_BLUECACHE_RUN_MAX, kvc_workload_key_stride(&scenario->workload));
        if (node->staged == NULL) {
            kvc_out_of_memory("the requests of a node");
        }
    }
}

void kvc_bluecache_cluster_close(struct kvc_bluecache_cluster *cluster)
{
    for (uint32_t i = 0; cluster->node != NULL && i < cluster->config->nodes; i++) {
        struct kvc_bluecache_node *node = &cluster->node[i];
        kvc_bluecache_writer_close(&node->writer);
        kvc_flash_engine_close(&node->flash);
        kvc_batch_free(node->staged);
        free(node->wanted[0].entry);
        free(node->wanted[1].entry);
        free(node->blocked.entry);
    }
    for (uint32_t i = 0; i < cluster->requests; i++) {
        free(cluster->request[i].pages);
    }
    free(cluster->node);
    free(cluster->route);
    free(cluster->edge_free_ns);
    free(cluster->edge_busy_ns);
    free(cluster->request);
    free(cluster->free_request);
    kvc_events_free(&cluster->events);
    kvc_answers_free(&cluster->answers);
}

/* ---- the real structures ---- */

/* Notes what a request did, and which pages it reads. */
static void note_done(struct kvc_bluecache_request *request, const struct kvc_bluecache_done *done,
                      const struct kvc_bluecache_step *step)
{
    request->hit = done->hit;
    request->place = done->place;
    request->page_count = request->pages_left = done->pages;
    if (done->pages == 1) {
        request->page = step[0].page;
    } else if (done->pages > 1) {
        request->pages = kvc_array_of(done->pages, sizeof(*request->pages));
        for (uint32_t i = 0; i < done->pages; i++) {
            request->pages[i] = step[i].page;
        }
    }
}

/* Runs the staged requests of a store, from `node->next` on, in runs of one operation. */
static void run_staged(struct kvc_bluecache_cluster *cluster, uint32_t number, double now_ns)
{
    struct kvc_bluecache_node *node = &cluster->node[number];
    struct kvc_bluecache_card *card = &cluster->shards->shard[number].card;
    const struct kvc_batch *batch = node->staged;
    struct kvc_bluecache_done done[KVC_BLUECACHE_RUN_MAX];
    for (uint32_t first = 0, end; first < batch->count; first = end) {
        for (end = first + 1; end < batch->count && batch->op[end] == batch->op[first];) {
            end++;
        }
        uint64_t started = kvc_clock_ticks();
        card->steps = 0;
        kvc_bluecache_shards_run(cluster->shards, number, batch, first, end - first, done);
        cluster->kernel_ticks += kvc_clock_ticks() - started;
        uint32_t at = 0;
        for (uint32_t i = first; i < end; i++) {
            note_done(&cluster->request[node->request[i]], &done[i - first], &card->step[at]);
            at += done[i - first].pages;
        }
        /* The rest is what the log did besides. */
        kvc_bluecache_writer_ask(&node->writer, now_ns, &card->step[at], card->steps - at);
    }
}

/* Takes the next request for a store that leaves its client by until_ns into its stage. */
static bool stage(struct kvc_bluecache_cluster *cluster, uint32_t number, double until_ns)
{
    struct kvc_bluecache_node *node = &cluster->node[number];
    struct kvc_batch *batch = node->staged;
    uint32_t row = batch->count;
    uint64_t started = kvc_clock_ticks();
    uint32_t drained = row < batch->capacity ? kvc_source_drain(cluster->source, number, until_ns, batch) : 0;
    cluster->source_ticks += kvc_clock_ticks() - started;
    if (drained == 0) {
        return false;
    }
    if (batch->op[row] == KVC_OP_SET) {
        cluster->set_bytes += batch->key_bytes[row] + batch->value_bytes[row];
    }
    uint32_t request = node->request[row] = new_request(cluster);
    cluster->request[request] = (struct kvc_bluecache_request){.sent_ns = batch->sent_ns[row],
                                                               .value_bytes = batch->value_bytes[row],
                                                               .client = batch->client[row],
                                                               .store = (uint16_t)number,
                                                               .op = batch->op[row],
                                                               .key_bytes = batch->key_bytes[row]};
    return true;
}

/* ---- ways ---- */

static uint32_t bytes_of(const struct kvc_bluecache_request *request)
{
    return request->answered
               ? kvc_bluecache_response_bytes((enum kvc_op)request->op, request->hit, request->value_bytes)
               : kvc_bluecache_request_bytes((enum kvc_op)request->op, request->key_bytes,
                                             request->value_bytes);
}

static void search(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    const struct kvc_bluecache_request *request = &cluster->request[number];
    double dram_ns = kvc_bluecache_dram_ns(cluster->config, (enum kvc_op)request->op, request->place,
                                           request->key_bytes, request->value_bytes);
    double done_ns = kvc_serve(&node->dram_free_ns, &node->dram_busy_ns, now_ns, dram_ns);
    kvc_events_add(&cluster->events, done_ns, SEARCHED, (uint16_t)at, number);
}

/* Sends a request from its host. */
static void send_request(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    const struct kvc_bluecache_config *config = cluster->config;
    struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_bluecache_node *node = &cluster->node[request->app];
    kvc_answers_offer(&cluster->answers, &request->sent_ns, 1);
    if (config->threads) {
        now_ns = kvc_serve(&node->call_free_ns, &node->call_busy_ns, now_ns, config->options->call_ns);
    }
    double in_ns = kvc_bluecache_in_ns(config, bytes_of(request));
    double there_ns =
        kvc_serve(&node->in_free_ns, &node->in_busy_ns, now_ns, in_ns) + config->pcie->latency_ns;
    cluster->remote += request->app != request->store;
    if (config->nodes == 1 && cluster->scenario->workload.set_frac <= 0) {
        /* Requests arrive in the order in which they are sent, and none waits for a write buffer. */
        search(cluster, there_ns, 0, number);
        return;
    }
    kvc_events_add(&cluster->events, there_ns, request->app == request->store ? ARRIVES : HOP, request->app,
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
    kvc_events_add(&cluster->events, there_ns, DONE, request->app, number);
}

static double hop_of(const struct kvc_bluecache_cluster *cluster, const struct kvc_bluecache_request *request)
{
    enum kvc_op op = (enum kvc_op)request->op;
    return request->answered ? kvc_bluecache_response_hop_ns(cluster->config, op, request->hit)
                             : kvc_bluecache_request_hop_ns(cluster->config, op);
}

/* Moves a request or response on from a card: to the next one, or to where it ends. Its packets follow one
 * another; the first ones leave a card while the last ones still arrive. */
static void move(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    const struct kvc_bluecache_config *config = cluster->config;
    struct kvc_bluecache_request *request = &cluster->request[number];
    uint32_t to = request->answered ? request->app : request->store;
    if (at == to) {
        if (request->answered) {
            answer(cluster, now_ns, number);
        } else {
            kvc_events_add(&cluster->events, now_ns, ARRIVES, (uint16_t)at, number);
        }
        return;
    }
    uint32_t next = cluster->route[at * config->nodes + to], edge = at * config->nodes + next;
    double edge_ns = kvc_bluecache_edge_ns(config, bytes_of(request)), hop_ns = hop_of(cluster, request);
    double crossed_ns =
        kvc_serve(&cluster->edge_free_ns[edge], &cluster->edge_busy_ns[edge], now_ns, edge_ns);
    request->tail_ns = fmax(request->tail_ns, crossed_ns) + hop_ns;
    kvc_events_add(&cluster->events, crossed_ns - edge_ns + hop_ns, HOP, (uint16_t)next, number);
}

/* ---- stores ---- */

/* Whether both write buffers are being programmed. */
static bool is_blocked(const struct kvc_bluecache_cluster *cluster, const struct kvc_bluecache_node *node)
{
    return node->writer.programs - node->flash.programs > cluster->config->options->chunk_pages;
}

static void arrive(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    if (cluster->request[number].op == KVC_OP_SET && (is_blocked(cluster, node) || node->blocked.count > 0)) {
        push(&node->blocked, number, 0);
        return;
    }
    search(cluster, now_ns, at, number);
}

/* Gives tags to pages that wait, those of the own host and of others in turn. */
static void read_wanted(struct kvc_bluecache_cluster *cluster, double now_ns, struct kvc_bluecache_node *node)
{
    while (node->tags_used < cluster->config->flash->tags &&
           node->wanted[0].count + node->wanted[1].count > 0) {
        node->turn = node->wanted[node->turn ^ 1].count > 0 ? node->turn ^ 1 : node->turn;
        struct kvc_bluecache_wanted wanted = pop(&node->wanted[node->turn]);
        node->tags_used++;
        kvc_flash_read(&node->flash, now_ns, wanted.page, wanted.request);
    }
}

static void respond(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    cluster->request[number].answered = true;
    cluster->request[number].tail_ns = 0;
    cluster->served++;
    move(cluster, now_ns, at, number);
}

static void searched(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
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
        push(&node->wanted[request->app != at], number, page);
    }
    read_wanted(cluster, now_ns, node);
}

/* A chip has done what it was asked for. */
static void chip_done(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t at, uint32_t number)
{
    struct kvc_bluecache_node *node = &cluster->node[at];
    if ((number & KVC_BLUECACHE_WRITER_TAG) != 0) {
        kvc_bluecache_writer_ended(&node->writer, now_ns, number);
        while (node->blocked.count > 0 && !is_blocked(cluster, node)) {
            search(cluster, now_ns, at, pop(&node->blocked).request);
        }
        return;
    }
    node->tags_used--;
    if (--cluster->request[number].pages_left == 0) {
        respond(cluster, now_ns, at, number);
    }
    read_wanted(cluster, now_ns, node);
}

/* ---- hosts ---- */

/* A saturating host sends its next request to any of the stores. Returns false if there is none. */
static bool send_next(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app)
{
    uint32_t store =
        cluster->config->stores > 1 ? (uint32_t)(kvc_rng_u64(&cluster->choice) % cluster->config->stores) : 0;
    struct kvc_bluecache_node *node = &cluster->node[store];
    if (node->next == node->staged->count) {
        node->staged->count = node->next = 0;
        while (stage(cluster, store, INFINITY)) {
            ;
        }
        run_staged(cluster, store, now_ns);
    }
    if (node->next == node->staged->count) {
        return false;
    }
    uint32_t number = node->request[node->next++];
    cluster->request[number].sent_ns = now_ns;
    cluster->request[number].app = (uint16_t)app;
    send_request(cluster, now_ns, number);
    return true;
}

static void finish(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app, uint32_t number)
{
    static const uint8_t outcomes[KVC_OP_COUNT] = {
        [KVC_OP_SET] = KVC_BLUECACHE_SET_DONE, [KVC_OP_DELETE] = KVC_BLUECACHE_DELETE_DONE};
    const struct kvc_bluecache_request *request = &cluster->request[number];
    uint8_t outcome = request->op == KVC_OP_GET ? (request->hit ? KVC_BLUECACHE_HIT : KVC_BLUECACHE_MISSED)
                                                : outcomes[request->op];
    kvc_answers_reserve(&cluster->answers, 1);
    kvc_answers_add(&cluster->answers, request->sent_ns, now_ns, outcome, request->client);
    free_request(cluster, number);
    if (saturates(cluster)) {
        send_next(cluster, now_ns, app);
    }
}

/* Returns the store whose next request leaves its client first, by until_ns at the latest; stores: none. */
static uint32_t next_store(struct kvc_bluecache_cluster *cluster, double until_ns)
{
    uint32_t first = cluster->config->stores;
    double first_ns = INFINITY;
    for (uint32_t s = 0; s < cluster->config->stores; s++) {
        double next_ns = kvc_source_next_ns(cluster->source, s);
        if (next_ns <= until_ns && next_ns < first_ns) {
            first = s;
            first_ns = next_ns;
        }
    }
    return first;
}

/* Sends the next requests that leave their clients by until_ns, in the order of time. Returns how many. */
static uint32_t send_some(struct kvc_bluecache_cluster *cluster, double until_ns)
{
    const struct kvc_bluecache_config *config = cluster->config;
    uint32_t number[KVC_BLUECACHE_RUN_MAX], count = 0;
    while (count < KVC_BLUECACHE_RUN_MAX) {
        uint32_t store = next_store(cluster, until_ns);
        if (store == config->stores || !stage(cluster, store, until_ns)) {
            break;
        }
        const struct kvc_bluecache_node *node = &cluster->node[store];
        number[count++] = node->request[node->staged->count - 1];
    }
    for (uint32_t s = 0; s < config->stores; s++) {
        run_staged(cluster, s, until_ns);
        cluster->node[s].staged->count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_bluecache_request *request = &cluster->request[number[i]];
        request->app = (uint16_t)((config->threads ? request->client : cluster->next_app++) % config->apps);
        send_request(cluster, request->sent_ns, number[i]);
    }
    return count;
}

static void handle(struct kvc_bluecache_cluster *cluster, const struct kvc_event *event)
{
    uint32_t tag;
    switch (event->kind) {
    case HOP:
        move(cluster, event->time_ns, event->unit, event->tag);
        break;
    case ARRIVES:
        arrive(cluster, event->time_ns, event->unit, event->tag);
        break;
    case SEARCHED:
        searched(cluster, event->time_ns, event->unit, event->tag);
        break;
    case DONE:
        finish(cluster, event->time_ns, event->unit, event->tag);
        break;
    default:
        if (kvc_flash_engine_handle(&cluster->node[event->unit].flash, event, &tag)) {
            chip_done(cluster, event->time_ns, event->unit, tag);
        }
        break;
    }
}

void kvc_bluecache_cluster_advance(struct kvc_bluecache_cluster *cluster, double time_ns)
{
    while (!saturates(cluster) && send_some(cluster, time_ns) > 0) {
        ;
    }
    if (saturates(cluster) && !cluster->started) {
        for (uint32_t i = 0; i < cluster->config->options->outstanding; i++) {
            for (uint32_t app = 0; app < cluster->config->apps; app++) {
                send_next(cluster, 0, app);
            }
        }
    }
    cluster->started = true;
    while (kvc_events_next_ns(&cluster->events) <= time_ns) {
        struct kvc_event event = kvc_events_pop(&cluster->events);
        handle(cluster, &event);
    }
}
