#include "sim/workload/actions.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads what an action invalidates: a list such as "2 list_friends, 2 view_profile, view_requests". */
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

/* Checks that actions of both sorts are there if the workload asks for them, and that members have all kinds
 * of pairs. */
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
