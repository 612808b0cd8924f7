/* Option tables of what only scenarios have: workload.dist and workload.arrival as tables, and slo. */
#ifndef KVC_SCENARIOS_LOAD_SECTIONS_H
#define KVC_SCENARIOS_LOAD_SECTIONS_H

#include "sim/base/option.h"

extern const struct kvc_option_table kvc_dist_option_table; /* of struct kvc_workload: zipf_s */
extern const struct kvc_option_table
    kvc_arrival_option_table;                              /* of struct kvc_workload; one kind at a time */
extern const struct kvc_option_table kvc_slo_option_table; /* of struct kvc_slo */

#endif
