#include "sim/run/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/engine.h"

enum {
    NAMED_MAX = 12,   /* Names in a message. */
    LIST_BYTES = 640, /* Length of a list in a message. */
    NO_DEVICE = UINT32_MAX,
};

/* ---- devices by name ---- */

static uint32_t find_host(const struct kvc_platform *platform, const char *name)
{
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        if (strcmp(kvc_platform_host(platform, i)->name, name) == 0) {
            return i;
        }
    }
    return NO_DEVICE;
}

static uint32_t find_link(const struct kvc_platform *platform, const char *name)
{
    for (uint32_t i = 0; i < kvc_platform_links(platform); i++) {
        if (strcmp(kvc_platform_link(platform, i)->name, name) == 0) {
            return i;
        }
    }
    return NO_DEVICE;
}

static bool is_clock(double found_hz, double clock_hz)
{
    return fabs(found_hz - clock_hz) <= 1e-6 * clock_hz;
}

/* Returns the state of a host with this clock, or the number of its states. */
static uint32_t find_pstate(const struct kvc_platform_host *host, double clock_hz)
{
    uint32_t i = 0;
    while (i < host->pstates && !is_clock(host->pstate[i].clock_hz, clock_hz)) {
        i++;
    }
    return i;
}

/* ---- check ---- */

/* Whether a change may name the host at all. */
static bool can_change(const struct kvc_platform_host *host)
{
    return host->can_fail || host->pstate[0].clock_hz > 0;
}

/* Writes the first names of a list as "a, b, c and 4 more". */
static void show_names(const char *const *names, uint32_t count, char out[LIST_BYTES])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count && i < NAMED_MAX && used < LIST_BYTES; i++) {
        used += (size_t)snprintf(out + used, LIST_BYTES - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    if (count > NAMED_MAX && used < LIST_BYTES) {
        snprintf(out + used, LIST_BYTES - used, " and %u more", count - NAMED_MAX);
    }
}

/* Lists the devices, or, if `that_fail`, those that can be turned off. */
static enum kvc_status fail_device(const struct kvc_platform *platform, bool that_fail, const char *found,
                                   const char *message, struct kvc_diag *diag)
{
    uint32_t hosts = kvc_platform_hosts(platform), links = kvc_platform_links(platform), count = 0;
    const char **names = kvc_array_of(hosts + links + 1, sizeof(*names));
    char list[LIST_BYTES];
    for (uint32_t i = 0; i < hosts; i++) {
        const struct kvc_platform_host *host = kvc_platform_host(platform, i);
        if (that_fail ? host->can_fail : can_change(host)) {
            names[count++] = host->name;
        }
    }
    for (uint32_t i = 0; i < links; i++) {
        names[count++] = kvc_platform_link(platform, i)->name;
    }
    show_names(names, count, list);
    const char *nearest = kvc_nearest_name(found, names);
    enum kvc_status status =
        kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s%s%s%s%s %s", message,
                      nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "\"?" : ",", count > 0 ? " allowed:" : " and nothing else can", list);
    free(names);
    return status;
}

static enum kvc_status check_clock(const struct kvc_platform_host *host, const struct kvc_change *change,
                                   uint32_t number, struct kvc_diag *diag)
{
    char found[48], list[LIST_BYTES] = "", one[48];
    size_t used = 0;
    if (find_pstate(host, change->clock_hz) < host->pstates) {
        return KVC_OK;
    }
    kvc_quantity_print(change->clock_hz, KVC_UNIT_HZ, found, sizeof(found));
    if (host->pstate[0].clock_hz <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.changes.%u.clock: found %s, and %s has no clocks to choose from", number,
                             found, host->name);
    }
    for (uint32_t i = 0; i < host->pstates && used < sizeof(list); i++) {
        kvc_quantity_print(host->pstate[i].clock_hz, KVC_UNIT_HZ, one, sizeof(one));
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "", one);
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "run.changes.%u.clock: found %s, allowed for %s: %s", number,
                         found, host->name, list);
}

/* Checks that the device exists and supports the change. */
static enum kvc_status check_device(const struct kvc_change *change, const struct kvc_platform *platform,
                                    uint32_t number, struct kvc_diag *diag)
{
    bool has_clock = !isnan(change->clock_hz);
    uint32_t host = find_host(platform, change->device), link = find_link(platform, change->device);
    char message[256];
    if (host == NO_DEVICE && link == NO_DEVICE) {
        snprintf(message, sizeof(message), "run.changes.%u.device: found \"%.80s\"", number, change->device);
        return fail_device(platform, false, change->device, message, diag);
    }
    if (host == NO_DEVICE) {
        return !has_clock
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "run.changes.%u.clock: %s is a link, which has no clocks; allowed: off",
                                   number, change->device);
    }
    if (has_clock) {
        return check_clock(kvc_platform_host(platform, host), change, number, diag);
    }
    if (!kvc_platform_host(platform, host)->can_fail) {
        snprintf(message, sizeof(message), "run.changes.%u.off: %.80s cannot fail", number, change->device);
        return fail_device(platform, true, "", message, diag);
    }
    return KVC_OK;
}

/* Checks one change on its own. */
static enum kvc_status check_change(const struct kvc_run *run, const struct kvc_change *change,
                                    const struct kvc_platform *platform, uint32_t number,
                                    struct kvc_diag *diag)
{
    bool has_clock = !isnan(change->clock_hz), has_off = !isnan(change->off_ns);
    char found[48], limit[48];
    if (has_clock == has_off) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.changes.%u: found %s clock %s off, allowed: one of them", number,
                             has_clock ? "both" : "neither", has_clock ? "and" : "nor");
    }
    if (change->at_ns >= run->duration_ns) {
        kvc_quantity_print(change->at_ns, KVC_UNIT_NS, found, sizeof(found));
        kvc_quantity_print(run->duration_ns, KVC_UNIT_NS, limit, sizeof(limit));
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.changes.%u.at: found %s, allowed: less than run.duration, %s", number,
                             found, limit);
    }
    return check_device(change, platform, number, diag);
}

/* Returns whether two changes contradict each other: they happen at the same time, or one device is turned
 * off while it is off. */
static bool clash(const struct kvc_change *a, const struct kvc_change *b)
{
    if (strcmp(a->device, b->device) != 0 || isnan(a->off_ns) != isnan(b->off_ns)) {
        return false;
    }
    if (isnan(a->off_ns)) {
        return a->at_ns == b->at_ns;
    }
    return a->at_ns <= b->at_ns + b->off_ns && b->at_ns <= a->at_ns + a->off_ns;
}

enum kvc_status kvc_changes_check(const struct kvc_run *run, const struct kvc_platform *platform,
                                  struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < run->change_count; i++) {
        const struct kvc_change *change = &run->changes[i];
        enum kvc_status status = check_change(run, change, platform, i + 1, diag);
        if (status != KVC_OK) {
            return status;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (clash(&run->changes[j], change)) {
                return kvc_diag_fail(
                    diag, KVC_ERR_SCENARIO,
                    "run.changes.%u.at: found a change of %s that meets element %u, allowed: "
                    "outages that do not overlap or touch, and one clock at a time",
                    i + 1, change->device, j + 1);
            }
        }
    }
    return KVC_OK;
}

/* ---- actors ---- */

static void change_main(void *data)
{
    const struct kvc_change_actor *actor = data;
    const struct kvc_change *change = actor->change;
    const struct kvc_platform *platform = actor->changes->platform;
    uint32_t host = find_host(platform, change->device);
    kvc_engine_sleep_until_ns(actor->changes->from_ns + change->at_ns);
    double until_ns = kvc_engine_now_ns() + change->off_ns;
    if (host == NO_DEVICE) {
        kvc_engine_outage_of_link(find_link(platform, change->device), until_ns);
    } else if (!isnan(change->clock_hz)) {
        kvc_engine_set_pstate(host, find_pstate(kvc_platform_host(platform, host), change->clock_hz));
    } else {
        kvc_engine_outage_of_host(host, until_ns);
    }
}

void kvc_changes_open(struct kvc_changes *changes, const struct kvc_run *run,
                      const struct kvc_platform *platform)
{
    *changes = (struct kvc_changes){.platform = platform, .count = run->change_count};
    for (uint32_t i = 0; i < run->change_count; i++) {
        changes->actor[i] = (struct kvc_change_actor){changes, &run->changes[i]};
    }
}

void kvc_changes_start(struct kvc_changes *changes, double from_ns)
{
    if (changes->started) {
        return;
    }
    changes->started = true;
    changes->from_ns = from_ns;
    for (uint32_t i = 0; i < changes->count; i++) {
        kvc_engine_spawn("change", change_main, &changes->actor[i]);
    }
}
