#include "models/composed/closed_form/mix.h"

#include <math.h>
#include <string.h>

#include "models/composed/closed_form/tier.h"
#include "models/composed/closed_form/waits.h"
#include "models/shards/cache.h"
#include "sim/base/seeds.h"
#include "sim/workload/keys/hottest_shard.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"
#include "sim/workload/keys/set_cache.h"

enum { MOMENTS = 8 /* Shares are means over this number of moments of the measured time. */ };

/* Returns how many requests of a load came until a moment of the measured time. */
static double requests_until(const struct kvc_scenario *scenario, double per_ns, int moment)
{
    const struct kvc_run *run = &scenario->run;
    return per_ns * (fmax(run->warmup_ns, 0) + run->duration_ns * (moment + 0.5) / MOMENTS);
}

/* Returns the share of the GETs that a store of `items` items answers after `requests` requests: keys of the
 * preload, of which the most popular ones are the newest, and those that SETs, or GETs that missed, have
 * brought since, without those that were deleted last. The oldest items of a log make room; other stores keep
 * what is popular. */
static double hit_frac_after(const struct kvc_scenario *scenario, const struct kvc_set_cache *keys,
                             double items, double requests)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double stored = floor(workload->preload_frac * (double)workload->keys), hits = 0;
    double fill_frac = config->fills ? workload->get_frac : 0, brings_frac = workload->set_frac + fill_frac;
    double missed_frac = config->fills ? 1 - kvc_popularity_mass(workload, fmin(stored, items)) : 0;
    double appends = workload->set_frac + fill_frac * missed_frac, written = fmin(appends * requests, items);
    double left = fmin(stored, config->logs ? items - written : items);
    double since = config->logs && appends > 0 ? written / appends : requests;
    double changes_frac = brings_frac + workload->delete_frac;
    double brought_frac = changes_frac > 0 ? brings_frac / changes_frac : 0;
    for (uint32_t i = 0; i < keys->blocks; i++) {
        const struct kvc_popularity_block *block = &keys->block[i].keys;
        double preloaded = fmin(fmax(left, 0) / block->keys, 1);
        double unchanged = exp(-changes_frac * block->mass / block->keys * since);
        hits += block->mass * (brought_frac + (preloaded - brought_frac) * unchanged);
        left -= block->keys;
    }
    return hits;
}

/* Returns the share of the GETs that a store of `items` items answers within the measured time. */
static double recent_hit_frac(const struct kvc_scenario *scenario, double items, double per_ns)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double stored = floor(workload->preload_frac * (double)workload->keys), hits = 0;
    struct kvc_set_cache keys;
    kvc_set_cache_list(&keys, workload);
    for (int i = 0; i < MOMENTS; i++) {
        hits += hit_frac_after(scenario, &keys, items, requests_until(scenario, per_ns, i)) / MOMENTS;
    }
    kvc_set_cache_close(&keys);
    if (config->fills && (double)workload->keys > items) { /* What LRU would keep in the long run. */
        const struct kvc_reuse reuse = {.bytes_per_key = 1, .footprint_bytes = (double)workload->keys};
        double kept = kvc_reuse_share(workload, &reuse, items);
        hits = fmin(hits, fmax(kept, kvc_popularity_mass(workload, fmin(stored, items))));
    }
    return hits;
}

/* Returns to which share the index is full when the run begins; 0: there is none. */
static double load_frac_of(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double keys = (double)scenario->workload.keys / config->shards;
    return config->index != NULL ? fmin(fmin(keys, kvc_composed_items(config)) / config->slots, 1) : 0;
}

static double hit_frac_of(const struct kvc_scenario *scenario, double load_frac, double per_ns)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    if (config->index == NULL) {
        return 1;
    }
    double items = config->has_values ? floor(config->value_bytes / config->means.item_bytes) : config->slots;
    bool indexed = config->logs && (double)workload->keys <= config->shards * config->slots;
    items = config->shards * (indexed ? items : fmin(items, config->slots)); /* A log has dead ones, too. */
    bool deletes = workload->delete_frac > 0 && (double)workload->keys <= items;
    bool recent = (config->logs || config->fills || deletes) && workload->arrival != KVC_ARRIVAL_TRACE;
    double held = recent ? recent_hit_frac(scenario, items, per_ns)
                         : kvc_shards_hit_frac(workload, config->shards * config->slots, items);
    return held * kvc_composed_index_lines(config->index, kvc_composed_pairs_of(config), load_frac).kept;
}

double kvc_composed_sent_per_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    double mops = kvc_workload_has_rate(workload) ? kvc_workload_rate_max_mops(workload) : 0;
    return mops * 1e-3 / kvc_composed_config_of(scenario)->shards;
}

struct kvc_composed_expected kvc_composed_expect(const struct kvc_scenario *scenario, double per_ns,
                                                 const struct kvc_composed_copying *copying)
{
    struct kvc_composed_expected expected = {.load_frac = load_frac_of(scenario)};
    double shards = kvc_composed_config_of(scenario)->shards;
    expected.hit_frac = hit_frac_of(scenario, expected.load_frac, shards * per_ns);
    expected.hot_frac = kvc_composed_hot_frac(scenario, expected.hit_frac, per_ns, copying);
    return expected;
}

/* ---- the mean request ---- */

static void add_sample(struct kvc_composed_mix *mix, const struct kvc_composed_config *config,
                       const struct kvc_shards_size_sample *sample)
{
    static const enum kvc_op ops[KVC_COMPOSED_KINDS] = {KVC_OP_GET, KVC_OP_GET, KVC_OP_GET, KVC_OP_SET,
                                                        KVC_OP_DELETE};
    double key_bytes = sample->key_bytes, value_bytes = sample->value_bytes;
    double in = config->nic != NULL ? (double)config->nic->request_header_bytes : 0;
    double out = config->nic != NULL ? (double)config->nic->response_header_bytes : 0;
    for (int class = 0; class < KVC_COMPOSED_KINDS; class ++) {
        struct kvc_composed_counts *kind = &mix->kind[class][value_bytes >= config->options->large_bytes];
        enum kvc_op op = ops[class];
        const struct kvc_composed_expected *expected = &mix->expected;
        double share = sample->requests[op] * (class == KVC_COMPOSED_KIND_HOTS ? expected->hot_frac
                                               : class == KVC_COMPOSED_KIND_HITS
                                                   ? expected->hit_frac - expected->hot_frac
                                               : class == KVC_COMPOSED_KIND_MISSES ? 1 - expected->hit_frac
                                                                                   : 1);
        bool hit = class == KVC_COMPOSED_KIND_HOTS || class == KVC_COMPOSED_KIND_HITS,
             set = class == KVC_COMPOSED_KIND_SETS;
        double touched_bytes = kvc_shards_touched_bytes(sample->key_bytes, sample->value_bytes);
        kind->requests += share;
        kind->ops[op] += share;
        kind->hits += hit ? share : 0;
        kind->hots += class == KVC_COMPOSED_KIND_HOTS ? share : 0;
        kind->op_bytes[op] += share * (key_bytes + (hit || set ? value_bytes : 0));
        kind->request_bytes += share * (in + key_bytes + (set ? value_bytes : 0));
        kind->response_bytes += share * (out + (hit ? value_bytes : 0));
        mix->missed_bytes[value_bytes >= config->options->large_bytes] +=
            class == KVC_COMPOSED_KIND_MISSES ? share * value_bytes : 0;
        kind->written_bytes += set || class == KVC_COMPOSED_KIND_HITS || class == KVC_COMPOSED_KIND_MISSES
                                   ? share * touched_bytes
                                   : 0;
        kind->items += hit ? share : 0;
        kind->item_lines +=
            hit ? share * kvc_shards_item_lines(config->dram, sample->key_bytes, sample->value_bytes) : 0;
    }
}

/* Returns the requests of the fullest pipeline over the mean. Saturating clients choose pipelines that are
 * free, and connections of a closed loop whose pipeline is full do not keep those of others waiting. */
static double fullest_of(const struct kvc_scenario *scenario, double shard_frac)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double fullest = 1, pipelines = config->pipelines;
    if (config->options->spread == KVC_COMPOSED_BY_KEY) {
        fullest = pipelines / shard_frac *
                  kvc_hottest_shard_frac(workload, (uint32_t)scenario->cluster.nodes,
                                         (uint32_t)scenario->node.sockets * config->pipelines,
                                         (uint32_t)scenario->cluster.virtual_nodes);
    } else if (config->options->spread == KVC_COMPOSED_BY_CONNECTION && config->on_network &&
               !kvc_workload_clients_wait(workload)) {
        struct kvc_rss_params params = kvc_nic_rss_params(config->nic, config->pipelines);
        params.clients = kvc_workload_flows(workload);
        params.connections = kvc_workload_connections(workload);
        params.seed = kvc_seed_of_replica(scenario->run.seed, 0);
        struct kvc_rss *rss = kvc_rss_open(&params, NULL); /* kvc_composed_check() has checked the queues. */
        fullest = pipelines * (rss != NULL ? kvc_rss_hottest_frac(rss) : 1);
        kvc_rss_close(rss);
    }
    return fmax(fullest, 1);
}

/* Returns the items that the slabs of a socket take when the run begins before they evict others. */
static double spare_items_of(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    if (!config->has_values || config->logs) {
        return INFINITY;
    }
    double items = floor(config->value_bytes / config->means.item_bytes);
    return fmax(items - scenario->workload.preload_frac * config->keys, 0);
}

double kvc_composed_full_ns(const struct kvc_composed_mix *mix, double per_ns)
{
    double written = 0;                                    /* By a request. */
    for (size_t i = 0; i < KVC_COMPOSED_STAGES_MAX; i++) { /* Stages that are not there do nothing. */
        written = fmax(written, mix->of->all[i].inserts);
    }
    return written > 0 ? mix->spare_items / (written * per_ns) : INFINITY;
}

void kvc_composed_mix_evict(struct kvc_composed_mix *mix, double per_ns)
{
    double full_ns = kvc_composed_full_ns(mix, per_ns) - mix->warmup_ns;
    mix->evicts_frac = fmin(fmax(1 - full_ns / mix->run_ns, 0), 1);
}

bool kvc_composed_mix_meets(int class, bool large, uint32_t when)
{
    static const uint32_t is[KVC_COMPOSED_KINDS] = {
        KVC_COMPOSED_WHEN_GET | KVC_COMPOSED_WHEN_HIT | KVC_COMPOSED_WHEN_HOT,
        KVC_COMPOSED_WHEN_GET | KVC_COMPOSED_WHEN_HIT | KVC_COMPOSED_WHEN_COLD,
        KVC_COMPOSED_WHEN_GET | KVC_COMPOSED_WHEN_MISS | KVC_COMPOSED_WHEN_COLD,
        KVC_COMPOSED_WHEN_SET | KVC_COMPOSED_WHEN_COLD, KVC_COMPOSED_WHEN_DELETE | KVC_COMPOSED_WHEN_COLD};
    static const uint32_t kinds[] = {KVC_COMPOSED_WHEN_GET | KVC_COMPOSED_WHEN_SET | KVC_COMPOSED_WHEN_DELETE,
                                     KVC_COMPOSED_WHEN_HIT | KVC_COMPOSED_WHEN_MISS,
                                     KVC_COMPOSED_WHEN_LARGE | KVC_COMPOSED_WHEN_SMALL,
                                     KVC_COMPOSED_WHEN_HOT | KVC_COMPOSED_WHEN_COLD};
    uint32_t has = is[class] | (large ? KVC_COMPOSED_WHEN_LARGE : KVC_COMPOSED_WHEN_SMALL);
    bool met = true;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        met = met && ((when & kinds[i]) == 0 || (when & kinds[i] & has) != 0);
    }
    return met;
}

/* Whether GETs of a route that miss have their values in front of a stage: an earlier one asks the database
 * for them. */
static bool is_fetched(const struct kvc_composed_config *config, uint32_t stage, bool large, uint32_t route)
{
    for (uint32_t i = 0; i < stage; i++) {
        uint32_t when = config->stage[i].when;
        if (config->stage[i].place == KVC_COMPOSED_DATABASE && kvc_composed_is_on(when, route) &&
            kvc_composed_mix_meets(KVC_COMPOSED_KIND_MISSES, large, when)) {
            return true;
        }
    }
    return false;
}

/* Adds what a stage copies of the requests of a kind. */
static void add_items(const struct kvc_composed_config *config, struct kvc_composed_counts *counts,
                      const struct kvc_composed_counts *kind, int class, uint32_t does)
{
    uint32_t reads = class == KVC_COMPOSED_KIND_HOTS ? KVC_COMPOSED_HOT_READ
                     : class == KVC_COMPOSED_KIND_HITS || class == KVC_COMPOSED_KIND_MISSES
                         ? kvc_composed_reads(config)
                         : kvc_composed_writes(config);
    bool copies = (does & reads) != 0,
         apart = copies && (!config->inlines || class == KVC_COMPOSED_KIND_HOTS), /* From the index. */
        compares = class == KVC_COMPOSED_KIND_HITS && (does & KVC_COMPOSED_COMPARE) != 0;
    counts->copied_bytes +=
        copies ? kind->op_bytes[class == KVC_COMPOSED_KIND_SETS ? KVC_OP_SET : KVC_OP_GET] : 0;
    counts->items += apart ? kind->items : 0;
    counts->item_lines += apart ? kind->item_lines : 0;
    counts->compared += compares && !copies ? kind->items : 0;
    counts->written_bytes += apart && class == KVC_COMPOSED_KIND_SETS ? kind->written_bytes : 0;
}

/* Adds what a stage does to the hot tier, of which a fill evicts an item. */
static void add_hot(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                    uint32_t does, const struct kvc_composed_counts *found,
                    struct kvc_composed_counts *counts)
{
    bool own = config->hot_index != NULL;
    double gets = counts->ops[KVC_OP_GET], writes = counts->ops[KVC_OP_SET] + counts->ops[KVC_OP_DELETE];
    if ((does & KVC_COMPOSED_HOT_SEARCH) != 0) {
        counts->searches += gets;
        counts->search_lines +=
            counts->hots * mix->hot_lines.hit + (gets - counts->hots) * mix->hot_lines.miss;
    }
    if ((does & KVC_COMPOSED_HOT_FILL) != 0) {
        double admit = config->options->hot.admit, fills = found->requests * admit;
        counts->inserts += fills;
        counts->insert_lines += fills * mix->hot_lines.insert;
        counts->erases += fills;
        counts->erase_lines += fills * mix->hot_lines.erase;
        counts->written_bytes += found->written_bytes * admit;
        counts->copied_bytes += found->op_bytes[KVC_OP_GET] * admit;
    }
    if ((does & KVC_COMPOSED_HOT_ERASE) != 0 && own) {
        counts->erases += writes;
        counts->erase_lines += writes * mix->hot_lines.erase;
    }
}

/* Adds GETs of a kind that missed and have their values from the database, which the store takes. */
static void add_filled(const struct kvc_composed_config *config, struct kvc_composed_counts *counts,
                       const struct kvc_composed_counts *kind, uint32_t does, double value_bytes)
{
    bool writes = (does & kvc_composed_writes(config)) != 0;
    double bytes = kind->op_bytes[KVC_OP_GET] + value_bytes;
    counts->filled += kind->requests;
    counts->filled_bytes += bytes;
    counts->copied_bytes += writes ? bytes : 0;
    counts->written_bytes += writes && !config->inlines ? kind->written_bytes : 0;
}

/* Requests by class, size and route, as bits of a part. */
struct kind {
    int class, large;
    uint32_t route;
};

enum { KINDS_OF_ROUTE = 2 * KVC_COMPOSED_KINDS, KINDS = KINDS_OF_ROUTE * KVC_COMPOSED_ROUTES_MAX };

static struct kind kind_of(uint32_t bit)
{
    return (struct kind){(int)(bit % KINDS_OF_ROUTE / 2), (int)bit % 2, bit / KINDS_OF_ROUTE};
}

static bool is_for(const struct kvc_composed_config *config, uint32_t stage, struct kind kind)
{
    uint32_t when = config->stage[stage].when;
    return kvc_composed_is_on(when, kind.route) && kvc_composed_mix_meets(kind.class, kind.large, when);
}

/* Returns counts, which are all in proportion to the requests, of as many requests. */
static struct kvc_composed_counts scaled(const struct kvc_composed_counts *each, double requests)
{
    struct kvc_composed_counts counts = *each;
    double *value = (double *)&counts;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*value); i++) {
        value[i] *= requests;
    }
    return counts;
}

/* Returns what a stage does for those kinds of requests, without evictions, per request of the load. */
static struct kvc_composed_counts counts_of(const struct kvc_composed_config *config,
                                            const struct kvc_composed_mix *mix, uint32_t stage,
                                            uint64_t kinds)
{
    struct kvc_composed_counts counts = {0}, found = {0};
    uint32_t does = config->stage[stage].does;
    for (; kinds != 0; kinds &= kinds - 1) {
        struct kind at = kind_of((uint32_t)__builtin_ctzll(kinds));
        if (!is_for(config, stage, at)) {
            continue;
        }
        double frac = config->route_frac[at.route];
        const struct kvc_composed_counts kind = scaled(&mix->kind[at.class][at.large], frac);
        bool fetched = at.class == KVC_COMPOSED_KIND_MISSES && is_fetched(config, stage, at.large, at.route);
        double value_bytes = fetched ? frac * mix->missed_bytes[at.large] : 0;
        kvc_composed_counts_add(&counts, &kind, 1);
        counts.response_bytes += value_bytes;
        counts.op_bytes[KVC_OP_GET] += value_bytes;
        add_items(config, &counts, &kind, at.class, does);
        if (fetched && config->fills) {
            add_filled(config, &counts, &kind, does, value_bytes);
        }
        if (at.class == KVC_COMPOSED_KIND_HITS || fetched) {
            kvc_composed_counts_add(&found, &kind, 1);
            found.written_bytes += kind.written_bytes;
            found.op_bytes[KVC_OP_GET] += value_bytes;
        }
    }
    if ((does & KVC_COMPOSED_SEARCH) != 0) {
        double known = config->hot_index != NULL ? counts.hots : 0; /* By the tier's own index. */
        counts.searches = counts.ops[KVC_OP_GET] - known;
        counts.search_lines =
            (counts.hits - known) * mix->lines.hit + (counts.ops[KVC_OP_GET] - counts.hits) * mix->lines.miss;
        counts.next_lines += (counts.hits - known) * mix->lines.hit_next;
    }
    if ((does & KVC_COMPOSED_INSERT) != 0) {
        counts.inserts = counts.ops[KVC_OP_SET] + counts.filled;
        counts.insert_lines = counts.inserts * mix->lines.insert;
        counts.written_next_lines = counts.inserts * mix->lines.insert_next;
        counts.next_lines += counts.written_next_lines;
    }
    if ((does & KVC_COMPOSED_ERASE) != 0) {
        counts.erases = counts.ops[KVC_OP_DELETE];
        counts.erase_lines = counts.erases * mix->lines.erase;
        counts.next_lines += counts.erases * mix->lines.erase_next;
    }
    add_hot(config, mix, does, &found, &counts);
    return counts;
}

/* Returns the same of as many requests, with evictions, and without what the write buffer answers.
 */
static struct kvc_composed_counts times_of(const struct kvc_composed_config *config,
                                           const struct kvc_composed_mix *mix, uint32_t stage,
                                           const struct kvc_composed_counts *each, double requests)
{
    struct kvc_composed_counts counts = scaled(each, requests);
    counts.items *= config->stage[stage].place == KVC_COMPOSED_FLASH ? 1 - mix->buffered_frac : 1;
    if ((config->stage[stage].does & KVC_COMPOSED_ERASE) != 0) {
        double evicted = mix->evicts_frac * (counts.ops[KVC_OP_SET] + counts.filled);
        counts.erases += evicted;
        counts.erase_lines += evicted * mix->lines.erase;
    }
    return counts;
}

struct kvc_composed_counts kvc_composed_mix_counts(const struct kvc_composed_config *config,
                                                   const struct kvc_composed_mix *mix, uint32_t stage,
                                                   double requests)
{
    return times_of(config, mix, stage, &mix->of->all[stage], requests);
}

struct kvc_composed_counts kvc_composed_mix_part(const struct kvc_composed_config *config,
                                                 const struct kvc_composed_mix *mix, uint32_t stage,
                                                 uint32_t part, double requests)
{
    return times_of(config, mix, stage, &mix->of->part[stage][part].counts, requests);
}

/* Returns a bit for each branch between a job's beginning and a stage that takes requests of a kind. */
static uint32_t branches_of(const struct kvc_composed_config *config, uint32_t stage, struct kind kind)
{
    uint32_t branches = 0;
    if (kvc_composed_is_away(config->stage[stage].place)) { /* It works on single requests. */
        return 0;
    }
    uint32_t first = stage < config->batched ? 0 : stage < config->apart ? config->batched : config->apart;
    for (uint32_t i = first; i < stage; i++) {
        branches |= config->stage[i].when != 0 && is_for(config, i, kind) ? 1u << i : 0;
    }
    return branches;
}

/* Sets the parts of a stage. Requests that a branch takes leave the others, as a job of their own. */
static void set_parts(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                      uint32_t stage, struct kvc_composed_parts *parts)
{
    uint32_t branches[KINDS], count = 0;
    double requests[KINDS];
    uint64_t left = 0;
    for (uint32_t i = 0; i < KINDS_OF_ROUTE * config->routes; i++) {
        struct kind kind = kind_of(i);
        branches[i] = branches_of(config, stage, kind);
        requests[i] = config->route_frac[kind.route] * mix->kind[kind.class][kind.large].requests;
        left |= requests[i] > 0 ? UINT64_C(1) << i : 0;
    }
    parts->all[stage] = counts_of(config, mix, stage, left);
    while (left != 0) {
        uint32_t first = (uint32_t)__builtin_ctzll(left);
        uint64_t kinds = 0;
        struct kvc_composed_part *part = &parts->part[stage][count++];
        *part = (struct kvc_composed_part){0};
        for (uint32_t i = first; i < KINDS_OF_ROUTE * config->routes; i++) {
            if ((left >> i & 1) != 0 && branches[i] == branches[first]) {
                kinds |= UINT64_C(1) << i;
                part->share += requests[i];
            }
        }
        part->counts = counts_of(config, mix, stage, kinds);
        part->kinds = kinds;
        left &= ~kinds;
    }
    parts->parts[stage] = count;
}

uint32_t kvc_composed_mix_paths(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                                struct kvc_composed_path *path)
{
    uint32_t paths = 0;
    for (uint32_t i = 0; i < KINDS_OF_ROUTE * config->routes; i++) {
        struct kind kind = kind_of(i);
        struct kvc_composed_path of = {.share = config->route_frac[kind.route] *
                                                mix->kind[kind.class][kind.large].requests};
        for (uint32_t j = 0; j < config->stages && of.share > 0; j++) {
            of.stages |= is_for(config, j, kind) ? 1u << j : 0;
            while ((mix->of->part[j][of.part[j]].kinds >> i & 1) == 0) {
                of.part[j]++;
            }
        }
        uint32_t same = 0;
        while (same < paths && path[same].stages != of.stages) {
            same++;
        }
        if (of.share > 0 && same == paths) {
            path[paths++] = of;
        } else if (of.share > 0) {
            path[same].share += of.share;
        }
    }
    return paths;
}

/* Sets the ways of the requests. Where a server that is alone works for a later stage of a way, requests that
 * have gone another way may keep it busy with an earlier one. */
static void set_ways(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                     struct kvc_composed_parts *parts)
{
    struct kvc_composed_path path[KVC_COMPOSED_PATHS_MAX];
    parts->ways = kvc_composed_mix_paths(config, mix, path);
    for (uint32_t i = 0; i < parts->ways; i++) {
        parts->way[i] = path[i].stages;
        for (uint32_t j = config->stages, pools = 0; j-- > 0;) {
            uint32_t pool = config->stage[j].pool, on_way = path[i].stages >> j & 1;
            parts->way[i] |= (pools >> pool & 1) << j;
            pools |= config->pool[pool].servers == 1 ? on_way << pool : 0;
        }
    }
}

struct kvc_composed_mix kvc_composed_mix_of(const struct kvc_scenario *scenario,
                                            const struct kvc_composed_expected *expected,
                                            struct kvc_composed_parts *parts)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    struct kvc_composed_mix mix = {.expected = *expected};
    memset(parts->all, 0, sizeof(parts->all));
    mix.workload = &scenario->workload;
    mix.clients_wait = kvc_workload_clients_wait(&scenario->workload);
    mix.saturates = scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    mix.in_flight = mix.saturates      ? (double)config->outstanding
                    : mix.clients_wait ? (double)scenario->workload.clients / config->shards
                                       : INFINITY;
    mix.together = kvc_composed_together(scenario);
    if (config->index != NULL) {
        mix.lines =
            kvc_composed_index_lines(config->index, kvc_composed_pairs_of(config), mix.expected.load_frac);
    }
    if (config->has_hot) {
        mix.hot_lines = kvc_composed_hot_lines(config, mix.expected.load_frac);
    }
    mix.shard_frac =
        kvc_hottest_shard_frac(&scenario->workload, (uint32_t)scenario->cluster.nodes,
                               (uint32_t)scenario->node.sockets, (uint32_t)scenario->cluster.virtual_nodes);
    mix.fullest = fullest_of(scenario, mix.shard_frac);
    for (uint32_t i = 0, count = kvc_shards_sample_sizes(&scenario->workload, sample); i < count; i++) {
        add_sample(&mix, config, &sample[i]);
    }
    mix.warmup_ns = fmax(scenario->run.warmup_ns, 0);
    mix.run_ns = scenario->run.duration_ns;
    mix.spare_items = spare_items_of(scenario);
    for (uint32_t i = 0; i < config->stages; i++) {
        set_parts(config, &mix, i, parts);
    }
    mix.of = parts;
    set_ways(config, &mix, parts);
    return mix;
}

void kvc_composed_shares(const struct kvc_scenario *scenario, double *share_frac)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    struct kvc_composed_parts parts;
    const struct kvc_composed_expected expected =
        kvc_composed_expect(scenario, kvc_composed_sent_per_ns(scenario), NULL);
    const struct kvc_composed_mix mix = kvc_composed_mix_of(scenario, &expected, &parts);
    for (uint32_t i = 0; i < config->stages; i++) {
        share_frac[i] = kvc_composed_mix_counts(config, &mix, i, 1).requests;
    }
}
