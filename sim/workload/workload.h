/** @file
 * The offered load: keys, their sizes and popularity, operations, and arrivals. The scenario's table
 * `workload` fills it. */
#ifndef KVC_SIM_WORKLOAD_WORKLOAD_H
#define KVC_SIM_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/text/option.h"

/** When requests are sent. */
enum kvc_arrival {
    KVC_ARRIVAL_SATURATE, /**< A request always waits. It counts as sent when the receiver can take it. */
    KVC_ARRIVAL_POISSON,  /**< Open loop: requests, or frames filled at once, form a Poisson process. */
    KVC_ARRIVAL_FIXED,    /**< Open loop: requests, or frames filled at once, have equal distances. */
    KVC_ARRIVAL_CLOSED,   /**< Each of `clients` sends its next request `think_ns` after a response. */
    KVC_ARRIVAL_CURVE,    /**< Open loop: a Poisson process whose rate follows `curve`. */
    KVC_ARRIVAL_TRACE,    /**< Replays the file `trace`; see sim/workload/trace.h. */
};

/** Key and value sizes; see sim/workload/sizes.h. */
enum kvc_size_set {
    KVC_SIZES_FIXED, /**< "fixed": `key_bytes` and `value_bytes`. */
    KVC_SIZES_ETC,   /**< "etc": Facebook's pool ETC. */
    KVC_SIZES_USR,   /**< "usr": Facebook's pool USR. */
    KVC_SIZES_APP,   /**< "app": Facebook's pool APP. */
    KVC_SIZES_VAR,   /**< "var": Facebook's pool VAR. */
    KVC_SIZES_SYS,   /**< "sys": Facebook's pool SYS. */
};

/** Which sockets share a set of saturating clients. */
enum kvc_clients_for {
    KVC_CLIENTS_FOR_CLUSTER, /**< "cluster": one set of clients; a slow socket holds back the others. */
    KVC_CLIENTS_FOR_SOCKET,  /**< "socket": each socket has its own clients, as in many evaluations. */
};

/** How a client of an open loop gets the requests of a frame. */
enum kvc_fill_mode {
    KVC_FILL_GRADUALLY, /**< "gradually": one by one, each at its own time. */
    KVC_FILL_AT_ONCE,   /**< "at_once": all at the same time, as from a generator of whole packets. */
};

enum {
    KVC_FLOWS_MAX = 4096,       /**< Most clients of an open loop. */
    KVC_CONNECTIONS_MAX = 65536 /**< Most connections of a client. */
};

/** How popular the keys are. */
enum kvc_popularity {
    KVC_POPULARITY_UNIFORM, /**< All keys are equally popular. */
    KVC_POPULARITY_ZIPF,    /**< The popularity falls with the rank to the power of -`zipf_s`. */
};

enum { KVC_CURVE_MAX = 64 /**< Points of a rate curve. */ };

/** One point of a rate curve. */
struct kvc_rate_point {
    double time_ns;   /**< Simulated time [ns]. */
    double rate_mops; /**< Request rate of all nodes at this time [million/s]. */
};

enum { KVC_ACTIONS_MAX = 16 /**< Actions of an application. */ };

/** One action of an application in front of a database (sim/workload/actions.h). */
struct kvc_action {
    char name[KVC_TEXT_MAX];        /**< Its name. */
    double frac;                    /**< Its share of the GETs, or of the SETs if it updates. */
    double value_bytes;             /**< Size of the values that it reads [bytes]; below 0: `value_bytes`. */
    char invalidates[KVC_TEXT_MAX]; /**< Pairs that it deletes from the cache; empty: it reads. */
};

enum { KVC_PHASES_MAX = 8 /**< Phases of a load that alternates. */ };

/** A phase of a load that alternates (sim/workload/phases.h). */
struct kvc_phase {
    double length_ns;     /**< How long it lasts in every cycle [ns]; 0: as long as the one before. */
    uint64_t key_bytes;   /**< Size of its keys [bytes]. */
    uint64_t value_bytes; /**< Size of its values [bytes]. */
    double get_frac;      /**< Share of GET requests; the three shares add up to 1. */
    double set_frac;      /**< Share of SET requests. */
    double delete_frac;   /**< Share of DELETE requests. */
    double zipf_s;        /**< Exponent of the popularity of its keys; 0: all are equally popular. */
};

struct kvc_key_part;

/** A workload. */
struct kvc_workload {
    uint64_t keys;        /**< Distinct keys, 1 to 2^32. */
    int sizes;            /**< enum kvc_size_set. */
    uint64_t key_bytes;   /**< Fixed sizes: size of every key [bytes], 1 to 255. */
    uint64_t value_bytes; /**< Fixed sizes: size of every value [bytes]. */
    double get_frac;      /**< Share of GET requests; the three shares add up to 1. */
    double set_frac;      /**< Share of SET requests. */
    double delete_frac;   /**< Share of DELETE requests. */
    int popularity;       /**< enum kvc_popularity. */
    double zipf_s;        /**< Zipf: exponent, above 0. */
    int arrival;          /**< enum kvc_arrival. */
    double rate_mops;     /**< Poisson, fixed: rate of all nodes together [million/s]. */
    uint64_t clients;     /**< Closed loop: number of clients. */
    double think_ns;      /**< Closed loop: pause between response and request [ns]. */
    struct kvc_rate_point curve[KVC_CURVE_MAX]; /**< Curve: the points, with ascending times. */
    uint32_t curve_points;                      /**< Curve: number of points. */
    char trace[KVC_TEXT_MAX];                   /**< Trace: path of the file. */
    uint64_t frame_requests;                    /**< Requests per Ethernet frame; 0: as many as fit. */
    uint64_t flows;         /**< Open loop: clients that fill frames for a socket; 0 counts as 1. */
    uint64_t connections;   /**< Connections that a client's frames take in turn; 0 counts as 1. */
    double fill_timeout_ns; /**< Open loop: the longest that a frame waits to be full [ns]; 0: no limit. */
    int fill;               /**< Open loop: enum kvc_fill_mode. */
    int clients_for;        /**< Saturating: enum kvc_clients_for. */
    double preload_frac;    /**< Share of the keys, most popular first, stored before the run. */
    struct kvc_action actions[KVC_ACTIONS_MAX]; /**< What GETs and SETs are to the application. */
    uint32_t action_count;                      /**< Used entries of `actions`; 0: all are alike. */
    struct kvc_phase phases[KVC_PHASES_MAX];    /**< What takes the place of sizes, mix and popularity. */
    uint32_t phase_count;                       /**< Used entries of `phases`; 0: the load is one. */
    const struct kvc_key_part
        *part; /**< The keys of the node whose load this is (sim/workload/keys/key_part.h), of
                    which there are `keys`; NULL: all keys. It outlives the workload. */
};

/** The options of the table `workload`, except popularity and arrival, which are tables of their own. */
extern const struct kvc_option_table kvc_workload_option_table;

/** The options of an action. */
extern const struct kvc_option_table kvc_action_option_table;

/** The options of a phase. */
extern const struct kvc_option_table kvc_phase_option_table;

/** The options of one point of a rate curve. */
extern const struct kvc_option_table kvc_rate_curve_option_table;

/** Returns the size of the largest key that the workload can produce [bytes]. */
uint32_t kvc_workload_key_bytes_max(const struct kvc_workload *workload);

/** Returns the size of the largest value that the workload can produce [bytes]. */
uint32_t kvc_workload_value_bytes_max(const struct kvc_workload *workload);

/** Returns the highest rate of an open loop, all nodes together [million/s]. Saturating and closed-loop
 * clients are limited by the store, and the rate of a trace is not known beforehand: for these, returns
 * +infinity. */
double kvc_workload_rate_max_mops(const struct kvc_workload *workload);

/** Returns whether the load changes with time by itself: a rate curve, a trace or phases. */
bool kvc_workload_changes(const struct kvc_workload *workload);

/** Returns the clients that fill frames for one socket, at least 1. */
uint32_t kvc_workload_flows(const struct kvc_workload *workload);

/** Returns the connections of all clients to one socket, at least 1. The frames of a connection have the same
 * addresses and ports. */
uint32_t kvc_workload_connections(const struct kvc_workload *workload);

/** Returns the distance between two keys in a batch of this workload: the largest key, rounded up to words of
 * 8 bytes [bytes]. */
uint32_t kvc_workload_key_stride(const struct kvc_workload *workload);

/** Returns the exact mean key size, where each key counts once [bytes]. For a trace, which is not known
 * beforehand, returns 0. */
double kvc_workload_key_bytes_mean(const struct kvc_workload *workload);

/** Returns the exact mean value size, where each key counts once [bytes]. For a trace, which is not known
 * beforehand, returns 0. */
double kvc_workload_value_bytes_mean(const struct kvc_workload *workload);

/** Checks a workload, including what involves several fields: the shares add up to 1, the keys fit in
 * `key_bytes`, the times of the curve ascend, a closed loop has clients, and so on. Returns KVC_ERR_SCENARIO
 * for the first violation. */
enum kvc_status kvc_workload_check(const struct kvc_workload *workload, struct kvc_diag *diag);

#endif
