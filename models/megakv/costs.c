#include "models/megakv/costs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/cost_profile.h"
#include "models/megakv/memory_state.h"
#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/keys/reuse.h"

/* A request's entries in its batch: 32-bit signature, hash and location (sec. 4.1). Under api = "get", a GET
 * has a job record of its own with its key, where getk has one for each frame (the authors' program, 2015:
 * mega_job_search_t for keys of 8 bytes). */
enum { SIGNATURE_BYTES = 4, HASH_BYTES = 4, LOCATION_BYTES = 4, JOB_BYTES = 32 };

enum { LINE_BYTES = 64 };

/* A row of a batch holds key, key length, hash, location and time. */
enum { ROW_BYTES = 8 + 1 + 8 + 4 + 8 };

/* Memory that a workload accesses at random, and its reuse there. The shares are computed once for all cost
 * curves with the same footprints. */
struct use {
    const struct kvc_workload *workload;
    struct kvc_reuse reuse;
    uint32_t footprints;
    double footprint_bytes[KVC_CURVE_POINTS_MAX], share[KVC_CURVE_POINTS_MAX];
};

static const double *shares_of(struct use *use, const struct kvc_megakv_cost_curve *curve)
{
    double footprint_bytes[KVC_CURVE_POINTS_MAX];
    uint32_t footprints = kvc_megakv_cost_footprints(curve, footprint_bytes);
    if (footprints != use->footprints ||
        memcmp(footprint_bytes, use->footprint_bytes, footprints * sizeof(*footprint_bytes)) != 0) {
        use->footprints = footprints;
        memcpy(use->footprint_bytes, footprint_bytes, footprints * sizeof(*footprint_bytes));
        for (uint32_t i = 0; i < footprints; i++) {
            use->share[i] = kvc_reuse_share(use->workload, &use->reuse, footprint_bytes[i]);
        }
    }
    return use->share;
}

/* Returns the cost for every measured length of keys. `share` is the argument of
 * kvc_megakv_cost_curve_by_size(). */
static struct kvc_megakv_keyed_curve keyed_by_shares(const struct kvc_megakv_cost_curve *curve,
                                                     double threads, const double *share)
{
    struct kvc_megakv_keyed_curve keyed = {.count = kvc_megakv_cost_keys(curve, keyed.key_bytes)};
    for (uint32_t i = 0; i < keyed.count; i++) {
        keyed.curve[i] = kvc_megakv_cost_curve_by_size(curve, keyed.key_bytes[i], 0, threads, share);
    }
    return keyed;
}

static struct kvc_megakv_keyed_curve keyed_of(struct use *use, const struct kvc_megakv_cost_curve *curve,
                                              double threads)
{
    return keyed_by_shares(curve, threads, shares_of(use, curve));
}

/* Returns the cost of receiving for every measured size of batches, each of which was used in turn. */
static struct kvc_megakv_batch_costs batch_costs_of(const struct kvc_megakv_cost_curve *receive,
                                                    double threads)
{
    double bytes[KVC_CURVE_POINTS_MAX], share[KVC_CURVE_POINTS_MAX];
    struct kvc_megakv_batch_costs costs = {.count = kvc_megakv_cost_footprints(receive, bytes)};
    for (uint32_t b = 0; b < costs.count; b++) {
        costs.batches_bytes[b] = bytes[b];
        /* All accesses reach back over exactly this footprint. */
        for (uint32_t i = 0; i < costs.count; i++) {
            share[i] = i < b ? bytes[i] / bytes[b] : 1;
        }
        costs.curve[b] = keyed_by_shares(receive, threads, share);
    }
    return costs;
}

double kvc_megakv_batches_bytes(double rows, uint32_t buffers, uint32_t pipelines)
{
    return rows * ROW_BYTES * buffers * pipelines;
}

/* Returns the extra cost over the smallest batches by a curve over the memory of the batches [ns]. */
static double batch_ns_of(const struct kvc_curve *curve, double bytes)
{
    if (curve->count == 0) {
        return 0;
    }
    double within_bytes = fmin(fmax(bytes, curve->x[0]), curve->x[curve->count - 1]);
    return kvc_curve_at(curve, within_bytes) - curve->y[0];
}

void kvc_megakv_costs_use_batches(struct kvc_megakv_costs *costs, double rows)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_megakv_batch_costs *batches = &costs->receive_by_batch;
    uint32_t right = 0, pipelines = config->threads == KVC_MEGAKV_SHARED_THREADS ? config->streams : 1;
    if (!costs->measured) {
        return;
    }
    double bytes = kvc_megakv_batches_bytes(rows, config->buffers, pipelines);
    costs->read_batch_ns = batch_ns_of(&costs->read_by_batch, bytes);
    while (right + 1 < batches->count && batches->batches_bytes[right] < bytes) {
        right++;
    }
    costs->receive = batches->curve[right];
    if (right == 0 || batches->batches_bytes[right] <= bytes) {
        return;
    }
    double left_bytes = batches->batches_bytes[right - 1];
    double left_weight =
        (batches->batches_bytes[right] - bytes) / (batches->batches_bytes[right] - left_bytes);
    for (uint32_t k = 0; k < costs->receive.count; k++) {
        struct kvc_curve *curve = &costs->receive.curve[k];
        const struct kvc_curve *left = &batches->curve[right - 1].curve[k];
        for (uint32_t i = 0; i < curve->count; i++) {
            curve->y[i] += left_weight * (left->y[i] - curve->y[i]);
        }
    }
}

/* Below the first size the nearest one counts, because the lengths of keys have different sizes. */
static double at_size(const struct kvc_curve *curve, double size)
{
    return kvc_curve_at(curve, fmax(size, curve->x[0]));
}

double kvc_megakv_keyed_at(const struct kvc_megakv_keyed_curve *keyed, double key_bytes, double size)
{
    uint32_t right = 0;
    while (right + 1 < keyed->count && keyed->key_bytes[right] < key_bytes) {
        right++;
    }
    if (keyed->count == 0) {
        return 0;
    }
    double right_ns = at_size(&keyed->curve[right], size);
    if (right == 0 || keyed->key_bytes[right] <= key_bytes) {
        return right_ns;
    }
    double left_ns = at_size(&keyed->curve[right - 1], size), left = keyed->key_bytes[right - 1];
    return left_ns + (right_ns - left_ns) * (key_bytes - left) / (keyed->key_bytes[right] - left);
}

/* Returns the use of the items that senders read. */
static struct use items_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    double keys = (double)scenario->workload.keys;
    return (struct use){.workload = &scenario->workload,
                        .reuse = {.bytes_per_key = config->means.item_bytes,
                                  .footprint_bytes = config->means.item_bytes * keys / config->shards}};
}

/* Returns the use of the places that receivers write. They follow the CLOCK hand, not the key, so `uniform`
 * is the workload without its popularity. */
static struct use places_of(const struct kvc_workload *uniform, double slab_bytes)
{
    return (struct use){
        .workload = uniform,
        .reuse = {.bytes_per_key = slab_bytes / (double)uniform->keys, .footprint_bytes = slab_bytes}};
}

/* Returns the use of the index's lines. An index on a thread shares the caches with the packets, rows and
 * items that pass through them between two accesses to a line. Launches were measured after as many bytes for
 * each job as the smallest items have. */
static struct use index_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct use use = {.workload = &scenario->workload,
                      .reuse = {.bytes_per_key = LINE_BYTES, .footprint_bytes = config->index_bytes}};
    double passing_bytes = config->means.request_bytes + ROW_BYTES + config->means.dram_bytes;
    if (config->index_on == KVC_MEGAKV_INDEX_ON_THREAD) {
        use.reuse.stream_bytes = fmax(passing_bytes - KVC_MEGAKV_PASSING_BYTES, 0) /
                                 (1 + (double)KVC_MEGAKV_PASSING_BYTES / LINE_BYTES);
    }
    return use;
}

/* Returns the load factor of each index in the long run. */
static double load_frac_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    double keys = (double)scenario->workload.keys / config->shards;
    return fmin(keys / kvc_shards_slots(config->index_bytes), 1);
}

double kvc_megakv_items_max(const struct kvc_megakv_config *config)
{
    return fmin(kvc_shards_slots(config->index_bytes), kvc_megakv_mean_items(config));
}

static double hit_frac_of(const struct kvc_megakv_config *config, const struct kvc_workload *workload)
{
    return kvc_shards_hit_frac(workload, config->shards * kvc_shards_slots(config->index_bytes),
                               config->shards * kvc_megakv_mean_items(config));
}

static double set_job_frac_of(const struct kvc_workload *workload)
{
    double writes = workload->set_frac + workload->delete_frac;
    return writes > 0 ? workload->set_frac / writes : 1;
}

/* Returns the bytes of a request's job record. */
static double job_bytes(const struct kvc_megakv_config *config, int op)
{
    return config->api == KVC_MEGAKV_GET && op == KVC_OP_GET ? JOB_BYTES : 0;
}

/* Returns the share of the items that senders find in the last-level cache. Packets, jobs and responses also
 * pass through it. */
static double llc_frac_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_shards_means *means = &config->means;
    double keys = (double)scenario->workload.keys / config->shards;
    double lines = ceil(means->touched_bytes / LINE_BYTES);
    struct kvc_reuse reuse = {.bytes_per_key = lines * LINE_BYTES,
                              .footprint_bytes = means->item_bytes * keys,
                              .stream_bytes = means->request_bytes + means->response_bytes + SIGNATURE_BYTES +
                                              HASH_BYTES + LOCATION_BYTES + job_bytes(config, KVC_OP_GET)};
    return kvc_reuse_share(&scenario->workload, &reuse, config->cpu->llc_bytes);
}

/* Returns the share of the index's lines that a GPU finds in its L2 cache. Jobs and locations also pass
 * through it. */
static double l2_frac_of(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_reuse reuse = index_of(scenario).reuse;
    reuse.stream_bytes = SIGNATURE_BYTES + HASH_BYTES + LOCATION_BYTES;
    return kvc_reuse_share(&scenario->workload, &reuse, kvc_gpu_l2_reach_bytes(config->gpu));
}

static void set_launches(struct kvc_megakv_costs *costs, const struct kvc_megakv_cost_profile *stages,
                         struct use *lines, double load_frac)
{
    double streams = costs->config->streams;
    const struct {
        const struct kvc_megakv_cost_curve *measured;
        struct kvc_curve *curve;
    } launches[] = {{&stages->search, &costs->search},
                    {&stages->search_miss, &costs->search_miss},
                    {&stages->search_half_missed, &costs->search_half_missed},
                    {&stages->insert, &costs->insert},
                    {&stages->replace, &costs->replace},
                    {&stages->insert_half_replaced, &costs->insert_half_replaced},
                    {&stages->erase, &costs->erase},
                    {&stages->erase_miss, &costs->erase_miss},
                    {&stages->erase_half_missed, &costs->erase_half_missed}};
    for (size_t i = 0; i < sizeof(launches) / sizeof(*launches); i++) {
        if (launches[i].measured->count == 0) {
            continue;
        }
        const double *share = shares_of(lines, launches[i].measured);
        *launches[i].curve =
            kvc_megakv_cost_curve_by_size(launches[i].measured, 0, load_frac, streams, share);
    }
    costs->drain = kvc_megakv_cost_curve_by_size(&stages->drain, 0, 0, streams, NULL);
}

/* Returns the cost of mispredicting the next operation. It is largest at one half of each, where it was
 * measured. */
static double mix_ns_of(const struct kvc_megakv_cost_curve *mix, double threads,
                        const struct kvc_workload *workload)
{
    if (mix->count == 0) {
        return 0;
    }
    struct kvc_curve curve = kvc_megakv_cost_curve_by_size(mix, 0, 0, threads, NULL);
    return kvc_curve_at(&curve, 1) * kvc_megakv_surprise_frac(workload->get_frac);
}

/* Sets the costs that need no measurements. */
static void open_plain(struct kvc_megakv_costs *costs, const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    uint32_t state = 0;
    kvc_cpu_pstate_of(&scenario->node, &state, NULL); /* The loader has checked the clock. */
    memset(costs, 0, offsetof(struct kvc_megakv_costs, write));
    costs->config = config;
    costs->clock = config->clock;
    costs->measured = kvc_megakv_cost_profile_is_measured(config->cost_profile);
    costs->hit_frac = hit_frac_of(config, &scenario->workload);
    costs->evicting = scenario->workload.set_frac > 0;
    costs->set_job_frac = set_job_frac_of(&scenario->workload);
    costs->slowest_sender = 1;
    costs->core_speed = kvc_cpu_pstate_speed(config->cpu, state);
    costs->llc_frac = llc_frac_of(scenario);
    if (config->index_on == KVC_MEGAKV_INDEX_ON_GPU && kvc_gpu_l2_reach_bytes(config->gpu) > 0) {
        costs->l2_frac = l2_frac_of(scenario);
        costs->hot_frac = kvc_popularity_mass(&scenario->workload, 1);
    }
}

/* Sets the measured costs, for the scenario's threads, memory and load of the index. */
static void open_measured(struct kvc_megakv_costs *costs, const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_megakv_cost_profile *changed = kvc_megakv_costs_in_memory(scenario);
    const struct kvc_megakv_cost_profile *stages = changed != NULL ? changed : config->cost_profile;
    const struct kvc_shards_means *means = &config->means;
    double threads = config->senders;
    struct kvc_workload uniform = scenario->workload;
    uniform.popularity = KVC_POPULARITY_UNIFORM;
    struct use items = items_of(scenario), places = places_of(&uniform, config->slab_bytes),
               lines = index_of(scenario);
    struct kvc_curve pass = kvc_megakv_cost_curve_by_size(&stages->pass, 0, 0, threads, NULL);
    struct kvc_megakv_keyed_curve slowest = keyed_of(&items, &stages->read_slowest, threads);
    costs->receive_by_batch = batch_costs_of(&stages->receive, threads);
    if (stages->read_batch.count > 0) {
        costs->read_by_batch = kvc_megakv_cost_curve_by_size(&stages->read_batch, 0, 0, threads, NULL);
    }
    kvc_megakv_costs_use_batches(costs, 0);
    costs->write = keyed_of(&places, &stages->write, threads);
    costs->evict = keyed_of(&places, &stages->evict, threads);
    if (stages->evict_half_marked.count > 0) {
        costs->evict_half_marked = keyed_of(&places, &stages->evict_half_marked, threads);
    }
    costs->pass_ns = kvc_curve_at(&pass, 1);
    costs->mix_ns = mix_ns_of(&stages->mix, threads, &scenario->workload);
    costs->read = keyed_of(&items, &stages->read, threads);
    costs->read_checked = keyed_of(&items, &stages->read_checked, threads);
    costs->read_half_marked = keyed_of(&items, &stages->read_half_marked, threads);
    costs->read_marked = keyed_of(&items, &stages->read_marked, threads);
    costs->read_half_missed = keyed_of(&items, &stages->read_half_missed, threads);
    if (stages->compare.count > 0) {
        costs->compare = keyed_of(&items, &stages->compare, threads);
    }
    double key_bytes = means->key_bytes, bytes = means->touched_bytes;
    costs->slowest_sender = fmax(kvc_megakv_keyed_at(&slowest, key_bytes, bytes) /
                                     kvc_megakv_keyed_at(&costs->read, key_bytes, bytes),
                                 1);
    set_launches(costs, stages, &lines, load_frac_of(scenario));
    double slots = kvc_megakv_mean_items(config);
    costs->lookup_mix = kvc_shards_lookup_mix_of(&scenario->workload, config->shards * slots);
    free(changed);
}

void kvc_megakv_costs_open(struct kvc_megakv_costs *costs, const struct kvc_scenario *scenario)
{
    open_plain(costs, scenario);
    if (costs->measured) {
        size_t plain_bytes = offsetof(struct kvc_megakv_costs, write);
        memset((char *)costs + plain_bytes, 0, sizeof(*costs) - plain_bytes);
        open_measured(costs, scenario);
    }
}

struct kvc_megakv_costs kvc_megakv_costs_of(const struct kvc_scenario *scenario)
{
    struct kvc_megakv_costs costs = {.config = NULL};
    kvc_megakv_costs_open(&costs, scenario);
    return costs;
}

static struct kvc_cpu_cost measured_receive_cost(const struct kvc_megakv_costs *costs, double frame_requests,
                                                 int op, uint32_t key_bytes, uint32_t value_bytes)
{
    struct kvc_cpu_cost cost = {
        .stall_ns =
            kvc_megakv_keyed_at(&costs->receive, key_bytes, frame_requests) / frame_requests + costs->mix_ns};
    if (op == KVC_OP_SET) {
        cost.stall_ns +=
            kvc_megakv_keyed_at(&costs->write, key_bytes, kvc_shards_touched_bytes(key_bytes, value_bytes));
    }
    return cost;
}

double kvc_megakv_evict_ns(const struct kvc_megakv_costs *costs, uint32_t key_bytes, uint32_t value_bytes,
                           double marked_frac)
{
    if (!costs->measured) { /* The job that deletes the victim from the index. */
        return kvc_dram_stream_ns(costs->config->dram, SIGNATURE_BYTES + HASH_BYTES + LOCATION_BYTES);
    }
    double bytes = kvc_shards_touched_bytes(key_bytes, value_bytes);
    double evict_ns = kvc_megakv_keyed_at(&costs->evict, key_bytes, bytes), scattered_ns = 0;
    if (costs->evict_half_marked.count > 0) {
        scattered_ns = fmax(kvc_megakv_keyed_at(&costs->evict_half_marked, key_bytes, bytes) - evict_ns, 0);
    }
    return evict_ns + scattered_ns * fmin(2 * marked_frac, 1) -
           kvc_megakv_keyed_at(&costs->write, key_bytes, bytes);
}

/* Returns the compute of one side of a request at the clock of the cores. */
static double compute_ns(const struct kvc_megakv_costs *costs)
{
    const struct kvc_cpu *cpu = costs->config->cpu;
    return (cpu->operation_ns > 0 ? cpu->operation_ns / 2 : cpu->packet_ns) / costs->core_speed;
}

/* Returns the rest of a load's latency once the core has executed the instructions after it. */
static double exposed_ns(const struct kvc_cpu *cpu, double latency_ns)
{
    return fmax(latency_ns - cpu->lookahead_ns, 0);
}

/* Returns the stall for an item's lines, the first of which lies in the last-level cache with the probability
 * `llc_frac`. */
static double item_ns(const struct kvc_megakv_costs *costs, double lines, double llc_frac)
{
    const struct kvc_cpu *cpu = costs->config->cpu;
    const struct kvc_dram *dram = costs->config->dram;
    double line_ns = kvc_dram_object_ns(dram, 1);
    double first_ns = (1 - llc_frac) * exposed_ns(cpu, line_ns);
    if (llc_frac > 0) {
        first_ns += llc_frac * exposed_ns(cpu, kvc_cpu_llc_hit_ns(cpu));
    }
    return kvc_dram_object_ns(dram, lines) - line_ns + first_ns;
}

struct kvc_cpu_cost kvc_megakv_receive_cost(const struct kvc_megakv_costs *costs, double frame_requests,
                                            int op, uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_dram *dram = costs->config->dram;
    if (costs->measured) {
        return measured_receive_cost(costs, frame_requests, op, key_bytes, value_bytes);
    }
    double batch_bytes =
        SIGNATURE_BYTES + HASH_BYTES + (op == KVC_OP_SET ? LOCATION_BYTES : 0) + job_bytes(costs->config, op);
    struct kvc_cpu_cost cost = {.compute_ns = compute_ns(costs),
                                .stall_ns = kvc_dram_stream_ns(dram, batch_bytes)};
    if (op == KVC_OP_SET) {
        /* The place of the new item was not used recently, so no cache holds it, but it follows the place
         * before it. */
        cost.stall_ns += kvc_dram_stream_ns(dram, key_bytes + value_bytes) +
                         kvc_dram_stream_ns(dram, kvc_shards_touched_bytes(key_bytes, value_bytes));
    }
    return cost;
}

/* Returns the cost of a hit that reads its item's reference bit. It is interpolated over the share of hits
 * that set the bit, between the measured shares: none, half, all. */
static double checked_read_ns(const struct kvc_megakv_costs *costs, double key_bytes, double bytes,
                              double marked_frac)
{
    const struct kvc_megakv_keyed_curve *other =
        marked_frac < 0.5 ? &costs->read_checked : &costs->read_marked;
    double others = fabs(2 * marked_frac - 1);
    return (1 - others) * kvc_megakv_keyed_at(&costs->read_half_marked, key_bytes, bytes) +
           others * kvc_megakv_keyed_at(other, key_bytes, bytes);
}

/* Returns the extra cost of hits and misses in random order, which no core can predict. It is largest at
 * one half of each, where it was measured. */
static double surprise_ns(const struct kvc_megakv_costs *costs, double key_bytes, double bytes,
                          double missed_frac)
{
    double half_ns = kvc_megakv_keyed_at(&costs->read_half_missed, key_bytes, bytes);
    double known_ns = (kvc_megakv_keyed_at(&costs->read, key_bytes, bytes) +
                       kvc_megakv_keyed_at(&costs->read, key_bytes, 0)) /
                      2;
    return fmax(half_ns - known_ns, 0) * kvc_megakv_surprise_frac(missed_frac);
}

/* Returns the part of a read that compares keys. It depends on the key, not on the length of the value, so
 * beyond the measured items the nearest one counts. */
static double compare_ns(const struct kvc_megakv_costs *costs, double key_bytes, double bytes)
{
    const struct kvc_curve *first = &costs->compare.curve[0];
    return costs->compare.count > 0
               ? kvc_megakv_keyed_at(&costs->compare, key_bytes, fmin(bytes, first->x[first->count - 1]))
               : 0;
}

/* Answering SETs and DELETEs has no measurable cost. Another key's item costs as much as an item without a
 * value. The measured times include the comparison of the keys, which the client does under api = "getk". */
static struct kvc_cpu_cost measured_send_cost(const struct kvc_megakv_costs *costs,
                                              const struct kvc_shards_lookup_mix *lookup_mix, int outcome,
                                              uint32_t key_bytes, uint32_t value_bytes)
{
    struct kvc_cpu_cost cost = {0};
    double bytes = kvc_shards_touched_bytes(key_bytes, value_bytes), checked = lookup_mix->checked_frac;
    double key_alone = kvc_shards_touched_bytes(key_bytes, 0);
    if (outcome == KVC_MEGAKV_DONE) {
        return cost;
    }
    if (outcome == KVC_MEGAKV_MISS) {
        cost.stall_ns = kvc_megakv_keyed_at(&costs->read, key_bytes, 0);
    } else if (outcome == KVC_MEGAKV_MISMATCH) {
        cost.stall_ns = kvc_megakv_keyed_at(&costs->read, key_bytes, key_alone);
    } else if (checked < 1) {
        cost.stall_ns = (1 - checked) * kvc_megakv_keyed_at(&costs->read, key_bytes, bytes);
    }
    if (outcome == KVC_MEGAKV_HIT && checked > 0) {
        cost.stall_ns +=
            checked * checked_read_ns(costs, key_bytes, bytes, lookup_mix->marked_frac / checked);
    }
    if (costs->config->api == KVC_MEGAKV_GETK && outcome != KVC_MEGAKV_MISS) {
        double read_bytes = outcome == KVC_MEGAKV_HIT ? bytes : key_alone;
        cost.stall_ns = fmax(cost.stall_ns - compare_ns(costs, key_bytes, read_bytes), 0);
    }
    if (outcome == KVC_MEGAKV_HIT) {
        cost.stall_ns = fmax(cost.stall_ns + costs->read_batch_ns, 0);
    }
    if (lookup_mix->missed_frac > 0) {
        cost.stall_ns += surprise_ns(costs, key_bytes, bytes, lookup_mix->missed_frac);
    }
    return cost;
}

struct kvc_cpu_cost kvc_megakv_send_cost(const struct kvc_megakv_costs *costs,
                                         const struct kvc_shards_lookup_mix *lookup_mix, int outcome,
                                         uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_dram *dram = costs->config->dram;
    enum kvc_megakv_api api = costs->config->api;
    if (costs->measured) {
        return measured_send_cost(costs, lookup_mix, outcome, key_bytes, value_bytes);
    }
    if (outcome == KVC_MEGAKV_DONE) {
        return (struct kvc_cpu_cost){0};
    }
    struct kvc_cpu_cost cost = {
        .compute_ns = compute_ns(costs),
        .stall_ns = kvc_dram_stream_ns(dram, LOCATION_BYTES + job_bytes(costs->config, KVC_OP_GET))};
    if (outcome == KVC_MEGAKV_HIT) {
        cost.stall_ns +=
            item_ns(costs, kvc_shards_item_lines(dram, key_bytes, value_bytes), costs->llc_frac) +
            kvc_dram_stream_ns(dram, kvc_shards_hit_payload(api == KVC_MEGAKV_GETK, key_bytes, value_bytes));
    }
    if (outcome == KVC_MEGAKV_MISMATCH) {
        cost.stall_ns += item_ns(costs, 1, costs->llc_frac);
    }
    if (api == KVC_MEGAKV_GET && (outcome == KVC_MEGAKV_HIT || outcome == KVC_MEGAKV_MISMATCH)) {
        cost.compute_ns += costs->config->compare_ns / costs->core_speed;
    }
    return cost;
}

double kvc_megakv_response_bytes(const struct kvc_nic *nic, enum kvc_megakv_api api,
                                 enum kvc_megakv_outcome outcome, uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t payload = outcome == KVC_MEGAKV_HIT
                           ? kvc_shards_hit_payload(api == KVC_MEGAKV_GETK, key_bytes, value_bytes)
                           : 0;
    return (double)nic->response_header_bytes + payload;
}

struct kvc_dram_load kvc_megakv_receive_load(const struct kvc_megakv_costs *costs, int op, uint32_t key_bytes,
                                             uint32_t value_bytes)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_dram_load load = {.streamed_bytes =
                                     kvc_shards_request_bytes(config->nic, op, key_bytes, value_bytes) +
                                     SIGNATURE_BYTES + HASH_BYTES + (op == KVC_OP_SET ? LOCATION_BYTES : 0) +
                                     job_bytes(config, op)};
    if (op == KVC_OP_SET) { /* A store reads its line before it writes it. */
        load.streamed_bytes += 2 * kvc_shards_touched_bytes(key_bytes, value_bytes);
    }
    return load;
}

struct kvc_dram_load kvc_megakv_send_load(const struct kvc_megakv_costs *costs, int outcome,
                                          uint32_t key_bytes, uint32_t value_bytes)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_dram_load load = {.streamed_bytes = kvc_megakv_response_bytes(
                                     config->nic, config->api, outcome, key_bytes, value_bytes)};
    double lines = outcome == KVC_MEGAKV_HIT ? kvc_shards_item_lines(config->dram, key_bytes, value_bytes)
                                             : outcome == KVC_MEGAKV_MISMATCH;
    if (lines > 0) {
        load.random_reads = 1 - costs->llc_frac;
        load.streamed_bytes += (1 - costs->llc_frac) * (lines - 1) * config->dram->line_bytes;
    }
    return load;
}

static void add_cost(struct kvc_cpu_cost *sum, struct kvc_cpu_cost cost, double weight)
{
    sum->compute_ns += weight * cost.compute_ns;
    sum->stall_ns += weight * cost.stall_ns;
}

/* Returns the share of read items among those that the CLOCK hand passes in the long run: it clears as many
 * bits as reads set, and evicts one item for each SET. */
static double passed_marked_frac(const struct kvc_megakv_costs *costs, const struct kvc_workload *workload)
{
    const struct kvc_shards_lookup_mix *mix = &costs->lookup_mix;
    double marked = workload->get_frac * (1 - mix->missed_frac) * mix->marked_frac;
    return workload->set_frac > 0 ? marked / (marked + workload->set_frac) : 0;
}

struct kvc_megakv_mean_costs kvc_megakv_mean_costs_of(const struct kvc_scenario *scenario,
                                                      const struct kvc_megakv_costs *costs)
{
    struct kvc_megakv_mean_costs means = {0};
    struct kvc_shards_size_sample sample[KVC_SHARDS_SIZE_SAMPLES_MAX];
    uint32_t samples = kvc_shards_sample_sizes(&scenario->workload, sample);
    double frame_requests = costs->config->frame_mean;
    double marked_frac = passed_marked_frac(costs, &scenario->workload);
    for (uint32_t i = 0; i < samples; i++) {
        uint32_t key_bytes = sample[i].key_bytes, value_bytes = sample[i].value_bytes;
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            double weight = sample[i].requests[op];
            add_cost(&means.receive,
                     kvc_megakv_receive_cost(costs, frame_requests, op, key_bytes, value_bytes), weight);
            if (op == KVC_OP_SET && costs->evicting) {
                means.receive.stall_ns +=
                    weight * kvc_megakv_evict_ns(costs, key_bytes, value_bytes, marked_frac);
            }
            double missed_frac = op == KVC_OP_GET ? costs->lookup_mix.missed_frac : 0;
            add_cost(&means.send,
                     kvc_megakv_send_cost(costs, &costs->lookup_mix, kvc_megakv_usual_outcome(op), key_bytes,
                                          value_bytes),
                     weight * (1 - missed_frac));
            add_cost(&means.send,
                     kvc_megakv_send_cost(costs, &costs->lookup_mix, KVC_MEGAKV_MISS, key_bytes, value_bytes),
                     weight * missed_frac);
        }
    }
    return means;
}

/* ---- the work of a launch ---- */

/* Returns the work of a launch on the scenario's index and keys. */
static struct kvc_gpu_work work_of(const struct kvc_megakv_costs *costs,
                                   const struct kvc_megakv_launch_work *launch)
{
    struct kvc_gpu_work work =
        kvc_shards_gpu_work(launch->kernel, launch->jobs, costs->config->streams, launch->stats);
    kvc_shards_gpu_caches(launch->kernel, costs->l2_frac, costs->hot_frac, &work);
    return work;
}

/* ---- costs of a launch ---- */

struct kvc_megakv_launch_work kvc_megakv_search_work(const struct kvc_megakv_costs *costs, double searches,
                                                     double drained)
{
    return (struct kvc_megakv_launch_work){
        .kernel = KVC_SHARDS_SEARCH, .jobs = searches, .hit_frac = costs->hit_frac, .drained = drained};
}

struct kvc_megakv_launch_work kvc_megakv_insert_work(const struct kvc_megakv_costs *costs, double writes)
{
    double sets = writes * costs->set_job_frac;
    double evicted = costs->measured && costs->evicting ? sets : 0;
    double deletes = writes - sets, erases = deletes + evicted;
    /* An item that a later SET of its key has replaced is not in the index any more when it is evicted. */
    double erased = deletes * costs->hit_frac + evicted * (1 - costs->hit_frac);
    return (struct kvc_megakv_launch_work){.kernel = KVC_SHARDS_INSERT,
                                           .jobs = writes + evicted,
                                           .erases = erases,
                                           .replaced_frac = costs->hit_frac,
                                           .erased_frac = erases > 0 ? erased / erases : 1};
}

/* Returns the time of `jobs` jobs of two kinds in random order, of which first_frac are of the first kind. No
 * core can predict the next kind; this costs most at one half of each, where it was measured. */
static double mixed_ns(const struct kvc_curve *first, const struct kvc_curve *second,
                       const struct kvc_curve *half, double first_frac, double jobs)
{
    double first_ns = kvc_curve_at(first, jobs), second_ns = kvc_curve_at(second, jobs), surprise_ns = 0;
    if (half->count > 0) {
        surprise_ns = fmax(kvc_curve_at(half, jobs) - (first_ns + second_ns) / 2, 0);
    }
    return first_frac * first_ns + (1 - first_frac) * second_ns +
           kvc_megakv_surprise_frac(first_frac) * surprise_ns;
}

/* A thread drains the index jobs after its search. The scheduler of a GPU drains them while the GPU searches,
 * once it has handed the launch over; the shortest measured launch is the cost of handing over. */
static double measured_search_ns(const struct kvc_megakv_costs *costs,
                                 const struct kvc_megakv_launch_work *launch)
{
    bool on_thread = costs->config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
    double drain_ns = launch->drained > 0 ? kvc_curve_at(&costs->drain, launch->drained) : 0;
    double in_turn =
        on_thread ? launch->jobs : launch->jobs / costs->config->streams; /* A thread serves them in turn. */
    double search_ns =
        mixed_ns(&costs->search, &costs->search_miss, &costs->search_half_missed, launch->hit_frac, in_turn);
    return on_thread ? search_ns + drain_ns : fmax(search_ns, costs->search.y[0] + drain_ns);
}

/* First all deletes run, then all inserts. */
static double measured_insert_ns(const struct kvc_megakv_costs *costs,
                                 const struct kvc_megakv_launch_work *launch)
{
    double inserts = launch->jobs - launch->erases;
    const struct kvc_curve *miss = costs->erase_miss.count > 0 ? &costs->erase_miss : &costs->erase;
    double erase_ns = launch->erases > 0 ? mixed_ns(&costs->erase, miss, &costs->erase_half_missed,
                                                    launch->erased_frac, launch->erases)
                                         : 0;
    return inserts > 0 ? erase_ns + mixed_ns(&costs->replace, &costs->insert, &costs->insert_half_replaced,
                                             launch->replaced_frac, inserts)
                       : erase_ns;
}

double kvc_megakv_launch_at_ns(const struct kvc_megakv_costs *costs, uint32_t clock,
                               const struct kvc_megakv_launch_work *launch)
{
    if (launch->jobs > 0 && costs->measured) {
        return launch->kernel == KVC_SHARDS_SEARCH ? measured_search_ns(costs, launch)
                                                   : measured_insert_ns(costs, launch);
    }
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_gpu_work work = work_of(costs, launch);
    const struct kvc_gpu_fit *fit = kvc_shards_gpu_fit(&config->gpu->clocks[clock], launch->kernel);
    return kvc_gpu_launch_ns(config->gpu, config->pcie, fit, &work);
}

double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs, const struct kvc_megakv_launch_work *launch)
{
    return kvc_megakv_launch_at_ns(costs, costs->clock, launch);
}

/* Measured launches include their copies. The shortest one is the latency; the rest is the time in which the
 * streams share the card. */
static struct kvc_gpu_kernel measured_kernel(const struct kvc_megakv_costs *costs,
                                             const struct kvc_megakv_launch_work *launch,
                                             const struct kvc_gpu_work *work, double frac)
{
    const struct kvc_pcie *pcie = costs->config->pcie;
    double shortest_ns = launch->kernel == KVC_SHARDS_SEARCH ? costs->search.y[0]
                         : launch->erases <= 0               ? costs->insert.y[0]
                         : launch->erases < launch->jobs     ? costs->insert.y[0] + costs->erase.y[0]
                                                             : costs->erase.y[0];
    double launch_ns = kvc_megakv_launch_ns(costs, launch);
    struct kvc_gpu_fit line = {.base_ns = fmin(shortest_ns, launch_ns)};
    line.ns_per_op = (launch_ns - line.base_ns) / launch->jobs;
    return kvc_gpu_kernel_of(costs->config->gpu, pcie, &line, work, frac);
}

struct kvc_gpu_kernel kvc_megakv_kernel_of(const struct kvc_megakv_costs *costs,
                                           const struct kvc_megakv_launch_work *launch, double jobs)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_gpu_work work = work_of(costs, launch);
    double frac = jobs / launch->jobs;
    if (costs->measured) {
        return measured_kernel(costs, launch, &work, frac);
    }
    const struct kvc_gpu_fit *fit = kvc_shards_gpu_fit(&config->gpu->clocks[costs->clock], launch->kernel);
    return kvc_gpu_kernel_of(config->gpu, config->pcie, fit, &work, frac);
}
