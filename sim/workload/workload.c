#include "sim/workload/workload.h"

#include <math.h>

#include "sim/workload/actions.h"
#include "sim/workload/keys/key_part.h"
#include "sim/workload/phases.h"
#include "sim/workload/sizes.h"

enum { FRAME_REQUESTS_MAX = 4096, KEY_BYTES_MAX = 255 };

#define KEYS_MAX 4294967296.0
#define CLIENTS_MAX 16777216.0
#define CONNECTIONS_OF_ALL_MAX 1048576.0

static const char *const size_sets[] = {"fixed", "etc", "usr", "app", "var", "sys", NULL};

static const char *const clients_for_names[] = {"cluster", "socket", NULL};

static const char *const fill_names[] = {"gradually", "at_once", NULL};

static const struct kvc_option action_rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_action, name),
     .help = "name of the action, and of the pairs that it reads"},
    {.name = "frac",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_action, frac),
     .min = 0,
     .max = 1,
     .help = "share among the GETs for an action that reads, or among the SETs for one that updates; both "
             "add up to 1"},
    {.name = "value",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_action, value_bytes),
     .min = 0,
     .max = KVC_VALUE_BYTES_MAX,
     .by_default = "workload",
     .auto_word = "workload",
     .auto_value = -1,
     .help =
         "size in bytes of the values that an action reads; larger values need more memory and bandwidth"},
    {.name = "invalidates",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_action, invalidates),
     .by_default = "",
     .help = "for an action that updates: the pairs that it deletes from the cache, and of how many members, "
             "such as \"2 list_friends, view_requests\"; more pairs miss more often"},
};

const struct kvc_option_table kvc_action_option_table = {.name = "workload.actions",
                                                         .rows = action_rows,
                                                         .count = sizeof(action_rows) / sizeof(*action_rows),
                                                         .size = sizeof(struct kvc_action),
                                                         .max_list = KVC_ACTIONS_MAX};

#define PHASE_COUNT(name_, field, least, most, text)                                                         \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_phase, field), .min = least,  \
        .max = most, .help = text                                                                            \
    }
#define PHASE_FRAC(name_, field, standard, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_phase, field), .min = 0,       \
        .max = 1, .by_default = standard, .help = text                                                       \
    }

static const struct kvc_option phase_rows[] = {
    {.name = "length",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_phase, length_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e12,
     .by_default = "previous",
     .auto_word = "previous",
     .auto_value = 0,
     .help = "how long the phase lasts before the next one begins; previous: as long as the phase before it"},
    PHASE_COUNT("key", key_bytes, 1, KEY_BYTES_MAX, "size of every key of the phase in bytes"),
    PHASE_COUNT("value", value_bytes, 0, KVC_VALUE_BYTES_MAX, "size of every value of the phase in bytes"),
    PHASE_FRAC("get", get_frac, NULL, "share of GET requests; get, set and delete must add up to 1"),
    PHASE_FRAC("set", set_frac, NULL, "share of SET requests"),
    PHASE_FRAC("delete", delete_frac, "0", "share of DELETE requests"),
    {.name = "zipf",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_phase, zipf_s),
     .min = 0,
     .max = 10,
     .by_default = "0",
     .help =
         "exponent of the popularity of the phase's keys, 0 if all are equally popular; a larger one makes "
         "few keys more popular"},
};

const struct kvc_option_table kvc_phase_option_table = {.name = "workload.phases",
                                                        .rows = phase_rows,
                                                        .count = sizeof(phase_rows) / sizeof(*phase_rows),
                                                        .size = sizeof(struct kvc_phase),
                                                        .max_list = KVC_PHASES_MAX};

static const struct kvc_option rows[] = {
    {.name = "keys",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, keys),
     .min = 1,
     .max = KEYS_MAX,
     .by_default = "1000000",
     .help = "number of distinct keys; more keys need more memory and miss caches more often"},
    {.name = "key",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, key_bytes),
     .min = 1,
     .max = KEY_BYTES_MAX,
     .by_default = "8",
     .help = "size of every key in bytes if sizes are fixed; longer keys need more memory and bandwidth"},
    {.name = "value",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, value_bytes),
     .min = 0,
     .max = KVC_VALUE_BYTES_MAX,
     .by_default = "8",
     .help = "size of every value in bytes if sizes are fixed; larger values need more memory and bandwidth"},
    {.name = "sizes",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, sizes),
     .by_default = "fixed",
     .choices = size_sets,
     .help =
         "sizes of keys and values: fixed, or those of a Facebook pool (Atikoglu et al., SIGMETRICS 2012)"},
    {.name = "get",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, get_frac),
     .min = 0,
     .max = 1,
     .by_default = "0.95",
     .help = "share of GET requests; get, set and delete must add up to 1"},
    {.name = "set",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, set_frac),
     .min = 0,
     .max = 1,
     .by_default = "0.05",
     .help = "share of SET requests; a larger share writes more items"},
    {.name = "delete",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, delete_frac),
     .min = 0,
     .max = 1,
     .by_default = "0",
     .help = "share of DELETE requests; a larger share removes more keys"},
    {.name = "per_frame",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, frame_requests),
     .min = 1,
     .max = FRAME_REQUESTS_MAX,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "requests that a client packs into one Ethernet frame; more requests per frame need fewer "
             "packets but wait longer"},
    {.name = "flows",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, flows),
     .min = 1,
     .max = KVC_FLOWS_MAX,
     .by_default = "64",
     .help = "clients that fill frames for a socket in an open loop, for example four machines of 16 "
             "threads; more clients take longer to fill a frame each"},
    {.name = "connections",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, connections),
     .min = 1,
     .max = KVC_CONNECTIONS_MAX,
     .by_default = "16",
     .help = "connections that the frames of a client use in turn, 16 as in memaslap; more connections "
             "spread frames more evenly over the queues of a NIC"},
    {.name = "fill_timeout",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, fill_timeout_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "100us",
     .help = "longest time for which a client of an open loop holds a request back to fill its frame, 0 for "
             "no limit; a longer time sends fuller frames later"},
    {.name = "fill",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, fill),
     .by_default = "gradually",
     .choices = fill_names,
     .help = "how a client of an open loop gets the requests of a frame: gradually, where each has its own "
             "send time and waits for the frame, or at_once, as from a generator of whole packets"},
    {.name = "clients_for",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, clients_for),
     .by_default = "cluster",
     .choices = clients_for_names,
     .help = "clients of a saturating load: with cluster, the hottest socket holds back the others; with "
             "socket, each socket has its own clients"},
    {.name = "preload",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, preload_frac),
     .min = 0,
     .max = 1,
     .by_default = "1",
     .help = "share of the keys, most popular first, that are stored before the run; a larger share raises "
             "the hit ratio"},
    {.name = "actions",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_workload, actions),
     .element = &kvc_action_option_table,
     .count_offset = offsetof(struct kvc_workload, action_count),
     .help = "what requests are to an application in front of a database: each member, such as a user, has "
             "one key for each action that reads, and an update deletes keys of one or several members"},
    {.name = "phases",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_workload, phases),
     .element = &kvc_phase_option_table,
     .count_offset = offsetof(struct kvc_workload, phase_count),
     .help =
         "a load that alternates: phases that follow each other and begin anew after the last one, each "
         "with sizes, a mix, a popularity and an equal part of the keys of its own; not with every store"},
};

const struct kvc_option_table kvc_workload_option_table = {.name = "workload",
                                                           .rows = rows,
                                                           .count = sizeof(rows) / sizeof(*rows),
                                                           .size = sizeof(struct kvc_workload)};

static const struct kvc_option curve_rows[] = {
    {.name = "time",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rate_point, time_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e15,
     .help = "simulated time of this point"},
    {.name = "rate",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rate_point, rate_mops),
     .unit = KVC_UNIT_MOPS,
     .min = 0,
     .max = 1e6,
     .help = "request rate of all nodes at this point"},
};

const struct kvc_option_table kvc_rate_curve_option_table = {.name = "curve",
                                                             .rows = curve_rows,
                                                             .count =
                                                                 sizeof(curve_rows) / sizeof(*curve_rows),
                                                             .size = sizeof(struct kvc_rate_point),
                                                             .max_list = KVC_CURVE_MAX};

uint32_t kvc_workload_key_bytes_max(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return KEY_BYTES_MAX;
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        most = most > workload->phases[i].key_bytes ? most : workload->phases[i].key_bytes;
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return (uint32_t)(most > 0 ? most : workload->key_bytes);
    }
    return kvc_size_set_key_max((enum kvc_size_set)workload->sizes);
}

static uint32_t fixed_value_max(const struct kvc_workload *workload)
{
    struct kvc_action_mix mix;
    double most = 0;
    if (workload->phase_count > 0) {
        for (uint32_t i = 0; i < workload->phase_count; i++) {
            most = fmax(most, (double)workload->phases[i].value_bytes);
        }
        return (uint32_t)most;
    }
    kvc_action_mix_open(&mix, workload, NULL);
    for (uint32_t kind = 0; kind < mix.kinds; kind++) {
        most = fmax(most, mix.value_bytes[kind]);
    }
    return (uint32_t)most;
}

/* All kinds, and all phases, have as many keys. */
static double fixed_value_mean(const struct kvc_workload *workload)
{
    struct kvc_action_mix mix;
    double sum = 0;
    if (workload->phase_count > 0) {
        for (uint32_t i = 0; i < workload->phase_count; i++) {
            sum += (double)workload->phases[i].value_bytes;
        }
        return sum / workload->phase_count;
    }
    kvc_action_mix_open(&mix, workload, NULL);
    for (uint32_t kind = 0; kind < mix.kinds; kind++) {
        sum += mix.value_bytes[kind];
    }
    return sum / mix.kinds;
}

uint32_t kvc_workload_value_bytes_max(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return KVC_VALUE_BYTES_MAX;
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return fixed_value_max(workload);
    }
    return kvc_size_set_value_max((enum kvc_size_set)workload->sizes);
}

double kvc_workload_rate_max_mops(const struct kvc_workload *workload)
{
    double highest = 0;
    switch ((enum kvc_arrival)workload->arrival) {
    case KVC_ARRIVAL_POISSON:
    case KVC_ARRIVAL_FIXED:
        return workload->rate_mops;
    case KVC_ARRIVAL_CURVE:
        for (uint32_t i = 0; i < workload->curve_points; i++) {
            highest = fmax(highest, workload->curve[i].rate_mops);
        }
        return highest;
    case KVC_ARRIVAL_SATURATE:
    case KVC_ARRIVAL_CLOSED:
    case KVC_ARRIVAL_TRACE:
        return INFINITY;
    }
    KVC_BUG("no arrival %d", workload->arrival);
}

bool kvc_workload_changes(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_CURVE || workload->arrival == KVC_ARRIVAL_TRACE ||
           workload->phase_count > 0 || (workload->part != NULL && workload->part->epochs > 1);
}

uint32_t kvc_workload_flows(const struct kvc_workload *workload)
{
    return workload->flows > 0 ? (uint32_t)workload->flows : 1;
}

uint32_t kvc_workload_connections(const struct kvc_workload *workload)
{
    return kvc_workload_flows(workload) * (workload->connections > 0 ? (uint32_t)workload->connections : 1);
}

uint32_t kvc_workload_key_stride(const struct kvc_workload *workload)
{
    return (kvc_workload_key_bytes_max(workload) + 7) / 8 * 8;
}

double kvc_workload_key_bytes_mean(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return 0;
    }
    double sum = 0;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        sum += (double)workload->phases[i].key_bytes;
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return workload->phase_count > 0 ? sum / workload->phase_count : (double)workload->key_bytes;
    }
    return kvc_size_set_key_mean((enum kvc_size_set)workload->sizes);
}

double kvc_workload_value_bytes_mean(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return 0;
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return fixed_value_mean(workload);
    }
    return kvc_size_set_value_mean((enum kvc_size_set)workload->sizes);
}

static enum kvc_status fail(struct kvc_diag *diag, const char *message)
{
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s", message);
}

static bool is_frac(double x)
{
    return x >= 0 && x <= 1;
}

static bool is_rate(double x)
{
    return isfinite(x) && x > 0;
}

static enum kvc_status check_keys(const struct kvc_workload *w, struct kvc_diag *diag)
{
    if (w->keys < 1 || (double)w->keys > KEYS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.keys is %llu; allowed are 1 to 2^32",
                             (unsigned long long)w->keys);
    }
    if (w->sizes < KVC_SIZES_FIXED || w->sizes > KVC_SIZES_SYS) {
        return fail(diag, "workload.sizes is not one of fixed, etc, usr, app, var, sys");
    }
    if (w->sizes != KVC_SIZES_FIXED) {
        return KVC_OK;
    }
    if (w->key_bytes < 1 || w->key_bytes > KEY_BYTES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.key is %llu bytes; allowed are 1 to %d",
                             (unsigned long long)w->key_bytes, KEY_BYTES_MAX);
    }
    if (w->value_bytes > KVC_VALUE_BYTES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.value is %llu bytes; allowed are 0 to %d",
                             (unsigned long long)w->value_bytes, KVC_VALUE_BYTES_MAX);
    }
    if (w->key_bytes < 4 && w->keys > 1ull << (8 * w->key_bytes)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.keys is %llu, but a workload.key of %llu bytes distinguishes at most %llu keys",
            (unsigned long long)w->keys, (unsigned long long)w->key_bytes, 1ull << (8 * w->key_bytes));
    }
    return KVC_OK;
}

static enum kvc_status check_mix(const struct kvc_workload *w, struct kvc_diag *diag)
{
    if (!is_frac(w->get_frac) || !is_frac(w->set_frac) || !is_frac(w->delete_frac)) {
        return fail(diag, "workload.get, set and delete are shares; allowed are 0 to 1");
    }
    double sum = w->get_frac + w->set_frac + w->delete_frac;
    if (fabs(sum - 1) > 1e-9) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.get = %g, set = %g and delete = %g add up to %g; they must add up to 1", w->get_frac,
            w->set_frac, w->delete_frac, sum);
    }
    struct kvc_action_mix mix;
    return kvc_action_mix_open(&mix, w, diag);
}

static enum kvc_status check_curve(const struct kvc_workload *w, struct kvc_diag *diag)
{
    bool any = false;
    if (w->curve_points < 1 || w->curve_points > KVC_CURVE_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the arrival curve has %u points; allowed are 1 to %d",
                             w->curve_points, KVC_CURVE_MAX);
    }
    for (uint32_t i = 0; i < w->curve_points; i++) {
        const struct kvc_rate_point *point = &w->curve[i];
        if (!isfinite(point->time_ns) || point->time_ns < 0 || !isfinite(point->rate_mops) ||
            point->rate_mops < 0) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "point %u of the arrival curve is at %g ns with %g Mops; neither may be negative", i + 1,
                point->time_ns, point->rate_mops);
        }
        if (i > 0 && point->time_ns <= w->curve[i - 1].time_ns) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "point %u of the arrival curve is at %g ns, point %u at %g ns; times must rise", i + 1,
                point->time_ns, i, w->curve[i - 1].time_ns);
        }
        any = any || point->rate_mops > 0;
    }
    return any ? KVC_OK
               : fail(diag, "the arrival curve is 0 Mops everywhere; at least one point must be above 0");
}

static enum kvc_status check_clients(const struct kvc_workload *w, struct kvc_diag *diag)
{
    if (w->flows > KVC_FLOWS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.flows is %llu; allowed are 1 to %d",
                             (unsigned long long)w->flows, KVC_FLOWS_MAX);
    }
    if (w->connections > KVC_CONNECTIONS_MAX ||
        (double)kvc_workload_connections(w) > CONNECTIONS_OF_ALL_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.connections is %llu for each of %u clients; allowed are 2^20 together",
                             (unsigned long long)w->connections, kvc_workload_flows(w));
    }
    if (!isfinite(w->fill_timeout_ns) || w->fill_timeout_ns < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.fill_timeout is %g ns; it must not be negative", w->fill_timeout_ns);
    }
    if (w->fill != KVC_FILL_GRADUALLY && w->fill != KVC_FILL_AT_ONCE) {
        return fail(diag, "workload.fill is neither gradually nor at_once");
    }
    return KVC_OK;
}

static enum kvc_status check_arrival(const struct kvc_workload *w, struct kvc_diag *diag)
{
    if (w->clients_for == KVC_CLIENTS_FOR_SOCKET && w->arrival != KVC_ARRIVAL_SATURATE) {
        return fail(diag, "workload.clients_for = \"socket\" requires workload.arrival = \"saturate\"");
    }
    switch (w->arrival) {
    case KVC_ARRIVAL_SATURATE:
        return KVC_OK;
    case KVC_ARRIVAL_POISSON:
    case KVC_ARRIVAL_FIXED:
        return is_rate(w->rate_mops)
                   ? KVC_OK
                   : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the arrival rate is %g Mops; it must be above 0",
                                   w->rate_mops);
    case KVC_ARRIVAL_CLOSED:
        if (w->clients < 1 || (double)w->clients > CLIENTS_MAX) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "the closed loop has %llu clients; allowed are 1 to 2^24",
                                 (unsigned long long)w->clients);
        }
        if (!isfinite(w->think_ns) || w->think_ns < 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the think time is %g ns; it must not be negative",
                                 w->think_ns);
        }
        return KVC_OK;
    case KVC_ARRIVAL_CURVE:
        return check_curve(w, diag);
    case KVC_ARRIVAL_TRACE:
        return w->trace[0] != '\0' ? KVC_OK : fail(diag, "the trace has no file name");
    default:
        return fail(diag, "workload.arrival is not one of saturate, poisson, fixed, closed, curve, trace");
    }
}

enum kvc_status kvc_workload_check(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    enum kvc_status status = check_arrival(workload, diag);
    if (status != KVC_OK || (status = check_clients(workload, diag)) != KVC_OK ||
        workload->arrival == KVC_ARRIVAL_TRACE) {
        return status;
    }
    if ((status = check_keys(workload, diag)) != KVC_OK || (status = check_mix(workload, diag)) != KVC_OK) {
        return status;
    }
    if (workload->popularity != KVC_POPULARITY_UNIFORM && workload->popularity != KVC_POPULARITY_ZIPF) {
        return fail(diag, "workload.dist is neither uniform nor zipf");
    }
    if (workload->popularity == KVC_POPULARITY_ZIPF && !is_rate(workload->zipf_s)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the Zipf exponent is %g; it must be above 0",
                             workload->zipf_s);
    }
    if (workload->frame_requests > FRAME_REQUESTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame is %llu; allowed are auto and 1 to %d",
                             (unsigned long long)workload->frame_requests, FRAME_REQUESTS_MAX);
    }
    if (!is_frac(workload->preload_frac)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.preload is %g; allowed are 0 to 1",
                             workload->preload_frac);
    }
    return kvc_phases_check(workload, diag);
}
