/* KV-Direct's own options: the scenario's `system` table as a user writes it.
 *
 * Names of this model begin with kvc_kvdirect_, names of the real table in kernels/kvdirect with
 * kvc_kvdirect_table_. */
#ifndef KVC_MODELS_KVDIRECT_OPTIONS_H
#define KVC_MODELS_KVDIRECT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text/option.h"

enum kvc_kvdirect_engine {
    KVC_KVDIRECT_OUT_OF_ORDER, /* Operations on a key in flight wait in the reservation station for its value.
                                */
    KVC_KVDIRECT_STALL,        /* The pipeline stops until the operation that they depend on is done. */
};

/* Where the memory of a NIC is. */
enum kvc_kvdirect_placement {
    KVC_KVDIRECT_LOCAL,       /* At the NIC's own socket. */
    KVC_KVDIRECT_INTERLEAVED, /* Spread over all sockets of the node. */
};

/* What SETs of the workload do. */
enum kvc_kvdirect_update {
    KVC_KVDIRECT_PUT, /* They replace the value. */
    KVC_KVDIRECT_ADD, /* They are atomic fetch-and-adds on values of 8 bytes. */
    /* The value is a vector, and the user's function (lambda.h) runs on each element. */
    KVC_KVDIRECT_UPDATE, /* The element becomes the function's result. */
    KVC_KVDIRECT_REDUCE, /* The function combines all elements into one number. */
    KVC_KVDIRECT_FILTER, /* The function selects the elements that are sent back. */
};

enum { KVC_KVDIRECT_INLINE_AUTO = 255 };

struct kvc_kvdirect_options {
    uint64_t nics;             /* NICs of a node, each with its own share of keys and memory. */
    uint64_t lanes;            /* PCIe lanes that a node has for them. */
    int placement;             /* enum kvc_kvdirect_placement. */
    double socket_bytes_per_s; /* Rate between two sockets, in each direction. */
    double slice_ns;           /* How often NICs meet at the devices that they share. */
    double idle_w;             /* Power of a node without NICs; 0: unknown [W]. */
    double memory_bytes;       /* Host memory of a node for pairs [bytes]. */
    double index_frac;     /* Fraction of this memory that the hash index takes; negative: the best one. */
    uint64_t inline_bytes; /* Largest pair stored in the index itself [bytes]; INLINE_AUTO: the best size. */
    double dispatch_frac;  /* l, the fraction of memory that the NIC may cache; negative: the best one. */
    int engine;            /* enum kvc_kvdirect_engine. */
    uint64_t gather_cores; /* Host cores that access memory for each NIC; 0: the NIC accesses it itself. */
    int update;            /* enum kvc_kvdirect_update. */
    char lambda[KVC_TEXT_MAX]; /* Vectors: the user's function. */
    uint64_t element_bytes;    /* Vectors: size of an element: 1, 2, 4 or 8 [bytes]. */
    uint64_t delta;            /* Vectors: value of d that the client sends. */
    bool delta_vector;         /* Vectors: the client sends a d for each element. */
    uint64_t lambda_units;     /* Vectors: copies of the function on the card; 0: as many as PCIe feeds. */
    bool returns_vector;       /* KVC_KVDIRECT_UPDATE sends the old vector back. */
    double splits_per_s;       /* Slab entries that a host core moves to a smaller pool. */
    double merges_per_s;       /* Slab entries that a host core merges. */
    uint64_t in_flight;        /* Operations in flight at once, including waiting ones. */
    uint64_t station;          /* Hash slots of the reservation station. */
};

extern const struct kvc_option_table kvc_kvdirect_option_table;

/* Returns the name of an update in scenarios. */
const char *kvc_kvdirect_update_name(enum kvc_kvdirect_update update);

/* Returns whether SETs change the stored value. */
static inline bool kvc_kvdirect_update_writes(enum kvc_kvdirect_update update)
{
    return update <= KVC_KVDIRECT_UPDATE;
}

/* Returns whether SETs work on the elements of a vector. */
static inline bool kvc_kvdirect_update_has_vectors(enum kvc_kvdirect_update update)
{
    return update >= KVC_KVDIRECT_UPDATE;
}

#endif
