/* Names what limits a result. */
#ifndef KVC_SIM_METRICS_BOTTLENECK_H
#define KVC_SIM_METRICS_BOTTLENECK_H

#include "sim/result.h"

/* The stage with the highest utilisation, and why: its utilisation and the next one's. Where no stage is busy
 * for 90 % of the time, the load itself is the limit (stage and device "load"). */
void kvc_bottleneck_find(struct kvc_result *result);

#endif
