/* What happened when, as Chrome trace JSON (opens in Perfetto).
 *
 * Writes complete events ("ph":"X") while the run goes on; the file appears under its name only when closed.
 */
#ifndef KVC_SIM_METRICS_TIMELINE_H
#define KVC_SIM_METRICS_TIMELINE_H

#include <stdint.h>

#include "sim/base/diag.h"

struct kvc_timeline;

/* Starts a trace that will be `path`. At most max_events are kept (the rest is counted and noted at the end).
 */
struct kvc_timeline *kvc_timeline_open(const char *path, uint64_t max_events, struct kvc_diag *diag);

/* Names a row: process (a device group such as "node 0 socket 1") and thread (a device such as "gpu"). */
void kvc_timeline_row(struct kvc_timeline *timeline, uint32_t process, uint32_t thread,
                      const char *process_name, const char *thread_name);

/* An activity of `count` requests from start_ns for duration_ns. NULL timeline: nothing happens. */
void kvc_timeline_event(struct kvc_timeline *timeline, uint32_t process, uint32_t thread, const char *name,
                        double start_ns, double duration_ns, uint64_t count);

/* Finishes and renames; frees in any case. NULL is allowed. */
enum kvc_status kvc_timeline_close(struct kvc_timeline *timeline, struct kvc_diag *diag);

#endif
