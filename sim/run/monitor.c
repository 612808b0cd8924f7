#include "sim/run/monitor.h"

#include <math.h>

#include "sim/base/clock.h"
#include "sim/engine.h"

/* Returns whether the run would need more wall-clock time than it may. The speed so far tells, once it has
 * been measured for long enough. */
static bool takes_too_long(struct kvc_monitor *monitor, double now_ns)
{
    static const double least_s = 2;
    const struct kvc_recorder *recorder = monitor->recorder;
    double wall_s = kvc_clock_wall_s();
    if (monitor->first_wall_s <= 0) {
        monitor->first_wall_s = wall_s;
        return false;
    }
    double elapsed_s = wall_s - monitor->first_wall_s;
    if (monitor->wall_limit_s <= 0 || elapsed_s < least_s || kvc_source_ended(monitor->source)) {
        return false;
    }
    double from_ns = isfinite(recorder->from_ns) ? recorder->from_ns : now_ns; /* Now at the earliest. */
    double needed_s = elapsed_s * (from_ns + recorder->duration_ns) / now_ns;
    monitor->needed_wall_s = needed_s > monitor->wall_limit_s ? needed_s : 0;
    return monitor->needed_wall_s > 0;
}

void kvc_monitor_look(struct kvc_monitor *monitor, double now_ns)
{
    struct kvc_recorder *recorder = monitor->recorder;
    kvc_recorder_lead(recorder, now_ns, kvc_source_lead(monitor->source));
    bool over = kvc_recorder_check(recorder, now_ns) || kvc_source_error(monitor->source, NULL) != KVC_OK;
    if (!over && monitor->drained != NULL && kvc_source_ended(monitor->source) &&
        monitor->drained(monitor->data)) {
        kvc_recorder_cut(recorder, now_ns);
        over = true;
    }
    if (isfinite(recorder->from_ns)) {
        kvc_changes_start(monitor->changes, recorder->from_ns);
        kvc_policy_start(monitor->policy, recorder->from_ns);
    }
    if (now_ns >= recorder->from_ns && monitor->meters->last_ns < recorder->until_ns) {
        bool begins = monitor->meters->first_ns < 0;
        kvc_meters_read(monitor->meters, now_ns);
        kvc_recorder_joules(recorder, now_ns, kvc_meters_joules(monitor->meters));
        kvc_recorder_sample_begin(recorder, now_ns);
        kvc_meters_sample(monitor->meters, recorder);
        if (monitor->count != NULL) {
            monitor->count(monitor->data, begins);
        }
    }
    if (over || takes_too_long(monitor, now_ns)) {
        kvc_engine_stop();
    }
    bool measuring = isfinite(recorder->from_ns);
    kvc_progress_report(monitor->progress, measuring ? "measure" : "warm up",
                        measuring ? (now_ns - recorder->from_ns) / recorder->duration_ns : 0);
}

void kvc_monitor_main(void *data)
{
    struct kvc_monitor *monitor = data;
    for (uint64_t window = 0;; window++) {
        /* The engine's clock may be off by rounding, and a look just before an edge would miss it. */
        double edge_ns = (double)window * monitor->recorder->window_ns;
        kvc_engine_sleep_until_ns(edge_ns);
        kvc_monitor_look(monitor, edge_ns);
    }
}
