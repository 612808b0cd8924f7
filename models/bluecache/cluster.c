#include "models/bluecache/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/diag.h"

/* Time within which requests of an open load run on the structures together. */
static const double together_ns = 50000;

/* ---- requests ---- */

/* Returns whether a request may be followed by another one for its key. */
static bool keeps_keys(const struct kvc_bluecache_cluster *cluster)
{
    return kvc_bluecache_has_database(cluster) || kvc_source_fills(cluster->source);
}

static uint8_t *key_of(const struct kvc_bluecache_cluster *cluster, uint32_t number)
{
    return cluster->keys + (size_t)number * cluster->again->key_stride;
}

static uint32_t new_request(struct kvc_bluecache_cluster *cluster)
{
    if (cluster->free_count == 0) {
        uint32_t count = cluster->requests > 0 ? 2 * cluster->requests : 1024;
        cluster->request = kvc_array_grown(cluster->request, count, sizeof(*cluster->request));
        cluster->free_request = kvc_array_grown(cluster->free_request, count, sizeof(*cluster->free_request));
        if (keeps_keys(cluster)) {
            cluster->keys = kvc_array_grown(cluster->keys, count, cluster->again->key_stride);
        }
        while (cluster->requests < count) {
            cluster->request[cluster->requests].pages = NULL;
            cluster->request[cluster->requests].invalidated = (struct kvc_invalidated){0};
            cluster->free_request[cluster->free_count++] = cluster->requests++;
        }
    }
    return cluster->free_request[--cluster->free_count];
}

static void free_pages(struct kvc_bluecache_request *request)
{
    free(request->pages);
    request->pages = NULL;
}

static void free_request(struct kvc_bluecache_cluster *cluster, uint32_t number)
{
    free_pages(&cluster->request[number]);
    kvc_invalidated_free(&cluster->request[number].invalidated);
    cluster->free_request[cluster->free_count++] = number;
}

enum { MARKS = 3 }; /* The card looks for the key, has looked, and has the data. */

void kvc_bluecache_cluster_open(struct kvc_bluecache_cluster *cluster, const struct kvc_scenario *scenario,
                                struct kvc_bluecache_shards *shards, struct kvc_source *source, uint64_t seed)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    *cluster = (struct kvc_bluecache_cluster){
        .scenario = scenario, .config = config, .shards = shards, .source = source};
    cluster->answers.marks =
        config->database == NULL ? MARKS : 0; /* Requests may come back from a database. */
    size_t pairs = (size_t)config->nodes * config->nodes;
    cluster->node = kvc_array_of(config->nodes, sizeof(*cluster->node));
    cluster->route = kvc_array_of(pairs, sizeof(*cluster->route));
    cluster->edge_free_ns = kvc_array_of(pairs, sizeof(*cluster->edge_free_ns));
    cluster->edge_busy_ns = kvc_array_of(pairs, sizeof(*cluster->edge_busy_ns));
    kvc_fabric_routes(config->fabric, config->nodes, cluster->route);
    kvc_rng_init(&cluster->choice, seed, "bluecache.choice", 0);
    kvc_bluecache_sample_open(&cluster->sample, scenario, shards, source, seed);
    uint32_t key_stride = kvc_workload_key_stride(&scenario->workload);
    for (uint32_t i = 0; i < config->nodes; i++) {
        struct kvc_bluecache_node *node = &cluster->node[i];
        kvc_bluecache_host_open(cluster, i);
        kvc_bluecache_protocol_open(cluster, i);
        kvc_flash_engine_open(&node->flash, config->flash, &cluster->events, (uint16_t)i);
        kvc_flash_engine_translate(&node->flash, (uint64_t)kvc_bluecache_log_pages(&config->geometry));
        node->dram_free_ns = kvc_array_of(config->dram_channels, sizeof(*node->dram_free_ns));
        kvc_bluecache_writer_open(&node->writer, &node->flash, (uint32_t)config->options->chunk_pages);
        node->staged = kvc_batch_create(KVC_BLUECACHE_RUN_MAX, key_stride);
    }
    if (kvc_bluecache_has_database(cluster)) {
        kvc_database_engine_open(&cluster->database, config->database, &cluster->events, seed, 0);
        kvc_invalidations_open(&cluster->invalidations, source, seed);
    }
    if (keeps_keys(cluster)) {
        cluster->again = kvc_batch_create(1, key_stride);
    }
}

void kvc_bluecache_cluster_close(struct kvc_bluecache_cluster *cluster)
{
    for (uint32_t i = 0; cluster->node != NULL && i < cluster->config->nodes; i++) {
        struct kvc_bluecache_node *node = &cluster->node[i];
        kvc_bluecache_host_close(&node->host);
        kvc_bluecache_protocol_close(&node->protocol);
        kvc_bluecache_writer_close(&node->writer);
        kvc_flash_engine_close(&node->flash);
        kvc_batch_free(node->staged);
        kvc_ring_free(&node->wanted[0]);
        kvc_ring_free(&node->wanted[1]);
        kvc_ring_free(&node->blocked);
        free(node->dram_free_ns);
    }
    for (uint32_t i = 0; i < cluster->requests; i++) {
        free_pages(&cluster->request[i]);
        kvc_invalidated_free(&cluster->request[i].invalidated);
    }
    kvc_bluecache_sample_close(&cluster->sample);
    kvc_database_engine_close(&cluster->database);
    kvc_batch_free(cluster->again);
    free(cluster->keys);
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

/* Records the effects of a request and the pages that it reads. */
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

/* Runs requests of one operation on a store's structures. */
static void run_requests(struct kvc_bluecache_cluster *cluster, uint32_t number,
                         const struct kvc_batch *batch, const uint32_t *request, uint32_t first,
                         uint32_t count, double now_ns)
{
    struct kvc_bluecache_card *card = &cluster->shards->shard[number].card;
    struct kvc_bluecache_done done[KVC_BLUECACHE_RUN_MAX];
    bool kept[KVC_BLUECACHE_RUN_MAX];
    uint64_t started = kvc_clock_ticks();
    for (uint32_t i = 0; i < count; i++) {
        kept[i] = cluster->request[request[first + i]].kept;
    }
    card->steps = 0;
    kvc_bluecache_sample_run(&cluster->sample, number, batch, first, count, kept, done);
    cluster->kernel_ticks += kvc_clock_ticks() - started;
    const struct kvc_bluecache_step *step = card->step; /* NULL: there are none. */
    for (uint32_t i = 0; i < count; i++) {
        bool sets = batch->op[first + i] == KVC_OP_SET, gets = batch->op[first + i] == KVC_OP_GET;
        cluster->gets += gets;
        cluster->dram_hits += gets && done[i].hit && done[i].place == KVC_BLUECACHE_IN_DRAM;
        cluster->flash_hits += gets && done[i].hit && done[i].place == KVC_BLUECACHE_IN_FLASH;
        cluster->set_bytes += sets ? batch->key_bytes[first + i] + batch->value_bytes[first + i] : 0;
        note_done(&cluster->request[request[first + i]], &done[i], step);
        if (done[i].pages > 0) {
            step += done[i].pages;
        }
    }
    /* The other steps are operations of the log. */
    uint32_t used = step != NULL ? (uint32_t)(step - card->step) : 0;
    kvc_bluecache_writer_ask(&cluster->node[number].writer, now_ns, step, card->steps - used);
}

/* Runs the staged requests of a store in runs of one operation, except those that begin at the database. */
static void run_staged(struct kvc_bluecache_cluster *cluster, uint32_t number, double now_ns)
{
    const struct kvc_bluecache_node *node = &cluster->node[number];
    const struct kvc_batch *batch = node->staged;
    for (uint32_t first = 0, end; first < batch->count; first = end) {
        for (end = first + 1; end < batch->count && batch->op[end] == batch->op[first];) {
            end++;
        }
        if (!kvc_bluecache_has_database(cluster) || !kvc_cache_aside_updates((enum kvc_op)batch->op[first])) {
            run_requests(cluster, number, batch, node->request, first, end - first, now_ns);
        }
    }
}

/* Stages the next request for a store that leaves its client by until_ns. Returns false if there is none. */
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
    uint32_t request = node->request[row] = new_request(cluster);
    cluster->request[request] = (struct kvc_bluecache_request){.sent_ns = batch->sent_ns[row],
                                                               .value_bytes = batch->value_bytes[row],
                                                               .client = batch->client[row],
                                                               .store = (uint16_t)number,
                                                               .wanted = batch->op[row],
                                                               .op = batch->op[row],
                                                               .key_bytes = batch->key_bytes[row],
                                                               .key_id = batch->key_id[row],
                                                               .hash = batch->hash[row]};
    cluster->request[request].kept = kvc_bluecache_sample_keeps(&cluster->sample, batch->key_id[row]);
    if (keeps_keys(cluster)) {
        memcpy(key_of(cluster, request), batch->keys + (size_t)row * batch->key_stride, batch->key_stride);
    }
    return true;
}

/* ---- hosts ---- */

/* Starts a request of the application at the cache or at the database. */
static void begin(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    if (kvc_bluecache_has_database(cluster) &&
        kvc_cache_aside_updates((enum kvc_op)cluster->request[number].wanted)) {
        kvc_database_ask(&cluster->database, now_ns, true, cluster->request[number].key_id, number);
    } else {
        kvc_bluecache_send_request(cluster, now_ns, number);
    }
}

/* Asks the cache again, for the request's operation on the key in the batch `again`. */
static void ask_again(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_batch *batch = cluster->again;
    request->answered = false;
    request->tail_ns = 0;
    free_pages(request);
    batch->op[0] = request->op;
    run_requests(cluster, request->store, batch, &number, 0, 1, now_ns);
    kvc_bluecache_send_request(cluster, now_ns, number);
}

/* Puts the key of a request into the batch `again`. */
static void put_own_key(struct kvc_bluecache_cluster *cluster, uint32_t number)
{
    const struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_batch *batch = cluster->again;
    batch->count = 1;
    batch->key_bytes[0] = request->key_bytes;
    batch->value_bytes[0] = request->value_bytes;
    batch->key_id[0] = request->key_id;
    batch->hash[0] = request->hash;
    memcpy(batch->keys, key_of(cluster, number), batch->key_stride);
}

/* Deletes the next key that an update invalidates. */
static void invalidate(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    struct kvc_bluecache_request *request = &cluster->request[number];
    struct kvc_batch *batch = cluster->again;
    batch->count = 0;
    kvc_source_keys(cluster->source, kvc_invalidated_next(&request->invalidated), 1, batch);
    if (batch->count == 0) { /* A trace: the request has the key. */
        put_own_key(cluster, number);
        ask_again(cluster, now_ns, number);
        return;
    }
    request->key_id = batch->key_id[0];
    request->hash = batch->hash[0];
    request->key_bytes = batch->key_bytes[0];
    request->value_bytes = batch->value_bytes[0];
    request->store = (uint16_t)kvc_source_shard(cluster->source, request->hash);
    ask_again(cluster, now_ns, number);
}

/* Continues at the cache when the database has answered. */
static void go_on(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t number)
{
    struct kvc_bluecache_request *request = &cluster->request[number];
    request->op = (uint8_t)kvc_cache_aside_follows((enum kvc_op)request->wanted);
    if (kvc_cache_aside_updates((enum kvc_op)request->wanted)) {
        request->invalidated = kvc_invalidations_draw(&cluster->invalidations, request->key_id);
        invalidate(cluster, now_ns, number);
        return;
    }
    put_own_key(cluster, number);
    ask_again(cluster, now_ns, number);
}

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
    kvc_answers_offer(&cluster->answers, &now_ns, 1);
    begin(cluster, now_ns, number);
    return true;
}

static void finish(struct kvc_bluecache_cluster *cluster, double now_ns, uint32_t app, uint32_t number)
{
    struct kvc_bluecache_request *request = &cluster->request[number];
    enum kvc_op wanted = (enum kvc_op)request->wanted, asked = (enum kvc_op)request->op;
    request->missed |= asked == KVC_OP_GET && !request->hit;
    if (kvc_bluecache_has_database(cluster) && kvc_cache_aside_queries(wanted, asked, request->hit)) {
        kvc_database_ask(&cluster->database, now_ns, false, request->key_id, number);
        return;
    }
    if (request->invalidated.left > 0) {
        invalidate(cluster, now_ns, number);
        return;
    }
    kvc_answers_reserve(&cluster->answers, 1);
    kvc_answers_add(&cluster->answers, request->sent_ns, now_ns, kvc_answered_of(wanted, request->missed),
                    request->client);
    if (cluster->answers.marks > 0) {
        double *mark_ns = kvc_answers_marks(&cluster->answers);
        mark_ns[0] = request->reached_ns;
        mark_ns[1] = request->searched_ns;
        mark_ns[2] = request->found_ns;
    }
    kvc_source_complete(cluster->source, &request->client, &now_ns, 1);
    if (asked == KVC_OP_GET && !request->hit && keeps_keys(cluster)) {
        kvc_source_miss(cluster->source,
                        &(struct kvc_source_missed){.key = key_of(cluster, number),
                                                    .key_bytes = request->key_bytes,
                                                    .value_bytes = request->value_bytes,
                                                    .hash = request->hash,
                                                    .key_id = request->key_id},
                        now_ns);
    }
    free_request(cluster, number);
    if (kvc_bluecache_saturates(cluster)) {
        send_next(cluster, now_ns, app);
    }
}

/* Returns the store whose next request leaves its client first, by until_ns at the latest. Returns
 * config->stores if there is none. */
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

/* Sends the next requests that leave their clients by until_ns, in the order of time, and returns their
 * number. The chips begin the work of all of them when the last one is sent, so they are sent within
 * together_ns. */
static uint32_t send_some(struct kvc_bluecache_cluster *cluster, double until_ns)
{
    const struct kvc_bluecache_config *config = cluster->config;
    uint32_t number[KVC_BLUECACHE_RUN_MAX], count = 0;
    double sent_ns = 0;
    while (count < KVC_BLUECACHE_RUN_MAX) {
        uint32_t store = next_store(cluster, until_ns);
        if (store == config->stores || !stage(cluster, store, until_ns)) {
            break;
        }
        const struct kvc_bluecache_node *node = &cluster->node[store];
        number[count++] = node->request[node->staged->count - 1];
        sent_ns = cluster->request[number[count - 1]].sent_ns;
        until_ns = count == 1 ? fmin(until_ns, sent_ns + together_ns) : until_ns;
    }
    for (uint32_t s = 0; s < config->stores; s++) {
        run_staged(cluster, s, sent_ns);
        cluster->node[s].staged->count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_bluecache_request *request = &cluster->request[number[i]];
        request->app = (uint16_t)((config->threads ? request->client : cluster->next_app++) % config->apps);
        kvc_answers_offer(&cluster->answers, &request->sent_ns, 1);
        if (!kvc_workload_reacts(
                &cluster->scenario->workload)) { /* The host's segments depend on earlier events. */
            kvc_events_add(&cluster->events, request->sent_ns, KVC_BLUECACHE_BEGINS, request->app, number[i]);
        } else {
            begin(cluster, request->sent_ns, number[i]);
        }
    }
    return count;
}

/* Hands the responses of a burst to the application. */
static void take_burst(struct kvc_bluecache_cluster *cluster, const struct kvc_event *burst)
{
    uint32_t number;
    for (uint32_t i = 0; i < burst->tag; i++) {
        double done_ns = kvc_bluecache_host_take(cluster, burst->time_ns, burst->unit, &number);
        if (number == KVC_BLUECACHE_END) {
            kvc_events_add(&cluster->events, done_ns, KVC_BLUECACHE_FLUSHED, burst->unit, 0);
        } else if (done_ns > burst->time_ns) {
            kvc_events_add(&cluster->events, done_ns, KVC_BLUECACHE_DONE, burst->unit, number);
        } else {
            finish(cluster, done_ns, burst->unit, number);
        }
    }
    kvc_bluecache_host_took(cluster, burst->time_ns, burst->unit);
}

static void handle(struct kvc_bluecache_cluster *cluster, const struct kvc_event *event)
{
    uint32_t tag;
    switch (event->kind) {
    case KVC_BLUECACHE_HOPS:
        kvc_bluecache_move(cluster, event->time_ns, event->unit, event->tag);
        break;
    case KVC_BLUECACHE_ARRIVES:
        kvc_bluecache_arrive(cluster, event->time_ns, event->unit, event->tag);
        break;
    case KVC_BLUECACHE_SEARCHED:
        kvc_bluecache_searched(cluster, event->time_ns, event->unit, event->tag);
        break;
    case KVC_BLUECACHE_DONE:
        finish(cluster, event->time_ns, event->unit, event->tag);
        break;
    case KVC_BLUECACHE_BEGINS:
        begin(cluster, event->time_ns, event->tag);
        break;
    case KVC_BLUECACHE_SEGMENT:
        kvc_bluecache_protocol_receive(cluster, event->time_ns, event->unit, event->tag);
        break;
    case KVC_BLUECACHE_ACKNOWLEDGED:
        kvc_bluecache_host_acknowledged(cluster, event->time_ns, event->unit);
        break;
    case KVC_BLUECACHE_BURST:
        take_burst(cluster, event);
        break;
    case KVC_BLUECACHE_RETURNED:
        kvc_bluecache_protocol_returned(cluster, event->time_ns, event->unit);
        break;
    case KVC_BLUECACHE_LOOKS:
        kvc_bluecache_host_look(cluster, event->time_ns, event->unit);
        break;
    case KVC_BLUECACHE_FLUSHED:
        kvc_bluecache_host_flushed(cluster, event->time_ns, event->unit);
        break;
    case KVC_DATABASE_WORKED:
    case KVC_DATABASE_ANSWERED:
    case KVC_DATABASE_COMPUTED:
    case KVC_DATABASE_FETCHED:
        if (kvc_database_engine_handle(&cluster->database, event)) {
            go_on(cluster, event->time_ns, event->tag);
        }
        break;
    default:
        if (kvc_flash_engine_handle(&cluster->node[event->unit].flash, event, &tag)) {
            kvc_bluecache_chip_done(cluster, event->time_ns, event->unit, tag);
        }
        break;
    }
}

/* Clients react to answers with requests, so sends and events are handled in the order of time. */
static void advance_closed(struct kvc_bluecache_cluster *cluster, double time_ns)
{
    for (;;) {
        double event_ns = kvc_events_next_ns(&cluster->events);
        uint32_t store = next_store(cluster, fmin(event_ns, time_ns));
        if (store < cluster->config->stores) {
            send_some(cluster, kvc_source_next_ns(cluster->source, store));
        } else if (event_ns <= time_ns) {
            struct kvc_event event = kvc_events_pop(&cluster->events);
            handle(cluster, &event);
        } else {
            return;
        }
    }
}

/* Saturating hosts continue after an answer; the requests of an open load are known in advance. */
static void advance_open(struct kvc_bluecache_cluster *cluster, double time_ns)
{
    while (!kvc_bluecache_saturates(cluster) && send_some(cluster, time_ns) > 0) {
        ;
    }
    if (kvc_bluecache_saturates(cluster) && !cluster->started) {
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

void kvc_bluecache_cluster_advance(struct kvc_bluecache_cluster *cluster, double time_ns)
{
    if (kvc_workload_reacts(&cluster->scenario->workload)) {
        advance_closed(cluster, time_ns);
    } else {
        advance_open(cluster, time_ns);
    }
    for (uint32_t i = 0; i < cluster->config->stores; i++) {
        kvc_flash_engine_catch_up(&cluster->node[i].flash, time_ns);
    }
}
