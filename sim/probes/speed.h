/* The speed of the core that the caller runs on: a short piece of arithmetic that fills the execution units,
 * so that a busy sibling, a lower clock and an interruption all show. */
#ifndef KVC_SIM_PROBES_SPEED_H
#define KVC_SIM_PROBES_SPEED_H

#include <stdint.h>

/* Returns the steps of the arithmetic that the core does in a nanosecond. 600 steps take about a microsecond.
 */
double kvc_speed_measure(uint32_t steps);

#endif
