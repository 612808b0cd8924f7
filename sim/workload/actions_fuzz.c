/* Fuzz target for the actions of an application. Each line of the input is an action: its name and, after a
 * colon, the pairs that it invalidates. The shares are equal, so that most inputs reach the lists. A mix that
 * is accepted names only kinds of pairs that exist, and members within the limit; one that is refused has a
 * message. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void copy(char *to, const char *from)
{
    size_t bytes = strnlen(from, KVC_TEXT_MAX - 1);
    memcpy(to, from, bytes);
    to[bytes] = '\0';
}

/* Reads the actions from the lines of a text. */
static void set_actions(struct kvc_workload *workload, char *text)
{
    uint32_t updates = 0;
    while (text != NULL && workload->action_count < KVC_ACTIONS_MAX) {
        struct kvc_action *action = &workload->actions[workload->action_count++];
        char *invalidates = strsep(&text, "\n"), *name = strsep(&invalidates, ":");
        copy(action->name, name);
        copy(action->invalidates, invalidates != NULL ? invalidates : "");
        updates += action->invalidates[0] != '\0';
        action->value_bytes = -1;
    }
    for (uint32_t i = 0; i < workload->action_count; i++) {
        struct kvc_action *action = &workload->actions[i];
        action->frac = 1.0 / (action->invalidates[0] != '\0' ? updates : workload->action_count - updates);
    }
}

static void check_mix(const struct kvc_action_mix *mix, const struct kvc_workload *workload)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "actions", 0);
    check(mix->kinds > 0 && mix->kinds == kvc_action_kinds(workload));
    for (uint32_t update = 0; update < mix->updates; update++) {
        uint32_t members = 0;
        for (uint32_t kind = 0; kind < KVC_ACTIONS_MAX; kind++) {
            check(mix->members[update][kind] <= (kind < mix->kinds ? KVC_ACTION_MEMBERS_MAX : 0));
            members += mix->members[update][kind];
        }
        check(members > 0 && members <= KVC_INVALIDATED_MAX);
    }
    check(kvc_action_mix_invalidated(mix) <= KVC_INVALIDATED_MAX);
    for (int i = 0; i < 20; i++) {
        check(kvc_action_draw(mix->read_below, mix->kinds, &rng) < mix->kinds);
        check(mix->updates == 0 || kvc_action_draw(mix->update_below, mix->updates, &rng) < mix->updates);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct kvc_workload workload;
    struct kvc_action_mix mix;
    struct kvc_diag diag = {0};
    char *text = strndup((const char *)data, bytes);
    check(text != NULL);
    memset(&workload, 0, sizeof(workload));
    workload.keys = 720720; /* A multiple of every number of kinds. */
    set_actions(&workload, text);
    if (kvc_action_mix_open(&mix, &workload, &diag) == KVC_OK) {
        check_mix(&mix, &workload);
    } else {
        check(diag.status == KVC_ERR_SCENARIO && strncmp(diag.message, "workload.", 9) == 0);
        check(strpbrk(diag.message, "\n\r\033") == NULL);
    }
    free(text);
    return 0;
}
