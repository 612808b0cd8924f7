/* Threads that stay on their cores and start pieces of work at the same time, as a store's threads do. */
#ifndef KVC_VALIDATE_PROBES_THREAD_POOL_H
#define KVC_VALIDATE_PROBES_THREAD_POOL_H

#include <stdint.h>

struct kvc_team;

enum { KVC_TEAM_CORES_MAX = 256 };

/* A thread for each of `cores` cores; the caller becomes the one of core 0. NULL: no memory or threads. */
struct kvc_team *kvc_team_create(uint32_t cores);
void kvc_team_free(struct kvc_team *team); /* NULL is allowed */

typedef void kvc_team_fn(void *data);

/* How many cores are awake, from now on: the others sleep, as those do that a store leaves alone. At first
 * all. */
void kvc_team_wake(struct kvc_team *team, uint32_t cores);

/* A piece of work, and how long it took. */
struct kvc_team_task {
    kvc_team_fn *fn;
    void *data;
    uint32_t core;
    double seconds; /* set by kvc_team_run */
};

/* Runs all tasks at the same time; those of one core one after the other. All cores must be awake. */
void kvc_team_run(struct kvc_team *team, struct kvc_team_task *tasks, uint32_t count);

#endif
