/* Runs a memcached scenario for real: the memcached that is installed on this machine, with clients of our
 * own on core 0 (models/memcached/real/client.h). */
#ifndef KVC_MODELS_MEMCACHED_REAL_MEASURE_H
#define KVC_MODELS_MEMCACHED_REAL_MEASURE_H

#include "sim/base/diag.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/scenario.h"

/* Checks whether this machine can run the scenario: clients on the machine itself, two cores, room for all
 * keys, and an installed memcached. */
enum kvc_status kvc_memcached_measure_check(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Starts the server, preloads it, warms up and measures. Core 0 is the clients'; the server's threads take
 * turns on the other cores. A window in which a thread of the server waited for its core for 1 % longer than
 * in the median window is not quiet. Returns KVC_ERR_SCENARIO if the scenario cannot be measured here, and
 * KVC_ERR_RUNTIME if the server does not start or gives a wrong answer. */
enum kvc_status kvc_memcached_measure(const struct kvc_scenario *scenario,
                                      const struct kvc_progress *progress, struct kvc_result *result,
                                      struct kvc_diag *diag);

#endif
