#include "sim/workload/presets.h"

#include <string.h>

enum { NAMES_MAX = 256 };

#define YCSB "YCSB, SoCC 2010, core workloads"
#define FACEBOOK "Atikoglu et al., SIGMETRICS 2012"
#define POOL(set) .has_sizes = true, .sizes = (set)

const struct kvc_workload_preset kvc_workload_presets[] = {
    {.name = "ycsb-a", .source = YCSB, KVC_PRESET_MIX(0.5, 0.5)},
    {.name = "ycsb-b", .source = YCSB, KVC_PRESET_MIX(0.95, 0.05)},
    {.name = "ycsb-c", .source = YCSB, KVC_PRESET_MIX(1, 0)},
    {.name = "facebook-etc",
     .source = FACEBOOK ": sizes of its model, GET:SET 30:1",
     POOL(KVC_SIZES_ETC),
     KVC_PRESET_MIX(30.0 / 31, 1.0 / 31)},
    {.name = "facebook-usr",
     .source = FACEBOOK ": sizes, 99.8 % GET",
     POOL(KVC_SIZES_USR),
     KVC_PRESET_MIX(0.998, 0.002)},
    {.name = "facebook-app",
     .source = FACEBOOK ": typical sizes; the paper gives no mix",
     POOL(KVC_SIZES_APP)},
    {.name = "facebook-var",
     .source = FACEBOOK
     "; sizes assumed; GET share of 18 %, the lowest of its pools (Zhang et al., ICDE 2017, sec. I), assumed "
     "to be VAR's",
     POOL(KVC_SIZES_VAR),
     KVC_PRESET_MIX(0.18, 0.82)},
    {.name = "facebook-sys",
     .source = FACEBOOK "; sizes assumed; the paper gives no mix",
     POOL(KVC_SIZES_SYS)},
    {.name = NULL},
};

#define BG_SOURCE "BG, CIDR 2013, github.com/scdblab/BG, workloads/"

#define READ(name_, share, get)                                                                              \
    {                                                                                                        \
        .name = (name_), .frac = (share) / (get), .value_bytes = -1                                          \
    }
#define UPDATE(name_, share, deleted)                                                                        \
    {                                                                                                        \
        .name = (name_), .frac = (share), .value_bytes = -1, .invalidates = deleted                          \
    }

/* `profile`, `comments` and `get` are the shares of these actions and of all reads among all requests. Posts
 * on a wall are read as often as profiles. */
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

#define BG_ACTIONS(list) .actions = (list), .action_count = sizeof(list) / sizeof(*(list))
#define BG_MIX(get, set) .has_mix = true, .get_frac = (get), .set_frac = (set)

const struct kvc_workload_preset kvc_bg_presets[] = {
    {.name = "bg-read-only", .source = BG_SOURCE "ReadOnlyActions", BG_MIX(1, 0), BG_ACTIONS(read_only)},
    {.name = "bg-very-low",
     .source = BG_SOURCE "SymmetricVeryLowUpdateActions",
     BG_MIX(0.999, 0.001),
     BG_ACTIONS(very_low)},
    {.name = "bg-low", .source = BG_SOURCE "SymmetricLowUpdateActions", BG_MIX(0.99, 0.01), BG_ACTIONS(low)},
    {.name = "bg-high", .source = BG_SOURCE "SymmetricHighUpdateActions", BG_MIX(0.9, 0.1), BG_ACTIONS(high)},
    {.name = NULL},
};

const struct kvc_workload_preset *kvc_workload_preset_find(const struct kvc_workload_preset *const *lists,
                                                           const char *name)
{
    for (; *lists != NULL; lists++) {
        for (const struct kvc_workload_preset *preset = *lists; preset->name != NULL; preset++) {
            if (strcmp(preset->name, name) == 0) {
                return preset;
            }
        }
    }
    return NULL;
}

static enum kvc_status fail_unknown(const struct kvc_workload_preset *const *lists, const char *name,
                                    struct kvc_diag *diag)
{
    const char *names[NAMES_MAX + 1];
    char allowed[600] = "";
    size_t count = 0, used = 0;
    for (; *lists != NULL; lists++) {
        for (const struct kvc_workload_preset *preset = *lists; preset->name != NULL && count < NAMES_MAX;
             preset++) {
            names[count++] = preset->name;
            if (used < sizeof(allowed)) {
                used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used > 0 ? ", " : "",
                                         preset->name);
            }
        }
    }
    names[count] = NULL;
    const char *nearest = kvc_nearest_name(name, names);
    if (nearest != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "there is no workload preset \"%s\"; did you mean \"%s\"?", name, nearest);
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "there is no workload preset \"%s\"; allowed: %s", name,
                         allowed);
}

enum kvc_status kvc_workload_preset_choose(const struct kvc_workload_preset *const *lists, const char *name,
                                           const struct kvc_workload_preset **preset, struct kvc_diag *diag)
{
    *preset = kvc_workload_preset_find(lists, name);
    return *preset != NULL ? KVC_OK : fail_unknown(lists, name, diag);
}

void kvc_workload_preset_apply(const struct kvc_workload_preset *preset, struct kvc_workload *workload)
{
    if (preset->has_sizes) {
        workload->sizes = preset->sizes;
    }
    if (preset->has_sizes && preset->sizes == KVC_SIZES_FIXED) {
        workload->key_bytes = preset->key_bytes;
        workload->value_bytes = preset->value_bytes;
    }
    if (preset->has_mix) {
        workload->get_frac = preset->get_frac;
        workload->set_frac = preset->set_frac;
        workload->delete_frac = preset->delete_frac;
    }
    if (preset->has_popularity) {
        workload->popularity = preset->popularity;
        workload->zipf_s = preset->zipf_s;
    }
    if (preset->keys > 0) {
        workload->keys = preset->keys;
    }
    if (preset->actions != NULL) {
        memcpy(workload->actions, preset->actions, preset->action_count * sizeof(*preset->actions));
        workload->action_count = preset->action_count;
    }
}
