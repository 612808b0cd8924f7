/* Declarations that the files of a processor share: the execution of operations (execute.c), and their
 * packets and their way through the pipeline (processor.c). Only these files include it. */
#ifndef KVC_MODELS_KVDIRECT_PROCESSOR_INTERNAL_H
#define KVC_MODELS_KVDIRECT_PROCESSOR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "models/kvdirect/processor.h"

enum {
    KVC_KVDIRECT_VALUE_BYTES = KVC_KVDIRECT_TABLE_PAIR_MAX,
};

struct kvc_kvdirect_packet {
    struct kvc_kvdirect_packet *next;         /* Next packet to be decoded. */
    struct kvc_kvdirect_packet *made_earlier; /* List of all packets. */
    struct kvc_batch *batch;
    uint8_t *outcome;  /* Outcome of each operation. */
    double arrived_ns; /* Arrival of its last byte. */
    double decoded_ns; /* Time when its first operation is decoded. */
    uint32_t decoded;  /* Decoded operations. */
    uint32_t left;     /* Operations that are not done. */
    double response_bytes;
    double ack_ns; /* Time until the writes of its operations are acknowledged. */
};

struct kvc_kvdirect_operation {
    struct kvc_kvdirect_slot *slot;
    struct kvc_kvdirect_packet *packet;
    uint32_t row;
    uint8_t op; /* enum kvc_op. */
    bool kept;  /* The table contains its key if the store does. */
    bool hot;   /* The key is one of the most popular. */
    bool forwarded, write_back;
    bool present; /* The key exists after the operation; for a slot's owner: it exists now. */
    uint8_t key_bytes;
    uint16_t value_bytes;
    uint64_t key_id, hash, sequence;
    struct kvc_kvdirect_step *step; /* Steps of all its accesses. */
    uint32_t steps, step_capacity, at, under_way;
    bool goes_on;    /* The next access starts while a write is in flight. */
    bool computes;   /* The user's function has to run on its value. */
    double ready_ns; /* Time when the slab daemon has memory for it. */
    double value_ns; /* For a slot's owner: time when the latest operation on its value is done. */
    uint8_t key[KVC_KVDIRECT_TABLE_KEY_MAX + 1];
    uint8_t value[KVC_KVDIRECT_VALUE_BYTES + 2];
};

/* Tells whether an operation changes the stored value. */
static inline bool kvc_kvdirect_writes(const struct kvc_kvdirect_processor *processor, uint8_t op)
{
    return op == KVC_OP_DELETE || (op == KVC_OP_SET && kvc_kvdirect_update_writes(processor->config->update));
}

/* Runs an operation or a write-back in the table and fills operation->step with its accesses, ->present
 * and ->value. An operation on a key that the sample lacks runs on its stand-in key and gets the value of
 * that key. */
void kvc_kvdirect_execute(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns);

/* Counts the accesses of an operation or a write-back that has done them all. */
void kvc_kvdirect_executed(struct kvc_kvdirect_processor *processor,
                           const struct kvc_kvdirect_operation *operation);

/* Applies an operation to the value of its slot's owner. */
void kvc_kvdirect_apply(const struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *owner,
                        struct kvc_kvdirect_operation *operation);

#endif
