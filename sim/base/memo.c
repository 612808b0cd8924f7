#include "sim/base/memo.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/rng.h"

enum { ROOM_FIRST = 64, ROOM_MAX = 1 << 16 };

struct kvc_memo_entry {
    double argument[KVC_MEMO_ARGUMENTS_MAX];
    double result;
    bool used;
};

/* Returns the place of these arguments: theirs, or the free one where they would go. */
static struct kvc_memo_entry *place_of(const struct kvc_memo *memo, const double *argument)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < memo->arguments; i++) {
        uint64_t bits;
        memcpy(&bits, &argument[i], sizeof(bits));
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    uint32_t at = (uint32_t)(kvc_mix64(hash) & (memo->room - 1));
    while (memo->entry[at].used &&
           memcmp(memo->entry[at].argument, argument, memo->arguments * sizeof(*argument)) != 0) {
        at = (at + 1) & (memo->room - 1);
    }
    return &memo->entry[at];
}

bool kvc_memo_find(const struct kvc_memo *memo, const double *argument, double *result)
{
    if (memo->count == 0) {
        return false;
    }
    const struct kvc_memo_entry *entry = place_of(memo, argument);
    if (entry->used) {
        *result = entry->result;
    }
    return entry->used;
}

static void grow(struct kvc_memo *memo)
{
    struct kvc_memo old = *memo;
    memo->room = old.room > 0 ? 2 * old.room : ROOM_FIRST;
    memo->entry = kvc_array_of(memo->room, sizeof(*memo->entry));
    for (uint32_t i = 0; i < old.room; i++) {
        if (old.entry[i].used) {
            *place_of(memo, old.entry[i].argument) = old.entry[i];
        }
    }
    free(old.entry);
}

void kvc_memo_keep(struct kvc_memo *memo, const double *argument, uint32_t arguments, double result)
{
    memo->arguments = arguments;
    if (2 * memo->count >= memo->room) {
        if (memo->room == ROOM_MAX) {
            memset(memo->entry, 0, memo->room * sizeof(*memo->entry));
            memo->count = 0;
        } else {
            grow(memo);
        }
    }
    struct kvc_memo_entry *entry = place_of(memo, argument);
    memo->count += !entry->used;
    memcpy(entry->argument, argument, arguments * sizeof(*argument));
    entry->result = result;
    entry->used = true;
}

bool kvc_memo_find_all(const struct kvc_memo *memo, double *argument, uint32_t arguments, double *result,
                       uint32_t results)
{
    bool found = true;
    for (uint32_t i = 0; i < results && found; i++) {
        argument[arguments - 1] = i;
        found = kvc_memo_find(memo, argument, &result[i]);
    }
    return found;
}

void kvc_memo_keep_all(struct kvc_memo *memo, double *argument, uint32_t arguments, const double *result,
                       uint32_t results)
{
    for (uint32_t i = 0; i < results; i++) {
        argument[arguments - 1] = i;
        kvc_memo_keep(memo, argument, arguments, result[i]);
    }
}

void *kvc_kept_of(struct kvc_kept *kept, const double *argument, uint32_t arguments, bool shared,
                  size_t bytes, bool *found)
{
    size_t size = arguments * sizeof(*argument);
    uint32_t at = 0;
    if (kept->argument == NULL) {
        kept->argument = kvc_array_of((size_t)KVC_KEPT * arguments, sizeof(*argument));
    }
    while (shared && at < KVC_KEPT && memcmp(kept->argument + at * arguments, argument, size) != 0) {
        at++;
    }
    *found = shared && at < KVC_KEPT;
    if (!*found) {
        at = kept->next;
        kept->next = (at + 1) % KVC_KEPT;
        memset(kept->argument + at * arguments, 0, size);
        memcpy(kept->argument + at * arguments, argument, shared ? size : 0);
    }
    if (kept->result[at] == NULL) {
        kept->result[at] = kvc_array_of(1, bytes);
    }
    return kept->result[at];
}
