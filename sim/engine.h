/** @file
 * The discrete-event engine, a thin adapter of SimGrid. engine.c is the only file that includes SimGrid's
 * headers.
 *
 * An actor is a sequential activity of the modeled system, such as a scheduler, a GPU or a sender. It sleeps
 * until a time, occupies a core of its host for a time, or waits at a gate. SimGrid allows one engine per
 * process, so every run has its own process. All times are in nanoseconds; only engine.c converts them to
 * SimGrid's seconds. SimGrid determines the order of simultaneous events; it is deterministic. */
#ifndef KVC_SIM_ENGINE_H
#define KVC_SIM_ENGINE_H

#include <stdint.h>

#include "sim/base/diag.h"

/** A host of the simulated platform. */
struct kvc_engine_host {
    char name[64];  /**< Unique name. */
    uint32_t cores; /**< How many actors can occupy the host at full speed at the same time. */
};

/** Writes the platform as an XML file to `platform_path`, where it is kept with the results, and starts the
 * engine. If `platform_path` is NULL, a temporary file is used and removed. Returns KVC_ERR_RUNTIME if the
 * file cannot be written or the program was built without SimGrid. */
enum kvc_status kvc_engine_open(const char *platform_path, const struct kvc_engine_host *hosts,
                                uint32_t count, struct kvc_diag *diag);

/** Starts an actor that executes `body(data)` on a host, at the current time. If memory is short, the program
 * ends (kvc_out_of_memory). */
void kvc_engine_spawn(const char *name, const char *host, void (*body)(void *data), void *data);

/** Runs the simulation until kvc_engine_stop is called or every actor has returned. */
void kvc_engine_run(void);

/** Ends the simulation. Only an actor may call this. It does not return. */
_Noreturn void kvc_engine_stop(void);

/** Returns the simulated time [ns]. */
double kvc_engine_now_ns(void);

/** Lets the calling actor sleep until a time. Returns at once if that time has passed. */
void kvc_engine_sleep_until_ns(double time_ns);

/** Occupies one core of the calling actor's host for duration_ns. If more actors than cores occupy the host,
 * they share the cores equally and take longer. */
void kvc_engine_occupy_ns(double duration_ns);

/** A counting semaphore in simulated time. */
struct kvc_gate;

/** Creates a gate that holds `tokens` tokens. */
struct kvc_gate *kvc_gate_create(uint32_t tokens);

/** Frees a gate. NULL is allowed. */
void kvc_gate_free(struct kvc_gate *gate);

/** Takes a token. If there is none, the calling actor waits; waiting actors are served in FIFO order. */
void kvc_gate_wait(struct kvc_gate *gate);

/** Adds a token. */
void kvc_gate_post(struct kvc_gate *gate);

/** Returns how often actors have entered SimGrid: to sleep, to occupy a core, to use a gate, or to end. */
uint64_t kvc_engine_activities(void);

/** Returns the wall-clock time spent inside SimGrid, without the work of the actors [s]. */
double kvc_engine_wall_s(void);

#endif
