#include "models/measured/measurable.h"

#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"

void kvc_measurable_join(const struct kvc_measurable *measurable, void *store, struct kvc_measured *measured,
                         struct kvc_measured_store *reports)
{
    measured->store[measured->side] = store;
    measured->set_clock[measured->side] = measurable->set_clock;
    measurable->join(store, measured, reports);
}

enum kvc_status kvc_measurable_open(const struct kvc_measurable *measurable,
                                    const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                    void **store, struct kvc_diag *diag)
{
    kvc_pages_use_huge(scenario->node.huge_pages);
    enum kvc_status status = measurable->open(scenario, progress, store, diag);
    kvc_pages_use_huge(true);
    return status;
}

enum kvc_status kvc_measurable_run_open(const struct kvc_measurable *measurable, void *store,
                                        const struct kvc_scenario *scenario,
                                        const struct kvc_progress *progress, struct kvc_result *result,
                                        struct kvc_diag *diag)
{
    struct kvc_measured *measured = kvc_array_of(1, sizeof(*measured));
    struct kvc_measured_store reports = {0};
    enum kvc_status status = kvc_measured_open(measured, &scenario->run, 0, diag);
    if (status == KVC_OK) {
        measured->node[0] = &scenario->node;
        kvc_measurable_join(measurable, store, measured, &reports);
        status = kvc_measured_run(measured, (const atomic_bool *const[2]){reports.failed}, progress, diag);
        enum kvc_status finished = measurable->finish(store, diag);
        status = status == KVC_OK ? finished : status;
    }
    if (status == KVC_OK) {
        kvc_measured_report(measured, &reports, result);
        result->preload_wall_s = reports.preload_wall_s;
    }
    kvc_measured_close(measured);
    free(measured);
    return status;
}

enum kvc_status kvc_measurable_run(const struct kvc_measurable *measurable,
                                   const struct kvc_scenario *scenario, const struct kvc_progress *progress,
                                   struct kvc_result *result, struct kvc_diag *diag)
{
    void *store = NULL;
    enum kvc_status status = measurable->check(scenario, diag);
    if (status == KVC_OK) {
        status = kvc_measurable_open(measurable, scenario, progress, &store, diag);
    }
    if (status == KVC_OK) {
        status = kvc_measurable_run_open(measurable, store, scenario, progress, result, diag);
    }
    measurable->close(store);
    return status;
}
