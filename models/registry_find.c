/* Searches the lists of the registry, whichever file defines them. */
#include "models/registry.h"

#include <stddef.h>
#include <string.h>

const struct kvc_model *kvc_model_find(const char *name)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        if (strcmp(kvc_models[i]->name, name) == 0) {
            return kvc_models[i];
        }
    }
    return NULL;
}

const struct kvc_device_kind *kvc_device_kind_find(const char *name)
{
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        if (strcmp(kvc_device_kinds[i]->name, name) == 0) {
            return kvc_device_kinds[i];
        }
    }
    return NULL;
}
