/* memcached as a store that this machine runs for real: the memcached that is installed on this machine, with
 * clients of our own on core 0 (models/memcached/real/client.h). */
#ifndef KVC_MODELS_MEMCACHED_REAL_MEASURE_H
#define KVC_MODELS_MEMCACHED_REAL_MEASURE_H

#include "models/measured/measurable.h"

/* A measurement needs clients on the machine itself, two cores, room for all keys, and an installed
 * memcached. Core 0 is the clients'; the server's threads take turns on the other cores. A window in which a
 * thread of the server waited for its core by 1 % of the window longer than in the median one is not quiet.
 */
extern const struct kvc_measurable kvc_memcached_measurable;

#endif
