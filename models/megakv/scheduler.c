/* The scheduler, which swaps buffers and launches every cycle. */
#include "models/megakv/simulation.h"

#include <math.h>

#include "sim/base/array.h"

static struct kvc_megakv_launch *new_launch(enum kvc_shards_kernel kernel)
{
    struct kvc_megakv_launch *launch = kvc_array_of(1, sizeof(*launch));
    launch->work.kernel = kernel;
    launch->started_ns = kvc_engine_now_ns();
    return launch;
}

/* Swaps the buffers of all pipelines: the filled ones become socket->launched. Returns the launch of their
 * searches. */
static struct kvc_megakv_launch *swap(struct kvc_megakv_socket *socket)
{
    struct kvc_megakv_buffer **buffers = socket->launched;
    uint32_t streams = socket->simulation->streams;
    struct kvc_megakv_launch *launch = new_launch(KVC_SHARDS_SEARCH);
    double rows = 0;
    for (uint32_t i = 0; i < streams; i++) {
        struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
        struct kvc_megakv_buffer *next = pipeline->free_stack[--pipeline->free_count];
        kvc_megakv_split(pipeline, next, launch->started_ns);
        pipeline->filling->launched_ns = launch->started_ns;
        buffers[i] = pipeline->filling;
        launch->work.jobs += buffers[i]->gets;
        rows += buffers[i]->batch->count;
        pipeline->filling = next;
    }
    for (uint32_t i = 0; i < streams && socket->simulation->shared; i++) {
        for (uint32_t j = 0; j < streams; j++) {
            buffers[i]->launched_gets[j] = buffers[j]->gets;
        }
    }
    socket->batch_rows = rows / streams;
    launch->work.drained = socket->writes.jobs - socket->writes.drained;
    socket->writes.drained = socket->writes.jobs;
    return launch;
}

/* Returns the launch of the index jobs, or NULL if there are none. */
static struct kvc_megakv_launch *take_writes(struct kvc_megakv_socket *socket)
{
    if (socket->writes.jobs <= 0) {
        return NULL;
    }
    struct kvc_megakv_launch *launch = new_launch(KVC_SHARDS_INSERT);
    launch->writes = socket->writes;
    launch->work.jobs = launch->writes.jobs;
    launch->work.erases = launch->writes.erase_jobs;
    socket->writes = (struct kvc_megakv_writes){0};
    return launch;
}

static void launch_searches(struct kvc_megakv_socket *socket)
{
    uint32_t streams = socket->simulation->streams;
    struct kvc_megakv_launch *launch = swap(socket);
    launch->running = streams;
    for (uint32_t i = 0; i < streams; i++) {
        struct kvc_megakv_buffer *buffer = socket->launched[i];
        struct kvc_megakv_job job = {launch, buffer, buffer->gets};
        kvc_megakv_stream_add(&socket->pipelines[i].stream, job);
    }
}

/* Returns whether the scheduler has to wait for the inserts. */
static bool launch_inserts(struct kvc_megakv_socket *socket)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    struct kvc_megakv_launch *launch = take_writes(socket);
    if (launch == NULL) {
        return false;
    }
    if (simulation->config->insert_stream == KVC_MEGAKV_INSERT_OWN_STREAM) {
        launch->running = 1;
        kvc_megakv_stream_add(&socket->insert_stream,
                              (struct kvc_megakv_job){launch, NULL, launch->work.jobs});
        kvc_gate_post(socket->launch_gate);
        return false;
    }
    launch->running = simulation->streams;
    for (uint32_t i = 0; i < simulation->streams; i++) {
        struct kvc_megakv_job job = {launch, NULL, launch->work.jobs / simulation->streams};
        kvc_megakv_stream_add(&socket->pipelines[i].stream, job);
    }
    kvc_gate_post(socket->launch_gate);
    return true;
}

static void hand_over(struct kvc_megakv_socket *socket)
{
    for (uint32_t i = 0; i < socket->simulation->streams; i++) {
        kvc_megakv_hand_over(&socket->pipelines[i], socket->launched[i]);
    }
}

/* Waits for the launch, and hands all buffers over at once. The authors' program (2015) synchronises with the
 * device before it gives the buffers to the senders, and before it looks at the clock for the next cycle. */
static void launch(struct kvc_megakv_socket *socket, bool with_inserts)
{
    launch_searches(socket);
    kvc_gate_post(socket->launch_gate);
    kvc_gate_wait(socket->ended_gate);
    kvc_stalls_wait(&socket->first_core.stalls, kvc_engine_now_ns());
    hand_over(socket);
    if (with_inserts) {
        launch_inserts(socket);
    }
}

/* Occupies the scheduler's core with the work of a launch. */
static void work_on_thread(struct kvc_megakv_socket *socket, struct kvc_megakv_launch *launch,
                           const struct kvc_index_stats *before)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    launch->work.stats = socket->shard != NULL ? &socket->shard->index_stats : NULL;
    launch->work.hit_frac = kvc_megakv_hit_frac_since(socket, before);
    kvc_megakv_note_changes_since(socket, before, &launch->work);
    double start_ns = kvc_engine_now_ns();
    double duration_ns = kvc_megakv_launch_ns(&simulation->costs, &launch->work);
    kvc_engine_work(&(struct kvc_draw){(uint32_t)socket->device.cpu, duration_ns, duration_ns}, 1);
    kvc_stalls_wait(&socket->first_core.stalls, start_ns);
    kvc_megakv_count_kernel(simulation, &launch->work, start_ns);
    double end_ns = kvc_engine_now_ns();
    bool searching = launch->work.kernel == KVC_SHARDS_SEARCH;
    kvc_recorder_busy(&simulation->replica.recorder, searching ? KVC_MEGAKV_SEARCH : KVC_MEGAKV_INSERT,
                      start_ns, end_ns);
    kvc_timeline_event(simulation->replica.context->timeline, socket->number, 0,
                       searching ? "search" : "insert", start_ns, end_ns - start_ns,
                       (uint64_t)launch->work.jobs);
}

/* With index_on = "thread", the scheduler's thread does the work of the index. With threads = "shared", no
 * receiver runs during that time. */
static void run_on_thread(struct kvc_megakv_socket *socket, bool with_inserts)
{
    const struct kvc_index_stats none = {0};
    uint32_t streams = socket->simulation->streams;
    struct kvc_megakv_launch *launch = swap(socket);
    struct kvc_index_stats before = socket->shard != NULL ? socket->shard->index_stats : none;
    for (uint32_t i = 0; i < streams; i++) {
        kvc_megakv_search(socket, socket->launched[i]);
    }
    work_on_thread(socket, launch, &before);
    hand_over(socket);
    free(launch);
    launch = with_inserts ? take_writes(socket) : NULL;
    if (launch != NULL) {
        before = socket->shard != NULL ? socket->shard->index_stats : none;
        kvc_megakv_insert(socket, &launch->writes);
        work_on_thread(socket, launch, &before);
        kvc_megakv_writes_free(&launch->writes);
        free(launch);
    }
    socket->first_core.free_ns = fmax(socket->first_core.free_ns, kvc_engine_now_ns());
}

/* Waits while the senders have more rows before them than the receivers have collected since began_ns, and no
 * buffer is full. Otherwise, launches on shared threads would alternate between large and small batches, and
 * the senders would wait for the large ones. */
static void wait_for_senders(struct kvc_megakv_socket *socket, double began_ns)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    for (;;) {
        double now_ns = kvc_engine_now_ns(), collected = 0;
        double left = (double)(socket->handed_rows - socket->sent_rows);
        bool full = false;
        kvc_megakv_receive(socket, now_ns);
        for (uint32_t i = 0; i < simulation->streams; i++) {
            uint32_t rows = socket->pipelines[i].filling->batch->count;
            collected += rows;
            full = full || rows + simulation->config->frame_requests > KVC_MEGAKV_ROWS_MAX;
        }
        if (full || collected >= left) {
            return;
        }
        double pace_ns = collected > 0 ? (now_ns - began_ns) / collected : simulation->config->cycle_ns;
        kvc_gate_wait_until(socket->sent_gate, now_ns + fmax((left - collected) * pace_ns, 1e3));
    }
}

/* Waits for the end of a stall of the scheduler's core, which receivers on the same core may have met. */
static void wait_for_core(struct kvc_megakv_socket *socket)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    if (simulation->shared && simulation->scenario->node.stall_count > 0) {
        kvc_megakv_receive(socket, kvc_engine_now_ns());
    }
    kvc_stalls_wait(&socket->first_core.stalls, kvc_engine_now_ns());
}

void kvc_megakv_scheduler_main(void *data)
{
    struct kvc_megakv_socket *socket = data;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    double due_ns = 0, end_ns = 0;
    bool overran = false; /* The latest launch, which on shared threads took longer than a cycle. */
    for (uint64_t cycle = 1;; cycle++) {
        bool with_inserts = cycle % simulation->config->delay == 0;
        due_ns += simulation->config->cycle_ns;
        kvc_engine_sleep_until_ns(due_ns);
        if (overran) {
            wait_for_senders(socket, end_ns);
        }
        /* A swap needs a free buffer in every pipeline, so late senders and a late GPU delay the launch. */
        for (uint32_t i = 0; i < simulation->streams; i++) {
            kvc_gate_wait(socket->pipelines[i].free_gate);
        }
        wait_for_core(socket);
        double now_ns = kvc_engine_now_ns();
        kvc_megakv_count_launch(simulation, now_ns, now_ns - due_ns);
        /* If launches are due at multiples of the cycle, one that is less than a cycle late does not delay
         * the next ones. */
        if (simulation->config->cycle_from == KVC_MEGAKV_CYCLE_FROM_LAUNCH ||
            now_ns - due_ns >= simulation->config->cycle_ns) {
            due_ns = now_ns;
        }
        kvc_megakv_receive(socket, now_ns);
        if (simulation->on_thread) {
            run_on_thread(socket, with_inserts);
        } else {
            launch(socket, with_inserts);
        }
        /* Receivers that share the core could not run during the launch, so they now get a full cycle. */
        end_ns = kvc_engine_now_ns();
        overran = simulation->shared && end_ns >= due_ns + simulation->config->cycle_ns;
        due_ns = overran ? end_ns : due_ns;
    }
}

/* The scheduler polls: its core never idles. */
void kvc_megakv_poll_main(void *data)
{
    const struct kvc_megakv_socket *socket = data;
    static const double long_ns = 1e12;
    for (;;) {
        kvc_engine_work(&(struct kvc_draw){(uint32_t)socket->device.cpu, long_ns, long_ns}, 1);
    }
}
