/** @file
 * Progress reports, which tell the caller of a long step how much of it is done. */
#ifndef KVC_SIM_BASE_PROGRESS_H
#define KVC_SIM_BASE_PROGRESS_H

#include <stddef.h>

/** A listener for progress reports. A zeroed listener ignores them. */
struct kvc_progress {
    void (*report)(void *data, const char *step, double fraction); /**< Called with the share done, 0 to 1. */
    void *data;                                                    /**< Handed to report(). */
};

/** Reports that `fraction` (0 to 1) of `step` is done. If `progress` is NULL, nothing is reported. */
static inline void kvc_progress_report(const struct kvc_progress *progress, const char *step, double fraction)
{
    if (progress != NULL && progress->report != NULL) {
        progress->report(progress->data, step, fraction);
    }
}

/** Reports that all is done and that output follows, so that a bar leaves the terminal. */
static inline void kvc_progress_done(const struct kvc_progress *progress)
{
    kvc_progress_report(progress, "", 1);
}

#endif
