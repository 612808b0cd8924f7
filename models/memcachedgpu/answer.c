/* Post threads (GNoM-post), which copy values into responses, send them and recycle buffers. As in the
 * authors' program, a thread fills all responses of a batch before it sends the first one. */
#include <math.h>

#include "models/memcachedgpu/simulation.h"

/* Load of a batch on the devices. */
struct work {
    double cost_ns, compute_ns, tx_ns;
    struct kvc_dram_load load;
};

/* A response: its time on the thread, and what it does to the memory. */
struct response {
    struct kvc_cpu_cost cost;
    struct kvc_dram_load load;
    uint32_t key_bytes, value_bytes;
    uint16_t head_bytes;
    uint8_t outcome;
};

/* Computes the response of a row, unless *response already has the same sizes and outcome. */
static void find_response(const struct kvc_memcachedgpu_config *config,
                          const struct kvc_memcachedgpu_job *job, uint32_t row, struct response *response)
{
    const struct kvc_batch *batch = job->batch;
    uint32_t key_bytes = batch->key_bytes[row], value_bytes = batch->value_bytes[row];
    uint16_t head_bytes = job->head_bytes[row];
    bool found = job->outcome[row] == KVC_MEMCACHEDGPU_HIT;
    if (response->key_bytes == key_bytes && response->value_bytes == value_bytes &&
        response->head_bytes == head_bytes && response->outcome == job->outcome[row]) {
        return;
    }
    *response = (struct response){
        .cost = kvc_memcachedgpu_answer_cost(config, found, head_bytes, key_bytes, value_bytes),
        .load = kvc_memcachedgpu_answer_load(config, found, head_bytes, key_bytes, value_bytes),
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
        .head_bytes = head_bytes,
        .outcome = job->outcome[row]};
}

/* Computes the work of a batch. Sets done_ns of each row to the time from the start of the work until its
 * response is handed to the NIC, as if nothing shared the devices. Without a network, a response is done when
 * it is filled. */
static struct work write_responses(const struct kvc_memcachedgpu_server *server,
                                   struct kvc_memcachedgpu_job *job)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    double speed = kvc_cpu_pstate_speed(config->cpu, kvc_engine_pstate((uint32_t)server->device.cpu));
    struct response response = {0};
    struct work work = {0};
    uint32_t count = job->batch->count;
    for (uint32_t i = 0; i < count; i++) {
        if (job->outcome[i] != KVC_MEMCACHEDGPU_BAD) {
            find_response(config, job, i, &response);
            double compute_ns = response.cost.compute_ns / speed;
            work.cost_ns += compute_ns + response.cost.stall_ns;
            work.compute_ns += compute_ns;
            kvc_dram_load_add(&work.load, &response.load, 1);
        }
        job->done_ns[i] = work.cost_ns;
    }
    double send_ns = config->cpu->packet_ns / speed;
    for (uint32_t i = 0; i < count && config->feed == KVC_MEMCACHEDGPU_NETWORK; i++) {
        double sends_ns = job->outcome[i] != KVC_MEMCACHEDGPU_BAD ? send_ns : 0;
        work.cost_ns += sends_ns;
        work.compute_ns += sends_ns;
        job->done_ns[i] = work.cost_ns;
    }
    return work;
}

/* Returns whether the memory may delay a thread that uses this many of its channels: it cannot if there are
 * enough for all post threads at once and the copies. */
static bool may_be_delayed(const struct kvc_memcachedgpu_config *config, double channels)
{
    const struct kvc_dram_load byte = {.streamed_bytes = 1};
    double copies = kvc_dram_channel_ns(config->dram, &byte) /
                    fmin(kvc_pcie_h2d_ns(config->pcie, 1), kvc_pcie_d2h_ns(config->pcie, 1));
    return config->post_threads * channels + copies > kvc_dram_channels(config->dram);
}

/* Occupies the thread's core and the memory. Returns the time that this takes [ns]. */
static double take(struct kvc_memcachedgpu_server *server, const struct work *work)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    bool siblings = kvc_memcachedgpu_shares_cores(config);
    double speed = kvc_cpu_pstate_speed(config->cpu, kvc_engine_pstate((uint32_t)server->device.cpu));
    double channel_ns = kvc_dram_channel_ns(config->dram, &work->load);
    const struct kvc_draw draws[] = {
        {(uint32_t)server->device.cpu, (siblings ? work->compute_ns : work->cost_ns) * speed, work->cost_ns},
        {(uint32_t)server->device.dram, channel_ns, work->cost_ns},
    };
    double started_ns = kvc_engine_now_ns();
    if (channel_ns > 0 && may_be_delayed(config, channel_ns / work->cost_ns)) {
        kvc_engine_work(draws, 2);
    } else {
        kvc_engine_work(draws, 1);
        kvc_memcachedgpu_take(&server->answering, channel_ns, work->cost_ns / config->post_threads);
    }
    return kvc_engine_now_ns() - started_ns;
}

/* Sends the responses of a batch. The thread began the batch at start_ns and took `stretch` times as long as
 * it would have taken alone. Fills job->sent_ns and done_ns with the times of the responses, and returns
 * their number. The port of the thread is busy until *tx_free_ns afterwards. */
static uint32_t send(const struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job,
                     double start_ns, double stretch, double *tx_free_ns, double *tx_ns)
{
    const struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    const struct kvc_batch *batch = job->batch;
    bool network = config->feed == KVC_MEMCACHEDGPU_NETWORK;
    double free_ns = *tx_free_ns;
    uint32_t answered = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (job->outcome[i] == KVC_MEMCACHEDGPU_BAD) {
            continue;
        }
        double time_ns = start_ns + job->done_ns[i] * stretch;
        if (network) {
            uint32_t bytes = kvc_memcachedgpu_response_bytes(job->outcome[i] == KVC_MEMCACHEDGPU_HIT,
                                                             job->head_bytes[i], batch->value_bytes[i]);
            double wire_ns = simulation->wire_ns[bytes];
            *tx_ns += wire_ns;
            free_ns = fmax(free_ns, time_ns) + wire_ns;
            time_ns = free_ns + simulation->path_ns;
        }
        job->sent_ns[answered] = batch->sent_ns[i];
        job->done_ns[answered++] = time_ns; /* answered <= i: the entry was read before. */
    }
    *tx_free_ns = free_ns;
    return answered;
}

/* Counts the outcomes of requests that complete within the measured time. */
static void count(struct kvc_memcachedgpu_simulation *simulation, const struct kvc_memcachedgpu_job *job,
                  uint32_t first, uint32_t last, double now_ns)
{
    uint32_t answered = 0, hits = 0, all_hits = 0;
    for (uint32_t i = 0; i < job->batch->count; i++) {
        if (job->outcome[i] == KVC_MEMCACHEDGPU_BAD) {
            continue;
        }
        bool hit = job->outcome[i] == KVC_MEMCACHEDGPU_HIT;
        all_hits += hit;
        hits += hit && answered >= first && answered < last;
        answered++;
    }
    kvc_recorder_lookups(&simulation->replica.recorder, now_ns, answered, all_hits);
    simulation->completed += last - first;
    simulation->hits += hits;
    simulation->misses += last - first - hits;
}

/* Adds up how long packets stayed in each stage, for batches that lie within the measured time. */
static void record_stays(struct kvc_memcachedgpu_simulation *simulation,
                         const struct kvc_memcachedgpu_job *job, uint32_t answered, double done_sum_ns)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    double rows = job->batch->count;
    if (job->done_ns[0] < recorder->from_ns || job->done_ns[answered - 1] >= recorder->until_ns) {
        return;
    }
    simulation->batches++;
    simulation->batched += job->batch->count;
    simulation->batching_sum_ns += rows * job->full_ns - job->arrived_sum_ns;
    simulation->launch_sum_ns += rows * (job->launched_ns - job->full_ns);
    simulation->gpu_sum_ns += rows * (job->ended_ns - job->launched_ns);
    simulation->answer_sum_ns += (done_sum_ns / answered - job->ended_ns) * rows;
}

/* Counts malformed packets as dropped. */
static void drop_bad(struct kvc_memcachedgpu_simulation *simulation, const struct kvc_memcachedgpu_job *job)
{
    for (uint32_t i = 0; i < job->batch->count; i++) {
        if (job->outcome[i] == KVC_MEMCACHEDGPU_BAD) {
            kvc_recorder_dropped(&simulation->replica.recorder, &job->batch->sent_ns[i], 1);
        }
    }
}

static void record(struct kvc_memcachedgpu_simulation *simulation, const struct kvc_memcachedgpu_job *job,
                   uint32_t answered)
{
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    double now_ns = kvc_engine_now_ns(), done_sum_ns = 0;
    uint32_t first, last;
    if (answered < job->batch->count) {
        drop_bad(simulation, job);
    }
    if (answered == 0) {
        return;
    }
    const double mark_ns[] = {job->full_ns, job->launched_ns, job->ended_ns};
    kvc_recorder_latencies(recorder, now_ns, job->sent_ns, job->done_ns, answered);
    kvc_recorder_paths(recorder, job->sent_ns, job->done_ns, answered, mark_ns, 3, 0);
    kvc_recorder_completions(recorder, now_ns, job->sent_ns, job->done_ns, answered, &first, &last);
    kvc_recorder_sum(job->sent_ns, job->done_ns, answered, &done_sum_ns);
    count(simulation, job, first, last, now_ns);
    record_stays(simulation, job, answered, done_sum_ns);
    kvc_memcachedgpu_watch_add(&simulation->watch, job->sent_ns, job->done_ns, answered);
}

/* The clients send a SET for each key that they missed, if system.misses or the trace says so. */
static void set_misses(struct kvc_memcachedgpu_server *server, const struct kvc_memcachedgpu_job *job)
{
    const struct kvc_batch *batch = job->batch;
    bool asks = server->simulation->config->options->misses == KVC_MEMCACHEDGPU_MISSES_SET;
    uint32_t answered = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (job->outcome[i] == KVC_MEMCACHEDGPU_BAD) {
            continue;
        }
        if (job->outcome[i] == KVC_MEMCACHEDGPU_MISS &&
            (asks || kvc_source_fills_key(server->simulation->replica.source, batch->hash[i]))) {
            const struct kvc_memcachedgpu_write write = {.sent_ns = job->done_ns[answered],
                                                         .key_id = batch->key_id[i],
                                                         .value_bytes = batch->value_bytes[i],
                                                         .op = KVC_OP_SET,
                                                         .key_bytes = batch->key_bytes[i]};
            kvc_memcachedgpu_add_write(server, &write);
        }
        answered++;
    }
}

/* Frees the batch's buffers at time_ns, if it has any. */
static void release(struct kvc_memcachedgpu_server *server, const struct kvc_memcachedgpu_job *job,
                    double time_ns)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    bool in_buffers = config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU;
    if (in_buffers || config->feed == KVC_MEMCACHEDGPU_MEMORY) {
        kvc_memcachedgpu_release(
            server, in_buffers ? fmax(time_ns, kvc_engine_now_ns()) : kvc_engine_now_ns(), job->batch->count);
    }
}

/* Frees the batch's job, and its buffers at sent_ns unless the authors' program has freed them before. */
static void recycle(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job, double sent_ns)
{
    if (server->simulation->config->options->program == KVC_MEMCACHEDGPU_MEASURED) {
        release(server, job, sent_ns);
    }
    job->batch->count = 0;
    job->arrived_sum_ns = job->copied_bytes = 0;
    job->key_bytes_max = 0;
    job->in_flight = false;
    server->second_answered = job->second;
    job->next = server->free_jobs;
    server->free_jobs = job;
    uint32_t waiting = server->writers_waiting; /* A writer that wakes may wait again at once. */
    server->writers_waiting = 0;
    for (uint32_t i = 0; i < waiting; i++) {
        kvc_gate_post(server->answered);
    }
}

static void serve(struct kvc_memcachedgpu_post *post, struct kvc_memcachedgpu_job *job)
{
    struct kvc_memcachedgpu_server *server = post->server;
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    double *tx_free_ns = &server->tx_free_ns[post->number % config->nic->ports];
    double started_ns = kvc_engine_now_ns(), tx_ns = 0;
    if (config->options->program == KVC_MEMCACHEDGPU_PUBLISHED) { /* The heads are on the host. */
        release(server, job, started_ns);
    }
    struct work work = write_responses(server, job);
    double took_ns = take(server, &work);
    double stretch = work.cost_ns > 0 ? fmax(took_ns / work.cost_ns, 1) : 1;
    uint32_t answered = send(server, job, started_ns, stretch, tx_free_ns, &tx_ns), rows = job->batch->count;
    record(simulation, job, answered);
    if (config->options->misses == KVC_MEMCACHEDGPU_MISSES_SET ||
        kvc_source_fills(simulation->replica.source)) {
        set_misses(server, job);
    }
    kvc_memcachedgpu_take(&server->wire_out, tx_ns * 1e-9 * config->nic->bytes_per_s,
                          tx_ns / (double)config->nic->ports);
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_ANSWER, started_ns,
                      started_ns + took_ns);
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_TX, started_ns + took_ns - tx_ns,
                      started_ns + took_ns);
    kvc_timeline_event(simulation->replica.context->timeline, server->number, 1 + post->number, "answer",
                       started_ns, took_ns, rows);
    recycle(server, job, *tx_free_ns);
}

/* A post thread polls the events of its batches, so its hardware thread is never idle. */
void kvc_memcachedgpu_answer(struct kvc_memcachedgpu_post *post, struct kvc_memcachedgpu_job *job)
{
    if (post->batches++ == 0) {
        kvc_poller_pause(post->poller);
        post->server->polling--;
    }
    kvc_gate_wait(post->turn);
    kvc_memcachedgpu_call_driver(post->server, 0); /* It asks for the event. */
    serve(post, job);
    if (--post->batches == 0) {
        post->server->polling++;
        kvc_poller_resume(post->poller);
    }
    kvc_gate_post(post->turn);
}
