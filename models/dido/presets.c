#include "models/dido/presets.h"

#include <stddef.h>

#define SOURCE "DIDO, ICDE 2017, sec. V.A"

const struct kvc_workload_preset kvc_dido_presets[] = {
    {.name = "dido-k8", .source = SOURCE, KVC_PRESET_FIXED_SIZES(8, 8)},
    {.name = "dido-k16", .source = SOURCE, KVC_PRESET_FIXED_SIZES(16, 64)},
    {.name = "dido-k32", .source = SOURCE, KVC_PRESET_FIXED_SIZES(32, 256)},
    {.name = "dido-k128", .source = SOURCE, KVC_PRESET_FIXED_SIZES(128, 1024)},
    {.name = NULL},
};
