#include "models/dido/config.h"

#include <math.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/dido/plan.h"
#include "models/cuckoo_store/sizes.h"
#include "sim/workload/phases.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"

enum { SLOT_BYTES = 8, LINE_BYTES = 64, SLABS_LEAST = 16 };

static const double index_load_most = 0.9, interval_frac = 0.9;

double kvc_dido_interval_ns(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *pipeline)
{
    const struct kvc_dido_options *options = config->options;
    return options->interval_ns > 0 ? options->interval_ns
                                    : interval_frac * options->latency_limit_ns / pipeline->stages;
}

/* Returns the whole slabs that all keys of a load fill [bytes]. */
static double filled_bytes(const struct kvc_workload *load, double item_bytes)
{
    double slabs = floor((double)load->keys * item_bytes / KVC_MEGAKV_SLAB_BYTES);
    return fmax(slabs, SLABS_LEAST) * KVC_MEGAKV_SLAB_BYTES;
}

static double slab_bytes_of_phase(const struct kvc_dido_config *config, const struct kvc_workload *workload,
                                  uint32_t phase)
{
    struct kvc_workload load = kvc_phases_workload(workload, phase);
    struct kvc_cuckoo_means means = kvc_cuckoo_means_of(&load, config->dram, config->nic, false);
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

static double index_bytes_auto(double keys)
{
    double bytes = LINE_BYTES;
    while (keys * SLOT_BYTES > index_load_most * bytes) {
        bytes *= 2;
    }
    return bytes;
}

/* Sets what the CPU's last-level cache answers, and the share of the most popular items that it holds. */
static void set_cached(struct kvc_dido_config *config, const struct kvc_workload *workload,
                       const struct kvc_cuckoo_means *means)
{
    double llc_bytes = config->cpu->llc_bytes, keys = (double)workload->keys;
    const struct kvc_reuse items = {means->touched_bytes, keys * means->touched_bytes, LINE_BYTES};
    const struct kvc_reuse buckets = {LINE_BYTES, fmin(config->index_bytes, keys * LINE_BYTES), LINE_BYTES};
    double item_frac = 0, bucket_frac = 0;
    kvc_reuse_shares(workload, &items, &llc_bytes, 1, &item_frac);
    kvc_reuse_shares(workload, &buckets, &llc_bytes, 1, &bucket_frac);
    config->item_cached_frac = item_frac;
    config->bucket_cached_frac = bucket_frac;
    config->popular_frac = kvc_popularity_mass(workload, llc_bytes / means->item_bytes);
}

void kvc_dido_set_load(struct kvc_dido_config *config, const struct kvc_workload *load)
{
    struct kvc_cuckoo_means means = kvc_cuckoo_means_of(load, config->dram, config->nic, false);
    config->request_bytes = means.request_bytes;
    config->response_bytes = means.response_bytes;
    config->stated_frame_requests = load->frame_requests;
    config->frame_requests = load->frame_requests > 0
                                 ? (uint32_t)load->frame_requests
                                 : kvc_nic_messages_per_frame(config->nic, means.request_bytes);
    set_cached(config, load, &means);
}

/* Makes a configuration whose slabs are settled that of a phase. */
static void set_phase(struct kvc_dido_config *config, const struct kvc_workload *workload, uint32_t phase)
{
    if (workload->phase_count == 0) {
        return; /* It is that of the load already. */
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
    set_phase(&config, &scenario->workload, phase);
    return config;
}

/* Reads the pipeline, or leaves it to the closed form. If the load alternates, that plans for its first
 * phase. */
static enum kvc_status set_pipeline(struct kvc_dido_config *config, const struct kvc_workload *workload,
                                    struct kvc_diag *diag)
{
    const char *text = config->options->pipeline;
    const bool any = strcmp(text, "auto") == 0;
    config->plans = any;
    config->adapts = any && config->options->adapt;
    struct kvc_dido_pipeline *pipeline = &config->pipeline;
    enum kvc_status status = KVC_OK;
    if (!any) {
        bool megakv = strcmp(text, "megakv") == 0;
        status = kvc_dido_pipeline_parse(megakv ? kvc_dido_megakv_pipeline : text, pipeline, diag);
        if (status == KVC_OK) {
            status = kvc_dido_pipeline_check_cores(pipeline, (uint32_t)config->cpu->cores, diag);
        }
    }
    if (status == KVC_OK) {
        struct kvc_dido_config first = *config;
        struct kvc_workload load = kvc_phases_workload(workload, 0);
        set_phase(&first, workload, 0);
        struct kvc_dido_mix mix = kvc_dido_mix_of(&first, &load);
        *pipeline = kvc_dido_best_plan(&first, any ? NULL : pipeline, &mix).pipeline;
    }
    return status;
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

/* Checks what the costs are computed from. */
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

/* Sets the CPU at the clock that the node names. Instructions and cycles of the cache take longer at a slower
 * one, the memory does not; as long as a line is on its way, a core completes as many instructions. */
static void set_cpu(struct kvc_dido_config *config, const struct kvc_node *node)
{
    kvc_cpu_pstate_of(node, &config->cpu_pstate, NULL); /* The loader has checked the clock. */
    config->clocked_cpu = *kvc_cpu_of(node);
    double speed = kvc_cpu_pstate_speed(&config->clocked_cpu, config->cpu_pstate);
    config->clocked_cpu.clock_hz *= speed;
    config->clocked_cpu.lookahead_ns /= speed;
    config->cpu = &config->clocked_cpu;
}

enum kvc_status kvc_dido_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_dido_config *config = into;
    const struct kvc_node *node = &scenario->node;
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_dido_options *options = scenario->options;
    *config = (struct kvc_dido_config){.options = options,
                                       .dram = kvc_dram_of(node),
                                       .gpu = kvc_gpu_of(node),
                                       .nic = kvc_nic_of(node),
                                       .pcie = kvc_pcie_of(node),
                                       .network = (enum kvc_dido_network)options->network};
    set_cpu(config, node);
    enum kvc_status status = check_devices(config, diag);
    if (status != KVC_OK) {
        return status;
    }
    config->link_ns = config->pcie != NULL ? kvc_pcie_read_ns(config->pcie, config->dram->line_bytes) : 0;
    config->index_bytes =
        options->index_bytes > 0 ? options->index_bytes : index_bytes_auto((double)workload->keys);
    config->slab_bytes = options->slab_bytes > 0 ? options->slab_bytes : slab_bytes_auto(config, workload);
    config->sample_rate = kvc_run_sample_rate(&scenario->run, kvc_dido_data_bytes(config));
    struct kvc_workload load = kvc_phases_workload(workload, 0);
    kvc_dido_set_load(config, &load);
    return set_pipeline(config, workload, diag);
}

static enum kvc_status check_memory(const struct kvc_dido_config *config, const struct kvc_workload *workload,
                                    struct kvc_diag *diag)
{
    uint64_t index = (uint64_t)config->index_bytes;
    double memory_bytes = config->gpu->memory_bytes, bytes = kvc_dido_data_bytes(config);
    if (index < LINE_BYTES || (index & (index - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index: found %llu bytes, allowed: a power of two from %d on",
                             (unsigned long long)index, LINE_BYTES);
    }
    if (config->gpu->shares_memory && bytes > memory_bytes) { /* That of other machines is not stated. */
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

/* Checks that a batch of one query meets the latency limit. */
static enum kvc_status check_interval(const struct kvc_scenario *scenario, uint32_t phase,
                                      struct kvc_diag *diag)
{
    struct kvc_dido_config config = kvc_dido_config_of_phase(scenario, phase);
    struct kvc_workload load = kvc_phases_workload(&scenario->workload, phase);
    struct kvc_dido_mix mix = kvc_dido_mix_of(&config, &load);
    double one_ns = kvc_dido_period_of(&config, &config.pipeline, &mix, 1).longest_ns;
    double interval_ns = kvc_dido_interval_ns(&config, &config.pipeline);
    return one_ns <= interval_ns
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "system.%s: found %.4g us for a stage, a batch of one query takes %.4g us",
                               config.options->interval_ns > 0 ? "interval" : "latency_limit",
                               interval_ns * 1e-3, one_ns * 1e-3);
}

enum kvc_status kvc_dido_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    enum kvc_status status = check_memory(config, &scenario->workload, diag);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t i = 0; status == KVC_OK && i < kvc_phases_count(&scenario->workload); i++) {
        status = check_interval(scenario, i, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (scenario->cluster.nodes > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.nodes: found %llu, allowed with dido: 1",
                             (unsigned long long)scenario->cluster.nodes);
    }
    return KVC_OK;
}

struct kvc_cuckoo_store_params kvc_dido_store_params_of(const struct kvc_scenario *scenario)
{
    const struct kvc_dido_config *config = kvc_dido_config_of(scenario);
    return (struct kvc_cuckoo_store_params){
        .sockets = 1,
        .index_bytes = config->index_bytes,
        .slab_bytes = config->slab_bytes,
        .max_displacements = (uint32_t)config->options->max_displacements,
        .sample_rate = config->sample_rate,
    };
}

enum kvc_status kvc_dido_store_create(const struct kvc_scenario *scenario, uint64_t seed,
                                      const struct kvc_progress *progress, struct kvc_cuckoo_store **store,
                                      struct kvc_diag *diag)
{
    const struct kvc_cuckoo_store_params params = kvc_dido_store_params_of(scenario);
    return kvc_cuckoo_store_create(scenario, &params, seed, progress, store, diag);
}
