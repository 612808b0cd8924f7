/** @file
 * A platform describes the simulated machines the way SimGrid sees them: zones, hosts, links and routes.
 *
 * A host is a device that works: a CPU socket, the memory of a socket, a GPU. Its work is counted in
 * nanoseconds of the device's time, so a host of speed 1 does 1 ns of work in 1 ns of simulated time. The
 * speed of memory is its number of channels. A link is what bytes cross: one direction of a PCIe link, the
 * root complex, a network port. A route lists the links between two hosts. SimGrid shares what several
 * activities use at the same time by max-min fairness.
 *
 * The platform is written as XML (format 4.1), which other SimGrid tools load. Latencies of links are 0: the
 * CM02 network model weighs flows by latency, and models add latencies as sleeps. Every platform also has the
 * host "kvcast", on which the actors of the simulation live, so that no failure of a device ends an actor.
 *
 * Order of creation does not matter for results, only for the order of elements in the file. */
#ifndef KVC_SIM_PLATFORM_H
#define KVC_SIM_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

enum {
    KVC_PLATFORM_NAME_MAX = 64,    /**< Bytes of a name, including the terminating zero. */
    KVC_PLATFORM_PSTATES_MAX = 32, /**< Performance states of a host. */
    KVC_PLATFORM_ROUTE_MAX = 8,    /**< Links of a route. */
};

/** Power of a device that draws idle_w when idle, one_w with one core busy and all_w with all cores busy. A
 * device with one core has one_w = all_w. If all_w is 0, the power is unknown and no energy is reported. */
struct kvc_watts {
    double idle_w; /**< Power of the idle device [W]. */
    double one_w;  /**< Power with one busy core [W]. */
    double all_w;  /**< Power with all cores busy [W]; 0: unknown. */
};

/** A performance state of a host. */
struct kvc_pstate {
    double speed;           /**< Work that one core does in a nanosecond [ns]; state 0 of a CPU has 1. */
    struct kvc_watts watts; /**< Power in this state. */
    /** Clock that names the state: the clock of a CPU's cores or of a GPU's core [Hz]; 0: the host has no
     * clocks that a scenario chooses from. */
    double clock_hz;
};

/** A host to be added. */
struct kvc_platform_host {
    char name[KVC_PLATFORM_NAME_MAX]; /**< Unique name: "node0.socket1.gpu". */
    const char *device; /**< Kind of device, for results and pictures: "gpu". A string constant. */
    uint32_t cores;     /**< Cores, each with the speed of the pstate; an activity uses at most one. */
    uint32_t pstates;   /**< Used entries of `pstate`, at least 1. */
    struct kvc_pstate pstate[KVC_PLATFORM_PSTATES_MAX]; /**< States, fastest first. */
    uint32_t first_pstate;                              /**< State in which the run begins. */
    /** Whether it may be turned off during a run: true for CPUs, GPUs and FPGAs; false for hosts that
     * transfers begin or end at, such as memory and copy engines. */
    bool can_fail;
    bool is_metered_elsewhere; /**< Its power is part of another host's, such as a server's at the wall. */
};

/** A link to be added. */
struct kvc_platform_link {
    char name[KVC_PLATFORM_NAME_MAX]; /**< Unique name: "node0.socket1.pcie-up". */
    const char *device;               /**< Kind of device, for results and pictures: "pcie". */
    double bytes_per_s;               /**< Bandwidth of the link. */
    double idle_w;                    /**< Power of the idle link [W]. */
    double busy_w; /**< Power of the fully used link [W]; 0: unknown, and no energy is reported. */
    bool is_metered_elsewhere; /**< Its power is part of a host's, such as a card's. */
};

/** A platform under construction, and the description of a running one. */
struct kvc_platform;

/** Creates an empty platform. */
struct kvc_platform *kvc_platform_create(void);

/** Frees a platform. NULL is allowed. */
void kvc_platform_free(struct kvc_platform *platform);

/** Writes the name "PREFIX.NAME", cut to its room. */
void kvc_platform_set_name(char out[KVC_PLATFORM_NAME_MAX], const char *prefix, const char *name);

/** Adds a zone, such as a node, and returns its number. */
uint32_t kvc_platform_add_zone(struct kvc_platform *platform, const char *name);

/** Adds a host to a zone and returns its number. Hosts are numbered from 0. */
uint32_t kvc_platform_add_host(struct kvc_platform *platform, uint32_t zone,
                               const struct kvc_platform_host *host);

/** Adds a link to a zone and returns its number. Links are numbered from 0. */
uint32_t kvc_platform_add_link(struct kvc_platform *platform, uint32_t zone,
                               const struct kvc_platform_link *link);

/** Adds the one-way route from one host to another of the same zone, over `count` links. A transfer between
 * two hosts needs a route. More than KVC_PLATFORM_ROUTE_MAX links are a bug (KVC_BUG). */
void kvc_platform_add_route(struct kvc_platform *platform, uint32_t from, uint32_t to, const uint32_t *links,
                            uint32_t count);

/** Returns the number of hosts. */
uint32_t kvc_platform_hosts(const struct kvc_platform *platform);

/** Returns the number of links. */
uint32_t kvc_platform_links(const struct kvc_platform *platform);

/** Returns a host. */
const struct kvc_platform_host *kvc_platform_host(const struct kvc_platform *platform, uint32_t host);

/** Returns a link. */
const struct kvc_platform_link *kvc_platform_link(const struct kvc_platform *platform, uint32_t link);

/** Returns the links between two hosts, and their number in *count; NULL if there is no route. */
const uint32_t *kvc_platform_route(const struct kvc_platform *platform, uint32_t from, uint32_t to,
                                   uint32_t *count);

/** Checks that every host and link is of use: names are unique, speeds and bandwidths are positive, and every
 * link is part of a route. The message names a device that nothing connects. */
enum kvc_status kvc_platform_check(const struct kvc_platform *platform, struct kvc_diag *diag);

/** Writes the platform as XML. Write errors stay in the stream (ferror). */
void kvc_platform_write(const struct kvc_platform *platform, FILE *out);

#endif
