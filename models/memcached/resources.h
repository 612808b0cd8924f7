/* Stages of the servers, and the resources that may be their bottleneck: one list for servers on CPUs, one
 * for the FPGA, and one for Fatcache. */
#ifndef KVC_MODELS_MEMCACHED_RESOURCES_H
#define KVC_MODELS_MEMCACHED_RESOURCES_H

#include "models/resource.h"

/* Indexes into the list of stages, by which the recorder numbers them. */
enum kvc_memcached_stage {
    KVC_MEMCACHED_AT_RECEIVE,
    KVC_MEMCACHED_AT_THREADS,
    KVC_MEMCACHED_AT_LOCK,
    KVC_MEMCACHED_AT_MEMORY,
    KVC_MEMCACHED_AT_CONTROLLER,
    KVC_MEMCACHED_AT_CHANNELS,
    KVC_MEMCACHED_AT_CHIPS,
    KVC_MEMCACHED_AT_INTERFACE,
    KVC_MEMCACHED_AT_SEND,
    KVC_MEMCACHED_AT_DATABASE,
    KVC_MEMCACHED_STAGES,
};

kvc_stages_fn kvc_memcached_stages;

extern const struct kvc_model_resource kvc_memcached_cpu_resources[];
extern const struct kvc_model_resource kvc_memcached_fpga_resources[];
extern const struct kvc_model_resource kvc_memcached_fatcache_resources[];

#endif
