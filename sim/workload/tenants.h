/** @file
 * Loads of several tenants, which share a store.
 *
 * Every tenant has keys, sizes, a mix of operations, a popularity and a rate of its own. All tenants send at
 * the same time: each has clients of its own, whose number is its share of all clients, and a frame has
 * requests of one tenant. Frames have room for the same number of requests, whoever sends them.
 *
 * Key ids rank the keys of all tenants together by their popularity (sim/workload/keys/tenant_keys.h), so
 * that stores treat a key as they would if there were one tenant. */
#ifndef KVC_SIM_WORKLOAD_TENANTS_H
#define KVC_SIM_WORKLOAD_TENANTS_H

#include <stdint.h>

#include "sim/workload/workload.h"

/** Sets what follows from the tenants: the number of keys, the mix of all requests, and the rate unless it is
 * stated. Without tenants, it has no effect. */
void kvc_tenants_settle(struct kvc_workload *workload);

/** Returns the number of the first tenant that has an objective, or the number of tenants. */
uint32_t kvc_tenants_with_objective(const struct kvc_workload *workload);

/** Returns the load of one tenant alone, with its share of the clients. */
struct kvc_workload kvc_tenants_workload(const struct kvc_workload *workload, uint32_t tenant);

/** Returns the number of the first client of a tenant at a socket; clients are numbered tenant by tenant. */
uint32_t kvc_tenants_first_flow(const struct kvc_workload *workload, uint32_t tenant);

#endif
