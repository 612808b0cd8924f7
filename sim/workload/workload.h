/* What load is offered: keys, sizes, popularity, operations, arrivals. Filled from the scenario's `workload`.
 *
 * Sources of the named sets: key and value sizes a-d, Mega-KV (VLDB J. 2017) sec. 8.1; K8..K128, DIDO (ICDE
 * 2017); ETC, USR, APP, VAR, SYS, Atikoglu et al., SIGMETRICS 2012; A, B, C operation mixes, YCSB (SoCC
 * 2010). */
#ifndef KVC_SIM_WORKLOAD_WORKLOAD_H
#define KVC_SIM_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/option.h"

enum kvc_arrival {
    KVC_ARRIVAL_SATURATE, /* a request is always waiting; it counts as sent when the receiver can take it */
    KVC_ARRIVAL_POISSON,  /* open loop: frames arrive as a Poisson process of `rate_mops` requests */
    KVC_ARRIVAL_FIXED,    /* open loop: frames at equal distances */
    KVC_ARRIVAL_CLOSED,   /* `clients`, each sends its next request `think_ns` after its response */
    KVC_ARRIVAL_CURVE,    /* open loop, Poisson with a rate that follows `curve` (linear between points) */
    KVC_ARRIVAL_TRACE,    /* replays `trace`, a CSV with time_us,op,key,key_bytes,value_bytes */
};

enum kvc_size_set { /* choices "fixed", "etc", "usr", "app", "var", "sys" */
                    KVC_SIZES_FIXED,
                    KVC_SIZES_ETC,
                    KVC_SIZES_USR,
                    KVC_SIZES_APP,
                    KVC_SIZES_VAR,
                    KVC_SIZES_SYS,
};

enum kvc_clients_for {                          /* choices "cluster", "socket" */
                       KVC_CLIENTS_FOR_CLUSTER, /* one set of clients: a socket that is behind holds back the
                                                   others */
                       KVC_CLIENTS_FOR_SOCKET,  /* every socket has clients of its own, as evaluations often
                                                   have it */
};

enum kvc_popularity { KVC_POPULARITY_UNIFORM, KVC_POPULARITY_ZIPF };

enum { KVC_CURVE_MAX = 64 };

struct kvc_rate_point {
    double time_ns;
    double rate_mops;
};

struct kvc_workload {
    uint64_t keys;                          /* distinct keys, 1 .. 2^32 */
    int sizes;                              /* enum kvc_size_set */
    uint64_t key_bytes;                     /* fixed: 1..255 */
    uint64_t value_bytes;                   /* fixed */
    double get_frac, set_frac, delete_frac; /* sum to 1 */
    int popularity;                         /* enum kvc_popularity */
    double zipf_s;                          /* exponent, > 0 */
    int arrival;                            /* enum kvc_arrival */
    double rate_mops;                       /* all nodes together */
    uint64_t clients;
    double think_ns;
    struct kvc_rate_point curve[KVC_CURVE_MAX];
    uint32_t curve_points;
    char trace[KVC_TEXT_MAX];
    uint64_t frame_requests; /* requests a client packs into one Ethernet frame; 0: as many as fit */
    int clients_for;         /* enum kvc_clients_for; of saturating clients */
    double preload_frac;     /* share of the keys, most popular first, that are stored before the run */
};

extern const struct kvc_option_table kvc_workload_option_table;
extern const struct kvc_option_table kvc_rate_curve_option_table;

/* Largest key and value that the workload can produce, for buffers and memory estimates. */
uint32_t kvc_workload_key_bytes_max(const struct kvc_workload *workload);
uint32_t kvc_workload_value_bytes_max(const struct kvc_workload *workload);

/* The highest rate of an open load, million requests per second of all nodes together; +infinity where
 * clients wait for what is served: saturating or closed ones. A trace's is not known beforehand: +infinity
 * too. */
double kvc_workload_rate_max_mops(const struct kvc_workload *workload);

/* Bytes from key to key in a batch of this workload: the largest key in whole 8-byte words. */
uint32_t kvc_workload_key_stride(const struct kvc_workload *workload);

/* Means of both over the keys (each key counted once), exact; 0 for a trace, which is not known beforehand.
 */
double kvc_workload_key_bytes_mean(const struct kvc_workload *workload);
double kvc_workload_value_bytes_mean(const struct kvc_workload *workload);

/* Cross-field checks: fractions sum to 1, keys fit in key_bytes, curve times rise, closed loop has clients,
 * ... */
enum kvc_status kvc_workload_check(const struct kvc_workload *workload, struct kvc_diag *diag);

#endif
