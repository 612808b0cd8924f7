#include "sim/workload/workload.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/workload/keys/key_part.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/keys/zipf.h"
#include "sim/workload/trace/profile.h"

#define CLIENTS_MAX 16777216.0
#define CONNECTIONS_OF_ALL_MAX 1048576.0

/* ---- actions ---- */

static bool is_update(const struct kvc_action *action)
{
    return action->invalidates[0] != '\0';
}

uint32_t kvc_action_kinds(const struct kvc_workload *workload)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < workload->action_count; i++) {
        kinds += !is_update(&workload->actions[i]);
    }
    return kinds > 0 ? kinds : 1;
}

double kvc_action_mix_invalidated_of(const struct kvc_action_mix *mix, uint32_t kind)
{
    double sum = 0;
    for (uint32_t i = 0; i < mix->updates; i++) {
        sum += mix->update_frac[i] * mix->members[i][kind];
    }
    return sum;
}

double kvc_action_mix_invalidated(const struct kvc_action_mix *mix)
{
    double sum = 0;
    for (uint32_t kind = 0; kind < mix->kinds; kind++) {
        sum += kvc_action_mix_invalidated_of(mix, kind);
    }
    return sum;
}

/* Writes the names of the actions that read. */
static void list_kinds(const struct kvc_workload *workload, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < workload->action_count; i++) {
        const struct kvc_action *action = &workload->actions[i];
        if (!is_update(action) && used < size) {
            used += (size_t)snprintf(out + used, size - used, "%s%.40s", used > 0 ? ", " : "", action->name);
        }
    }
}

/* Returns the kind of a name of `bytes` characters, or the number of kinds. */
static uint32_t find_kind(const struct kvc_workload *workload, const char *name, size_t bytes)
{
    uint32_t kind = 0;
    for (uint32_t i = 0; i < workload->action_count; i++) {
        const struct kvc_action *action = &workload->actions[i];
        if (is_update(action)) {
            continue;
        }
        if (strlen(action->name) == bytes && memcmp(action->name, name, bytes) == 0) {
            return kind;
        }
        kind++;
    }
    return kind;
}

/* Reads the pairs that an action invalidates: a list such as "2 list_friends, 2 view_profile, view_requests".
 */
static enum kvc_status read_invalidates(const struct kvc_workload *workload, uint32_t number,
                                        uint8_t *members, struct kvc_diag *diag)
{
    const struct kvc_action *action = &workload->actions[number];
    const char *at = action->invalidates;
    char kinds[512];
    if (action->value_bytes >= 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.actions.%u.value: found %g, allowed is \"workload\", because an action with "
            "invalidates reads nothing",
            number + 1, action->value_bytes);
    }
    list_kinds(workload, kinds, sizeof(kinds));
    while (*at != '\0') {
        unsigned long count = 1;
        at += strspn(at, " ");
        if (isdigit((unsigned char)*at)) {
            char *end;
            count = strtoul(at, &end, 10);
            at = end + strspn(end, " ");
        }
        size_t bytes = strcspn(at, " ,");
        uint32_t kind = find_kind(workload, at, bytes);
        if (kind == kvc_action_kinds(workload) || count < 1 || count > KVC_ACTION_MEMBERS_MAX ||
            members[kind] > 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "workload.actions.%u.invalidates: found \"%s\", allowed is a list such as "
                                 "\"2 A, B\" of numbers of members, 1 to %d, and names of actions that read, "
                                 "each once: %s",
                                 number + 1, action->invalidates, KVC_ACTION_MEMBERS_MAX, kinds);
        }
        members[kind] = (uint8_t)count;
        at += bytes;
        at += strspn(at, " ");
        at += *at == ',';
    }
    return KVC_OK;
}

static void set_below(const double *frac, uint32_t count, uint64_t *below)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += frac[i];
        below[i] = sum < 1 ? (uint64_t)(sum * 0x1.0p64) : UINT64_MAX;
    }
}

static enum kvc_status check_sum(const double *frac, uint32_t count, const char *what, struct kvc_diag *diag)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += frac[i];
    }
    return count == 0 || fabs(sum - 1) <= 1e-9
               ? KVC_OK
               : kvc_diag_fail(
                     diag, KVC_ERR_SCENARIO,
                     "workload.actions: the frac of the actions that %s add up to %g; they must add "
                     "up to 1",
                     what, sum);
}

/* Checks that there are actions that read and, if the workload has SETs, actions that update, and that
 * members have all kinds of pairs. */
static enum kvc_status check_workload(const struct kvc_action_mix *mix, const struct kvc_workload *workload,
                                      uint32_t reads, struct kvc_diag *diag)
{
    if (reads == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.actions: all have invalidates; at least one must read");
    }
    if (workload->set_frac > 0 && mix->updates == 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.set is %g, but no action has invalidates; allowed is 0, or an action that "
            "updates",
            workload->set_frac);
    }
    if (workload->delete_frac > 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.delete is %g; allowed with actions is 0, because updates delete",
                             workload->delete_frac);
    }
    if (workload->sizes != KVC_SIZES_FIXED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.sizes: allowed with actions is fixed; the actions may have values of "
                             "their own");
    }
    if (workload->keys < (uint64_t)mix->kinds * KVC_ACTION_MEMBERS_MAX) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO, "workload.keys is %llu; allowed are at least %u, those of %d members",
            (unsigned long long)workload->keys, mix->kinds * KVC_ACTION_MEMBERS_MAX, KVC_ACTION_MEMBERS_MAX);
    }
    if (workload->keys % mix->kinds != 0) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.keys is %llu; allowed are multiples of %u, one key of a member for each "
            "action that reads",
            (unsigned long long)workload->keys, mix->kinds);
    }
    return KVC_OK;
}

static enum kvc_status check_names(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    for (uint32_t number = 0; number < workload->action_count; number++) {
        const char *name = workload->actions[number].name;
        bool good = name[0] != '\0' && strpbrk(name, " ,") == NULL && !isdigit((unsigned char)name[0]);
        for (uint32_t i = 0; i < number; i++) {
            good = good && strcmp(workload->actions[i].name, name) != 0;
        }
        if (!good) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "workload.actions.%u.name: found \"%s\", allowed is one word that does not begin "
                "with a digit and that no other action has",
                number + 1, name);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_action_mix_open(struct kvc_action_mix *mix, const struct kvc_workload *workload,
                                    struct kvc_diag *diag)
{
    *mix = (struct kvc_action_mix){.kinds = kvc_action_kinds(workload)};
    if (workload->action_count == 0) {
        mix->updates = 1;
        mix->read_frac[0] = mix->update_frac[0] = mix->members[0][0] = 1;
        mix->value_bytes[0] = (double)workload->value_bytes;
        return KVC_OK;
    }
    uint32_t reads = 0;
    enum kvc_status status = check_names(workload, diag);
    for (uint32_t i = 0; status == KVC_OK && i < workload->action_count; i++) {
        const struct kvc_action *action = &workload->actions[i];
        if (is_update(action)) {
            mix->update_frac[mix->updates] = action->frac;
            status = read_invalidates(workload, i, mix->members[mix->updates++], diag);
        } else {
            mix->read_frac[reads] = action->frac;
            mix->value_bytes[reads++] =
                action->value_bytes >= 0 ? action->value_bytes : (double)workload->value_bytes;
        }
    }
    if (status != KVC_OK || (status = check_workload(mix, workload, reads, diag)) != KVC_OK) {
        return status;
    }
    if ((status = check_sum(mix->read_frac, reads, "read", diag)) != KVC_OK ||
        (status = check_sum(mix->update_frac, mix->updates, "update", diag)) != KVC_OK) {
        return status;
    }
    set_below(mix->read_frac, mix->kinds, mix->read_below);
    set_below(mix->update_frac, mix->updates, mix->update_below);
    return KVC_OK;
}

/* ---- facts ---- */

/* Returns a size, or `most` if that is smaller and not 0. */
static uint32_t at_most(uint32_t bytes, uint32_t most)
{
    return most > 0 && most < bytes ? most : bytes;
}

uint32_t kvc_workload_key_bytes_max(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return at_most(workload->trace.facts.key_bytes_max, workload->trace.key_bytes_most);
    }
    uint64_t most = 0;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        most = most > workload->phases[i].key_bytes ? most : workload->phases[i].key_bytes;
    }
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        most = most > workload->tenants[i].key_bytes ? most : workload->tenants[i].key_bytes;
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
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        most = fmax(most, (double)workload->tenants[i].value_bytes);
    }
    for (uint32_t i = 0; i < workload->value_count; i++) {
        most = fmax(most, (double)workload->values[i].value_bytes);
    }
    if (workload->tenant_count + workload->value_count > 0) {
        return (uint32_t)most;
    }
    if (workload->action_count == 0) {
        return (uint32_t)workload->value_bytes;
    }
    kvc_action_mix_open(&mix, workload, NULL);
    for (uint32_t kind = 0; kind < mix.kinds; kind++) {
        most = fmax(most, mix.value_bytes[kind]);
    }
    return (uint32_t)most;
}

/* Returns the first key that an entry of `values` no longer covers. */
static uint64_t end_of_values(const struct kvc_workload *workload, uint32_t entry)
{
    return (uint64_t)llround(workload->values[entry].top_frac * (double)workload->keys);
}

double kvc_workload_values_keys_frac(const struct kvc_workload *workload, uint32_t entry)
{
    uint64_t first = entry > 0 ? end_of_values(workload, entry - 1) : 0;
    return (double)(end_of_values(workload, entry) - first) / (double)workload->keys;
}

/* Returns the share of the requests that are for the most popular keys up to those of an entry of `values`.
 */
static double requests_up_to(const struct kvc_workload *workload, uint32_t entry)
{
    uint64_t end = end_of_values(workload, entry);
    return workload->popularity == KVC_POPULARITY_ZIPF && end > 0
               ? kvc_zipf_mass(workload->keys, workload->zipf_s, end)
               : (double)end / (double)workload->keys;
}

double kvc_workload_values_requests_frac(const struct kvc_workload *workload, uint32_t entry)
{
    return requests_up_to(workload, entry) - (entry > 0 ? requests_up_to(workload, entry - 1) : 0);
}

/* All kinds have the same number of keys, and so have all phases. */
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
    if (workload->tenant_count > 0) {
        for (uint32_t i = 0; i < workload->tenant_count; i++) {
            sum += (double)workload->tenants[i].value_bytes * (double)workload->tenants[i].keys;
        }
        return sum / (double)workload->keys;
    }
    for (uint32_t i = 0; i < workload->value_count; i++) {
        sum += (double)workload->values[i].value_bytes * kvc_workload_values_keys_frac(workload, i);
    }
    if (workload->value_count > 0) {
        return sum;
    }
    if (workload->action_count == 0) {
        return (double)workload->value_bytes;
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
        uint32_t most = at_most(KVC_VALUE_BYTES_MAX, workload->trace.value_bytes_most);
        return at_most(workload->trace.facts.value_bytes_max, most);
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
    case KVC_ARRIVAL_BURSTS:
        highest = 1;
        for (uint32_t i = 0; i < workload->burst_count; i++) {
            highest = fmax(highest, workload->bursts[i].times);
        }
        return highest * workload->rate_mops;
    case KVC_ARRIVAL_MMPP:
        for (uint32_t i = 0; i < workload->mmpp_states; i++) {
            highest = fmax(highest, workload->mmpp[i].rate_mops);
        }
        return highest;
    case KVC_ARRIVAL_SATURATE:
    case KVC_ARRIVAL_CLOSED:
        return INFINITY;
    case KVC_ARRIVAL_TRACE:
        return workload->trace.steady_mops > 0 ? workload->trace.steady_mops : INFINITY;
    }
    KVC_BUG("no arrival %d", workload->arrival);
}

bool kvc_workload_changes(const struct kvc_workload *workload)
{
    return kvc_workload_rate_changes(workload) || workload->arrival == KVC_ARRIVAL_TRACE ||
           workload->phase_count > 0 || workload->storm_count > 0 ||
           (workload->part != NULL && workload->part->epochs > 1);
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
        return workload->trace.facts.key_bytes;
    }
    double sum = 0;
    for (uint32_t i = 0; i < workload->phase_count; i++) {
        sum += (double)workload->phases[i].key_bytes;
    }
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        sum += (double)workload->tenants[i].key_bytes * (double)workload->tenants[i].keys;
    }
    if (workload->tenant_count > 0) {
        return sum / (double)workload->keys;
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return workload->phase_count > 0 ? sum / workload->phase_count : (double)workload->key_bytes;
    }
    return kvc_size_set_key_mean((enum kvc_size_set)workload->sizes);
}

double kvc_workload_value_bytes_mean(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return fmin(workload->trace.facts.value_bytes, kvc_workload_value_bytes_max(workload));
    }
    if (workload->sizes == KVC_SIZES_FIXED) {
        return fixed_value_mean(workload);
    }
    return kvc_size_set_value_mean((enum kvc_size_set)workload->sizes);
}

double kvc_workload_key_bytes_requested(const struct kvc_workload *workload)
{
    double sum = 0;
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        sum += (double)workload->tenants[i].key_bytes * kvc_workload_tenant_share(workload, i);
    }
    return workload->tenant_count > 0 ? sum : kvc_workload_key_bytes_mean(workload);
}

double kvc_workload_value_bytes_requested(const struct kvc_workload *workload)
{
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        return kvc_workload_value_bytes_mean(workload);
    }
    double sum = 0;
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        sum += (double)workload->tenants[i].value_bytes * kvc_workload_tenant_share(workload, i);
    }
    for (uint32_t i = 0; i < workload->value_count; i++) {
        sum += (double)workload->values[i].value_bytes * kvc_workload_values_requests_frac(workload, i);
    }
    return workload->tenant_count + workload->value_count > 0 ? sum : kvc_workload_value_bytes_mean(workload);
}

/* Returns the sizes of a trace's pairs, no larger than the store takes. */
static struct kvc_sizes *traced_sizes(const struct kvc_workload *workload)
{
    const struct kvc_trace_facts *facts = &workload->trace.facts;
    struct kvc_pair_sizes pair[KVC_SIZE_PAIRS_MAX];
    for (uint32_t i = 0; i < facts->pairs; i++) {
        pair[i].key_bytes = at_most(facts->pair[i].key_bytes, kvc_workload_key_bytes_max(workload));
        pair[i].value_bytes = at_most(facts->pair[i].value_bytes, kvc_workload_value_bytes_max(workload));
    }
    return kvc_sizes_create_traced(pair, facts->pairs);
}

static struct kvc_sizes *tenants_sizes(const struct kvc_workload *workload)
{
    struct kvc_pair_sizes pair[KVC_TENANTS_MAX] = {{0}};
    for (uint32_t i = 0; i < workload->tenant_count; i++) {
        pair[i].key_bytes = (uint32_t)workload->tenants[i].key_bytes;
        pair[i].value_bytes = (uint32_t)workload->tenants[i].value_bytes;
    }
    return kvc_sizes_create_tenants(pair, kvc_tenant_keys_of(workload->tenants, workload->tenant_count));
}

static struct kvc_sizes *ranked_sizes(const struct kvc_workload *workload)
{
    uint64_t end[KVC_RANK_VALUES_MAX];
    uint32_t value_bytes[KVC_RANK_VALUES_MAX];
    for (uint32_t i = 0; i < workload->value_count; i++) {
        end[i] = end_of_values(workload, i);
        value_bytes[i] = (uint32_t)workload->values[i].value_bytes;
    }
    return kvc_sizes_create_ranked(workload->key_bytes, end, value_bytes, workload->value_count);
}

struct kvc_sizes *kvc_workload_sizes(const struct kvc_workload *workload)
{
    struct kvc_action_mix mix;
    struct kvc_sizes *sizes;
    if (workload->arrival == KVC_ARRIVAL_TRACE) {
        sizes = traced_sizes(workload);
    } else if (workload->tenant_count > 0) {
        sizes = tenants_sizes(workload);
    } else if (workload->value_count > 0) {
        sizes = ranked_sizes(workload);
    } else {
        kvc_action_mix_open(&mix, workload, NULL); /* kvc_workload_check() has checked it. */
        sizes = kvc_sizes_create((enum kvc_size_set)workload->sizes, workload->key_bytes, mix.value_bytes,
                                 mix.kinds);
    }
    if (sizes == NULL) {
        kvc_out_of_memory("the size distribution");
    }
    return sizes;
}

/* ---- traces ---- */

const char *const kvc_trace_misses_names[] = {"auto", "fill", "leave", NULL};

enum kvc_status kvc_workload_read_trace(struct kvc_workload *workload, struct kvc_diag *diag)
{
    static const double requests_per_ns = 1e-3; /* At 1 Mops. */
    struct kvc_workload_trace *trace = &workload->trace;
    struct kvc_trace_facts *facts = &trace->facts;
    enum kvc_status status = kvc_trace_facts_read(trace->path, facts, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (trace->mops == 0 && !facts->is_timed) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, trace->path, 0,
                                "this trace has no times, so workload.arrival.mops must state a rate");
    }
    facts->requests *= trace->sampled_frac * (double)trace->copies;
    facts->keys = fmax(facts->keys * trace->sampled_frac * (double)trace->copies, 1);
    facts->written_keys *= trace->sampled_frac * (double)trace->copies;
    trace->scale = trace->speed > 0 ? trace->speed : 1;
    if (trace->mops > 0 && facts->end_ns > 0) {
        trace->scale = trace->mops * requests_per_ns * facts->end_ns / facts->requests;
    }
    facts->end_ns /= trace->scale;
    trace->fills = trace->misses == KVC_TRACE_MISSES_FILL ||
                   (trace->misses == KVC_TRACE_MISSES_AUTO && !facts->has_writes);
    double stored = ceil(trace->fills ? facts->keys : facts->written_keys);
    workload->keys = (uint64_t)fmin(fmax(stored, 1), KVC_KEYS_MAX);
    workload->sizes = KVC_SIZES_TRACED;
    workload->get_frac = facts->get_frac;
    workload->set_frac = facts->set_frac;
    workload->delete_frac = facts->delete_frac;
    return KVC_OK;
}

double kvc_workload_trace_hit_frac(const struct kvc_workload *workload, double pairs)
{
    const struct kvc_workload_trace *trace = &workload->trace;
    return kvc_trace_hit_frac(trace->profile, &trace->profile->keys,
                              pairs / (trace->sampled_frac * (double)trace->copies));
}

/* ---- checks ---- */

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
    if (w->keys < 1 || (double)w->keys > KVC_KEYS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.keys is %llu; allowed are 1 to 2^32",
                             (unsigned long long)w->keys);
    }
    if (w->sizes < KVC_SIZES_FIXED || w->sizes > KVC_SIZES_SYS) {
        return fail(diag, "workload.sizes is not one of fixed, etc, usr, app, var, sys");
    }
    if (w->sizes != KVC_SIZES_FIXED) {
        return KVC_OK;
    }
    if (w->key_bytes < 1 || w->key_bytes > KVC_KEY_BYTES_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.key is %llu bytes; allowed are 1 to %d",
                             (unsigned long long)w->key_bytes, KVC_KEY_BYTES_MAX);
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

static enum kvc_status check_bursts(const struct kvc_workload *w, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < w->burst_count; i++) {
        const struct kvc_burst *burst = &w->bursts[i];
        if (burst->at_ns < 0 && burst->every_ns == 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "workload.arrival.bursts.%u: found neither at nor every, allowed: at, for a "
                                 "burst that happens once, every, or both",
                                 i + 1);
        }
        if (burst->every_ns > 0 && burst->every_ns <= burst->length_ns) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "workload.arrival.bursts.%u.every: found %g ns, allowed: more than the length, "
                "%g ns",
                i + 1, burst->every_ns, burst->length_ns);
        }
    }
    return KVC_OK;
}

static enum kvc_status check_mmpp(const struct kvc_workload *w, struct kvc_diag *diag)
{
    return kvc_workload_rate_max_mops(w) > 0
               ? KVC_OK
               : fail(diag,
                      "workload.arrival.mmpp: found no state with a rate above 0, allowed: at least one");
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
    case KVC_ARRIVAL_BURSTS:
        return is_rate(w->rate_mops)
                   ? check_bursts(w, diag)
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
    case KVC_ARRIVAL_MMPP:
        return check_mmpp(w, diag);
    case KVC_ARRIVAL_TRACE:
        return w->trace.path[0] != '\0' ? KVC_OK : fail(diag, "the trace has no file name");
    default:
        return fail(
            diag,
            "workload.arrival is not one of saturate, poisson, fixed, closed, curve, bursts, mmpp, trace");
    }
}

double kvc_phases_length_ns(const struct kvc_workload *workload, uint32_t phase)
{
    while (phase > 0 && workload->phases[phase].length_ns == 0) {
        phase--;
    }
    return workload->phases[phase].length_ns;
}

static enum kvc_status check_phase(const struct kvc_workload *workload, uint32_t number,
                                   struct kvc_diag *diag)
{
    const struct kvc_phase *phase = &workload->phases[number];
    double sum = phase->get_frac + phase->set_frac + phase->delete_frac;
    double length_ns = kvc_phases_length_ns(workload, number);
    if (!isfinite(length_ns) || length_ns <= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.phases.%u.length: found %g ns, allowed: above 0, or \"previous\" from "
                             "the second phase on",
                             number + 1, length_ns);
    }
    if (fabs(sum - 1) > 1e-9) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.phases.%u: get = %g, set = %g and delete = %g add up to %g; they must "
                             "add up to 1",
                             number + 1, phase->get_frac, phase->set_frac, phase->delete_frac, sum);
    }
    if (phase->key_bytes < sizeof(uint32_t) && workload->keys > 1ull << (8 * phase->key_bytes)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.phases.%u.key: found %llu bytes, which distinguish at most %llu keys, "
                             "workload.keys is %llu",
                             number + 1, (unsigned long long)phase->key_bytes, 1ull << (8 * phase->key_bytes),
                             (unsigned long long)workload->keys);
    }
    return KVC_OK;
}

/* Returns the message for an option that a workload with phases must not have, or NULL. */
static const char *contradiction(const struct kvc_workload *workload)
{
    bool open = kvc_workload_is_steady(workload);
    return !open && workload->arrival != KVC_ARRIVAL_SATURATE
               ? "workload.arrival: allowed with workload.phases are saturate, poisson_mops and fixed_mops"
           : open && workload->fill != KVC_FILL_AT_ONCE
               ? "workload.fill: allowed with workload.phases and an open loop is \"at_once\", because a frame "
                 "has requests of one phase"
           : workload->sizes != KVC_SIZES_FIXED
               ? "workload.sizes: allowed with workload.phases is \"fixed\", the phases say key and value"
           : workload->action_count > 0 ? "workload.actions: not allowed with workload.phases"
           : workload->preload_frac < 1 ? "workload.preload: allowed with workload.phases is 1"
           : workload->keys < workload->phase_count
               ? "workload.keys: every one of workload.phases needs a key"
               : NULL;
}

/* Checks the phases, and that nothing else of the workload contradicts them. */
static enum kvc_status check_phases(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const char *wrong = workload->phase_count > 0 ? contradiction(workload) : NULL;
    enum kvc_status status = KVC_OK;
    if (wrong != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s", wrong);
    }
    for (uint32_t i = 0; status == KVC_OK && i < workload->phase_count; i++) {
        status = check_phase(workload, i, diag);
    }
    return status;
}

/* Returns the message for an option that a workload with tenants must not have, or NULL. */
static const char *contradicts_tenants(const struct kvc_workload *workload)
{
    return !kvc_workload_has_rate(workload) || workload->arrival == KVC_ARRIVAL_MMPP
               ? "workload.arrival: allowed with workload.tenants are poisson_mops, with or without bursts, fixed_mops and curve; "
                 "without it, every tenant sends at its own rate"
           : workload->sizes != KVC_SIZES_FIXED
               ? "workload.sizes: allowed with workload.tenants is \"fixed\"; each tenant states key and value"
           : workload->action_count > 0 ? "workload.actions: not allowed with workload.tenants"
           : workload->phase_count > 0  ? "workload.phases: not allowed with workload.tenants"
           : (double)workload->keys > KVC_KEYS_MAX
               ? "workload.tenants: all of them have more than 2^32 keys together"
               : NULL;
}

static enum kvc_status check_tenant(const struct kvc_workload *workload, uint32_t number,
                                    struct kvc_diag *diag)
{
    const struct kvc_tenant *tenant = &workload->tenants[number];
    bool good = tenant->name[0] != '\0' && strpbrk(tenant->name, " .,\"") == NULL;
    for (uint32_t i = 0; i < number; i++) {
        good = good && strcasecmp(workload->tenants[i].name, tenant->name) != 0;
    }
    if (!good) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.tenants.%u.name: found \"%s\", allowed is one word without dots, "
                             "commas and quotes that no other tenant has in small or capital letters",
                             number + 1, tenant->name);
    }
    if (tenant->get_frac + tenant->delete_frac > 1 + 1e-9) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.tenants.%u: get = %g and delete = %g add up to %g, allowed: up to 1",
                             number + 1, tenant->get_frac, tenant->delete_frac,
                             tenant->get_frac + tenant->delete_frac);
    }
    if (tenant->key_bytes < sizeof(uint32_t) && workload->keys > 1ull << (8 * tenant->key_bytes)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.tenants.%u.key: found %llu bytes, which distinguish at most %llu keys; all "
            "tenants together have %llu",
            number + 1, (unsigned long long)tenant->key_bytes, 1ull << (8 * tenant->key_bytes),
            (unsigned long long)workload->keys);
    }
    return KVC_OK;
}

static enum kvc_status check_tenants(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const char *wrong = workload->tenant_count > 0 ? contradicts_tenants(workload) : NULL;
    enum kvc_status status = KVC_OK;
    if (wrong != NULL) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s", wrong);
    }
    for (uint32_t i = 0; status == KVC_OK && i < workload->tenant_count; i++) {
        status = check_tenant(workload, i, diag);
    }
    return status;
}

static enum kvc_status check_values(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    uint32_t count = workload->value_count;
    for (uint32_t i = 1; i < count; i++) {
        if (workload->values[i].top_frac <= workload->values[i - 1].top_frac) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "workload.values.%u.top: found %g, allowed: more than %g", i + 1,
                                 workload->values[i].top_frac, workload->values[i - 1].top_frac);
        }
    }
    if (count > 0 && workload->values[count - 1].top_frac < 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.values.%u.top: found %g, allowed for the last entry: 1", count,
                             workload->values[count - 1].top_frac);
    }
    bool alone = workload->sizes == KVC_SIZES_FIXED &&
                 workload->action_count + workload->phase_count + workload->tenant_count == 0;
    return count == 0 || alone
               ? KVC_OK
               : fail(
                     diag,
                     "workload.values: allowed with sizes = \"fixed\", and without actions, phases and tenants");
}

/* Checks multigets, and that nothing else of the workload contradicts them. */
static enum kvc_status check_multigets(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const char *wrong = !kvc_workload_has_rate(workload)
                            ? "an open load, such as arrival = { poisson_mops = 10 }"
                        : workload->get_frac <= 0                            ? "GETs (workload.get)"
                        : kvc_workload_fills(workload)                       ? "arrival.misses = \"leave\""
                        : workload->phase_count + workload->tenant_count > 0 ? "neither phases nor tenants"
                                                                             : NULL;
    return workload->multiget < 2 || wrong == NULL
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "workload.multiget: found %llu, allowed above 1 with %s",
                               (unsigned long long)workload->multiget, wrong);
}

/* Checks churn and storms, and that the load lets the popularity change. */
static enum kvc_status check_popularity_changes(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    const char *name = workload->storm_count > 0 ? "storms" : "churn";
    for (uint32_t i = 0; i < workload->storm_count; i++) {
        if (workload->storms[i].keys > workload->keys) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "workload.storms.%u.keys: found %llu, allowed: up to workload.keys, %llu",
                                 i + 1, (unsigned long long)workload->storms[i].keys,
                                 (unsigned long long)workload->keys);
        }
    }
    if (!kvc_workload_popularity_changes(workload) ||
        (kvc_workload_has_rate(workload) && !kvc_workload_sends_together(workload) &&
         workload->action_count + workload->tenant_count == 0)) {
        return KVC_OK;
    }
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "workload.%s: allowed with an open load, such as arrival = { poisson_mops = 10 }, whose "
        "requests have times of their own (fill = \"gradually\"), and without actions, tenants or "
        "multigets",
        name);
}

enum kvc_status kvc_workload_check(const struct kvc_workload *workload, struct kvc_diag *diag)
{
    enum kvc_status status = check_arrival(workload, diag);
    if (status != KVC_OK || (status = check_clients(workload, diag)) != KVC_OK ||
        workload->arrival == KVC_ARRIVAL_TRACE) {
        return status;
    }
    if (kvc_workload_fills(workload) &&
        workload->action_count + workload->phase_count + workload->tenant_count > 0) {
        return fail(
            diag,
            "workload.arrival.misses: found \"fill\", allowed with workload.actions, phases or tenants is "
            "\"leave\"");
    }
    if ((status = check_tenants(workload, diag)) != KVC_OK ||
        (status = check_keys(workload, diag)) != KVC_OK || (status = check_mix(workload, diag)) != KVC_OK) {
        return status;
    }
    if (workload->tenant_count == 0 && workload->popularity != KVC_POPULARITY_UNIFORM &&
        workload->popularity != KVC_POPULARITY_ZIPF) {
        return fail(diag, "workload.dist is neither uniform nor zipf");
    }
    if (workload->popularity == KVC_POPULARITY_ZIPF && !is_rate(workload->zipf_s)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the Zipf exponent is %g; it must be above 0",
                             workload->zipf_s);
    }
    if (workload->frame_requests > KVC_FRAME_REQUESTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame is %llu; allowed are auto and 1 to %d",
                             (unsigned long long)workload->frame_requests, KVC_FRAME_REQUESTS_MAX);
    }
    if (!is_frac(workload->preload_frac)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "workload.preload is %g; allowed are 0 to 1",
                             workload->preload_frac);
    }
    if ((status = check_values(workload, diag)) != KVC_OK) {
        return status;
    }
    if ((status = check_multigets(workload, diag)) != KVC_OK) {
        return status;
    }
    status = check_popularity_changes(workload, diag);
    return status == KVC_OK ? check_phases(workload, diag) : status;
}
