/* A measured run of a store that is cut into windows (sim/probes/quiet.h), with a watch on every core.
 *
 * The store copies its counts at the end of each window, so that the difference of two copies is what it did
 * in between. Here is what every such run needs: how many windows to measure, whether enough of them were
 * quiet, and which ones. */
#ifndef KVC_SIM_PROBES_WATCHED_H
#define KVC_SIM_PROBES_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/probes/core_watch.h"
#include "sim/probes/quiet.h"

/* A zeroed struct can be closed. */
struct kvc_watched {
    uint32_t room;                /* Windows that fit. */
    uint32_t least;               /* Windows to measure at least, when enough of them are quiet. */
    uint32_t count;               /* Windows that were measured; kvc_watched_stop() sets it. */
    uint32_t cores;               /* That are watched. */
    struct kvc_core_watch *watch; /* By core. */
};

/* Plans for windows of `duration_ns`, and for several times as long in case that too few of them are quiet.
 * No core is watched yet. */
void kvc_watched_plan(struct kvc_watched *watched, double duration_ns);

/* The time for which there is room [ns]. */
double kvc_watched_room_ns(const struct kvc_watched *watched);

/* Prepares a watch for each of the first `cores` cores; the first window begins at from_s. KVC_ERR_RUNTIME:
 * memory is short. It must be closed even then. */
enum kvc_status kvc_watched_open(struct kvc_watched *watched, uint32_t cores, double from_s,
                                 struct kvc_diag *diag);
void kvc_watched_close(struct kvc_watched *watched);

/* Returns whether the measurement may end: the least number of windows has passed, and enough of them were
 * quiet or there is no room for more. May be called while the threads work. */
bool kvc_watched_suffices(const struct kvc_watched *watched);

/* Sets `count` after the threads have ended. */
void kvc_watched_stop(struct kvc_watched *watched);

/* Returns what the store did in a window. */
typedef struct kvc_quiet_flow kvc_watched_flow_fn(const void *store, uint32_t window);

/* Fills quiet[0] .. quiet[count - 1]: windows in which no core was disturbed, without the recovery after a
 * disturbance. The clock of the flows shows from_ns when the first window begins. */
void kvc_watched_judge(const struct kvc_watched *watched, kvc_watched_flow_fn *flow_of, const void *store,
                       double from_ns, bool open_loop, bool *quiet);

/* Time for which the threads were kept from running, summed over the cores, relative to the measured time. */
double kvc_watched_stalled_frac(const struct kvc_watched *watched);

/* The mean over the cores of their fast speeds [steps of arithmetic per ns]. */
double kvc_watched_core_speed(const struct kvc_watched *watched);

#endif
