/* The moment at which a subject is ended: a random time of its life, or a random one of the changes that it
 * makes to its folder. Files are put in place within a few milliseconds at the end of a life, which times
 * alone would rarely meet. */
#ifndef KVC_SCENARIOS_TORTURE_MOMENT_H
#define KVC_SCENARIOS_TORTURE_MOMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "sim/base/rng.h"

/* An undisturbed life. */
struct kvc_life {
    double seconds;   /* Length of the life [s]. */
    uint32_t changes; /* Changes of the folder: files created, written, renamed, removed. */
};

struct kvc_moment {
    double seconds;   /* After this time [s], if `changes` is 0. */
    uint32_t changes; /* Otherwise after this number of changes. */
};

/* Starts to watch a folder and the folder `out` in it, if there is one. Returns a descriptor, which the
 * caller closes. */
int kvc_moment_watch(const char *folder);

/* Draws a moment: with equal probability a time, or a change. */
struct kvc_moment kvc_moment_draw(const struct kvc_life *life, struct kvc_rng *rng);

/* Waits for the moment, or until the subject has ended. Returns whether it still runs. `seen` receives its
 * observations.
 */
bool kvc_moment_wait(int watch, pid_t subject, const struct kvc_moment *moment, struct kvc_life *seen);

#endif
