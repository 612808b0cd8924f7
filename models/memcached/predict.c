#include "models/memcached/predict.h"

#include <math.h>

#include "kernels/memcachedgpu/chained.h"
#include "kernels/mica/mica.h"
#include "models/latency.h"
#include "models/memcached/costs.h"
#include "models/memcached/resources.h"
#include "models/memcached/room.h"
#include "sim/base/memo.h"
#include "sim/metrics/bottleneck.h"
#include "sim/run/cache_aside.h"
#include "sim/workload/keys/hottest_shard.h"

enum { LINE_BYTES = 64, LRU_LINES = 3, BUCKET_LINES = 2, BURST_ROUNDS = 64 };

/* Messages that take equally long. */
struct kind {
    double share;     /* Messages for a request. */
    double alone_ns;  /* Latency of a lone one [ns]. */
    double thread_ns; /* Its time on a thread [ns]. */
};

enum { AT_FLASH = 2 * KVC_OP_COUNT, KINDS = 3 * KVC_OP_COUNT };

/* Mean times for which a request occupies the parts of its server [ns]. The times of threads are sums over
 * all threads.
 */
struct loads {
    double receive_ns, send_ns, hand_ns, serve_ns, lock_ns, memory_ns;
    struct kvc_flash_busy flash;
    double database_ns, away_ns; /* Time that a request keeps the database busy, and waits for it. */
    double hit_frac;             /* Share of the GETs that hit. */
    struct kind kind[KINDS];     /* By operation and hit, and then those that wait for the flash. */
};

/* Shares of a server's requests that the hottest thread receives and serves. */
struct shares {
    double receive, serve;
};

/* Lets a part of the messages of a kind wait for the flash. */
static void wait_for_flash(struct loads *loads, int kind, double share, double ns)
{
    struct kind *from = &loads->kind[kind], *to = &loads->kind[AT_FLASH + kind / 2];
    *to = (struct kind){fmin(share, from->share), from->alone_ns + ns, from->thread_ns + ns};
    from->share -= to->share;
}

/* Adds the SSD time of a request with the mean item size. Fatcache's memory holds the newest items, which are
 * as popular as all others. The translation layer is assumed to move no pages, which holds for one instance.
 */
static void add_flash(struct loads *loads, const struct kvc_scenario *scenario,
                      const struct kvc_cache_aside_mix *mix)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_flash *flash = config->flash;
    double item = KVC_MEMCACHED_SLAB_ITEM_BYTES + kvc_workload_key_bytes_requested(workload) +
                  kvc_workload_value_bytes_requested(workload);
    double memory = kvc_memcached_slab_items(scenario, config->slabs.memory_slabs);
    double all = fmin(workload->preload_frac * (double)workload->keys,
                      memory + kvc_memcached_slab_items(scenario, config->slabs.disk_slabs + 0.5));
    double read_frac = mix->get * mix->hit * fmax(1 - memory / fmax(all, 1), 0);
    double slab_frac = mix->set / floor(KVC_MEMCACHED_SLAB_BYTES / item);
    double slab_pages = kvc_memcached_slab_pages(&config->slabs);
    double reads = read_frac * (1 + (item - 1) / flash->page_bytes), programs = slab_frac * slab_pages;
    const struct kvc_flash_load pages = {
        .reads = reads, .read_bytes = flash->page_bytes, .programs = programs};
    double cards = (double)flash->cards;
    double drive_ns = fmax(flash->operation_ns, kvc_flash_interface_ns(flash, flash->page_bytes));
    double chips_ns =
        ceil(slab_pages / kvc_flash_chips(flash)) * flash->program_ns +
        ceil(slab_pages / kvc_flash_channels(flash)) * kvc_flash_transfer_ns(flash, flash->page_bytes);
    double drain_ns = fmax(chips_ns, slab_pages * drive_ns / cards) + flash->access_ns + config->io_ns;
    double read_ns = kvc_flash_read_ns(flash, flash->page_bytes) + config->io_ns;
    double block_ns = read_frac * read_ns + slab_frac * drain_ns;
    loads->flash = kvc_flash_busy_of(flash, &pages);
    loads->serve_ns += block_ns;
    wait_for_flash(loads, 2 * KVC_OP_GET + 1, read_frac, read_ns);
    wait_for_flash(loads, 2 * KVC_OP_SET + 1, slab_frac, drain_ns);
}

/* Returns the lines of memcached's table that an operation touches (kernels/memcachedgpu/chained.h).
 */
static double chained_lines(const struct kvc_scenario *scenario, enum kvc_op op, bool hit)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double items = workload->preload_frac * (double)workload->keys / kvc_scenario_shards(scenario);
    double chain = fmin(items, (double)config->options->entries) / config->buckets;
    double entry = sizeof(struct kvc_chained_entry) + kvc_workload_key_bytes_requested(workload);
    double found = 1 + chain / 2 + ceil(entry / LINE_BYTES);
    double queue = op == KVC_OP_SET ? LRU_LINES : op == KVC_OP_DELETE ? BUCKET_LINES : 0;
    return hit ? found + queue : 1 + chain;
}

/* Returns the lines of MICA that an operation touches: a bucket, and an item that starts at any multiple of 8
 * bytes. */
static double mica_lines(const struct kvc_workload *workload, bool hit)
{
    double item = KVC_MICA_HEADER_BYTES + ceil(kvc_workload_key_bytes_requested(workload) / 8) * 8 +
                  ceil(kvc_workload_value_bytes_requested(workload) / 8) * 8;
    return BUCKET_LINES + (hit ? 1 + (item - 8) / LINE_BYTES : 0);
}

static double lines_of(const struct kvc_scenario *scenario, enum kvc_op op, bool hit)
{
    switch (kvc_memcached_config_of(scenario)->kind) {
    case KVC_MEMCACHED_MICA:
        return mica_lines(&scenario->workload, hit);
    case KVC_MEMCACHED_FPGA: /* A search reads the control line of a bucket and one key. */
        return 1 + hit;
    case KVC_MEMCACHED_FATCACHE:
    case KVC_MEMCACHED_VANILLA:
        break;
    }
    return chained_lines(scenario, op, hit);
}

/* Returns the work of the clients' core for a request and its response; those of a step share a look [ns]. */
static double client_ns(const struct kvc_memcached_config *config,
                        const struct kvc_memcached_message *message)
{
    return kvc_memcached_client_send_ns(config, message) + kvc_memcached_client_receive_ns(config, message) +
           kvc_memcached_transport_costs_of(config)->look_ns / KVC_MEMCACHED_AT_ONCE;
}

/* Adds what measured costs of a node say beyond those of the message itself. A request has its part of its
 * thread's wait for connections: all that may be ready share one. Threads that share a core take turns. A
 * lone request wakes its thread, has a look of the clients for itself, and waits for all `keys` of its
 * multiget, each of which takes the same time. */
static void add_node(const struct kvc_scenario *scenario, double keys, double *serve_ns, double *alone_ns)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    if (config->profile == NULL) {
        return;
    }
    const struct kvc_memcached_transport_costs *costs = kvc_memcached_transport_costs_of(config);
    double wait_ns = config->profile->wait_ns;
    double waiting = kvc_workload_clients_wait(&scenario->workload)
                         ? (double)kvc_memcached_requests_most(scenario) / config->threads
                         : 1;
    *serve_ns += wait_ns / keys / (config->tcp ? fmax(waiting, 1) : 1);
    *alone_ns +=
        keys * *serve_ns - wait_ns + costs->notify_ns + costs->look_ns * (1 - 1.0 / KVC_MEMCACHED_AT_ONCE);
    *serve_ns *= fmax((double)config->threads / config->cores, 1);
    *alone_ns -= *serve_ns;
}

static void add_load(struct loads *loads, const struct kvc_scenario *scenario, double burst, enum kvc_op op,
                     bool hit, double frac)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_memcached_message message = {
        .op = op,
        .hit = hit,
        .key_bytes = (uint32_t)ceil(kvc_workload_key_bytes_requested(workload)),
        .value_bytes = (uint32_t)ceil(kvc_workload_value_bytes_requested(workload))};
    struct kvc_memcached_cost cost = kvc_memcached_cost_of(config, &message);
    double alone_ns = 0, keys = config->client_core && op == KVC_OP_GET ? config->multiget : 1;
    add_node(scenario, keys, &cost.serve_ns, &alone_ns);
    double receive_ns = config->client_core
                            ? client_ns(config, &message)
                            : kvc_memcached_wire_ns(config, kvc_memcached_request_bytes(config, &message));
    double send_ns = kvc_memcached_wire_ns(config, kvc_memcached_response_bytes(config, &message));
    double lines = lines_of(scenario, op, hit);
    double stall_ns = kvc_memcached_stall_ns(config, lines * burst) / burst;
    double lock_ns = kvc_memcached_locks(config, op) ? stall_ns + kvc_memcached_handover_ns(config) : 0;
    loads->receive_ns += frac * receive_ns;
    loads->send_ns += frac * send_ns;
    loads->hand_ns += frac * cost.receive_ns;
    loads->serve_ns += frac * (cost.serve_ns + fmax(stall_ns, lock_ns));
    loads->lock_ns += frac * lock_ns;
    loads->memory_ns += frac * lines * config->memory_ns;
    loads->kind[2 * op + hit] = (struct kind){
        .share = frac,
        .alone_ns = alone_ns + 2 * config->path_ns + keys * receive_ns + cost.receive_ns + cost.serve_ns +
                    kvc_memcached_stall_ns(config, lines) + config->wake_ns + config->depth_ns + send_ns,
        .thread_ns = cost.receive_ns + cost.serve_ns + fmax(stall_ns, lock_ns)};
}

/* Computes the mean loads of a request; `held` is the share of the GETs that hit, and threads serve `burst`
 * requests at a time. */
static struct loads loads_of(const struct kvc_scenario *scenario, double held, double burst)
{
    const struct kvc_database *database = kvc_memcached_config_of(scenario)->database;
    double valid = database != NULL ? kvc_cache_aside_valid_frac(&scenario->workload) : 1;
    const struct kvc_cache_aside_mix mix =
        kvc_cache_aside_mix_of(&scenario->workload, database != NULL, held * valid);
    struct loads loads = {.hit_frac = mix.hit};
    const double fracs[KVC_OP_COUNT] = {mix.get, mix.set, mix.delete};
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        add_load(&loads, scenario, burst, (enum kvc_op)op, true, fracs[op] * mix.hit);
        add_load(&loads, scenario, burst, (enum kvc_op)op, false, fracs[op] * (1 - mix.hit));
    }
    if (database != NULL) {
        double keys = (double)scenario->workload.keys / (double)scenario->cluster.nodes;
        struct kvc_database_load load = kvc_cache_aside_load_of(&mix, database, keys);
        loads.database_ns = load.busy_ns;
        loads.away_ns = load.time_ns;
    }
    if (kvc_memcached_config_of(scenario)->flash != NULL) {
        add_flash(&loads, scenario, &mix);
    }
    return loads;
}

/* Returns the share of the packets that the fullest ring of the NIC gets. */
static double fullest_ring_frac(const struct kvc_scenario *scenario)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    struct kvc_rss_params params = kvc_nic_rss_params(config->nic, config->rings);
    params.clients = kvc_workload_flows(&scenario->workload);
    params.connections = kvc_workload_connections(&scenario->workload);
    params.seed = scenario->run.seed;
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {params.queues,
                               params.entries,
                               params.fields,
                               params.clients,
                               params.connections,
                               params.server,
                               (double)(params.seed >> 32),
                               (double)(params.seed & UINT32_MAX)};
    double frac = 1;
    if (!kvc_memo_find(&memo, argument, &frac)) {
        struct kvc_rss *rss = kvc_rss_open(&params, NULL); /* kvc_memcached_check() has checked the queues. */
        frac = rss != NULL ? kvc_rss_hottest_frac(rss) : 1;
        kvc_rss_close(rss);
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), frac);
    }
    return frac;
}

/* Returns the shares of the hottest thread; `server` is the share of all requests that the hottest server
 * receives. */
static struct shares shares_of(const struct kvc_scenario *scenario, double server)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    uint32_t threads = (uint32_t)scenario->node.sockets * config->threads;
    double owner = 1.0 / config->threads;
    if (config->kind == KVC_MEMCACHED_MICA) {
        owner = kvc_hottest_shard_frac(&scenario->workload, (uint32_t)scenario->cluster.nodes, threads,
                                       (uint32_t)scenario->cluster.virtual_nodes) /
                server;
    }
    double ring = config->owned ? owner : fullest_ring_frac(scenario);
    double serve = config->staged || config->owned ? owner : ring;
    return (struct shares){ring, fmin(serve, 1)};
}

/* Returns the mean time that a request of a server takes on its hottest thread [ns]. Threads that share a
 * socket share all work, but a ring belongs to one thread. */
static double thread_ns(const struct kvc_memcached_config *config, const struct loads *loads,
                        const struct shares *shares)
{
    if (config->shared) {
        return fmax((loads->hand_ns + loads->serve_ns) / config->threads, shares->receive * loads->hand_ns);
    }
    return shares->receive * loads->hand_ns + shares->serve * loads->serve_ns;
}

/* Returns the same time if the server gets `per_ns` requests. A thread serves those together that came while
 * it served the ones before, or the next one if none did, so that a small load takes more of its time. */
static double thread_at_ns(const struct kvc_scenario *scenario, const struct shares *shares, double held,
                           double per_ns)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    double burst = 1, busy_ns, before;
    int rounds = BURST_ROUNDS;
    do {
        struct loads loads = loads_of(scenario, held, burst);
        busy_ns = thread_ns(config, &loads, shares);
        double came = burst * per_ns * busy_ns;
        before = burst;
        burst = fmin(came + exp(-came), config->burst);
    } while (--rounds > 0 && fabs(burst - before) > 1e-3);
    return busy_ns;
}

static void add_metrics(const struct kvc_scenario *scenario, const struct loads *loads,
                        const struct shares *shares, double busy_ns, double server, struct kvc_result *result)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct {
        const char *name;
        double value;
    } metrics[] = {
        {"receive_limit_mops", 1e3 / loads->receive_ns / server},
        {"threads_limit_mops", 1e3 / busy_ns / server},
        {"lock_limit_mops", 1e3 / loads->lock_ns / server},
        {"memory_limit_mops", 1e3 / loads->memory_ns / server},
        {"controller_limit_mops", 1e3 / loads->flash.controller_ns / server},
        {"channels_limit_mops", 1e3 / loads->flash.channels_ns / server},
        {"chips_limit_mops", 1e3 / loads->flash.chips_ns / server},
        {"interface_limit_mops", 1e3 / loads->flash.interface_ns / server},
        {"send_limit_mops", 1e3 / loads->send_ns / server},
        {"database_limit_mops", config->database != NULL ? 1e3 / loads->database_ns / server : INFINITY},
        {"kops_per_usd", result->throughput_mops * 1e3 / config->price_usd},
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        if (isfinite(metrics[i].value)) {
            kvc_metrics_set(&result->model, metrics[i].name, metrics[i].value);
        }
    }
    kvc_metrics_set(&result->model, "hit_frac", loads->hit_frac);
    kvc_metrics_set(&result->model, "cached_lines_frac", config->llc_frac);
    if (!config->owned && !config->loopback) {
        kvc_metrics_set(&result->model, "fullest_ring_frac", shares->receive);
    }
}

/* Adds the stages to the result. `speed` is the rate of requests of the hottest server [per ns]; a database,
 * if any, serves this server alone. */
static void add_stages(const struct kvc_scenario *scenario, const struct loads *loads, double busy_ns,
                       double speed, struct kvc_result *result)
{
    const double busy[KVC_MEMCACHED_STAGES] = {
        [KVC_MEMCACHED_AT_RECEIVE] = loads->receive_ns,
        [KVC_MEMCACHED_AT_THREADS] = busy_ns,
        [KVC_MEMCACHED_AT_LOCK] = loads->lock_ns > 0 ? loads->lock_ns : NAN,
        [KVC_MEMCACHED_AT_MEMORY] = loads->memory_ns,
        [KVC_MEMCACHED_AT_CONTROLLER] = loads->flash.controller_ns,
        [KVC_MEMCACHED_AT_CHANNELS] = loads->flash.channels_ns,
        [KVC_MEMCACHED_AT_CHIPS] = loads->flash.chips_ns,
        [KVC_MEMCACHED_AT_INTERFACE] = loads->flash.interface_ns,
        [KVC_MEMCACHED_AT_SEND] = loads->send_ns,
        [KVC_MEMCACHED_AT_DATABASE] = loads->database_ns,
    };
    double utilization_frac[KVC_MEMCACHED_STAGES];
    for (uint32_t i = 0; i < KVC_MEMCACHED_STAGES; i++) {
        utilization_frac[i] = speed * busy[i];
    }
    kvc_stages_predict(kvc_memcached_stages, scenario, utilization_frac, result);
}

void kvc_memcached_set_polling(const struct kvc_memcached_config *config, struct kvc_result *result)
{
    if (config->polls && config->kind != KVC_MEMCACHED_FPGA) {
        kvc_metrics_set(&result->model, "threads_polling_frac",
                        1 - kvc_stages_find(result, "threads")->utilization_frac);
    }
}

void kvc_memcached_set_node_cpu(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    if (config->loopback && config->kind == KVC_MEMCACHED_VANILLA) {
        double threads = config->threads * kvc_stages_find(result, "threads")->utilization_frac;
        double clients = config->client_core ? kvc_stages_find(result, "client")->utilization_frac
                                             : result->throughput_mops * 1e-3 /
                                                   kvc_scenario_shards(scenario) * config->client_ns;
        kvc_metrics_set(&result->model, "node_cpu_frac",
                        (threads + clients) / (double)(config->cpu->cores * config->cpu->threads_per_core));
    }
}

/* Returns the latencies of requests that wait for no other one. With a database, a request that is no hit
 * consists of several messages and of the time of the database. */
static struct kvc_latency_law law_of(const struct loads *loads, bool has_database)
{
    struct kvc_latency_law law = {.assumes = "all servers and threads are loaded like the hottest one"};
    double rest = 1, rest_ns = loads->away_ns;
    for (int i = 0; i < KINDS; i++) {
        const struct kind *kind = &loads->kind[i];
        if (!has_database || i == 2 * KVC_OP_GET + 1 || i == AT_FLASH + KVC_OP_GET) {
            kvc_latency_add(&law, kind->share, kind->alone_ns, 0);
            rest -= kind->share;
        } else {
            rest_ns += kind->share * kind->alone_ns;
        }
    }
    if (has_database && rest > 0) {
        kvc_latency_add(&law, rest, rest_ns / rest, 0);
    }
    return law;
}

/* Adds the queues of a server that requests pass one after another. */
static void add_line(const struct kvc_workload *workload, const struct loads *loads, double messages,
                     double speed, double server, struct kvc_latency_law *law)
{
    const struct {
        const char *name;
        double busy_ns;
    } queues[] = {{"receive", loads->receive_ns},
                  {"lock", loads->lock_ns},
                  {"memory", loads->memory_ns},
                  {"send", loads->send_ns}};
    for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
        kvc_latency_queue(law, workload,
                          &(struct kvc_latency_queue){.group = KVC_LATENCY_IN_LINE,
                                                      .name = queues[i].name,
                                                      .servers = 1,
                                                      .job_ns = queues[i].busy_ns / messages,
                                                      .utilization_frac = speed * queues[i].busy_ns,
                                                      .share = server,
                                                      .equals_frac = 1,
                                                      .visits = messages});
    }
}

/* Adds the queues of the hottest server, to which `speed` requests come [per ns]. A thread that hands on what
 * it receives has two jobs for a message, and the core of a thread of Linux receives first. */
static void add_queues(const struct kvc_scenario *scenario, const struct loads *loads,
                       const struct shares *shares, double busy_ns, double speed, double server,
                       struct kvc_latency_law *law)
{
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    double messages = 0, jobs = config->staged ? 2 : 1, sum_ns2 = 0,
           threads = config->shared ? config->threads : 1;
    double hand_ns = loads->hand_ns, sum_ns = loads->hand_ns + loads->serve_ns;
    for (int i = 0; i < KINDS; i++) {
        const struct kind *kind = &loads->kind[i];
        double served_ns = kind->thread_ns - (config->staged ? hand_ns : 0);
        messages += kind->share;
        sum_ns2 += kind->share * (served_ns * served_ns + (config->staged ? hand_ns * hand_ns : 0));
    }
    struct kvc_latency_queue queue = {
        .group = config->threads > 1 ? KVC_LATENCY_PARALLEL : KVC_LATENCY_IN_LINE,
        .name = "threads",
        .servers = threads,
        .job_ns = sum_ns / messages / jobs,
        .job_cv2 = fmax(messages * jobs * sum_ns2 / (sum_ns * sum_ns) - 1, 0),
        .utilization_frac = speed * busy_ns,
        .first_frac = config->staged && !config->polls ? speed * shares->receive * hand_ns : 0,
        .ends_together = config->burst > 1,
        .share = server * (config->shared ? 1 : shares->serve),
        .equals_frac = 1,
        .visits = messages};
    add_line(&scenario->workload, loads, messages, speed, server, law);
    kvc_latency_queue(law, &scenario->workload, &queue);
    if (config->staged) {
        queue.group = KVC_LATENCY_FIRST;
        queue.name = "their receiving";
        queue.servers = 1;
        queue.is_first = !config->polls;
        queue.share = server * shares->receive;
        kvc_latency_queue(law, &scenario->workload, &queue);
    }
}

enum kvc_status kvc_memcached_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_memcached_config *config = kvc_memcached_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t nodes = (uint32_t)scenario->cluster.nodes, sockets = (uint32_t)scenario->node.sockets;
    double server =
        kvc_hottest_shard_frac(workload, nodes, sockets, (uint32_t)scenario->cluster.virtual_nodes);
    double held = kvc_memcached_held_frac(scenario);
    struct loads loads = loads_of(scenario, held, config->burst);
    struct shares shares = shares_of(scenario, server);
    double busy_ns = thread_ns(config, &loads, &shares);
    double slowest_ns =
        fmax(fmax(loads.receive_ns, loads.send_ns), fmax(fmax(busy_ns, loads.lock_ns), loads.memory_ns));
    slowest_ns = fmax(slowest_ns, fmax(kvc_flash_shared_ns(&loads.flash), loads.flash.chips_ns));
    double per_ns = 1 / slowest_ns / server;
    struct kvc_latency_law law = law_of(&loads, config->database != NULL);
    if (loads.database_ns > 0) {
        per_ns = fmin(per_ns, 1 / loads.database_ns / server);
    }
    if (workload->arrival == KVC_ARRIVAL_SATURATE || workload->arrival == KVC_ARRIVAL_CLOSED) {
        bool closed = workload->arrival == KVC_ARRIVAL_CLOSED;
        double in_flight = closed ? (double)workload->clients : (double)config->outstanding * nodes * sockets;
        double think_ns = closed ? workload->think_ns : 0;
        per_ns = fmin(per_ns, in_flight / (kvc_latency_alone_ns(&law) + think_ns));
        kvc_latency_closed(&law, in_flight / per_ns - think_ns);
    } else {
        per_ns = fmin(per_ns, kvc_workload_rate_max_mops(workload) * 1e-3);
        add_queues(scenario, &loads, &shares, busy_ns, per_ns * server, server, &law);
        if (config->shared && kvc_workload_rate_max_mops(workload) * 1e-3 * server * busy_ns > 1) {
            kvc_result_note(
                result, "the closed form does not model that packets beyond the capacity take time of the "
                        "threads before they are lost");
        }
    }
    result->throughput_mops = per_ns * 1e3;
    kvc_result_set_latencies(result, &law, workload);
    if (config->database == NULL) {
        kvc_result_add_server_latency(result, config->path_ns);
    }
    add_stages(scenario, &loads, thread_at_ns(scenario, &shares, held, per_ns * server), per_ns * server,
               result);
    kvc_bottleneck_find(result);
    kvc_memcached_set_polling(config, result);
    kvc_memcached_set_node_cpu(scenario, result);
    add_metrics(scenario, &loads, &shares, busy_ns, server, result);
    return KVC_OK;
}
