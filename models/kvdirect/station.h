/* The reservation station of KV-Direct's out-of-order engine: which operation may go to memory, which must
 * wait for another one, and which has its value here already.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.3. Operations lie in a small hash table by the hash of their key;
 * those with the same hash count as dependent. The first one of a slot goes to memory. When it comes back,
 * those that wait for the same key are done at once with its value, one a clock; if they changed it, it is
 * written back as a PUT of its own. Then the first one of another key goes to memory.
 *
 * Choices where the paper is silent: as long as anything is under way with a value, it stays here, and
 * further operations on its key need no memory; they may not overtake one of another key that waits in the
 * slot, so that none waits for ever.
 *
 * In stall mode (the paper's alternative) an operation, and all behind it, stops until nothing of its slot is
 * in flight that it depends on: one of the two writes.
 *
 * Operations are numbers of the caller's; the station keeps their order, not their keys and values. */
#ifndef KVC_MODELS_KVDIRECT_STATION_H
#define KVC_MODELS_KVDIRECT_STATION_H

#include <stdbool.h>
#include <stdint.h>

enum { KVC_KVDIRECT_NONE = -1 };

enum kvc_kvdirect_admission {
    KVC_KVDIRECT_FETCH,   /* to memory; the slot is the operation's */
    KVC_KVDIRECT_WAIT,    /* in its slot */
    KVC_KVDIRECT_FORWARD, /* it is done with the value that the slot has */
};

struct kvc_kvdirect_slot {
    int32_t owner;             /* whose key and value the slot has; NONE: the slot is empty */
    int32_t first, last;       /* of those that wait; NONE: none */
    bool fetching;             /* the owner is on its way: there is no value yet */
    bool writing;              /* a write-back is on its way */
    bool changed;              /* the value is newer than memory's */
    uint32_t forwarding;       /* operations that are being done with the value */
    uint32_t readers, writers; /* stall mode: in flight */
};

struct kvc_kvdirect_station {
    struct kvc_kvdirect_slot *slot;
    int32_t *next; /* per operation: the one behind it in its slot */
    uint32_t slots;
};

/* Operations are numbered 0 .. operations - 1. Aborts without memory. */
void kvc_kvdirect_station_open(struct kvc_kvdirect_station *station, uint32_t slots, uint32_t operations);
void kvc_kvdirect_station_close(struct kvc_kvdirect_station *station);

static inline struct kvc_kvdirect_slot *kvc_kvdirect_slot_of(const struct kvc_kvdirect_station *station,
                                                             uint64_t hash)
{
    return &station->slot[(hash >> 32) * station->slots >> 32];
}

/* An operation arrives. `same`: its key is the owner's. */
enum kvc_kvdirect_admission kvc_kvdirect_station_admit(struct kvc_kvdirect_station *station,
                                                       struct kvc_kvdirect_slot *slot, int32_t operation,
                                                       bool same);

/* Takes the first operation behind `*before` (NONE: from the front on) that waits and has the owner's key, as
 * `same` tells; *before is set for the next call. NONE: there is none. */
int32_t kvc_kvdirect_station_take(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                                  int32_t *before, bool (*same)(void *data, int32_t owner, int32_t operation),
                                  void *data);

enum kvc_kvdirect_next {
    KVC_KVDIRECT_NEXT_NOTHING, /* something is still under way, or the slot is empty now */
    KVC_KVDIRECT_NEXT_FETCH,   /* the slot's new owner goes to memory */
    KVC_KVDIRECT_NEXT_WRITE,   /* the owner's value goes to memory */
};

/* After a fetch, a write-back, or an operation that was forwarded has ended, and the flags say so. */
enum kvc_kvdirect_next kvc_kvdirect_station_next(struct kvc_kvdirect_station *station,
                                                 struct kvc_kvdirect_slot *slot);

/* Stall mode: whether an operation may go to memory; it does if so, until it leaves. */
bool kvc_kvdirect_station_enter(struct kvc_kvdirect_slot *slot, bool writes);
void kvc_kvdirect_station_leave(struct kvc_kvdirect_slot *slot, bool writes);

#endif
