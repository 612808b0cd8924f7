/* Closed form of a server of memcached: wire, threads, the lock of the whole cache, or memory bound the
 * throughput.
 *
 * An open load waits at the threads as at a single server that is as fast as all of them and takes an equal
 * time for every request (M/D/1). Partial bursts count in the utilization of threads, not in the throughput.
 * Not modelled: drops of bursts that overflow a ring, random contention for the lock, and, for Fatcache,
 * instances that wait for each other's reads and slabs that are read before they are overwritten. */
#ifndef KVC_MODELS_MEMCACHED_PREDICT_H
#define KVC_MODELS_MEMCACHED_PREDICT_H

#include "models/memcached/config.h"
#include "sim/metrics/result.h"

enum kvc_status kvc_memcached_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                      struct kvc_diag *diag);

/* Sets the share of the time in which threads poll that find nothing to do, which their utilization does not
 * count, if a result with stages is that of threads that poll. */
void kvc_memcached_set_polling(const struct kvc_memcached_config *config, struct kvc_result *result);

/* Sets the share of the node's hardware threads that the threads of memcached and the kernel's work of its
 * clients keep busy, if the clients are on the node and the result has stages. */
void kvc_memcached_set_node_cpu(const struct kvc_scenario *scenario, struct kvc_result *result);

#endif
