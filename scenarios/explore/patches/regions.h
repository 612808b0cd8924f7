/* Regions: the memory of a decoded scenario, which holds plain values and no addresses, and the places of
 * plain options in it. */
#ifndef KVC_SCENARIOS_EXPLORE_PATCHES_REGIONS_H
#define KVC_SCENARIOS_EXPLORE_PATCHES_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/text/option.h"
#include "sim/scenario.h"

enum kvc_region_kind {
    KVC_REGION_OPTIONS,
    KVC_REGION_NODE, /* The node's plain fields. */
    KVC_REGION_CLUSTER,
    KVC_REGION_WORKLOAD,
    KVC_REGION_RUN,
    KVC_REGION_POWER,
    KVC_REGION_DEVICE, /* The first device; further ones follow. */
    KVC_REGIONS_MAX = KVC_REGION_DEVICE + KVC_NODE_DEVICES_MAX,
};

struct kvc_region {
    void *start;
    size_t bytes;
};

struct kvc_regions {
    uint32_t count;
    struct kvc_region region[KVC_REGIONS_MAX];
};

/* The place of a plain option. */
struct kvc_region_field {
    const struct kvc_option *row; /* NULL: the path names no plain option. */
    uint32_t region;
    size_t offset, bytes;
};

/* Returns the regions of a scenario. */
struct kvc_regions kvc_regions_of(const struct kvc_scenario *scenario);

/* Returns whether two scenarios have the same regions: the same store, with the same kinds of devices. */
bool kvc_regions_match(const struct kvc_scenario *a, const struct kvc_scenario *b);

/* Returns the region that a section is decoded into. */
uint32_t kvc_region_of_section(const char *section);

/* Finds the option that a path names. */
struct kvc_region_field kvc_region_field_of(const struct kvc_scenario *scenario, const char *path);

#endif
