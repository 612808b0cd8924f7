/* The registry of kvcast_toy. It replaces models/registry.c, because the linker prefers a program's own
 * objects to a static library's. A permanent store adds a line for itself and one for its device to
 * models/registry.c instead. */
#include "models/registry.h"

#include <stddef.h>

#include "scenarios/cli/toy/toy.h"

const struct kvc_model *const kvc_models[] = {
    &kvc_toy_model,
    NULL,
};

const struct kvc_device_kind *const kvc_device_kinds[] = {
    &kvc_toydev_kind,
    NULL,
};

const struct kvc_workload_preset *const kvc_workload_preset_lists[] = {
    kvc_workload_presets,
    NULL,
};
