/* Queues of a composed store, and what becomes of jobs in front of them. */
#ifndef KVC_MODELS_COMPOSED_FLOW_STATIONS_H
#define KVC_MODELS_COMPOSED_FLOW_STATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/composed/state.h"

/* Finds what follows from the configuration of an open server. */
void kvc_composed_open_fixed(struct kvc_composed_server *server);

/* Returns the station that serves a stage of a pipeline. */
static inline struct kvc_composed_station *kvc_composed_station_of(const struct kvc_composed_server *server,
                                                                   uint32_t stage, uint32_t pipeline)
{
    const struct kvc_composed_fixed *fixed = &server->fixed[stage];
    return &server->station[fixed->station + fixed->stride * pipeline];
}

/* Returns the jobs that wait for a stage, with the frames that its servers have left waiting for a batch if
 * requests are lost. */
uint64_t kvc_composed_waiting_for(const struct kvc_composed_server *server,
                                  const struct kvc_composed_station *station, uint32_t stage,
                                  uint32_t pipeline);

/* Adds a job to the queue of a stage: that of a station, or the one that all pipelines share. */
void kvc_composed_queue(struct kvc_composed_server *server, struct kvc_composed_station *station,
                        uint32_t number, uint32_t stage);

/* Returns the queue of a station that is served next; NULL: nothing waits. */
struct kvc_ring *kvc_composed_first_queue(struct kvc_composed_station *station);

/* Returns the next pipeline's station from which an idle core of a station takes a job; NULL: none has one.
 */
struct kvc_composed_station *kvc_composed_victim(const struct kvc_composed_server *server,
                                                 const struct kvc_composed_station *station);

/* Takes an idle stream of a station on the GPU, which must have one, and returns its number. */
uint32_t kvc_composed_take_stream(struct kvc_composed_station *station);

/* Returns whether a kernel runs for which a stage with `after` waits and that began before the kernel `turn`.
 */
bool kvc_composed_runs_before(const struct kvc_composed_server *server, uint32_t stage, uint32_t turn);

/* Adds the jobs that wait in a queue for the same stage to a job, up to the burst of the stage. Those of
 * another pipeline stay apart, unless the stage is shared, and do not end the burst, as if they waited in a
 * ring of their own: at most as many as make a burst of each pipeline are looked at. */
void kvc_composed_join_burst(struct kvc_composed_server *server, struct kvc_composed_station *from,
                             struct kvc_ring *queue, uint32_t number, uint32_t stage);

/* Splits off the rows that a stage is not for. Returns whether any are left for it; *others becomes the
 * number of their job, or UINT32_MAX if there are none. */
bool kvc_composed_choose(struct kvc_composed_server *server, uint32_t number, uint32_t stage,
                         uint32_t *others);

#endif
