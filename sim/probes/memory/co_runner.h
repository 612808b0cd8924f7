/* A co-runner takes bandwidth of the memory on cores of its own: the what-if of a neighbour that reads much,
 * or of slower memory. Its threads read buffers far beyond the caches in order, at a given rate. */
#ifndef KVC_SIM_PROBES_MEMORY_CO_RUNNER_H
#define KVC_SIM_PROBES_MEMORY_CO_RUNNER_H

#include <stdint.h>

#include "sim/base/diag.h"

struct kvc_co_runner;

/* Starts threads on `cores` cores from `first_core` on, which rest at first. KVC_ERR_RUNTIME: a thread or
 * memory is missing; *runner is then NULL. */
enum kvc_status kvc_co_runner_start(uint32_t first_core, uint32_t cores, struct kvc_co_runner **runner,
                                    struct kvc_diag *diag);

/* Lets all threads together read at a rate from now on [bytes/s]; 0: they rest; INFINITY: as fast as they
 * can. */
void kvc_co_runner_set(struct kvc_co_runner *runner, double bytes_per_s);

/* Returns the bytes that were read at any rate, relative to those that the rates asked for; 1 if they asked
 * for none or for all that is possible. */
double kvc_co_runner_reached_frac(const struct kvc_co_runner *runner);

/* Returns the bytes that were read so far. */
double kvc_co_runner_bytes(const struct kvc_co_runner *runner);

/* Ends the threads. NULL is allowed. */
void kvc_co_runner_stop(struct kvc_co_runner *runner);

#endif
