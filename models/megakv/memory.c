#include "models/megakv/memory.h"

#include <math.h>
#include <stdlib.h>

#include "models/megakv/config.h"
#include "models/megakv/predict.h"
#include "models/megakv/run.h"
#include "models/cuckoo_store/store.h"
#include "sim/base/array.h"
#include "sim/run/replica_memory.h"

double kvc_megakv_memory_bytes(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_cuckoo_store_params store = kvc_megakv_store_params_of(scenario);
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    double window_ns = config->cycle_ns * config->delay;
    if (kvc_megakv_predict(scenario, predicted, &unused) != KVC_OK) {
        predicted->throughput_mops = 0;
    }
    double writes =
        scenario->workload.set_frac * kvc_replica_requests(scenario, window_ns, predicted->throughput_mops);
    double bytes = kvc_cuckoo_store_memory_bytes(scenario, &store, config->means.item_bytes, writes) +
                   kvc_megakv_run_memory_bytes(scenario, predicted) +
                   kvc_replica_memory_bytes(scenario, window_ns, config->shards);
    free(predicted);
    return bytes;
}
