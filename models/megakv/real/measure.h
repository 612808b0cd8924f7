/* Mega-KV as a store that this machine runs for real. */
#ifndef KVC_MODELS_MEGAKV_REAL_MEASURE_H
#define KVC_MODELS_MEGAKV_REAL_MEASURE_H

#include "models/measured/measurable.h"

/* Several sockets or nodes, a network feed and sampled stores can be simulated but not measured, and a
 * scenario must not need more threads than there are cores. Arrivals that cannot be played are only detected
 * when the store is opened. The index is where system.index_on puts it, and system.threads lays the threads
 * out. A run fails if a value that was read does not belong to its key. */
extern const struct kvc_measurable kvc_megakv_measurable;

#endif
