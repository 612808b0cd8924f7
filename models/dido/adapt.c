#include "models/dido/adapt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/phases.h"

enum { SEEN_SLOTS = 4 * KVC_DIDO_SAMPLE_MAX, BISECTIONS = 12, BLOCKS_MAX = 512 };

/* Exponents beyond this one give all requests to a handful of keys. */
static const double zipf_most = 3, standard_errors = 3;

void kvc_dido_adapter_open(struct kvc_dido_adapter *adapter, double threshold_frac,
                           const struct kvc_dido_profile *planned, double zipf_s)
{
    *adapter =
        (struct kvc_dido_adapter){.threshold_frac = threshold_frac, .planned = *planned, .zipf_s = zipf_s};
    adapter->seen = kvc_array_of(SEEN_SLOTS, sizeof(*adapter->seen));
}

void kvc_dido_adapter_close(struct kvc_dido_adapter *adapter)
{
    free(adapter->seen);
}

/* ---- the profile ---- */

/* Adds a hash to the table. Returns whether it is new. The table is never more than a quarter full. */
static bool add_hash(uint64_t *seen, uint64_t hash)
{
    uint64_t mark = hash != 0 ? hash : 1; /* 0 is a free slot. */
    uint64_t slot = mark % SEEN_SLOTS;
    while (seen[slot] != 0 && seen[slot] != mark) {
        slot = (slot + 1) % SEEN_SLOTS;
    }
    bool is_new = seen[slot] == 0;
    seen[slot] = mark;
    return is_new;
}

struct kvc_dido_profile kvc_dido_profile_of(struct kvc_dido_adapter *adapter, const struct kvc_batch *rows)
{
    struct kvc_dido_profile profile = {0};
    uint64_t gets = 0, sets = 0, key_bytes = 0, value_bytes = 0;
    profile.sampled = rows->count < KVC_DIDO_SAMPLE_MAX ? rows->count : KVC_DIDO_SAMPLE_MAX;
    memset(adapter->seen, 0, SEEN_SLOTS * sizeof(*adapter->seen));
    for (uint32_t i = 0; i < rows->count; i++) {
        gets += rows->op[i] == KVC_OP_GET;
        sets += rows->op[i] == KVC_OP_SET;
        key_bytes += rows->key_bytes[i];
        value_bytes += rows->value_bytes[i];
    }
    for (uint32_t i = 0; i < profile.sampled; i++) {
        profile.distinct += add_hash(adapter->seen, rows->hash[i]);
    }
    double queries = rows->count;
    profile.get_frac = (double)gets / queries;
    profile.set_frac = (double)sets / queries;
    profile.key_bytes = (double)key_bytes / queries;
    profile.value_bytes = (double)value_bytes / queries;
    return profile;
}

/* ---- popularity ---- */

static struct kvc_workload popularity_of(uint64_t items, double zipf_s)
{
    return (struct kvc_workload){.keys = items,
                                 .get_frac = 1,
                                 .popularity = zipf_s > 0 ? KVC_POPULARITY_ZIPF : KVC_POPULARITY_UNIFORM,
                                 .zipf_s = zipf_s};
}

/* The planner looks for the exponent while requests wait for it, so ranks are summed by blocks, which are an
 * eighth of their first rank wide and count as their middle one. */
double kvc_dido_expected_distinct(uint64_t items, double zipf_s, uint32_t sampled)
{
    double weight[BLOCKS_MAX], ranks[BLOCKS_MAX], sum = 0, distinct = 0, first = 1, last = (double)items;
    uint32_t blocks = 0;
    for (; first <= last && blocks < BLOCKS_MAX; first += ranks[blocks++]) {
        double width = blocks + 1 < BLOCKS_MAX && zipf_s > 0 ? fmax(floor(first / 8), 1) : last;
        ranks[blocks] = fmin(width, last + 1 - first);
        weight[blocks] = pow(first + (ranks[blocks] - 1) / 2, -zipf_s);
        sum += ranks[blocks] * weight[blocks];
    }
    for (uint32_t i = 0; i < blocks; i++) {
        distinct -= ranks[i] * expm1(sampled * log1p(-fmin(weight[i] / sum, 1)));
    }
    return distinct;
}

/* Under a uniform load, the number of repeated keys is Poisson distributed. */
double kvc_dido_fit_zipf(const struct kvc_dido_profile *profile, uint64_t items)
{
    double uniform = kvc_dido_expected_distinct(items, 0, profile->sampled);
    double repeats = profile->sampled - uniform, low = 0, high = zipf_most;
    if (profile->distinct >= uniform - standard_errors * sqrt(fmax(repeats, 1))) {
        return 0;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (kvc_dido_expected_distinct(items, middle, profile->sampled) > profile->distinct) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* ---- plans ---- */

static bool differs(const struct kvc_dido_adapter *adapter, double now, double planned)
{
    return fabs(now - planned) > adapter->threshold_frac * planned;
}

/* Most batches have the same sample size as the one before, so the sum is computed rarely. */
static double expected_distinct(struct kvc_dido_adapter *adapter, uint64_t items, uint32_t sampled)
{
    /* A sample hardly depends on the number of items, which changes with every SET of a new key. */
    bool known = adapter->expected_sampled == sampled && adapter->expected_zipf_s == adapter->zipf_s;
    if (!known || fabs(adapter->expected_items - (double)items) > 0.01 * (double)items) {
        adapter->expected = kvc_dido_expected_distinct(items, adapter->zipf_s, sampled);
        adapter->expected_items = (double)items;
        adapter->expected_sampled = sampled;
        adapter->expected_zipf_s = adapter->zipf_s;
    }
    return adapter->expected;
}

bool kvc_dido_has_changed(struct kvc_dido_adapter *adapter, const struct kvc_dido_profile *profile,
                          uint64_t items)
{
    const struct kvc_dido_profile *planned = &adapter->planned;
    if (differs(adapter, profile->get_frac, planned->get_frac) ||
        differs(adapter, profile->key_bytes, planned->key_bytes) ||
        differs(adapter, profile->value_bytes, planned->value_bytes)) {
        return true;
    }
    /* The mean number of accesses to an item is the sample over the items in it. */
    return profile->sampled >= KVC_DIDO_SAMPLE_MIN &&
           differs(adapter, 1.0 / profile->distinct, 1 / expected_distinct(adapter, items, profile->sampled));
}

struct kvc_dido_plan kvc_dido_adapt(struct kvc_dido_adapter *adapter, const struct kvc_dido_config *config,
                                    const struct kvc_dido_profile *profile, const struct kvc_dido_mix *mix,
                                    uint64_t items)
{
    adapter->planned = *profile;
    if (profile->sampled >= KVC_DIDO_SAMPLE_MIN) {
        adapter->zipf_s = kvc_dido_fit_zipf(profile, items);
    }
    struct kvc_workload load = popularity_of(items, adapter->zipf_s);
    load.key_bytes = (uint64_t)lround(profile->key_bytes);
    load.value_bytes = (uint64_t)lround(profile->value_bytes);
    load.get_frac = profile->get_frac;
    load.set_frac = profile->set_frac;
    load.delete_frac = 1 - profile->get_frac - profile->set_frac;
    load.frame_requests = config->stated_frame_requests;
    load.multiget = config->multiget;
    struct kvc_dido_config profiled = *config;
    struct kvc_dido_mix lasting = *mix;
    lasting.get_frac = profile->get_frac;
    lasting.set_frac = lasting.insert_frac = profile->set_frac;
    lasting.erase_frac = 1 - profile->get_frac;
    lasting.key_bytes = profile->key_bytes;
    lasting.value_bytes = profile->value_bytes;
    kvc_dido_set_load(&profiled, &load);
    return kvc_dido_best_plan(&profiled, NULL, &lasting);
}

/* ---- recovery ---- */

static const double recovered_frac = 0.95;

static double mean_mops(const struct kvc_result *result, uint32_t first, uint32_t end)
{
    double sum = 0;
    for (uint32_t i = first; i < end; i++) {
        sum += (double)result->window_mops[i];
    }
    return sum / (end - first);
}

/* Returns the time for which the windows first to end - 1 of a phase were below the throughput of its last
 * third [us].
 */
static double recovery_of_us(const struct kvc_result *result, uint32_t first, uint32_t end)
{
    uint32_t third = end - (end - first) / 3, recovered = third;
    double level_mops = mean_mops(result, third, end);
    while (recovered > first && (double)result->window_mops[recovered - 1] >= recovered_frac * level_mops) {
        recovered--;
    }
    return (recovered - first) * result->window_us;
}

double kvc_dido_recovery_us(const struct kvc_workload *workload, double from_ns,
                            const struct kvc_result *result)
{
    double window_ns = result->window_us * 1e3, until_ns = from_ns + result->window_count * window_ns;
    double sum_us = 0, begin_ns = from_ns, slack_ns = window_ns / 2;
    uint32_t changes = 0;
    while (workload->phase_count > 0 && begin_ns + slack_ns < until_ns) {
        double middle_ns = begin_ns + slack_ns, phase_ns = kvc_phases_begin_ns(workload, middle_ns);
        double end_ns = phase_ns + kvc_phases_length_ns(workload, kvc_phases_at(workload, middle_ns));
        double windows = (end_ns - phase_ns) / window_ns;
        bool whole = fabs(phase_ns - begin_ns) < slack_ns && end_ns < until_ns + slack_ns;
        if (whole && windows > KVC_PHASES_WINDOWS - 0.5) {
            uint32_t first = (uint32_t)lround((begin_ns - from_ns) / window_ns);
            sum_us += recovery_of_us(result, first, first + (uint32_t)lround(windows));
            changes++;
        }
        begin_ns = end_ns;
    }
    return changes > 0 ? sum_us / changes : NAN;
}
