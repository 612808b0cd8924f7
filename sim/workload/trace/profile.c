#include "sim/workload/trace/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/array.h"
#include "sim/workload/keys/zipf.h"

enum {
    PLACES = 8 * KVC_KEY_SAMPLE_MAX, /* Places of the trees; when all are used, keys are counted anew. */
    REPORT_ROWS = 1 << 18,           /* Rows between two reports of the progress. */
};

/* A Fenwick tree of sums over places, which count from 1. */
struct tree {
    double sum[PLACES + 1];
};

static void add(struct tree *tree, uint64_t place, double amount)
{
    for (; place <= PLACES; place += place & -place) {
        tree->sum[place] += amount;
    }
}

/* Returns the sum over the places up to this one. */
static double sum_to(const struct tree *tree, uint64_t place)
{
    double sum = 0;
    for (; place > 0; place -= place & -place) {
        sum += tree->sum[place];
    }
    return sum;
}

/* The LRU stack of the sampled keys: each has the place of its last request, and weighs its pair there. */
struct stack {
    struct tree bytes, keys;
    struct tree *group; /* Keys of each group; NULL if nobody watches. */
    uint64_t places;    /* Places used. */
};

/* Adds a key at its place, once or minus once. A deleted key only has a place in its group. */
static void add_key(struct stack *stack, const struct kvc_sampled_key *key, double times)
{
    if (!key->is_deleted) {
        add(&stack->bytes, key->last, times * key->weight);
        add(&stack->keys, key->last, times);
    }
    if (stack->group != NULL) {
        add(&stack->group[kvc_reuse_group(key->uses, key->is_stored)], key->last, times);
    }
}

static void leave(void *data, const struct kvc_sampled_key *key)
{
    if (key->last > 0) {
        add_key(data, key, -1);
    }
}

static int by_last(const void *a, const void *b)
{
    const struct kvc_sampled_key *left = *(struct kvc_sampled_key *const *)a;
    const struct kvc_sampled_key *right = *(struct kvc_sampled_key *const *)b;
    return left->last < right->last ? -1 : 1;
}

/* Gives the keys the first places, in their order. */
static void count_anew(struct stack *stack, struct kvc_key_sample *keys)
{
    struct kvc_sampled_key **present = kvc_array_of(KVC_KEY_SAMPLE_MAX, sizeof(struct kvc_sampled_key *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * KVC_KEY_SAMPLE_MAX; i++) {
        if (keys->key[i].hash != 0 && keys->key[i].last > 0) {
            present[count++] = &keys->key[i];
        }
    }
    qsort(present, count, sizeof(*present), by_last);
    memset(&stack->bytes, 0, sizeof(stack->bytes));
    memset(&stack->keys, 0, sizeof(stack->keys));
    if (stack->group != NULL) {
        memset(stack->group, 0, KVC_REUSE_GROUPS * sizeof(*stack->group));
    }
    for (uint32_t i = 0; i < count; i++) {
        present[i]->last = i + 1;
        add_key(stack, present[i], 1);
    }
    stack->places = count;
    free(present);
}

static uint32_t bin_of(double distance)
{
    double bin = distance > 1 ? 64 * log2(distance) : 0;
    return bin < KVC_REUSE_BINS ? (uint32_t)bin : KVC_REUSE_BINS - 1;
}

/* Requests a key of the sample. */
static void request(struct kvc_trace_profile *profile, struct stack *stack, struct kvc_trace_sums *sums,
                    struct kvc_sampled_key *key, enum kvc_op op)
{
    double scale = kvc_key_sample_scale(&sums->keys);
    double pair_bytes = (double)key->key_bytes + key->value_bytes;
    if (key->last > 0 && !key->is_deleted && op == KVC_OP_GET) {
        double bytes = sum_to(&stack->bytes, PLACES) - sum_to(&stack->bytes, key->last);
        double keys = sum_to(&stack->keys, PLACES) - sum_to(&stack->keys, key->last);
        profile->repeated_gets += scale;
        profile->bytes.gets[bin_of(bytes * scale + pair_bytes)] += scale;
        profile->keys.gets[bin_of(keys * scale + 1)] += scale;
    }
    leave(stack, key);
    key->last = 0;
    if (op == KVC_OP_DELETE && stack->group == NULL) {
        return;
    }
    if (stack->places == PLACES) {
        count_anew(stack, &sums->keys);
    }
    key->requests += op != KVC_OP_DELETE;
    key->uses++;
    key->is_stored = op == KVC_OP_SET || (key->is_stored && op == KVC_OP_GET);
    key->is_deleted = op == KVC_OP_DELETE;
    key->weight = pair_bytes;
    key->last = ++stack->places;
    add_key(stack, key, 1);
}

/* ---- popularity ---- */

static int by_requests(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

/* The requests of the sampled keys, the most popular key first; `scale` ranks lie between two of them. */
struct ranking {
    uint64_t *requests;
    uint32_t count;
    double scale, sum, log_sum; /* Requests, and the logarithms of their ranks, summed up. */
    uint64_t keys;
};

static double rank_of(const struct ranking *ranking, uint32_t i)
{
    return (i + 0.5) * ranking->scale + 0.5;
}

/* Returns the logarithm of the likelihood of an exponent. The head of the distribution, one rank, is
 * 1 / sum(k^-s). */
static double likelihood(const struct ranking *ranking, double s)
{
    return -s * ranking->log_sum + ranking->sum * log(kvc_zipf_mass(ranking->keys, s, 1));
}

static void fit_zipf(struct kvc_trace_profile *profile, const struct ranking *ranking)
{
    static const double golden = 0.6180339887498949;
    double low = 1e-3, high = 4;
    while (high - low > 1e-6) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        if (likelihood(ranking, left) < likelihood(ranking, right)) {
            low = left;
        } else {
            high = right;
        }
    }
    profile->zipf_s = 0.5 * (low + high);
    double before = 0, step = 1;
    for (uint32_t i = 0; i < ranking->count; i++) {
        before += (double)ranking->requests[i];
        if (i + 1 >= step || i + 1 == ranking->count) { /* About 50 ranks for each factor of 10. */
            uint64_t rank = (uint64_t)fmin(ceil((i + 1) * ranking->scale), (double)ranking->keys);
            double mass = kvc_zipf_mass(ranking->keys, profile->zipf_s, rank);
            profile->zipf_distance = fmax(profile->zipf_distance, fabs(before / ranking->sum - mass));
            step = ceil(fmax(step + 1, step * 1.047));
        }
    }
}

static void rank_keys(struct kvc_trace_profile *profile, const struct kvc_key_sample *keys)
{
    struct ranking ranking = {.requests = kvc_array_of(keys->count, sizeof(*ranking.requests)),
                              .scale = kvc_key_sample_scale(keys)};
    for (uint32_t i = 0; i < 2 * KVC_KEY_SAMPLE_MAX; i++) {
        if (keys->key[i].hash != 0 && keys->key[i].requests > 0) {
            ranking.requests[ranking.count++] = keys->key[i].requests;
        }
    }
    qsort(ranking.requests, ranking.count, sizeof(*ranking.requests), by_requests);
    for (uint32_t i = 0; i < ranking.count; i++) {
        ranking.sum += (double)ranking.requests[i];
        ranking.log_sum += (double)ranking.requests[i] * log(rank_of(&ranking, i));
    }
    ranking.keys = (uint64_t)fmax(rint(ranking.count * ranking.scale), 1);
    if (ranking.count > 0) {
        fit_zipf(profile, &ranking);
    }
    free(ranking.requests);
}

/* ---- the trace ---- */

/* Sets what follows from all rows. A sample that has too many or too few of the requests has the error among
 * the most popular keys, whose requests come back soonest; the adjustment of SHARDS corrects them. */
static void conclude(struct kvc_trace_profile *profile, const struct kvc_trace_sums *sums,
                     const struct kvc_trace *trace, double sampled_gets)
{
    profile->facts = kvc_trace_sums_facts(sums, trace, true);
    profile->gets = (double)sums->op[KVC_OP_GET];
    profile->footprint_bytes = profile->facts.keys * (profile->facts.key_bytes + profile->facts.value_bytes);
    double missing = profile->gets - sampled_gets;
    profile->repeated_gets += missing;
    profile->bytes.gets[0] += missing;
    profile->keys.gets[0] += missing;
    rank_keys(profile, &sums->keys);
}

static void show(const struct kvc_profile_watch *watch, const struct stack *stack,
                 const struct kvc_trace_sums *sums, const struct kvc_sampled_key *key,
                 const struct kvc_trace_row *row)
{
    struct kvc_profiled_request seen = {.row = row, .key = key, .scale = kvc_key_sample_scale(&sums->keys)};
    if (key != NULL && key->last > 0) {
        const struct tree *group = &stack->group[kvc_reuse_group(key->uses, key->is_stored)];
        seen.place = (sum_to(group, PLACES) - sum_to(group, key->last)) * seen.scale + 1;
    }
    watch->request(watch->data, &seen);
}

enum kvc_status kvc_trace_profile_read(const char *path, struct kvc_trace_profile *profile,
                                       const struct kvc_profile_watch *watch,
                                       const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_trace *trace = kvc_trace_open(path, diag);
    struct kvc_trace_sums sums;
    struct kvc_trace_row row;
    enum kvc_trace_next next;
    double sampled_gets = 0, second_ns = 0, in_second = 0;
    *profile = (struct kvc_trace_profile){.gets = 0};
    if (trace == NULL) {
        return KVC_ERR_SCENARIO;
    }
    struct stack *stack = kvc_array_of(1, sizeof(*stack));
    stack->group = watch != NULL ? kvc_array_of(KVC_REUSE_GROUPS, sizeof(*stack->group)) : NULL;
    kvc_trace_sums_open(&sums);
    while ((next = kvc_trace_read(trace, &row, diag)) == KVC_TRACE_ROW) {
        struct kvc_sampled_key *key = kvc_trace_sums_add(&sums, &row, leave, stack);
        if (watch != NULL) {
            show(watch, stack, &sums, key, &row);
        }
        if (key != NULL) {
            sampled_gets += row.op == KVC_OP_GET ? kvc_key_sample_scale(&sums.keys) : 0;
            request(profile, stack, &sums, key, (enum kvc_op)row.op);
        }
        in_second = row.time_ns - second_ns < 1e9 ? in_second + 1 : 1;
        second_ns = row.time_ns - second_ns < 1e9 ? second_ns : floor(row.time_ns / 1e9) * 1e9;
        profile->busiest_s_requests = fmax(profile->busiest_s_requests, in_second);
        if (sums.rows % REPORT_ROWS == 0) {
            kvc_progress_report(progress, "read", kvc_trace_read_frac(trace));
        }
    }
    enum kvc_status status = next == KVC_TRACE_ERROR ? KVC_ERR_SCENARIO
                             : sums.rows == 0        ? kvc_trace_fail_empty(path, diag)
                                                     : KVC_OK;
    if (status == KVC_OK) {
        conclude(profile, &sums, trace, sampled_gets);
        profile->busiest_s_requests = profile->facts.is_timed ? profile->busiest_s_requests : 0;
    }
    kvc_trace_sums_close(&sums);
    kvc_trace_close(trace);
    free(stack->group);
    free(stack);
    return status;
}

const struct kvc_trace_profile *kvc_trace_profile_of(const char *path, struct kvc_diag *diag)
{
    static _Thread_local struct kvc_trace_profile profile;
    static _Thread_local struct stat known;
    struct stat file = {0};
    bool keeps = stat(path, &file) == 0 && S_ISREG(file.st_mode);
    if (keeps && kvc_trace_is_same_file(&known, &file)) {
        return &profile;
    }
    known = (struct stat){0};
    if (kvc_trace_profile_read(path, &profile, NULL, NULL, diag) != KVC_OK) {
        return NULL;
    }
    known = keeps ? file : known;
    return &profile;
}

double kvc_trace_hit_frac(const struct kvc_trace_profile *profile, const struct kvc_reuse_histogram *reuse,
                          double size)
{
    double hits = 0;
    for (uint32_t i = 0; i < KVC_REUSE_BINS && exp2((i + 1) / 64.0) <= size * exp2(1.0 / 128); i++) {
        hits += reuse->gets[i];
    }
    return profile->gets > 0 ? fmax(hits, 0) / profile->gets : NAN;
}

double kvc_trace_reuse_quantile(const struct kvc_trace_profile *profile,
                                const struct kvc_reuse_histogram *reuse, double share)
{
    double below = 0;
    uint32_t i = 0;
    while (i + 1 < KVC_REUSE_BINS && below + reuse->gets[i] < share * profile->repeated_gets) {
        below += reuse->gets[i++];
    }
    return exp2((i + 0.5) / 64.0);
}
