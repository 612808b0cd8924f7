/* KV-Direct's own parameters: the scenario's `system` table. The model's names begin with kvc_kvd, those of
 * the real table and slabs in kernels/kvdirect with kvc_kvdirect_table. */
#ifndef KVC_MODELS_KVDIRECT_OPTIONS_H
#define KVC_MODELS_KVDIRECT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/option.h"

enum kvc_kvdirect_engine {
    KVC_KVDIRECT_OUT_OF_ORDER, /* operations on a key in flight wait in the reservation station and get its
                                * value
                                */
    KVC_KVDIRECT_STALL,        /* the pipeline stops until the operation that they depend on is done */
};

enum kvc_kvdirect_update {
    KVC_KVDIRECT_PUT, /* SETs of the workload replace the value */
    KVC_KVDIRECT_ADD, /* they are atomic fetch-and-adds on values of 8 bytes */
    /* the value is a vector of elements of which each goes through the user's function (lambda.h) */
    KVC_KVDIRECT_UPDATE, /* and becomes what it gives */
    KVC_KVDIRECT_REDUCE, /* which gives one number for all */
    KVC_KVDIRECT_FILTER, /* which tells those that are sent back */
};

enum { KVC_KVDIRECT_INLINE_AUTO = 255 };

struct kvc_kvdirect_options {
    uint64_t nics;         /* of the node, each with its own share of keys and memory */
    uint64_t lanes;        /* of PCIe that the node has for them */
    double idle_w;         /* of a node without NICs; 0: not known */
    double memory_bytes;   /* of a node, for pairs */
    double index_frac;     /* of it, the hash index; negative: the best one */
    uint64_t inline_bytes; /* pairs up to it lie in the index; INLINE_AUTO: the best threshold */
    double dispatch_frac;  /* l: share of memory that the NIC's DRAM may cache; negative: the best one */
    int engine;            /* enum kvc_kvdirect_engine */
    uint64_t gather_cores; /* of the host that access its memory for each card; 0: the card does so itself */
    int update;            /* enum kvc_kvdirect_update */
    char lambda[KVC_TEXT_MAX]; /* of vectors */
    uint64_t element_bytes;    /* of vectors: 1, 2, 4 or 8 */
    uint64_t delta;            /* what the client sends for d */
    bool delta_vector;         /* it sends one for each element */
    bool returns_vector;       /* UPDATE sends the vector back */
    uint64_t in_flight;        /* operations at once, waiting ones included */
    uint64_t station;          /* hash slots of the reservation station */
};

extern const struct kvc_option_table kvc_kvdirect_option_table;

/* Name of an update in scenarios. */
const char *kvc_kvdirect_update_name(enum kvc_kvdirect_update update);

/* Tells whether SETs change the stored value. */
static inline bool kvc_kvdirect_update_writes(enum kvc_kvdirect_update update)
{
    return update <= KVC_KVDIRECT_UPDATE;
}

/* Tells whether SETs work on the elements of a vector. */
static inline bool kvc_kvdirect_update_has_vectors(enum kvc_kvdirect_update update)
{
    return update >= KVC_KVDIRECT_UPDATE;
}

#endif
