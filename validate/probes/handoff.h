/* How long a thread waits for what another one, on another core, pushes into a ring for it. */
#ifndef KVC_VALIDATE_PROBES_HANDOFF_H
#define KVC_VALIDATE_PROBES_HANDOFF_H

#include <stdint.h>

#include "sim/base/diag.h"

/* From the first core to each other one, at most KVC_HANDOFF_CORES_MAX. */
enum { KVC_HANDOFF_CORES_MAX = 256 };
struct kvc_handoffs {
    uint32_t cores; /* ns[1] .. ns[cores - 1] are set */
    double ns[KVC_HANDOFF_CORES_MAX];
};

/* The calling thread stays on the first core. KVC_ERR_RUNTIME: no threads. */
enum kvc_status kvc_handoffs_measure(uint32_t cores, struct kvc_handoffs *handoffs, struct kvc_diag *diag);

#endif
