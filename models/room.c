#include "models/room.h"

#include <math.h>

#include "sim/workload/trace.h"

double kvc_scenario_keys(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    double keys = (double)workload->keys;
    return workload->arrival == KVC_ARRIVAL_TRACE ? fmax(kvc_trace_extent_of(workload->trace).keys, 1) : keys;
}
