#include "models/memcached/real/measure.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcached/config.h"
#include "models/memcached/real/client.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/seeds.h"
#include "sim/metrics/bottleneck.h"
#include "sim/probes/pin.h"
#include "sim/workload/source/source.h"

/* ---- checks ---- */

enum {
    VALUE_BYTES_MAX = 1000000, /* Items of memcached have at most 1 MiB (memcached -I). */
    DATAGRAM_BYTES_MAX =
        60000,           /* A request has no more, so that it fits into memcached's buffer of 64 KiB. */
    PRELOAD_KEYS = 4096, /* At once. */
};

static uint32_t keys_of(const struct kvc_workload *workload)
{
    return kvc_workload_has_multigets(workload) ? (uint32_t)workload->multiget : 1;
}

static enum kvc_status check_store(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    if (kvc_scenario_shards(scenario) != 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found %u servers; a measurement allows one: node.sockets = 1, cluster.nodes = 1",
            kvc_scenario_shards(scenario));
    }
    if (config->database != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.database: found a database; a measurement allows none");
    }
    if (!config->loopback || config->locks_gets) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system: found loopback = %s and lock = \"%s\"; a measurement allows true, "
                             "clients on this machine, and \"item\"",
                             config->loopback ? "true" : "false", config->locks_gets ? "global" : "item");
    }
    if (config->options->entries < scenario->workload.keys) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.entries: found %llu; a measurement allows at least workload.keys, %llu",
                             (unsigned long long)config->options->entries,
                             (unsigned long long)scenario->workload.keys);
    }
    if (config->threads > KVC_MEMCACHED_REAL_THREADS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.threads: found %u; a measurement allows at most %d", config->threads,
                             KVC_MEMCACHED_REAL_THREADS_MAX);
    }
    return KVC_OK;
}

static enum kvc_status check_sizes(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t key = kvc_workload_key_bytes_max(workload), value = kvc_workload_value_bytes_max(workload);
    uint32_t keys = keys_of(workload), most = VALUE_BYTES_MAX;
    if (!kvc_memcached_config_of(scenario)->tcp) {
        most = DATAGRAM_BYTES_MAX;
        keys = keys * (key + 1) <= DATAGRAM_BYTES_MAX ? keys : UINT32_MAX;
    }
    if (value > most || keys > KVC_MEMCACHED_REAL_MULTIGET_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload: found values of up to %u bytes and multigets of %u keys of up to %u "
                             "bytes; a measurement allows values of %u bytes, and %d keys",
                             value, keys_of(workload), key, most, KVC_MEMCACHED_REAL_MULTIGET_MAX);
    }
    double shortest = workload->sizes == KVC_SIZES_FIXED ? (double)workload->key_bytes : key;
    if (kvc_memcached_real_keys((uint32_t)shortest) < (double)workload->keys) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.key: found %.0f bytes for %llu keys; a measurement allows 64 characters "
            "for each byte, so %.0f keys",
            shortest, (unsigned long long)workload->keys, kvc_memcached_real_keys((uint32_t)shortest));
    }
    return KVC_OK;
}

static enum kvc_status check_load(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (workload->arrival == KVC_ARRIVAL_TRACE || kvc_workload_fills(workload) ||
        workload->tenant_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload: found a trace, clients that fill what misses, or tenants; a measurement "
            "allows saturating or closed clients and open loads of one kind of clients");
    }
    if (kvc_memcached_requests_most(scenario) > KVC_MEMCACHED_REAL_REQUESTS_MAX) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload: found %llu connections or requests in flight; a measurement allows %d",
            (unsigned long long)kvc_memcached_requests_most(scenario), KVC_MEMCACHED_REAL_REQUESTS_MAX);
    }
    return KVC_OK;
}

static enum kvc_status check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    enum kvc_status status = check_store(scenario, diag);
    status = status == KVC_OK ? check_load(scenario, diag) : status;
    status = status == KVC_OK ? check_sizes(scenario, diag) : status;
    if (status == KVC_OK && kvc_pin_cores() < 2) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "found 1 core; a measurement needs one for the clients and others for memcached");
    }
    return status == KVC_OK ? kvc_memcached_real_server_check(diag) : status;
}

/* ---- the run ---- */

enum { CLIENT, THREADS, STAGES };
enum { SERVER_NS, DELAYED_NS, MULTIGETS, MULTIGET_NS, LOST };

struct run {
    const struct kvc_scenario *scenario;
    struct kvc_memcached_real_server server;
    struct kvc_memcached_real_client client;
    struct kvc_source *source;
    double preload_wall_s;
    struct kvc_measured *measured; /* The run that it has joined. */
    uint32_t task;                 /* Number of the clients' task in it. */
};

static uint32_t next(void *data, double now_ns, struct kvc_batch *batch)
{
    struct run *run = data;
    return kvc_source_drain(run->source, 0, now_ns, batch);
}

static void answered(void *data, uint32_t client, double now_ns)
{
    struct run *run = data;
    kvc_source_complete(run->source, &client, &now_ns, 1);
}

static double step(void *data)
{
    struct run *run = data;
    return kvc_memcached_real_client_step(&run->client);
}

static void count(const void *data, struct kvc_measured_counts *counts)
{
    const struct run *run = data;
    const struct kvc_memcached_real_counts *client = &run->client.counts;
    struct kvc_memcached_real_times times = kvc_memcached_real_server_times(&run->server);
    *counts = (struct kvc_measured_counts){
        .busy_ns = client->busy_ns,
        .served = (double)(client->hits + client->misses + client->sets + client->deletes),
        .hits = (double)client->hits,
        .misses = (double)client->misses,
        .sets = (double)client->sets,
        .deletes = (double)client->deletes,
        .own = {[SERVER_NS] = times.busy_ns,
                [DELAYED_NS] = times.delayed_ns,
                [MULTIGETS] = (double)client->multigets,
                [MULTIGET_NS] = client->multiget_ns,
                [LOST] = (double)client->lost}};
}

/* Charges the core of the clients, which is the one that is watched, with the time for which the server's
 * threads had to wait for theirs, as far as it exceeds the median window: a thread that sleeps and wakes up
 * always waits a little. The system tells a wait when it ends, so that it may reach back over several
 * windows. Threads that share a core wait for each other, which is no disturbance. */
static void charge_delays(const struct run *run)
{
    struct kvc_measured *measured = run->measured;
    struct kvc_core_watch *watch = measured->watched.watch; /* NULL: no thread was started. */
    uint32_t windows = watch != NULL ? atomic_load(&watch->done) : 0;
    if (run->server.threads >= kvc_pin_cores() || windows == 0) {
        return;
    }
    double *delay_ns = kvc_array_of(2 * (size_t)windows, sizeof(*delay_ns)), left_ns = 0;
    for (uint32_t w = 1; w < windows; w++) {
        const struct kvc_measured_copy *copy = &measured->copy[run->task][w];
        delay_ns[w] = copy->counts.own[DELAYED_NS] - (copy - 1)->counts.own[DELAYED_NS];
    }
    memcpy(delay_ns + windows, delay_ns, windows * sizeof(*delay_ns));
    gsl_sort(delay_ns + windows, 1, windows);
    double median_ns = delay_ns[windows + windows / 2];
    for (uint32_t w = windows; w-- > 0;) {
        left_ns += fmax(delay_ns[w] - median_ns, 0);
        double charged_ns = fmin(left_ns, kvc_quiet_window_ns);
        watch->window[w].lost_ns += (float)charged_ns;
        left_ns -= charged_ns;
    }
    free(delay_ns);
}

static void find_part(const void *data, const struct kvc_measured_sum *sum, struct kvc_watched_part *part)
{
    const struct run *run = data;
    part->utilization_frac[CLIENT] = fmin(sum->all.busy_ns / sum->window_ns, 1);
    part->utilization_frac[THREADS] = fmin(sum->all.own[SERVER_NS] / sum->window_ns / run->server.threads, 1);
    part->value[0] = sum->all.own[SERVER_NS] / sum->all.served;
    part->value[1] = sum->all.own[MULTIGET_NS] / sum->all.own[MULTIGETS] / 1e3;
}

static void report(const void *data, const struct kvc_measured_sum *sum, struct kvc_result *result)
{
    const struct run *run = data;
    const double *own = sum->all.own;
    uint32_t others = kvc_pin_cores() - 1;
    struct kvc_watched_part part;
    find_part(data, sum, &part);
    kvc_result_add_stage(result, "client", "cpu", part.utilization_frac[CLIENT]);
    kvc_result_add_stage(result, "threads", "cpu", part.utilization_frac[THREADS]);
    for (int i = 0; i < STAGES; i++) {
        result->stage[i].busy_s = (i == CLIENT ? sum->all.busy_ns : own[SERVER_NS]) / 1e9;
        result->stage[i].served = (uint64_t)sum->all.served;
    }
    kvc_bottleneck_find(result);
    kvc_metrics_set_ratio(&result->model, "server_ns", own[SERVER_NS], sum->all.served);
    kvc_metrics_set_ratio(&result->model, "client_ns", sum->all.busy_ns, sum->all.served);
    kvc_metrics_set_ratio(&result->model, "multiget_mean_us", own[MULTIGET_NS] / 1e3, own[MULTIGETS]);
    kvc_metrics_set_ratio(&result->model, "lost_frac", own[LOST], sum->all.served + own[LOST]);
    kvc_metrics_set(&result->model, "server_delayed_frac",
                    own[DELAYED_NS] / sum->window_ns / run->server.threads);
    result->requests_simulated = (uint64_t)sum->all.served;
    kvc_result_note(result,
                    "the clients poll on core 0; %u threads of memcached run on %u other core%s of this "
                    "machine",
                    run->server.threads, others, others > 1 ? "s" : "");
}

static enum kvc_status preload(const struct run *run, const struct kvc_progress *progress,
                               struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &run->scenario->workload;
    uint64_t keys = (uint64_t)ceil(workload->preload_frac * (double)workload->keys);
    struct kvc_batch *batch = kvc_batch_create(PRELOAD_KEYS, kvc_workload_key_stride(workload));
    enum kvc_status status = KVC_OK;
    for (uint64_t first = 0; first < keys && status == KVC_OK; first += PRELOAD_KEYS) {
        uint64_t left = keys - first;
        batch->count = 0;
        kvc_source_keys(run->source, first, (uint32_t)(left < PRELOAD_KEYS ? left : PRELOAD_KEYS), batch);
        status = kvc_memcached_real_preload(&run->server, batch, diag);
        kvc_progress_report(progress, "preload", (double)first / (double)keys);
    }
    kvc_batch_free(batch);
    return status;
}

static enum kvc_status open_run(const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                void **opened, struct kvc_diag *diag)
{
    struct run *run = *opened = kvc_array_of(1, sizeof(*run));
    run->scenario = scenario;
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    struct kvc_source_params params =
        kvc_scenario_source(scenario, 1, kvc_seed_of_replica(scenario->run.seed, 0));
    params.frame_requests = keys_of(workload);
    const struct kvc_memcached_real_load load = {
        .tcp = config->tcp,
        .requests = (uint32_t)kvc_memcached_requests_most(scenario),
        .keys = keys_of(workload),
        .key_bytes_max = kvc_workload_key_bytes_max(workload),
        .value_bytes_max = kvc_workload_value_bytes_max(workload),
        .next = next,
        .answered = workload->arrival == KVC_ARRIVAL_CLOSED ? answered : NULL,
        .data = run};
    double item = 100 + kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload);
    double began_s = kvc_clock_wall_s();
    run->source = kvc_source_create(&params, diag);
    enum kvc_status status = run->source == NULL ? diag->status : KVC_OK;
    if (status ==
        KVC_OK) { /* Slabs waste up to a fifth of an item (memcached -f), and a page of each class. */
        status =
            kvc_memcached_real_server_open(&run->server, config->threads, 1.5 * item * (double)workload->keys,
                                           config->tcp ? load.requests : 0, diag);
    }
    status = status == KVC_OK ? preload(run, progress, diag) : status;
    run->preload_wall_s = kvc_clock_wall_s() - began_s;
    return status == KVC_OK ? kvc_memcached_real_client_open(&run->client, &run->server, &load, diag)
                            : status;
}

static void close_run(void *opened)
{
    struct run *run = opened;
    if (run != NULL) {
        kvc_memcached_real_client_close(&run->client);
        kvc_memcached_real_server_close(&run->server);
        kvc_source_free(run->source);
        free(run);
    }
}

static void join(void *opened, struct kvc_measured *measured, struct kvc_measured_store *reports)
{
    static const char *const names[] = {"server_half_frac", "multiget_half_frac"};
    struct run *run = opened;
    run->measured = measured;
    run->task = measured->tasks;
    kvc_measured_add(measured, &(struct kvc_measured_task){.stage = CLIENT,
                                                           .step = step,
                                                           .count = count,
                                                           .data = run,
                                                           .caught_up = &run->client.caught_up,
                                                           .oldest_sent_ns = &run->client.oldest_sent_ns,
                                                           .latency = &run->client.latency});
    *reports = (struct kvc_measured_store){.data = run,
                                           .failed = &run->client.failed,
                                           .preload_wall_s = run->preload_wall_s,
                                           .open_loop = !kvc_workload_clients_wait(&run->scenario->workload),
                                           .values = 2,
                                           .value_name = names,
                                           .part = find_part,
                                           .report = report};
}

static void set_clock(void *opened, double started_s)
{
    struct run *run = opened;
    run->client.started_s = started_s;
}

static enum kvc_status finish(void *opened, struct kvc_diag *diag)
{
    const struct run *run = opened;
    if (atomic_load(&run->client.failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s", run->client.error);
    }
    charge_delays(run);
    return KVC_OK;
}

const struct kvc_measurable kvc_memcached_measurable = {.check = check,
                                                        .open = open_run,
                                                        .close = close_run,
                                                        .join = join,
                                                        .set_clock = set_clock,
                                                        .finish = finish};
