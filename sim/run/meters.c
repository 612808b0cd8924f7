#include "sim/run/meters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/engine.h"
#include "sim/metrics/statistics.h"

/* Returns the number of the entry of that name, which it adds if there is none. */
static uint32_t find_entry(struct kvc_meters *meters, const char *name, const char *kind)
{
    for (uint32_t i = 0; i < meters->entries; i++) {
        if (strcmp(meters->entry[i].name, name) == 0) {
            return i;
        }
    }
    meters->entry[meters->entries] = (struct kvc_meter_entry){.name = name, .kind = kind};
    return meters->entries++;
}

static void find_entries(struct kvc_meters *meters)
{
    uint32_t hosts = kvc_platform_hosts(meters->platform);
    bool by_kind = meters->count > KVC_DEVICES_MAX;
    for (uint32_t i = 0; i < meters->count; i++) {
        const char *name = i < hosts ? kvc_platform_host(meters->platform, i)->name
                                     : kvc_platform_link(meters->platform, i - hosts)->name;
        const char *kind = i < hosts ? kvc_platform_host(meters->platform, i)->device
                                     : kvc_platform_link(meters->platform, i - hosts)->device;
        meters->entry_of[i] = find_entry(meters, by_kind ? kind : name, kind);
    }
}

void kvc_meters_open(struct kvc_meters *meters, const struct kvc_platform *platform)
{
    uint32_t count = kvc_platform_hosts(platform) + kvc_platform_links(platform);
    *meters = (struct kvc_meters){.platform = platform, .count = count, .first_ns = -1};
    meters->first = kvc_array_of(count + 1, sizeof(*meters->first));
    meters->last = kvc_array_of(count + 1, sizeof(*meters->last));
    meters->entry = kvc_array_of(count + 1, sizeof(*meters->entry));
    meters->entry_of = kvc_array_of(count + 1, sizeof(*meters->entry_of));
    find_entries(meters);
}

void kvc_meters_close(struct kvc_meters *meters)
{
    free(meters->first);
    free(meters->last);
    free(meters->entry);
    free(meters->entry_of);
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

/* SimGrid adds up the shares of activities in the order of their addresses, which differ between processes,
 * so the last digits of a sum depend on the number of jobs. They would show in the half width of an interval
 * over nearly equal replicas. */
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

/* Adds up the work of the devices since the measured time began, by entry. */
static void add_up(const struct kvc_meters *meters)
{
    for (uint32_t i = 0; i < meters->entries; i++) {
        meters->entry[i].growth = (struct kvc_meter){0};
    }
    for (uint32_t i = 0; i < meters->count; i++) {
        struct kvc_meter *growth = &meters->entry[meters->entry_of[i]].growth;
        growth->done += meters->last[i].done - meters->first[i].done;
        growth->capacity += meters->last[i].capacity - meters->first[i].capacity;
        growth->joules += meters->last[i].joules - meters->first[i].joules;
    }
}

void kvc_meters_sample(const struct kvc_meters *meters, struct kvc_recorder *recorder)
{
    add_up(meters);
    for (uint32_t i = 0; i < meters->entries; i++) {
        const struct kvc_meter_entry *entry = &meters->entry[i];
        double joules = entry->growth.joules, now_ns = meters->last_ns;
        const struct kvc_ratio ratio[] = {
            {"devices", entry->name, "utilization_frac", entry->growth.done, entry->growth.capacity,
             KVC_RATIO_OF_ENGINE},
            {"devices", entry->name, "watts_mean", joules * 1e9, now_ns, KVC_RATIO_OF_ENGINE},
            {"devices", entry->name, "joules", joules, now_ns, KVC_RATIO_OF_TIME},
        };
        kvc_recorder_sample(recorder, ratio, isnan(joules) ? 1 : 3);
    }
}

/* Returns whether a host draws power that it should state. Those that are listed work as well, but they
 * cannot fail, because they are one host for many cores, or the ends of transfers. */
static bool draws(const struct kvc_platform_host *host)
{
    static const char *const devices[] = {"cpu", "dram", "flash", "card_cpu", "fpga"};
    bool works = host->can_fail;
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        works = works || strcmp(host->device, devices[i]) == 0;
    }
    return works && !host->is_metered_elsewhere;
}

void kvc_platform_missing_watts(const struct kvc_platform *platform, char missing[KVC_MISSING_BYTES])
{
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        if (draws(host) && !(host->pstate[host->first_pstate].watts.all_w > 0)) {
            kvc_missing_add(missing, host->device);
        }
    }
    for (uint32_t i = 0; i < kvc_platform_links(platform); i++) {
        const struct kvc_platform_link *link = kvc_platform_link(platform, i);
        if (strcmp(link->device, "nic") == 0 && !link->is_metered_elsewhere && !(link->busy_w > 0)) {
            kvc_missing_add(missing, link->device);
        }
    }
}

void kvc_meters_report(const struct kvc_meters *meters, struct kvc_result *result)
{
    double span_ns = meters->last_ns - meters->first_ns;
    if (meters->first_ns < 0 || span_ns <= 0) {
        return;
    }
    add_up(meters);
    kvc_platform_missing_watts(meters->platform, result->watts_missing);
    for (uint32_t i = 0; i < meters->entries; i++) {
        const struct kvc_meter_entry *entry = &meters->entry[i];
        const struct kvc_meter *growth = &entry->growth;
        struct kvc_device_result *device = kvc_result_add_device(result, entry->name, entry->kind);
        device->utilization_frac = reproducible(growth->capacity > 0 ? growth->done / growth->capacity : 0);
        device->watts_mean = reproducible(growth->joules / (span_ns * 1e-9));
        device->joules = device->watts_mean * result->simulated_s;
        if (!isnan(device->joules)) {
            result->joules += device->joules;
        }
    }
    if (result->joules > 0 && result->simulated_s > 0) {
        result->watts_mean = result->joules / result->simulated_s;
    }
}
