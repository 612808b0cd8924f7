#include "scenarios/explore/patches.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/load/decode/sections.h"
#include "sim/base/array.h"
#include "sim/devices/cpu.h"

/* ---- regions: the memory of a decoded scenario, which holds plain values and no addresses ---- */

enum region_kind {
    REGION_OPTIONS,
    REGION_NODE, /* The node's plain fields. */
    REGION_CLUSTER,
    REGION_WORKLOAD,
    REGION_RUN,
    REGION_POWER,
    REGION_DEVICE, /* The first device; further ones follow. */
    REGIONS_MAX = REGION_DEVICE + KVC_NODE_DEVICES_MAX,
};

struct region {
    void *start;
    size_t bytes;
};

struct regions {
    uint32_t count;
    struct region region[REGIONS_MAX];
};

/* The place of a plain option. */
struct field {
    const struct kvc_option *row; /* NULL: the path names no plain option. */
    uint32_t region;
    size_t offset, bytes;
};

/* Returns the regions of a scenario. */
static struct regions regions_of(const struct kvc_scenario *scenario)
{
    struct regions regions = {
        .count = REGION_DEVICE,
        .region = {
            [REGION_OPTIONS] = {scenario->options, scenario->model->options->size},
            [REGION_NODE] = {(void *)&scenario->node, offsetof(struct kvc_node, device)},
            [REGION_CLUSTER] = {(void *)&scenario->cluster, sizeof(scenario->cluster)},
            [REGION_WORKLOAD] = {(void *)&scenario->workload, sizeof(scenario->workload)},
            [REGION_RUN] = {(void *)&scenario->run, sizeof(scenario->run)},
            [REGION_POWER] = {(void *)&scenario->power, sizeof(scenario->power)},
        }};
    for (const struct kvc_device *device = scenario->node.device; device->kind != NULL; device++) {
        regions.region[regions.count++] = (struct region){device->values, device->kind->options->size};
    }
    return regions;
}

/* Returns whether two scenarios have the same regions: the same store, with the same kinds of devices. */
static bool regions_match(const struct kvc_scenario *a, const struct kvc_scenario *b)
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

static struct field find(const struct kvc_option_table *options, const char *name, uint32_t region)
{
    struct field field = {.region = region};
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

/* Finds the option that a path names. */
static struct field field_of(const struct kvc_scenario *scenario, const char *path)
{
    const struct {
        const char *prefix;
        const struct kvc_option_table *options;
        uint32_t region;
    } sections[] = {
        {"workload.dist.", &kvc_dist_option_table, REGION_WORKLOAD},
        {"workload.arrival.", &kvc_arrival_option_table, REGION_WORKLOAD},
        {"workload.", &kvc_workload_option_table, REGION_WORKLOAD},
        {"system.", scenario->model->options, REGION_OPTIONS},
        {"cluster.", &kvc_cluster_option_table, REGION_CLUSTER},
        {"run.", &kvc_run_option_table, REGION_RUN},
    };
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        size_t bytes = strlen(sections[i].prefix);
        if (strncmp(path, sections[i].prefix, bytes) == 0) {
            return find(sections[i].options, path + bytes, sections[i].region);
        }
    }
    for (uint32_t i = 0; scenario->node.device[i].kind != NULL; i++) {
        char prefix[KVC_TEXT_MAX];
        const struct kvc_device_kind *kind = scenario->node.device[i].kind;
        int bytes = snprintf(prefix, sizeof(prefix), "node.%s.", kind->name);
        if (strncmp(path, prefix, (size_t)bytes) == 0) {
            return find(kind->options, path + bytes, REGION_DEVICE + i);
        }
    }
    return strncmp(path, "node.", 5) == 0 ? find(&kvc_node_option_table, path + 5, REGION_NODE)
                                          : (struct field){.row = NULL};
}

/* ---- patches ---- */

enum { WORD = 8, ENTRIES_MAX = 1 << 20, NO_ENTRY = UINT32_MAX };

/* Bytes that a value, or a combination of values, changes. */
struct patch {
    uint32_t region;
    uint32_t offset, bytes;
    unsigned char *data;
};

struct entry {
    bool decoded;   /* The patches are known. */
    bool refused;   /* The loader refuses these values, or there are no patches for them. */
    uint32_t count; /* Patches. */
    struct patch *patch;
};

/* Axes that are patched together. */
struct group {
    uint32_t axis_count;
    uint32_t axis[KVC_SWEEP_AXES_MAX];
    struct field field; /* One plain option, whose values are in `word`; row is NULL for anything else. */
    uint64_t *word;
    bool *refused;
    struct entry *entry; /* By combination of values, the first axis varying slowest. */
    uint32_t entries;
    uint32_t current; /* The entry that is applied, or NO_ENTRY. */
    bool machine;     /* The group may change more than load and run. */
    uint64_t regions; /* Bits of the regions that it changes. */
};

struct kvc_patches {
    struct kvc_load_session *session;
    const struct kvc_overrides *set;
    const struct kvc_space *space;
    struct kvc_loaded *base;  /* The scenario that is patched. */
    struct kvc_loaded *clean; /* The scenario without patches. */
    struct regions live, pristine;
    uint32_t group_count;
    struct group group[KVC_SWEEP_AXES_MAX];
    /* By region and word: the group that changes it, counted from 1; 0: none. */
    uint8_t *owner[REGIONS_MAX];
};

static void free_entry(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        free(entry->patch[i].data);
    }
    free(entry->patch);
}

static void free_group(struct group *group)
{
    for (uint32_t i = 0; group->entry != NULL && i < group->entries; i++) {
        free_entry(&group->entry[i]);
    }
    free(group->entry);
    free(group->word);
    free(group->refused);
    *group = (struct group){.axis_count = 0};
}

void kvc_patches_free(struct kvc_patches *patches)
{
    if (patches == NULL) {
        return;
    }
    for (uint32_t i = 0; i < patches->group_count; i++) {
        free_group(&patches->group[i]);
    }
    for (uint32_t i = 0; i < REGIONS_MAX; i++) {
        free(patches->owner[i]);
    }
    kvc_loaded_free(patches->base);
    kvc_loaded_free(patches->clean);
    free(patches);
}

/* ---- decoding ---- */

/* Returns the section that all paths of a group are in, or NULL if they are in several or in the node, whose
 * devices depend on each other. */
static const char *section_of(const struct kvc_patches *patches, const struct group *group)
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
static enum kvc_status decode_entry(const struct kvc_patches *patches, const struct group *group,
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

/* Returns the region that a section is decoded into. */
static uint32_t region_of(const char *section)
{
    return strcmp(section, "system") == 0    ? REGION_OPTIONS
           : strcmp(section, "cluster") == 0 ? REGION_CLUSTER
           : strcmp(section, "run") == 0     ? REGION_RUN
                                             : REGION_WORKLOAD;
}

static void add_patch(struct entry *entry, uint32_t region, uint32_t offset, uint32_t bytes, const void *data)
{
    entry->patch = kvc_array_grown(entry->patch, entry->count + 1, sizeof(*entry->patch));
    struct patch *patch = &entry->patch[entry->count++];
    *patch = (struct patch){region, offset, bytes, kvc_array_of(1, bytes)};
    memcpy(patch->data, data, bytes);
}

/* Keeps the words of a region that differ from the pristine scenario's. */
static void add_differences(const struct kvc_patches *patches, uint32_t region, const void *decoded,
                            struct entry *entry)
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
                    struct entry *entry)
{
    entry->decoded = true;
    entry->refused = decoded == NULL;
    if (decoded == NULL) {
        return true;
    }
    if (section != NULL) {
        uint32_t region = region_of(section);
        const struct kvc_scenario *scenario = &decoded->scenario;
        const void *start = region == REGION_OPTIONS   ? scenario->options
                            : region == REGION_CLUSTER ? (const void *)&scenario->cluster
                            : region == REGION_RUN     ? (const void *)&scenario->run
                                                       : (const void *)&scenario->workload;
        add_differences(patches, region, start, entry);
        return true;
    }
    if (!regions_match(&decoded->scenario, &patches->clean->scenario)) {
        return false;
    }
    struct regions regions = regions_of(&decoded->scenario);
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
    return region == REGION_NODE ||
           (region >= REGION_DEVICE && device[region - REGION_DEVICE].kind == &kvc_cpu_kind);
}

/* Claims words for a group. Returns the group that has one of them already, counted from 1, or 0. The node
 * with its CPU belongs to one group as a whole, and so does a device of which a group changes more than a
 * plain option, since the loader may derive values from several others. */
static uint32_t claim(struct kvc_patches *patches, uint32_t group, uint32_t region, size_t offset,
                      size_t bytes)
{
    bool whole = patches->group[group].field.row == NULL && region >= REGION_DEVICE;
    patches->group[group].regions |= UINT64_C(1) << region;
    if (is_node_or_cpu(patches, region)) {
        region = REGION_NODE;
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
    return region != REGION_WORKLOAD &&
           (region != REGION_RUN || offset >= offsetof(struct kvc_run, change_count));
}

static uint32_t entries_of(const struct kvc_patches *patches, const struct group *group)
{
    uint64_t entries = 1;
    for (uint32_t i = 0; i < group->axis_count && entries <= ENTRIES_MAX; i++) {
        entries *= patches->space->axis[group->axis[i]].count;
    }
    return entries <= ENTRIES_MAX ? (uint32_t)entries : 0;
}

/* Treats an axis as a plain option if every value assigns its path and the loader derives nothing else from
 * the first and the last value. */
static enum kvc_status try_plain(struct kvc_patches *patches, struct group *group, struct kvc_diag *diag)
{
    const struct kvc_sweep_axis *axis = &patches->space->axis[group->axis[0]];
    struct field field = field_of(&patches->clean->scenario, axis->path);
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
        struct entry entry = {.decoded = false};
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
static enum kvc_status decode_axis(const struct kvc_patches *patches, struct group *group, bool *possible,
                                   struct kvc_diag *diag)
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
    struct group *group = &patches->group[number];
    uint32_t other = 0;
    if (group->field.row != NULL) {
        group->machine = is_machine(group->field.region, group->field.offset);
        return claim(patches, number, group->field.region, group->field.offset, group->field.bytes);
    }
    for (uint32_t i = 0; i < group->entries; i++) {
        for (uint32_t p = 0; p < group->entry[i].count && other == 0; p++) {
            const struct patch *patch = &group->entry[i].patch[p];
            group->machine |= is_machine(patch->region, patch->offset + patch->bytes - 1);
            other = claim(patches, number, patch->region, patch->offset, patch->bytes);
        }
    }
    return other;
}

/* Joins a group with another one. Their combinations are decoded when they are needed. */
static bool join(struct kvc_patches *patches, uint32_t into, uint32_t from)
{
    struct group joined = {.current = NO_ENTRY};
    /* Applies the axes in the order of assignment. */
    for (uint32_t a = 0; a < patches->space->axis_count; a++) {
        for (int g = 0; g < 2; g++) {
            const struct group *group = &patches->group[g == 0 ? into : from];
            for (uint32_t i = 0; i < group->axis_count; i++) {
                if (group->axis[i] == a) {
                    joined.axis[joined.axis_count++] = a;
                }
            }
        }
    }
    joined.machine = patches->group[into].machine | patches->group[from].machine;
    joined.regions = patches->group[into].regions | patches->group[from].regions;
    free_group(&patches->group[into]);
    free_group(&patches->group[from]);
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

/* Finds the patches of every axis. *possible becomes false if there are none. */
static enum kvc_status find_groups(struct kvc_patches *patches, bool *possible, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    patches->group_count = patches->space->axis_count;
    for (uint32_t a = 0; status == KVC_OK && *possible && a < patches->group_count; a++) {
        struct group *group = &patches->group[a];
        *group = (struct group){.axis_count = 1, .axis = {a}, .current = NO_ENTRY};
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

/* ---- creation ---- */

/* Returns whether two decodings of the same scenario are equal byte by byte, so that they hold no addresses.
 */
static bool holds_values_only(const struct kvc_patches *patches)
{
    bool same = regions_match(&patches->base->scenario, &patches->clean->scenario);
    for (uint32_t r = 0; same && r < patches->live.count; r++) {
        same = memcmp(patches->live.region[r].start, patches->pristine.region[r].start,
                      patches->live.region[r].bytes) == 0;
    }
    return same;
}

enum kvc_status kvc_patches_create(struct kvc_load_session *session, const struct kvc_overrides *set,
                                   const struct kvc_space *space, struct kvc_patches **out,
                                   struct kvc_diag *diag)
{
    struct kvc_patches *patches = kvc_array_of(1, sizeof(*patches));
    struct kvc_diag refused = {0};
    bool possible = true;
    *out = NULL;
    patches->session = session;
    patches->set = set;
    patches->space = space;
    if (kvc_load_session_decode(session, set, NULL, &patches->base, &refused) != KVC_OK ||
        kvc_load_session_decode(session, set, NULL, &patches->clean, &refused) != KVC_OK) {
        kvc_patches_free(patches);
        if (refused.status == KVC_ERR_RUNTIME) {
            *diag = refused;
            return KVC_ERR_RUNTIME;
        }
        return KVC_OK; /* The axes may set what is missing. */
    }
    patches->live = regions_of(&patches->base->scenario);
    patches->pristine = regions_of(&patches->clean->scenario);
    for (uint32_t r = 0; r < patches->pristine.count; r++) {
        patches->owner[r] = kvc_array_of(patches->pristine.region[r].bytes / WORD + 1, 1);
    }
    possible = holds_values_only(patches);
    enum kvc_status status = possible ? find_groups(patches, &possible, diag) : KVC_OK;
    if (status != KVC_OK || !possible) {
        kvc_patches_free(patches);
        return status;
    }
    *out = patches;
    return KVC_OK;
}

/* ---- application ---- */

static void undo(const struct kvc_patches *patches, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct patch *patch = &entry->patch[i];
        memcpy((char *)patches->live.region[patch->region].start + patch->offset,
               (const char *)patches->pristine.region[patch->region].start + patch->offset, patch->bytes);
    }
}

static void apply(const struct kvc_patches *patches, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct patch *patch = &entry->patch[i];
        memcpy((char *)patches->live.region[patch->region].start + patch->offset, patch->data, patch->bytes);
    }
}

/* Returns whether the entry can be applied. */
static bool is_decoded(struct kvc_patches *patches, struct group *group, uint32_t number)
{
    struct entry *entry = &group->entry[number];
    struct kvc_loaded *decoded = NULL;
    struct kvc_diag unused = {0};
    if (!entry->decoded) {
        const char *section = section_of(patches, group);
        bool found = decode_entry(patches, group, number, section, &decoded, &unused) == KVC_OK &&
                     compare(patches, section, decoded, entry);
        /* The group must not touch words that other groups change, or regions that none of its axes does. */
        for (uint32_t i = 0; found && i < entry->count; i++) {
            const struct patch *patch = &entry->patch[i];
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

struct kvc_loaded *kvc_patches_apply(struct kvc_patches *patches, const uint32_t *value)
{
    for (uint32_t g = 0; g < patches->group_count; g++) {
        struct group *group = &patches->group[g];
        uint32_t number = 0;
        if (group->axis_count == 0) {
            continue;
        }
        for (uint32_t i = 0; i < group->axis_count; i++) {
            number = number * patches->space->axis[group->axis[i]].count + value[group->axis[i]];
        }
        if (number == group->current) {
            continue;
        }
        if (group->field.row != NULL) {
            if (group->refused[number]) {
                return NULL;
            }
            memcpy((char *)patches->live.region[group->field.region].start + group->field.offset,
                   &group->word[number], group->field.bytes);
        } else {
            if (!is_decoded(patches, group, number)) {
                return NULL;
            }
            if (group->current != NO_ENTRY) {
                undo(patches, &group->entry[group->current]);
            }
            apply(patches, &group->entry[number]);
        }
        group->current = number;
    }
    return patches->base;
}

/* Appends the applied entry of a group to a number that tells combinations of entries apart. */
static uint64_t number_with(const struct kvc_patches *patches, const struct group *group, uint64_t number)
{
    uint32_t entries = group->field.row != NULL ? patches->space->axis[group->axis[0]].count : group->entries;
    return number * entries + group->current;
}

uint64_t kvc_patches_device(const struct kvc_patches *patches, uint32_t device)
{
    uint64_t number = 0;
    for (uint32_t g = 0; g < patches->group_count; g++) {
        const struct group *group = &patches->group[g];
        if (group->axis_count > 0 && (group->regions >> (REGION_DEVICE + device) & 1) != 0) {
            number = number_with(patches, group, number);
        }
    }
    return number;
}

uint64_t kvc_patches_machine(const struct kvc_patches *patches)
{
    uint64_t number = 0;
    for (uint32_t g = 0; g < patches->group_count; g++) {
        const struct group *group = &patches->group[g];
        if (group->axis_count > 0 && group->machine) {
            number = number_with(patches, group, number);
        }
    }
    return number;
}
