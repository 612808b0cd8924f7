/* The speed of each core while all cores work. The system's cores may be hyper-threads of fewer physical
 * cores, which a virtual machine seldom knows, and the sibling of a core may carry another tenant's load.
 * Then some cores are much slower than others, and not always the same ones. */
#ifndef KVC_SIM_PROBES_CORES_H
#define KVC_SIM_PROBES_CORES_H

#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/memory/memory_watch.h"

enum { KVC_CORES_MAX = 256 };

struct kvc_cores {
    uint32_t count; /* Measured cores. */
    /* Speed while all cores work, as a fraction of the fastest core's speed when it works alone, 0 to 1. */
    double speed_frac[KVC_CORES_MAX];
};

/* Measures the first KVC_CORES_MAX cores that the process may use, which takes a few milliseconds each. The
 * arithmetic fills the execution units of a core, so that a busy sibling shows. KVC_ERR_RUNTIME: a thread
 * cannot be started. */
enum kvc_status kvc_cores_measure(struct kvc_cores *cores, struct kvc_diag *diag);

/* Measures the speeds that a run's watch of the cores would report while all of them work, for the length of
 * a window (sim/probes/quiet.h): speed[i] is core i's, in steps of arithmetic per nanosecond, or 0 where it
 * was not measured. Returns the number of cores; 0: a thread cannot be started. */
uint32_t kvc_cores_watch(double speed[KVC_CORES_MAX]);

/* The speed of the slowest core, at most 1. */
double kvc_cores_slowest_frac(const struct kvc_cores *cores);

/* A core whose speed is below this fraction shares its execution units with something. */
extern const double kvc_cores_shared_frac;

/* Takes a reading of the memory on all cores of the watch at once. If a thread cannot be started, there are
 * fewer readings. */
void kvc_cores_read_memory(struct kvc_memory_watch *watch);

#endif
