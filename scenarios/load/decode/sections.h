/* The option tables of sections that only scenarios have: workload.dist and workload.arrival as tables,
 * slo, and plan. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_SECTIONS_H
#define KVC_SCENARIOS_LOAD_DECODE_SECTIONS_H

#include "sim/base/text/option.h"

/* Fields of struct kvc_workload. A scenario gives one kind of arrival at a time. */
extern const struct kvc_option_table kvc_dist_option_table;
extern const struct kvc_option_table kvc_arrival_option_table;

/* Fields of struct kvc_slo. */
extern const struct kvc_option_table kvc_slo_option_table;

/* Fields of struct kvc_plan_request. */
extern const struct kvc_option_table kvc_plan_option_table;

#endif
