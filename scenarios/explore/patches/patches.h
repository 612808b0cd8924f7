/* Patches turn a decoded scenario into the scenario of any point of a space, without decoding it again.
 *
 * The changes that a value of an axis makes are found once. A plain option is parsed into its field. For
 * anything else (a device, a sub-table, a value from which the loader derives others), the scenario or a
 * section of it is decoded with the value, and the words that differ are kept. Axes that change the same
 * words form a group, which decodes a combination of values when it is first needed. Axes of the node and its
 * CPU also form a group, and so do the axes of a device if one of them is not a plain option.
 *
 * A scenario has no patches if the axes change its store or list of devices, or if its decoded structs
 * contain addresses. */
#ifndef KVC_SCENARIOS_EXPLORE_PATCHES_PATCHES_H
#define KVC_SCENARIOS_EXPLORE_PATCHES_PATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"

struct kvc_patches;

/* Finds the patches of a space. *out becomes NULL if there are none, which is no error. The user's overrides
 * `set` and the space must outlive them. */
enum kvc_status kvc_patches_create(struct kvc_load_session *session, const struct kvc_overrides *set,
                                   const struct kvc_space *space, struct kvc_patches **out,
                                   struct kvc_diag *diag);

/* Replaces a value of an axis by a text, which the space must state already. Returns false, and changes
 * nothing, unless the axis is a plain option. *machine receives whether the option may change more than load
 * and run. */
bool kvc_patches_assign(struct kvc_patches *patches, uint32_t axis, uint32_t value, const char *text,
                        bool *machine);

/* Turns the scenario into the scenario of a point, in the state after decoding. Returns NULL if a value
 * cannot be decoded, alone or with the others. The patches own the scenario; the caller may check and resolve
 * it, which changes only its run and its configuration. */
struct kvc_loaded *kvc_patches_apply(struct kvc_patches *patches, const uint32_t *value);

/* Returns a number that two points share if they have the same nodes, devices, cluster and store options. */
uint64_t kvc_patches_machine(const struct kvc_patches *patches);

/* Returns a number that two points share if they have the same values of a device, which is counted in the
 * order of the node's list. */
uint64_t kvc_patches_device(const struct kvc_patches *patches, uint32_t device);

/* NULL is allowed. */
void kvc_patches_free(struct kvc_patches *patches);

#endif
