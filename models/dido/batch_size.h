/* How many queries the next batch of a saturated pipeline has. The simulation and the measured runtime share
 * this rule. */
#ifndef KVC_MODELS_DIDO_BATCH_SIZE_H
#define KVC_MODELS_DIDO_BATCH_SIZE_H

#include <math.h>

#include "models/dido/config.h"

/* Returns the queries of the next batch, if batches now have `now` of them and one of `queries` kept its
 * slowest stage busy for slowest_ns: as many as would have taken this stage the interval. A batch grows or
 * shrinks by no more than a quarter from one to the next. */
static inline double kvc_dido_next_batch(double interval_ns, double now, double queries, double slowest_ns)
{
    static const double step_most = 1.25;
    double fits = queries * interval_ns / slowest_ns;
    double next = fmin(fmax((now + fits) / 2, now / step_most), now * step_most);
    return fmin(fmax(next, 1), KVC_DIDO_BATCH_MAX);
}

#endif
