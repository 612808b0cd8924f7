#include "models/memcached/server.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcached/costs.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

/* ---- queues ---- */

/* Allocates a queue for the larger of the two numbers of requests. Exits with status 3 if memory is short. */
static void open_queue(struct kvc_memcached_queue *queue, uint32_t room, uint32_t least)
{
    queue->room = room > least ? room : least;
    queue->request = kvc_array_of(queue->room, sizeof(*queue->request));
}

/* Adds a request. Returns false if there is no room. */
static bool push(struct kvc_memcached_queue *queue, uint32_t number)
{
    if (queue->count == queue->room) {
        return false;
    }
    queue->request[(queue->first + queue->count++) % queue->room] = number;
    return true;
}

/* Removes the oldest request; the queue must not be empty. */
static uint32_t pop(struct kvc_memcached_queue *queue)
{
    uint32_t number = queue->request[queue->first];
    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    return number;
}

/* ---- requests ---- */

enum { ARRIVES, RECEIVED, LOCKS, BLOCKS, DONE, BEGINS, MISSED, INVALIDATES, DUE, CLIENTS, LOOKED };

enum {
    TRACE_WAITS = 65536 /* Requests of a trace or an open load that connections hold back at a full queue. */
};

enum { MARKS = 3 }; /* Arrival at a ring, begin of its service, and end of it. */

struct kvc_memcached_request {
    double sent_ns, arrived_ns, served_from_ns, served_ns;
    uint32_t value_bytes, client, connection;
    uint16_t owner;     /* Thread whose ring the packet has reached, then the one that serves the request. */
    uint16_t ring;      /* Thread whose ring the client's packets reach. */
    uint8_t wanted, op; /* Operation of the application, and the current operation on the cache. */
    uint8_t key_bytes;
    bool hit, missed;
    uint64_t key_id, hash;
    struct kvc_invalidated invalidated; /* Keys that an update has yet to delete. */
};

static bool has_database(const struct kvc_memcached_server *server)
{
    return server->config->database != NULL;
}

static bool saturates(const struct kvc_memcached_server *server)
{
    return server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

static bool closed(const struct kvc_memcached_server *server)
{
    return server->scenario->workload.arrival == KVC_ARRIVAL_CLOSED;
}

/* Returns how many requests may wait at a full queue, because their clients wait instead of losing them. */
static uint32_t waiting_max(const struct kvc_memcached_server *server)
{
    if (closed(server)) {
        return (uint32_t)server->scenario->workload.clients;
    }
    if (server->config->tcp && !saturates(server)) {
        return TRACE_WAITS;
    }
    return saturates(server) ? server->config->outstanding : 1;
}

/* Opens what clients on the node need, with measured costs. */
static void open_node(struct kvc_memcached_server *server)
{
    const struct kvc_memcached_config *config = server->config;
    server->clients.most = kvc_memcached_requests_most(server->scenario);
    server->core = kvc_array_of(config->cores, sizeof(*server->core));
    for (uint32_t i = 0; i < config->cores; i++) {
        server->core[i].running = -1;
        open_queue(&server->core[i].ready, config->threads, 1);
    }
}

void kvc_memcached_server_open(struct kvc_memcached_server *server, const struct kvc_scenario *scenario,
                               struct kvc_memcached_shard *shard, struct kvc_source *source, uint32_t number,
                               uint64_t seed)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    *server = (struct kvc_memcached_server){.scenario = scenario,
                                            .config = config,
                                            .shard = shard,
                                            .source = source,
                                            .number = number,
                                            .goes_on = kvc_memcached_goes_on(scenario)};
    server->answers.marks =
        config->database == NULL ? MARKS : 0; /* Requests may come back from a database. */
    struct kvc_rss_params rss = kvc_nic_rss_params(config->nic, config->rings);
    rss.clients = kvc_workload_flows(&scenario->workload);
    rss.connections = kvc_workload_connections(&scenario->workload);
    rss.server = number;
    rss.seed = seed;
    server->rss = kvc_rss_open(&rss, NULL); /* kvc_memcached_check() has checked the queues. */
    server->batch = kvc_batch_create(1, kvc_workload_key_stride(&scenario->workload));
    server->thread = kvc_array_of(config->threads, sizeof(*server->thread));
    if (server->rss == NULL) {
        kvc_out_of_memory("the connections of a server");
    }
    if (has_database(server)) {
        kvc_database_engine_open(&server->database, config->database, &server->events, seed, number);
        kvc_invalidations_open(&server->invalidations, source, seed);
    }
    if (config->flash != NULL) {
        kvc_flash_engine_open(&server->flash, config->flash, &server->events, 0);
        kvc_flash_engine_translate(&server->flash, kvc_memcached_disk_pages(config));
    }
    uint32_t least = waiting_max(server), ring = (uint32_t)config->nic->ring_frames;
    open_queue(&server->socket, config->room, least);
    for (uint32_t i = 0; i < config->threads; i++) {
        open_queue(&server->thread[i].ring, ring, least);
        open_queue(&server->thread[i].handed, config->room, least);
    }
    if (config->client_core) {
        open_node(server);
    }
}

void kvc_memcached_server_close(struct kvc_memcached_server *server)
{
    for (uint32_t i = 0; server->thread != NULL && i < server->config->threads; i++) {
        free(server->thread[i].ring.request);
        free(server->thread[i].handed.request);
    }
    for (uint32_t i = 0; server->core != NULL && i < server->config->cores; i++) {
        free(server->core[i].ready.request);
    }
    free(server->core);
    free(server->clients.due.request);
    free(server->clients.answered.request);
    free(server->socket.request);
    free(server->thread);
    kvc_database_engine_close(&server->database);
    kvc_rss_close(server->rss);
    kvc_batch_free(server->batch);
    if (server->config->flash != NULL) {
        kvc_flash_engine_close(&server->flash);
    }
    kvc_events_free(&server->events);
    for (uint32_t i = 0; i < server->requests; i++) {
        kvc_invalidated_free(&server->request[i].invalidated);
    }
    free(server->request);
    free(server->keys);
    free(server->free_request);
    free(server->dropped_ns);
    kvc_answers_free(&server->answers);
}

static uint32_t new_request(struct kvc_memcached_server *server)
{
    if (server->free_count == 0) {
        uint32_t count = server->requests > 0 ? 2 * server->requests : 1024;
        server->request = kvc_array_grown(server->request, count, sizeof(*server->request));
        server->keys = kvc_array_grown(server->keys, count, server->batch->key_stride);
        server->free_request = kvc_array_grown(server->free_request, count, sizeof(*server->free_request));
        while (server->requests < count) {
            server->request[server->requests].invalidated = (struct kvc_invalidated){0};
            server->free_request[server->free_count++] = server->requests++;
        }
    }
    return server->free_request[--server->free_count];
}

static const uint8_t *key_of(const struct kvc_memcached_server *server, uint32_t number)
{
    return server->keys + (size_t)number * server->batch->key_stride;
}

static struct kvc_memcached_message message_of(const struct kvc_memcached_server *server, uint32_t number)
{
    const struct kvc_memcached_request *request = &server->request[number];
    return (struct kvc_memcached_message){.op = (enum kvc_op)request->op,
                                          .hit = request->hit,
                                          .key_bytes = request->key_bytes,
                                          .value_bytes = request->value_bytes};
}

/* Returns the thread that serves a request. Over TCP, connections are assigned to threads in turn; otherwise
 * a thread owns keys. */
static uint16_t owner_of(const struct kvc_memcached_server *server, uint32_t number)
{
    const struct kvc_memcached_request *request = &server->request[number];
    if (server->config->kind == KVC_MEMCACHED_VANILLA) {
        return (uint16_t)(request->connection % server->config->threads);
    }
    return (uint16_t)kvc_memcached_shard_owner(server->shard, key_of(server, number), request->key_bytes);
}

/* Returns the thread whose ring a packet reaches. */
static uint16_t ring_of(const struct kvc_memcached_server *server, uint32_t number)
{
    return server->config->owned ? owner_of(server, number)
                                 : (uint16_t)kvc_rss_queue(server->rss, server->batch->connection);
}

/* Adds a request to a queue that grows. */
static void push_grown(struct kvc_memcached_queue *queue, uint32_t number)
{
    if (queue->count == queue->room) {
        struct kvc_memcached_queue grown = {0};
        open_queue(&grown, 2 * queue->room, KVC_MEMCACHED_BURST_MAX);
        while (queue->count > 0) {
            push(&grown, pop(queue));
        }
        free(queue->request);
        *queue = grown;
    }
    push(queue, number);
}

/* Sends a request over the wire at reaches_ns, or hands it to the clients' thread on the node. */
static void transmit(struct kvc_memcached_server *server, double reaches_ns, uint32_t number)
{
    const struct kvc_memcached_message message = message_of(server, number);
    server->request[number].owner = server->request[number].ring;
    if (server->clients.works && reaches_ns <= server->clients.now_ns) {
        push_grown(&server->clients.due, number); /* This step still sends it. */
        return;
    }
    if (server->config->client_core) {
        kvc_events_add(&server->events, reaches_ns, DUE, 0, number);
        return;
    }
    double bytes = kvc_memcached_request_bytes(server->config, &message);
    double time_ns = kvc_serve(&server->receive_free_ns, &server->receive_busy_ns, reaches_ns,
                               kvc_memcached_wire_ns(server->config, bytes));
    kvc_events_add(&server->events, time_ns + server->config->path_ns, ARRIVES, 0, number);
}

/* Sends the clients' next request; saturating clients send it at now_ns. Returns false if no request is sent
 * by until_ns. */
static bool send_request(struct kvc_memcached_server *server, double now_ns, double until_ns)
{
    struct kvc_batch *batch = server->batch;
    batch->count = 0;
    if (kvc_source_drain(server->source, server->number, until_ns + server->stopped_ns, batch) == 0) {
        return false;
    }
    uint32_t number = new_request(server);
    struct kvc_memcached_request *request = &server->request[number];
    *request = (struct kvc_memcached_request){
        .sent_ns = saturates(server) ? now_ns + server->stopped_ns : batch->sent_ns[0],
        .value_bytes = batch->value_bytes[0],
        .client = batch->client[0],
        .connection = closed(server) ? batch->client[0] : batch->connection,
        .wanted = batch->op[0],
        .op = batch->op[0],
        .key_bytes = batch->key_bytes[0],
        .key_id = batch->key_id[0],
        .hash = batch->hash[0],
    };
    memcpy(server->keys + (size_t)number * batch->key_stride, batch->keys, batch->key_stride);
    request->ring = ring_of(server, number);
    kvc_answers_offer(&server->answers, &request->sent_ns, 1);
    double left_ns = saturates(server) ? request->sent_ns : batch->left_ns;
    double reaches_ns = fmax(left_ns - server->stopped_ns, server->resumed_ns);
    /* Follow-up requests to the cache may be sent before the clients' next request. */
    if (has_database(server)) {
        kvc_events_add(&server->events, reaches_ns, BEGINS, 0, number);
    } else {
        transmit(server, reaches_ns, number);
    }
    return true;
}

/* Begins a request of the application, at the cache or at the database. */
static void begin(struct kvc_memcached_server *server, double now_ns, uint32_t number)
{
    if (kvc_cache_aside_updates((enum kvc_op)server->request[number].wanted)) {
        kvc_database_ask(&server->database, now_ns, true, server->request[number].key_id, number);
    } else {
        transmit(server, now_ns, number);
    }
}

/* Deletes the next key that an update invalidates. */
static void invalidate(struct kvc_memcached_server *server, double now_ns, uint32_t number)
{
    struct kvc_memcached_request *request = &server->request[number];
    struct kvc_batch *batch = server->batch;
    batch->count = 0;
    kvc_source_keys(server->source, kvc_invalidated_next(&request->invalidated), 1, batch);
    if (batch->count > 0) { /* Otherwise it is a trace, and the request has the key. */
        request->key_id = batch->key_id[0];
        request->key_bytes = batch->key_bytes[0];
        request->value_bytes = batch->value_bytes[0];
        memcpy(server->keys + (size_t)number * batch->key_stride, batch->keys, batch->key_stride);
    }
    request->ring = server->config->owned ? owner_of(server, number) : request->ring;
    transmit(server, now_ns, number);
}

/* Continues at the cache after the database has answered. */
static void go_on(struct kvc_memcached_server *server, double now_ns, uint32_t number)
{
    struct kvc_memcached_request *request = &server->request[number];
    request->op = (uint8_t)kvc_cache_aside_follows((enum kvc_op)request->wanted);
    if (kvc_cache_aside_updates((enum kvc_op)request->wanted)) {
        request->invalidated = kvc_invalidations_draw(&server->invalidations, request->key_id);
        invalidate(server, now_ns, number);
    } else {
        transmit(server, now_ns, number);
    }
}

static void free_request(struct kvc_memcached_server *server, uint32_t number)
{
    kvc_invalidated_free(&server->request[number].invalidated);
    server->free_request[server->free_count++] = number;
}

/* Drops a request that finds no room. */
static void drop(struct kvc_memcached_server *server, uint32_t number)
{
    if (server->dropped == server->dropped_room) {
        server->dropped_room = server->dropped_room > 0 ? 2 * server->dropped_room : 64;
        server->dropped_ns =
            kvc_array_grown(server->dropped_ns, server->dropped_room, sizeof(*server->dropped_ns));
    }
    server->dropped_ns[server->dropped++] = server->request[number].sent_ns;
    free_request(server, number);
}

/* Runs the requests of a job on the table. Returns the number of lines that they touch. */
static double run_job(struct kvc_memcached_server *server, struct kvc_memcached_thread *thread, double now_ns)
{
    double lines = 0;
    for (uint32_t i = 0; i < thread->jobs; i++) {
        struct kvc_memcached_request *request = &server->request[thread->job[i]];
        const struct kvc_memcached_access access = {.op = (enum kvc_op)request->op,
                                                    .key = key_of(server, thread->job[i]),
                                                    .key_bytes = request->key_bytes,
                                                    .value_bytes = request->value_bytes,
                                                    .now_ns = now_ns};
        struct kvc_memcached_found found = kvc_memcached_shard_run(server->shard, &access);
        request->hit = found.hit;
        lines += found.lines;
        thread->blocks = found.blocks;
    }
    server->served += thread->jobs;
    return lines;
}

/* Returns the time at which the memory has delivered the lines of a job that starts at now_ns. */
static double memory_done_ns(struct kvc_memcached_server *server, double now_ns, double lines)
{
    return kvc_serve(&server->memory_free_ns, &server->memory_busy_ns, now_ns,
                     lines * server->config->memory_ns);
}

/* Starts to serve the requests of a job. Only jobs of one request wait for a lock. */
static void serve(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    const struct kvc_memcached_config *config = server->config;
    struct kvc_memcached_thread *thread = &server->thread[number];
    double serve_ns = 0;
    for (uint32_t i = 0; i < thread->jobs; i++) {
        server->request[thread->job[i]].served_from_ns = now_ns;
    }
    if (kvc_memcached_locks(config, (enum kvc_op)server->request[thread->job[0]].op)) {
        const struct kvc_memcached_message message = message_of(server, thread->job[0]);
        serve_ns = kvc_memcached_cost_of(config, &message).serve_ns;
        kvc_events_add(&server->events, now_ns + serve_ns, LOCKS, number, 0);
        return;
    }
    double lines = run_job(server, thread, now_ns);
    for (uint32_t i = 0; i < thread->jobs; i++) {
        const struct kvc_memcached_message message = message_of(server, thread->job[i]);
        serve_ns += kvc_memcached_cost_of(config, &message).serve_ns;
    }
    double done_ns = now_ns + serve_ns + kvc_memcached_stall_ns(config, lines);
    bool blocks = thread->blocks.read.count + thread->blocks.written.count > 0;
    kvc_events_add(&server->events, fmax(done_ns, memory_done_ns(server, now_ns, lines)),
                   blocks ? BLOCKS : DONE, number, 0);
}

/* Submits the next SSD operation for which a thread blocks: first its reads, then its writes. The thread is
 * done if there is none. */
static void block(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    struct kvc_memcached_pages *read = &thread->blocks.read, *written = &thread->blocks.written;
    bool reads = read->count > 0;
    struct kvc_memcached_pages *pages = reads ? read : written;
    if (pages->count == 0) {
        kvc_events_add(&server->events, now_ns, DONE, number, 0);
        return;
    }
    thread->pages = pages->count;
    thread->asked_ns = now_ns;
    for (; pages->count > 0; pages->count--) {
        uint64_t page = pages->first + pages->count - 1;
        if (reads) {
            kvc_flash_read(&server->flash, now_ns, page, server->config->flash->page_bytes, number);
        } else {
            kvc_flash_program(&server->flash, now_ns, page, number);
        }
    }
}

/* Handles an event of the SSD. A thread wakes up when all its pages are done. */
static void handle_flash(struct kvc_memcached_server *server, const struct kvc_event *event)
{
    uint32_t number;
    if (kvc_flash_engine_handle(&server->flash, event, &number) && --server->thread[number].pages == 0) {
        server->thread[number].waited_ns += event->time_ns - server->thread[number].asked_ns;
        kvc_events_add(&server->events, event->time_ns + server->config->io_ns, BLOCKS, (uint16_t)number, 0);
    }
}

/* Acquires the lock of the whole cache as soon as it is free. */
static void lock(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    const struct kvc_memcached_config *config = server->config;
    double lines = run_job(server, &server->thread[number], now_ns);
    double held_ns = kvc_memcached_handover_ns(config) + kvc_memcached_stall_ns(config, lines);
    double done_ns = kvc_serve(&server->lock_free_ns, &server->lock_busy_ns, now_ns, held_ns);
    kvc_events_add(&server->events, fmax(done_ns, memory_done_ns(server, now_ns, lines)), DONE, number, 0);
}

static struct kvc_memcached_queue *handed_to(struct kvc_memcached_server *server, uint32_t thread)
{
    return server->config->shared ? &server->socket : &server->thread[thread].handed;
}

/* Gives an idle thread its next job. */
static void start(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    const struct kvc_memcached_config *config = server->config;
    struct kvc_memcached_thread *thread = &server->thread[number];
    struct kvc_memcached_queue *queue = &thread->ring;
    if (thread->jobs > 0) {
        return;
    }
    if (!config->staged && config->shared) {
        queue = &server->socket;
    }
    if (config->staged) {
        struct kvc_memcached_queue *handed = handed_to(server, number);
        bool in_turn = handed->count == 0 || !thread->receives;
        thread->receives = thread->ring.count > 0 && (!config->polls || in_turn);
        queue = thread->receives ? &thread->ring : handed;
    }
    while (thread->jobs < config->burst && queue->count > 0) {
        thread->job[thread->jobs++] = pop(queue);
    }
    if (thread->jobs == 0) {
        thread->awake = false;
        return;
    }
    thread->started_ns = now_ns;
    if (!thread->receives) {
        double wake_ns = thread->awake ? 0 : config->wake_ns;
        thread->awake = true;
        thread->waking_ns += wake_ns;
        serve(server, now_ns + wake_ns, number);
        return;
    }
    double receive_ns = 0;
    for (uint32_t i = 0; i < thread->jobs; i++) {
        const struct kvc_memcached_message message = message_of(server, thread->job[i]);
        receive_ns += kvc_memcached_cost_of(config, &message).receive_ns;
    }
    kvc_events_add(&server->events, now_ns + receive_ns, RECEIVED, number, 0);
}

/* ---- threads that share cores, with measured costs ---- */

/* A thread keeps a core for so long if others wait for it: the next tick of Linux at 250 Hz, whose base slice
 * is shorter. */
static const double slice_ns = 4e6;

/* Takes the oldest request of a queue, with the other keys of its multiget. Returns how many. */
static uint32_t pop_together(struct kvc_memcached_server *server, struct kvc_memcached_queue *queue,
                             uint32_t *into)
{
    uint32_t count = 0, most = server->config->multiget;
    most = most < KVC_MEMCACHED_BURST_MAX ? most : KVC_MEMCACHED_BURST_MAX;
    do {
        into[count++] = pop(queue);
        const struct kvc_memcached_request *first = &server->request[into[0]],
                                           *next = &server->request[queue->request[queue->first]];
        if (queue->count == 0 || first->op != KVC_OP_GET || next->op != KVC_OP_GET ||
            next->sent_ns != first->sent_ns || next->connection != first->connection) {
            break;
        }
    } while (count < most);
    return count;
}

static struct kvc_memcached_core *core_of(struct kvc_memcached_server *server, uint16_t thread)
{
    return &server->core[thread % server->config->cores];
}

/* Returns the queue that a thread serves. */
static struct kvc_memcached_queue *queue_of(struct kvc_memcached_server *server, uint16_t number)
{
    return server->config->shared ? &server->socket : &server->thread[number].ring;
}

/* Lets a thread run, after delay_ns, until it has looked for what is ready. */
static void run_thread(struct kvc_memcached_server *server, double now_ns, uint16_t number, double delay_ns)
{
    struct kvc_memcached_core *core = core_of(server, number);
    core->running = number;
    core->since_ns = now_ns;
    kvc_events_add(&server->events, now_ns + delay_ns, LOOKED, number, 0);
}

/* Gives the core of a thread to the next one that waits for it. */
static void leave_core(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_core *core = core_of(server, number);
    core->running = -1;
    if (core->ready.count > 0) {
        run_thread(server, now_ns, (uint16_t)pop(&core->ready), server->config->profile->switch_ns);
    }
}

/* Wakes a thread that sleeps. */
static void rouse(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    struct kvc_memcached_core *core = core_of(server, number);
    if (thread->awake) {
        return;
    }
    thread->awake = true;
    if (core->running < 0) {
        run_thread(server, now_ns, number, server->config->wake_ns);
    } else {
        push(&core->ready, number);
    }
}

/* Wakes the threads that a request concerns. */
static void rouse_for(struct kvc_memcached_server *server, double now_ns, uint16_t owner)
{
    for (uint16_t i = 0; i < server->config->threads; i++) {
        if (server->config->shared || i == owner) {
            rouse(server, now_ns, i);
        }
    }
}

/* Returns whether a request makes an idle core run. */
static bool needs_core(struct kvc_memcached_server *server, uint16_t owner)
{
    bool idle = !server->config->shared && core_of(server, owner)->running < 0;
    for (uint32_t i = 0; server->config->shared && i < server->config->cores; i++) {
        idle |= server->core[i].running < 0;
    }
    return idle;
}

/* A thread goes on with what its latest look has found, or looks again. */
static void serve_ready(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    struct kvc_memcached_queue *queue = queue_of(server, number);
    struct kvc_memcached_core *core = core_of(server, number);
    double wait_ns = server->config->profile->wait_ns;
    if (thread->ready > 0 && queue->count > 0) {
        thread->ready--;
        thread->jobs = pop_together(server, queue, thread->job);
        thread->started_ns = now_ns;
        serve(server, now_ns, number);
    } else if (core->ready.count > 0 && now_ns - core->since_ns >= slice_ns) {
        push(&core->ready, number);
        leave_core(server, now_ns, number);
    } else {
        thread->busy_ns += wait_ns;
        thread->work_ns += wait_ns;
        kvc_events_add(&server->events, now_ns + wait_ns, LOOKED, number, 0);
    }
}

/* A thread has looked: it serves what is there, one datagram over UDP, or falls asleep. */
static void looked(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    uint32_t count = queue_of(server, number)->count;
    thread->ready = server->config->shared && count > 0 ? 1 : count;
    if (count > 0) {
        serve_ready(server, now_ns, number);
    } else {
        thread->awake = false;
        leave_core(server, now_ns, number);
    }
}

/* Ends the job of a thread. Returns the number of its requests, which stay in `job` until the next one. */
static uint32_t end_job(struct kvc_memcached_thread *thread, double now_ns)
{
    uint32_t jobs = thread->jobs;
    double busy_ns = now_ns - thread->started_ns;
    thread->busy_ns += busy_ns;
    thread->work_ns += busy_ns - thread->waited_ns;
    thread->receiving_ns += thread->receives ? busy_ns : 0;
    thread->waited_ns = 0;
    thread->jobs = 0;
    return jobs;
}

/* Wakes a thread for a request that was handed on: its owner, or the first idle thread. */
static void wake(struct kvc_memcached_server *server, double now_ns, uint16_t owner)
{
    if (!server->config->shared) {
        start(server, now_ns, owner);
        return;
    }
    for (uint16_t i = 0; i < server->config->threads; i++) {
        if (server->thread[i].jobs == 0) {
            start(server, now_ns, i);
            return;
        }
    }
}

static void arrive(struct kvc_memcached_server *server, double now_ns, uint32_t number)
{
    uint16_t owner = server->request[number].owner;
    server->request[number].arrived_ns = now_ns;
    if (server->config->client_core) {
        push_grown(queue_of(server, owner), number);
        rouse_for(server, now_ns, owner);
        return;
    }
    if (!server->config->staged && server->config->shared) {
        if (push(&server->socket, number)) {
            wake(server, now_ns, owner);
        } else {
            server->handed_drops++;
            drop(server, number);
        }
        return;
    }
    if (!push(&server->thread[owner].ring, number)) {
        server->ring_drops++;
        drop(server, number);
        return;
    }
    start(server, now_ns, owner);
}

/* Hands on the packets that a thread has received. The thread is busy until all are handed on. */
static void hand_on(struct kvc_memcached_server *server, double now_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    uint32_t received[KVC_MEMCACHED_BURST_MAX], count = thread->jobs;
    memcpy(received, thread->job, count * sizeof(*received));
    for (uint32_t i = 0; i < count; i++) {
        struct kvc_memcached_request *request = &server->request[received[i]];
        if (!server->config->shared) {
            request->owner = owner_of(server, received[i]);
        }
        uint16_t owner = request->owner;
        if (push(handed_to(server, owner), received[i])) {
            wake(server, now_ns, owner);
        } else {
            server->handed_drops++;
            drop(server, received[i]);
        }
    }
    end_job(thread, now_ns);
    start(server, now_ns, number);
}

/* A client has received the response to a request that was served at served_ns. A saturating client then
 * sends its next request, and a miss may continue at the database. */
static void take_response(struct kvc_memcached_server *server, double served_ns, double done_ns,
                          double until_ns, uint32_t number)
{
    struct kvc_memcached_request *request = &server->request[number];
    enum kvc_op wanted = (enum kvc_op)request->wanted, asked = (enum kvc_op)request->op;
    request->missed |= asked == KVC_OP_GET && !request->hit;
    bool queries = has_database(server) && kvc_cache_aside_queries(wanted, asked, request->hit);
    if (queries || request->invalidated.left > 0) {
        kvc_events_add(&server->events, done_ns, queries ? MISSED : INVALIDATES, 0, number);
        return;
    }
    done_ns += server->stopped_ns;
    kvc_answers_reserve(&server->answers, 1);
    kvc_answers_add(&server->answers, request->sent_ns, done_ns,
                    kvc_answered_of(request->wanted, request->missed), request->client);
    if (server->answers.marks > 0) {
        double *mark_ns = kvc_answers_marks(&server->answers);
        mark_ns[0] = request->arrived_ns + server->stopped_ns;
        mark_ns[1] = request->served_from_ns + server->stopped_ns;
        mark_ns[2] = served_ns + server->stopped_ns;
    }
    if (server->goes_on) {
        kvc_source_complete(server->source, &request->client, &done_ns, 1);
    }
    if (asked == KVC_OP_GET && !request->hit) {
        kvc_source_miss(server->source,
                        &(struct kvc_source_missed){.key = key_of(server, number),
                                                    .key_bytes = request->key_bytes,
                                                    .value_bytes = request->value_bytes,
                                                    .hash = request->hash,
                                                    .key_id = request->key_id},
                        done_ns);
    }
    free_request(server, number);
    if (saturates(server)) {
        send_request(server, done_ns - server->stopped_ns, until_ns);
    }
}

/* ---- clients on the node, with measured costs ---- */

/* The clients' thread begins a step if there is something to do. */
static void begin_step(struct kvc_memcached_server *server, double now_ns)
{
    struct kvc_memcached_clients *clients = &server->clients;
    bool sends = clients->due.count > 0 && clients->in_flight < clients->most;
    if (clients->works || (clients->answered.count == 0 && !sends)) {
        return;
    }
    double look_ns = clients->in_flight > 0 ? kvc_memcached_transport_costs_of(server->config)->look_ns : 0;
    clients->works = true;
    clients->sends = false;
    clients->left = KVC_MEMCACHED_AT_ONCE;
    clients->jobs = 0;
    server->receive_busy_ns += look_ns;
    kvc_events_add(&server->events, now_ns + look_ns, CLIENTS, 0, 0);
}

/* Begins to receive a response or to send a request, or ends the step. */
static void go_on_step(struct kvc_memcached_server *server, double now_ns)
{
    const struct kvc_memcached_config *config = server->config;
    struct kvc_memcached_clients *clients = &server->clients;
    double work_ns = 0;
    if (!clients->sends && (clients->left == 0 || clients->answered.count == 0)) {
        clients->sends = true;
        clients->left = KVC_MEMCACHED_AT_ONCE;
    }
    if (clients->sends &&
        (clients->left == 0 || clients->due.count == 0 || clients->in_flight == clients->most)) {
        clients->works = false;
        begin_step(server, now_ns);
        return;
    }
    clients->left--;
    clients->jobs = pop_together(server, clients->sends ? &clients->due : &clients->answered, clients->job);
    for (uint32_t i = 0; i < clients->jobs; i++) {
        const struct kvc_memcached_message message = message_of(server, clients->job[i]);
        work_ns += clients->sends ? kvc_memcached_client_send_ns(config, &message)
                                  : kvc_memcached_client_receive_ns(config, &message);
    }
    if (clients->sends && needs_core(server, server->request[clients->job[0]].owner)) {
        work_ns += kvc_memcached_transport_costs_of(config)->notify_ns;
    }
    server->receive_busy_ns += work_ns;
    kvc_events_add(&server->events, now_ns + work_ns, CLIENTS, 0, 0);
}

/* The clients' thread has sent or received something, or looked. */
static void go_on_clients(struct kvc_memcached_server *server, double now_ns, double until_ns)
{
    struct kvc_memcached_clients *clients = &server->clients;
    clients->now_ns = now_ns;
    for (uint32_t i = 0; i < clients->jobs; i++) {
        if (clients->sends) {
            arrive(server, now_ns, clients->job[i]);
        } else {
            take_response(server, server->request[clients->job[i]].served_ns, now_ns, until_ns,
                          clients->job[i]);
        }
    }
    if (clients->jobs > 0) {
        clients->in_flight += clients->sends ? 1 : -1;
    }
    go_on_step(server, now_ns);
}

/* Sends the response to a request. */
static void answer(struct kvc_memcached_server *server, double now_ns, double until_ns, uint32_t number)
{
    const struct kvc_memcached_config *config = server->config;
    if (config->client_core) {
        server->request[number].served_ns = now_ns;
        push_grown(&server->clients.answered, number);
        begin_step(server, now_ns);
        return;
    }
    const struct kvc_memcached_message message = message_of(server, number);
    double bytes = kvc_memcached_response_bytes(config, &message);
    double sent_ns = kvc_serve(&server->send_free_ns, &server->send_busy_ns, now_ns + config->depth_ns,
                               kvc_memcached_wire_ns(config, bytes));
    take_response(server, now_ns, sent_ns + config->path_ns, until_ns, number);
}

static void finish(struct kvc_memcached_server *server, double now_ns, double until_ns, uint16_t number)
{
    struct kvc_memcached_thread *thread = &server->thread[number];
    uint32_t jobs = end_job(thread, now_ns);
    for (uint32_t i = 0; i < jobs; i++) {
        answer(server, now_ns, until_ns, thread->job[i]);
    }
    if (server->config->client_core) {
        serve_ready(server, now_ns, number);
    } else {
        start(server, now_ns, number);
    }
}

double kvc_memcached_server_thread_busy_ns(const struct kvc_memcached_server *server)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < server->config->threads; i++) {
        most_ns = fmax(most_ns, server->thread[i].busy_ns);
    }
    return most_ns;
}

double kvc_memcached_server_threads_work_ns(const struct kvc_memcached_server *server)
{
    double work_ns = 0;
    for (uint32_t i = 0; i < server->config->threads; i++) {
        work_ns += server->thread[i].work_ns;
    }
    return work_ns;
}

double kvc_memcached_server_threads_busy_ns(const struct kvc_memcached_server *server)
{
    double all_ns = 0, most_ns = 0, receiving_ns = 0;
    for (uint32_t i = 0; i < server->config->threads; i++) {
        const struct kvc_memcached_thread *thread = &server->thread[i];
        double busy_ns = thread->busy_ns - thread->waking_ns;
        all_ns += busy_ns;
        most_ns = fmax(most_ns, busy_ns);
        receiving_ns = fmax(receiving_ns, thread->receiving_ns);
    }
    return server->config->shared ? fmax(all_ns / server->config->threads, receiving_ns) : most_ns;
}

void kvc_memcached_server_stop(struct kvc_memcached_server *server, double stop_ns)
{
    server->stopped_ns += stop_ns;
    server->resumed_ns = server->advanced_ns;
}

static void handle(struct kvc_memcached_server *server, const struct kvc_event *event, double until_ns)
{
    if (event->kind >= KVC_FLASH_CELLS && event->kind < KVC_FLASH_KINDS) {
        handle_flash(server, event);
        return;
    }
    switch (event->kind) {
    case ARRIVES:
        arrive(server, event->time_ns, event->tag);
        break;
    case RECEIVED:
        hand_on(server, event->time_ns, event->unit);
        break;
    case LOCKS:
        lock(server, event->time_ns, event->unit);
        break;
    case BLOCKS:
        block(server, event->time_ns, event->unit);
        break;
    case DUE:
        push_grown(&server->clients.due, event->tag);
        begin_step(server, event->time_ns);
        break;
    case CLIENTS:
        go_on_clients(server, event->time_ns, until_ns);
        break;
    case LOOKED:
        looked(server, event->time_ns, event->unit);
        break;
    case BEGINS:
        begin(server, event->time_ns, event->tag);
        break;
    case MISSED:
        kvc_database_ask(&server->database, event->time_ns, false, server->request[event->tag].key_id,
                         event->tag);
        break;
    case INVALIDATES:
        invalidate(server, event->time_ns, event->tag);
        break;
    case KVC_DATABASE_WORKED:
    case KVC_DATABASE_ANSWERED:
    case KVC_DATABASE_COMPUTED:
    case KVC_DATABASE_FETCHED:
        if (kvc_database_engine_handle(&server->database, event)) {
            go_on(server, event->time_ns, event->tag);
        }
        break;
    default:
        finish(server, event->time_ns, until_ns, event->unit);
        break;
    }
}

void kvc_memcached_server_advance(struct kvc_memcached_server *server, double time_ns)
{
    double from_ns = server->advanced_ns, until_ns = time_ns - server->stopped_ns;
    server->advanced_ns = until_ns;
    while (saturates(server) && server->requests - server->free_count < server->config->outstanding) {
        if (!send_request(server, from_ns, until_ns)) {
            break;
        }
    }
    while (!saturates(server) && !server->goes_on && send_request(server, from_ns, until_ns)) {
        ;
    }
    for (;;) {
        double event_ns = kvc_events_next_ns(&server->events);
        if (server->goes_on && send_request(server, from_ns, fmin(event_ns, until_ns))) {
            continue; /* Clients may send a request before the next event. */
        }
        if (event_ns > until_ns) {
            break;
        }
        struct kvc_event event = kvc_events_pop(&server->events);
        handle(server, &event, until_ns);
    }
    if (server->config->flash != NULL) {
        kvc_flash_engine_catch_up(&server->flash, until_ns);
    }
}
