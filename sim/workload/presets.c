#include "sim/workload/presets.h"

#include <string.h>

enum { PRESETS = 16 };

#define MEGAKV "Mega-KV, VLDB J. 26(5), 2017, sec. 8.1"
#define DIDO "DIDO, ICDE 2017, sec. V.A"
#define YCSB "YCSB, SoCC 2010, core workloads"
#define FACEBOOK "Atikoglu et al., SIGMETRICS 2012"
#define FIXED(key, value)                                                                                    \
    .has_sizes = true, .sizes = KVC_SIZES_FIXED, .key_bytes = (key), .value_bytes = (value)
#define POOL(set) .has_sizes = true, .sizes = (set)
#define MIX(get, set) .has_mix = true, .get_frac = (get), .set_frac = (set), .delete_frac = 0

const struct kvc_workload_preset kvc_workload_presets[PRESETS + 1] = {
    {.name = "megakv-a", .source = MEGAKV, FIXED(8, 8)},
    {.name = "megakv-b", .source = MEGAKV, FIXED(16, 64)},
    {.name = "megakv-c", .source = MEGAKV, FIXED(32, 512)},
    {.name = "megakv-d", .source = MEGAKV, FIXED(128, 1024)},
    {.name = "dido-k8", .source = DIDO, FIXED(8, 8)},
    {.name = "dido-k16", .source = DIDO, FIXED(16, 64)},
    {.name = "dido-k32", .source = DIDO, FIXED(32, 256)},
    {.name = "dido-k128", .source = DIDO, FIXED(128, 1024)},
    {.name = "ycsb-a", .source = YCSB, MIX(0.5, 0.5)},
    {.name = "ycsb-b", .source = YCSB, MIX(0.95, 0.05)},
    {.name = "ycsb-c", .source = YCSB, MIX(1, 0)},
    {.name = "facebook-etc",
     .source = FACEBOOK ": sizes of its model, GET:SET 30:1",
     POOL(KVC_SIZES_ETC),
     MIX(30.0 / 31, 1.0 / 31)},
    {.name = "facebook-usr",
     .source = FACEBOOK ": sizes, 99.8 % GET",
     POOL(KVC_SIZES_USR),
     MIX(0.998, 0.002)},
    {.name = "facebook-app",
     .source = FACEBOOK ": typical sizes; the paper gives no mix",
     POOL(KVC_SIZES_APP)},
    {.name = "facebook-var",
     .source = FACEBOOK
     "; sizes assumed; GET share of 18 %, the lowest of its pools (DIDO, ICDE 2017, sec. I), assumed to be VAR's",
     POOL(KVC_SIZES_VAR),
     MIX(0.18, 0.82)},
    {.name = "facebook-sys",
     .source = FACEBOOK "; sizes assumed; the paper gives no mix",
     POOL(KVC_SIZES_SYS)},
};

const struct kvc_workload_preset *kvc_workload_preset_find(const char *name)
{
    for (const struct kvc_workload_preset *preset = kvc_workload_presets; preset->name != NULL; preset++) {
        if (strcmp(preset->name, name) == 0) {
            return preset;
        }
    }
    return NULL;
}

enum kvc_status kvc_workload_apply_preset(struct kvc_workload *workload, const char *name,
                                          struct kvc_diag *diag)
{
    const struct kvc_workload_preset *preset = kvc_workload_preset_find(name);
    if (preset == NULL) {
        const char *names[PRESETS + 1];
        for (int i = 0; i <= PRESETS; i++) {
            names[i] = kvc_workload_presets[i].name;
        }
        const char *nearest = kvc_nearest_name(name, names);
        if (nearest != NULL) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "there is no workload preset \"%s\"; did you mean \"%s\"?", name, nearest);
        }
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "there is no workload preset \"%s\"; some are megakv-a, dido-k8, ycsb-b, facebook-etc", name);
    }
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
    return KVC_OK;
}
