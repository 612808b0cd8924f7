#include "sim/workload/keys/tenant_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/base/rng.h"
#include "sim/workload/batch.h"
#include "sim/workload/keys/zipf_sums.h"

double kvc_tenants_share(const struct kvc_tenant *tenants, uint32_t count, uint32_t number)
{
    double sum_mops = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum_mops += tenants[i].rate_mops;
    }
    return tenants[number].rate_mops / sum_mops;
}

double kvc_tenants_op_frac(const struct kvc_tenant *tenant, int op)
{
    return op == KVC_OP_GET      ? tenant->get_frac
           : op == KVC_OP_DELETE ? tenant->delete_frac
                                 : fmax(1 - tenant->get_frac - tenant->delete_frac, 0);
}

double kvc_tenants_mark(const struct kvc_tenant *tenants, uint32_t count)
{
    uint64_t mark = count;
    for (uint32_t i = 0; i < count; i++) {
        const double part[] = {kvc_tenants_share(tenants, count, i), (double)tenants[i].keys,
                               tenants[i].zipf_s};
        for (size_t k = 0; k < sizeof(part) / sizeof(*part); k++) {
            uint64_t bits;
            memcpy(&bits, &part[k], sizeof(bits));
            mark = kvc_mix64(mark ^ bits);
        }
    }
    return (double)(mark >> 11) * 0x1.0p-53;
}

/* The blocks of a tenant that are not listed yet. */
struct queue {
    struct kvc_zipf_sums *zipf; /* NULL: all keys are equally popular. */
    double share, zipf_sum;     /* Share of all requests; sum over all ranks. */
    double mass_before; /* Share of the tenant's requests that are for the blocks before the next one. */
    uint32_t blocks;    /* Number of these blocks. */
    struct kvc_tenant_block next;
};

/* Goes on to the next block, which has no keys after the last one. */
static void advance(struct queue *queue, uint64_t keys)
{
    struct kvc_tenant_block *next = &queue->next;
    next->first_rank += next->keys;
    uint64_t left = keys - next->first_rank, width = left;
    double mass = 1;
    if (queue->zipf != NULL && kvc_zipf_sums_width(next->first_rank) < left) {
        width = kvc_zipf_sums_width(next->first_rank);
        mass = kvc_zipf_sums_to_block(queue->zipf, queue->blocks) / queue->zipf_sum;
    }
    next->keys = width;
    next->mass = queue->share * (mass - queue->mass_before);
    queue->mass_before = mass;
    queue->blocks++;
}

static void open_queue(struct queue *queue, const struct kvc_tenant *tenant, uint32_t number, double share)
{
    *queue = (struct queue){.share = share, .next = {.tenant = number}};
    if (tenant->zipf_s > 0) {
        queue->zipf = kvc_zipf_sums_open(tenant->zipf_s);
        queue->zipf_sum = kvc_zipf_sums_to(queue->zipf, tenant->keys);
    }
    advance(queue, tenant->keys);
}

/* Returns the tenant whose next keys are the most popular, the first of several; `count`: there are no more.
 */
static uint32_t most_popular(const struct queue *queue, uint32_t count)
{
    uint32_t found = count;
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double each = queue[i].next.keys > 0 ? queue[i].next.mass / (double)queue[i].next.keys : -INFINITY;
        if (each > most) {
            found = i;
            most = each;
        }
    }
    return found;
}

static void list_blocks(struct kvc_tenant_keys *keys, const struct kvc_tenant *tenants, uint32_t count)
{
    struct queue queue[KVC_TENANTS_MAX];
    uint64_t first = 0;
    keys->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        open_queue(&queue[i], &tenants[i], i, kvc_tenants_share(tenants, count, i));
    }
    for (uint32_t tenant; (tenant = most_popular(queue, count)) < count;) {
        if (keys->count == keys->room) {
            keys->room = keys->room > 0 ? 2 * keys->room : 1024;
            keys->block = kvc_array_grown(keys->block, keys->room, sizeof(*keys->block));
        }
        struct kvc_tenant_block *block = &keys->block[keys->count++];
        *block = queue[tenant].next;
        block->first = first;
        first += block->keys;
        advance(&queue[tenant], tenants[tenant].keys);
    }
    for (uint32_t i = 0; i < count; i++) {
        kvc_zipf_sums_close(queue[i].zipf);
    }
}

/* Lists the blocks by tenant. */
static void index_blocks(struct kvc_tenant_keys *keys)
{
    memset(keys->of_count, 0, sizeof(keys->of_count));
    for (uint32_t i = 0; i < keys->count; i++) {
        keys->of_count[keys->block[i].tenant]++;
    }
    for (uint32_t i = 0; i < KVC_TENANTS_MAX; i++) {
        keys->of[i] = kvc_array_grown(keys->of[i], keys->of_count[i] + 1, sizeof(*keys->of[i]));
        keys->of_count[i] = 0;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        uint32_t tenant = keys->block[i].tenant;
        keys->of[tenant][keys->of_count[tenant]++] = i;
    }
}

const struct kvc_tenant_keys *kvc_tenant_keys_of(const struct kvc_tenant *tenants, uint32_t count)
{
    static _Thread_local struct kvc_kept kept;
    const double argument[] = {kvc_tenants_mark(tenants, count)};
    bool found;
    struct kvc_tenant_keys *keys = kvc_kept_of(&kept, argument, 1, true, sizeof(*keys), &found);
    if (!found) {
        list_blocks(keys, tenants, count);
        index_blocks(keys);
    }
    return keys;
}

struct kvc_tenant_keys *kvc_tenant_keys_copy(const struct kvc_tenant_keys *keys)
{
    struct kvc_tenant_keys *copy = kvc_array_of(1, sizeof(*copy));
    copy->count = copy->room = keys->count;
    copy->block = kvc_array_of(keys->count, sizeof(*copy->block));
    memcpy(copy->block, keys->block, keys->count * sizeof(*copy->block));
    index_blocks(copy);
    return copy;
}

void kvc_tenant_keys_free(struct kvc_tenant_keys *keys)
{
    for (uint32_t i = 0; keys != NULL && i < KVC_TENANTS_MAX; i++) {
        free(keys->of[i]);
    }
    if (keys != NULL) {
        free(keys->block);
    }
    free(keys);
}

void kvc_tenant_keys_to_ids(const struct kvc_tenant_keys *keys, uint32_t tenant, uint64_t *rank,
                            uint32_t count)
{
    const uint32_t *of = keys->of[tenant];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = 0, high = keys->of_count[tenant];
        while (high - low > 1) {
            uint32_t middle = (low + high) / 2;
            bool at_or_behind = rank[i] >= keys->block[of[middle]].first_rank;
            low = at_or_behind ? middle : low;
            high = at_or_behind ? high : middle;
        }
        const struct kvc_tenant_block *block = &keys->block[of[low]];
        rank[i] += block->first - block->first_rank;
    }
}

const struct kvc_tenant_block *kvc_tenant_keys_block(const struct kvc_tenant_keys *keys, uint64_t key_id)
{
    uint32_t low = 0, high = keys->count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        bool at_or_behind = key_id >= keys->block[middle].first;
        low = at_or_behind ? middle : low;
        high = at_or_behind ? high : middle;
    }
    return &keys->block[low];
}
