#include "sim/metrics/queueing.h"

#include <math.h>

double kvc_fifo_serve(double free_ns, const double *ready_ns, const double *service_ns, uint32_t count, double *done_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        double start_ns = ready_ns[i] > free_ns ? ready_ns[i] : free_ns;
        free_ns = start_ns + service_ns[i];
        done_ns[i] = free_ns;
    }
    return free_ns;
}

/* Gives the earliest server a new time and lets it sink to its place in the heap. */
static void sink(double *free_ns, uint32_t servers, double time_ns)
{
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < servers) {
        child += child + 1 < servers && free_ns[child + 1] < free_ns[child];
        if (free_ns[child] >= time_ns)
            break;
        free_ns[at] = free_ns[child];
        at = child;
    }
    free_ns[at] = time_ns;
}

double kvc_multiserver_serve(double *free_ns, uint32_t servers, const double *ready_ns, const double *service_ns,
                             uint32_t count, double *done_ns)
{
    double last_ns = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        double start_ns = ready_ns[i] > free_ns[0] ? ready_ns[i] : free_ns[0];
        double end_ns = start_ns + service_ns[i];
        sink(free_ns, servers, end_ns);
        done_ns[i] = end_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}
