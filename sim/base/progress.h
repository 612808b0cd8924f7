/** @file
 * Progress reports: how far a long step of work has come, for whoever shows it to the user. */
#ifndef KVC_SIM_BASE_PROGRESS_H
#define KVC_SIM_BASE_PROGRESS_H

#include <stddef.h>

/** A listener for progress reports. A zeroed listener ignores them. */
struct kvc_progress {
    void (*report)(void *data, const char *step, double fraction); /**< Called with the share done, 0 to 1. */
    void *data;                                                    /**< Handed to report(). */
};

/** Reports that `fraction` (0 to 1) of `step` is done. `progress` may be NULL: then nobody listens. */
static inline void kvc_progress_report(const struct kvc_progress *progress, const char *step, double fraction)
{
    if (progress != NULL && progress->report != NULL) {
        progress->report(progress->data, step, fraction);
    }
}

#endif
