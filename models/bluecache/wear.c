#include "models/bluecache/wear.h"

#include "models/bluecache/config.h"

static const double day_ns = 86400e9, year_days = 365.25;

void kvc_bluecache_add_wear(const struct kvc_scenario *scenario, const struct kvc_bluecache_writes *writes,
                            struct kvc_result *result)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    const struct kvc_flash_geometry *geometry = &config->geometry;
    double pages = config->stores * kvc_bluecache_log_pages(geometry);
    double erases = writes->pages / pages / writes->time_ns * day_ns;
    struct kvc_metrics *model = &result->model;
    kvc_metrics_set_ratio(model, "write_amplification_ratio", writes->pages * geometry->page_bytes,
                          writes->set_bytes);
    kvc_metrics_set(model, "erases_per_block_per_day", erases);
    if (config->flash->endurance > 0) {
        kvc_metrics_set_ratio(model, "rated_life_years", config->flash->endurance / year_days, erases);
    }
}
