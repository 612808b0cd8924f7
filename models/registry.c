#include <stddef.h>
#include <string.h>

#include "models/kvdirect/kvdirect.h"
#include "models/megakv/megakv.h"
#include "models/model.h"
#include "models/rdma/rdma.h"

const struct kvc_model *const kvc_models[] = {
    &kvc_megakv_model,
    &kvc_kvdirect_model,
    &kvc_rdma_model,
    NULL,
};

const struct kvc_model *kvc_model_find(const char *name)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        if (strcmp(kvc_models[i]->name, name) == 0) {
            return kvc_models[i];
        }
    }
    return NULL;
}
