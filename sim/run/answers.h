/** @file
 * Requests that a simulated server has received and answered since they were last recorded. */
#ifndef KVC_SIM_RUN_ANSWERS_H
#define KVC_SIM_RUN_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/workload/batch.h"

/** How a request was answered. */
enum kvc_answered {
    KVC_ANSWERED_HIT,
    KVC_ANSWERED_MISS,
    KVC_ANSWERED_SET,
    KVC_ANSWERED_DELETE,
    KVC_ANSWERED_KINDS
};

/** Returns how a request was answered; `missed` says whether a GET did not find its key. */
static inline uint8_t kvc_answered_of(enum kvc_op op, bool missed)
{
    if (op == KVC_OP_GET) {
        return missed ? KVC_ANSWERED_MISS : KVC_ANSWERED_HIT;
    }
    return op == KVC_OP_SET ? KVC_ANSWERED_SET : KVC_ANSWERED_DELETE;
}

/** A list of answers in ascending order of done_ns, and a list of requests. A zeroed struct is
 * empty; `marks` may be set before the first answer. */
struct kvc_answers {
    uint32_t count;            /**< Answers in the list. */
    uint32_t capacity;         /**< Answers that it has room for. */
    double *sent_ns;           /**< When the request was sent [ns]. */
    double *done_ns;           /**< When the response reached the client [ns]. */
    uint8_t *outcome;          /**< How it was answered: enum kvc_answered. */
    uint32_t *client;          /**< The client that sent it, see struct kvc_batch. */
    uint32_t marks;            /**< Marks of the way of each request (sim/metrics/paths.h); 0: none. */
    double *mark_ns;           /**< These marks, `marks` for each answer [ns]. */
    uint32_t offered;          /**< Requests in the list of requests. */
    uint32_t offered_capacity; /**< Requests that it has room for. */
    double *offered_ns;        /**< When each request was sent [ns]. */
};

/** Frees the arrays of a list, not the struct. */
void kvc_answers_free(struct kvc_answers *answers);

/** Makes room for `count` more answers. If memory is short, the program ends (kvc_out_of_memory). */
void kvc_answers_reserve(struct kvc_answers *answers, uint32_t count);

/** Adds `count` requests that were sent at sent_ns[i]. If memory is short, the program ends
 * (kvc_out_of_memory). */
void kvc_answers_offer(struct kvc_answers *answers, const double *sent_ns, uint32_t count);

/** Adds an answer. The list must have room. */
static inline void kvc_answers_add(struct kvc_answers *answers, double sent_ns, double done_ns,
                                   uint8_t outcome, uint32_t client)
{
    uint32_t i = answers->count++;
    answers->sent_ns[i] = sent_ns;
    answers->done_ns[i] = done_ns;
    answers->outcome[i] = outcome;
    answers->client[i] = client;
}

/** Returns the marks of the answer that was added last, to be set. */
static inline double *kvc_answers_marks(struct kvc_answers *answers)
{
    return answers->mark_ns + (size_t)(answers->count - 1) * answers->marks;
}

#endif
