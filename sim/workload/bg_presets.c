#include "sim/workload/bg_presets.h"

#define SOURCE "BG, CIDR 2013, github.com/scdblab/BG, workloads/"

#define READ(name_, share, get)                                                                              \
    {                                                                                                        \
        .name = (name_), .frac = (share) / (get), .value_bytes = -1                                          \
    }
#define UPDATE(name_, share, deleted)                                                                        \
    {                                                                                                        \
        .name = (name_), .frac = (share), .value_bytes = -1, .invalidates = deleted                          \
    }

/* `profile` and `comments` are shares of all requests, `get` that of those that read. Posts on a wall are
 * read as often as profiles. */
#define READS(profile, comments, get)                                                                        \
    READ("view_profile", profile, get), READ("list_friends", 0.05, get), READ("view_requests", 0.05, get),   \
        READ("view_resources", profile, get), READ("view_comments", comments, get)

/* The shares among the updates are the same in all mixes. */
#define UPDATES                                                                                              \
    UPDATE("invite_friend", 0.4, "view_requests"),                                                           \
        UPDATE("accept_friend", 0.2, "2 list_friends, 2 view_profile, view_requests"),                       \
        UPDATE("reject_friend", 0.2, "view_requests"),                                                       \
        UPDATE("thaw_friendship", 0.2, "2 list_friends, 2 view_profile")

static const struct kvc_action read_only[] = {READS(0.4, 0.1, 1.0), UPDATES};
static const struct kvc_action very_low[] = {READS(0.4, 0.099, 0.999), UPDATES};
static const struct kvc_action low[] = {READS(0.4, 0.09, 0.99), UPDATES};
static const struct kvc_action high[] = {READS(0.35, 0.1, 0.9), UPDATES};

#define ACTIONS(list) .actions = (list), .action_count = sizeof(list) / sizeof(*(list))
#define MIX(get, set) .has_mix = true, .get_frac = (get), .set_frac = (set)

const struct kvc_workload_preset kvc_bg_presets[] = {
    {.name = "bg-read-only", .source = SOURCE "ReadOnlyActions", MIX(1, 0), ACTIONS(read_only)},
    {.name = "bg-very-low",
     .source = SOURCE "SymmetricVeryLowUpdateActions",
     MIX(0.999, 0.001),
     ACTIONS(very_low)},
    {.name = "bg-low", .source = SOURCE "SymmetricLowUpdateActions", MIX(0.99, 0.01), ACTIONS(low)},
    {.name = "bg-high", .source = SOURCE "SymmetricHighUpdateActions", MIX(0.9, 0.1), ACTIONS(high)},
    {.name = NULL},
};
