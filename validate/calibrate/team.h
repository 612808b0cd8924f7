/* Threads that stay on their cores and start pieces of work at the same time, as a store's threads do. */
#ifndef KVC_VALIDATE_CALIBRATE_TEAM_H
#define KVC_VALIDATE_CALIBRATE_TEAM_H

#include <stdint.h>

struct kvc_team;

enum { KVC_TEAM_CORES_MAX = 256 };

/* A thread for each of `cores` cores; the caller becomes the one of core 0. NULL: no memory or threads. */
struct kvc_team *kvc_team_create(uint32_t cores);
void kvc_team_free(struct kvc_team *team); /* NULL is allowed */

typedef void kvc_team_fn(void *data);

/* fn(data[i]) on core[i] for all i, at the same time; those of one core one after the other. Returns the mean
 * wall time of a call. */
double kvc_team_run(struct kvc_team *team, kvc_team_fn *fn, const uint32_t *core, void *const *data,
                    uint32_t count);

#endif
