/** @file
 * Writes a timeline of a run as Chrome trace JSON, which Perfetto opens.
 *
 * Complete events ("ph":"X") are written while the run proceeds. The file appears under its final name only
 * when it is closed (sim/base/partial_file.h). */
#ifndef KVC_SIM_METRICS_TIMELINE_H
#define KVC_SIM_METRICS_TIMELINE_H

#include <stdint.h>

#include "sim/base/diag.h"

/** A timeline that is being written. */
struct kvc_timeline;

/** Starts a timeline that will become the file `path`. At most max_events events are kept; the number of
 * omitted events is noted at the end of the file. Returns NULL and fills `diag` with KVC_ERR_RUNTIME if the
 * file cannot be created or memory is short. */
struct kvc_timeline *kvc_timeline_open(const char *path, uint64_t max_events, struct kvc_diag *diag);

/** Names a row. A process is a group of devices, such as "node 0 socket 1", and a thread is a device, such as
 * "gpu". A NULL timeline is ignored. */
void kvc_timeline_row(struct kvc_timeline *timeline, uint32_t process, uint32_t thread,
                      const char *process_name, const char *thread_name);

/** Adds an activity on `count` requests that starts at start_ns and takes duration_ns. A NULL timeline is
 * ignored. */
void kvc_timeline_event(struct kvc_timeline *timeline, uint32_t process, uint32_t thread, const char *name,
                        double start_ns, double duration_ns, uint64_t count);

/** Completes the file, gives it its final name, and frees the timeline, even after an error. Returns
 * KVC_ERR_RUNTIME if the file cannot be written. NULL is allowed. */
enum kvc_status kvc_timeline_close(struct kvc_timeline *timeline, struct kvc_diag *diag);

#endif
