/* The machines of a run as a platform: for each socket the processor or FPGA that serves its requests, the
 * memory of its table, the SSD of Fatcache, the ports of its NIC, and the database if there is one. An outage
 * of a port stops the server.
 *
 * The threads are one host that works at the speed of all of them, so that one activity stands for what they
 * do in a slice. Threads that poll draw the same power whether there is work or not. Not modelled: PCIe, and
 * power of memory and NIC apart from what their profiles state. */
#ifndef KVC_MODELS_MEMCACHED_MACHINE_H
#define KVC_MODELS_MEMCACHED_MACHINE_H

#include <stdint.h>

#include "sim/platform.h"
#include "sim/scenario.h"

/* Hosts of one socket. */
struct kvc_memcached_machine {
    uint32_t threads, memory, nic, clients;
    uint32_t flash;    /* Fatcache: its SSD. */
    uint32_t database; /* If there is one. */
};

/* Adds the machines of a resolved scenario to an empty platform. `machine` has an entry for each socket of
 * all nodes; NULL: the caller needs none. */
void kvc_memcached_machine_add(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                               struct kvc_memcached_machine *machine);

#endif
