/* Groups of axes, and what each combination of their values changes in a decoded scenario. */
#ifndef KVC_SCENARIOS_EXPLORE_PATCHES_GROUPS_H
#define KVC_SCENARIOS_EXPLORE_PATCHES_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/patches/regions.h"
#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"

enum { KVC_PATCH_WORD = 8, KVC_PATCH_NO_ENTRY = UINT32_MAX };

/* Bytes that a value, or a combination of values, changes. */
struct kvc_patch {
    uint32_t region;
    uint32_t offset, bytes;
    unsigned char *data;
};

struct kvc_patch_entry {
    bool decoded;   /* The patches are known. */
    bool refused;   /* The loader refuses these values, or there are no patches for them. */
    uint32_t count; /* Patches. */
    struct kvc_patch *patch;
};

/* Axes that are patched together. */
struct kvc_patch_group {
    uint32_t axis_count;
    uint32_t axis[KVC_SWEEP_AXES_MAX];
    struct kvc_region_field
        field; /* One plain option, whose values are in `word`; row is NULL for anything else. */
    uint64_t *word;
    bool *refused;
    struct kvc_patch_entry *entry; /* By combination of values, the first axis varying slowest. */
    uint32_t entries;
    uint32_t current; /* The entry that is applied, or KVC_PATCH_NO_ENTRY. */
    bool machine;     /* The group may change more than load and run. */
    uint64_t regions; /* Bits of the regions that it changes. */
};

struct kvc_patches {
    struct kvc_load_session *session;
    const struct kvc_overrides *set;
    const struct kvc_space *space;
    struct kvc_loaded *base;  /* The scenario that is patched. */
    struct kvc_loaded *clean; /* The scenario without patches. */
    struct kvc_regions live, pristine;
    uint32_t group_count;
    struct kvc_patch_group group[KVC_SWEEP_AXES_MAX];
    /* By region and word: the group that changes it, counted from 1; 0: none. */
    uint8_t *owner[KVC_REGIONS_MAX];
};

/* Finds the patches of every axis. *possible becomes false if there are none. */
enum kvc_status kvc_patch_groups_find(struct kvc_patches *patches, bool *possible, struct kvc_diag *diag);

/* Returns whether an entry of a group can be applied. Decodes it first if necessary. */
bool kvc_patch_group_can_apply(struct kvc_patches *patches, struct kvc_patch_group *group, uint32_t number);

/* Frees the entries of a group and empties it. */
void kvc_patch_group_free(struct kvc_patch_group *group);

#endif
