/** @file
 * Named parts of workloads, such as the data set of a paper or an operation mix of YCSB.
 *
 * This module has the presets that several publications share. Presets of a single store are in the store's
 * own folder, and the registry (models/registry.h) lists all of them. The shared ones are the Facebook pools
 * from Atikoglu et al. (SIGMETRICS 2012; sim/workload/sizes.h) and the mixes ycsb-a to ycsb-c from YCSB (SoCC
 * 2010). */
#ifndef KVC_SIM_WORKLOAD_PRESETS_H
#define KVC_SIM_WORKLOAD_PRESETS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/workload/workload.h"

/** A named part of a workload. Several presets combine, for example a data set and an operation mix. */
struct kvc_workload_preset {
    const char *name;     /**< "ycsb-b", "facebook-etc", ... */
    const char *source;   /**< The publication that its numbers come from. */
    bool has_sizes;       /**< The preset sets `sizes` and, if these are fixed, the two sizes below. */
    int sizes;            /**< enum kvc_size_set. */
    uint64_t key_bytes;   /**< Size of every key [bytes]. */
    uint64_t value_bytes; /**< Size of every value [bytes]. */
    bool has_mix;         /**< The preset sets the three shares below. */
    double get_frac;      /**< Share of GET requests, 0 to 1. */
    double set_frac;      /**< Share of SET requests, 0 to 1. */
    double delete_frac;   /**< Share of DELETE requests, 0 to 1. */
    bool has_popularity;  /**< The preset sets `popularity` and, if this is Zipf, `zipf_s`. */
    int popularity;       /**< enum kvc_popularity. */
    double zipf_s;        /**< Exponent, above 0. */
    uint64_t keys;        /**< Distinct keys; 0: not set. */
    const struct kvc_action *actions; /**< Actions that GETs and SETs stand for; NULL: not set. */
    uint32_t action_count;            /**< Number of actions, at most KVC_ACTIONS_MAX. */
};

/** Initialises the fields of a preset whose keys all have one size and whose values all have one size. */
#define KVC_PRESET_FIXED_SIZES(key, value)                                                                   \
    .has_sizes = true, .sizes = KVC_SIZES_FIXED, .key_bytes = (key), .value_bytes = (value)

/** Initialises the operation mix of a preset without DELETEs. */
#define KVC_PRESET_MIX(get, set) .has_mix = true, .get_frac = (get), .set_frac = (set), .delete_frac = 0

/** The shared presets. The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_workload_presets[];

/** The mixes bg-read-only, bg-very-low, bg-low and bg-high of BG, a benchmark of social networks (Barahmand
 * and Ghandeharizadeh, "BG: A Benchmark to Evaluate Interactive Social Networking Actions", CIDR 2013), as
 * presets with actions. The name of the last entry is NULL.
 *
 * The shares come from the files *Actions of BG's sources (github.com/scdblab/BG, workloads):
 * ReadOnlyActions, and the symmetric mixes, in which as many invitations are sent as are accepted or
 * rejected, with 0.1 % (SymmetricVeryLowUpdateActions), 1 % and 10 % of updates. The remaining three of BG's
 * twelve actions, which post and delete comments and read the news feed, have a share of 0 in all of them. An
 * update invalidates the keys that BG's client for memcached and MySQL deletes and that an action of the mix
 * reads.
 *
 * Not modelled: comments belong to members here and to resources in BG; DELETEs of keys that nothing reads (a
 * member's own profile, and the ids of friends); and whom BG invites, which depends on the friendships. */
extern const struct kvc_workload_preset kvc_bg_presets[];

/** Returns the preset `name`, or NULL if there is none. `lists` is an array of lists that ends in NULL; each
 * list ends in an entry whose name is NULL. */
const struct kvc_workload_preset *kvc_workload_preset_find(const struct kvc_workload_preset *const *lists,
                                                           const char *name);

/** Finds the preset `name`. An unknown name is an error (KVC_ERR_SCENARIO) whose message suggests the nearest
 * name, or shows all names if none is near. */
enum kvc_status kvc_workload_preset_choose(const struct kvc_workload_preset *const *lists, const char *name,
                                           const struct kvc_workload_preset **preset, struct kvc_diag *diag);

/** Sets the fields that the preset defines and leaves the others alone. */
void kvc_workload_preset_apply(const struct kvc_workload_preset *preset, struct kvc_workload *workload);

#endif
