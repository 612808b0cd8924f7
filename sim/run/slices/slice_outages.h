/** @file
 * Outages of the devices that a sliced server (sim/run/slices/slices.h) cannot work without.
 *
 * Such a server learns at the end of a slice for how long it was stopped within the slice. The times come
 * from the meters of the engine, so they are exact. Not modelled: the order of several outages within one
 * slice; outages of different devices that meet within a slice count as the longest of them. */
#ifndef KVC_SIM_RUN_SLICES_SLICE_OUTAGES_H
#define KVC_SIM_RUN_SLICES_SLICE_OUTAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/platform.h"

enum {
    KVC_SLICE_HOSTS_MAX = 2,  /**< Hosts that a server needs. */
    KVC_SLICE_LINKS_MAX = 16, /**< Links that a server needs. */
};

/** The devices of a server. A zeroed struct has none. */
struct kvc_slice_outages {
    const struct kvc_platform *platform; /**< Platform of the devices. */
    uint32_t hosts;                      /**< Used entries of `host`. */
    uint32_t links;                      /**< Used entries of `link`. */
    uint32_t host[KVC_SLICE_HOSTS_MAX];  /**< Hosts, each with one core and one state. */
    uint32_t link[KVC_SLICE_LINKS_MAX];  /**< Links. */
    double host_ns[KVC_SLICE_HOSTS_MAX]; /**< Time for which each host was off when last asked [ns]. */
    double link_ns[KVC_SLICE_LINKS_MAX]; /**< Time for which each link was off when last asked [ns]. */
};

/** Adds a host. More than KVC_SLICE_HOSTS_MAX are a bug (KVC_BUG). */
void kvc_slice_outages_add_host(struct kvc_slice_outages *outages, uint32_t host);

/** Adds the links of the route between two hosts, except those that are there already. More than
 * KVC_SLICE_LINKS_MAX are a bug (KVC_BUG). */
void kvc_slice_outages_add_route(struct kvc_slice_outages *outages, uint32_t from, uint32_t to);

/** Returns for how long the device with the longest outage has been off since the last call [ns]. Only while
 * the engine runs. */
double kvc_slice_outages_ns(struct kvc_slice_outages *outages);

/** Stop of a server within a slice that ends now. */
struct kvc_slice_stop {
    double before_ns; /**< Time for which it stops at the start of the slice [ns]. */
    double after_ns;  /**< Time for which it stops at the end of the slice [ns]. */
};

/** Splits the outage within a slice of slice_ns. *off tells whether the server was off when the slice began,
 * and becomes whether it may still be off at its end. */
struct kvc_slice_stop kvc_slice_outages_split(struct kvc_slice_outages *outages, double slice_ns, bool *off);

#endif
