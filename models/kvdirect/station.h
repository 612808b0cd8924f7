/* The reservation station of KV-Direct's out-of-order engine decides which operation may go to memory, which
 * one must wait for another, and which one finds its value in the station.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.3. Operations lie in a small hash table by the hash of their key.
 * Operations with the same hash count as dependent. The first operation of a slot goes to memory. When it
 * comes back, the waiting operations on the same key are done with its value, one in each clock. If they
 * changed the value, it is written back as a PUT of its own. Then the first operation on another key goes to
 * memory.
 *
 * Choices where the paper is silent: a value stays in the station as long as any work with it is under way,
 * and further operations on its key need no memory. They may not overtake a waiting operation on another key
 * of the slot, so that none waits forever.
 *
 * In stall mode, the paper's alternative, an operation and all operations behind it stop as long as an
 * operation in flight has the same slot and at least one of the two writes.
 *
 * The caller identifies operations by numbers. The station knows their order, but not their keys and
 * values. */
#ifndef KVC_MODELS_KVDIRECT_STATION_H
#define KVC_MODELS_KVDIRECT_STATION_H

#include <stdbool.h>
#include <stdint.h>

enum { KVC_KVDIRECT_NONE = -1 };

enum kvc_kvdirect_admission {
    KVC_KVDIRECT_FETCH,   /* The operation goes to memory and owns the slot. */
    KVC_KVDIRECT_WAIT,    /* The operation waits in its slot. */
    KVC_KVDIRECT_FORWARD, /* The operation is done with the value that the slot has. */
};

struct kvc_kvdirect_slot {
    int32_t owner;             /* Operation whose key and value the slot has; NONE: the slot is empty. */
    int32_t first, last;       /* Waiting operations; NONE: no operation waits. */
    bool fetching;             /* The owner is in memory, and there is no value yet. */
    bool writing;              /* A write-back is under way. */
    bool changed;              /* The value is newer than memory's. */
    uint32_t forwarding;       /* Operations that are being done with the value. */
    uint32_t readers, writers; /* Stall mode: operations in flight. */
};

struct kvc_kvdirect_station {
    struct kvc_kvdirect_slot *slot;
    int32_t *next; /* The operation behind each operation in its slot. */
    uint32_t slots;
};

/* Opens a station for operations 0 to operations - 1. Exits with status 3 if memory is short. */
void kvc_kvdirect_station_open(struct kvc_kvdirect_station *station, uint32_t slots, uint32_t operations);
/* Returns the memory of a station [bytes]. */
double kvc_kvdirect_station_memory_bytes(uint32_t slots, uint32_t operations);
void kvc_kvdirect_station_close(struct kvc_kvdirect_station *station);

/* Returns the slot of a key. */
static inline struct kvc_kvdirect_slot *kvc_kvdirect_slot_of(const struct kvc_kvdirect_station *station,
                                                             uint64_t hash)
{
    return &station->slot[(hash >> 32) * station->slots >> 32];
}

/* Admits an operation. `same` tells whether its key is the owner's. */
enum kvc_kvdirect_admission kvc_kvdirect_station_admit(struct kvc_kvdirect_station *station,
                                                       struct kvc_kvdirect_slot *slot, int32_t operation,
                                                       bool same);

/* Removes and returns the first waiting operation behind `*before` (NONE: from the front) for which `same`
 * finds the owner's key, and sets *before for the next call. Returns NONE if there is no such operation. */
int32_t kvc_kvdirect_station_take(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                                  int32_t *before, bool (*same)(void *data, int32_t owner, int32_t operation),
                                  void *data);

enum kvc_kvdirect_next {
    KVC_KVDIRECT_NEXT_NOTHING, /* Something is still under way, or the slot is empty now. */
    KVC_KVDIRECT_NEXT_FETCH,   /* The slot's new owner goes to memory. */
    KVC_KVDIRECT_NEXT_WRITE,   /* The owner's value goes to memory. */
};

/* Decides what follows when a fetch, a write-back or a forwarded operation has ended and the flags say so. */
enum kvc_kvdirect_next kvc_kvdirect_station_next(struct kvc_kvdirect_station *station,
                                                 struct kvc_kvdirect_slot *slot);

/* Stall mode: lets an operation into memory, until it leaves. Returns false if it must wait. */
bool kvc_kvdirect_station_enter(struct kvc_kvdirect_slot *slot, bool writes);
void kvc_kvdirect_station_leave(struct kvc_kvdirect_slot *slot, bool writes);

#endif
