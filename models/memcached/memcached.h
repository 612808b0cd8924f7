/* Registry entries of the servers that MemcachedGPU and BlueCache are compared with. */
#ifndef KVC_MODELS_MEMCACHED_MEMCACHED_H
#define KVC_MODELS_MEMCACHED_MEMCACHED_H

#include "models/model.h"

extern const struct kvc_model kvc_memcached_model;
extern const struct kvc_model kvc_memcached_mica_model;
extern const struct kvc_model kvc_memcached_fpga_model;
extern const struct kvc_model kvc_memcached_fatcache_model;

#endif
