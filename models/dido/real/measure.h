/* DIDO as a store that this machine runs for real. */
#ifndef KVC_MODELS_DIDO_REAL_MEASURE_H
#define KVC_MODELS_DIDO_REAL_MEASURE_H

#include "models/measured/measurable.h"

/* Stealing, the network, sampled stores, and pipelines that kvc_dido_real_gpu_check() refuses can be
 * simulated but not measured. The stages must not need more cores than there are; the thread of a stage on
 * the GPU needs one. Arrivals that cannot be played are only detected when the store is opened. Each thread
 * of a stage has a core. The metrics include the time of each task. */
extern const struct kvc_measurable kvc_dido_measurable;

#endif
