/* Quiet windows: the parts of a measurement in which the machine did nothing else.
 *
 * A measurement is cut into windows of 10 ms. A window is quiet if on every core involved the threads were
 * kept from running for at most 1 % of it, and if the mean speed of the cores is at least 90 % of the fast
 * speed, the 90th percentile over the windows. The mean counts, because two hardware threads of a core slow
 * each other down as the store's own work alternates between them. After a window that is not quiet, further
 * windows are dropped until the store has worked off the backlog of the disturbance. The rule is the same for
 * every machine and every run, and it does not look at what is measured.
 *
 * Not noticed: a neighbour that slows one of many cores; and a disturbance that lasts for the whole
 * measurement and slows a core evenly, such as a sibling hardware thread that another tenant keeps busy. The
 * speed of the cores is reported with the metrics. */
#ifndef KVC_SIM_PROBES_QUIET_H
#define KVC_SIM_PROBES_QUIET_H

#include <stdbool.h>
#include <stdint.h>

extern const double kvc_quiet_window_ns;    /* Length of a window [ns]. */
extern const double kvc_quiet_stalled_frac; /* Most stalled time in a quiet window, as a fraction of it. */

/* Disturbances of one core in one window. */
struct kvc_core_window {
    float lost_ns; /* Time that the system did not give to the thread although it was ready [ns]. */
    float gaps_ns; /* Gaps between two questions for work of an idle thread, which last microseconds [ns]. */
    float speed;   /* Median speed (sim/probes/core_watch.h); 0: not measured in this window. */
};

/* Returns the time for which a thread was kept from running, by both measures [ns]. */
double kvc_core_window_stalled_ns(const struct kvc_core_window *window);

/* The fast speed of a core: the 90th percentile over its windows, or 0 if none was measured. */
double kvc_quiet_fast_speed(const struct kvc_core_window *core, uint32_t windows);

/* Finds the windows in which no core was disturbed. cores[i] has `windows` entries. */
void kvc_quiet_find(const struct kvc_core_window *const *cores, uint32_t count, uint32_t windows,
                    bool *quiet);

/* Work of a store in one window, which shows how long it recovers from a disturbance. */
struct kvc_quiet_flow {
    bool unusual;          /* The memory was faster or slower than in most of the run. */
    bool caught_up;        /* At least once, every receiver found that no request was due. */
    double oldest_sent_ns; /* Earliest send time of the requests answered in the window [ns]. */
};

/* Drops the windows after a disturbance. Under an open loop, requests pile up during a disturbance: windows
 * are dropped until all receivers have caught up. In any case, windows are dropped until all answers belong
 * to requests that were sent after the disturbance, or after the catching up. Window i begins at from_ns + i
 * windows, on the clock of oldest_sent_ns. */
void kvc_quiet_drop_recovery(const struct kvc_quiet_flow *flow, uint32_t windows, double from_ns,
                             bool open_loop, bool *quiet);

uint32_t kvc_quiet_count(const bool *quiet, uint32_t windows);

/* Batches of quiet windows, in order and of the same size, whose means are nearly independent. */
enum { KVC_QUIET_BATCHES = 10 };

/* Returns the batch of the quiet window number `order` of `count`. */
uint32_t kvc_quiet_batch(uint32_t order, uint32_t count);

/* Returns half the width of the 95 % confidence interval of the mean of independent values, by Student's t
 * distribution; NaN for fewer than three. NaN values are left out. */
double kvc_quiet_half_width(const double *values, uint32_t count);

#endif
