/* The memory that a decoded scenario consists of: regions of plain values, without addresses. */
#ifndef KVC_SCENARIOS_EXPLORE_PATCH_REGIONS_H
#define KVC_SCENARIOS_EXPLORE_PATCH_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/scenario.h"

enum kvc_patch_region_kind {
    KVC_PATCH_OPTIONS,
    KVC_PATCH_NODE, /* The node's plain fields. */
    KVC_PATCH_CLUSTER,
    KVC_PATCH_WORKLOAD,
    KVC_PATCH_RUN,
    KVC_PATCH_POWER,
    KVC_PATCH_DEVICE, /* The first device; further ones follow. */
    KVC_PATCH_REGIONS_MAX = KVC_PATCH_DEVICE + KVC_NODE_DEVICES_MAX,
};

struct kvc_patch_region {
    void *start;
    size_t bytes;
};

struct kvc_patch_regions {
    uint32_t count;
    struct kvc_patch_region region[KVC_PATCH_REGIONS_MAX];
};

/* Returns the regions of a scenario. */
struct kvc_patch_regions kvc_patch_regions_of(const struct kvc_scenario *scenario);

/* Returns whether two scenarios have the same regions: the same store, with the same kinds of devices. */
bool kvc_patch_regions_match(const struct kvc_scenario *a, const struct kvc_scenario *b);

/* The place of a plain option. */
struct kvc_patch_field {
    const struct kvc_option *row; /* NULL: the path is none of a plain option. */
    uint32_t region;
    size_t offset, bytes;
};

/* Finds the option that a path names. */
struct kvc_patch_field kvc_patch_field_of(const struct kvc_scenario *scenario, const char *path);

#endif
