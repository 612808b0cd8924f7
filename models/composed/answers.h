/* Answers of a composed store: when responses reach their clients, and what is recorded of them. Requests
 * that are lost in a full queue, or refused, count as dropped; refused ones are counted apart as well. */
#ifndef KVC_MODELS_COMPOSED_ANSWERS_H
#define KVC_MODELS_COMPOSED_ANSWERS_H

#include "models/composed/state.h"

/* Answers all requests of a job that are not answered, with errors if it is refused: its responses are filled
 * from began_ns to ended_ns, and the wire delays the first ones by before_ns and the last ones by after_ns.
 * Responses share frames. Returns when the last one reaches its client [ns]. */
double kvc_composed_answer(struct kvc_composed_server *server, struct kvc_composed_job *job, double began_ns,
                           double ended_ns, double before_ns, double after_ns);

/* Lets the clients of a closed loop be answered, and send again, while a stage fills the responses of a job,
 * whose first responses are there long before the last ones. The stage is busy for busy_ns from when it
 * began.
 */
void kvc_composed_answer_early(struct kvc_composed_server *server, uint32_t number, double busy_ns);

/* Answers the next part of these responses, which may stream out of the stage. */
void kvc_composed_answer_part(struct kvc_composed_server *server, struct kvc_composed_job *job, uint32_t part,
                              bool streamed, double now_ns);

/* Records the requests of a job, which a full queue turns away, and keeps what they have evicted. A
 * job that is to be refused still has to be answered. */
void kvc_composed_lose(struct kvc_composed_server *server, struct kvc_composed_job *job);

#endif
