/* Who serves one thing after the other: a direction of a link, a memory channel, a core. */
#ifndef KVC_SIM_BASE_SERVE_H
#define KVC_SIM_BASE_SERVE_H

#include <math.h>

/* Serves for duration_ns what comes at now_ns, once all before it is done; returns when that is over, ns.
 * Calls come in the order of service. `free_ns`: since when there is nothing to do; `busy_ns`: sum of all
 * durations.
 */
static inline double kvc_serve(double *free_ns, double *busy_ns, double now_ns, double duration_ns)
{
    *free_ns = fmax(*free_ns, now_ns) + duration_ns;
    *busy_ns += duration_ns;
    return *free_ns;
}

#endif
