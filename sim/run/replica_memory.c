#include "sim/run/replica_memory.h"

#include <math.h>

#include "sim/devices/database.h"
#include "sim/devices/flash/flash.h"
#include "sim/metrics/recorder.h"
#include "sim/metrics/result.h"
#include "sim/workload/source/source.h"

enum { RESULTS = 3 /* The results of the run and of the closed form, and the parent's sum. */ };

double kvc_replica_stored_keys(const struct kvc_scenario *scenario, uint64_t rate)
{
    const struct kvc_workload *workload = &scenario->workload;
    if (rate == 0) {
        return 0;
    }
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return (double)workload->keys / (double)rate;
    }
    return floor(kvc_workload_stored_keys(workload) / (double)rate);
}

/* Returns the length of the measured time: the run's, or the trace's if it is shorter [ns]. */
static double duration_ns(const struct kvc_scenario *scenario)
{
    const struct kvc_workload *workload = &scenario->workload;
    return workload->arrival == KVC_ARRIVAL_TRACE
               ? fmin(workload->trace.facts.end_ns, scenario->run.duration_ns)
               : scenario->run.duration_ns;
}

double kvc_replica_requests(const struct kvc_scenario *scenario, double window_ns, double rate_mops)
{
    static const double requests_per_ns = 1e-3; /* At 1 Mops. */
    const struct kvc_run *run = &scenario->run;
    double warmup_ns = run->warmup_ns >= 0 ? run->warmup_ns : KVC_RECORDER_WINDOWS_FIRST * window_ns;
    return scenario->workload.arrival == KVC_ARRIVAL_TRACE
               ? scenario->workload.trace.facts.requests
               : rate_mops * requests_per_ns * (warmup_ns + run->duration_ns);
}

/* Returns log2 of the longest latency over the shortest in a typical run. Queues make a request take up to 16
 * times as long as the fastest, reads of flash up to 512 times, and queries of a database up to 4096 times.
 */
static double latency_octaves(const struct kvc_node *node)
{
    return kvc_database_of(node) != NULL ? 12 : kvc_flash_of(node) != NULL ? 9 : 4;
}

double kvc_replica_memory_bytes(const struct kvc_scenario *scenario, double window_ns, uint32_t shards)
{
    return kvc_recorder_memory_bytes(window_ns, scenario->run.warmup_ns, duration_ns(scenario),
                                     latency_octaves(&scenario->node)) +
           RESULTS * sizeof(struct kvc_result) + kvc_source_memory_bytes(&scenario->workload, shards);
}
