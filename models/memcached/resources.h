/* Resources of the servers, of which one may be the bottleneck. */
#ifndef KVC_MODELS_MEMCACHED_RESOURCES_H
#define KVC_MODELS_MEMCACHED_RESOURCES_H

#include "models/resource.h"

extern const struct kvc_model_resource kvc_memcached_cpu_resources[];
extern const struct kvc_model_resource kvc_memcached_fpga_resources[];
extern const struct kvc_model_resource kvc_memcached_fatcache_resources[];

#endif
