/* Pins threads to cores, so that each keeps the caches of its core. */
#ifndef KVC_SIM_PROBES_PIN_H
#define KVC_SIM_PROBES_PIN_H

#include <stdint.h>

/* Pins the calling thread to one of the process's cores, counted from 0. If the system does not allow that,
 * the thread stays unpinned and times are noisier. The first call of any of these functions must come while
 * the process may still use all of its cores, because it notes which ones these are. */
void kvc_pin_core(uint32_t core);

/* Lets the calling thread use all cores of the process again. */
void kvc_pin_release(void);

/* The number of cores that this process was started on, at least 1. */
uint32_t kvc_pin_cores(void);

#endif
