#include "sim/metrics/merge_nodes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/metrics/bottleneck.h"

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
        if (!isnan(other->mean_us) && other->served > 0) {
            double before = isnan(stage->mean_us) ? 0 : stage->mean_us * (double)stage->served;
            stage->mean_us =
                (before + other->mean_us * (double)other->served) / (double)(stage->served + other->served);
        }
        stage->busy_s += other->busy_s;
        stage->served += other->served;
    }
}

/* Writes the name of something of the node, whose own names begin with "node0". */
static void rename_for(const char *prefix, const char *name, char out[KVC_NAME_MAX])
{
    static const char own[] = "node0";
    char whole[2 * KVC_NAME_MAX];
    bool renamed = strncmp(name, own, strlen(own)) == 0;
    snprintf(whole, sizeof(whole), "%s%s", renamed ? prefix : "", name + (renamed ? strlen(own) : 0));
    whole[KVC_NAME_MAX - 1] = '\0';
    memcpy(out, whole, KVC_NAME_MAX);
}

/* Adds the looks of the node's power policy, as far as there is room. */
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
    }
    for (uint32_t i = shared; i < sum->window_count; i++) {
        sum->window_mops[i] = 0;
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

/* Adds the notes that no earlier node has. Of notes that differ in numbers only, the first one stays, with
 * the name of its node. */
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
    }
    sum->has_histogram |= node->has_histogram;
    add_stages(merge, node);
    add_metrics(&sum->kernel, merge->kernel_nodes, &node->kernel);
    add_metrics(&sum->model, merge->model_nodes, &node->model);
    sum->watts_mean += node->watts_mean;
    sum->joules += node->joules;
    add_devices(merge, node, prefix);
    if (sum->timeline_error == 0) {
        sum->timeline_error = node->timeline_error;
    }
    sum->simulated_s = fmax(sum->simulated_s, node->simulated_s);
    sum->warmup_s = fmax(sum->warmup_s, node->warmup_s);
    sum->wall_s += node->wall_s;
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
