/* Registry entry of the baseline stores over RDMA. */
#ifndef KVC_MODELS_RDMA_RDMA_H
#define KVC_MODELS_RDMA_RDMA_H

#include "models/model.h"

extern const struct kvc_model kvc_rdma_model;

#endif
