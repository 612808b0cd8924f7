/* The costs of memcached's requests on one machine, measured there with the server that is installed and with
 * clients on the machine itself (models/memcached/real/calibrate.h).
 *
 * A scenario with system.loopback uses them in place of the cycles of its options. All times are processor
 * time of one core. They contain the system calls and the kernel's path between two sockets of the machine,
 * which the core that sends walks for both sides. Not modelled: caches that a large store does not fit into,
 * apart from the lines of the table, and threads of the server that disturb each other. */
#ifndef KVC_MODELS_MEMCACHED_COST_PROFILE_H
#define KVC_MODELS_MEMCACHED_COST_PROFILE_H

#include "sim/base/text/option.h"
#include "sim/devices/node.h"

/* The costs over one transport. */
struct kvc_memcached_transport_costs {
    double get_ns, set_ns;           /* A request with a value of no bytes, at a thread of the server [ns]. */
    double get_byte_ns, set_byte_ns; /* Each byte of the value, there [ns]. */
    double key_ns;                   /* Each further key of a multiget, with its value of no bytes [ns]. */
    double client_ns;                /* A request and its response at the client's core [ns]. */
};

struct kvc_memcached_cost_profile {
    char name[KVC_TEXT_MAX];
    struct kvc_memcached_transport_costs udp; /* With the wait for the next datagram. */
    struct kvc_memcached_transport_costs tcp; /* Without the wait for connections. */
    double datagram_ns;                       /* UDP: each further datagram of a response [ns]. */
    double wait_ns; /* TCP: a wait for connections, after which all that were ready are served [ns]. */
    double wake_ns; /* Until a sleeping thread of the server runs [ns]. */
};

/* Most bytes of a response in one datagram (memcached.h, UDP_MAX_PAYLOAD_SIZE). */
enum { KVC_MEMCACHED_DATAGRAM_BYTES = 1400 };

extern const struct kvc_device_kind kvc_memcached_cost_profile_kind;

/* Returns the profile of a node; NULL: it has none. */
static inline struct kvc_memcached_cost_profile *kvc_memcached_cost_profile_of(const struct kvc_node *node)
{
    return kvc_node_device(node, &kvc_memcached_cost_profile_kind);
}

/* Divides all times by the factor. */
void kvc_memcached_cost_profile_speed_up(struct kvc_memcached_cost_profile *profile, double factor);

#endif
