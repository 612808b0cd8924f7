#include "models/dido/config.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/shards/sizes.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"
#include "sim/workload/phases.h"
#include "sim/devices/network.h"
#include "sim/workload/source/fill.h"

/* ---- presets ---- */

#define MIB (1ull << 20)

/* "We store as many key-value objects as possible with an upper limit of the data set size to be 1,908 MB":
 * what the index leaves is divided into slabs. The index is the smallest power of two that is at most nine
 * tenths full with these keys, as system.index = "auto" takes it:
 *
 *     K8    512 MiB index, 653 slabs of 65536 items of 32 bytes:  42.8 million keys, 64 % full
 *     K16   256 MiB index, 781 slabs of 21845 items of 96 bytes:  17.1 million keys, 51 % full
 *     K32    64 MiB index, 877 slabs of 6553 items of 320 bytes:   5.7 million keys, 69 % full
 *     K128   16 MiB index, 901 slabs of 1638 items of 1280 bytes:  1.5 million keys, 70 % full
 *
 * config_test.c compares the sizes with the kernels and with the configuration. */
#define SHARED_BYTES 1908000000ull
#define KEYS(index_mib, item_bytes)                                                                          \
    ((SHARED_BYTES - (index_mib)*MIB) / KVC_MEGAKV_SLAB_BYTES * (KVC_MEGAKV_SLAB_BYTES / (item_bytes)))

#define WORKLOAD(name_, popular, exponent, get, key, value, count)                                           \
    {                                                                                                        \
        .name = (name_), .source = "DIDO, ICDE 2017, sec. V.A", KVC_PRESET_FIXED_SIZES(key, value),          \
        KVC_PRESET_MIX(get, 1 - (get)), .has_popularity = true, .popularity = (popular),                     \
        .zipf_s = (exponent), .keys = (count)                                                                \
    }
#define POPULARITIES(name_, get, key, value, count)                                                          \
    WORKLOAD(name_ "-U", KVC_POPULARITY_UNIFORM, 0, get, key, value, count),                                 \
        WORKLOAD(name_ "-S", KVC_POPULARITY_ZIPF, 0.99, get, key, value, count)
#define MIXES(set, key, value, count)                                                                        \
    POPULARITIES(set "-G100", 1.0, key, value, count), POPULARITIES(set "-G95", 0.95, key, value, count),    \
        POPULARITIES(set "-G50", 0.5, key, value, count)

const struct kvc_workload_preset kvc_dido_presets[] = {
    MIXES("K8", 8, 8, KEYS(512, 32)),
    MIXES("K16", 16, 64, KEYS(256, 96)),
    MIXES("K32", 32, 256, KEYS(64, 320)),
    MIXES("K128", 128, 1024, KEYS(16, 1280)),
    {.name = NULL},
};

/* ---- options ---- */

static const char *const feeds[] = {"network", "memory", NULL};
static const char *const predictors[] = {"kvcast", "paper", NULL};

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(
        kvc_dido_options, "pipeline", pipeline, "auto",
        "the stages in order with their tasks, \"cpu:2 RV PP MM insert delete > gpu search KC RD > cpu:2 "
        "WR SD\"; cpu without a number: the closed form divides the cores; megakv: the index is on the GPU "
        "and everything else on the CPU; auto: the best of all pipelines according to system.predict"),
    KVC_BOOL_ROW(kvc_dido_options, "adapt", adapt, "true",
                 "with pipeline = \"auto\": whether a new pipeline is planned when the load changes"),
    KVC_REAL_ROW(kvc_dido_options, "adapt_threshold", adapt_threshold_frac, KVC_UNIT_NONE, 0, 100, "0.1",
                 "relative change of a load counter that makes DIDO plan a new pipeline "
                 "(dido.design.counter_threshold); a smaller one follows the load more closely and plans "
                 "more often without benefit"),
    KVC_REAL_ROW(
        kvc_dido_options, "planning", planning_ns, KVC_UNIT_NS, 0, 1e12, "0.38ms",
        "time of a core to plan a pipeline, while batches continue with the previous one; not "
        "published: the median time of the search over the 24 presets on a core of an AMD EPYC server "
        "(dido_plan_bench --searches), with stealing; a search takes 0.24 to 1.5 ms, 0.17 ms without "
        "stealing, and 1.2 ms with predict = \"paper\"; not included are 8 ms that kvcast takes to "
        "derive the caches' hits from a skewed popularity"),
    KVC_BOOL_ROW(kvc_dido_options, "stealing", stealing, "true",
                 "whether an idle processor takes queries from a stage of the other processor"),
    KVC_COUNT_ROW(
        kvc_dido_options, "steal_set", steal_set, 1, 65536, "64",
        "queries that a processor steals at once (dido.design.steal_set); larger sets need fewer tags and "
        "lengthen the wait at the end of a batch"),
    KVC_REAL_ROW(
        kvc_dido_options, "steal", steal_ns, KVC_UNIT_NS, 0, 1e6, "100ns",
        "time to fetch a line of tags that the other processor may hold; a core then takes the sets of a "
        "line from its cache, and all resident waves of the GPU wait at the same time; not published: an "
        "access to memory"),
    KVC_REAL_ROW(
        kvc_dido_options, "latency_limit", latency_limit_ns, KVC_UNIT_NS, 1e3, 1e12, "1ms",
        "limit of the mean latency, which bounds the size of batches (dido.wl.latency_limit); a higher one "
        "allows larger batches"),
    KVC_REAL_ROW(
        kvc_dido_options, "interval", interval_ns, KVC_UNIT_NS, 0, 1e12, "auto",
        "longest time of a stage, for which batches are sized; auto: 0.9 of the latency limit over the "
        "stages, which is the 300 us of dido.mot.stage_limit with three stages and 1 ms",
        .auto_word = "auto", .auto_value = 0),
    KVC_CHOICE_ROW(
        kvc_dido_options, "feed", feed, feeds, "network",
        "network: frames pass through the sockets of the operating system; memory: requests are read from "
        "memory, and responses are not sent"),
    KVC_REAL_ROW(
        kvc_dido_options, "receive_cycles", receive_cycles, KVC_UNIT_NONE, 0, 1e9, "3520",
        "core cycles of the operating system for an incoming frame, including the copy to the process and "
        "the call (Arrakis, OSDI 2014, table 1: 1.26 + 0.24 + 0.10 us with Linux 3.8 and an X520, at 2.2 "
        "GHz on a Sandy Bridge)"),
    KVC_REAL_ROW(kvc_dido_options, "send_cycles", send_cycles, KVC_UNIT_NONE, 0, 1e9, "3498",
                 "core cycles of the operating system for an outgoing frame, from the same source (1.05 + "
                 "0.44 + 0.10 us)"),
    KVC_REAL_ROW(
        kvc_dido_options, "cycles_ratio", cycles_ratio, KVC_UNIT_NONE, 0.01, 100, "2.14",
        "core cycles of the node's CPU for the operating system's code, relative to the Sandy Bridge "
        "that receive_cycles and send_cycles refer to: 2.14 on an A10-7850K (task_ipc.sh in "
        "models/dido: 3.27 instructions a cycle for sandybridge, 1.53 for bdver2), 1 on a Sandy Bridge "
        "or an Ivy Bridge"),
    KVC_REAL_ROW(
        kvc_dido_options, "index", index_bytes, KVC_UNIT_BYTES, 0, 1e13, "auto",
        "size of the index, a power of two; auto: the smallest that is at most nine tenths full with all "
        "keys",
        .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_dido_options, "slab", slab_bytes, KVC_UNIT_BYTES, 0, 1e13, "auto",
        "memory of the items; auto: enough for all keys, so that every SET of a full store evicts an item",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(kvc_dido_options, "max_displacements", max_displacements, 0, 10000, "100",
                  "most elements that an insert moves before it gives up; not published"),
    KVC_CHOICE_ROW(
        kvc_dido_options, "predict", predict, predictors, "kvcast",
        "the closed form that predicts and plans; kvcast: the same costs as the simulation; paper: the "
        "authors' cost model (sec. IV)"),
};

const struct kvc_option_table kvc_dido_option_table = KVC_OPTION_TABLE(kvc_dido_options, rows, "system");

enum { LINE_BYTES = 64, SLABS_LEAST = 16 };

static const double interval_frac = 0.9;

double kvc_dido_interval_ns(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline)
{
    const struct kvc_dido_options *options = config->options;
    return options->interval_ns > 0 ? options->interval_ns
                                    : interval_frac * options->latency_limit_ns / pipeline->stages;
}

/* Returns the slabs of which each tenant, or each size of values by rank, has its own [bytes]. */
static double own_slabs_bytes(const struct kvc_workload *load)
{
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    double slabs = 0;
    for (uint32_t i = 0, count = kvc_shards_sample_sizes(load, sample); i < count; i++) {
        double items = sample[i].weight * (double)load->keys;
        slabs += ceil(items * kvc_megakv_slab_item_bytes(sample[i].key_bytes, sample[i].value_bytes) /
                      KVC_MEGAKV_SLAB_BYTES);
    }
    return slabs * KVC_MEGAKV_SLAB_BYTES;
}

/* Returns the whole slabs that all keys of a load fill [bytes]. */
static double filled_bytes(const struct kvc_workload *load, double item_bytes)
{
    if (load->tenant_count + load->value_count > 0) {
        return own_slabs_bytes(load);
    }
    double slabs = floor((double)load->keys * item_bytes / KVC_MEGAKV_SLAB_BYTES);
    return fmax(slabs, SLABS_LEAST) * KVC_MEGAKV_SLAB_BYTES;
}

static double slab_bytes_of_phase(const struct kvc_dido_config *config, const struct kvc_workload *workload,
                                  uint32_t phase)
{
    struct kvc_workload load = kvc_phases_workload(workload, phase);
    struct kvc_shards_means means = kvc_shards_means_of(&load, config->dram, config->nic, false);
    return filled_bytes(&load, means.item_bytes);
}

/* Returns the slabs that the items of all phases fill [bytes]. */
static double slab_bytes_auto(const struct kvc_dido_config *config, const struct kvc_workload *workload)
{
    double sum = 0;
    for (uint32_t i = 0; i < kvc_phases_count(workload); i++) {
        sum += slab_bytes_of_phase(config, workload, i);
    }
    return sum;
}

/* Sets the hit ratio of the CPU's last-level cache, and the share of the most popular items that it holds. */
static void set_cached(struct kvc_dido_config *config, const struct kvc_workload *workload,
                       const struct kvc_shards_means *means)
{
    double llc_bytes = config->cpu->llc_bytes, keys = (double)workload->keys;
    const struct kvc_reuse items = {means->touched_bytes, keys * means->touched_bytes, LINE_BYTES};
    const struct kvc_reuse buckets = {LINE_BYTES, fmin(config->index_bytes, keys * LINE_BYTES), LINE_BYTES};
    config->item_cached_frac = kvc_reuse_share(workload, &items, llc_bytes);
    config->bucket_cached_frac = kvc_reuse_share(workload, &buckets, llc_bytes);
    config->popular_frac = kvc_popularity_mass(workload, llc_bytes / means->item_bytes);
}

void kvc_dido_set_load(struct kvc_dido_config *config, const struct kvc_workload *load)
{
    struct kvc_shards_means means = kvc_shards_means_of(load, config->dram, config->nic, false);
    config->request_bytes = means.request_bytes;
    config->response_bytes = means.response_bytes;
    config->stated_frame_requests = load->frame_requests;
    config->multiget = load->multiget;
    config->frame_requests = kvc_fill_most(
        load, load->frame_requests > 0 ? (uint32_t)load->frame_requests
                                       : kvc_nic_messages_per_frame(config->nic, means.request_bytes));
    config->frame_mean = kvc_fill_mean(load, config->frame_requests);
    set_cached(config, load, &means);
}

void kvc_dido_set_phase(struct kvc_dido_config *config, const struct kvc_workload *workload, uint32_t phase)
{
    if (workload->phase_count == 0) {
        return; /* The configuration already covers the whole load. */
    }
    struct kvc_workload load = kvc_phases_workload(workload, phase);
    double part = slab_bytes_of_phase(config, workload, phase) / slab_bytes_auto(config, workload);
    config->other_items = (double)(workload->keys - load.keys);
    config->slab_bytes *= part;
    kvc_dido_set_load(config, &load);
}

struct kvc_dido_config kvc_dido_config_of_phase(const struct kvc_scenario *scenario, uint32_t phase)
{
    struct kvc_dido_config config = *kvc_dido_config_of(scenario);
    kvc_dido_set_phase(&config, &scenario->workload, phase);
    return config;
}

uint32_t kvc_dido_rooms(const struct kvc_scenario *scenario, struct kvc_model_room *room)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    double keys = (double)scenario->workload.keys;
    room[0] = (struct kvc_model_room){.option = "system.index",
                                      .unit = KVC_UNIT_BYTES,
                                      .size = config->index_bytes,
                                      .needed = kvc_shards_index_bytes(keys),
                                      .keys = kvc_shards_slots(config->index_bytes)};
    if (config->options->slab_bytes <= 0) { /* The keys fill the slabs, to whole slabs. */
        return 1;
    }
    room[1] = (struct kvc_model_room){
        .option = "system.slab",
        .unit = KVC_UNIT_BYTES,
        .size = config->slab_bytes,
        .needed = slab_bytes_auto(config, &scenario->workload) + KVC_MEGAKV_SLAB_BYTES,
        .keys = config->slab_bytes / kvc_shards_means_of(&scenario->workload, NULL, NULL, false).item_bytes};
    return 2;
}

/* Checks that there is a link to the memory exactly if the GPU needs one. */
static enum kvc_status check_link(const struct kvc_dido_config *config, struct kvc_diag *diag)
{
    const struct kvc_pcie *pcie = config->pcie;
    if (config->gpu->shares_memory && pcie != NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.pcie: found \"%s\", allowed: none, because \"%s\" shares the memory of the "
            "CPU (shares_memory)",
            pcie->name, config->gpu->name);
    }
    if (!config->gpu->shares_memory && pcie == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie is missing, allowed: a profile with packets, because \"%s\" does not "
                             "share the memory of the CPU (shares_memory)",
                             config->gpu->name);
    }
    if (pcie != NULL && !kvc_pcie_has_packets(pcie)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie: \"%s\" does not state packets (endpoints, generation, ...), which "
                             "dido needs",
                             pcie->name);
    }
    return KVC_OK;
}

/* Checks the inputs of the costs. */
static enum kvc_status check_devices(const struct kvc_dido_config *config, struct kvc_diag *diag)
{
    const struct kvc_gpu *gpu = config->gpu;
    if (config->cpu->instructions_per_cycle <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.cpu: \"%s\" does not state instructions_per_cycle, which dido needs",
                             config->cpu->name);
    }
    if (gpu->wave_issue <= 0 || gpu->clock_count == 0 || gpu->access_ns <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "node.gpu: \"%s\" does not state %s, which dido needs",
                             gpu->name,
                             gpu->wave_issue <= 0    ? "wave_issue"
                             : gpu->clock_count == 0 ? "clocks"
                                                     : "access");
    }
    return check_link(config, diag);
}

/* Sets the CPU at the clock that the node names. At a slower clock, instructions and cache hits take longer,
 * but the memory does not. A core still completes the same number of instructions while it waits for a line.
 */
static void set_cpu(struct kvc_dido_config *config, const struct kvc_node *node)
{
    kvc_cpu_pstate_of(node, &config->cpu_pstate, NULL); /* The loader has checked the clock. */
    config->clocked_cpu = *kvc_cpu_of(node);
    double speed = kvc_cpu_pstate_speed(&config->clocked_cpu, config->cpu_pstate);
    config->clocked_cpu.clock_hz *= speed;
    config->clocked_cpu.lookahead_ns /= speed;
    config->cpu = &config->clocked_cpu;
}

enum kvc_status kvc_dido_config_open(struct kvc_dido_config *config, const struct kvc_scenario *scenario,
                                     struct kvc_diag *diag)
{
    const struct kvc_node *node = &scenario->node;
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_dido_options *options = scenario->options;
    *config = (struct kvc_dido_config){.options = options,
                                       .dram = kvc_dram_of(node),
                                       .gpu = kvc_gpu_of(node),
                                       .nic = kvc_nic_of(node),
                                       .pcie = kvc_pcie_of(node),
                                       .feed = (enum kvc_dido_feed)options->feed};
    set_cpu(config, node);
    enum kvc_status status = check_devices(config, diag);
    if (status != KVC_OK) {
        return status;
    }
    config->link_ns = config->pcie != NULL ? kvc_pcie_read_ns(config->pcie, config->dram->line_bytes) : 0;
    if (config->feed == KVC_DIDO_NETWORK) {
        config->path_ns =
            kvc_network_path_ns(node, kvc_nic_wire_bytes(config->nic, kvc_nic_payload_bytes(config->nic)));
    }
    config->index_bytes =
        options->index_bytes > 0 ? options->index_bytes : kvc_shards_index_bytes((double)workload->keys);
    config->slab_bytes = options->slab_bytes > 0 ? options->slab_bytes : slab_bytes_auto(config, workload);
    config->sample_rate = kvc_run_sample_rate(&scenario->run, kvc_dido_data_bytes(config));
    struct kvc_workload load = kvc_phases_workload(workload, 0);
    kvc_dido_set_load(config, &load);
    return KVC_OK;
}

enum kvc_status kvc_dido_config_check(const struct kvc_dido_config *config,
                                      const struct kvc_workload *workload, struct kvc_diag *diag)
{
    uint64_t index = (uint64_t)config->index_bytes;
    double memory_bytes = config->gpu->memory_bytes, bytes = kvc_dido_data_bytes(config);
    if (index < LINE_BYTES || (index & (index - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index: found %llu bytes, allowed: a power of two from %d on",
                             (unsigned long long)index, LINE_BYTES);
    }
    /* Profiles of GPUs with memory of their own do not state the size of the CPU's memory. */
    if (config->gpu->shares_memory && bytes > memory_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index and system.slab: found %.4g MB together, the processors of \"%s\" "
                             "share %.4g MB",
                             bytes / 1e6, config->gpu->name, memory_bytes / 1e6);
    }
    if (kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                   kvc_workload_value_bytes_max(workload)) == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found %u bytes, the slab store holds up to %d",
                             kvc_workload_value_bytes_max(workload), KVC_MEGAKV_SLAB_VALUE_MAX);
    }
    return KVC_OK;
}

struct kvc_shards_params kvc_dido_store_params_of(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    return (struct kvc_shards_params){
        .sockets = 1,
        .index_bytes = config->index_bytes,
        .slab_bytes = config->slab_bytes,
        .max_displacements = (uint32_t)config->options->max_displacements,
        .sample_rate = config->sample_rate,
        .keeps_values = scenario->run.functional == KVC_FUNCTIONAL_FULL,
    };
}

enum kvc_status kvc_dido_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                      const struct kvc_progress *progress, struct kvc_shards **store,
                                      struct kvc_diag *diag)
{
    const struct kvc_shards_params params = kvc_dido_store_params_of(scenario);
    return kvc_shards_create(scenario, &params, seed, progress, store, diag);
}
