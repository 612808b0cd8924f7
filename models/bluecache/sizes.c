#include "models/bluecache/sizes.h"

#include <math.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/index.h"
#include "kernels/pages.h"
#include "models/bluecache/writer.h"

/* What must be left at least: index, items of the DRAM store, and items of the largest class in a slab, of
 * which the part that does not fit is lost. */
enum { INDEX_MIN_BYTES = 4096, ITEMS_MIN = 64, SLAB_ITEMS_MIN = 16 };

double kvc_bluecache_sizes_memory_bytes(const struct kvc_bluecache_sizes *sizes, double keys,
                                        double item_bytes)
{
    double unused_bytes = sizes->index_bytes + sizes->dram_bytes;
    return kvc_bluecache_sizes_bytes(sizes) - unused_bytes +
           (double)kvc_pages_random_bytes((uint64_t)sizes->index_bytes, (uint64_t)keys) +
           (double)kvc_pages_front_bytes((uint64_t)sizes->dram_bytes, (uint64_t)(keys * item_bytes));
}

double kvc_bluecache_sizes_bytes(const struct kvc_bluecache_sizes *sizes)
{
    double page_bytes = sizes->geometry.page_bytes, pages = kvc_bluecache_log_pages(&sizes->geometry);
    return sizes->index_bytes + sizes->dram_bytes + pages * page_bytes + pages / 4 +
           2 * (double)sizes->chunk_pages * page_bytes;
}

double kvc_bluecache_rows_least(double row_pages, uint32_t chunk_pages, double page_bytes,
                                uint32_t value_max_bytes)
{
    double record_bytes = KVC_FLASH_RECORD_HEADER_BYTES + (double)KVC_BLUECACHE_KEY_MAX + value_max_bytes;
    double record_pages = ceil(record_bytes / (page_bytes - KVC_FLASH_PAGE_HEADER_BYTES));
    double parallel = kvc_bluecache_writer_parallel(chunk_pages);
    return fmax(1 + ceil(2 * parallel / row_pages), fmax(2, ceil(2 * record_pages / row_pages)));
}

struct kvc_bluecache_sizes kvc_bluecache_whole_sizes(const struct kvc_bluecache_options *options,
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

static enum kvc_status set_dram(const struct kvc_bluecache_sizes *whole, const struct kvc_workload *workload,
                                uint64_t rate, struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
{
    double slabs = ceil(whole->dram_bytes / KVC_DRAM_SLAB_BYTES);
    uint32_t item_bytes = kvc_dram_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                                   kvc_workload_value_bytes_max(workload));
    double in_slab = floor(KVC_DRAM_SLAB_BYTES / (double)item_bytes);
    if (slabs <= 0) {
        return KVC_OK;
    }
    if (workload->sizes != KVC_SIZES_FIXED) { /* Several classes share the slabs. */
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

static enum kvc_status set_log(const struct kvc_bluecache_sizes *whole, const struct kvc_workload *workload,
                               uint64_t rate, struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
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
    double least = kvc_bluecache_rows_least(row_pages, sizes->chunk_pages, geometry->page_bytes,
                                            kvc_workload_value_bytes_max(workload));
    return rows >= least
               ? KVC_OK
               : too_little(rate, rows * row_pages, "pages of system.flash", least * row_pages, diag);
}

enum kvc_status kvc_bluecache_sample_sizes(const struct kvc_bluecache_sizes *whole,
                                           const struct kvc_workload *workload, uint64_t rate,
                                           struct kvc_bluecache_sizes *sizes, struct kvc_diag *diag)
{
    *sizes = (struct kvc_bluecache_sizes){.index_bytes = whole->index_bytes / (double)rate};
    if (sizes->index_bytes < INDEX_MIN_BYTES) {
        return too_little(rate, sizes->index_bytes, "bytes of system.index", INDEX_MIN_BYTES, diag);
    }
    enum kvc_status status = set_dram(whole, workload, rate, sizes, diag);
    return status == KVC_OK ? set_log(whole, workload, rate, sizes, diag) : status;
}
