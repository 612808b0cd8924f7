#include "kernels/megakv/cuckoo.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/megakv/cuckoo_internal.h"
#include "kernels/pages.h"

enum {
    DISPLACEMENTS_MAX = 1000,
    PARTITIONS_MAX = 1024,
};

static void cuckoo_free(struct kvc_index *index)
{
    struct kvc_megakv_cuckoo *table = kvc_megakv_cuckoo_table_of(index);
    kvc_pages_free(table->words, table->bytes);
    free(table->chain);
    kvc_pages_free(table, sizeof(*table));
}

static uint64_t cuckoo_capacity(const struct kvc_index *index)
{
    return ((const struct kvc_megakv_cuckoo *)index)->bytes / 8;
}

static uint64_t cuckoo_used(const struct kvc_index *index)
{
    return ((const struct kvc_megakv_cuckoo *)index)->used;
}

static const struct kvc_index_ops cuckoo_ops = {
    .free = cuckoo_free,
    .search = kvc_megakv_cuckoo_search,
    .insert = kvc_megakv_cuckoo_insert,
    .erase = kvc_megakv_cuckoo_erase,
    .capacity = cuckoo_capacity,
    .used = cuckoo_used,
};

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

bool kvc_megakv_cuckoo_params_complete(struct kvc_megakv_cuckoo_params *params,
                                       struct kvc_megakv_cuckoo_layout_masks *masks)
{
    params->slots = params->slots != 0 ? params->slots : KVC_MEGAKV_CUCKOO_SLOTS;
    params->partitions = params->partitions != 0 ? params->partitions : 1;
    uint32_t slots = params->slots;
    if ((slots != 4 && slots != 8 && slots != 16 && slots != 32) || !is_power_of_two(params->bytes) ||
        params->bytes > UINT64_C(32) << 30 || params->bytes < (uint64_t)slots * 8 * params->partitions ||
        !is_power_of_two(params->partitions) || params->partitions > PARTITIONS_MAX ||
        (params->layout != KVC_MEGAKV_CUCKOO_APART && params->layout != KVC_MEGAKV_CUCKOO_INTERLEAVED) ||
        (params->threads != 0 && (!is_power_of_two(params->threads) || params->threads > slots)) ||
        params->max_displacements > DISPLACEMENTS_MAX) {
        return false;
    }
    uint64_t buckets = params->bytes / 8 / slots;
    masks->bucket = (uint32_t)(buckets - 1);
    masks->alternate = (uint32_t)(buckets / params->partitions - 1);
    return true;
}

struct kvc_index *kvc_megakv_cuckoo_create(const struct kvc_megakv_cuckoo_params *given)
{
    struct kvc_megakv_cuckoo_params params = *given;
    struct kvc_megakv_cuckoo_layout_masks masks;
    if (params.threads != 0 || !kvc_megakv_cuckoo_params_complete(&params, &masks)) {
        errno = EINVAL;
        return NULL;
    }
    /* A GPU that shares the table maps the page of its counter (shared_cuda.h). */
    struct kvc_megakv_cuckoo *table = kvc_pages_alloc(sizeof(*table));
    if (table == NULL) {
        return NULL;
    }
    *table =
        (struct kvc_megakv_cuckoo){.index = {&cuckoo_ops},
                                   .bytes = params.bytes,
                                   .masks = masks,
                                   .shape = {params.slots, params.layout == KVC_MEGAKV_CUCKOO_APART, false},
                                   .max_displacements = params.max_displacements,
                                   .published_displacement = params.published_displacement,
                                   .random = params.seed};
#ifdef KVC_MEGAKV_CUCKOO_SSE2
    uint32_t slots =
        table->shape.apart ? kvc_megakv_cuckoo_published.slots : kvc_megakv_cuckoo_one_sector.slots;
    table->shape.simd = !params.portable && params.slots == slots;
#endif
    table->chain = calloc(params.max_displacements + 1, sizeof(*table->chain));
    table->words = kvc_pages_alloc(params.bytes);
    if (table->chain == NULL || table->words == NULL) {
        cuckoo_free(&table->index);
        errno = ENOMEM;
        return NULL;
    }
    return &table->index;
}

static struct kvc_index *create_published(uint64_t bytes, uint64_t seed)
{
    return kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = bytes, .max_displacements = 200, .seed = seed});
}

static struct kvc_index *create_interleaved(uint64_t bytes, uint64_t seed)
{
    return kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = bytes,
                                           .layout = KVC_MEGAKV_CUCKOO_INTERLEAVED,
                                           .slots = 4,
                                           .max_displacements = 200,
                                           .seed = seed});
}

const struct kvc_index_kind kvc_megakv_cuckoo_kind = {
    .name = "megakv-cuckoo",
    .source = "Mega-KV, VLDB J. 26(5) 2017, sec. 4",
    .partial = true,
    .many_readers = true,
    .create = create_published,
};

const struct kvc_index_kind kvc_megakv_cuckoo_interleaved_kind = {
    .name = "cuckoo-interleaved",
    .source = "Mega-KV's cuckoo, slots of signature and location in one sector",
    .partial = true,
    .many_readers = true,
    .create = create_interleaved,
};
