#include "models/bluecache/config.h"

#include <math.h>
#include <stddef.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/index.h"
#include "kernels/pages.h"
#include "models/bluecache/card.h"
#include "models/model.h"
#include "sim/devices/flash/flash_translation.h"
#include "sim/workload/keys/hashed_sets.h"

/* ---- options ---- */

/* The authors' program, which settles points that the paper leaves open. */
#define PROGRAM "github.com/xushuotao/fpgamemcached"

/* Source of the times of the host's threads, which the paper does not publish. */
#define SWITCH                                                                                               \
    "(Li, Ding and Shen, Quantifying the Cost of Context Switch, ExpCS 2007: 3.8 us on a Xeon at 2 GHz)"

static const struct kvc_option option_rows[] = {
    KVC_REAL_ROW(kvc_bluecache_options, "index", index_bytes, KVC_UNIT_BYTES, 64, 0x1p38, "auto",
                 "size of the index of a node, a power of two; a key takes 16 bytes, and a larger index "
                 "evicts fewer keys; auto: the smallest that keeps all but one key in a thousand",
                 .auto_word = "auto", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_bluecache_options, "dram", dram_bytes, KVC_UNIT_BYTES, 0, 0x1p39, "512MiB",
        "store of pairs in the DRAM of a node, in whole slabs of 2 MiB; 0: all pairs go straight to flash"),
    KVC_REAL_ROW(
        kvc_bluecache_options, "flash", flash_bytes, KVC_UNIT_BYTES, 1, 0x1p40, "auto",
        "log on the flash of a node, rounded down to whole rows of blocks; a longer log keeps more keys; auto: "
        "the shortest with room for all keys and 10 % more",
        .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_bluecache_options, "chunk", chunk_pages, 1, 32767, "128",
        "pages of a write buffer, programmed together (bluecache.flash.chunk_pages); there are two buffers"),
    KVC_COUNT_ROW(kvc_bluecache_options, "stores", stores, 1, 4096, "nodes",
                  "nodes that store keys, from node 0 on; the others only forward requests or send them",
                  .auto_word = "nodes", .auto_value = 0),
    KVC_COUNT_ROW(kvc_bluecache_options, "app_servers", app_servers, 1, 4096, "nodes",
                  "nodes whose host sends requests, from node 0 on; the others have no host",
                  .auto_word = "nodes", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_bluecache_options, "outstanding", outstanding, 1, 1e6, "1024",
        "requests of a saturating host without a response yet; hiding latency needs more than the content "
        "of one segment each way (the paper's host writes 40000 without waiting, bluecache.multi.ops)"),
    KVC_REAL_ROW(
        kvc_bluecache_options, "segment", segment_bytes, KVC_UNIT_BYTES, 24, 0x1p20, "8KiB",
        "DMA segment in which requests and responses are collected; it must hold the header and the key "
        "of a request (bluecache.dma.segment)"),
    KVC_COUNT_ROW(
        kvc_bluecache_options, "segments", segments, 1, 65536, "128",
        "DMA segments of a host in each direction; a host or card that has used all of them waits until "
        "one has been read (bluecache.dma.segments)"),
    KVC_COUNT_ROW(
        kvc_bluecache_options, "table", table, 1, 1e6, "tags",
        "entries of the table of keys in a card's protocol engine; further requests of its host wait; "
        "tags: as many as the card's flash has tags, which index the table in the authors' program (" PROGRAM
        ": KVStoreCompletionBuffer, TagAlloc)",
        .auto_word = "tags", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_bluecache_options, "call", call_ns, KVC_UNIT_NS, 0, 1e9, "19ns",
        "time that an application thread holds the lock of the DMA segments while it writes a request, "
        "with arrival = clients (measured: mutex, copy and buffer of a GET without contention, on a Xeon "
        "with Redwood Cove at 2.6 GHz)"),
    KVC_REAL_ROW(
        kvc_bluecache_options, "wake", wake_ns, KVC_UNIT_NS, 0, 1e9, "3.8us",
        "time that the response thread takes to wake an application thread, with arrival = clients " SWITCH),
    KVC_REAL_ROW(
        kvc_bluecache_options, "switch", switch_ns, KVC_UNIT_NS, 0, 1e9, "3.8us",
        "time from waking a thread until it runs, with arrival = clients; an interrupt wakes the one that "
        "handles it " SWITCH),
    KVC_REAL_ROW(kvc_bluecache_options, "flush_pause", flush_pause_ns, KVC_UNIT_NS, 0, 1e9, "200us",
                 "time that the flushing thread sleeps after a flush, with arrival = clients (" PROGRAM
                 ": the daemon of the Java client; other versions there sleep 100 us or 10 ms)"),
};

const struct kvc_option_table kvc_bluecache_option_table =
    KVC_OPTION_TABLE(kvc_bluecache_options, option_rows, "system");

/* ---- sizes ---- */

/* The least that a sample must keep: the index, the items of the DRAM store, and the items of the largest
 * class in a slab, whose remainder is lost. */
enum { INDEX_MIN_BYTES = 4096, ITEMS_MIN = 64, SLAB_ITEMS_MIN = 16 };

/* Returns the memory that the structures of a node take [bytes]. */
static double bytes_of_sizes(const struct kvc_bluecache_sizes *sizes)
{
    double page_bytes = sizes->geometry.page_bytes, pages = kvc_bluecache_log_pages(&sizes->geometry);
    return sizes->index_bytes + sizes->dram_bytes + pages * page_bytes + pages / 4 +
           2 * (double)sizes->chunk_pages * page_bytes;
}

double kvc_bluecache_sizes_memory_bytes(const struct kvc_bluecache_sizes *sizes, double keys,
                                        double item_bytes, double log_bytes)
{
    double page_bytes = sizes->geometry.page_bytes, pages = kvc_bluecache_log_pages(&sizes->geometry);
    double written = fmin(ceil(log_bytes / (page_bytes - KVC_FLASH_PAGE_HEADER_BYTES)), pages);
    double unused_bytes = sizes->index_bytes + sizes->dram_bytes + (pages - written) * page_bytes;
    return bytes_of_sizes(sizes) - unused_bytes +
           (double)kvc_pages_random_bytes((uint64_t)sizes->index_bytes, (uint64_t)keys) +
           (double)kvc_pages_front_bytes((uint64_t)sizes->dram_bytes, (uint64_t)(keys * item_bytes));
}

/* Returns the least number of rows of a log. It needs room for two of the largest values, and for a row
 * and four chunks: a page may only be erased when all pages that are programmed at the same time are on
 * flash (flash_log.h). */
static double rows_least(double row_pages, uint32_t chunk_pages, double page_bytes, uint32_t value_max_bytes)
{
    double record_bytes = KVC_FLASH_RECORD_HEADER_BYTES + (double)KVC_BLUECACHE_KEY_MAX + value_max_bytes;
    double record_pages = ceil(record_bytes / (page_bytes - KVC_FLASH_PAGE_HEADER_BYTES));
    double parallel = kvc_bluecache_writer_parallel(chunk_pages);
    return fmax(1 + ceil(2 * parallel / row_pages), fmax(2, ceil(2 * record_pages / row_pages)));
}

/* Returns the sizes that a scenario asks for. */
static struct kvc_bluecache_sizes whole_sizes(const struct kvc_bluecache_options *options,
                                              const struct kvc_flash_geometry *geometry)
{
    return (struct kvc_bluecache_sizes){.index_bytes = options->index_bytes,
                                        .dram_bytes = options->dram_bytes,
                                        .chunk_pages = (uint32_t)options->chunk_pages,
                                        .geometry = *geometry};
}

static enum kvc_status too_little(uint64_t rate, double left, const char *what, double least,
                                  struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "run.sample_rate: found %llu, which leaves %.4g %s; at least %.4g must stay",
                         (unsigned long long)rate, left, what, least);
}

static enum kvc_status sample_dram(const struct kvc_bluecache_sizes *whole,
                                   const struct kvc_workload *workload, uint64_t rate,
                                   struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
{
    double slabs = ceil(whole->dram_bytes / KVC_DRAM_SLAB_BYTES);
    uint32_t item_bytes = kvc_dram_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                                   kvc_workload_value_bytes_max(workload));
    double in_slab = floor(KVC_DRAM_SLAB_BYTES / (double)item_bytes);
    if (slabs <= 0) {
        return KVC_OK;
    }
    if (!kvc_workload_has_one_size(workload)) { /* Several classes share the slabs. */
        sizes->slab_bytes =
            (uint32_t)(KVC_DRAM_SLAB_BYTES / rate / KVC_DRAM_SLAB_HEADER_BYTES) * KVC_DRAM_SLAB_HEADER_BYTES;
        sizes->dram_bytes = slabs * sizes->slab_bytes;
        double left = floor(sizes->slab_bytes / (double)item_bytes);
        return left >= SLAB_ITEMS_MIN
                   ? KVC_OK
                   : too_little(rate, left, "of the largest pairs in a slab of system.dram", SLAB_ITEMS_MIN,
                                diag);
    }
    double items = round(slabs * in_slab / (double)rate);
    double small_slabs = fmax(floor(items / fmax(in_slab, 1)), 1);
    sizes->slab_bytes = (uint32_t)(round(items / small_slabs) * item_bytes);
    sizes->dram_bytes = small_slabs * sizes->slab_bytes;
    return items >= ITEMS_MIN ? KVC_OK : too_little(rate, items, "pairs in system.dram", ITEMS_MIN, diag);
}

static enum kvc_status sample_log(const struct kvc_bluecache_sizes *whole,
                                  const struct kvc_workload *workload, uint64_t rate,
                                  struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
{
    const struct kvc_flash_geometry *geometry = &whole->geometry;
    double pages = kvc_bluecache_log_pages(geometry) / (double)rate;
    double row_pages = fmax(round(pages / geometry->blocks_per_chip), 1), rows = round(pages / row_pages);
    sizes->chunk_pages = (uint32_t)fmax(round(whole->chunk_pages / (double)rate), 1);
    sizes->geometry = (struct kvc_flash_geometry){.buses = 1,
                                                  .chips_per_bus = 1,
                                                  .blocks_per_chip = (uint32_t)rows,
                                                  .pages_per_block = (uint32_t)row_pages,
                                                  .page_bytes = geometry->page_bytes};
    double least = rows_least(row_pages, sizes->chunk_pages, geometry->page_bytes,
                              kvc_workload_value_bytes_max(workload));
    return rows >= least
               ? KVC_OK
               : too_little(rate, rows * row_pages, "pages of system.flash", least * row_pages, diag);
}

/* Sets the sizes of a sample at a rate above 1 for the pairs of the workload. Returns KVC_ERR_SCENARIO if too
 * little is left of one of them. */
static enum kvc_status sample_sizes(const struct kvc_bluecache_sizes *whole,
                                    const struct kvc_workload *workload, uint64_t rate,
                                    struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
{
    *sizes = (struct kvc_bluecache_sizes){.index_bytes = whole->index_bytes / (double)rate};
    if (sizes->index_bytes < INDEX_MIN_BYTES) {
        return too_little(rate, sizes->index_bytes, "bytes of system.index", INDEX_MIN_BYTES, diag);
    }
    enum kvc_status status = sample_dram(whole, workload, rate, sizes, diag);
    return status == KVC_OK ? sample_log(whole, workload, rate, sizes, diag) : status;
}

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

double kvc_bluecache_record_pages(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                                  uint32_t value_bytes)
{
    double room = config->flash->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
    double record = kvc_flash_record_bytes(key_bytes, value_bytes);
    return record <= room ? 1 / floor(room / record) : ceil(record / room);
}

/* Returns the index that keeps the keys of a node [bytes]. */
static double index_bytes_for(double keys)
{
    return KVC_BLUECACHE_BUCKET_BYTES * kvc_hashed_sets_for(keys, KVC_BLUECACHE_WAYS);
}

/* Returns the log that has room for the keys of a node and a tenth more, in whole rows [bytes]. */
static double flash_bytes_for(const struct kvc_workload *workload, const struct kvc_bluecache_config *config,
                              double keys)
{
    const struct kvc_flash *flash = config->flash;
    double row_pages = (double)(kvc_flash_chips(flash) * flash->pages_per_block);
    double pages = 1.1 * keys *
                   kvc_bluecache_record_pages(config, (uint32_t)kvc_workload_key_bytes_mean(workload),
                                              (uint32_t)kvc_workload_value_bytes_mean(workload));
    double least = rows_least(row_pages, (uint32_t)config->options->chunk_pages, flash->page_bytes,
                              config->value_max_bytes);
    return fmax(ceil(pages / row_pages) + 1, least) * row_pages * flash->page_bytes;
}

/* Settles the sizes that the scenario leaves open. The nodes of the configuration are set. */
static void settle_sizes(const struct kvc_scenario *scenario, struct kvc_bluecache_config *config)
{
    struct kvc_bluecache_options *sized = &config->sized;
    double keys = (double)scenario->workload.keys / config->stores;
    config->needed_index_bytes = index_bytes_for(keys);
    config->needed_flash_bytes = flash_bytes_for(&scenario->workload, config, keys);
    sized->index_bytes = sized->index_bytes > 0 ? sized->index_bytes : config->needed_index_bytes;
    double most_bytes = fmin(kvc_flash_bytes(config->flash), 0x1p40);
    sized->flash_bytes =
        sized->flash_bytes > 0 ? sized->flash_bytes : fmin(config->needed_flash_bytes, most_bytes);
}

static enum kvc_status set_log(struct kvc_bluecache_config *config, struct kvc_diag *diag)
{
    const struct kvc_flash *flash = config->flash;
    double row_pages = (double)(kvc_flash_chips(flash) * flash->pages_per_block);
    double row_bytes = row_pages * flash->page_bytes;
    double rows = floor(config->options->flash_bytes / row_bytes);
    double least = rows_least(row_pages, (uint32_t)config->options->chunk_pages, flash->page_bytes,
                              config->value_max_bytes);
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
    const struct kvc_bluecache_sizes whole = whole_sizes(config->options, &config->geometry);
    config->sizes = whole;
    config->sample_rate = 1;
    if (scenario->run.functional == KVC_FUNCTIONAL_SAMPLED) {
        config->sample_rate = kvc_run_sample_rate(&scenario->run, config->stores * bytes_of_sizes(&whole));
    }
    return config->sample_rate > 1
               ? sample_sizes(&whole, &scenario->workload, config->sample_rate, &config->sizes, diag)
               : KVC_OK;
}

enum kvc_status kvc_bluecache_resolve(const struct kvc_scenario *scenario, void *into, struct kvc_diag *diag)
{
    struct kvc_bluecache_config *config = into;
    *config = (struct kvc_bluecache_config){.sized = *(const struct kvc_bluecache_options *)scenario->options,
                                            .options = &config->sized,
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
        settle_sizes(scenario, config);
        status = check_sizes(scenario, config, diag);
    }
    if (status == KVC_OK) {
        status = set_log(config, diag);
    }
    return status == KVC_OK ? set_sizes(scenario, config, diag) : status;
}

enum kvc_status kvc_bluecache_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->workload.frame_requests > 1) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.per_frame: found %llu, allowed is 1, because the host fills its segments itself",
            (unsigned long long)scenario->workload.frame_requests);
    }
    if (scenario->run.functional == KVC_FUNCTIONAL_OFF) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: found \"off\", allowed with bluecache: \"compact\", \"full\" or \"sampled\"; "
            "kvcast predict answers without the structures");
    }
    return KVC_OK;
}
