/** @file
 * Writes a timeline of a run as Chrome trace JSON, which Perfetto opens.
 *
 * Complete events ("ph":"X") are written while the run proceeds, into a file that its owner opened and puts
 * in place. A timeline can be larger than all other files of a run together. If it does not fit on the disk,
 * it is emptied at once, so that the other files have room. */
#ifndef KVC_SIM_METRICS_TIMELINE_H
#define KVC_SIM_METRICS_TIMELINE_H

#include <stdint.h>
#include <stdio.h>

/** A timeline that is being written. */
struct kvc_timeline;

/** Starts a timeline in an empty file. At most max_events events are kept; the number of omitted events is
 * noted at the end of the file. If memory is short, the program ends (kvc_out_of_memory). */
struct kvc_timeline *kvc_timeline_open(FILE *out, uint64_t max_events);

/** Names a row. A process is a group of devices, such as "node 0 socket 1", and a thread is a device, such as
 * "gpu". A NULL timeline is ignored. */
void kvc_timeline_row(struct kvc_timeline *timeline, uint32_t process, uint32_t thread,
                      const char *process_name, const char *thread_name);

/** Adds an activity on `count` requests that starts at start_ns and takes duration_ns. A NULL timeline is
 * ignored. */
void kvc_timeline_event(struct kvc_timeline *timeline, uint32_t process, uint32_t thread, const char *name,
                        double start_ns, double duration_ns, uint64_t count);

/** Completes and flushes the file, which stays open, and frees the timeline. Returns 0, or the errno of the
 * write that failed; the file is then empty. NULL is allowed. */
int kvc_timeline_close(struct kvc_timeline *timeline);

#endif
