/* KV-Direct's key-value processor: the pipeline of one NIC from packets to responses, in simulated time.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3 and 4, fig. 4. The NIC receives a packet and decodes its
 * operations, one in each clock. The reservation station admits them to memory. There the real table runs the
 * operation, the dispatcher (dispatch.h) turns its accesses into steps, and the memory engine
 * (memory_engine.h) simulates how long the steps take. The accesses of an operation start one after another,
 * but no access waits for an earlier write. A packet's response leaves when its last operation is done, and
 * carries the keys. It arrives later by system.pipeline and, behind a PUT's write, system.write_ack.
 *
 * Decoder, issue to memory and forwarding each start one operation in each clock, and the memory access
 * engine starts one read and one write. The decoder also waits while system.in_flight operations are in
 * flight, and in stall mode for dependent operations.
 *
 * Not modelled: that responses of both links and of the DRAM come back in order, and that only GETs fill the
 * cache and PUTs that miss it write to the host alone, as in the program that the authors published (March
 * 2017). With PUTs alone its cache would stay empty, which figure 16b denies.
 *
 * A NIC handles its own events up to the engine's time, slice by slice. Neither packets nor operations are
 * activities of the engine; the NIC posts its load on shared devices once per slice (share.h). */
#ifndef KVC_MODELS_KVDIRECT_PROCESSOR_H
#define KVC_MODELS_KVDIRECT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/config.h"
#include "models/kvdirect/memory_engine.h"
#include "models/kvdirect/store.h"
#include "sim/devices/nic.h"
#include "sim/run/answers.h"
#include "sim/scenario.h"
#include "sim/workload/source/source.h"

/* The reservation station of KV-Direct's out-of-order engine decides which operation may go to memory, which
 * one must wait for another, and which one finds its value in the station.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3.3. Operations lie in a small hash table by the hash of their key.
 * Operations with the same hash count as dependent. The first operation of a slot goes to memory. When it
 * comes back, the waiting operations on the same key are done with its value, one in each clock. If they
 * changed the value, it is written back as a PUT of its own. Then the first operation on another key goes to
 * memory.
 *
 * Choices where the paper is silent: a value stays in the station while any work with it is under way, and
 * further operations on its key need no memory. They may not overtake a waiting operation on another key of
 * the slot, so no operation waits forever.
 *
 * In stall mode, the paper's alternative, an operation and all operations after it stop while an operation in
 * flight has the same slot and at least one of the two writes.
 *
 * The caller identifies operations by numbers. The station knows their order, but not their keys and values.
 */

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
    bool writing;              /* A write-back is in flight. */
    bool changed;              /* The value is newer than memory's. */
    uint32_t forwarding;       /* Operations that are being done with the value. */
    uint32_t readers, writers; /* Stall mode: operations in flight. */
};

struct kvc_kvdirect_station {
    struct kvc_kvdirect_slot *slot;
    int32_t *next; /* Next operation in the slot of each operation. */
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

/* Removes and returns the first waiting operation after `*before` (NONE: from the front) for which `same`
 * finds the owner's key, and sets *before for the next call. Returns NONE if there is no such operation. */
int32_t kvc_kvdirect_station_take(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                                  int32_t *before, bool (*same)(void *data, int32_t owner, int32_t operation),
                                  void *data);

enum kvc_kvdirect_next {
    KVC_KVDIRECT_NEXT_NOTHING, /* Work is still in flight, or the slot is now empty. */
    KVC_KVDIRECT_NEXT_FETCH,   /* The slot's new owner goes to memory. */
    KVC_KVDIRECT_NEXT_WRITE,   /* The owner's value goes to memory. */
};

/* Decides what follows when a fetch, a write-back or a forwarded operation has ended and the flags say so. */
enum kvc_kvdirect_next kvc_kvdirect_station_next(struct kvc_kvdirect_station *station,
                                                 struct kvc_kvdirect_slot *slot);

/* Stall mode: lets an operation into memory, until it leaves. Returns false if it must wait. */
bool kvc_kvdirect_station_enter(struct kvc_kvdirect_slot *slot, bool writes);
void kvc_kvdirect_station_leave(struct kvc_kvdirect_slot *slot, bool writes);

/* Counters since the processor was opened. */
struct kvc_kvdirect_counts {
    uint64_t decoded;                  /* Operations. */
    uint64_t collided;                 /* Operations whose slot was occupied. */
    uint64_t forwarded;                /* Operations done in the station. */
    uint64_t writebacks;               /* Values that the station wrote back. */
    uint64_t accesses[KVC_OP_COUNT];   /* Memory accesses of operations that went to memory. */
    uint64_t operations[KVC_OP_COUNT]; /* Operations that went to memory. */
    uint64_t steps[KVC_KVDIRECT_STEP_KINDS];
    uint64_t failed;          /* PUTs that found no memory. */
    double access_busy_ns[2]; /* Busy times of reads and of writes [ns]. */
    double decode_busy_ns, receive_busy_ns, send_busy_ns;
    double lambda_busy_ns; /* Busy time of the copies of the user's function [ns]. */
    double daemon_busy_ns; /* Busy time of the slab daemon's host core, scaled from the sample to all memory
                              [ns]. */
};

/* A finished operation, as an observer sees it. */
struct kvc_kvdirect_watched {
    uint64_t sequence;    /* Number in order of arrival, from 0. */
    uint64_t hash;        /* Hash of its key. */
    uint8_t op;           /* enum kvc_op. */
    bool present;         /* The key exists after the operation. */
    const uint8_t *value; /* Value that a GET found, or that the key has now. */
    uint32_t value_bytes;
    double done_ns;
};

struct kvc_kvdirect_operation;
struct kvc_kvdirect_packet;

struct kvc_kvdirect_processor {
    const struct kvc_scenario *scenario;
    const struct kvc_kvdirect_config *config;
    const struct kvc_nic *nic;
    struct kvc_kvdirect_store *store;
    struct kvc_kvdirect_shard *shard;
    struct kvc_source *source;
    uint32_t number, frame_requests;
    double clock_ns;

    struct kvc_events events;
    struct kvc_kvdirect_memory_engine memory;
    struct kvc_kvdirect_station station;
    struct kvc_kvdirect_table_trace trace;
    struct kvc_rng rng;

    struct kvc_kvdirect_operation *operation;
    int32_t *free_operation;
    uint32_t free_operations;
    uint32_t most_in_flight;

    struct kvc_kvdirect_packet *made_last;    /* Head of the list of all packets. */
    struct kvc_kvdirect_packet **free_packet; /* Stack of free packets. */
    uint32_t free_packets, packets;
    struct kvc_kvdirect_packet *first_packet, *last_packet; /* Packets that are not decoded completely. */
    uint32_t waiting_rows;                                  /* Undecoded operations of these packets. */

    /* The card's own clock, which stands still while the card is stopped. All times except the times of
     * requests and answers refer to this clock. */
    double now_ns;      /* Time of the latest event. */
    double advanced_ns; /* Time of the latest advance. */
    double stopped_ns; /* Time for which the card was stopped so far: simulation time minus card time [ns]. */
    double resumed_ns; /* Time at which the card resumed after the latest stop [ns]. */
    double receive_free_ns, decode_free_ns, issue_free_ns, forward_free_ns, send_free_ns;
    double access_free_ns[2]; /* Times at which the next read and the next write may start [ns]. */
    double lambda_free_ns, daemon_free_ns;
    uint64_t due_syncs[2]; /* DMA reads and writes of the slab allocator that are still to be done. */
    struct kvc_answers answers;
    struct kvc_kvdirect_counts counts;
    void (*watch)(void *data, const struct kvc_kvdirect_watched *watched); /* Observer; NULL: none. */
    void *watch_data;
};

/* Opens the processor of the NIC with this number. Clients send up to frame_requests requests in a packet.
 * `seed` belongs to the replica. Exits with status 3 if memory is short. */
void kvc_kvdirect_processor_open(struct kvc_kvdirect_processor *processor,
                                 const struct kvc_scenario *scenario, struct kvc_kvdirect_store *store,
                                 struct kvc_source *source, uint32_t number, uint32_t frame_requests,
                                 uint64_t seed);
/* Returns the memory of a processor whose operations have all been in flight [bytes]. */
double kvc_kvdirect_processor_memory_bytes(const struct kvc_kvdirect_config *config);

void kvc_kvdirect_processor_close(struct kvc_kvdirect_processor *processor);

/* Simulates up to until_ns and appends to `answers`. */
void kvc_kvdirect_processor_advance(struct kvc_kvdirect_processor *processor, double until_ns);

/* Stops the card for stop_ns from the end of the latest advance on. Everything in it stands still.
 * Requests wait on the wire until it resumes, because RDMA over Ethernet holds the sender back. Responses
 * that the port already has still leave. */
void kvc_kvdirect_processor_stop(struct kvc_kvdirect_processor *processor, double stop_ns);

#endif
