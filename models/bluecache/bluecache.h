/* BlueCache (Xu et al., PVLDB 10(4), 2016): key-value stores on cards with an FPGA, DRAM and flash. */
#ifndef KVC_MODELS_BLUECACHE_BLUECACHE_H
#define KVC_MODELS_BLUECACHE_BLUECACHE_H

#include "models/model.h"

extern const struct kvc_model kvc_bluecache_model;

#endif
