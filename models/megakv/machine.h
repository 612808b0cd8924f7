/* The machines of a Mega-KV cluster on the platform: a zone for each node and the devices of its sockets. */
#ifndef KVC_MODELS_MEGAKV_MACHINE_H
#define KVC_MODELS_MEGAKV_MACHINE_H

#include "sim/devices/socket.h"
#include "sim/scenario.h"

/* Adds all nodes to an empty platform. devices[i] becomes the devices of socket i of the cluster; `devices`
 * may be NULL. */
void kvc_megakv_machine(const struct kvc_scenario *scenario, struct kvc_platform *platform,
                        struct kvc_socket *devices);

#endif
