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
    kvc_gate_post(stream->gate);
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
    struct kvc_cuckoo_shard *shard = socket->shard;
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
        work->kernel == KVC_MEGAKV_KERNEL_SEARCH ? &simulation->searched : &simulation->inserted;
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
    pipeline->ready[pipeline->ready_tail++ % KVC_MEGAKV_BUFFERS_MAX] = buffer;
    kvc_gate_post(pipeline->ready_gate);
}

/* Copies a stream's part of `all_bytes`, which take all_ns alone. The copy engine serves one stream at a
 * time. The caller adds the copy's latency, because the engine already serves the next copy. */
static void copy(const struct kvc_megakv_stream *stream, const struct kvc_megakv_job *job,
                 struct kvc_megakv_copies *copies, struct kvc_gate *engine, uint32_t from, uint32_t to,
                 double bytes, double all_bytes, double all_ns)
{
    const struct kvc_megakv_config *config = stream->socket->simulation->config;
    const struct kvc_dram_load load = {.streamed_bytes = all_bytes};
    const struct kvc_draw draw = {(uint32_t)stream->socket->device.dram,
                                  kvc_dram_channel_ns(config->dram, &load), all_ns};
    kvc_gate_wait(engine);
    if (copies->begun++ == 0) {
        kvc_engine_start(&copies->memory, &draw, 1);
    }
    kvc_engine_transfer(from, to, bytes);
    if (++copies->ended == job->launch->parts) {
        kvc_engine_finish(&copies->memory);
    }
    kvc_gate_post(engine);
}

static void run_on_gpu(const struct kvc_megakv_stream *stream, const struct kvc_megakv_job *job)
{
    struct kvc_megakv_socket *socket = stream->socket;
    struct kvc_megakv_simulation *simulation = socket->simulation;
    const struct kvc_megakv_config *config = simulation->config;
    const struct kvc_socket *device = &socket->device;
    struct kvc_megakv_launch_work work = job->launch->work;
    struct kvc_index_stats before = {0};
    if (socket->shard != NULL) {
        before = socket->shard->index_stats;
        work.stats = &socket->shard->index_stats;
    }
    if (job->buffer != NULL) {
        kvc_megakv_search(socket, job->buffer);
    }
    if (job->jobs <= 0) {
        return;
    }
    simulation->costs.clock = kvc_engine_pstate((uint32_t)device->gpu);
    work.hit_frac = kvc_megakv_hit_frac_since(socket, &before);
    /* The inserts of this launch run when it ends; the inserts of earlier launches stand in for them. */
    kvc_megakv_note_changes_since(socket, &(struct kvc_index_stats){0}, &work);
    struct kvc_gpu_work all = kvc_megakv_gpu_work(work.kernel, work.jobs, config->streams, work.stats);
    struct kvc_gpu_kernel kernel = kvc_megakv_kernel_of(&simulation->costs, &work, job->jobs);
    double frac = job->jobs / work.jobs, copies = 1 + (all.out_bytes > 0);
    copy(stream, job, &job->launch->in, socket->copy_in, (uint32_t)device->dram, (uint32_t)device->copy,
         frac * all.in_bytes, all.in_bytes, kvc_pcie_h2d_ns(config->pcie, all.in_bytes));
    /* The latency of the copy back passes here as well, which saves an activity. */
    kvc_engine_sleep_until_ns(kvc_engine_now_ns() + copies * config->pcie->latency_ns + kernel.latency_ns);
    kvc_engine_work(&(struct kvc_draw){(uint32_t)device->gpu, kernel.amount_ns, kernel.alone_ns}, 1);
    if (all.out_bytes > 0) {
        copy(stream, job, &job->launch->out, socket->copy_out, (uint32_t)device->copy, (uint32_t)device->dram,
             frac * all.out_bytes, all.out_bytes, kvc_pcie_d2h_ns(config->pcie, all.out_bytes));
    }
}

/* Ends a stream's part of a launch. */
static void end_part(struct kvc_megakv_stream *stream, struct kvc_megakv_job *job)
{
    struct kvc_megakv_launch *launch = job->launch;
    if (job->buffer != NULL) {
        kvc_megakv_hand_over(stream->pipeline, job->buffer);
    }
    if (--launch->running > 0) {
        return;
    }
    kvc_megakv_count_kernel(stream->socket->simulation, &launch->work, launch->started_ns);
    if (launch->work.kernel == KVC_MEGAKV_KERNEL_INSERT) {
        kvc_megakv_insert(stream->socket, &launch->writes);
        kvc_megakv_writes_free(&launch->writes);
    }
    free(launch);
}

void kvc_megakv_stream_main(void *data)
{
    struct kvc_megakv_stream *stream = data;
    struct kvc_megakv_simulation *simulation = stream->socket->simulation;
    uint32_t row = stream->pipeline != NULL ? 1 + simulation->streams + stream->pipeline->number : 0;
    for (;;) {
        kvc_gate_wait(stream->gate);
        struct kvc_megakv_job job = stream->jobs[stream->head % KVC_MEGAKV_STREAM_JOBS];
        bool searching = job.launch->work.kernel == KVC_MEGAKV_KERNEL_SEARCH;
        double start_ns = kvc_engine_now_ns();
        if (!job.launch->begun) {
            job.launch->begun = true;
            job.launch->started_ns = start_ns;
        }
        run_on_gpu(stream, &job);
        double end_ns = kvc_engine_now_ns();
        kvc_recorder_busy(&simulation->replica.recorder, searching ? KVC_MEGAKV_SEARCH : KVC_MEGAKV_INSERT,
                          start_ns, end_ns);
        kvc_timeline_event(simulation->replica.context->timeline, stream->socket->number, row,
                           searching ? "search" : "insert", start_ns, end_ns - start_ns, (uint64_t)job.jobs);
        stream->head++;
        end_part(stream, &job);
    }
}
