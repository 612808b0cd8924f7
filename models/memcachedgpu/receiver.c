/* The receiver: the NIC writes packets into receive buffers, and the driver's thread makes batches of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcachedgpu/simulation.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"

enum { STAGED = 256 };

static bool saturates(const struct kvc_memcachedgpu_server *server)
{
    return server->simulation->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
}

bool kvc_memcachedgpu_is_paced(const struct kvc_memcachedgpu_server *server)
{
    return server->simulation->config->feed == KVC_MEMCACHEDGPU_MEMORY && saturates(server);
}

/* ---- buffers ---- */

void kvc_memcachedgpu_release(struct kvc_memcachedgpu_server *server, double time_ns, uint32_t buffers)
{
    struct kvc_memcachedgpu_release *release = server->release;
    uint32_t mask = server->release_room - 1, at = server->release_tail++;
    if (server->release_tail - server->release_head > server->release_room) {
        KVC_BUG("more releases of buffers than there are batches");
    }
    while (at != server->release_head && release[(at - 1) & mask].time_ns > time_ns) {
        release[at & mask] = release[(at - 1) & mask];
        at--;
    }
    release[at & mask] = (struct kvc_memcachedgpu_release){time_ns, buffers};
    if (server->receiver_waits) {
        server->receiver_waits = false;
        kvc_gate_post(server->released);
    }
}

/* Takes a buffer for a packet that arrives at *time_ns. Returns false if none is free then; a saturating
 * client delays the packet instead. */
static bool take_buffer(struct kvc_memcachedgpu_server *server, double *time_ns)
{
    uint32_t mask = server->release_room - 1;
    for (;;) {
        const struct kvc_memcachedgpu_release *next = &server->release[server->release_head & mask];
        bool any = server->release_head != server->release_tail;
        if (any && next->time_ns <= *time_ns) {
            server->buffers_free += next->buffers;
            server->release_head++;
        } else if (server->buffers_free > 0) {
            server->buffers_free--;
            return true;
        } else if (!any) {
            server->receiver_waits = true;
            kvc_gate_wait(server->released);
        } else if (saturates(server)) {
            *time_ns = next->time_ns;
        } else {
            return false;
        }
    }
}

/* ---- packets ---- */

/* Makes sure that a request is staged. Returns false if no client sends any more. */
static bool stage(struct kvc_memcachedgpu_server *server)
{
    struct kvc_replica *replica = &server->simulation->replica;
    if (server->staged_next < server->staged->count) {
        return true;
    }
    uint64_t started = kvc_clock_ticks();
    server->staged->count = server->staged_next = 0;
    uint32_t drained = kvc_source_drain(replica->source, server->number, INFINITY, server->staged);
    replica->source_ticks += kvc_clock_ticks() - started;
    return drained > 0;
}

/* Times of a packet on its way in. */
struct packet {
    double *port_free_ns; /* When the port that it arrives at becomes idle [ns]. */
    double wire_ns;       /* Time on the wire. */
    double arrives_ns;    /* When it is in its buffer. */
};

static struct packet packet_of(struct kvc_memcachedgpu_server *server, uint32_t row, double now_ns)
{
    const struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    const struct kvc_memcachedgpu_config *config = simulation->config;
    const struct kvc_batch *staged = server->staged;
    struct packet packet = {.port_free_ns =
                                &server->port_free_ns[server->packets % config->options->receive_ports]};
    if (config->feed == KVC_MEMCACHEDGPU_MEMORY) {
        packet.arrives_ns = saturates(server) ? now_ns : staged->sent_ns[row];
        return packet;
    }
    uint32_t bytes = kvc_memcachedgpu_request_bytes(staged->key_bytes[row]);
    packet.wire_ns = simulation->wire_ns[bytes];
    double sent_ns = saturates(server) ? 0 : staged->sent_ns[row];
    double starts_ns = fmax(sent_ns + simulation->path_ns, *packet.port_free_ns);
    packet.arrives_ns = kvc_engine_link_open_ns((uint32_t)server->device.nic_rx, starts_ns) + packet.wire_ns;
    return packet;
}

static void drop(struct kvc_memcachedgpu_server *server, double sent_ns)
{
    struct kvc_recorder *recorder = &server->simulation->replica.recorder;
    kvc_recorder_offered(recorder, &sent_ns, 1);
    kvc_recorder_dropped(recorder, &sent_ns, 1);
}

static void copy_row(struct kvc_batch *to, const struct kvc_batch *from, uint32_t row)
{
    uint32_t at = to->count++;
    to->op[at] = from->op[row];
    to->key_bytes[at] = from->key_bytes[row];
    to->value_bytes[at] = from->value_bytes[row];
    to->key_id[at] = from->key_id[row];
    to->hash[at] = from->hash[row];
    to->sent_ns[at] = from->sent_ns[row];
}

/* Lets the driver's thread handle the packet's descriptor. Returns the time at which it is done [ns], or NaN
 * if its ring is full. */
static double receive(struct kvc_memcachedgpu_server *server, double arrives_ns, double cost_ns)
{
    double ring_ns = (double)server->simulation->config->nic->ring_frames * cost_ns;
    if (server->receive_free_ns - arrives_ns > ring_ns) {
        if (!saturates(server)) {
            return NAN;
        }
        arrives_ns = server->receive_free_ns;
    }
    server->receive_free_ns = fmax(server->receive_free_ns, arrives_ns) + cost_ns;
    return server->receive_free_ns;
}

static void add(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job, uint32_t row,
                const struct packet *packet, double received_ns)
{
    const struct kvc_batch *staged = server->staged;
    uint32_t at = job->batch->count, key_bytes = staged->key_bytes[row];
    double arrives_ns = packet->arrives_ns;
    copy_row(job->batch, staged, row);
    if (saturates(server)) {
        job->batch->sent_ns[at] = arrives_ns - packet->wire_ns - server->simulation->path_ns;
    }
    job->arrived_ns[at] = arrives_ns;
    job->arrived_sum_ns += arrives_ns;
    job->full_ns = received_ns;
    job->copied_bytes +=
        kvc_memcachedgpu_copied_bytes(server->simulation->config, kvc_memcachedgpu_request_bytes(key_bytes));
    job->key_bytes_max = key_bytes > job->key_bytes_max ? key_bytes : job->key_bytes_max;
    server->latest = (struct kvc_memcachedgpu_write){.key_id = staged->key_id[row],
                                                     .value_bytes = staged->value_bytes[row],
                                                     .op = KVC_OP_SET,
                                                     .key_bytes = staged->key_bytes[row]};
}

/* Passes a SET or DELETE to the threads that serve writes. */
static void divert(struct kvc_memcachedgpu_server *server, uint32_t row)
{
    const struct kvc_batch *staged = server->staged;
    const struct kvc_memcachedgpu_write write = {.sent_ns = saturates(server) ? kvc_engine_now_ns()
                                                                              : staged->sent_ns[row],
                                                 .key_id = staged->key_id[row],
                                                 .value_bytes = staged->value_bytes[row],
                                                 .op = staged->op[row],
                                                 .key_bytes = staged->key_bytes[row]};
    kvc_memcachedgpu_add_write(server, &write);
}

/* Fills a batch. Returns false if no more packets will come. */
static bool fill(struct kvc_memcachedgpu_server *server, struct kvc_memcachedgpu_job *job)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    double timeout_ns = config->options->batch_timeout_ns > 0 ? config->options->batch_timeout_ns : INFINITY;
    double speed = kvc_cpu_pstate_speed(config->cpu, kvc_engine_pstate((uint32_t)server->device.cpu));
    double stretch = fmax(server->receiving.mover.stretch, 1);
    double now_ns = kvc_engine_now_ns();
    while (job->batch->count < config->batch) {
        if (!stage(server)) {
            return false;
        }
        uint32_t row = server->staged_next;
        if (server->staged->op[row] != KVC_OP_GET) {
            if (job->batch->count == 0 && !saturates(server)) { /* No GET may ever come. */
                kvc_engine_sleep_until_ns(server->staged->sent_ns[row]);
            }
            divert(server, row);
            server->staged_next++;
            continue;
        }
        struct packet packet = packet_of(server, row, now_ns);
        if (job->batch->count > 0 && packet.arrives_ns > job->arrived_ns[0] + timeout_ns) {
            job->full_ns = fmax(job->full_ns, job->arrived_ns[0] + timeout_ns);
            return true;
        }
        server->staged_next++;
        server->packets++;
        bool room = take_buffer(server, &packet.arrives_ns);
        *packet.port_free_ns = packet.arrives_ns;
        const struct kvc_cpu_cost cost = kvc_memcachedgpu_receive_cost(
            config, kvc_memcachedgpu_request_bytes(server->staged->key_bytes[row]));
        double cost_ns = (cost.compute_ns / speed + cost.stall_ns) * stretch;
        double received_ns = room ? receive(server, packet.arrives_ns, cost_ns) : NAN;
        if (isnan(received_ns)) {
            server->buffers_free += room;
            drop(server, server->staged->sent_ns[row]);
            continue;
        }
        add(server, job, row, &packet, received_ns);
    }
    return true;
}

/* ---- batches ---- */

static struct kvc_memcachedgpu_job *new_job(struct kvc_memcachedgpu_server *server)
{
    const struct kvc_memcachedgpu_simulation *simulation = server->simulation;
    uint32_t rows = simulation->config->batch;
    struct kvc_memcachedgpu_job *job = server->free_jobs;
    if (job != NULL) {
        server->free_jobs = job->next;
        return job;
    }
    job = kvc_array_of(1, sizeof(*job));
    job->batch = kvc_batch_create(rows, kvc_workload_key_stride(&simulation->scenario->workload));
    job->arrived_ns = kvc_array_of(rows, sizeof(*job->arrived_ns));
    job->done_ns = kvc_array_of(rows, sizeof(*job->done_ns));
    job->sent_ns = kvc_array_of(rows, sizeof(*job->sent_ns));
    job->outcome = kvc_array_of(rows, sizeof(*job->outcome));
    job->head_bytes = kvc_array_of(rows, sizeof(*job->head_bytes));
    job->next_of_all = server->all_jobs;
    server->all_jobs = job;
    return job;
}

/* Posts what the packets of a batch took from the wire, PCIe and the cores. */
static void post(struct kvc_memcachedgpu_server *server, const struct kvc_memcachedgpu_job *job)
{
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    struct kvc_recorder *recorder = &server->simulation->replica.recorder;
    const struct kvc_batch *batch = job->batch;
    bool network = config->feed == KVC_MEMCACHEDGPU_NETWORK;
    double wire_ns = 0, cpu_ns = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t bytes = kvc_memcachedgpu_request_bytes(batch->key_bytes[i]);
        const struct kvc_cpu_cost cost = kvc_memcachedgpu_receive_cost(config, bytes);
        cpu_ns += cost.compute_ns + cost.stall_ns;
        wire_ns += network ? server->simulation->wire_ns[bytes] : 0;
    }
    double ports = (double)config->options->receive_ports;
    double bytes = wire_ns * 1e-9 * config->nic->bytes_per_s;
    if (network) {
        kvc_memcachedgpu_take(&server->wire_in, bytes, wire_ns / ports);
        kvc_recorder_busy(recorder, KVC_MEMCACHEDGPU_RX, job->full_ns - wire_ns, job->full_ns);
    }
    kvc_memcachedgpu_take(&server->receiving, cpu_ns, cpu_ns);
    bool fills = kvc_memcachedgpu_pre_fills(config);
    kvc_recorder_busy(recorder, fills ? KVC_MEMCACHEDGPU_LAUNCH : KVC_MEMCACHEDGPU_RECEIVE,
                      job->full_ns - cpu_ns, job->full_ns);
}

void kvc_memcachedgpu_receiver_main(void *data)
{
    struct kvc_memcachedgpu_server *server = data;
    const struct kvc_memcachedgpu_config *config = server->simulation->config;
    bool more = true, fills = kvc_memcachedgpu_pre_fills(config);
    while (more) {
        struct kvc_memcachedgpu_job *job = new_job(server);
        if (kvc_memcachedgpu_is_paced(server)) {
            kvc_gate_wait(server->wanted);
        }
        more = fill(server, job);
        if (job->batch->count == 0) {
            return;
        }
        kvc_engine_sleep_until_ns(job->full_ns);
        kvc_recorder_offered(&server->simulation->replica.recorder, job->batch->sent_ns, job->batch->count);
        if (config->feed == KVC_MEMCACHEDGPU_NETWORK || fills) {
            post(server, job);
        }
        if (fills) { /* The same thread makes the calls before it receives on. */
            server->receive_free_ns =
                fmax(server->receive_free_ns, job->full_ns) +
                kvc_memcachedgpu_launch_cpu_ns(config, server->polling > 0, job->copied_bytes);
        }
        kvc_memcachedgpu_push(&server->full, job);
    }
}
