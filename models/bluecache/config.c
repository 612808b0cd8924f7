#include "models/bluecache/config.h"

#include <math.h>

#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/index.h"
#include "models/bluecache/costs.h"
#include "models/model.h"
#include "sim/devices/flash/flash_translation.h"

static enum kvc_status set_nodes(const struct kvc_scenario *scenario, struct kvc_bluecache_config *config,
                                 struct kvc_diag *diag)
{
    const struct kvc_bluecache_options *options = config->options;
    uint64_t nodes = scenario->cluster.nodes;
    const struct {
        const char *name;
        uint64_t count;
    } parts[] = {{"stores", options->stores}, {"app_servers", options->app_servers}};
    if (nodes > KVC_BLUECACHE_NODES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cluster.nodes: found %llu, allowed are 1 to %d",
                             (unsigned long long)nodes, KVC_BLUECACHE_NODES_MAX);
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (parts[i].count > nodes) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.%s: found %llu, allowed are 1 to %llu, the nodes of the cluster",
                                 parts[i].name, (unsigned long long)parts[i].count,
                                 (unsigned long long)nodes);
        }
    }
    config->nodes = (uint32_t)nodes;
    config->stores = options->stores > 0 ? (uint32_t)options->stores : config->nodes;
    config->apps = options->app_servers > 0 ? (uint32_t)options->app_servers : config->nodes;
    config->edge_bytes_per_s = kvc_fabric_edge_bytes_per_s(config->fabric, config->nodes);
    if (config->edge_bytes_per_s <= 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.fabric: found %llu links a card, allowed are at least %u, because a node of this "
            "topology has as many neighbours, and some would be unreachable",
            (unsigned long long)config->fabric->links, kvc_fabric_degree(config->fabric, config->nodes));
    }
    return KVC_OK;
}

static enum kvc_status set_log(struct kvc_bluecache_config *config, struct kvc_diag *diag)
{
    const struct kvc_flash *flash = config->flash;
    double row_pages = (double)(kvc_flash_chips(flash) * flash->pages_per_block);
    double row_bytes = row_pages * flash->page_bytes;
    double rows = floor(config->options->flash_bytes / row_bytes);
    double least = kvc_bluecache_rows_least(row_pages, (uint32_t)config->options->chunk_pages,
                                            flash->page_bytes, config->value_max_bytes);
    if (rows < least || rows > (double)flash->blocks) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.flash: found %.4g MiB, allowed are %.4g to %.4g MiB: whole rows of a block of each "
            "chip, room for four chunks and a row and for two of the largest values, and no "
            "more than the card has",
            config->options->flash_bytes / 0x1p20, least * row_bytes / 0x1p20,
            (double)flash->blocks * row_bytes / 0x1p20);
    }
    if (rows * row_bytes > 0x1p40) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.flash: found %.4g GiB, allowed are 1024 GiB, what the 41 bits of a pointer address "
            "on flash",
            rows * row_bytes / 0x1p30);
    }
    config->geometry = (struct kvc_flash_geometry){.buses = kvc_flash_channels(flash),
                                                   .chips_per_bus = (uint32_t)flash->chips,
                                                   .blocks_per_chip = (uint32_t)rows,
                                                   .pages_per_block = (uint32_t)flash->pages_per_block,
                                                   .page_bytes = (uint32_t)flash->page_bytes};
    return kvc_flash_translation_check(flash, (uint64_t)kvc_bluecache_log_pages(&config->geometry), diag);
}

static enum kvc_status check_sizes(const struct kvc_scenario *scenario,
                                   const struct kvc_bluecache_config *config, struct kvc_diag *diag)
{
    const struct kvc_workload *workload = &scenario->workload;
    double index_bytes = config->options->index_bytes;
    if (log2(index_bytes) != floor(log2(index_bytes))) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.index: found %.0f bytes, allowed is a power of two", index_bytes);
    }
    if (kvc_workload_key_bytes_max(workload) > KVC_BLUECACHE_KEY_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.key: found %u bytes, allowed are 1 to %d",
                             kvc_workload_key_bytes_max(workload), KVC_BLUECACHE_KEY_MAX);
    }
    if (kvc_workload_value_bytes_max(workload) > KVC_BLUECACHE_VALUE_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.value: found %u bytes, allowed are 0 to %d",
                             kvc_workload_value_bytes_max(workload), KVC_BLUECACHE_VALUE_MAX);
    }
    double header = KVC_BLUECACHE_HEADER_BYTES + kvc_workload_key_bytes_max(workload);
    if (config->options->segment_bytes < header) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.segment: found %.0f bytes, allowed are %.0f bytes to 1 MiB, because it must hold "
            "the header and the key of a request",
            config->options->segment_bytes, header);
    }
    double page = config->flash->page_bytes;
    if (page < KVC_FLASH_PAGE_MIN_BYTES || page > 65536 || fmod(page, 8) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.flash.page: found %.0f bytes, allowed are %d to 65536, a multiple of 8",
                             page, KVC_FLASH_PAGE_MIN_BYTES);
    }
    return KVC_OK;
}

/* Sets the sizes of the structures that run. */
static enum kvc_status set_sizes(const struct kvc_scenario *scenario, struct kvc_bluecache_config *config,
                                 struct kvc_diag *diag)
{
    const struct kvc_bluecache_sizes whole = kvc_bluecache_whole_sizes(config->options, &config->geometry);
    config->sizes = whole;
    config->sample_rate = 1;
    if (scenario->run.functional == KVC_FUNCTIONAL_SAMPLED) {
        config->sample_rate =
            kvc_run_sample_rate(&scenario->run, config->stores * kvc_bluecache_sizes_bytes(&whole));
    }
    return config->sample_rate > 1 ? kvc_bluecache_sample_sizes(&whole, &scenario->workload,
                                                                config->sample_rate, &config->sizes, diag)
                                   : KVC_OK;
}

enum kvc_status kvc_bluecache_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_bluecache_config *config = into;
    *config = (struct kvc_bluecache_config){.options = scenario->options,
                                            .pcie = kvc_pcie_of(&scenario->node),
                                            .dram = kvc_dram_of(&scenario->node),
                                            .flash = kvc_flash_of(&scenario->node),
                                            .fabric = kvc_fabric_of(&scenario->node),
                                            .fpga = kvc_fpga_of(&scenario->node),
                                            .database = kvc_database_of(&scenario->node),
                                            .dram_channels =
                                                (uint32_t)kvc_dram_channels(kvc_dram_of(&scenario->node)),
                                            .threads = scenario->workload.arrival == KVC_ARRIVAL_CLOSED};
    uint64_t table = config->options->table;
    config->table = (uint32_t)(table > 0 ? table : kvc_flash_tags(config->flash));
    uint32_t value_bytes = kvc_workload_value_bytes_max(&scenario->workload);
    config->value_max_bytes = value_bytes > 0 ? value_bytes : 1;
    if (!kvc_pcie_has_copies(config->pcie)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which the DMA "
            "segments need",
            config->pcie->name);
    }
    enum kvc_status status = set_nodes(scenario, config, diag);
    if (status == KVC_OK) {
        status = check_sizes(scenario, config, diag);
    }
    if (status == KVC_OK) {
        status = set_log(config, diag);
    }
    return status == KVC_OK ? set_sizes(scenario, config, diag) : status;
}

enum kvc_status kvc_bluecache_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->workload.arrival == KVC_ARRIVAL_TRACE) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.arrival: found a trace, allowed with bluecache: saturate, clients, "
                             "poisson_mops, fixed_mops or curve");
    }
    if (scenario->workload.frame_requests > 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.per_frame: found %llu, allowed is 1, because the host fills its segments itself",
            (unsigned long long)scenario->workload.frame_requests);
    }
    if (scenario->run.functional == KVC_FUNCTIONAL_OFF) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found \"off\", allowed with bluecache: \"full\" or \"sampled\"; kvcast predict "
            "answers without the structures");
    }
    return KVC_OK;
}
