/* The first stages of a composed store, if no frame waits in them for what happens behind them: the receiving
 * ports, and cores that form batches. The time at which a frame leaves them is then known when it is sent.
 * Once a frame finds no free batch, the cores wait, and are not at the front from then on. */
#ifndef KVC_MODELS_COMPOSED_FLOW_FRONT_H
#define KVC_MODELS_COMPOSED_FLOW_FRONT_H

#include <stdint.h>

#include "models/composed/state.h"

/* Finds the stages at the front of a server whose stages are known. */
void kvc_composed_front_open(struct kvc_composed_server *server);

/* Lets the front, which must have stages, take a frame that arrives at arrives_ns. */
void kvc_composed_front_take(struct kvc_composed_server *server, uint32_t number, double arrives_ns);

/* Counts what the stages up to `last` have done for a frame, which leaves the front. Returns how long it
 * waits for what memory has to do before it takes the frame [ns]. */
double kvc_composed_front_leave(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                uint32_t last, double now_ns);

#endif
