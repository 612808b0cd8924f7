/* The discrete-event engine: a thin adaptor over SimGrid. The only file that includes SimGrid is engine.c.
 *
 * An actor is a sequential activity of the modelled system (a scheduler, a GPU, a sender). It sleeps until a
 * time, occupies a core of its host for a time, or waits at a gate. One engine per process (SimGrid's limit):
 * fork per run. Times are nanoseconds; SimGrid's seconds stay in engine.c. The order of simultaneous events
 * is SimGrid's own, which is deterministic. */
#ifndef KVC_SIM_ENGINE_H
#define KVC_SIM_ENGINE_H

#include <stdint.h>

#include "sim/base/diag.h"

struct kvc_engine_host {
    char name[64];
    uint32_t cores; /* how many kvc_engine_occupy run at full speed side by side */
};

/* Generates the platform as XML at `platform_path` (kept with the results; NULL: a temporary file, removed
 * again) and starts the engine. */
enum kvc_status kvc_engine_open(const char *platform_path, const struct kvc_engine_host *hosts,
                                uint32_t count, struct kvc_diag *diag);

/* Starts `body(data)` as an actor on a host at the current time. */
void kvc_engine_spawn(const char *name, const char *host, void (*body)(void *data), void *data);

/* Runs until kvc_engine_stop is called or every actor has returned. */
void kvc_engine_run(void);

/* Ends the run; call from an actor. Does not return. */
_Noreturn void kvc_engine_stop(void);

double kvc_engine_now_ns(void);

void kvc_engine_sleep_until_ns(double time_ns); /* returns at once when it has passed */

/* Occupies one core of the actor's host for duration_ns; more occupants than cores share them equally. */
void kvc_engine_occupy_ns(double duration_ns);

/* A counting semaphore in simulated time. */
struct kvc_gate;
struct kvc_gate *kvc_gate_create(uint32_t tokens);
void kvc_gate_free(struct kvc_gate *gate);
void kvc_gate_wait(struct kvc_gate *gate); /* takes a token, waits for one in FIFO order */
void kvc_gate_post(struct kvc_gate *gate);

/* Sleeps, occupations and waits that went through SimGrid. */
uint64_t kvc_engine_activities(void);

/* Wall-clock seconds spent inside SimGrid, the actors' own work excluded. */
double kvc_engine_wall_s(void);

#endif
