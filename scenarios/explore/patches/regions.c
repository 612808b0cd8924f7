#include "scenarios/explore/patches/regions.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/load/decode/sections.h"

struct kvc_regions kvc_regions_of(const struct kvc_scenario *scenario)
{
    struct kvc_regions regions = {
        .count = KVC_REGION_DEVICE,
        .region = {
            [KVC_REGION_OPTIONS] = {scenario->options, scenario->model->options->size},
            [KVC_REGION_NODE] = {(void *)&scenario->node, offsetof(struct kvc_node, device)},
            [KVC_REGION_CLUSTER] = {(void *)&scenario->cluster, sizeof(scenario->cluster)},
            [KVC_REGION_WORKLOAD] = {(void *)&scenario->workload, sizeof(scenario->workload)},
            [KVC_REGION_RUN] = {(void *)&scenario->run, sizeof(scenario->run)},
            [KVC_REGION_POWER] = {(void *)&scenario->power, sizeof(scenario->power)},
        }};
    for (const struct kvc_device *device = scenario->node.device; device->kind != NULL; device++) {
        regions.region[regions.count++] = (struct kvc_region){device->values, device->kind->options->size};
    }
    return regions;
}

bool kvc_regions_match(const struct kvc_scenario *a, const struct kvc_scenario *b)
{
    bool match = a->model == b->model;
    for (uint32_t i = 0; match; i++) {
        match = a->node.device[i].kind == b->node.device[i].kind;
        if (a->node.device[i].kind == NULL) {
            break;
        }
    }
    return match;
}

static size_t bytes_of(enum kvc_option_type type)
{
    switch (type) {
    case KVC_OPTION_BOOL:
        return sizeof(bool);
    case KVC_OPTION_COUNT:
        return sizeof(uint64_t);
    case KVC_OPTION_REAL:
        return sizeof(double);
    case KVC_OPTION_CHOICE:
        return sizeof(int);
    default:
        return 0; /* Texts and lists are not plain. */
    }
}

static struct kvc_region_field find(const struct kvc_option_table *options, const char *name, uint32_t region)
{
    struct kvc_region_field field = {.region = region};
    for (size_t i = 0; i < options->count; i++) {
        const struct kvc_option *row = &options->rows[i];
        if (strcmp(row->name, name) == 0 && bytes_of(row->type) > 0) {
            field.row = row;
            field.offset = row->offset;
            field.bytes = bytes_of(row->type);
        }
    }
    return field;
}

struct kvc_region_field kvc_region_field_of(const struct kvc_scenario *scenario, const char *path)
{
    const struct {
        const char *prefix;
        const struct kvc_option_table *options;
        uint32_t region;
    } sections[] = {
        {"workload.dist.", &kvc_dist_option_table, KVC_REGION_WORKLOAD},
        {"workload.arrival.", &kvc_arrival_option_table, KVC_REGION_WORKLOAD},
        {"workload.", &kvc_workload_option_table, KVC_REGION_WORKLOAD},
        {"system.", scenario->model->options, KVC_REGION_OPTIONS},
        {"cluster.", &kvc_cluster_option_table, KVC_REGION_CLUSTER},
        {"run.", &kvc_run_option_table, KVC_REGION_RUN},
    };
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        size_t bytes = strlen(sections[i].prefix);
        bool is_traced =
            sections[i].region == KVC_REGION_WORKLOAD && scenario->workload.arrival == KVC_ARRIVAL_TRACE;
        if (strncmp(path, sections[i].prefix, bytes) == 0) {
            if (is_traced) { /* The trace's facts depend on more than one field. */
                break;
            }
            return find(sections[i].options, path + bytes, sections[i].region);
        }
    }
    for (uint32_t i = 0; scenario->node.device[i].kind != NULL; i++) {
        char prefix[KVC_TEXT_MAX];
        const struct kvc_device_kind *kind = scenario->node.device[i].kind;
        int bytes = snprintf(prefix, sizeof(prefix), "node.%s.", kind->name);
        if (strncmp(path, prefix, (size_t)bytes) == 0) {
            return find(kind->options, path + bytes, KVC_REGION_DEVICE + i);
        }
    }
    return strncmp(path, "node.", 5) == 0 ? find(&kvc_node_option_table, path + 5, KVC_REGION_NODE)
                                          : (struct kvc_region_field){.row = NULL};
}

uint32_t kvc_region_of_section(const char *section)
{
    return strcmp(section, "system") == 0    ? KVC_REGION_OPTIONS
           : strcmp(section, "cluster") == 0 ? KVC_REGION_CLUSTER
           : strcmp(section, "run") == 0     ? KVC_REGION_RUN
                                             : KVC_REGION_WORKLOAD;
}
