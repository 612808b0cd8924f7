/* The shard that gets most of the requests. */
#ifndef KVC_SIM_WORKLOAD_HOTTEST_SHARD_H
#define KVC_SIM_WORKLOAD_HOTTEST_SHARD_H

#include "sim/workload/source.h"

/* Its share, 0..1. The most popular keys are placed one by one, the others count as spread evenly. Shards
 * with clients of their own (clients_for = "socket") get 1/shards each, as do those of a trace, which is not
 * known beforehand. `seed` and `frame_requests` do not matter. */
double kvc_hottest_shard_frac(const struct kvc_source_params *params);

#endif
