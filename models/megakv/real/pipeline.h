/* The tasks of a real Mega-KV node: a receiver and a sender for each pipeline, and one scheduler, whose
 * thread also runs the index if the index has no device of its own.
 * models/megakv/{receiver,scheduler,sender}.c simulate these tasks; here they do the work.
 *
 * A buffer's way: the receiver fills it from packets and stores SETs in the slabs at once. Every cycle the
 * scheduler asks for it and searches. The sender reads the items, writes the answers to memory and records
 * the latencies; then the receiver gets the buffer back. Inserts and deletes run every `delay` cycles, after
 * the search. A receiver without a free buffer keeps the one it has, so that the scheduler waits, as in the
 * simulation.
 *
 * A task is a function that does one piece of work, if there is any, and returns at once, so that a core may
 * have several tasks. */
#ifndef KVC_MODELS_MEGAKV_REAL_PIPELINE_H
#define KVC_MODELS_MEGAKV_REAL_PIPELINE_H

#include "models/megakv/real/node.h"

/* Each function does one piece of a task's work and returns the time at which it ended [ns], or 0 if there
 * was nothing to do. */
double kvc_megakv_real_receiver_step(void *pipeline); /* one frame */
double kvc_megakv_real_scheduler_step(void *node);    /* one cycle */
double kvc_megakv_real_sender_step(void *pipeline);   /* up to KVC_MEGAKV_SEND_ROWS rows */

/* The scheduler's own steps, which the testbench times one by one. */

/* Adds the index jobs of a buffer to those that wait for their cycle. */
void kvc_megakv_real_collect_writes(struct kvc_megakv_real_node *node,
                                    const struct kvc_megakv_real_buffer *buffer);

/* Searches the GETs of all buffers, one buffer of each pipeline, and collects their index jobs meanwhile. All
 * results arrive together, as in the simulation. */
void kvc_megakv_real_search_buffers(struct kvc_megakv_real_node *node,
                                    struct kvc_megakv_real_buffer **buffers);

/* Runs the index jobs that wait, if there are any. */
void kvc_megakv_real_insert_waiting(struct kvc_megakv_real_node *node);

#endif
