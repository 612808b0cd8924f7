/* SETs and DELETEs: threads of memcached serve them over TCP, and update the GPU's table one at a time. */
#include <math.h>
#include <stdlib.h>

#include "models/memcachedgpu/simulation.h"
#include "models/memcachedgpu/tables.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"

/* ---- locks ---- */

/* The lock of a set: a SET or DELETE holds it exclusively, and GETs of the set wait for it (sec. 4.2.1).
 *
 * A writer does not wait for readers of the set, each of which holds it for two accesses; this is not
 * modelled. */

static bool has_locks(const struct kvc_memcachedgpu_server *server)
{
    return server->shard != NULL && server->simulation->config->index == KVC_MEMCACHEDGPU_SETS;
}

static uint64_t set_of(const struct kvc_memcachedgpu_server *server, uint64_t key_id, uint32_t key_bytes)
{
    uint8_t key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 8];
    kvc_memcachedgpu_text_key(key, key_id, key_bytes);
    return kvc_memcachedgpu_tables_set(&server->shard->tables, key, key_bytes);
}

void kvc_memcachedgpu_run_locked(struct kvc_memcachedgpu_server *server,
                                 const struct kvc_memcachedgpu_write *write, struct kvc_gpu_grid grid)
{
    struct kvc_memcachedgpu_lock *lock = &server->lock;
    if (has_locks(server)) {
        lock->set = set_of(server, write->key_id, write->key_bytes);
        grid.placed_ns = &lock->since_ns;
    }
    kvc_gpu_blocks_run(server->blocks, &grid);
    lock->since_ns = NAN;
    for (; lock->waiting > 0; lock->waiting--) {
        kvc_gate_post(lock->released);
    }
}

static bool is_locked(const struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (set_of(server, batch->key_id[i], batch->key_bytes[i]) == server->lock.set) {
            return true;
        }
    }
    return false;
}

void kvc_memcachedgpu_wait_for_lock(struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch)
{
    struct kvc_memcachedgpu_lock *lock = &server->lock;
    while (!isnan(lock->since_ns) && is_locked(server, batch)) {
        lock->waiting++;
        if (kvc_engine_now_ns() >= server->simulation->replica.recorder.from_ns) {
            server->simulation->lock_waits++;
        }
        kvc_gate_wait(lock->released);
    }
}

/* ---- writes ---- */

void kvc_memcachedgpu_add_write(struct kvc_memcachedgpu_server *server,
                                const struct kvc_memcachedgpu_write *write)
{
    uint32_t used = server->write_tail - server->write_head;
    if (used == server->write_room) {
        uint32_t room = used > 0 ? 2 * used : 1024;
        struct kvc_memcachedgpu_write *larger = kvc_array_of(room, sizeof(*larger));
        for (uint32_t i = 0; i < used; i++) {
            larger[i] = server->write[(server->write_head + i) & (server->write_room - 1)];
        }
        free(server->write);
        server->write = larger;
        server->write_room = room;
        server->write_head = 0;
        server->write_tail = used;
    }
    server->write[server->write_tail++ & (server->write_room - 1)] = *write;
    kvc_recorder_offered(&server->simulation->replica.recorder, &write->sent_ns, 1);
    kvc_gate_post(server->written);
}

/* Returns whether a batch in flight may have seen an item with this timestamp. The authors' program compares
 * seconds of memcached's clock, so that a batch of this second that was answered stands for all others
 * (cuda_stream_manager.cpp: poll_get_complete_timestamp). */
static bool is_seen(const struct kvc_memcachedgpu_server *server, uint32_t stamp)
{
    if (server->second_answered == server->second) {
        return false;
    }
    for (const struct kvc_memcachedgpu_job *job = server->all_jobs; job != NULL; job = job->next_of_all) {
        if (job->in_flight && (int32_t)(stamp - job->stamp) >= 0) {
            return true;
        }
    }
    return false;
}

/* Waits until all GETs that saw the item have been answered (sec. 4.3). */
static void wait_for_readers(struct kvc_memcachedgpu_server *server,
                             const struct kvc_memcachedgpu_written *written)
{
    while (written->left && is_seen(server, written->stamp)) {
        server->writers_waiting++;
        kvc_gate_wait(server->answered);
    }
}

/* Updates the table on the GPU: copies the key, launches a kernel of one warp, and copies the evicted item
 * back. */
static void update_table(struct kvc_memcachedgpu_server *server, const struct kvc_memcachedgpu_write *write)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    struct kvc_memcachedgpu_written written = {0};
    kvc_gate_wait(server->table_writer);
    kvc_gate_wait(server->driver);
    double calls_ns = kvc_memcachedgpu_set_calls_ns(config, server->polling > 0);
    double called_ns = kvc_engine_now_ns(), latency_ns = kvc_memcachedgpu_set_latency_ns(config);
    kvc_engine_work(&(struct kvc_draw){(uint32_t)server->device.cpu, calls_ns, calls_ns}, 1);
    kvc_gate_post(server->driver);
    double returned_ns = fmax(called_ns + latency_ns, kvc_engine_now_ns());
    /* The mean of batches in hand: SETs of a single thread would fall into step with batches. */
    kvc_engine_sleep_until_ns(returned_ns + server->in_hand_ns / returned_ns * config->options->set_wait_ns);
    struct kvc_gpu_grid grid =
        kvc_memcachedgpu_set_grid(config, kvc_engine_pstate((uint32_t)server->device.gpu));
    kvc_memcachedgpu_run_locked(server, write, grid);
    if (server->shard != NULL) {
        uint64_t started = kvc_clock_ticks();
        written = write->op == KVC_OP_SET
                      ? kvc_memcachedgpu_store_set(simulation->store, server->shard, write->key_id,
                                                   write->key_bytes, write->value_bytes, kvc_engine_now_ns())
                      : kvc_memcachedgpu_store_delete(server->shard, write->key_id, write->key_bytes);
        simulation->replica.kernel_ticks += kvc_clock_ticks() - started;
    }
    wait_for_readers(server, &written);
    kvc_gate_post(server->table_writer);
}

static void record(struct kvc_memcachedgpu_simulation *simulation, const struct kvc_memcachedgpu_write *write,
                   double done_ns)
{
    struct kvc_recorder *recorder = &simulation->replica.recorder;
    double now_ns = kvc_engine_now_ns();
    uint32_t first, last;
    if (simulation->scenario->workload.get_frac <= 0) {
        kvc_recorder_latencies(recorder, now_ns, &write->sent_ns, &done_ns, 1);
    }
    kvc_recorder_completions(recorder, now_ns, &write->sent_ns, &done_ns, 1, &first, &last);
    simulation->sets += write->op == KVC_OP_SET ? last - first : 0;
    simulation->deletes += write->op == KVC_OP_DELETE ? last - first : 0;
    simulation->set_latency_sum_ns += (last - first) * (done_ns - write->sent_ns);
}

/* Serves a write that has reached the server. Returns the time at which its response reaches the client [ns].
 */
static double serve(struct kvc_memcachedgpu_server *server, const struct kvc_memcachedgpu_write *write)
{
    struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    double started_ns = kvc_engine_now_ns(), cpu_ns = kvc_memcachedgpu_set_cpu_ns(simulation->config);
    kvc_engine_work(&(struct kvc_draw){(uint32_t)server->device.cpu, cpu_ns, cpu_ns}, 1);
    update_table(server, write);
    double done_ns = kvc_engine_now_ns() + simulation->path_ns;
    kvc_recorder_busy(&simulation->replica.recorder, KVC_MEMCACHEDGPU_SET, started_ns, kvc_engine_now_ns());
    record(simulation, write, done_ns);
    return done_ns;
}

/* A thread of memcached that serves the writes of the workload. TCP loses no writes. */
void kvc_memcachedgpu_writer_main(void *data)
{
    const struct kvc_memcachedgpu_thread *writer = data;
    struct kvc_memcachedgpu_server *server = writer->server;
    for (;;) {
        kvc_gate_wait(server->written);
        struct kvc_memcachedgpu_write write = server->write[server->write_head++ & (server->write_room - 1)];
        kvc_engine_sleep_until_ns(write.sent_ns + server->simulation->path_ns);
        kvc_gate_wait(server->set_threads);
        serve(server, &write);
        kvc_gate_post(server->set_threads);
    }
}

/* A connection that sends a SET as soon as the previous one was answered. It stores keys that GETs have
 * requested.
 */
void kvc_memcachedgpu_connection_main(void *data)
{
    const struct kvc_memcachedgpu_thread *connection = data;
    struct kvc_memcachedgpu_server *server = connection->server;
    const struct kvc_workload *workload = &server->simulation->scenario->workload;
    double done_ns = 0;
    for (;;) {
        struct kvc_memcachedgpu_write write = server->latest;
        if (write.key_bytes == 0) { /* No GET has arrived yet. */
            kvc_engine_sleep_until_ns(kvc_engine_now_ns() + 1e4);
            write.op = KVC_OP_SET;
            write.key_bytes = (uint8_t)kvc_workload_key_bytes_max(workload);
            write.value_bytes = kvc_workload_value_bytes_max(workload);
        }
        write.sent_ns = fmax(done_ns, kvc_engine_now_ns());
        kvc_engine_sleep_until_ns(write.sent_ns + server->simulation->path_ns);
        kvc_gate_wait(server->set_threads);
        done_ns = serve(server, &write);
        kvc_gate_post(server->set_threads);
    }
}
