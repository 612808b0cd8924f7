/* Threads stay on one core each, so that its caches stay their own. */
#ifndef KVC_VALIDATE_PROBES_PIN_H
#define KVC_VALIDATE_PROBES_PIN_H

#include <stdint.h>

/* Keeps the calling thread on one of the process's cores, counted from 0. Where that is not allowed it stays
 * where it is, and times are noisier. Call one of these first while the process may still use all of them. */
void kvc_pin_core(uint32_t core);

/* Cores that this process was started on, at least 1. */
uint32_t kvc_pin_cores(void);

#endif
