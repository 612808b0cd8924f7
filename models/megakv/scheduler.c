/* The scheduler, which swaps buffers and launches every cycle, and the GPU, which runs the launches in order.
 */
#include "models/megakv/simulation.h"

#include <math.h>

#include "sim/base/clock.h"

static void enqueue(struct kvc_megakv_socket *socket, struct kvc_megakv_launch *launch)
{
    launch->next = NULL;
    *socket->launches_end = launch;
    socket->launches_end = &launch->next;
    kvc_gate_post(socket->launch_gate);
}

static struct kvc_megakv_launch *new_launch(enum kvc_megakv_kernel kernel)
{
    struct kvc_megakv_launch *launch = calloc(1, sizeof(*launch));
    if (launch == NULL) {
        kvc_out_of_memory("a launch");
    }
    launch->kernel = kernel;
    return launch;
}

static void launch_search(struct kvc_megakv_socket *socket, double now_ns)
{
    uint32_t streams = socket->simulation->streams;
    struct kvc_megakv_launch *launch = new_launch(KVC_MEGAKV_KERNEL_SEARCH);
    launch->buffers = calloc(streams, sizeof(struct kvc_megakv_buffer *));
    if (launch->buffers == NULL) {
        kvc_out_of_memory("a launch");
    }
    for (uint32_t i = 0; i < streams; i++) {
        struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
        struct kvc_megakv_buffer *next = pipeline->free_stack[--pipeline->free_count];
        kvc_megakv_split(pipeline, next, now_ns);
        pipeline->filling->launched_ns = now_ns;
        launch->buffers[i] = pipeline->filling;
        pipeline->filling = next;
    }
    launch->drained = socket->writes.jobs - socket->writes.drained;
    socket->writes.drained = socket->writes.jobs;
    enqueue(socket, launch);
}

static void launch_insert(struct kvc_megakv_socket *socket)
{
    if (socket->writes.jobs <= 0) {
        return;
    }
    struct kvc_megakv_launch *launch = new_launch(KVC_MEGAKV_KERNEL_INSERT);
    launch->writes = socket->writes;
    socket->writes = (struct kvc_megakv_writes){0};
    enqueue(socket, launch);
}

/* Lets the scheduler wait while its thread does the work of the index. With threads = "shared", no receiver
 * runs during that time. */
static void wait_for_index(struct kvc_megakv_socket *socket)
{
    while (socket->launches != NULL || socket->launch_running) {
        kvc_gate_wait(socket->done_gate);
    }
    socket->first_core.free_ns = fmax(socket->first_core.free_ns, kvc_engine_now_ns());
}

void kvc_megakv_scheduler_main(void *data)
{
    struct kvc_megakv_socket *socket = data;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    double due_ns = 0;
    for (uint64_t cycle = 1;; cycle++) {
        due_ns += simulation->config->cycle_ns;
        kvc_engine_sleep_until_ns(due_ns);
        /* A swap needs a free buffer in every pipeline, so late senders and a late GPU delay the launch. */
        for (uint32_t i = 0; i < simulation->streams; i++) {
            kvc_gate_wait(socket->pipelines[i].free_gate);
        }
        double now_ns = kvc_engine_now_ns();
        kvc_megakv_count_launch(simulation, now_ns, now_ns - due_ns);
        /* Launches are due at multiples of the cycle: a launch that is less than a cycle late does not
         * delay the next ones. */
        if (now_ns - due_ns >= simulation->config->cycle_ns) {
            due_ns = now_ns;
        }
        kvc_megakv_receive(socket, now_ns);
        launch_search(socket, now_ns);
        if (cycle % simulation->config->delay == 0) {
            launch_insert(socket);
        }
        if (simulation->on_thread) {
            wait_for_index(socket);
        }
        /* Receivers that share the core could not run during the launch, so they now get a full cycle. */
        double end_ns = kvc_engine_now_ns();
        if (simulation->shared && end_ns >= due_ns + simulation->config->cycle_ns) {
            due_ns = end_ns;
        }
    }
}

/* Looks up the sampled GETs of all buffers. Returns the number of all GETs. */
static double search(struct kvc_megakv_socket *socket, struct kvc_megakv_launch *launch)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    double gets = 0;
    uint64_t started = kvc_clock_ticks();
    for (uint32_t p = 0; p < simulation->streams; p++) {
        struct kvc_megakv_buffer *buffer = launch->buffers[p];
        const struct kvc_batch *batch = buffer->batch;
        uint32_t count = 0;
        gets += buffer->gets;
        if (socket->shard == NULL) {
            continue;
        }
        if (buffer->gets == batch->count && simulation->store->sampling.rate == 1) {
            kvc_index_search(socket->shard->index, batch->hash, batch->count, buffer->location,
                             &socket->shard->index_stats);
            continue;
        }
        for (uint32_t i = 0; i < batch->count; i++) {
            simulation->hashes[count] = batch->hash[i];
            simulation->rows[count] = i;
            count += batch->op[i] == KVC_OP_GET && buffer->sampled[i];
        }
        kvc_index_search(socket->shard->index, simulation->hashes, count, simulation->locations,
                         &socket->shard->index_stats);
        for (uint32_t i = 0; i < count; i++) {
            buffer->location[simulation->rows[i]] = simulation->locations[i];
        }
    }
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
    return gets;
}

/* Runs the index jobs. Returns the items of keys that a client deleted to the slabs. */
static void insert(struct kvc_megakv_socket *socket, const struct kvc_megakv_writes *writes)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    struct kvc_megakv_shard *shard = socket->shard;
    if (shard == NULL) {
        return;
    }
    uint64_t started = kvc_clock_ticks();
    for (uint32_t done = 0; done < writes->erases; done += KVC_MEGAKV_ROWS_MAX) {
        uint32_t count =
            writes->erases - done < KVC_MEGAKV_ROWS_MAX ? writes->erases - done : KVC_MEGAKV_ROWS_MAX;
        kvc_index_erase(shard->index, writes->erase_hash + done, writes->erase_location + done, count,
                        simulation->locations, &shard->index_stats);
        for (uint32_t i = 0; i < count; i++) {
            if (writes->erase_location[done + i] == KVC_LOCATION_ANY &&
                simulation->locations[i] != KVC_LOCATION_NONE) {
                kvc_megakv_slab_release_key(shard->slab, simulation->locations[i],
                                            writes->erase_hash[done + i]);
            }
        }
    }
    kvc_index_insert(shard->index, writes->insert_hash, writes->insert_location, writes->inserts, NULL,
                     &shard->index_stats);
    simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
}

static void hand_to_senders(struct kvc_megakv_socket *socket, struct kvc_megakv_launch *launch)
{
    double now_ns = kvc_engine_now_ns();
    uint32_t streams = socket->simulation->streams;
    for (uint32_t i = 0; i < streams; i++) {
        struct kvc_megakv_pipeline *pipeline = &socket->pipelines[i];
        launch->buffers[i]->searched_ns = now_ns;
        for (uint32_t j = 0; socket->simulation->shared && j < streams; j++) {
            launch->buffers[i]->launched_gets[j] = launch->buffers[j]->gets;
        }
        pipeline->ready[pipeline->ready_tail++ % KVC_MEGAKV_BUFFERS_MAX] = launch->buffers[i];
        kvc_gate_post(pipeline->ready_gate);
    }
}

/* Returns the hit ratio of the real searches since `before`, or that of the closed form if there were none.
 */
static double hit_frac_since(const struct kvc_megakv_socket *socket, const struct kvc_index_stats *before)
{
    const struct kvc_index_stats *now = socket->shard != NULL ? &socket->shard->index_stats : before;
    if (now->searches == before->searches) {
        return socket->simulation->costs.hit_frac;
    }
    return (double)(now->search_hits - before->search_hits) / (double)(now->searches - before->searches);
}

static void count_launch(const struct kvc_megakv_simulation *simulation, struct kvc_megakv_launches *launches,
                         double jobs, double duration_ns)
{
    double now_ns = kvc_engine_now_ns();
    if (jobs <= 0 || now_ns < simulation->replica.recorder.from_ns ||
        now_ns >= simulation->replica.recorder.until_ns) {
        return;
    }
    launches->count++;
    launches->jobs += jobs;
    launches->ns += duration_ns;
}

void kvc_megakv_gpu_main(void *data)
{
    struct kvc_megakv_socket *socket = data;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_index_stats none = {0};
    for (;;) {
        kvc_gate_wait(socket->launch_gate);
        struct kvc_megakv_launch *launch = socket->launches;
        socket->launches = launch->next;
        socket->launch_running = true;
        if (socket->launches == NULL) {
            socket->launches_end = &socket->launches;
        }

        bool searching = launch->kernel == KVC_MEGAKV_KERNEL_SEARCH;
        struct kvc_index_stats before = socket->shard != NULL ? socket->shard->index_stats : none;
        double start_ns = kvc_engine_now_ns(), jobs = launch->writes.jobs;
        if (searching) {
            jobs = search(socket, launch);
        } else {
            insert(socket, &launch->writes);
        }
        double duration_ns =
            kvc_megakv_launch_ns(&simulation->costs, launch->kernel, jobs, hit_frac_since(socket, &before),
                                 launch->drained, socket->shard != NULL ? &socket->shard->index_stats : NULL);
        kvc_engine_work(&(struct kvc_draw){simulation->gpu_host[socket->number], duration_ns, duration_ns},
                        1);
        count_launch(simulation, searching ? &simulation->searched : &simulation->inserted, jobs,
                     duration_ns);
        kvc_recorder_busy(&simulation->replica.recorder, searching ? KVC_MEGAKV_SEARCH : KVC_MEGAKV_INSERT,
                          start_ns, start_ns + duration_ns);
        kvc_timeline_event(simulation->replica.context->timeline, socket->number, 0,
                           searching ? "search" : "insert", start_ns, duration_ns, (uint64_t)jobs);
        if (searching) {
            hand_to_senders(socket, launch);
        }
        free(launch->buffers);
        kvc_megakv_writes_free(&launch->writes);
        free(launch);
        socket->launch_running = false;
        if (simulation->on_thread) {
            kvc_gate_post(socket->done_gate);
        }
    }
}
