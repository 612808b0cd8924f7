#include "models/power.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/model.h"

static void add_unknown(struct kvc_power *power, const char *device)
{
    size_t used = strlen(power->unknown);
    if (strstr(power->unknown, device) == NULL) {
        snprintf(power->unknown + used, sizeof(power->unknown) - used, "%s%.12s", used > 0 ? ", " : "",
                 device);
    }
}

static void add_device(struct kvc_power *power, const char *device, double cores,
                       const struct kvc_watts *watts)
{
    for (uint32_t i = 0; i < power->count; i++) {
        struct kvc_power_kind *kind = &power->kind[i];
        if (strcmp(kind->device, device) == 0 && kind->cores == cores &&
            memcmp(&kind->watts, watts, sizeof(*watts)) == 0) {
            kind->count++;
            return;
        }
    }
    if (power->count == KVC_POWER_KINDS_MAX) {
        KVC_BUG("more than %d kinds of devices with power", KVC_POWER_KINDS_MAX);
    }
    struct kvc_power_kind *kind = &power->kind[power->count++];
    *kind = (struct kvc_power_kind){.count = 1, .cores = cores, .watts = *watts};
    snprintf(kind->device, sizeof(kind->device), "%s", device);
}

/* Memory works, too, but transfers end at it, so that it cannot fail. */
static bool works(const struct kvc_platform_host *host)
{
    return host->can_fail || strcmp(host->device, "dram") == 0 || strcmp(host->device, "flash") == 0;
}

struct kvc_power kvc_power_of(const struct kvc_platform *platform)
{
    struct kvc_power power = {.count = 0};
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        const struct kvc_watts *watts = &host->pstate[host->first_pstate].watts;
        if (watts->all_w > 0) {
            add_device(&power, host->device, host->cores, watts);
        } else if (works(host)) {
            add_unknown(&power, host->device);
        }
    }
    for (uint32_t i = 0; i < kvc_platform_links(platform); i++) {
        const struct kvc_platform_link *link = kvc_platform_link(platform, i);
        if (link->busy_w > 0) {
            add_device(&power, link->device, 1,
                       &(struct kvc_watts){link->idle_w, link->busy_w, link->busy_w});
        } else if (strcmp(link->device, "nic") == 0) {
            add_unknown(&power, link->device);
        }
    }
    return power;
}

struct kvc_power kvc_scenario_power(const struct kvc_scenario *scenario)
{
    struct kvc_power power = {.unknown = "all devices"};
    if (scenario->model->platform != NULL) {
        struct kvc_platform *platform = kvc_platform_create();
        scenario->model->platform(scenario, platform);
        power = kvc_power_of(platform);
        kvc_platform_free(platform);
    }
    return power;
}

/* Returns the utilization of a kind of device, or NaN. */
static double utilization_of(const char *kind, const struct kvc_forecast_device *device, uint32_t devices)
{
    for (uint32_t i = 0; i < devices; i++) {
        if (strcmp(device[i].device, kind) == 0) {
            return fmin(fmax(device[i].utilization_frac, 0), 1);
        }
    }
    return NAN;
}

static double watts_at(const struct kvc_power_kind *kind, double utilization_frac)
{
    const struct kvc_watts *watts = &kind->watts;
    double busy_cores = utilization_frac * kind->cores;
    if (watts->idle_w == watts->all_w) {
        return watts->all_w;
    }
    if (busy_cores < 1 || kind->cores <= 1) {
        return watts->idle_w + busy_cores * (watts->one_w - watts->idle_w);
    }
    return watts->one_w + (busy_cores - 1) / (kind->cores - 1) * (watts->all_w - watts->one_w);
}

double kvc_power_watts(const struct kvc_power *power, const struct kvc_forecast_device *device,
                       uint32_t devices)
{
    double sum_w = NAN;
    for (uint32_t i = 0; i < power->count; i++) {
        const struct kvc_power_kind *kind = &power->kind[i];
        double watts = kind->count * watts_at(kind, utilization_of(kind->device, device, devices));
        if (!isnan(watts)) {
            sum_w = isnan(sum_w) ? watts : sum_w + watts;
        }
    }
    return sum_w;
}
