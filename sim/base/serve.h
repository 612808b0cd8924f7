/** @file
 * A server that handles one job at a time, such as one direction of a link, a memory channel or a core. */
#ifndef KVC_SIM_BASE_SERVE_H
#define KVC_SIM_BASE_SERVE_H

/** Returns the later of two times. A call of fmax() would cost several times as much. */
static inline double kvc_later_ns(double left_ns, double right_ns)
{
    return left_ns > right_ns ? left_ns : right_ns;
}

/** Serves a job that arrives at now_ns and takes duration_ns. It starts when all earlier jobs are done.
 * Returns when it ends [ns]. Jobs are served in the order of the calls. `*free_ns` is when the server becomes
 * idle [ns], and `*busy_ns` is the sum of all durations [ns]; both start at 0 and are updated. */
static inline double kvc_serve(double *free_ns, double *busy_ns, double now_ns, double duration_ns)
{
    *free_ns = kvc_later_ns(*free_ns, now_ns) + duration_ns;
    *busy_ns += duration_ns;
    return *free_ns;
}

#endif
