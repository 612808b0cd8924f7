/* Costs of requests on the parts of a server: bytes on the wire, and times of the threads. The simulation and
 * the closed form both use them. */
#ifndef KVC_MODELS_MEMCACHED_COSTS_H
#define KVC_MODELS_MEMCACHED_COSTS_H

#include "models/memcached/config.h"
#include "sim/workload/batch.h"

/* The properties of a request that determine its costs. */
struct kvc_memcached_message {
    enum kvc_op op;
    bool hit; /* GET: it finds its key. */
    uint32_t key_bytes, value_bytes;
};

/* Times of the threads, without stalls for the table's lines [ns]. */
struct kvc_memcached_cost {
    double receive_ns; /* Time of the thread that receives the packet, if another one may serve it. */
    double serve_ns;   /* Time of the thread that serves the request. */
};

/* Return the size of a request and of its response, without the headers of packet and frame [bytes]. */
double kvc_memcached_request_bytes(const struct kvc_memcached_config *config,
                                   const struct kvc_memcached_message *message);
double kvc_memcached_response_bytes(const struct kvc_memcached_config *config,
                                    const struct kvc_memcached_message *message);

/* Returns the time for which a message occupies the ports [ns]. */
double kvc_memcached_wire_ns(const struct kvc_memcached_config *config, double message_bytes);

struct kvc_memcached_cost kvc_memcached_cost_of(const struct kvc_memcached_config *config,
                                                const struct kvc_memcached_message *message);

/* Return the time of the clients' core for a request and for its response, with measured costs, without its
 * looks for responses [ns]. */
double kvc_memcached_client_send_ns(const struct kvc_memcached_config *config,
                                    const struct kvc_memcached_message *message);
double kvc_memcached_client_receive_ns(const struct kvc_memcached_config *config,
                                       const struct kvc_memcached_message *message);

/* Returns the stall of a thread for the `lines` table lines of a burst's requests [ns]. */
double kvc_memcached_stall_ns(const struct kvc_memcached_config *config, double lines);

/* Return whether an operation holds the lock of the whole cache, and the time to take this lock over from
 * another thread [ns]. */
bool kvc_memcached_locks(const struct kvc_memcached_config *config, enum kvc_op op);
double kvc_memcached_handover_ns(const struct kvc_memcached_config *config);

#endif
