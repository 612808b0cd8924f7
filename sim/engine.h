/** @file
 * The discrete-event engine, a thin adapter of SimGrid. engine.c is the only file that includes SimGrid's
 * headers.
 *
 * An actor is a sequential activity of the modeled system, such as a scheduler, a copy engine or a sender. It
 * sleeps until a time, works on devices, transfers bytes, or waits at a gate. SimGrid shares what several
 * actors use at the same time. SimGrid allows one engine per process, so every run has its own process. All
 * times are in nanoseconds; only engine.c converts them to SimGrid's seconds. SimGrid determines the order of
 * simultaneous events; it is deterministic. */
#ifndef KVC_SIM_ENGINE_H
#define KVC_SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"
#include "sim/platform.h"

/** Returns whether this program can simulate: false if it was built without SimGrid. */
bool kvc_engine_exists(void);

/** Writes the platform as XML to the file `kept`, unless it is NULL, and starts the engine. The platform must
 * outlive the engine. Returns KVC_ERR_SCENARIO if the platform does not pass kvc_platform_check(), and
 * KVC_ERR_RUNTIME if the file cannot be written or the program was built without SimGrid. */
enum kvc_status kvc_engine_open(struct kvc_partial_file *kept, const struct kvc_platform *platform,
                                struct kvc_diag *diag);

/** Starts an actor that executes `body(data)`, at the current time. If memory is short, the program ends
 * (kvc_out_of_memory). */
void kvc_engine_spawn(const char *name, void (*body)(void *data), void *data);

/** Runs the simulation until kvc_engine_stop is called or every actor has returned. */
void kvc_engine_run(void);

/** Ends the simulation. Only an actor may call this. It does not return. */
_Noreturn void kvc_engine_stop(void);

/** Returns the simulated time [ns]. */
double kvc_engine_now_ns(void);

/** Lets the calling actor sleep until a time. Returns at once if that time has passed. If all other actors
 * wait at gates without a time limit and no work is in progress, the time passes without an activity. */
void kvc_engine_sleep_until_ns(double time_ns);

/* ---- work and transfers ---- */

/** Use of one device by an activity. */
struct kvc_draw {
    uint32_t host;    /**< Number of the host in the platform. */
    double amount_ns; /**< Work: time of one core of the device at speed 1 [ns]. */
    /** Time that the activity would need on the idle device [ns]: its rate never exceeds amount_ns over this
     * time. If it is less than the device needs for the amount at full speed, the device is the limit. */
    double alone_ns;
};

enum { KVC_DRAWS_MAX = 4 /**< Draws of one activity. */ };

/** Work in progress on up to KVC_DRAWS_MAX devices. */
struct kvc_work {
    uint32_t count;                      /**< Draws that have not ended. */
    void *execution[KVC_DRAWS_MAX];      /**< The engine's handles. */
    struct kvc_draw draw[KVC_DRAWS_MAX]; /**< The draws, to repeat those that a failure ended. */
};

/** Starts work on several devices at once. Draws without an amount are ignored. */
void kvc_engine_start(struct kvc_work *work, const struct kvc_draw *draws, uint32_t count);

/** Waits until all draws of the work have ended, one after another. A draw on a device that fails is repeated
 * in full when the device is back and the draws before it have ended. */
void kvc_engine_finish(struct kvc_work *work);

/** Works on several devices at once and returns when all draws have ended: kvc_engine_start() and
 * kvc_engine_finish(). */
void kvc_engine_work(const struct kvc_draw *draws, uint32_t count);

/** A thread that polls: it keeps one core of its host busy until it is paused. */
struct kvc_poller;

/** Creates a thread that begins to poll at once. */
struct kvc_poller *kvc_poller_create(uint32_t host);

/** Frees the thread's struct, after the engine has ended. NULL is allowed. */
void kvc_poller_free(struct kvc_poller *poller);

/** Lets the thread stop polling, because it has something to do. */
void kvc_poller_pause(struct kvc_poller *poller);

/** Lets it poll again. */
void kvc_poller_resume(struct kvc_poller *poller);

/** Transfers bytes over the links of the route between two hosts. SimGrid transfers whole bytes; a part of a
 * byte is left for the next transfer from the same host. */
void kvc_engine_transfer(uint32_t from, uint32_t to, double bytes);

/* ---- devices with one user ---- */

/** Queues work on a host that has no other user, without an activity. It begins when earlier work has ended;
 * all that is queued meanwhile is then done as one job. It is a bug (KVC_BUG) if the host has several cores
 * or states, can fail, or also works in activities. `alone_ns` is as in struct kvc_draw. */
void kvc_engine_queue_work(uint32_t host, double amount_ns, double alone_ns);

/** Queues bytes on the links of the route between two hosts, each for itself, as kvc_engine_queue_work() does
 * work. It is a bug (KVC_BUG) if one of the links also has transfers. */
void kvc_engine_queue_bytes(uint32_t from, uint32_t to, double bytes);

/* ---- devices during a run ---- */

/** Changes the performance state of a host. Work in progress continues at the new speed. */
void kvc_engine_set_pstate(uint32_t host, uint32_t pstate);

/** Returns the current performance state of a host. */
uint32_t kvc_engine_pstate(uint32_t host);

/** Turns a host off until a time. Work in progress on it is lost and repeated afterwards. Only one actor may
 * call this for a host, which sleeps meanwhile: the function returns when the host is on again. */
void kvc_engine_outage_of_host(uint32_t host, double until_ns);

/** A time in which a device is off. */
struct kvc_outage {
    double from_ns;  /**< Begin [ns]. */
    double until_ns; /**< End [ns]; equal to the begin if there was none. */
};

/** Returns the latest outage of a host, which may last. */
struct kvc_outage kvc_engine_host_outage(uint32_t host);

/** Returns the outage that ends last among the latest outages of the links between two hosts. */
struct kvc_outage kvc_engine_route_outage(uint32_t from, uint32_t to);

/** Turns a link off until a time. Transfers in progress stand still and continue afterwards. The function
 * returns when the link is on again. */
void kvc_engine_outage_of_link(uint32_t link, double until_ns);

/* ---- meters ---- */

/** Returns when a frame that reaches a link at time_ns can pass: that time, or the end of the latest outage
 * if it falls into it [ns]. For models that carry frames one by one, without transfers. */
double kvc_engine_link_open_ns(uint32_t link, double time_ns);

/** Returns the work that a host has done so far, including work lost in a failure [ns]. Divided by the
 * capacity, it is the utilization. */
double kvc_engine_work_done_ns(uint32_t host);

/** Returns the work that all cores of a host could have done so far in the states that the host was in [ns].
 * While it is off, it can do none. */
double kvc_engine_capacity_ns(uint32_t host);

/** Returns the bytes that a link has carried so far, including transfers in progress. */
double kvc_engine_bytes_carried(uint32_t link);

/** Returns the bytes that a link could have carried so far while it was on. */
double kvc_engine_link_capacity_bytes(uint32_t link);

/** Returns the energy that a host has consumed so far [J], or NaN if its power is unknown. */
double kvc_engine_host_joules(uint32_t host);

/** Returns the energy that a link has consumed so far [J], or NaN if its power is unknown. It takes none
 * while it is off. */
double kvc_engine_link_joules(uint32_t link);

/* ---- gates ---- */

/** A counting semaphore in simulated time. */
struct kvc_gate;

/** Creates a gate that holds `tokens` tokens. */
struct kvc_gate *kvc_gate_create(uint32_t tokens);

/** Frees a gate. NULL is allowed. */
void kvc_gate_free(struct kvc_gate *gate);

/** Takes a token. If there is none, the calling actor waits; waiting actors are served in FIFO order. */
void kvc_gate_wait(struct kvc_gate *gate);

/** Takes a token as kvc_gate_wait() does, but waits no longer than until time_ns, which may be INFINITY.
 * Returns whether it took one. Only one actor may wait at such a gate. */
bool kvc_gate_wait_until(struct kvc_gate *gate, double time_ns);

/** Adds a token. */
void kvc_gate_post(struct kvc_gate *gate);

/* ---- cost of the engine itself ---- */

/** Returns how many activities SimGrid has executed: sleeps, executions, transfers, uses of gates, and ends
 * of actors. */
uint64_t kvc_engine_activities(void);

/** Returns the ticks (kvc_clock_ticks) spent inside SimGrid, without the work of the actors. */
uint64_t kvc_engine_ticks(void);

#endif
