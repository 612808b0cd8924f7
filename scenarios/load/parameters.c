#include "scenarios/load/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

enum { SLOTS_MIN = 64 };

/* Returns the slot of the path, or the free slot where it belongs. At least half of the slots are free. */
static uint32_t *find_slot(const struct kvc_parameters *list, const char *path, uint64_t hash)
{
    uint32_t at = (uint32_t)kvc_mix64(hash) & (list->slots - 1);
    for (; list->slot[at] != 0; at = (at + 1) & (list->slots - 1)) {
        const struct kvc_parameter *entry = &list->entry[list->slot[at] - 1];
        if (entry->path_hash == hash && strcmp(entry->path, path) == 0) {
            break;
        }
    }
    return &list->slot[at];
}

static void fill_index(struct kvc_parameters *list)
{
    memset(list->slot, 0, list->slots * sizeof(*list->slot));
    for (uint32_t i = 0; i < list->count; i++) {
        *find_slot(list, list->entry[i].path, list->entry[i].path_hash) = i + 1;
    }
}

/* Makes room for one more value. */
static bool grow(struct kvc_parameters *list)
{
    if (list->count < list->slots / 2) {
        return true;
    }
    uint32_t slots = list->slots == 0 ? SLOTS_MIN : 2 * list->slots;
    void *entry = realloc(list->entry, slots / 2 * sizeof(*list->entry));
    list->entry = entry != NULL ? entry : list->entry;
    void *slot = realloc(list->slot, slots * sizeof(*list->slot));
    list->slot = slot != NULL ? slot : list->slot;
    if (entry == NULL || slot == NULL) {
        return false;
    }
    list->slots = slots;
    fill_index(list);
    return true;
}

bool kvc_parameters_put(struct kvc_parameters *list, const struct kvc_parameter *parameter)
{
    if (!grow(list)) {
        return false;
    }
    uint64_t hash = kvc_name_hash(parameter->path);
    uint32_t *slot = find_slot(list, parameter->path, hash);
    if (*slot == 0) {
        *slot = ++list->count;
    }
    list->entry[*slot - 1] = *parameter;
    list->entry[*slot - 1].path_hash = hash;
    return true;
}

bool kvc_parameters_join(struct kvc_parameters *list, const struct kvc_parameters *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        if (!kvc_parameters_put(list, &more->entry[i])) {
            return false;
        }
    }
    return true;
}

const struct kvc_parameter *kvc_parameters_find(const struct kvc_parameters *list, const char *path)
{
    uint32_t slot = list->slots > 0 ? *find_slot(list, path, kvc_name_hash(path)) : 0;
    return slot > 0 ? &list->entry[slot - 1] : NULL;
}

/* Removes all values below a path, and its own as well if `whole` says so. */
static void forget(struct kvc_parameters *list, const char *path, bool whole)
{
    size_t bytes = strlen(path);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const char *own = list->entry[i].path;
        if (strncmp(own, path, bytes) == 0 && (own[bytes] == '.' || (whole && own[bytes] == '\0'))) {
            continue;
        }
        if (kept != i) {
            list->entry[kept] = list->entry[i];
        }
        kept++;
    }
    if (kept != list->count) {
        list->count = kept;
        fill_index(list);
    }
}

void kvc_parameters_forget_below(struct kvc_parameters *list, const char *path)
{
    forget(list, path, false);
}

void kvc_parameters_forget(struct kvc_parameters *list, const char *path)
{
    forget(list, path, true);
}

uint64_t kvc_parameters_hash(const struct kvc_parameters *list)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        hash = kvc_mix64(hash ^ list->entry[i].path_hash);
        hash = kvc_mix64(hash ^ kvc_name_hash(list->entry[i].value));
    }
    return hash;
}

void kvc_parameters_clear(struct kvc_parameters *list)
{
    free(list->entry);
    free(list->slot);
    *list = (struct kvc_parameters){.count = 0};
}
