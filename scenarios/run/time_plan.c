#include "scenarios/run/time_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "scenarios/load/lua/locate.h"
#include "sim/base/array.h"
#include "sim/run/replica_memory.h"
#include "sim/run/too_long.h"

static const double fastest_requests_per_s = 1e8;
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
    char text[64];
    snprintf(text, sizeof(text), "%s needs at least", what);
    enum kvc_status status =
        kvc_run_too_long(scenario->run.warmup_ns, scenario->run.duration_ns, text, least_s, limit_s, diag);
    return kvc_time_name_place(scenario, status, diag);
}

enum kvc_status kvc_time_name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                    struct kvc_diag *diag)
{
    static const char *const paths[] = {"run.duration", "run.warmup"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && diag != NULL && diag->line == 0; i++) {
        if (strncmp(diag->message, paths[i], strlen(paths[i])) == 0) {
            diag->line = kvc_locate_line(scenario->file, paths[i]);
            return kvc_diag_name(diag, status, scenario->file);
        }
    }
    return status;
}
