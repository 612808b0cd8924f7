/** @file
 * The offered load: keys, their sizes and popularity, operations, and arrivals. The scenario's table
 * `workload` fills it. */
#ifndef KVC_SIM_WORKLOAD_WORKLOAD_H
#define KVC_SIM_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/diag.h"
#include "sim/base/rng.h"
#include "sim/base/text/option.h"
#include "sim/workload/keys/tenant_keys.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace/facts.h"

/** Arrival process of requests. */
enum kvc_arrival {
    KVC_ARRIVAL_SATURATE, /**< A request always waits. It counts as sent when the receiver can take it. */
    KVC_ARRIVAL_POISSON,  /**< Open loop: requests, or frames filled at once, form a Poisson process. */
    KVC_ARRIVAL_FIXED,    /**< Open loop: requests, or frames filled at once, have equal distances. */
    KVC_ARRIVAL_CLOSED,   /**< Each of `clients` sends its next request `think_ns` after a response. */
    KVC_ARRIVAL_CURVE,    /**< Open loop: a Poisson process whose rate follows `curve`. */
    KVC_ARRIVAL_BURSTS,   /**< Open loop: a Poisson process whose rate `bursts` multiply (rates.h). */
    KVC_ARRIVAL_MMPP,     /**< Open loop: a Poisson process whose rate jumps between the states `mmpp`. */
    KVC_ARRIVAL_TRACE,    /**< Replays the file `replay.path` (sim/workload/trace/trace.h). */
};

/** The sockets that share a set of saturating clients. */
enum kvc_clients_for {
    KVC_CLIENTS_FOR_CLUSTER, /**< "cluster": one set of clients; a slow socket holds back the others. */
    KVC_CLIENTS_FOR_SOCKET,  /**< "socket": each socket has its own clients, as in many evaluations. */
};

/** The way in which a client of an open loop gets the requests of a frame. */
enum kvc_fill_mode {
    KVC_FILL_GRADUALLY, /**< "gradually": one by one, each at its own time. */
    KVC_FILL_AT_ONCE,   /**< "at_once": all at the same time, as from a generator of whole packets. */
};

#define KVC_KEYS_MAX 4294967296.0 /**< Most distinct keys. */

enum {
    KVC_KEY_BYTES_MAX = 255,       /**< Largest key [bytes]. */
    KVC_FRAME_REQUESTS_MAX = 4096, /**< Most requests per frame. */
    KVC_FLOWS_MAX = 4096,          /**< Most clients of an open loop. */
    KVC_CONNECTIONS_MAX = 65536    /**< Most connections of a client. */
};

/** Popularity of the keys. */
enum kvc_popularity {
    KVC_POPULARITY_UNIFORM, /**< All keys are equally popular. */
    KVC_POPULARITY_ZIPF,    /**< The popularity falls with the rank to the power of -`zipf_s`. */
    KVC_POPULARITY_TENANTS, /**< Each tenant has a popularity of its own (sim/workload/tenants.h). */
};

enum { KVC_CURVE_MAX = 64 /**< Points of a rate curve. */ };

/** One point of a rate curve. */
struct kvc_rate_point {
    double time_ns;   /**< Simulated time [ns]. */
    double rate_mops; /**< Request rate of all nodes at this time [million/s]. */
};

enum {
    KVC_BURSTS_MAX = 16,     /**< Bursts of a load. */
    KVC_MMPP_STATES_MAX = 16 /**< States of a Markov-modulated Poisson process. */
};

/** A time with more requests, or fewer, once or again and again (sim/workload/rates.h). */
struct kvc_burst {
    double times;     /**< Factor of the rate; below 1: a lull. */
    double length_ns; /**< Length [ns]. */
    double at_ns;     /**< Simulated time at which it begins [ns]; below 0: in the middle of each period. */
    double every_ns;  /**< Time from one beginning to the next [ns]; 0: it happens once. */
};

/** A state of a Markov-modulated Poisson process (sim/workload/rates.h). */
struct kvc_rate_state {
    double rate_mops; /**< Request rate of all nodes in this state [million/s]. */
    double length_ns; /**< Mean time until the next state begins [ns]. */
};

enum { KVC_STORMS_MAX = 8 /**< Hot-key storms of a load. */ };

/** A hot-key storm: a time in which a few keys get a share of all requests (sim/workload/source/source.h). */
struct kvc_storm {
    double at_ns;     /**< Simulated time at which it begins [ns]. */
    double length_ns; /**< Length [ns]. */
    double frac;      /**< Share of the requests that go to its keys, above 0 to 1. */
    uint64_t keys;    /**< Its keys, the least popular ones, among which it chooses equally often. */
};

enum { KVC_ACTIONS_MAX = KVC_SIZE_KINDS_MAX /**< Actions of an application. */ };

/** One action of an application in front of a database: what its requests read and invalidate.
 *
 * The application's data belong to members, such as the users of a social network. An action without
 * `invalidates` reads one pair of a member, which no other action reads: its kind. An action with it updates
 * the database and then deletes pairs of one or several members from the cache. The key ids of a member are
 * consecutive, one for each kind, so that workload.keys is the number of members times the number of kinds.
 * The popularity of the workload applies to the members; all actions choose their members in the same way.
 *
 * Not modelled: members that some actions prefer, friends who are always the same, and actions that read
 * several pairs. */
struct kvc_action {
    char name[KVC_TEXT_MAX];        /**< Name of the action. */
    double frac;                    /**< Share of the GETs, or of the SETs if it updates. */
    double value_bytes;             /**< Size of the values that it reads [bytes]; below 0: `value_bytes`. */
    char invalidates[KVC_TEXT_MAX]; /**< Pairs that it deletes from the cache; empty: it reads. */
};

enum { KVC_PHASES_MAX = 8 /**< Phases of a load that alternates. */ };

/** A phase of a load that alternates (sim/workload/phases.h). */
struct kvc_phase {
    double length_ns;     /**< Length in every cycle [ns]; 0: the length of the phase before it. */
    uint64_t key_bytes;   /**< Size of its keys [bytes]. */
    uint64_t value_bytes; /**< Size of its values [bytes]. */
    double get_frac;      /**< Share of GET requests; the three shares add up to 1. */
    double set_frac;      /**< Share of SET requests. */
    double delete_frac;   /**< Share of DELETE requests. */
    double zipf_s;        /**< Exponent of the popularity of its keys; 0: all are equally popular. */
};

enum { KVC_RANK_VALUES_MAX = 16 /**< Sizes of values by rank. */ };

/** Size of the values of keys by their popularity. */
struct kvc_rank_values {
    double top_frac;      /**< Share of the keys, most popular first, up to which it holds, 0 to 1. */
    uint64_t value_bytes; /**< Size of the values of those that no earlier entry covers [bytes]. */
};

/** What clients do when a GET misses, in a trace or an open loop. */
enum kvc_trace_misses {
    KVC_TRACE_MISSES_AUTO,  /**< "auto": they fill if a trace records no writes, else they leave it. */
    KVC_TRACE_MISSES_FILL,  /**< "fill": they fetch the pair elsewhere, at once, and SET it. */
    KVC_TRACE_MISSES_LEAVE, /**< "leave": nothing; the SETs of the load are all there are. */
};

struct kvc_trace_profile;

/** How a trace is replayed (sim/workload/trace/replay.h). */
struct kvc_workload_trace {
    char path[KVC_TEXT_MAX]; /**< Path of the file. */
    double speed;            /**< How many times as fast as recorded; 0: as `mops` says, or as recorded. */
    double mops;             /**< Mean rate of the requests [million/s]; 0: as `speed` says. */
    double sampled_frac;     /**< Share of the keys that are replayed. */
    uint64_t copies;         /**< Sets of users who do the same, each with its own keys. */
    int misses;              /**< enum kvc_trace_misses, also of an open loop. */

    struct kvc_trace_facts facts; /**< Facts of the requests that are replayed, in the run's own time. */
    double scale;                 /**< Recorded time divided by the run's. */
    double steady_mops;           /**< The rate that a closed form assumes [million/s]; 0: none. */
    const struct kvc_trace_profile
        *profile;              /**< Profile for a closed form, if clients fill what misses; or NULL. */
    bool fills;                /**< Clients fill what misses. */
    uint32_t key_bytes_most;   /**< Largest key that the store takes [bytes]; 0: any. */
    uint32_t value_bytes_most; /**< Largest value that it takes [bytes]; 0: KVC_VALUE_BYTES_MAX. */
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
    double zipf_s;        /**< Zipf: exponent, above 0. Tenants: a mark by which to tell their mixes apart. */
    int arrival;          /**< enum kvc_arrival. */
    double rate_mops;     /**< Poisson, fixed, bursts: rate of all nodes together [million/s]. */
    uint64_t clients;     /**< Closed loop: number of clients. */
    double think_ns;      /**< Closed loop: pause between response and request [ns]. */
    struct kvc_rate_point curve[KVC_CURVE_MAX];      /**< Curve: the points, with ascending times. */
    uint32_t curve_points;                           /**< Curve: number of points. */
    struct kvc_burst bursts[KVC_BURSTS_MAX];         /**< Bursts, which multiply `rate_mops`. */
    uint32_t burst_count;                            /**< Used entries of `bursts`. */
    struct kvc_rate_state mmpp[KVC_MMPP_STATES_MAX]; /**< MMPP: the states. */
    uint32_t mmpp_states;                            /**< MMPP: used entries of `mmpp`. */
    struct kvc_workload_trace trace;                 /**< Trace: the file, and how it is replayed. */
    uint64_t frame_requests;                         /**< Requests per Ethernet frame; 0: as many as fit. */
    uint64_t multiget;    /**< Keys of a multiget (sim/metrics/multigets.h); below 2: GETs are sent alone. */
    uint64_t flows;       /**< Open loop: clients that fill frames for a socket; 0 counts as 1. */
    uint64_t connections; /**< Connections that a client's frames take in turn; 0 counts as 1. */
    double fill_timeout_ns; /**< Open loop: the longest that a frame waits to be full [ns]; 0: no limit. */
    int fill;               /**< Open loop: enum kvc_fill_mode. */
    int clients_for;        /**< Saturating: enum kvc_clients_for. */
    double preload_frac;    /**< Share of the keys, most popular first, stored before the run. */
    struct kvc_action actions[KVC_ACTIONS_MAX]; /**< Actions that GETs and SETs stand for. */
    uint32_t action_count;                      /**< Used entries of `actions`; 0: all requests are equal. */
    struct kvc_phase phases[KVC_PHASES_MAX];    /**< Phases, which replace sizes, mix and popularity. */
    uint32_t phase_count; /**< Used entries of `phases`; 0: the load does not alternate. */
    struct kvc_tenant
        tenants[KVC_TENANTS_MAX]; /**< Tenants, which replace keys, sizes, mix and popularity. */
    uint32_t tenant_count;        /**< Used entries of `tenants`; 0: all requests are alike. */
    bool rate_of_tenants;         /**< `rate_mops` is not stated, but the sum over the tenants. */
    struct kvc_rank_values values[KVC_RANK_VALUES_MAX]; /**< Sizes of values by rank, in ascending order. */
    uint32_t value_count; /**< Used entries of `values`; 0: all values have `value_bytes`. */
    double churn_per_s;   /**< Keys that become the most popular one in a second; not above 0: the popularity
                             stays [1/s]. */
    struct kvc_storm storms[KVC_STORMS_MAX]; /**< Hot-key storms. */
    uint32_t storm_count;                    /**< Used entries of `storms`. */
    const struct kvc_key_part
        *part; /**< The keys of the node whose load this is (sim/workload/keys/key_part.h), of
                    which there are `keys`; NULL: all keys. It outlives the workload. */
};

/** Copies a workload, but not the unused places of `actions`, which are most of its bytes. */
static inline void kvc_workload_copy(struct kvc_workload *to, const struct kvc_workload *from)
{
    size_t actions = offsetof(struct kvc_workload, actions), behind = actions + sizeof(from->actions);
    memcpy(to, from, actions + from->action_count * sizeof(*from->actions));
    memcpy((char *)to + behind, (const char *)from + behind, sizeof(*from) - behind);
}

/** The options of the table `workload`, except popularity and arrival, which are tables of their own. */
extern const struct kvc_option_table kvc_workload_option_table;

/** The options of an action. */
extern const struct kvc_option_table kvc_action_option_table;

/** The options of a phase. */
extern const struct kvc_option_table kvc_phase_option_table;

/** The options of the size of values by rank. */
extern const struct kvc_option_table kvc_rank_values_option_table;

/** The options of a tenant. */
extern const struct kvc_option_table kvc_tenant_option_table;
/** The options of a storm. */
extern const struct kvc_option_table kvc_storm_option_table;

/** The options of one point of a rate curve. */
extern const struct kvc_option_table kvc_rate_curve_option_table;

/** The options of a burst. */
extern const struct kvc_option_table kvc_burst_option_table;

/** The options of a state of an MMPP. */
extern const struct kvc_option_table kvc_mmpp_option_table;

/** The words of enum kvc_trace_misses. */
extern const char *const kvc_trace_misses_names[];

/** Reads the facts of the workload's trace, and sets its number of keys and its mix. Returns
 * KVC_ERR_SCENARIO if the trace cannot be read, or has no times and the workload no rate. */
enum kvc_status kvc_workload_read_trace(struct kvc_workload *workload, struct kvc_diag *diag);

/** Returns the size of the largest key that the workload can produce [bytes]. */
uint32_t kvc_workload_key_bytes_max(const struct kvc_workload *workload);

/** Returns the size of the largest value that the workload can produce [bytes]. */
uint32_t kvc_workload_value_bytes_max(const struct kvc_workload *workload);

/** Returns a tenant's share of all requests, 0 to 1. */
static inline double kvc_workload_tenant_share(const struct kvc_workload *workload, uint32_t tenant)
{
    return kvc_tenants_share(workload->tenants, workload->tenant_count, tenant);
}

/** Returns whether all keys have the size `key_bytes` and, without actions, all values `value_bytes`. */
static inline bool kvc_workload_has_one_size(const struct kvc_workload *workload)
{
    return workload->sizes == KVC_SIZES_FIXED && workload->tenant_count + workload->value_count == 0;
}

/** Returns whether requests are sent at a rate that is stated and never changes. */
static inline bool kvc_workload_is_steady(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_POISSON || workload->arrival == KVC_ARRIVAL_FIXED;
}

/** Returns whether clients send a request only when the store takes it, so that no backlog grows: they
 * saturate it, or wait for their answers. */
static inline bool kvc_workload_clients_wait(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_SATURATE || workload->arrival == KVC_ARRIVAL_CLOSED;
}

/** Returns the highest rate of an open loop, all nodes together [million/s]. Saturating and closed-loop
 * clients are limited by the store, and a trace has many rates, unless steady_mops is set for a closed form:
 * for these, returns +infinity. */
double kvc_workload_rate_max_mops(const struct kvc_workload *workload);

/** Returns whether the load is an open loop with rates of its own, steady or not. */
static inline bool kvc_workload_has_rate(const struct kvc_workload *workload)
{
    return !kvc_workload_clients_wait(workload) && workload->arrival != KVC_ARRIVAL_TRACE;
}

/** Returns whether clients SET what they miss. */
static inline bool kvc_workload_fills(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_TRACE
               ? workload->trace.fills
               : kvc_workload_has_rate(workload) && workload->trace.misses == KVC_TRACE_MISSES_FILL;
}

/** Returns whether GETs are sent as multigets. */
static inline bool kvc_workload_has_multigets(const struct kvc_workload *workload)
{
    return workload->multiget > 1 && kvc_workload_has_rate(workload);
}

/** Returns whether the clients of an open loop send requests together: whole frames, or multigets. */
static inline bool kvc_workload_sends_together(const struct kvc_workload *workload)
{
    return workload->fill == KVC_FILL_AT_ONCE || kvc_workload_has_multigets(workload);
}

/** Returns the share of multigets among what clients of multigets send; each of the rest is a single write.
 */
static inline double kvc_workload_multiget_frac(const struct kvc_workload *workload)
{
    double multigets = workload->get_frac / (double)workload->multiget;
    return multigets / (multigets + 1 - workload->get_frac);
}

/** Returns the share of the GETs of a trace with a profile that hit in an LRU cache of `pairs` pairs, which
 * is empty at first. The requests of copies come one after the other, so that each copy has its part of the
 * cache; a sample of the keys comes back after fewer others. */
double kvc_workload_trace_hit_frac(const struct kvc_workload *workload, double pairs);

/** Returns how many keys a store with room for them holds: those that are preloaded, or all that clients
 * fill. */
static inline double kvc_workload_stored_keys(const struct kvc_workload *workload)
{
    return kvc_workload_fills(workload) ? (double)workload->keys
                                        : workload->preload_frac * (double)workload->keys;
}

/** Returns whether clients react to answers with requests: in a closed loop, or to fill what misses. */
static inline bool kvc_workload_reacts(const struct kvc_workload *workload)
{
    return workload->arrival == KVC_ARRIVAL_CLOSED || kvc_workload_fills(workload);
}

/** Returns whether the rate of a Poisson process changes with time: a curve, bursts or an MMPP. */
static inline bool kvc_workload_rate_changes(const struct kvc_workload *workload)
{
    return kvc_workload_has_rate(workload) && !kvc_workload_is_steady(workload);
}

/** Returns whether the popularity of keys changes with time: by churn or storms. */
static inline bool kvc_workload_popularity_changes(const struct kvc_workload *workload)
{
    return workload->churn_per_s > 0 || workload->storm_count > 0;
}

/** Returns whether the load changes with time by itself: its rate, a trace, phases or storms. */
bool kvc_workload_changes(const struct kvc_workload *workload);

/** Returns the clients that fill frames for one socket, at least 1. */
uint32_t kvc_workload_flows(const struct kvc_workload *workload);

/** Returns the connections of all clients to one socket, at least 1. The frames of a connection have the same
 * addresses and ports. */
uint32_t kvc_workload_connections(const struct kvc_workload *workload);

/** Returns the distance between two keys in a batch of this workload: the largest key, rounded up to words of
 * 8 bytes [bytes]. */
uint32_t kvc_workload_key_stride(const struct kvc_workload *workload);

/** Returns the mean key size, where each key counts once [bytes]. It is exact except for long traces. */
double kvc_workload_key_bytes_mean(const struct kvc_workload *workload);

/** Returns the mean value size, where each key counts once [bytes]. It is exact except for long traces. */
double kvc_workload_value_bytes_mean(const struct kvc_workload *workload);

/** Checks a workload, including what involves several fields: the shares add up to 1, the keys fit in
 * `key_bytes`, the times of the curve ascend, a closed loop has clients, and so on. Returns KVC_ERR_SCENARIO
 * for the first violation. */
enum kvc_status kvc_workload_check(const struct kvc_workload *workload, struct kvc_diag *diag);

/** Returns the mean key size, where each key counts as often as it is requested [bytes]. */
double kvc_workload_key_bytes_requested(const struct kvc_workload *workload);

/** Returns the mean value size, where each key counts as often as it is requested [bytes]. */
double kvc_workload_value_bytes_requested(const struct kvc_workload *workload);

/** Returns the share of the keys that an entry of `values` covers, 0 to 1. */
double kvc_workload_values_keys_frac(const struct kvc_workload *workload, uint32_t entry);

/** Returns the share of all requests that are for these keys, 0 to 1. */
double kvc_workload_values_requests_frac(const struct kvc_workload *workload, uint32_t entry);

/** Returns the sizes of the keys and values. Ends the program if memory is short. */
struct kvc_sizes *kvc_workload_sizes(const struct kvc_workload *workload);

/** Returns how long a phase lasts [ns]. */
double kvc_phases_length_ns(const struct kvc_workload *workload, uint32_t phase);

enum {
    KVC_ACTION_MEMBERS_MAX = 4, /**< Most members that an action concerns. */
    KVC_INVALIDATED_MAX = KVC_ACTION_MEMBERS_MAX * KVC_ACTIONS_MAX, /**< Most keys that one invalidates. */
};

/** The actions of a workload in a form that can be drawn from. Without actions, all keys are of one kind and
 * an update invalidates its own key. */
struct kvc_action_mix {
    uint32_t kinds;                      /**< Kinds of pairs. */
    uint32_t updates;                    /**< Actions that update. */
    double read_frac[KVC_ACTIONS_MAX];   /**< Share of each kind among the GETs. */
    double update_frac[KVC_ACTIONS_MAX]; /**< Share of each action among the updates. */
    uint8_t members[KVC_ACTIONS_MAX]
                   [KVC_ACTIONS_MAX];     /**< Members whose pairs of a kind an update invalidates. */
    double value_bytes[KVC_ACTIONS_MAX];  /**< Size of the values of each kind [bytes]. */
    uint64_t read_below[KVC_ACTIONS_MAX]; /**< A random number below the entry selects at most this kind. */
    uint64_t
        update_below[KVC_ACTIONS_MAX]; /**< A random number below the entry selects at most this action. */
};

/** Sets up the mix of a workload. Returns KVC_ERR_SCENARIO for the first violation: shares that do not add up
 * to 1, a name twice, pairs of an unknown kind, and so on. `diag` may be NULL. */
enum kvc_status kvc_action_mix_open(struct kvc_action_mix *mix, const struct kvc_workload *workload,
                                    struct kvc_diag *diag);

/** Returns the number of kinds of a workload. */
uint32_t kvc_action_kinds(const struct kvc_workload *workload);

/** Returns how many keys an update invalidates on average. */
double kvc_action_mix_invalidated(const struct kvc_action_mix *mix);

/** Returns how many pairs of a kind an update invalidates on average. */
double kvc_action_mix_invalidated_of(const struct kvc_action_mix *mix, uint32_t kind);

/** Draws one of `count` entries of read_below or update_below. */
static inline uint32_t kvc_action_draw(const uint64_t *below, uint32_t count, struct kvc_rng *rng)
{
    uint64_t random = kvc_rng_u64(rng);
    uint32_t at = 0;
    while (at + 1 < count && random >= below[at]) {
        at++;
    }
    return at;
}

#endif
