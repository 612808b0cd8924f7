/** @file
 * The mixes of BG, a benchmark of social networks (Barahmand and Ghandeharizadeh, "BG: A Benchmark to
 * Evaluate Interactive Social Networking Actions", CIDR 2013), as presets with actions.
 *
 * The shares are those of the files *Actions of BG's sources (github.com/scdblab/BG, workloads):
 * ReadOnlyActions, and the symmetric mixes, in which as many invitations are sent as are accepted or
 * rejected, with 0.1 % (SymmetricVeryLowUpdateActions), 1 % and 10 % of updates. Posting and deleting of
 * comments and the news feed, the remaining three of BG's twelve actions there, have a share of 0 in all of
 * them. What an update invalidates are the keys that BG's client for memcached and MySQL deletes and that an
 * action of the mix reads.
 *
 * Not modelled: comments belong to members here and to resources in BG; DELETEs of keys that nothing reads (a
 * member's own profile, and the ids of friends); and whom BG invites, which depends on the friendships. */
#ifndef KVC_SIM_WORKLOAD_BG_PRESETS_H
#define KVC_SIM_WORKLOAD_BG_PRESETS_H

#include "sim/workload/presets.h"

/** The mixes bg-read-only, bg-very-low, bg-low and bg-high. The name of the last entry is NULL. */
extern const struct kvc_workload_preset kvc_bg_presets[];

#endif
