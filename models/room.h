/* Room for the keys of the workload in the parts of a store. */
#ifndef KVC_MODELS_ROOM_H
#define KVC_MODELS_ROOM_H

#include "sim/base/text/option.h"
#include "sim/scenario.h"

enum { KVC_MODEL_ROOMS_MAX = 2 };

/* A part of a store whose size decides how many keys it holds. */
struct kvc_model_room {
    const char *option; /* Option that states its size: "system.index". */
    enum kvc_unit unit; /* Unit of the sizes. */
    double size;        /* The size that it has. */
    double needed;      /* The size that holds all keys, which is the default. */
    double keys;        /* Keys of the workload that it holds, all nodes together. */
};

#endif
