/* The costs of memcached's requests on one machine, measured there with the server that is installed and with
 * clients on the machine itself (models/memcached/real/calibrate.h).
 *
 * A scenario with system.loopback uses them in place of the cycles of its options. All times are processor
 * time of one core. They contain the system calls and the kernel's path between two sockets of the machine,
 * which the core that sends walks for both sides. */
#ifndef KVC_MODELS_MEMCACHED_COST_PROFILE_H
#define KVC_MODELS_MEMCACHED_COST_PROFILE_H

#include "sim/base/text/option.h"
#include "sim/devices/node.h"

/* The costs over one transport. */
struct kvc_memcached_transport_costs {
    /* At a thread of the server. */
    double get_ns, set_ns;           /* A request with key and value of no bytes, without a look [ns]. */
    double get_byte_ns, set_byte_ns; /* Each byte of the value [ns]. */
    double key_ns;                   /* Each further key of a multiget, with its value of no bytes [ns]. */
    /* At the core of the clients. */
    double send_ns, receive_ns; /* A request, and a response, with key and value of no bytes [ns]. */
    double send_byte_ns, receive_byte_ns; /* Each byte of a value that is sent or received [ns]. */
    double look_ns;       /* A look for responses, after which all that are there are received [ns]. */
    double client_key_ns; /* Each further key of a multiget [ns]. */
    double notify_ns;     /* More for a request that finds the core of its thread idle [ns]. */
    double wake_ns;       /* From then on, until the thread runs [ns]. */
};

struct kvc_memcached_cost_profile {
    char name[KVC_TEXT_MAX];
    struct kvc_memcached_transport_costs udp, tcp;
    double datagram_ns,
        client_datagram_ns; /* UDP: each further datagram of a response, at both sides [ns]. */
    double key_byte_ns, client_key_byte_ns; /* Each byte of a key, at both sides [ns]. */
    /* More for a request, and for each byte of its value, for each doubling of the store beyond
     * KVC_MEMCACHED_FEW_KEYS items, up to KVC_MEMCACHED_MANY_KEYS [ns]. */
    double doubling_ns, doubling_byte_ns;
    double wait_ns;   /* A thread's look for connections that are ready, or for a datagram [ns]. */
    double switch_ns; /* Until another thread runs on a core whose thread falls asleep [ns]. */
};

/* Most bytes of a response in one datagram (memcached.h, UDP_MAX_PAYLOAD_SIZE). */
enum { KVC_MEMCACHED_DATAGRAM_BYTES = 1400 };

/* Items of the stores that are measured: those that stay in the caches, and those that do not. */
enum { KVC_MEMCACHED_FEW_KEYS = 1000, KVC_MEMCACHED_MANY_KEYS = 100000 };

extern const struct kvc_device_kind kvc_memcached_cost_profile_kind;

/* Returns the profile of a node; NULL: it has none. */
static inline struct kvc_memcached_cost_profile *kvc_memcached_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_memcached_cost_profile_kind);
}

/* Divides all times by the factor. */
void kvc_memcached_cost_profile_speed_up(struct kvc_memcached_cost_profile *profile, double factor);

#endif
