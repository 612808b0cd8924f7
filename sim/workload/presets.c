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
