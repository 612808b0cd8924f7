/* CUDA streams, which copy jobs to the GPU, run their kernels there, and copy the results back. */
#include "models/megakv/simulation.h"

#include <math.h>

#include "models/megakv/costs.h"
#include "sim/base/clock.h"

void kvc_megakv_stream_add(struct kvc_megakv_stream *stream, struct kvc_megakv_job job)
{
    if (stream->tail - stream->head == KVC_MEGAKV_STREAM_JOBS) {
        KVC_BUG("a stream has more than %d jobs, but a pipeline has fewer buffers", KVC_MEGAKV_STREAM_JOBS);
    }
    stream->jobs[stream->tail++ % KVC_MEGAKV_STREAM_JOBS] = job;
}

/* ---- the index ---- */

void kvc_megakv_search(struct kvc_megakv_socket *socket, struct kvc_megakv_buffer *buffer)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_batch *batch = buffer->batch;
    uint32_t count = 0;
    if (socket->shard == NULL) {
        return;
    }
    uint64_t started = kvc_clock_ticks();
    if (buffer->gets == batch->count && simulation->store->sampling.rate == 1) {
        kvc_index_search(socket->shard->index, batch->hash, batch->count, buffer->location,
                         &socket->shard->index_stats);
    } else {
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
}

void kvc_megakv_insert(struct kvc_megakv_socket *socket, const struct kvc_megakv_writes *writes)
{
    struct kvc_megakv_simulation *simulation = socket->simulation;
    struct kvc_shard *shard = socket->shard;
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

double kvc_megakv_hit_frac_since(const struct kvc_megakv_socket *socket, const struct kvc_index_stats *before)
{
    const struct kvc_index_stats *now = socket->shard != NULL ? &socket->shard->index_stats : before;
    if (now->searches == before->searches) {
        return socket->simulation->costs.hit_frac;
    }
    return (double)(now->search_hits - before->search_hits) / (double)(now->searches - before->searches);
}

void kvc_megakv_note_changes_since(const struct kvc_megakv_socket *socket,
                                   const struct kvc_index_stats *before, struct kvc_megakv_launch_work *work)
{
    const struct kvc_index_stats *now = socket->shard != NULL ? &socket->shard->index_stats : before;
    double inserts = (double)(now->inserts - before->inserts),
           erases = (double)(now->erases - before->erases);
    work->replaced_frac = inserts > 0 ? (double)(now->replaced - before->replaced) / inserts
                                      : socket->simulation->costs.hit_frac;
    work->erased_frac =
        erases > 0 ? (double)(now->erased - before->erased) / erases : 1 - work->replaced_frac;
}

/* ---- the device ---- */

void kvc_megakv_count_kernel(struct kvc_megakv_simulation *simulation,
                             const struct kvc_megakv_launch_work *work, double start_ns)
{
    const struct kvc_recorder *recorder = &simulation->replica.recorder;
    struct kvc_megakv_launches *launches =
        work->kernel == KVC_SHARDS_SEARCH ? &simulation->searched : &simulation->inserted;
    double now_ns = kvc_engine_now_ns();
    if (work->jobs <= 0 || now_ns < recorder->from_ns || now_ns >= recorder->until_ns) {
        return;
    }
    launches->count++;
    launches->jobs += work->jobs;
    launches->ns += now_ns - start_ns;
}

void kvc_megakv_hand_over(struct kvc_megakv_pipeline *pipeline, struct kvc_megakv_buffer *buffer)
{
    buffer->searched_ns = kvc_engine_now_ns();
    pipeline->socket->handed_rows += buffer->batch->count;
    pipeline->ready[pipeline->ready_tail++ % KVC_MEGAKV_BUFFERS_MAX] = buffer;
    kvc_gate_post(pipeline->ready_gate);
}

/* Posts the copies of a launch in one direction, which take all_ns alone. */
static void post_copies(struct kvc_megakv_socket *socket, struct kvc_megakv_share *share, double bytes,
                        double all_ns)
{
    const struct kvc_dram_load load = {.streamed_bytes = bytes};
    kvc_dram_load_add(&socket->received_load, &load, 1);
    kvc_megakv_share_post(share, 0, bytes, all_ns);
}

/* Returns the slowdown of copies by other users of their links and of the memory. */
static double stretch_of(const struct kvc_megakv_socket *socket, const struct kvc_megakv_share *copies)
{
    return fmax(copies->stretch, socket->memory.stretch);
}

/* Begins with the part of a launch at the head of a stream. Returns whether the GPU has work to do. */
static bool begin_part(struct kvc_megakv_stream *stream, double now_ns)
{
    struct kvc_megakv_socket *socket = stream->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_megakv_config *config = simulation->config;
    const struct kvc_megakv_job *job = &stream->jobs[stream->head % KVC_MEGAKV_STREAM_JOBS];
    struct kvc_megakv_launch_work work = job->launch->work;
    struct kvc_index_stats before = {0};
    if (!job->launch->begun) {
        job->launch->begun = true;
        job->launch->started_ns = kvc_engine_now_ns();
    }
    stream->began_ns = kvc_engine_now_ns();
    if (socket->shard != NULL) {
        before = socket->shard->index_stats;
        work.stats = &socket->shard->index_stats;
    }
    if (job->buffer != NULL) {
        kvc_megakv_search(socket, job->buffer);
    }
    if (job->jobs <= 0) {
        return false;
    }
    simulation->costs.clock = kvc_engine_pstate((uint32_t)socket->device.gpu);
    work.hit_frac = kvc_megakv_hit_frac_since(socket, &before);
    /* The inserts of this launch run when it ends; the inserts of earlier launches stand in for them. */
    kvc_megakv_note_changes_since(socket, &(struct kvc_index_stats){0}, &work);
    struct kvc_gpu_work all = kvc_shards_gpu_work(work.kernel, work.jobs, config->streams, work.stats);
    double frac = job->jobs / work.jobs, copies = 1 + (all.out_bytes > 0),
           in_ns = kvc_pcie_h2d_ns(config->pcie, all.in_bytes),
           out_ns = kvc_pcie_d2h_ns(config->pcie, all.out_bytes);
    struct kvc_gpu_stream_job steps = {
        .in_ns = frac * in_ns * stretch_of(socket, &socket->copies_in),
        .kernel = kvc_megakv_kernel_of(&simulation->costs, &work, job->jobs),
        .out_ns = frac * out_ns * stretch_of(socket, &socket->copies_out),
    };
    steps.kernel.latency_ns += copies * config->pcie->latency_ns;
    stream->out_bytes = all.out_bytes;
    if (!job->launch->copied_in) {
        job->launch->copied_in = true;
        post_copies(socket, &socket->copies_in, all.in_bytes, in_ns);
    }
    kvc_gpu_streams_begin(socket->gpu, stream->number, now_ns, &steps);
    return true;
}

/* Ends a stream's part of a launch. */
static void end_part(struct kvc_megakv_stream *stream)
{
    struct kvc_megakv_socket *socket = stream->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_megakv_job job = stream->jobs[stream->head++ % KVC_MEGAKV_STREAM_JOBS];
    struct kvc_megakv_launch *launch = job.launch;
    bool searching = launch->work.kernel == KVC_SHARDS_SEARCH;
    double start_ns = stream->began_ns, end_ns = kvc_engine_now_ns();
    uint32_t row = stream->pipeline != NULL ? 1 + simulation->streams + stream->number : 0;
    kvc_recorder_busy(&simulation->replica.recorder, searching ? KVC_MEGAKV_SEARCH : KVC_MEGAKV_INSERT,
                      start_ns, end_ns);
    kvc_timeline_event(simulation->replica.context->timeline, socket->number, row,
                       searching ? "search" : "insert", start_ns, end_ns - start_ns, (uint64_t)job.jobs);
    if (job.jobs > 0 && stream->out_bytes > 0 && !launch->copied_out) {
        launch->copied_out = true;
        post_copies(socket, &socket->copies_out, stream->out_bytes,
                    kvc_pcie_d2h_ns(simulation->config->pcie, stream->out_bytes));
    }
    if (--launch->running > 0) {
        return;
    }
    kvc_megakv_count_kernel(simulation, &launch->work, launch->started_ns);
    if (searching) {
        kvc_gate_post(socket->ended_gate);
    }
    if (!searching) {
        kvc_megakv_insert(socket, &launch->writes);
        kvc_megakv_writes_free(&launch->writes);
    }
    free(launch);
}

static struct kvc_megakv_stream *stream_of(struct kvc_megakv_socket *socket, uint32_t number)
{
    return number < socket->simulation->streams ? &socket->pipelines[number].stream : &socket->insert_stream;
}

static void note_outages(struct kvc_megakv_socket *socket)
{
    const struct kvc_megakv_share *in = &socket->copies_in, *out = &socket->copies_out;
    kvc_gpu_streams_outage(socket->gpu, KVC_GPU_COPY_IN, kvc_engine_route_outage(in->from, in->to));
    kvc_gpu_streams_outage(socket->gpu, KVC_GPU_CARD, kvc_engine_host_outage((uint32_t)socket->device.gpu));
    kvc_gpu_streams_outage(socket->gpu, KVC_GPU_COPY_OUT, kvc_engine_route_outage(out->from, out->to));
}

/* Posts what kernels have done since the last post: at each launch, and when the GPU becomes idle. */
static void post_kernels(struct kvc_megakv_socket *socket, double now_ns)
{
    double worked_ns = kvc_gpu_streams_take_work_ns(socket->gpu);
    if (worked_ns > 0) {
        kvc_megakv_share_post(&socket->kernels, worked_ns, 0, now_ns - socket->kernels_posted_ns);
    }
    socket->kernels_posted_ns = now_ns;
}

void kvc_megakv_streams_main(void *data)
{
    struct kvc_megakv_socket *socket = data;
    for (;;) {
        double next_ns = kvc_gpu_streams_next_ns(socket->gpu);
        bool launched = kvc_gate_wait_until(socket->launch_gate, next_ns);
        double now_ns = launched ? kvc_engine_now_ns() : next_ns;
        uint32_t number;
        note_outages(socket);
        while ((number = kvc_gpu_streams_ended(socket->gpu, now_ns)) != KVC_GPU_STREAM_NONE) {
            end_part(stream_of(socket, number));
            stream_of(socket, number)->busy = false;
        }
        for (uint32_t i = 0; i <= socket->simulation->streams; i++) {
            struct kvc_megakv_stream *stream = stream_of(socket, i);
            while (!stream->busy && stream->head != stream->tail) {
                stream->busy = begin_part(stream, now_ns);
                if (!stream->busy) {
                    end_part(stream);
                }
            }
        }
        if (launched || isinf(kvc_gpu_streams_next_ns(socket->gpu))) {
            post_kernels(socket, now_ns);
        }
    }
}
