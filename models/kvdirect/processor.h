/* KV-Direct's key-value processor: one NIC's pipeline from packets to responses, in simulated time.
 *
 * Source: KV-Direct (SOSP 2017), sec. 3.3, fig. 4. A packet is received, its operations are decoded one a
 * clock and go through the reservation station (station.h) to memory: the real table runs the operation, its
 * accesses are sent to the dispatcher (dispatch.h) and take their time in the memory engine (memory.h), one
 * after the other, the writes at the end side by side. A response leaves when all operations of its packet
 * are done. Every block of the pipeline takes a clock; none but the station holds operations up.
 *
 * A NIC depends on nothing else while it works, so it goes through its own events up to the time that the
 * engine has come to: packets are the engine's matter, operations are not. */
#ifndef KVC_MODELS_KVDIRECT_PROCESSOR_H
#define KVC_MODELS_KVDIRECT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/config.h"
#include "models/kvdirect/memory_engine.h"
#include "models/kvdirect/station.h"
#include "models/kvdirect/store.h"
#include "sim/devices/nic.h"
#include "sim/run/answers.h"
#include "sim/scenario.h"
#include "sim/workload/source.h"

/* What an operation found; of a row that was answered. */
enum kvc_kvdirect_outcome {
    KVC_KVDIRECT_HIT,
    KVC_KVDIRECT_MISS,
    KVC_KVDIRECT_SET_DONE,
    KVC_KVDIRECT_DELETE_DONE
};

/* Since the processor began. */
struct kvc_kvdirect_counts {
    uint64_t decoded;   /* operations */
    uint64_t collided;  /* of them: another one was in their slot */
    uint64_t forwarded; /* of them: done in the station */
    uint64_t writebacks;
    uint64_t accesses[KVC_OP_COUNT];   /* of memory by operations that went there */
    uint64_t operations[KVC_OP_COUNT]; /* those */
    uint64_t steps[KVC_KVDIRECT_STEP_KINDS];
    uint64_t failed; /* PUTs that found no memory */
    double decode_busy_ns, access_busy_ns, receive_busy_ns, send_busy_ns;
};

/* An operation that is done. */
struct kvc_kvdirect_watched {
    uint64_t sequence;    /* of its arrival, from 0 */
    uint64_t hash;        /* of its key */
    uint8_t op;           /* enum kvc_op */
    bool present;         /* the key, after it */
    const uint8_t *value; /* that it found (GET) or that the key has then */
    uint32_t value_bytes;
    double done_ns;
};

struct kvc_kvdirect_operation;
struct kvc_kvdirect_packet;
struct kvc_kvdirect_shape;

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
    double passed_frac; /* of the last vector that was filtered */

    struct kvc_kvdirect_operation *operation;
    int32_t *free_operation;
    uint32_t free_operations;
    uint32_t most_in_flight;

    struct kvc_kvdirect_packet *made_last;    /* list of all */
    struct kvc_kvdirect_packet **free_packet; /* stack */
    uint32_t free_packets, packets;
    struct kvc_kvdirect_packet *first_packet, *last_packet; /* that are not decoded to their end */
    uint32_t waiting_rows;                                  /* in them */

    double now_ns; /* of the latest event */
    double advanced_ns;
    double receive_free_ns, decode_free_ns, issue_free_ns, access_free_ns, forward_free_ns, send_free_ns;
    struct kvc_kvdirect_shape
        *shape;                 /* accesses of recent operations, per kind: for keys that are not kept */
    struct kvc_answers answers; /* outcome: enum kvc_kvdirect_outcome */
    struct kvc_kvdirect_counts counts;
    void (*watch)(void *data, const struct kvc_kvdirect_watched *watched); /* NULL: nobody */
    void *watch_data;
};

/* `seed`: of the replica. Aborts without memory. */
void kvc_kvdirect_processor_open(struct kvc_kvdirect_processor *processor,
                                 const struct kvc_scenario *scenario, struct kvc_kvdirect_store *store,
                                 struct kvc_source *source, uint32_t number, uint32_t frame_requests,
                                 uint64_t seed);
void kvc_kvdirect_processor_close(struct kvc_kvdirect_processor *processor);

/* Everything that happens until until_ns. New answers are added. */
void kvc_kvdirect_processor_advance(struct kvc_kvdirect_processor *processor, double until_ns);

#endif
