/* Patches turn a decoded scenario into that of any point of a space, without decoding it anew.
 *
 * What a value of an axis changes is found once: a plain option is parsed into its field; for anything else
 * (a device, a sub-table, a value from which the loader derives others) the scenario, or the section of it,
 * is decoded with the value, and the words that differ are kept. Axes that change the same words, or the same
 * device, form a group, for which every combination of values is decoded when it is needed first.
 *
 * Some scenarios have no patches: those whose store or list of devices the axes change, and those whose
 * decoded structs contain addresses. */
#ifndef KVC_SCENARIOS_EXPLORE_PATCHES_H
#define KVC_SCENARIOS_EXPLORE_PATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/space.h"
#include "scenarios/load/lua/session.h"

struct kvc_patches;

/* Finds the patches of a space. *out becomes NULL if there are none, which is no error. The user's overrides
 * `set` and the space must outlive them. */
enum kvc_status kvc_patches_create(struct kvc_load_session *session, const struct kvc_overrides *set,
                                   const struct kvc_space *space, struct kvc_patches **out,
                                   struct kvc_diag *diag);

/* Turns the scenario into that of a point, as decoded. Returns NULL if a value cannot be decoded, or not with
 * the others. The scenario stays the patches' own; checking and resolving it may change its run and
 * configuration only. */
struct kvc_loaded *kvc_patches_apply(struct kvc_patches *patches, const uint32_t *value);

/* Returns a number that is the same for points whose nodes, devices, cluster and options of the store are. */
uint64_t kvc_patches_machine(const struct kvc_patches *patches);

/* Returns whether the patched scenario has the same contents as another one, apart from its configuration. */
bool kvc_patches_equal(const struct kvc_patches *patches, const struct kvc_loaded *other);

/* NULL is allowed. */
void kvc_patches_free(struct kvc_patches *patches);

#endif
