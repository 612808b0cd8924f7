/* The parts of a processor that its files share: packets (port.c), what operations do (execute.c), and how
 * they go through the pipeline (processor.c). For these files only. */
#ifndef KVC_MODELS_KVDIRECT_PIPELINE_H
#define KVC_MODELS_KVDIRECT_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/processor.h"

enum {
    KVC_KVDIRECT_SHAPES = 1024,    /* of a kind of operation that are remembered */
    KVC_KVDIRECT_SHAPE_STEPS = 64, /* longer ones are not */
    KVC_KVDIRECT_VALUE_BYTES = KVC_KVDIRECT_TABLE_PAIR_MAX,
};

struct kvc_kvdirect_packet {
    struct kvc_kvdirect_packet *next;         /* to be decoded */
    struct kvc_kvdirect_packet *made_earlier; /* of all packets */
    struct kvc_batch *batch;
    uint8_t *outcome;
    double arrived_ns; /* the last byte of it */
    uint32_t decoded, left;
    double response_bytes;
};

struct kvc_kvdirect_operation {
    struct kvc_kvdirect_slot *slot;
    struct kvc_kvdirect_packet *packet;
    uint32_t row;
    uint8_t op; /* enum kvc_op */
    bool kept;  /* its key lives in the table */
    bool hot;   /* its key is one of the most popular */
    bool forwarded, write_back;
    bool present; /* the key, when it is done; of a slot's owner: now */
    uint8_t key_bytes;
    uint16_t value_bytes;
    uint64_t hash, sequence;
    struct kvc_kvdirect_step *step; /* of all its accesses */
    uint32_t steps, step_capacity, at, under_way;
    bool goes_on; /* its next access begins though the one before is under way */
    uint8_t key[KVC_KVDIRECT_TABLE_KEY_MAX + 1];
    uint8_t value[KVC_KVDIRECT_VALUE_BYTES + 2];
};

struct kvc_kvdirect_shape {
    uint64_t count;
    bool present[KVC_KVDIRECT_SHAPES];
    uint32_t steps[KVC_KVDIRECT_SHAPES];
    struct kvc_kvdirect_step step[KVC_KVDIRECT_SHAPES][KVC_KVDIRECT_SHAPE_STEPS];
};

/* Whether it leaves another value. */
static inline bool kvc_kvdirect_writes(const struct kvc_kvdirect_processor *processor, uint8_t op)
{
    return op == KVC_OP_DELETE || (op == KVC_OP_SET && kvc_kvdirect_update_writes(processor->config->update));
}

/* Receives the next packet that is sent until until_ns. False: there is none. */
bool kvc_kvdirect_receive(struct kvc_kvdirect_processor *processor, double until_ns);

/* An operation is done: its packet's response leaves with the last one. */
void kvc_kvdirect_respond(struct kvc_kvdirect_processor *processor,
                          const struct kvc_kvdirect_operation *operation, double now_ns);

/* Wherever they are. */
void kvc_kvdirect_packets_free(struct kvc_kvdirect_processor *processor);

/* Runs an operation, or a write-back, in the table; a key that lives there not takes what a recent one of its
 * kind did. Its accesses are in operation->step, what it found in ->present and ->value. */
void kvc_kvdirect_execute(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns);

/* What an operation does to the value of its slot's owner, and finds there. */
void kvc_kvdirect_apply(const struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *owner,
                        struct kvc_kvdirect_operation *operation);

#endif
