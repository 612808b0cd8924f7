#include "models/bluecache/costs.h"

#include <math.h>

#include "kernels/bluecache/dram_slab.h"
#include "kernels/bluecache/flash_page.h"
#include "kernels/bluecache/store.h"

uint32_t kvc_bluecache_request_bytes(enum kvc_op op, uint32_t key_bytes, uint32_t value_bytes)
{
    return KVC_BLUECACHE_HEADER_BYTES + key_bytes + (op == KVC_OP_SET ? value_bytes : 0);
}

uint32_t kvc_bluecache_response_bytes(enum kvc_op op, bool hit, uint32_t value_bytes)
{
    return KVC_BLUECACHE_HEADER_BYTES + (op == KVC_OP_GET && hit ? value_bytes : 0);
}

/* Returns the time of a write to a new place: a read's time and the extra time in which its row closes. */
static double write_ns(const struct kvc_dram *dram)
{
    double longer_ns = kvc_dram_has_timing(dram) ? dram->write_cycle_ns - dram->row_cycle_ns : 0;
    return dram->random_line_ns + fmax(longer_ns, 0);
}

double kvc_bluecache_dram_ns(const struct kvc_bluecache_config *config, enum kvc_op op, uint8_t place,
                             uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_dram *dram = config->dram;
    double pair = (double)key_bytes + value_bytes, ns = dram->random_line_ns; /* The bucket is read. */
    if (op != KVC_OP_SET && place == KVC_BLUECACHE_IN_NONE) {
        return ns;
    }
    ns += write_ns(dram); /* The entry's timestamp, or a new entry, is written. */
    if (op != KVC_OP_DELETE && place == KVC_BLUECACHE_IN_DRAM) {
        double lines = ceil((KVC_DRAM_SLAB_HEADER_BYTES + pair) / dram->line_bytes);
        /* A SET writes the item's header, a GET its timestamp; then the pair follows. */
        ns += write_ns(dram) + (lines - 1) * dram->next_line_ns +
              (op == KVC_OP_SET ? write_ns(dram) : dram->random_line_ns);
    } else if (op == KVC_OP_SET || (op == KVC_OP_GET && place == KVC_BLUECACHE_IN_BUFFER)) {
        ns += ceil((KVC_FLASH_RECORD_HEADER_BYTES + pair) / dram->line_bytes) * dram->next_line_ns;
    }
    return ns;
}

uint32_t kvc_bluecache_pages(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                             uint32_t value_bytes)
{
    double room = config->flash->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
    return (uint32_t)ceil((KVC_FLASH_RECORD_HEADER_BYTES + (double)key_bytes + value_bytes) / room);
}

double kvc_bluecache_fetched_bytes(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                                   uint32_t value_bytes)
{
    double record = KVC_FLASH_RECORD_HEADER_BYTES + (double)key_bytes + value_bytes;
    bool whole = kvc_bluecache_pages(config, key_bytes, value_bytes) > 1;
    return whole ? config->flash->page_bytes : kvc_flash_fetched_bytes(config->flash, record);
}

double kvc_bluecache_in_ns(const struct kvc_bluecache_config *config, double bytes)
{
    return bytes / config->pcie->h2d_bytes_per_s * 1e9;
}

double kvc_bluecache_out_ns(const struct kvc_bluecache_config *config, double bytes)
{
    return bytes / config->pcie->d2h_bytes_per_s * 1e9;
}

double kvc_bluecache_edge_ns(const struct kvc_bluecache_config *config, double bytes)
{
    return bytes / config->edge_bytes_per_s * 1e9;
}

static double hop_ns(const struct kvc_bluecache_config *config, bool payload)
{
    return (payload ? (double)config->fabric->messages : 1) * config->fabric->hop_ns;
}

double kvc_bluecache_request_hop_ns(const struct kvc_bluecache_config *config, enum kvc_op op)
{
    return hop_ns(config, op == KVC_OP_SET);
}

double kvc_bluecache_response_hop_ns(const struct kvc_bluecache_config *config, enum kvc_op op, bool hit)
{
    return hop_ns(config, op == KVC_OP_GET && hit);
}
