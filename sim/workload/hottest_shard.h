/** @file
 * The share of requests that the most loaded shard receives. */
#ifndef KVC_SIM_WORKLOAD_HOTTEST_SHARD_H
#define KVC_SIM_WORKLOAD_HOTTEST_SHARD_H

#include "sim/workload/source.h"

/** Returns the share of the hottest shard, 0 to 1. The most popular keys are assigned to their shards one by
 * one; all other keys count as spread evenly. If every shard has clients of its own (clients_for = "socket"),
 * or if the workload is a trace, whose keys are not known beforehand, the share is 1/shards. The `seed` and
 * `frame_requests` of the parameters have no effect. If memory is short, the program ends
 * (kvc_out_of_memory). */
double kvc_hottest_shard_frac(const struct kvc_source_params *params);

#endif
