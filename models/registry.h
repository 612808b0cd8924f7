/* The registry lists the stores, the kinds of devices and the workload presets that this build knows.
 *
 * The loader, the command line and the machine files iterate over these lists; nothing else names a store or
 * a kind. A new store or device adds its line to models/registry.c. A program that defines its own lists, as
 * one of the tests does, has only these stores and devices. */
#ifndef KVC_MODELS_REGISTRY_H
#define KVC_MODELS_REGISTRY_H

#include <stddef.h>
#include <string.h>

#include "models/model.h"
#include "sim/devices/device.h"
#include "sim/workload/presets.h"

/* All stores, NULL-terminated. */
extern const struct kvc_model *const kvc_models[];

/* Finds a store by its name. Returns NULL if there is none. */
static inline const struct kvc_model *kvc_model_find(const char *name)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        if (strcmp(kvc_models[i]->name, name) == 0) {
            return kvc_models[i];
        }
    }
    return NULL;
}

enum { KVC_DEVICE_KINDS_MAX = 32 };

/* All kinds of devices, NULL-terminated; at most KVC_DEVICE_KINDS_MAX. */
extern const struct kvc_device_kind *const kvc_device_kinds[];

/* Finds a kind by its name. Returns NULL if there is none. */
static inline const struct kvc_device_kind *kvc_device_kind_find(const char *name)
{
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        if (strcmp(kvc_device_kinds[i]->name, name) == 0) {
            return kvc_device_kinds[i];
        }
    }
    return NULL;
}

/* All lists of workload presets, NULL-terminated. Each list ends in an entry whose name is NULL. */
extern const struct kvc_workload_preset *const kvc_workload_preset_lists[];

#endif
