#include "models/megakv/range.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/config.h"

/* Cost curves are also valid a little beyond their measured points. */
static const double beyond = 1.25;

static void note(struct kvc_result *result, const char *what, double found, double low, double high,
                 const char *unit)
{
    if (!(found * beyond < low || found > high * beyond)) {
        return;
    }
    kvc_result_note(result, "outside the calibrated range: %s of %.4g%s; measured: %.4g .. %.4g%s", what,
                    found, unit, low, high, unit);
}

void kvc_megakv_note_range(const struct kvc_scenario *scenario, double jobs_per_search,
                           struct kvc_result *result)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_megakv_cost_profile *profile = config->cost_profile;
    const struct kvc_workload *workload = &scenario->workload;
    if (!kvc_megakv_cost_profile_is_measured(profile)) {
        return;
    }
    struct kvc_megakv_cost_range frames = kvc_megakv_cost_range_of(&profile->receive),
                                 items = kvc_megakv_cost_range_of(&profile->read),
                                 launches = kvc_megakv_cost_range_of(&profile->search);
    double mib = 0x1p20, item_bytes = config->means.item_bytes;
    double items_bytes = item_bytes * (double)workload->keys / config->shards;
    double largest = kvc_cuckoo_touched_bytes(kvc_workload_key_bytes_max(workload),
                                              kvc_workload_value_bytes_max(workload));
    note(result, "frames", config->frame_requests, frames.size_low, frames.size_high, " requests");
    note(result, "items", largest, items.size_low, items.size_high, " B");
    if (items.key_high > 0) {
        note(result, "keys", config->means.key_bytes, items.key_low, items.key_high, " B");
    }
    note(result, "item memory", items_bytes / mib, items.footprint_low / mib, items.footprint_high / mib,
         " MiB");
    note(result, "an index", config->index_bytes / mib, launches.footprint_low / mib,
         launches.footprint_high / mib, " MiB");
    double slots = config->index_bytes / sizeof(uint64_t);
    if (launches.load_high > 0) {
        note(result, "an index filled to", fmin((double)workload->keys / config->shards / slots, 1),
             launches.load_low, launches.load_high, "");
    }
    note(result, "senders at once", config->senders, items.threads_low, items.threads_high, "");
    bool on_thread = config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
    if (jobs_per_search > 0) {
        note(result, on_thread ? "launches" : "launches in each stream",
             on_thread ? jobs_per_search : jobs_per_search / config->streams, launches.size_low,
             launches.size_high, " searches");
    }
}
