/* Collects what one run measures: windows, the warm-up, latencies and busy times.
 *
 * Phases after BigHouse (Meisner et al., ISPASS 2012): warm-up, then steady state. Every window of the run
 * counts its completions and their mean latency. With a detected warm-up, MSER-5 looks at the windows' mean
 * latencies until it finds a truncation point in their first half; measuring then starts late enough that no
 * batch already recorded reaches into it. Histogram, busy times and counts cover the measured time only. */
#ifndef KVC_SIM_METRICS_RECORDER_H
#define KVC_SIM_METRICS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"
#include "sim/metrics/histogram.h"
#include "sim/metrics/result.h"

enum { KVC_RECORDER_STAGES_MAX = 8 };

struct kvc_recorder {
    double window_ns;
    double from_ns, until_ns; /* measured time; +infinity until the warm-up is over */
    double duration_ns;
    bool detect;            /* the warm-up is detected */
    bool settled;           /* MSER-5 found a steady state, or none was asked for */
    double longest_span_ns; /* of a recorded batch, from its record to its last completion */
    uint64_t *window_completions;
    double *window_latency_ns; /* sums */
    uint32_t windows, window_room;
    struct kvc_histogram latency;
    double busy_ns[KVC_RECORDER_STAGES_MAX];
    uint64_t offered, dropped; /* whole run; counted by the store */
};

/* warmup_ns < 0: detected. Windows are window_ns long. */
enum kvc_status kvc_recorder_open(struct kvc_recorder *recorder, double window_ns, double warmup_ns,
                                  double duration_ns, struct kvc_diag *diag);
void kvc_recorder_close(struct kvc_recorder *recorder);

/* Sum of done_ns[i] - sent_ns[i]; adds the sum of done_ns to *done_sum_ns. The order of additions is fixed.
 */
double kvc_recorder_sum(const double *sent_ns, const double *done_ns, uint32_t count, double *done_sum_ns);

/* Records a batch at now_ns: `count` requests of which the latency counts, in order of done_ns. Returns the
 * sum of all their latencies. */
double kvc_recorder_latencies(struct kvc_recorder *recorder, double now_ns, const double *sent_ns,
                              const double *done_ns, uint32_t count);

/* Records completions (of all requests, in order of done_ns). Returns in [*first, *last) those in the
 * measured time. */
void kvc_recorder_completions(struct kvc_recorder *recorder, double now_ns, const double *done_ns,
                              uint32_t count, uint32_t *first, uint32_t *last);

/* A server of `stage` was busy from start_ns to end_ns. */
void kvc_recorder_busy(struct kvc_recorder *recorder, uint32_t stage, double start_ns, double end_ns);

/* Looks whether the warm-up is over, and when the run is: true when the measured time has passed. Call once a
 * window. */
bool kvc_recorder_check(struct kvc_recorder *recorder, double now_ns);

/* The measured time ends now (a trace ran out). */
void kvc_recorder_cut(struct kvc_recorder *recorder, double now_ns);

/* Fills histogram, throughput, completed, windows, simulated and warm-up time. */
void kvc_recorder_report(struct kvc_recorder *recorder, struct kvc_result *result);

#endif
