#include "models/megakv/config.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/model.h"
#include "sim/workload/source/fill.h"

/* ---- presets ---- */

#define SOURCE "Mega-KV, VLDB J. 26(5), 2017, sec. 8.1"

const struct kvc_workload_preset kvc_megakv_presets[] = {
    {.name = "megakv-a", .source = SOURCE, KVC_PRESET_FIXED_SIZES(8, 8)},
    {.name = "megakv-b", .source = SOURCE, KVC_PRESET_FIXED_SIZES(16, 64)},
    {.name = "megakv-c", .source = SOURCE, KVC_PRESET_FIXED_SIZES(32, 512)},
    {.name = "megakv-d", .source = SOURCE, KVC_PRESET_FIXED_SIZES(128, 1024)},
    {.name = NULL},
};

/* ---- options ---- */

static const char *const apis[] = {"get", "getk", NULL};
static const char *const feeds[] = {"network", "memory", NULL};
static const char *const insert_places[] = {"pipelines", "own", NULL};
static const char *const cycle_starts[] = {"schedule", "launch", NULL};
static const char *const index_places[] = {"gpu", "thread", NULL};
static const char *const gpu_powers[] = {"kernels", "serving", NULL};
static const char *const thread_layouts[] = {"own", "shared", NULL};

static const struct kvc_option rows[] = {
    KVC_REAL_ROW(kvc_megakv_options, "cycle", cycle_ns, KVC_UNIT_NS, 1e3, 1e9, "160us",
                 "scheduling cycle C, the time between two launches of searches; a longer cycle raises "
                 "throughput and latency"),
    KVC_COUNT_ROW(kvc_megakv_options, "delay", delay, 1, KVC_MEGAKV_DELAY_MAX, "2",
                  "inserts and deletes are launched every n cycles; 1 launches them with each search, a "
                  "larger n launches fewer and larger batches"),
    KVC_CHOICE_ROW(
        kvc_megakv_options, "api", api, apis, "getk",
        "get: the server compares the keys; getk: the server returns the stored key and the client "
        "compares"),
    KVC_REAL_ROW(
        kvc_megakv_options, "compare", compare_ns, KVC_UNIT_NS, 0, 1e6, "auto",
        "compute of api = get beyond that of getk, for each GET at its sender, at the highest clock; auto: 60 "
        "instructions, by which the authors' program of 2015 differs, at 500 for node.cpu.operation; has no "
        "effect with getk or measured costs",
        .auto_word = "auto", .auto_value = -1),
    KVC_CHOICE_ROW(kvc_megakv_options, "feed", feed, feeds, "network",
                   "network: requests pass through the NIC; memory: requests are read from local memory"),
    KVC_CHOICE_ROW(
        kvc_megakv_options, "insert_stream", insert_stream, insert_places, "pipelines",
        "pipelines: inserts and deletes follow the searches in each pipeline's stream, so the next "
        "searches wait for them; own: they have a stream of their own and overlap with searches"),
    KVC_CHOICE_ROW(
        kvc_megakv_options, "cycle_from", cycle_from, cycle_starts, "schedule",
        "schedule: launches are due at multiples of the cycle, so a late one does not delay the next; "
        "launch: a launch is due a cycle after the one before, as in the authors' program of 2015"),
    KVC_CHOICE_ROW(
        kvc_megakv_options, "index_on", index_on, index_places, "gpu",
        "gpu: launches queue on the device; thread: the scheduler's thread runs the index itself, at "
        "the speed that node.gpu gives"),
    KVC_CHOICE_ROW(kvc_megakv_options, "threads", threads, thread_layouts, "own",
                   "own: every receiver and sender has a hardware thread; shared: receivers share the "
                   "scheduler's core, and senders take turns on the other cores; after a "
                   "launch that took longer than a cycle, the next one waits while the senders have more "
                   "requests before them than were received"),
    KVC_COUNT_ROW(
        kvc_megakv_options, "streams", streams, 1, 512, "auto",
        "pipelines per socket, each with one receiver, one sender and a CUDA stream; auto: as many as fit "
        "the cores that the scheduler leaves; more pipelines use more cores",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(kvc_megakv_options, "buffers", buffers, 2, 16, "3",
                  "batch buffers per pipeline; with more buffers, the scheduler waits less for senders"),
    KVC_REAL_ROW(
        kvc_megakv_options, "index", index_bytes, KVC_UNIT_BYTES, 64, 34359738368.0, "auto",
        "size of the cuckoo table of each GPU, a power of two; an element occupies 8 bytes; a "
        "larger table drops fewer elements; auto: the smallest that is at most nine tenths full with "
        "all keys",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_megakv_options, "slab", slab_bytes, KVC_UNIT_BYTES, KVC_MEGAKV_SLAB_BYTES, 137438953472.0, "auto",
        "item memory per socket; a larger slab store evicts fewer items; auto: room for all keys and "
        "10 % more",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(kvc_megakv_options, "max_displacements", max_displacements, 0, 1000, "100",
                  "displacements of an insert before it drops an element; more displacements fill the table "
                  "further"),
    KVC_REAL_ROW(kvc_megakv_options, "gpu_core", gpu_core_hz, KVC_UNIT_HZ, 1e7, 1e10, "auto",
                 "core clock that selects one of the GPU's clock pairs; a faster clock shortens launches; "
                 "auto: the fastest pair",
                 .auto_word = "auto", .auto_value = 0),
    KVC_CHOICE_ROW(
        kvc_megakv_options, "gpu_power", gpu_power, gpu_powers, "kernels",
        "when the GPU draws its busy power; kernels: while kernels run, and idle power between them; "
        "serving: all the time, because a board's sensor averages over kernels and gaps"),
};

const struct kvc_option_table kvc_megakv_option_table = KVC_OPTION_TABLE(kvc_megakv_options, rows, "system");

/* The authors' sender has 158 instructions for a GET with KEY_MATCH and 97 with COMPACT_JOB, their receiver
 * 65 and 66 (2015; data set a, frames of 122 GETs, gcc -O3 -march=ivybridge, counted by callgrind). An
 * operation, whose time cpu.operation states, has about 500 (kvdirect.hw.cpu.kv_instr). */
static const double compare_instructions = (158 + 65) - (97 + 66), operation_instructions = 500;

enum { SHARED_STREAMS_MAX = 64 };

/* Two clocks are the same if they differ by less than this [Hz]. */

static uint64_t streams_max(const struct kvc_cpu *cpu, enum kvc_megakv_threads threads)
{
    if (threads == KVC_MEGAKV_SHARED_THREADS) {
        return cpu->cores > 1 ? SHARED_STREAMS_MAX : 0;
    }
    return (cpu->cores - 1) * cpu->threads_per_core / 2;
}

/* Returns as many pipelines as fit the cores, or one for each sender's core if tasks share cores. */
static uint64_t streams_auto(const struct kvc_cpu *cpu, enum kvc_megakv_threads threads)
{
    uint64_t most = streams_max(cpu, threads), senders = cpu->cores - 1;
    return threads == KVC_MEGAKV_SHARED_THREADS && most > senders ? senders : most;
}

/* Returns room for all keys and a tenth more, and for at least a few slabs. */
static double slab_bytes_auto(double keys, double item_bytes)
{
    return fmax(ceil(1.1 * keys * item_bytes), 16.0 * KVC_MEGAKV_SLAB_BYTES);
}

static double senders_of(const struct kvc_megakv_config *config)
{
    double streams = config->streams;
    return config->threads == KVC_MEGAKV_SHARED_THREADS ? fmin((double)config->cpu->cores - 1, streams)
                                                        : streams;
}

static void set_options(struct kvc_megakv_config *config, const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_options *options = scenario->options;
    config->cycle_ns = options->cycle_ns;
    config->delay = (uint32_t)options->delay;
    config->api = (enum kvc_megakv_api)options->api;
    double operation_ns = config->cpu != NULL ? config->cpu->operation_ns : 0;
    config->compare_ns = options->compare_ns >= 0
                             ? options->compare_ns
                             : operation_ns * compare_instructions / operation_instructions;
    config->feed = (enum kvc_megakv_feed)options->feed;
    config->insert_stream = (enum kvc_megakv_insert_stream)options->insert_stream;
    config->cycle_from = (enum kvc_megakv_cycle_from)options->cycle_from;
    config->index_on = (enum kvc_megakv_index_on)options->index_on;
    config->threads = (enum kvc_megakv_threads)options->threads;
    config->streams =
        (uint32_t)(options->streams > 0 ? options->streams : streams_auto(config->cpu, config->threads));
    config->buffers = (uint32_t)options->buffers;
    double shards = kvc_scenario_shards(scenario), keys = (double)scenario->workload.keys / shards;
    config->index_bytes = options->index_bytes > 0 ? options->index_bytes : kvc_shards_index_bytes(keys);
    config->gpu_power = (enum kvc_megakv_gpu_power)options->gpu_power;
    config->max_displacements = (uint32_t)options->max_displacements;
    config->clock = config->gpu != NULL ? kvc_gpu_clock_of(config->gpu, options->gpu_core_hz) : 0;
    config->means =
        kvc_shards_means_of(&scenario->workload, config->dram, config->nic, config->api == KVC_MEGAKV_GETK);
    config->slab_bytes =
        options->slab_bytes > 0 ? options->slab_bytes : slab_bytes_auto(keys, config->means.item_bytes);
}

enum kvc_status kvc_megakv_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    (void)diag;
    struct kvc_megakv_config *config = into;
    const struct kvc_node *node = &scenario->node;
    const struct kvc_workload *workload = &scenario->workload;
    *config = (struct kvc_megakv_config){.cpu = kvc_cpu_of(node),
                                         .dram = kvc_dram_of(node),
                                         .gpu = kvc_gpu_of(node),
                                         .nic = kvc_nic_of(node),
                                         .pcie = kvc_pcie_of(node),
                                         .cost_profile = kvc_megakv_cost_profile_of(node),
                                         .database = kvc_database_of(node),
                                         .shards = kvc_scenario_shards(scenario)};
    set_options(config, scenario);
    config->frame_requests =
        kvc_fill_most(workload, workload->frame_requests > 0
                                    ? (uint32_t)workload->frame_requests
                                    : kvc_nic_messages_per_frame(config->nic, config->means.request_bytes));
    config->frame_mean = kvc_fill_mean(workload, config->frame_requests);
    config->full_bytes = config->shards * (config->index_bytes + config->slab_bytes);
    config->sample_rate = kvc_run_sample_rate(&scenario->run, config->full_bytes);
    config->senders = senders_of(config);
    return KVC_OK;
}

uint32_t kvc_megakv_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    double shards = config->shards, keys = (double)scenario->workload.keys / shards;
    room[0] = (struct kvc_model_room){.option = "system.index",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->index_bytes,
                                      .needed = kvc_shards_index_bytes(keys),
                                      .keys = shards * kvc_shards_slots(config->index_bytes)};
    room[1] = (struct kvc_model_room){.option = "system.slab",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->slab_bytes,
                                      .needed = slab_bytes_auto(keys, config->means.item_bytes),
                                      .keys = shards * kvc_megakv_mean_items(config)};
    return 2;
}

static enum kvc_status check_threads(const struct kvc_megakv_config *config, struct kvc_diag *diag)
{
    uint64_t most = streams_max(config->cpu, config->threads);
    if (most == 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.cpu: found %llu cores, too few for the scheduler's core and two threads of a "
            "pipeline; allowed: more cores, or with 2 cores system.threads = \"shared\"",
            (unsigned long long)config->cpu->cores);
    }
    if (config->streams > most) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.streams: found %u, the cpu has room for 1 .. %llu pipelines beside the scheduler",
            config->streams, (unsigned long long)most);
    }
    return KVC_OK;
}

static enum kvc_status check_memory(const struct kvc_megakv_config *config,
                                    const struct kvc_workload *workload, struct kvc_diag *diag)
{
    uint64_t index = (uint64_t)config->index_bytes;
    if ((index & (index - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index: found %llu bytes, allowed: a power of two",
                             (unsigned long long)index);
    }
    if (config->index_bytes > config->gpu->memory_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.index: found %.3g GiB, gpu \"%s\" has %.3g GiB",
                             config->index_bytes / 0x1p30, config->gpu->name,
                             config->gpu->memory_bytes / 0x1p30);
    }
    if (kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                   kvc_workload_value_bytes_max(workload)) == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found %u bytes, the slab store holds up to %d",
                             kvc_workload_value_bytes_max(workload), KVC_MEGAKV_SLAB_VALUE_MAX);
    }
    if (config->sample_rate > 1 && index / config->sample_rate < 4096) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.sample_rate: found %llu, which leaves less than 4 KiB of the index of system.index",
            (unsigned long long)config->sample_rate);
    }
    return KVC_OK;
}

/* Every socket simulates its database, whose answers depend on the times of its own clients' requests. */
static enum kvc_status check_database(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    int arrival = workload->arrival;
    bool own = scenario->cluster.database == KVC_CLUSTER_PER_NODE && scenario->node.sockets == 1;
    if (config->database == NULL) {
        return KVC_OK;
    }
    if (config->shards > 1 && !own) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.database: found one behind %u sockets, allowed with %s: 1 node with 1 socket, or nodes with "
            "1 socket and cluster.database = \"per_node\"",
            config->shards, scenario->model->name);
    }
    if (config->shards > 1 && workload->action_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.actions: found actions with %u nodes, allowed with %s: 1 node, because an "
            "update deletes keys of other nodes, too",
            config->shards, scenario->model->name);
    }
    if (arrival == KVC_ARRIVAL_SATURATE || arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: allowed with %s and node.database is an open load, such as "
                             "arrival = { poisson_mops = 100 }, or a trace",
                             scenario->model->name);
    }
    if (workload->phase_count > 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.phases: found phases with node.database, allowed with %s: one of the two",
            scenario->model->name);
    }
    if (config->threads == KVC_MEGAKV_SHARED_THREADS) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.threads: found \"shared\", allowed with node.database: own");
    }
    if (config->sample_rate != 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: allowed with node.database is \"compact\" or \"full\", because a miss decides "
            "what is asked for next");
    }
    if (scenario->run.change_count > 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.changes: found changes with node.database, allowed with %s: one of the two",
                             scenario->model->name);
    }
    return KVC_OK;
}

enum kvc_status kvc_megakv_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    if (!kvc_pcie_has_copies(config->pcie)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which megakv needs",
            config->pcie->name);
    }
    enum kvc_status status = check_threads(config, diag);
    if (status == KVC_OK) {
        status = kvc_nic_check_queues(config->nic, config->streams, diag);
    }
    if (status == KVC_OK) {
        status = check_database(scenario, diag);
    }
    if (status == KVC_OK) {
        status = check_memory(config, &scenario->workload, diag);
    }
    const struct kvc_megakv_options *options = scenario->options;
    return status == KVC_OK ? kvc_gpu_check_clock(config->gpu, options->gpu_core_hz, diag) : status;
}

struct kvc_shards_params kvc_megakv_store_params_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    return (struct kvc_shards_params){
        .sockets = (uint32_t)scenario->node.sockets,
        .index_bytes = config->index_bytes,
        .slab_bytes = config->slab_bytes,
        .max_displacements = config->max_displacements,
        .sample_rate = config->sample_rate,
        .keeps_values = scenario->run.functional == KVC_FUNCTIONAL_FULL,
    };
}

enum kvc_status kvc_megakv_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                        const struct kvc_progress *progress, struct kvc_shards **store,
                                        struct kvc_diag *diag)
{
    const struct kvc_shards_params params = kvc_megakv_store_params_of(scenario);
    return kvc_shards_create(scenario, &params, seed, progress, store, diag);
}

struct kvc_source_params kvc_megakv_source_of(const struct kvc_scenario *scenario, uint64_t seed)
{
    return kvc_scenario_source(scenario, (uint32_t)scenario->node.sockets, seed);
}
