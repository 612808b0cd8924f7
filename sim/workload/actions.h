/** @file
 * Actions of an application in front of a database: what its requests read and invalidate.
 *
 * The application's data belong to members, such as the users of a social network. An action without
 * `invalidates` reads one pair of a member, which no other action reads: its kind. An action with it updates
 * the database and then deletes pairs of one or several members from the cache. The key ids of a member are
 * consecutive, one for each kind, so that workload.keys is the number of members times that of kinds. The
 * popularity of the workload is that of the members; all actions choose their members alike.
 *
 * Not modelled: members of which some actions are fond, friends who are always the same, and actions that
 * read several pairs. */
#ifndef KVC_SIM_WORKLOAD_ACTIONS_H
#define KVC_SIM_WORKLOAD_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/workload/workload.h"

enum {
    KVC_ACTION_MEMBERS_MAX = 4, /**< Most members that an action concerns. */
    KVC_INVALIDATED_MAX = KVC_ACTION_MEMBERS_MAX * KVC_ACTIONS_MAX, /**< Most keys that one invalidates. */
};

/** The actions of a workload in a form that can be drawn from. Without actions, all keys are of one kind and
 * an update invalidates its own key. */
struct kvc_action_mix {
    uint32_t kinds;                      /**< Kinds of pairs. */
    uint32_t updates;                    /**< Actions that update. */
    double read_frac[KVC_ACTIONS_MAX];   /**< Share of each kind among the GETs. */
    double update_frac[KVC_ACTIONS_MAX]; /**< Share of each action among the updates. */
    uint8_t members[KVC_ACTIONS_MAX]
                   [KVC_ACTIONS_MAX];       /**< Of how many members an update invalidates a kind. */
    double value_bytes[KVC_ACTIONS_MAX];    /**< Size of the values of each kind [bytes]. */
    uint64_t read_below[KVC_ACTIONS_MAX];   /**< A random number below the entry selects at most this kind. */
    uint64_t update_below[KVC_ACTIONS_MAX]; /**< Likewise this action. */
};

/** Sets up the mix of a workload. Returns KVC_ERR_SCENARIO for the first violation: shares that do not add up
 * to 1, a name twice, pairs of an unknown kind, and so on. `diag` may be NULL. */
enum kvc_status kvc_action_mix_open(struct kvc_action_mix *mix, const struct kvc_workload *workload,
                                    struct kvc_diag *diag);

/** Returns the number of kinds of a workload. */
uint32_t kvc_action_kinds(const struct kvc_workload *workload);

/** Returns how many keys an update invalidates on average. */
double kvc_action_mix_invalidated(const struct kvc_action_mix *mix);

/** Returns how many pairs of a kind an update invalidates on average. */
double kvc_action_mix_invalidated_of(const struct kvc_action_mix *mix, uint32_t kind);

/** Draws one of `count` entries of read_below or update_below. */
static inline uint32_t kvc_action_draw(const uint64_t *below, uint32_t count, struct kvc_rng *rng)
{
    uint64_t random = kvc_rng_u64(rng);
    uint32_t at = 0;
    while (at + 1 < count && random >= below[at]) {
        at++;
    }
    return at;
}

#endif
