#include "scenarios/run/time_plan.h"

#include <math.h>
#include <stdlib.h>

#include "models/cluster_predict.h"
#include "scenarios/load/locate.h"
#include "sim/base/array.h"
#include "sim/run/replica_memory.h"

static const double day_s = 86400, fastest_requests_per_s = 1e8;
static double limit_s = 86400;

double kvc_time_limit_s(void)
{
    return limit_s;
}

void kvc_time_limit_set(double new_limit_s)
{
    limit_s = new_limit_s;
}

double kvc_time_least_s(const struct kvc_scenario *scenario)
{
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    double mops =
        kvc_scenario_predict(scenario, predicted, &unused) == KVC_OK ? predicted->throughput_mops : 0;
    free(predicted);
    return isfinite(mops) ? kvc_replica_requests(scenario, 0, mops) / fastest_requests_per_s : 0;
}

enum kvc_status kvc_time_plan(const struct kvc_scenario *scenario, double least_s, const char *what,
                              struct kvc_diag *diag)
{
    if (!(least_s > limit_s)) {
        return KVC_OK;
    }
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, scenario->file,
                            kvc_locate_line(scenario->file, "run.duration"),
                            "run.duration: %s needs at least %.3g days of wall-clock time, allowed: 1; use a "
                            "duration of at most %.3g ms, or --long",
                            what, least_s / day_s, scenario->run.duration_ns * 1e-6 * limit_s / least_s);
}
