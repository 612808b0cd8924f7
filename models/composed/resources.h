/* The stages of a composed store, and the devices that can be made faster. */
#ifndef KVC_MODELS_COMPOSED_RESOURCES_H
#define KVC_MODELS_COMPOSED_RESOURCES_H

#include "models/composed/config.h"
#include "models/resource.h"

/* Fills the list of the stages that the scenario states. */
uint32_t kvc_composed_stages(const struct kvc_scenario *scenario, struct kvc_model_stage *stage);

/* The resources; a NULL name ends the list. */
extern const struct kvc_model_resource kvc_composed_resources[];

#endif
