#include "models/megakv/presets.h"

#include <stddef.h>

#define SOURCE "Mega-KV, VLDB J. 26(5), 2017, sec. 8.1"

const struct kvc_workload_preset kvc_megakv_presets[] = {
    {.name = "megakv-a", .source = SOURCE, KVC_PRESET_FIXED_SIZES(8, 8)},
    {.name = "megakv-b", .source = SOURCE, KVC_PRESET_FIXED_SIZES(16, 64)},
    {.name = "megakv-c", .source = SOURCE, KVC_PRESET_FIXED_SIZES(32, 512)},
    {.name = "megakv-d", .source = SOURCE, KVC_PRESET_FIXED_SIZES(128, 1024)},
    {.name = NULL},
};
