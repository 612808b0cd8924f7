/* The machine of MemcachedGPU's servers, as a platform. */
#ifndef KVC_MODELS_MEMCACHEDGPU_MACHINE_H
#define KVC_MODELS_MEMCACHEDGPU_MACHINE_H

#include "sim/devices/socket.h"
#include "sim/platform.h"
#include "sim/scenario.h"

/* Adds the servers of a resolved scenario to an empty platform: devices[i] are those of server i. `devices`
 * may be NULL. */
void kvc_memcachedgpu_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                              struct kvc_socket *devices);

#endif
