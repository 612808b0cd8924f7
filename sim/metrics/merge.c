#include "sim/metrics/merge.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/metrics/bottleneck.h"

static void merge_metrics(struct kvc_metrics *sum, const struct kvc_metrics *replica, double weight)
{
    for (uint32_t i = 0; i < replica->count; i++) {
        uint32_t at = 0;
        while (at < sum->count && strcmp(sum->entry[at].name, replica->entry[i].name) != 0) {
            at++;
        }
        if (at == sum->count) {
            kvc_metrics_set(sum, replica->entry[i].name, 0);
        }
        sum->entry[at].value += weight * replica->entry[i].value;
    }
}

/* Adds the stages. Every replica of a scenario has the same ones in the same order. */
static void merge_stages(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    for (uint32_t i = 0; i < replica->stage_count; i++) {
        struct kvc_stage_result *stage = &sum->stage[i];
        const struct kvc_stage_result *other = &replica->stage[i];
        if (i >= sum->stage_count) {
            *stage = *other;
            stage->utilization_frac = stage->mean_us = stage->busy_s = 0;
            stage->waiting_requests = stage->wait_us = 0;
            stage->served = 0;
            sum->stage_count++;
        }
        stage->utilization_frac += weight * other->utilization_frac;
        stage->mean_us += weight * other->mean_us;
        stage->waiting_requests += weight * other->waiting_requests;
        stage->wait_us += weight * other->wait_us;
        stage->busy_s += other->busy_s;
        stage->served += other->served;
    }
}

/* Keeps the windows that every replica has. Windows of different lengths cannot be averaged: none is kept. */
static void merge_windows(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    uint32_t shared = replica->window_count;
    if (sum->window_us == 0) {
        sum->window_us = replica->window_us;
    } else if (sum->window_us != replica->window_us) {
        shared = 0;
    } else if (sum->window_count < shared) {
        shared = sum->window_count;
    }
    for (uint32_t i = 0; i < shared; i++) {
        sum->window_mops[i] += (float)(weight * (double)replica->window_mops[i]);
        sum->window_latency[i] += (float)(weight * (double)replica->window_latency[i]);
    }
    for (uint32_t i = shared; i < sum->window_count; i++) {
        sum->window_mops[i] = 0;
        sum->window_latency[i] = 0;
    }
    sum->window_count = shared;
}

/* All replicas have the same platform, so their devices agree. */
static void merge_devices(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    bool first = sum->device_count == 0;
    for (uint32_t i = 0; i < replica->device_count; i++) {
        const struct kvc_device_result *from = &replica->device[i];
        if (first) {
            struct kvc_device_result *added = kvc_result_add_device(sum, from->name, from->device);
            added->joules = added->watts_mean = isnan(from->joules) ? NAN : 0;
        }
        sum->device[i].utilization_frac += weight * from->utilization_frac;
        sum->device[i].joules += from->joules;
        sum->device[i].watts_mean += weight * from->watts_mean;
    }
}

static void merge_tenants(struct kvc_result *sum, const struct kvc_result *replica, double weight)
{
    sum->tenant_count = replica->tenant_count;
    for (uint32_t i = 0; i < replica->tenant_count; i++) {
        struct kvc_tenant_result *tenant = &sum->tenant[i];
        const struct kvc_tenant_result *other = &replica->tenant[i];
        tenant->throughput_mops += weight * other->throughput_mops;
        tenant->hit_frac += weight * other->hit_frac;
        tenant->latency.mean_us += weight * other->latency.mean_us;
        tenant->latency.p50_us += weight * other->latency.p50_us;
        tenant->latency.p95_us += weight * other->latency.p95_us;
        tenant->latency.p99_us += weight * other->latency.p99_us;
        tenant->latency.p999_us += weight * other->latency.p999_us;
    }
}

void kvc_result_merge(struct kvc_result *sum, const struct kvc_result *replica, uint32_t replicas)
{
    double weight = 1.0 / replicas;
    sum->throughput_mops += weight * replica->throughput_mops;
    sum->offered += replica->offered;
    sum->completed += replica->completed;
    sum->dropped += replica->dropped;
    sum->growth_frac += weight * replica->growth_frac;
    sum->gets += replica->gets;
    sum->hits += replica->hits;
    sum->misses += replica->misses;
    sum->sets += replica->sets;
    sum->deletes += replica->deletes;
    if (replica->has_histogram) {
        kvc_histogram_add(&sum->latency, &replica->latency);
        kvc_paths_add(&sum->paths, &replica->paths);
    }
    sum->has_histogram |= replica->has_histogram;
    sum->moves |= replica->moves;
    merge_tenants(sum, replica, weight);
    merge_stages(sum, replica, weight);
    merge_metrics(&sum->kernel, &replica->kernel, weight);
    merge_metrics(&sum->model, &replica->model, weight);
    sum->watts_mean += weight * replica->watts_mean;
    sum->joules += replica->joules;
    kvc_missing_add(sum->watts_missing, replica->watts_missing);
    merge_devices(sum, replica, weight);
    sum->simulated_s += replica->simulated_s;
    sum->warmup_s += weight * replica->warmup_s;
    sum->steady_s += weight * replica->steady_s;
    sum->wall_s += replica->wall_s;
    sum->cpu_s += replica->cpu_s;
    sum->memory_taken_bytes = fmax(sum->memory_taken_bytes, replica->memory_taken_bytes);
    sum->source_wall_s += replica->source_wall_s;
    sum->kernel_wall_s += replica->kernel_wall_s;
    sum->engine_wall_s += replica->engine_wall_s;
    sum->preload_wall_s = fmax(sum->preload_wall_s, replica->preload_wall_s);
    sum->requests_simulated += replica->requests_simulated;
    sum->activities += replica->activities;
    merge_windows(sum, replica, weight);
    if (replicas == 1) { /* With more, the replicas themselves give the intervals. */
        sum->batch_s = replica->batch_s;
        sum->batch_means_count = replica->batch_means_count;
        memcpy(sum->batch_means, replica->batch_means, sizeof(sum->batch_means));
        sum->half_width_count = replica->half_width_count;
        memcpy(sum->half_width, replica->half_width, replica->half_width_count * sizeof(*sum->half_width));
    }
    if (sum->timeline_error == 0) {
        sum->timeline_error = replica->timeline_error;
    }
    if (sum->look_count == 0) {
        sum->look_count = replica->look_count;
        memcpy(sum->look, replica->look, replica->look_count * sizeof(*sum->look));
    }
    for (uint32_t i = 0; i < replica->note_count; i++) {
        kvc_result_note(sum, "%s", replica->note[i]);
    }
    kvc_bottleneck_find(sum);
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), bytes = strlen(end);
    return length >= bytes && strcmp(name + length - bytes, end) == 0;
}

static bool has_any(const char *name, const char *const *parts, bool at_end)
{
    for (; *parts != NULL; parts++) {
        if (at_end ? ends_in(name, *parts) : strstr(name, *parts) != NULL) {
            return true;
        }
    }
    return false;
}

enum kvc_merge_kind kvc_merge_kind_of(const char *name)
{
    static const char *const most[] = {"_most", "_max", "_max_us", "_max_ms", NULL};
    static const char *const ratio[] = {"_per_", "_over_", NULL};
    static const char *const unit[] = {"_frac",  "_us",   "_ns", "_ms",  "_s",   "_bytes",
                                       "_ratio", "_rate", "_w",  "_ghz", "_mhz", NULL};
    if (has_any(name, most, true)) {
        return KVC_MERGE_MOST;
    }
    bool is_mean = has_any(name, ratio, false) || has_any(name, unit, true);
    return is_mean ? KVC_MERGE_MEAN : KVC_MERGE_SUM;
}

static void add_metrics(struct kvc_metrics *sum, uint32_t *nodes, const struct kvc_metrics *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct kvc_metric *metric = &node->entry[i];
        uint32_t at = 0;
        while (at < sum->count && strcmp(sum->entry[at].name, metric->name) != 0) {
            at++;
        }
        if (at == sum->count) {
            kvc_metrics_set(sum, metric->name, 0);
        }
        if (isnan(metric->value)) {
            continue;
        }
        double *value = &sum->entry[at].value;
        bool largest = kvc_merge_kind_of(metric->name) == KVC_MERGE_MOST && nodes[at] > 0;
        *value = largest ? fmax(*value, metric->value) : *value + metric->value;
        nodes[at]++;
    }
}

/* Divides sums by their nodes where means are due. A metric that no node knows is unknown. */
static void end_metrics(struct kvc_metrics *sum, const uint32_t *nodes)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        struct kvc_metric *metric = &sum->entry[i];
        if (nodes[i] == 0) {
            metric->value = NAN;
        } else if (kvc_merge_kind_of(metric->name) == KVC_MERGE_MEAN) {
            metric->value /= nodes[i];
        }
    }
}

/* Adds a value of a stage to the mean over requests; an unknown one is left out. */
static void add_to_mean(double *mean, double requests, double value, double more)
{
    if (!isnan(value) && more > 0) {
        *mean = ((isnan(*mean) ? 0 : *mean * requests) + value * more) / (requests + more);
    }
}

static void add_known(double *sum, double value)
{
    *sum = isnan(*sum) ? value : isnan(value) ? *sum : *sum + value;
}

/* Returns the requests of a stage as a weight: those that it served, or the predicted rate. */
static double weight_of(const struct kvc_stage_result *stage)
{
    return stage->served > 0 ? (double)stage->served : isnan(stage->served_mops) ? 0 : stage->served_mops;
}

static void add_stages(struct kvc_merge_nodes *merge, const struct kvc_result *node)
{
    struct kvc_result *sum = merge->sum;
    for (uint32_t i = 0; i < node->stage_count; i++) {
        const struct kvc_stage_result *other = &node->stage[i];
        uint32_t at = 0;
        while (at < sum->stage_count && (strcmp(sum->stage[at].name, other->name) != 0 ||
                                         strcmp(sum->stage[at].device, other->device) != 0)) {
            at++;
        }
        if (at == sum->stage_count) {
            kvc_result_add_stage(sum, other->name, other->device, 0);
        }
        struct kvc_stage_result *stage = &sum->stage[at];
        if (!isnan(other->utilization_frac)) {
            stage->utilization_frac += other->utilization_frac;
            merge->stage_nodes[at]++;
        }
        add_to_mean(&stage->mean_us, weight_of(stage), other->mean_us, weight_of(other));
        add_to_mean(&stage->wait_us, weight_of(stage), other->wait_us, weight_of(other));
        add_known(&stage->waiting_requests, other->waiting_requests);
        add_known(&stage->served_mops, other->served_mops);
        stage->busy_s += other->busy_s;
        stage->served += other->served;
    }
}

/* Renames a device or stage of a node, whose own names begin with "node0". */
static void rename_for(const char *prefix, const char *name, char out[KVC_NAME_MAX])
{
    static const char own[] = "node0";
    char whole[2 * KVC_NAME_MAX];
    bool renamed = strncmp(name, own, strlen(own)) == 0;
    snprintf(whole, sizeof(whole), "%s%s", renamed ? prefix : "", name + (renamed ? strlen(own) : 0));
    whole[KVC_NAME_MAX - 1] = '\0';
    memcpy(out, whole, KVC_NAME_MAX);
}

/* Adds the looks of the node's power policy until there is no more room. */
static void add_looks(struct kvc_result *sum, const struct kvc_result *node, const char *prefix)
{
    uint32_t count = node->look_count, room = KVC_LOOKS_MAX - sum->look_count;
    for (uint32_t i = 0; i < count && i < room; i++) {
        struct kvc_look *look = &sum->look[sum->look_count++];
        *look = node->look[i];
        rename_for(prefix, node->look[i].unit, look->unit);
    }
    if (count > room) {
        kvc_result_note(sum, "the looks of the power policy are listed for the first nodes only");
    }
}

static void add_devices(struct kvc_merge_nodes *merge, const struct kvc_result *node, const char *prefix)
{
    struct kvc_result *sum = merge->sum;
    for (uint32_t i = 0; i < node->device_count; i++) {
        const struct kvc_device_result *from = &node->device[i];
        char name[KVC_NAME_MAX];
        uint32_t at = 0;
        rename_for(prefix, from->name, name);
        while (at < sum->device_count && strcmp(sum->device[at].name, name) != 0) {
            at++;
        }
        if (at == sum->device_count) {
            struct kvc_device_result *added = kvc_result_add_device(sum, name, from->device);
            added->joules = added->watts_mean = isnan(from->joules) ? NAN : 0;
        }
        sum->device[at].utilization_frac += from->utilization_frac;
        sum->device[at].joules += from->joules;
        sum->device[at].watts_mean += from->watts_mean;
        merge->device_nodes[at]++;
    }
}

/* Adds the windows that all nodes have. */
static void add_windows(struct kvc_merge_nodes *merge, const struct kvc_result *node)
{
    struct kvc_result *sum = merge->sum;
    uint32_t shared = node->window_count;
    if (merge->nodes == 0) {
        sum->window_us = node->window_us;
    } else if (sum->window_us != node->window_us) {
        shared = 0;
    } else if (sum->window_count < shared) {
        shared = sum->window_count;
    }
    for (uint32_t i = 0; i < shared; i++) {
        sum->window_mops[i] += node->window_mops[i];
        sum->window_latency[i] += node->window_latency[i];
    }
    for (uint32_t i = shared; i < sum->window_count; i++) {
        sum->window_mops[i] = 0;
        sum->window_latency[i] = 0;
    }
    sum->window_count = shared;
}

/* Returns whether two notes differ in numbers only. */
static bool alike(const char *a, const char *b)
{
    static const char numbers[] = "0123456789.";
    while (*a != '\0' || *b != '\0') {
        a += strspn(a, numbers);
        b += strspn(b, numbers);
        if (*a != *b) {
            return false;
        }
        a += *a != '\0';
        b += *b != '\0';
    }
    return true;
}

/* Adds the notes that no earlier node has. If notes differ in numbers only, the first one stays, with the
 * name of its node. */
static void add_notes(struct kvc_result *sum, const struct kvc_result *node, uint32_t number)
{
    for (uint32_t i = 0; i < node->note_count; i++) {
        char named[KVC_NOTE_BYTES + 16];
        bool has_numbers = strpbrk(node->note[i], "0123456789") != NULL, known = false;
        if (has_numbers) {
            snprintf(named, sizeof(named), "node%u: %s", number, node->note[i]);
        } else {
            snprintf(named, sizeof(named), "%s", node->note[i]);
        }
        for (uint32_t k = 0; k < sum->note_count && !known; k++) {
            known = alike(sum->note[k], named);
        }
        if (!known) {
            kvc_result_note(sum, "%s", named);
        }
    }
}

/* The values whose means by batch can be merged. */
static const char *const batch_names[] = {"throughput_mops", "offered_mops", "latency_mean_us"};

enum { BATCH_NAMES = sizeof(batch_names) / sizeof(*batch_names), BATCH_LATENCY = BATCH_NAMES - 1 };

static void add_batches(struct kvc_merge_nodes *merge, const struct kvc_result *node)
{
    struct kvc_result *sum = merge->sum;
    const struct kvc_batch_means *throughput = kvc_result_batch_means(node, batch_names[0]);
    for (uint32_t k = 0; k < BATCH_NAMES && !merge->batches_differ; k++) {
        const struct kvc_batch_means *from = kvc_result_batch_means(node, batch_names[k]);
        struct kvc_batch_means *to = &sum->batch_means[k];
        if (merge->nodes == 0 && from != NULL) {
            *to = (struct kvc_batch_means){.count = from->count};
            snprintf(to->name, sizeof(to->name), "%s", batch_names[k]);
            sum->batch_s = node->batch_s;
            sum->batch_means_count = BATCH_NAMES;
        }
        merge->batches_differ = from == NULL || from->count != to->count ||
                                from->count != throughput->count || node->batch_s != sum->batch_s;
        for (uint32_t i = 0; i < to->count && !merge->batches_differ; i++) {
            to->mean[i] += from->mean[i] * (k == BATCH_LATENCY ? throughput->mean[i] : 1);
        }
    }
}

static void end_batches(struct kvc_result *sum, bool differ)
{
    struct kvc_batch_means *latency = &sum->batch_means[BATCH_LATENCY];
    if (differ) {
        sum->batch_means_count = 0;
        sum->batch_s = 0;
        return;
    }
    for (uint32_t i = 0; sum->batch_means_count > 0 && i < latency->count; i++) {
        latency->mean[i] /= sum->batch_means[0].mean[i];
    }
}

void kvc_merge_nodes_add(struct kvc_merge_nodes *merge, const struct kvc_result *node, const char *prefix)
{
    struct kvc_result *sum = merge->sum;
    sum->throughput_mops += node->throughput_mops;
    double offered = (double)(sum->offered + node->offered);
    sum->growth_frac =
        offered > 0
            ? (sum->growth_frac * (double)sum->offered + node->growth_frac * (double)node->offered) / offered
            : 0;
    sum->offered += node->offered;
    sum->completed += node->completed;
    sum->dropped += node->dropped;
    sum->gets += node->gets;
    sum->hits += node->hits;
    sum->misses += node->misses;
    sum->sets += node->sets;
    sum->deletes += node->deletes;
    if (node->has_histogram) {
        kvc_histogram_add(&sum->latency, &node->latency);
        kvc_paths_add(&sum->paths, &node->paths);
    }
    sum->has_histogram |= node->has_histogram;
    kvc_spans_add(&sum->spans, &node->spans, merge->nodes == 0);
    sum->moves |= node->moves;
    add_stages(merge, node);
    add_metrics(&sum->kernel, merge->kernel_nodes, &node->kernel);
    add_metrics(&sum->model, merge->model_nodes, &node->model);
    sum->watts_mean += node->watts_mean;
    sum->joules += node->joules;
    kvc_missing_add(sum->watts_missing, node->watts_missing);
    add_devices(merge, node, prefix);
    if (sum->timeline_error == 0) {
        sum->timeline_error = node->timeline_error;
    }
    sum->simulated_s = fmax(sum->simulated_s, node->simulated_s);
    sum->warmup_s = fmax(sum->warmup_s, node->warmup_s);
    sum->steady_s = fmax(sum->steady_s, node->steady_s);
    sum->wall_s += node->wall_s;
    sum->cpu_s += node->cpu_s;
    sum->memory_taken_bytes = fmax(sum->memory_taken_bytes, node->memory_taken_bytes);
    sum->source_wall_s += node->source_wall_s;
    sum->kernel_wall_s += node->kernel_wall_s;
    sum->engine_wall_s += node->engine_wall_s;
    sum->preload_wall_s += node->preload_wall_s;
    sum->requests_simulated += node->requests_simulated;
    sum->activities += node->activities;
    add_windows(merge, node);
    add_batches(merge, node);
    add_looks(sum, node, prefix);
    add_notes(sum, node, merge->nodes);
    merge->nodes++;
}

void kvc_merge_nodes_end(struct kvc_merge_nodes *merge)
{
    struct kvc_result *sum = merge->sum;
    for (uint32_t i = 0; i < sum->stage_count; i++) {
        struct kvc_stage_result *stage = &sum->stage[i];
        stage->utilization_frac =
            merge->stage_nodes[i] > 0 ? stage->utilization_frac / merge->stage_nodes[i] : NAN;
    }
    for (uint32_t i = 0; i < sum->device_count; i++) {
        sum->device[i].utilization_frac /= merge->device_nodes[i];
    }
    end_metrics(&sum->kernel, merge->kernel_nodes);
    end_metrics(&sum->model, merge->model_nodes);
    end_batches(sum, merge->batches_differ);
    kvc_bottleneck_find(sum);
}

/* The generating function on a circle, and the distributions of the nodes by slot. */
struct evaluation {
    const struct kvc_fanout_node *node;
    uint32_t nodes, points; /* Points on the upper half of the circle, with both ends. */
    double norm;            /* Probability that a Poisson variable with mean `keys` is `keys`. */
    double *none;           /* By node: exp(-q m). */
    double complex *turned; /* By node and point: exp(q (z - m)). */
    double complex *turn;   /* By point: exp(-i m angle). */
    uint64_t **below;       /* By node: values up to each slot of its pack. */
    uint32_t first, end;    /* Slots that any node has. */
};

static void close_evaluation(struct evaluation *at)
{
    for (uint32_t i = 0; at->below != NULL && i < at->nodes; i++) {
        free(at->below[i]);
    }
    free(at->below);
    free(at->none);
    free(at->turned);
    free(at->turn);
}

static bool open_node(struct evaluation *at, uint32_t i, double keys)
{
    const struct kvc_histogram_pack *pack = at->node[i].latency;
    double q = at->node[i].share;
    at->none[i] = exp(-q * keys);
    for (uint32_t k = 0; k < at->points; k++) {
        double angle = M_PI * k / (at->points - 1);
        at->turned[(size_t)i * at->points + k] = cexp(q * keys * (cexp(I * angle) - 1));
    }
    if (q <= 0) {
        return true;
    }
    uint64_t sum = 0;
    at->below[i] = malloc((pack->slots + 1ull) * sizeof(**at->below));
    for (uint32_t slot = 0; at->below[i] != NULL && slot < pack->slots; slot++) {
        sum += pack->slot[slot];
        at->below[i][slot] = sum;
    }
    at->first = pack->first < at->first ? pack->first : at->first;
    at->end = pack->first + pack->slots > at->end ? pack->first + pack->slots : at->end;
    return at->below[i] != NULL;
}

static bool open_evaluation(struct evaluation *at, uint32_t keys)
{
    double m = keys;
    at->points = 17 + (uint32_t)(6 * sqrt(m)); /* Half of a circle of 32 + 12 sqrt(m) points. */
    at->norm = exp(m * log(m) - m - lgamma(m + 1));
    at->first = UINT32_MAX;
    at->none = malloc(at->nodes * sizeof(*at->none));
    at->turned = malloc((size_t)at->nodes * at->points * sizeof(*at->turned));
    at->turn = malloc(at->points * sizeof(*at->turn));
    at->below = calloc(at->nodes, sizeof(*at->below));
    bool ok = at->none != NULL && at->turned != NULL && at->turn != NULL && at->below != NULL;
    for (uint32_t k = 0; k < at->points && ok; k++) {
        at->turn[k] = cexp(-I * m * M_PI * k / (at->points - 1));
    }
    for (uint32_t i = 0; i < at->nodes && ok; i++) {
        ok = open_node(at, i, m);
    }
    return ok && at->end > at->first;
}

/* Returns the share of a node's latencies that are in this slot or a lower one. */
static double share_below(const struct evaluation *at, uint32_t i, uint32_t slot)
{
    const struct kvc_histogram_pack *pack = at->node[i].latency;
    if (at->node[i].share <= 0 || slot < pack->first) {
        return 0;
    }
    return slot < pack->first + pack->slots ? (double)at->below[i][slot - pack->first] / (double)pack->count
                                            : 1;
}

/* Returns the probability that the slowest is in this slot or a lower one. */
static double probability(const struct evaluation *at, uint32_t slot, double *share)
{
    double sum = 0;
    for (uint32_t i = 0; i < at->nodes; i++) {
        share[i] = share_below(at, i, slot);
    }
    for (uint32_t k = 0; k < at->points; k++) {
        double complex product = 1;
        for (uint32_t i = 0; i < at->nodes; i++) {
            product *= (1 - share[i]) * at->none[i] + share[i] * at->turned[(size_t)i * at->points + k];
        }
        bool is_end = k == 0 || k + 1 == at->points; /* The other points also stand for the lower half. */
        sum += (is_end ? 1 : 2) * creal(product * at->turn[k]);
    }
    return fmin(fmax(sum / (2.0 * (at->points - 1)) / at->norm, 0), 1);
}

bool kvc_fanout_of(const struct kvc_fanout_node *node, uint32_t nodes, uint32_t keys, struct kvc_fanout *out)
{
    struct evaluation at = {.node = node, .nodes = nodes};
    double *share = malloc((nodes + 1ull) * sizeof(*share));
    bool ok = share != NULL && open_evaluation(&at, keys);
    double before = 0, mean_ns = 0;
    *out = (struct kvc_fanout){NAN, NAN, NAN, NAN};
    for (uint32_t slot = ok ? at.first : 0; ok && slot < at.end; slot++) {
        double now = fmax(probability(&at, slot, share), before), value_ns = kvc_histogram_slot_ns(slot);
        mean_ns += (now - before) * value_ns;
        out->p50_us = now >= 0.5 && before < 0.5 ? value_ns * 1e-3 : out->p50_us;
        out->p95_us = now >= 0.95 && before < 0.95 ? value_ns * 1e-3 : out->p95_us;
        out->p99_us = now >= 0.99 && before < 0.99 ? value_ns * 1e-3 : out->p99_us;
        before = now;
    }
    out->mean_us = ok ? mean_ns * 1e-3 / before : NAN;
    close_evaluation(&at);
    free(share);
    return ok;
}
