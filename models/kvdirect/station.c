#include "models/kvdirect/station.h"

#include <stdlib.h>

#include "sim/base/diag.h"

void kvc_kvdirect_station_open(struct kvc_kvdirect_station *station, uint32_t slots, uint32_t operations)
{
    *station = (struct kvc_kvdirect_station){
        .slot = calloc(slots, sizeof(*station->slot)),
        .next = calloc(operations, sizeof(*station->next)),
        .slots = slots,
    };
    if (station->slot == NULL || station->next == NULL) {
        kvc_out_of_memory("a reservation station of %u slots", slots);
    }
    for (uint32_t i = 0; i < slots; i++) {
        station->slot[i].owner = station->slot[i].first = station->slot[i].last = KVC_KVDIRECT_NONE;
    }
}

double kvc_kvdirect_station_memory_bytes(uint32_t slots, uint32_t operations)
{
    const struct kvc_kvdirect_station *station = NULL;
    return (double)slots * sizeof(*station->slot) + (double)operations * sizeof(*station->next);
}

void kvc_kvdirect_station_close(struct kvc_kvdirect_station *station)
{
    free(station->slot);
    free(station->next);
}

enum kvc_kvdirect_admission kvc_kvdirect_station_admit(struct kvc_kvdirect_station *station,
                                                       struct kvc_kvdirect_slot *slot, int32_t operation,
                                                       bool same)
{
    if (slot->owner == KVC_KVDIRECT_NONE) {
        slot->owner = operation;
        slot->fetching = true;
        return KVC_KVDIRECT_FETCH;
    }
    if (!slot->fetching && slot->first == KVC_KVDIRECT_NONE && same) {
        slot->forwarding++;
        return KVC_KVDIRECT_FORWARD;
    }
    station->next[operation] = KVC_KVDIRECT_NONE;
    if (slot->first == KVC_KVDIRECT_NONE) {
        slot->first = operation;
    } else {
        station->next[slot->last] = operation;
    }
    slot->last = operation;
    return KVC_KVDIRECT_WAIT;
}

/* Removes the operation behind `before`. */
static int32_t take_behind(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                           int32_t before)
{
    int32_t *link = before == KVC_KVDIRECT_NONE ? &slot->first : &station->next[before], taken = *link;
    *link = station->next[taken];
    if (slot->last == taken) {
        slot->last = before;
    }
    return taken;
}

int32_t kvc_kvdirect_station_take(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                                  int32_t *before, bool (*same)(void *data, int32_t owner, int32_t operation),
                                  void *data)
{
    int32_t at = *before == KVC_KVDIRECT_NONE ? slot->first : station->next[*before];
    for (; at != KVC_KVDIRECT_NONE; *before = at, at = station->next[at]) {
        if (!same(data, slot->owner, at)) {
            continue;
        }
        slot->forwarding++;
        return take_behind(station, slot, *before);
    }
    return KVC_KVDIRECT_NONE;
}

enum kvc_kvdirect_next kvc_kvdirect_station_next(struct kvc_kvdirect_station *station,
                                                 struct kvc_kvdirect_slot *slot)
{
    if (slot->fetching || slot->writing || slot->forwarding > 0) {
        return KVC_KVDIRECT_NEXT_NOTHING;
    }
    if (slot->changed) {
        slot->changed = false;
        slot->writing = true;
        return KVC_KVDIRECT_NEXT_WRITE;
    }
    slot->owner = KVC_KVDIRECT_NONE;
    if (slot->first == KVC_KVDIRECT_NONE) {
        return KVC_KVDIRECT_NEXT_NOTHING;
    }
    slot->owner = take_behind(station, slot, KVC_KVDIRECT_NONE);
    slot->fetching = true;
    return KVC_KVDIRECT_NEXT_FETCH;
}

bool kvc_kvdirect_station_enter(struct kvc_kvdirect_slot *slot, bool writes)
{
    if (slot->writers > 0 || (writes && slot->readers > 0)) {
        return false;
    }
    if (writes) {
        slot->writers++;
    } else {
        slot->readers++;
    }
    return true;
}

void kvc_kvdirect_station_leave(struct kvc_kvdirect_slot *slot, bool writes)
{
    if (writes) {
        slot->writers--;
    } else {
        slot->readers--;
    }
}
