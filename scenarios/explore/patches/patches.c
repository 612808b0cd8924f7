#include "scenarios/explore/patches/patches.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/patches/groups.h"
#include "sim/base/array.h"

/* ---- creation ---- */

void kvc_patches_free(struct kvc_patches *patches)
{
    if (patches == NULL) {
        return;
    }
    for (uint32_t i = 0; i < patches->group_count; i++) {
        kvc_patch_group_free(&patches->group[i]);
    }
    for (uint32_t i = 0; i < KVC_REGIONS_MAX; i++) {
        free(patches->owner[i]);
    }
    kvc_loaded_free(patches->base);
    kvc_loaded_free(patches->clean);
    free(patches);
}

/* Returns whether two decodings of the same scenario are equal byte by byte, so that they hold no addresses.
 */
static bool holds_values_only(const struct kvc_patches *patches)
{
    bool same = kvc_regions_match(&patches->base->scenario, &patches->clean->scenario);
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
    patches->live = kvc_regions_of(&patches->base->scenario);
    patches->pristine = kvc_regions_of(&patches->clean->scenario);
    for (uint32_t r = 0; r < patches->pristine.count; r++) {
        patches->owner[r] = kvc_array_of(patches->pristine.region[r].bytes / KVC_PATCH_WORD + 1, 1);
    }
    possible = holds_values_only(patches);
    enum kvc_status status = possible ? kvc_patch_groups_find(patches, &possible, diag) : KVC_OK;
    if (status != KVC_OK || !possible) {
        kvc_patches_free(patches);
        return status;
    }
    *out = patches;
    return KVC_OK;
}

bool kvc_patches_assign(struct kvc_patches *patches, uint32_t axis, uint32_t value, const char *text,
                        bool *machine)
{
    for (uint32_t g = 0; g < patches->group_count; g++) {
        struct kvc_patch_group *group = &patches->group[g];
        if (group->field.row != NULL && group->axis[0] == axis) {
            group->word[value] = 0;
            group->refused[value] =
                !kvc_load_session_value(patches->session, group->field.row, text, &group->word[value]);
            group->current = KVC_PATCH_NO_ENTRY;
            *machine = group->machine;
            return true;
        }
    }
    return false;
}

/* ---- application ---- */

static void undo(const struct kvc_patches *patches, const struct kvc_patch_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct kvc_patch *patch = &entry->patch[i];
        memcpy((char *)patches->live.region[patch->region].start + patch->offset,
               (const char *)patches->pristine.region[patch->region].start + patch->offset, patch->bytes);
    }
}

static void apply(const struct kvc_patches *patches, const struct kvc_patch_entry *entry)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct kvc_patch *patch = &entry->patch[i];
        memcpy((char *)patches->live.region[patch->region].start + patch->offset, patch->data, patch->bytes);
    }
}

struct kvc_loaded *kvc_patches_apply(struct kvc_patches *patches, const uint32_t *value)
{
    for (uint32_t g = 0; g < patches->group_count; g++) {
        struct kvc_patch_group *group = &patches->group[g];
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
            if (!kvc_patch_group_can_apply(patches, group, number)) {
                return NULL;
            }
            if (group->current != KVC_PATCH_NO_ENTRY) {
                undo(patches, &group->entry[group->current]);
            }
            apply(patches, &group->entry[number]);
        }
        group->current = number;
    }
    return patches->base;
}

/* Appends the applied entry of a group to a number that tells combinations of entries apart. */
static uint64_t number_with(const struct kvc_patches *patches, const struct kvc_patch_group *group,
                            uint64_t number)
{
    uint32_t entries = group->field.row != NULL ? patches->space->axis[group->axis[0]].count : group->entries;
    return number * entries + group->current;
}

uint64_t kvc_patches_device(const struct kvc_patches *patches, uint32_t device)
{
    uint64_t number = 0;
    for (uint32_t g = 0; g < patches->group_count; g++) {
        const struct kvc_patch_group *group = &patches->group[g];
        if (group->axis_count > 0 && (group->regions >> (KVC_REGION_DEVICE + device) & 1) != 0) {
            number = number_with(patches, group, number);
        }
    }
    return number;
}

uint64_t kvc_patches_machine(const struct kvc_patches *patches)
{
    uint64_t number = 0;
    for (uint32_t g = 0; g < patches->group_count; g++) {
        const struct kvc_patch_group *group = &patches->group[g];
        if (group->axis_count > 0 && group->machine) {
            number = number_with(patches, group, number);
        }
    }
    return number;
}
