/* Stages of the servers, and their resources, of which one may be the bottleneck: those of CPUs, of an FPGA,
 * and of Fatcache. */
#ifndef KVC_MODELS_MEMCACHED_RESOURCES_H
#define KVC_MODELS_MEMCACHED_RESOURCES_H

#include "models/resource.h"

/* Places in the list of stages, which are the numbers of the recorder's stages. */
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
