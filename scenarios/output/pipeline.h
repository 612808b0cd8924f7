/* The pipeline of a store as a member of a result, which pictures show. */
#ifndef KVC_SCENARIOS_OUTPUT_PIPELINE_H
#define KVC_SCENARIOS_OUTPUT_PIPELINE_H

#include <jansson.h>

#include "scenarios/output/report.h"

/* Returns the pipeline of a report's store; NULL: the store says nothing about it. */
json_t *kvc_json_pipeline(const struct kvc_report *report);

#endif
