#include "sim/workload/keys/popularity_blocks.h"

#include <math.h>

#include "sim/base/memo.h"
#include "sim/workload/keys/tenant_keys.h"

void kvc_popularity_blocks_open(struct kvc_popularity_blocks *blocks, const struct kvc_workload *workload)
{
    bool zipf = workload->popularity == KVC_POPULARITY_ZIPF;
    *blocks = (struct kvc_popularity_blocks){.keys = workload->keys,
                                             .update_frac = workload->set_frac + workload->delete_frac};
    kvc_action_mix_open(&blocks->actions, workload, NULL); /* kvc_workload_check() has checked it. */
    blocks->members = workload->keys / blocks->actions.kinds;
    if (zipf) {
        blocks->zipf = kvc_zipf_sums_open(workload->zipf_s);
        blocks->zipf_sum = kvc_zipf_sums_to(blocks->zipf, blocks->members);
    } else if (workload->popularity == KVC_POPULARITY_TENANTS) {
        blocks->tenants = kvc_tenant_keys_of(workload->tenants, workload->tenant_count);
    }
}

void kvc_popularity_blocks_close(struct kvc_popularity_blocks *blocks)
{
    kvc_zipf_sums_close(blocks->zipf);
}

/* Goes on to the next block of members. */
static bool next_members(struct kvc_popularity_blocks *blocks)
{
    uint64_t first = blocks->first = blocks->next, last = blocks->members;
    if (first >= blocks->members) {
        blocks->next = 0;
        blocks->block = 0;
        blocks->mass_before = 0;
        return false;
    }
    double mass = 1;
    if (blocks->tenants != NULL) {
        const struct kvc_tenant_block *block = &blocks->tenants->block[blocks->block++];
        last = first + block->keys;
        mass = blocks->mass_before + block->mass;
    } else if (blocks->zipf != NULL) {
        uint64_t end = first + kvc_zipf_sums_width(first);
        if (end < blocks->members) {
            last = end;
            mass = kvc_zipf_sums_to_block(blocks->zipf, blocks->block++) / blocks->zipf_sum;
        }
    }
    blocks->mass = mass - blocks->mass_before;
    blocks->next = last;
    blocks->mass_before = mass;
    return true;
}

bool kvc_popularity_blocks_next(struct kvc_popularity_blocks *blocks, struct kvc_popularity_block *block)
{
    const struct kvc_action_mix *actions = &blocks->actions;
    uint32_t kind = blocks->kind;
    if (kind == 0 && !next_members(blocks)) {
        return false;
    }
    *block = (struct kvc_popularity_block){
        .keys = (double)(blocks->next - blocks->first),
        .mass = blocks->mass * actions->read_frac[kind],
        .updates = blocks->mass * blocks->update_frac * kvc_action_mix_invalidated_of(actions, kind),
    };
    blocks->kind = (kind + 1) % actions->kinds;
    return true;
}

static double find_mass(const struct kvc_workload *workload, double keys)
{
    struct kvc_popularity_blocks blocks;
    kvc_popularity_blocks_open(&blocks, workload);
    double mass = 0, left = keys / blocks.actions.kinds;
    while (left > 0 && next_members(&blocks)) {
        double members = (double)(blocks.next - blocks.first);
        mass += blocks.mass * fmin(left / members, 1);
        left -= members;
    }
    kvc_popularity_blocks_close(&blocks);
    return fmin(mass, 1);
}

double kvc_popularity_mass(const struct kvc_workload *workload, double keys)
{
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {(double)workload->keys, workload->popularity, workload->zipf_s,
                               kvc_action_kinds(workload), keys};
    double mass;
    if (!kvc_memo_find(&memo, argument, &mass)) {
        mass = find_mass(workload, keys);
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), mass);
    }
    return mass;
}
