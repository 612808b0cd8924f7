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

double kvc_bluecache_dram_ns(const struct kvc_bluecache_config *config, enum kvc_op op, uint8_t place,
                             uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_dram *dram = config->dram;
    double pair = (double)key_bytes + value_bytes;
    bool found = op == KVC_OP_SET || place != KVC_BLUECACHE_IN_NONE;
    double accesses = found ? 2 : 1; /* The bucket: read, and written with its timestamp or new entry. */
    double ns = 0;
    if (op != KVC_OP_DELETE && place == KVC_BLUECACHE_IN_DRAM) {
        accesses += 1; /* The item's header: written by a SET, stamped by a GET. */
        ns = kvc_dram_object_ns(dram, ceil((KVC_DRAM_SLAB_HEADER_BYTES + pair) / dram->line_bytes));
    } else if (op == KVC_OP_SET || (op == KVC_OP_GET && place == KVC_BLUECACHE_IN_BUFFER)) {
        ns = ceil((KVC_FLASH_RECORD_HEADER_BYTES + pair) / dram->line_bytes) * dram->next_line_ns;
    }
    return ns + accesses * dram->random_line_ns;
}

uint32_t kvc_bluecache_pages(const struct kvc_bluecache_config *config, uint32_t key_bytes,
                             uint32_t value_bytes)
{
    double room = config->flash->page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
    return (uint32_t)ceil((KVC_FLASH_RECORD_HEADER_BYTES + (double)key_bytes + value_bytes) / room);
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
