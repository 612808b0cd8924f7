/* What a store's structures need of the machine and of the workload. */
#include "models/composed/check_structures.h"

#include <stdio.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/composed/closed_form/mix.h"
#include "models/composed/index.h"
#include "sim/devices/flash/flash_translation.h"

#define FAIL(...) kvc_diag_fail(diag, KVC_ERR_SCENARIO, __VA_ARGS__)

/* The hot tier: options that need others. */
static enum kvc_status check_hot(const struct kvc_composed_config *config,
                                 const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const struct kvc_composed_hot_options *hot = &config->options->hot;
    const struct {
        const char *option;
        bool stated;
    } options[] = {{"kernel", hot->kernel != 0},
                   {"memory", hot->memory != KVC_COMPOSED_IN_HOST},
                   {"admit", hot->admit < 1}};
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        if (!config->has_hot && options[i].stated) {
            return FAIL("system.hot.%s: found one without a hot tier, allowed: with system.hot.size",
                        options[i].option);
        }
    }
    if (!config->has_hot) {
        return KVC_OK;
    }
    if (config->index == NULL) {
        return FAIL("system.hot.size: found a hot tier of a store without an index, allowed: with "
                    "system.index.kernel");
    }
    if (hot->bytes < KVC_MEGAKV_SLAB_BYTES) {
        return FAIL("system.hot.size: found %.0f bytes, allowed: 0, or %d MiB and more", hot->bytes,
                    KVC_MEGAKV_SLAB_BYTES >> 20);
    }
    if (kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                   kvc_workload_value_bytes_max(workload)) == 0) {
        return FAIL("workload.value: found %u bytes, the hot tier holds up to %d",
                    kvc_workload_value_bytes_max(workload), KVC_MEGAKV_SLAB_VALUE_MAX);
    }
    if (config->hot_index == NULL && hot->memory != config->options->index.memory) {
        return FAIL(
            "system.hot.memory: found another memory than that of the index, which knows what is hot; allowed: "
            "the same, or with system.hot.kernel");
    }
    if (hot->admit < 1 && (kvc_composed_does(config) & KVC_COMPOSED_HOT_FILL) == 0) {
        return FAIL("system.hot.admit: found %g, but no stage fills the hot tier; allowed: with hot.fill",
                    hot->admit);
    }
    return KVC_OK;
}

/* A structure in a memory. */
struct held {
    const char *option;
    bool there;
    int memory;
    double bytes;
};

/* The structures that a memory holds must fit into it; `bytes` is its size, NaN or 0 if it is unknown. */
static enum kvc_status check_fits(const struct held *held, uint32_t count, int memory, const char *what,
                                  const char *name, double bytes, struct kvc_diag *diag)
{
    double sum_bytes = 0;
    const char *option = NULL;
    for (uint32_t i = 0; i < count; i++) {
        bool here = held[i].there && held[i].memory == memory;
        sum_bytes += here ? held[i].bytes : 0;
        option = here ? held[i].option : option;
    }
    if (option != NULL && bytes > 0 && sum_bytes > bytes) {
        return FAIL("system.%s.size: found %.4g GiB in %s, \"%s\" has %.4g GiB", option, sum_bytes / 0x1p30,
                    what, name, bytes / 0x1p30);
    }
    return KVC_OK;
}

static enum kvc_status check_memory(const struct kvc_composed_config *config,
                                    const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const struct kvc_composed_options *options = config->options;
    uint64_t index = (uint64_t)config->index_bytes;
    const struct held held[] = {
        {"index", config->index != NULL, options->index.memory, config->index_bytes},
        {"values", config->has_values, options->values.memory, config->value_bytes},
        {"hot", config->has_hot, options->hot.memory,
         config->hot_bytes + (config->hot_index != NULL ? config->hot_index_bytes : 0)},
    };
    enum { HELD = sizeof(held) / sizeof(*held) };
    if ((index & (index - 1)) != 0) {
        return FAIL("system.index.size: found %llu bytes, allowed: a power of two",
                    (unsigned long long)index);
    }
    for (uint32_t i = 0; i < HELD; i++) {
        bool there = held[i].there && held[i].memory == KVC_COMPOSED_IN_GPU;
        if (there && config->gpu == NULL) {
            return FAIL("system.%s.memory: found \"gpu\", allowed: with node.gpu", held[i].option);
        }
        if (there && config->gpu->shares_memory) {
            return FAIL("system.%s.memory: found \"gpu\", but \"%s\" uses host memory; allowed: host",
                        held[i].option, config->gpu->name);
        }
    }
    for (uint32_t i = 0; i < HELD; i++) {
        bool there = held[i].there && held[i].memory == KVC_COMPOSED_IN_CXL;
        if (there && config->cxl.dram == NULL) {
            return FAIL("system.%s.memory: found \"cxl\", allowed: with node.cxl, such as \"cxl-e3s-x8\"",
                        held[i].option);
        }
    }
    double card_bytes = kvc_composed_card_memory_of(config).bytes;
    for (uint32_t i = 0; i < HELD; i++) {
        bool on_card = kvc_composed_on_card(config);
        if (held[i].there && held[i].memory == KVC_COMPOSED_IN_CARD && !on_card) {
            return FAIL("system.%s.memory: found \"card\", allowed: with stages on card.cpu or on an fpga",
                        held[i].option);
        }
    }
    enum kvc_status status = check_fits(held, HELD, KVC_COMPOSED_IN_HOST, "host memory", config->dram->name,
                                        config->dram->capacity_bytes, diag);
    if (status == KVC_OK && config->gpu != NULL) {
        status = check_fits(held, HELD, KVC_COMPOSED_IN_GPU, "the memory of the GPU", config->gpu->name,
                            config->gpu->memory_bytes, diag);
    }
    if (status == KVC_OK && config->cxl.dram != NULL) {
        status = check_fits(held, HELD, KVC_COMPOSED_IN_CXL, "the memory behind CXL", config->cxl.dram->name,
                            config->cxl.dram->capacity_bytes, diag);
    }
    if (status == KVC_OK) {
        const char *card = config->card_cores.dram != NULL ? config->card_cores.dram->name
                           : config->fpga != NULL          ? config->fpga->name
                                                           : "";
        status =
            check_fits(held, HELD, KVC_COMPOSED_IN_CARD, "the memory of the card", card, card_bytes, diag);
    }
    if (status != KVC_OK) {
        return status;
    }
    if (config->has_values && kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                                         kvc_workload_value_bytes_max(workload)) == 0) {
        return FAIL("workload.value: found %u bytes, system.values holds up to %d",
                    kvc_workload_value_bytes_max(workload), KVC_MEGAKV_SLAB_VALUE_MAX);
    }
    if (config->sample_rate > 1 &&
        config->index_bytes / (double)config->sample_rate < KVC_COMPOSED_INDEX_LEAST) {
        return FAIL("run.sample_rate: found %llu, which leaves less than %d KiB of the index of system.index",
                    (unsigned long long)config->sample_rate, KVC_COMPOSED_INDEX_LEAST / 1024);
    }
    return KVC_OK;
}

/* The log of the values on flash. */
static enum kvc_status check_flash(const struct kvc_composed_config *config, struct kvc_diag *diag)
{
    const struct kvc_composed_values_options *values = &config->options->values;
    const struct kvc_flash *flash = config->flash;
    bool wants = config->has_values && values->memory == KVC_COMPOSED_IN_FLASH;
    if (wants && flash == NULL) {
        return FAIL("system.values.memory: found \"flash\", allowed: with node.flash");
    }
    if (!wants && flash != NULL) {
        return FAIL(
            "node.flash: found one, but it holds nothing; allowed: with system.values.memory = \"flash\"");
    }
    if (!wants && values->buffer_bytes > 0) {
        return FAIL("system.values.buffer: found one, allowed: with system.values.memory = \"flash\"");
    }
    if (!wants) {
        return KVC_OK;
    }
    if (!config->logs) {
        return FAIL("system.values.kernel: found slab in flash, which is not written in place; allowed: log");
    }
    if (config->buffer_bytes < flash->page_bytes) {
        return FAIL("system.values.buffer: found %.0f bytes, allowed: at least a page of \"%s\", %.0f bytes",
                    config->buffer_bytes, flash->name, flash->page_bytes);
    }
    if (config->value_bytes <= 0) {
        return FAIL(
            "system.values.size: found less than two rows of blocks of \"%s\", %.4g MiB each, allowed: at least two, "
            "because one is free for what comes",
            flash->name,
            (double)(kvc_flash_chips(flash) * flash->pages_per_block) * flash->page_bytes / 0x1p20);
    }
    if (config->flash_pages > kvc_flash_pages(flash)) {
        return FAIL("system.values.size: found %.4g GiB on flash, \"%s\" has %.4g GiB",
                    (double)config->flash_pages * flash->page_bytes / 0x1p30, flash->name,
                    kvc_flash_bytes(flash) / 0x1p30);
    }
    return kvc_flash_translation_check(flash, config->flash_pages, diag);
}

enum kvc_status kvc_composed_check_pairs(const struct kvc_composed_config *config,
                                         const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const struct kvc_composed_values_options *values = &config->options->values;
    const struct kvc_index_pair_kind *kind = config->index != NULL ? config->index->pairs : NULL;
    bool is_inline = values->kernel == KVC_COMPOSED_INLINE;
    char kernels[128];
    kvc_composed_pair_kernels(kernels, sizeof(kernels));
    if (!is_inline) {
        return values->inline_bytes > 0
                   ? kvc_diag_fail(
                         diag, KVC_ERR_SCENARIO,
                         "system.values.inline: found one, allowed: with system.values.kernel = \"inline\"")
               : values->kernel == KVC_COMPOSED_NO_VALUES && kind != NULL
                   ? kvc_diag_fail(
                         diag, KVC_ERR_SCENARIO,
                         "system.values.kernel: found none, but \"%s\" holds pairs; allowed: inline, slab or log",
                         config->index->name)
                   : KVC_OK;
    }
    if (kind == NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.values.kernel: found inline, which the kernel of the index cannot hold; allowed: with "
            "system.index.kernel %s",
            kernels);
    }
    if (values->bytes > 0 ||
        (values->memory != KVC_COMPOSED_IN_HOST && values->memory != config->options->index.memory)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.values.%s: found one, but the index holds the values; allowed: system.index.%s",
            values->bytes > 0 ? "size" : "memory", values->bytes > 0 ? "size" : "memory");
    }
    if (values->inline_bytes > kind->inline_most_bytes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.values.inline: found %.0f bytes, allowed: up to %u, the slots of an entry of \"%s\"",
            values->inline_bytes, kind->inline_most_bytes, config->index->name);
    }
    double least = kvc_workload_key_bytes_mean(workload) + kvc_workload_value_bytes_mean(workload);
    uint32_t most = kvc_workload_key_bytes_max(workload) + kvc_workload_value_bytes_max(workload);
    if (least < kind->least_bytes || most > kind->most_bytes) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.value: found pairs of %.4g bytes on average and up to %u, allowed: pairs of %u to %u "
            "bytes, which \"%s\" holds inline",
            least, most, kind->least_bytes, kind->most_bytes, config->index->name);
    }
    return KVC_OK;
}

enum kvc_status kvc_composed_check_structures(const struct kvc_composed_config *config,
                                              const struct kvc_workload *workload, struct kvc_diag *diag)
{
    enum kvc_status status = check_flash(config, diag);
    if (status == KVC_OK) {
        status = check_hot(config, workload, diag);
    }
    return status == KVC_OK ? check_memory(config, workload, diag) : status;
}

/* Whether requests of the workload meet the conditions of a stage. */
static bool is_met(const struct kvc_composed_config *config, const struct kvc_workload *workload,
                   uint32_t when)
{
    const double frac[KVC_COMPOSED_KINDS] = {[KVC_COMPOSED_KIND_HOTS] = workload->get_frac,
                                             [KVC_COMPOSED_KIND_HITS] = workload->get_frac,
                                             [KVC_COMPOSED_KIND_MISSES] = workload->get_frac,
                                             [KVC_COMPOSED_KIND_SETS] = workload->set_frac,
                                             [KVC_COMPOSED_KIND_DELETES] = workload->delete_frac};
    bool large = kvc_workload_value_bytes_max(workload) >= config->options->large_bytes, met = false;
    for (int kind = 0; kind < KVC_COMPOSED_KINDS; kind++) {
        met = met || (frac[kind] > 0 && (kvc_composed_mix_meets(kind, false, when) ||
                                         (large && kvc_composed_mix_meets(kind, true, when))));
    }
    return met;
}

static bool is_cuckoo(const struct kvc_index_kind *kind)
{
    return kind != NULL && strstr(kind->name, "cuckoo") != NULL;
}

/* Returns the option that is stated but has no effect with the others, or NULL. Sweeps may state it for some
 * of their points. */
static const char *without_effect(const struct kvc_composed_config *config)
{
    enum { DISPLACEMENTS = 100, BUFFERS = 3, LARGE = 1024 }; /* The defaults. */
    const struct kvc_composed_options *options = config->options;
    const uint32_t by_size = KVC_COMPOSED_WHEN_LARGE | KVC_COMPOSED_WHEN_SMALL;
    bool sizes = false, cuckoo = is_cuckoo(config->index) || is_cuckoo(config->hot_index);
    for (uint32_t i = 0; i < config->stages; i++) {
        sizes = sizes || (config->stage[i].options->when & by_size) != 0;
    }
    const struct {
        const char *option;
        bool stated, works;
    } all[] = {
        {"system.index.max_displacements", options->index.max_displacements != DISPLACEMENTS, cuckoo},
        {"system.index.size", options->index.bytes > 0, config->index != NULL},
        {"system.index.memory", options->index.memory != KVC_COMPOSED_IN_HOST, config->index != NULL},
        {"system.values.size", options->values.bytes > 0, config->has_values},
        {"system.values.memory", options->values.memory != KVC_COMPOSED_IN_HOST,
         options->values.kernel != KVC_COMPOSED_NO_VALUES},
        {"system.batch.buffers", options->batch.buffers != BUFFERS, config->batched < config->stages},
        {"system.large", options->large_bytes != LARGE, sizes},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i].stated && !all[i].works) {
            return all[i].option;
        }
    }
    return NULL;
}

const char *kvc_composed_warning(const struct kvc_scenario *scenario, char *text, size_t size)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    bool in_cxl = false, asks_for_misses = false, on_gpu = false, on_fpga = false;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        if (!is_met(config, &scenario->workload, stage->options->when)) {
            snprintf(text, size, "the workload has no requests for stage \"%s\", which does nothing",
                     stage->options->name);
            return "system.stages";
        }
        on_gpu = on_gpu || stage->place == KVC_COMPOSED_GPU;
        on_fpga = on_fpga || stage->place == KVC_COMPOSED_FPGA;
        bool index, values;
        kvc_composed_find_far(config, stage, &index, &values);
        in_cxl = in_cxl || index || values;
        asks_for_misses = asks_for_misses || (stage->place == KVC_COMPOSED_DATABASE &&
                                              (stage->when & KVC_COMPOSED_WHEN_MISS) != 0);
    }
    if ((config->gpu != NULL && !on_gpu) || (config->fpga != NULL && !on_fpga)) {
        snprintf(text, size, "no stage works there; it idles");
        return config->gpu != NULL && !on_gpu ? "node.gpu" : "node.fpga";
    }
    if (config->cxl.dram != NULL && !in_cxl) {
        snprintf(text, size,
                 "nothing lies in it; it has an effect with memory = \"cxl\" of system.index, values or hot");
        return "node.cxl";
    }
    if (asks_for_misses && config->index != NULL && !config->fills) {
        snprintf(
            text, size,
            "the database gives values of GETs that miss, and no later stage stores them, so that the next GET "
            "misses as well; a later %s does",
            config->has_values ? "write and insert" : "insert");
        return "node.database";
    }
    const char *option = without_effect(config);
    snprintf(text, size, "it has no effect with the kernels, batches and stages of this store");
    return option;
}
