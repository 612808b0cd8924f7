#include "sim/run/cache_aside.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/workload/keys/popularity_blocks.h"

enum kvc_status kvc_cache_aside_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    if (scenario->workload.action_count == 0) {
        return KVC_OK;
    }
    if (kvc_database_of(&scenario->node) == NULL) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.actions: found %u actions, allowed only with a database behind the cache "
            "(node.database)",
            scenario->workload.action_count);
    }
    if (!kvc_run_is_whole(&scenario->run)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "run.functional: allowed with workload.actions is \"compact\" or \"full\", because a "
            "sample of the keys has not all keys of a member");
    }
    return KVC_OK;
}

double kvc_cache_aside_valid_frac(const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    double valid = 0;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        double gets = workload->get_frac * block.mass;
        valid += gets > 0 ? block.mass * gets / (gets + block.updates) : 0;
    }
    kvc_popularity_blocks_close(&blocks);
    return valid;
}

struct kvc_cache_aside_mix kvc_cache_aside_mix_of(const struct kvc_workload *workload, bool has_database,
                                                  double hit)
{
    double get = workload->get_frac, set = workload->set_frac, delete = fmax(1 - get - set, 0);
    if (!has_database) {
        return (struct kvc_cache_aside_mix){.get = get, .set = set, .delete = delete, .hit = hit};
    }
    struct kvc_action_mix actions;
    kvc_action_mix_open(&actions, workload, NULL); /* kvc_workload_check() has checked it. */
    double queries = get * (1 - hit);
    return (struct kvc_cache_aside_mix){.get = get,
                                        .set = queries,
                                        .delete = delete + set * kvc_action_mix_invalidated(&actions),
                                        .queries = queries,
                                        .updates = set,
                                        .hit = hit};
}

struct kvc_database_load kvc_cache_aside_load_of(const struct kvc_cache_aside_mix *mix,
                                                 const struct kvc_database *database, double keys)
{
    struct kvc_database_load query = kvc_database_load_of(database, false, keys);
    struct kvc_database_load update = kvc_database_load_of(database, true, keys);
    return (struct kvc_database_load){.time_ns = mix->queries * (query.time_ns + database->latency_ns) +
                                                 mix->updates * (update.time_ns + database->latency_ns),
                                      .busy_ns =
                                          mix->queries * query.busy_ns + mix->updates * update.busy_ns};
}

void kvc_invalidations_open(struct kvc_invalidations *invalidations, const struct kvc_source *source,
                            uint64_t seed)
{
    *invalidations = (struct kvc_invalidations){.source = source};
    kvc_rng_init(&invalidations->rng, seed, "cache_aside.invalidations", 0);
}

struct kvc_invalidated kvc_invalidations_draw(struct kvc_invalidations *invalidations, uint64_t key_id)
{
    const struct kvc_action_mix *mix = kvc_source_actions(invalidations->source);
    if (mix->kinds == 0) { /* A trace: the update concerns the key that it names. */
        struct kvc_invalidated own = {.key_id = kvc_array_of(1, sizeof(*own.key_id)), .left = 1};
        own.key_id[0] = key_id;
        return own;
    }
    uint64_t member[KVC_ACTION_MEMBERS_MAX] = {key_id / mix->kinds};
    const uint8_t *members =
        mix->members[kvc_action_draw(mix->update_below, mix->updates, &invalidations->rng)];
    uint32_t most = 1, count = 0;
    for (uint32_t kind = 0; kind < mix->kinds; kind++) {
        most = members[kind] > most ? members[kind] : most;
        count += members[kind];
    }
    kvc_source_draw_other_members(invalidations->source, &invalidations->rng, member, most);
    struct kvc_invalidated drawn = {.key_id = kvc_array_of(count, sizeof(*drawn.key_id))};
    for (uint32_t kind = 0; kind < mix->kinds; kind++) {
        for (uint32_t i = 0; i < members[kind]; i++) {
            drawn.key_id[drawn.left++] = member[i] * mix->kinds + kind;
        }
    }
    return drawn;
}

uint64_t kvc_invalidated_next(struct kvc_invalidated *invalidated)
{
    return invalidated->key_id[--invalidated->left];
}

void kvc_invalidated_free(struct kvc_invalidated *invalidated)
{
    free(invalidated->key_id);
    *invalidated = (struct kvc_invalidated){0};
}
