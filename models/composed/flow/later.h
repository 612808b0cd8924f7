/* What stages of a composed store do later: inserts and erases that they gather, or do in the background. */
#ifndef KVC_MODELS_COMPOSED_FLOW_LATER_H
#define KVC_MODELS_COMPOSED_FLOW_LATER_H

#include "models/composed/state.h"

/* Adds what lost jobs have evicted to a job whose evicted items leave the index. */
static inline void kvc_composed_take_lost(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                          uint32_t does)
{
    if ((does & KVC_COMPOSED_ERASE) != 0 && server->evicted->evicted_count > 0) {
        kvc_composed_job_take_evicted(job, server->evicted);
    }
}

/* Keeps the inserts and erases of a job for a stage that does them later. Returns whether they are due. */
bool kvc_composed_keep_writes(struct kvc_composed_server *server, uint32_t number, uint32_t stage);

/* Hands what is due over to the job with which the stage does it. */
void kvc_composed_hand_over(struct kvc_composed_server *server, uint32_t number, uint32_t stage);

#endif
