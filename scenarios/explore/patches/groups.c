#include "scenarios/explore/patches/groups.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "sim/base/array.h"
#include "sim/devices/cpu.h"

enum { WORD = KVC_PATCH_WORD, ENTRIES_MAX = 1 << 20 };

static void free_entry(struct kvc_patch_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        free(entry->patch[i].data);
    }
    free(entry->patch);
}

void kvc_patch_group_free(struct kvc_patch_group *group)
{
    for (uint32_t i = 0; group->entry != NULL && i < group->entries; i++) {
        free_entry(&group->entry[i]);
    }
    free(group->entry);
    free(group->word);
    free(group->refused);
    *group = (struct kvc_patch_group){.axis_count = 0};
}

/* ---- decoding ---- */

/* Returns the section that all paths of a group are in, or NULL if they are in several or in the node, whose
 * devices depend on each other. */
static const char *section_of(const struct kvc_patches *patches, const struct kvc_patch_group *group)
{
    static const char *const sections[] = {"system", "cluster", "workload", "run"};
    const char *found = NULL;
    for (uint32_t i = 0; i < group->axis_count; i++) {
        const struct kvc_sweep_axis *axis = &patches->space->axis[group->axis[i]];
        for (uint32_t v = 0; v < axis->count; v++) {
            for (uint32_t o = 0; o < axis->value[v].set.count; o++) {
                const char *path = axis->value[v].set.entry[o].path, *section = NULL;
                for (size_t s = 0; s < sizeof(sections) / sizeof(*sections); s++) {
                    size_t bytes = strlen(sections[s]);
                    if (strncmp(path, sections[s], bytes) == 0 && path[bytes] == '.') {
                        section = sections[s];
                    }
                }
                if (section == NULL || (found != NULL && section != found) ||
                    strcmp(path, "system.kind") == 0) {
                    return NULL;
                }
                found = section;
            }
        }
    }
    return found;
}

/* Decodes the scenario with an entry of a group. *out is NULL if the loader refuses it. */
static enum kvc_status decode_entry(const struct kvc_patches *patches, const struct kvc_patch_group *group,
                                    uint32_t entry, const char *section, struct kvc_loaded **out,
                                    struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    struct kvc_diag refused = {0};
    uint32_t value[KVC_SWEEP_AXES_MAX], rest = entry;
    for (uint32_t i = group->axis_count; i-- > 0;) {
        uint32_t count = patches->space->axis[group->axis[i]].count;
        value[i] = rest % count;
        rest /= count;
    }
    enum kvc_status status = kvc_overrides_join(&set, patches->set, diag);
    for (uint32_t i = 0; status == KVC_OK && i < group->axis_count; i++) {
        status = kvc_overrides_join(&set, &patches->space->axis[group->axis[i]].value[value[i]].set, diag);
    }
    *out = NULL;
    if (status == KVC_OK &&
        kvc_load_session_decode(patches->session, &set, section, out, &refused) == KVC_ERR_RUNTIME) {
        *diag = refused;
        status = KVC_ERR_RUNTIME;
    }
    kvc_overrides_clear(&set);
    return status;
}

static void add_patch(struct kvc_patch_entry *entry, uint32_t region, uint32_t offset, uint32_t bytes,
                      const void *data)
{
    entry->patch = kvc_array_grown(entry->patch, entry->count + 1, sizeof(*entry->patch));
    struct kvc_patch *patch = &entry->patch[entry->count++];
    *patch = (struct kvc_patch){region, offset, bytes, kvc_array_of(1, bytes)};
    memcpy(patch->data, data, bytes);
}

/* Keeps the words of a region that differ from the pristine scenario's. */
static void add_differences(const struct kvc_patches *patches, uint32_t region, const void *decoded,
                            struct kvc_patch_entry *entry)
{
    const unsigned char *now = decoded, *before = patches->pristine.region[region].start;
    size_t bytes = patches->pristine.region[region].bytes, first = 0;
    while (first < bytes) {
        size_t end = first;
        while (end < bytes && memcmp(now + end, before + end, bytes - end < WORD ? bytes - end : WORD) != 0) {
            end += bytes - end < WORD ? bytes - end : WORD;
        }
        if (end > first) {
            add_patch(entry, region, (uint32_t)first, (uint32_t)(end - first), now + first);
        }
        first = end > first ? end : first + WORD;
    }
}

/* Finds the patches of an entry. Returns false if it changes the store or its devices. */
static bool compare(const struct kvc_patches *patches, const char *section, const struct kvc_loaded *decoded,
                    struct kvc_patch_entry *entry)
{
    entry->decoded = true;
    entry->refused = decoded == NULL;
    if (decoded == NULL) {
        return true;
    }
    if (section != NULL) {
        uint32_t region = kvc_region_of_section(section);
        const struct kvc_scenario *scenario = &decoded->scenario;
        const void *start = region == KVC_REGION_OPTIONS   ? scenario->options
                            : region == KVC_REGION_CLUSTER ? (const void *)&scenario->cluster
                            : region == KVC_REGION_RUN     ? (const void *)&scenario->run
                                                           : (const void *)&scenario->workload;
        add_differences(patches, region, start, entry);
        return true;
    }
    if (!kvc_regions_match(&decoded->scenario, &patches->clean->scenario)) {
        return false;
    }
    struct kvc_regions regions = kvc_regions_of(&decoded->scenario);
    for (uint32_t r = 0; r < regions.count; r++) {
        add_differences(patches, r, regions.region[r].start, entry);
    }
    return true;
}

/* ---- groups ---- */

/* Returns whether a region is the node or its CPU, whose clock the node states. */
static bool is_node_or_cpu(const struct kvc_patches *patches, uint32_t region)
{
    const struct kvc_device *device = patches->clean->scenario.node.device;
    return region == KVC_REGION_NODE ||
           (region >= KVC_REGION_DEVICE && device[region - KVC_REGION_DEVICE].kind == &kvc_cpu_kind);
}

/* Claims words for a group. Returns the group that has one of them already, counted from 1, or 0. The node
 * with its CPU belongs to one group as a whole, and so does a device of which a group changes more than a
 * plain option, since the loader may derive values from several others. */
static uint32_t claim(struct kvc_patches *patches, uint32_t group, uint32_t region, size_t offset,
                      size_t bytes)
{
    bool whole = patches->group[group].field.row == NULL && region >= KVC_REGION_DEVICE;
    patches->group[group].regions |= UINT64_C(1) << region;
    if (is_node_or_cpu(patches, region)) {
        region = KVC_REGION_NODE;
        whole = true;
    }
    size_t first = whole ? 0 : offset / WORD;
    size_t last = whole ? patches->pristine.region[region].bytes / WORD : (offset + bytes - 1) / WORD;
    for (size_t word = first; word <= last; word++) {
        uint8_t *owner = &patches->owner[region][word];
        if (*owner != 0 && *owner != group + 1) {
            return *owner;
        }
        *owner = (uint8_t)(group + 1);
    }
    return 0;
}

static bool is_machine(uint32_t region, size_t offset)
{
    return region != KVC_REGION_WORKLOAD &&
           (region != KVC_REGION_RUN || offset >= offsetof(struct kvc_run, change_count));
}

static uint32_t entries_of(const struct kvc_patches *patches, const struct kvc_patch_group *group)
{
    uint64_t entries = 1;
    for (uint32_t i = 0; i < group->axis_count && entries <= ENTRIES_MAX; i++) {
        entries *= patches->space->axis[group->axis[i]].count;
    }
    return entries <= ENTRIES_MAX ? (uint32_t)entries : 0;
}

/* Treats an axis as a plain option if every value assigns its path and the loader derives nothing else from
 * the first and the last value. */
static enum kvc_status try_plain(struct kvc_patches *patches, struct kvc_patch_group *group,
                                 struct kvc_diag *diag)
{
    const struct kvc_sweep_axis *axis = &patches->space->axis[group->axis[0]];
    struct kvc_region_field field = kvc_region_field_of(&patches->clean->scenario, axis->path);
    for (uint32_t v = 0; field.row != NULL && v < axis->count; v++) {
        const struct kvc_overrides *set = &axis->value[v].set;
        if (set->count != 1 || strcmp(set->entry[0].path, axis->path) != 0) {
            field.row = NULL;
        }
    }
    if (field.row == NULL) {
        return KVC_OK;
    }
    group->word = kvc_array_of(axis->count, sizeof(*group->word));
    group->refused = kvc_array_of(axis->count, sizeof(*group->refused));
    for (uint32_t v = 0; v < axis->count; v++) {
        group->refused[v] = !kvc_load_session_value(patches->session, field.row,
                                                    axis->value[v].set.entry[0].value, &group->word[v]);
    }
    const char *section = section_of(patches, group);
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; status == KVC_OK && field.row != NULL && i < 2; i++) {
        uint32_t v = i == 0 ? 0 : axis->count - 1;
        struct kvc_patch_entry entry = {.decoded = false};
        struct kvc_loaded *decoded;
        status = decode_entry(patches, group, v, section, &decoded, diag);
        bool plain = status == KVC_OK && compare(patches, section, decoded, &entry) &&
                     entry.refused == group->refused[v] && entry.count <= 1;
        const unsigned char *before =
            (const unsigned char *)patches->pristine.region[field.region].start + field.offset;
        if (plain && entry.count == 1) {
            size_t within = field.offset % WORD;
            plain = entry.patch[0].region == field.region && entry.patch[0].offset == field.offset - within &&
                    entry.patch[0].bytes <= WORD &&
                    memcmp(entry.patch[0].data + within, &group->word[v], field.bytes) == 0;
        } else if (plain && !entry.refused) {
            plain = memcmp(before, &group->word[v], field.bytes) == 0;
        }
        free_entry(&entry);
        kvc_loaded_free(decoded);
        field.row = plain ? field.row : NULL;
    }
    group->field = field;
    if (field.row == NULL) {
        free(group->word);
        free(group->refused);
        group->word = NULL;
        group->refused = NULL;
    }
    return status;
}

/* Decodes every value of the only axis of a group. *possible becomes false if there are no patches. */
static enum kvc_status decode_axis(const struct kvc_patches *patches, struct kvc_patch_group *group,
                                   bool *possible, struct kvc_diag *diag)
{
    const char *section = section_of(patches, group);
    enum kvc_status status = KVC_OK;
    group->entries = entries_of(patches, group);
    group->entry = kvc_array_of(group->entries, sizeof(*group->entry));
    for (uint32_t i = 0; status == KVC_OK && *possible && i < group->entries; i++) {
        struct kvc_loaded *decoded;
        status = decode_entry(patches, group, i, section, &decoded, diag);
        if (status == KVC_OK) {
            *possible = compare(patches, section, decoded, &group->entry[i]);
        }
        kvc_loaded_free(decoded);
    }
    return status;
}

/* Claims the words that a group changes. Returns the group that already owns one of them, counted from 1, or
 * 0. */
static uint32_t claim_group(struct kvc_patches *patches, uint32_t number)
{
    struct kvc_patch_group *group = &patches->group[number];
    uint32_t other = 0;
    if (group->field.row != NULL) {
        group->machine = is_machine(group->field.region, group->field.offset);
        return claim(patches, number, group->field.region, group->field.offset, group->field.bytes);
    }
    for (uint32_t i = 0; i < group->entries; i++) {
        for (uint32_t p = 0; p < group->entry[i].count && other == 0; p++) {
            const struct kvc_patch *patch = &group->entry[i].patch[p];
            group->machine |= is_machine(patch->region, patch->offset + patch->bytes - 1);
            other = claim(patches, number, patch->region, patch->offset, patch->bytes);
        }
    }
    return other;
}

/* Joins a group with another one. Their combinations are decoded when they are needed. */
static bool join(struct kvc_patches *patches, uint32_t into, uint32_t from)
{
    struct kvc_patch_group joined = {.current = KVC_PATCH_NO_ENTRY};
    /* Applies the axes in the order of assignment. */
    for (uint32_t a = 0; a < patches->space->axis_count; a++) {
        for (int g = 0; g < 2; g++) {
            const struct kvc_patch_group *group = &patches->group[g == 0 ? into : from];
            for (uint32_t i = 0; i < group->axis_count; i++) {
                if (group->axis[i] == a) {
                    joined.axis[joined.axis_count++] = a;
                }
            }
        }
    }
    joined.machine = patches->group[into].machine | patches->group[from].machine;
    joined.regions = patches->group[into].regions | patches->group[from].regions;
    kvc_patch_group_free(&patches->group[into]);
    kvc_patch_group_free(&patches->group[from]);
    joined.entries = entries_of(patches, &joined);
    if (joined.entries == 0) {
        return false;
    }
    joined.entry = kvc_array_of(joined.entries, sizeof(*joined.entry));
    patches->group[into] = joined;
    return true;
}

/* Gives the words of one group to another. */
static void hand_over(struct kvc_patches *patches, uint32_t from, uint32_t to)
{
    for (uint32_t r = 0; r < patches->pristine.count; r++) {
        for (size_t w = 0; w < patches->pristine.region[r].bytes / WORD + 1; w++) {
            if (patches->owner[r][w] == from + 1) {
                patches->owner[r][w] = (uint8_t)(to + 1);
            }
        }
    }
}

enum kvc_status kvc_patch_groups_find(struct kvc_patches *patches, bool *possible, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    patches->group_count = patches->space->axis_count;
    for (uint32_t a = 0; status == KVC_OK && *possible && a < patches->group_count; a++) {
        struct kvc_patch_group *group = &patches->group[a];
        *group = (struct kvc_patch_group){.axis_count = 1, .axis = {a}, .current = KVC_PATCH_NO_ENTRY};
        status = try_plain(patches, group, diag);
        if (status == KVC_OK && group->field.row == NULL) {
            status = decode_axis(patches, group, possible, diag);
        }
        /* The group takes over the axes of every other one that changes the same words. */
        uint32_t others[KVC_SWEEP_AXES_MAX], met = 0;
        for (uint32_t other; status == KVC_OK && *possible && (other = claim_group(patches, a)) > 0;) {
            hand_over(patches, other - 1, a);
            others[met++] = other - 1;
        }
        for (uint32_t i = 0; i < met && *possible; i++) {
            *possible = join(patches, a, others[i]);
        }
    }
    return status;
}

bool kvc_patch_group_can_apply(struct kvc_patches *patches, struct kvc_patch_group *group, uint32_t number)
{
    struct kvc_patch_entry *entry = &group->entry[number];
    struct kvc_loaded *decoded = NULL;
    struct kvc_diag unused = {0};
    if (!entry->decoded) {
        const char *section = section_of(patches, group);
        bool found = decode_entry(patches, group, number, section, &decoded, &unused) == KVC_OK &&
                     compare(patches, section, decoded, entry);
        /* The group must not touch words that other groups change, or regions that none of its axes does. */
        for (uint32_t i = 0; found && i < entry->count; i++) {
            const struct kvc_patch *patch = &entry->patch[i];
            uint32_t self = (uint32_t)(group - patches->group);
            found = (group->regions >> patch->region & 1) != 0 &&
                    claim(patches, self, patch->region, patch->offset, patch->bytes) == 0;
        }
        entry->decoded = true;
        entry->refused |= !found;
        kvc_loaded_free(decoded);
    }
    return !entry->refused;
}
