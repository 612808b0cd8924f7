/* How fast each core is while all of them work. What a system calls cores may be hyper-threads of fewer ones
 * (a virtual machine is seldom told), and a neighbour's load may be on the other half of one: then some are
 * much slower than others, and not always the same ones. */
#ifndef KVC_VALIDATE_PROBES_CORES_H
#define KVC_VALIDATE_PROBES_CORES_H

#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_CORES_MAX = 256 };

struct kvc_cores {
    uint32_t count;
    double speed_frac[KVC_CORES_MAX]; /* of the fastest core's speed alone, while all work; 0..1 */
};

/* Takes a few milliseconds a core: arithmetic that fills a core's units, so that a sibling shows. The first
 * KVC_CORES_MAX cores that the process may use. KVC_ERR_RUNTIME: no threads. */
enum kvc_status kvc_cores_measure(struct kvc_cores *cores, struct kvc_diag *diag);

double kvc_cores_slowest_frac(const struct kvc_cores *cores);

/* Below this a core shares its units with something. */
extern const double kvc_cores_shared_frac;

#endif
