/* The time that an item needs through a ring, from a thread on one core to a thread on another. */
#ifndef KVC_SIM_PROBES_HANDOFF_H
#define KVC_SIM_PROBES_HANDOFF_H

#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_HANDOFF_CORES_MAX = 256 };

/* Handoffs from the first core to each of the others. */
struct kvc_handoffs {
    uint32_t cores;                   /* ns[1] to ns[cores - 1] are set. */
    double ns[KVC_HANDOFF_CORES_MAX]; /* Time of one handoff, half a round trip [ns]. */
};

/* Measures the first `cores` cores, at most KVC_HANDOFF_CORES_MAX. The calling thread stays on the first core
 * afterwards. KVC_ERR_RUNTIME: a thread cannot be started. */
enum kvc_status kvc_handoffs_measure(uint32_t cores, struct kvc_handoffs *handoffs, struct kvc_diag *diag);

#endif
