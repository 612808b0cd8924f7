#include "sim/run/meters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/engine.h"
#include "sim/metrics/statistics.h"

void kvc_meters_open(struct kvc_meters *meters, const struct kvc_platform *platform)
{
    uint32_t count = kvc_platform_hosts(platform) + kvc_platform_links(platform);
    *meters = (struct kvc_meters){.platform = platform, .count = count, .first_ns = -1};
    meters->first = kvc_array_of(count + 1, sizeof(*meters->first));
    meters->last = kvc_array_of(count + 1, sizeof(*meters->last));
}

void kvc_meters_close(struct kvc_meters *meters)
{
    free(meters->first);
    free(meters->last);
}

static void read_all(const struct kvc_platform *platform, struct kvc_meter *reading)
{
    uint32_t hosts = kvc_platform_hosts(platform), links = kvc_platform_links(platform);
    for (uint32_t i = 0; i < hosts; i++) {
        reading[i] = (struct kvc_meter){kvc_engine_work_done_ns(i), kvc_engine_capacity_ns(i),
                                        kvc_engine_host_joules(i)};
    }
    for (uint32_t i = 0; i < links; i++) {
        reading[hosts + i] = (struct kvc_meter){kvc_engine_bytes_carried(i),
                                                kvc_engine_link_capacity_bytes(i), kvc_engine_link_joules(i)};
    }
}

void kvc_meters_read(struct kvc_meters *meters, double now_ns)
{
    if (meters->first_ns < 0) {
        read_all(meters->platform, meters->first);
        meters->first_ns = now_ns;
    }
    if (now_ns > meters->last_ns) {
        read_all(meters->platform, meters->last);
        meters->last_ns = now_ns;
    }
}

/* Returns the entry of a result that a device belongs to. */
static struct kvc_device_result *entry_of(struct kvc_result *result, const char *name, const char *kind)
{
    for (uint32_t i = 0; i < result->device_count; i++) {
        if (strcmp(result->device[i].name, name) == 0) {
            return &result->device[i];
        }
    }
    struct kvc_device_result *added = kvc_result_add_device(result, name, kind);
    added->joules = 0;
    return added;
}

/* SimGrid adds up the shares of activities in the order of their addresses, which differ between processes,
 * so that the last digits of a sum depend on the number of jobs. The half width of an interval over nearly
 * equal replicas would show them. */
static double reproducible(double value)
{
    return kvc_rounded(value, 9);
}

double kvc_meters_joules(const struct kvc_meters *meters)
{
    double joules = 0;
    for (uint32_t i = 0; i < meters->count; i++) {
        double used = meters->last[i].joules - meters->first[i].joules;
        joules += isnan(used) ? 0 : used;
    }
    return joules;
}

void kvc_meters_report(const struct kvc_meters *meters, struct kvc_result *result)
{
    double span_ns = meters->last_ns - meters->first_ns, capacity[KVC_DEVICES_MAX] = {0};
    uint32_t hosts = kvc_platform_hosts(meters->platform);
    bool by_kind = meters->count > KVC_DEVICES_MAX;
    if (meters->first_ns < 0 || span_ns <= 0) {
        return;
    }
    for (uint32_t i = 0; i < meters->count; i++) {
        const char *name = i < hosts ? kvc_platform_host(meters->platform, i)->name
                                     : kvc_platform_link(meters->platform, i - hosts)->name;
        const char *kind = i < hosts ? kvc_platform_host(meters->platform, i)->device
                                     : kvc_platform_link(meters->platform, i - hosts)->device;
        struct kvc_device_result *device = entry_of(result, by_kind ? kind : name, kind);
        capacity[device - result->device] += meters->last[i].capacity - meters->first[i].capacity;
        device->utilization_frac += meters->last[i].done - meters->first[i].done;
        device->joules += meters->last[i].joules - meters->first[i].joules;
    }
    for (uint32_t i = 0; i < result->device_count; i++) {
        struct kvc_device_result *device = &result->device[i];
        device->utilization_frac = reproducible(capacity[i] > 0 ? device->utilization_frac / capacity[i] : 0);
        device->watts_mean = reproducible(device->joules / (span_ns * 1e-9));
        device->joules = device->watts_mean * result->simulated_s;
        if (!isnan(device->joules)) {
            result->joules += device->joules;
        }
    }
    if (result->joules > 0 && result->simulated_s > 0) {
        result->watts_mean = result->joules / result->simulated_s;
    }
}
