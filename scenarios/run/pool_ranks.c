#include "scenarios/run/pool_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/run/ranks.h"

enum message_kind {
    MESSAGE_ASK,     /* To the first rank: is there a task? With what this rank takes the pool for. */
    MESSAGE_GRANT,   /* From it: this task. */
    MESSAGE_DRAINED, /* From it: no task is left. */
    MESSAGE_ANSWER,  /* Either way: the answer of this task. */
    MESSAGE_FAILURE, /* Either way: a diag. */
    MESSAGE_END,     /* From the first rank: all answers have been sent. */
    MESSAGE_BYE,     /* To the first rank: nothing else will come in this pool. */
};

enum { NAP_US = 1000 };

/* What ranks have to agree on. */
struct terms {
    uint32_t tasks;
    size_t answer_bytes;
};

static void send_to(uint32_t rank, enum message_kind kind, uint32_t task, const void *data, size_t bytes)
{
    const struct kvc_ranks_message message = {
        .rank = rank, .kind = kind, .task = task, .data = (void *)data, .bytes = bytes};
    kvc_ranks_send(&message, NULL, 0);
}

static struct kvc_pool_block *block_of(const struct kvc_pool_options *pool, void *answer)
{
    return pool->block != NULL ? pool->block(answer) : NULL;
}

/* Sends an answer and its block. */
static void send_answer(const struct kvc_pool_options *pool, uint32_t rank, uint32_t task, void *answer)
{
    const struct kvc_pool_block *block = block_of(pool, answer);
    const struct kvc_ranks_message message = {
        .rank = rank, .kind = MESSAGE_ANSWER, .task = task, .data = answer, .bytes = pool->answer_bytes};
    kvc_ranks_send(&message, block != NULL ? block->data : NULL, block != NULL ? block->bytes : 0);
}

/* Sends an answer to all other ranks but the one that it came from. */
static void pass_on(const struct kvc_pool_options *pool, uint32_t task, void *answer, uint32_t origin)
{
    for (uint32_t rank = 1; rank < kvc_ranks_count(); rank++) {
        if (rank != origin) {
            send_answer(pool, rank, task, answer);
        }
    }
}

/* Makes an answer of a message. Returns NULL if memory is short. */
static void *answer_of(const struct kvc_pool_options *pool, const struct kvc_ranks_message *message)
{
    void *answer = calloc(1, pool->answer_bytes + 1);
    if (answer == NULL) {
        return NULL;
    }
    if (pool->answer_bytes > 0) {
        memcpy(answer, message->data, pool->answer_bytes);
    }
    struct kvc_pool_block *block = block_of(pool, answer);
    if (block != NULL) {
        block->data =
            block->bytes > 0 ? malloc(block->bytes) : NULL; /* It was a pointer of another process. */
        if (block->data != NULL) {
            memcpy(block->data, (const char *)message->data + pool->answer_bytes, block->bytes);
        } else if (block->bytes > 0) {
            free(answer);
            return NULL;
        }
    }
    return answer;
}

void kvc_pool_ranks_begin(struct kvc_pool_ranks *ranks, const struct kvc_pool_options *pool)
{
    *ranks = (struct kvc_pool_ranks){.pool = pool};
    if (kvc_ranks_count() > 1) {
        kvc_ranks_open();
    }
}

bool kvc_pool_ranks_go_on(const struct kvc_pool_ranks *ranks, uint32_t taken)
{
    return kvc_ranks_is_first() ? taken < ranks->pool->tasks : !ranks->over;
}

bool kvc_pool_ranks_peek(struct kvc_pool_ranks *ranks, uint32_t *task)
{
    if (kvc_ranks_is_first()) {
        *task = ranks->drawn;
        return ranks->drawn < ranks->pool->tasks;
    }
    if (!ranks->has_granted && !ranks->asked && !ranks->drained) {
        const struct terms terms = {ranks->pool->tasks, ranks->pool->answer_bytes};
        send_to(0, MESSAGE_ASK, 0, &terms, sizeof(terms));
        ranks->asked = true;
    }
    *task = ranks->granted;
    return ranks->has_granted;
}

void kvc_pool_ranks_draw(struct kvc_pool_ranks *ranks)
{
    if (kvc_ranks_is_first()) {
        ranks->drawn++;
    }
    ranks->has_granted = false;
}

void kvc_pool_ranks_tell(struct kvc_pool_ranks *ranks, uint32_t task, void *answer)
{
    if (!kvc_ranks_is_first()) {
        send_answer(ranks->pool, 0, task, answer);
    } else {
        pass_on(ranks->pool, task, answer, 0);
    }
}

/* Replies to a rank that asks for a task. */
static enum kvc_status reply(struct kvc_pool_ranks *ranks, const struct kvc_ranks_message *message,
                             struct kvc_diag *diag)
{
    struct terms terms;
    memcpy(&terms, message->data, sizeof(terms));
    if (terms.tasks != ranks->pool->tasks || terms.answer_bytes != ranks->pool->answer_bytes) {
        return kvc_diag_fail(
            diag, KVC_ERR_RUNTIME,
            "rank %u has %u tasks of the kind \"%s\", rank 0 has %u: the ranks do not work on the same",
            message->rank, terms.tasks, ranks->pool->noun, ranks->pool->tasks);
    }
    if (ranks->drawn < ranks->pool->tasks) {
        send_to(message->rank, MESSAGE_GRANT, ranks->drawn++, NULL, 0);
    } else {
        send_to(message->rank, MESSAGE_DRAINED, 0, NULL, 0);
    }
    return KVC_OK;
}

static enum kvc_status adopt_failure(const struct kvc_ranks_message *message, struct kvc_diag *diag)
{
    struct kvc_diag failure;
    memcpy(&failure, message->data, sizeof(failure));
    if (diag != NULL) {
        *diag = failure;
    }
    return failure.status;
}

/* Handles one message. */
static enum kvc_status handle(struct kvc_pool_ranks *ranks, const struct kvc_ranks_message *message,
                              struct kvc_pool_arrival *arrival, struct kvc_diag *diag)
{
    switch ((enum message_kind)message->kind) {
    case MESSAGE_ASK:
        return reply(ranks, message, diag);
    case MESSAGE_GRANT:
        ranks->granted = message->task;
        ranks->has_granted = true;
        ranks->asked = false;
        return KVC_OK;
    case MESSAGE_DRAINED:
        ranks->drained = true;
        ranks->asked = false;
        return KVC_OK;
    case MESSAGE_ANSWER:
        *arrival = (struct kvc_pool_arrival){message->task, answer_of(ranks->pool, message)};
        if (arrival->answer == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the answer of %s %u",
                                 ranks->pool->noun, message->task);
        }
        if (kvc_ranks_is_first()) {
            pass_on(ranks->pool, message->task, arrival->answer, message->rank);
        }
        return KVC_OK;
    case MESSAGE_FAILURE:
        ranks->over = !kvc_ranks_is_first();
        ranks->status = adopt_failure(message, diag);
        return ranks->status;
    case MESSAGE_END:
        ranks->over = true;
        return KVC_OK;
    case MESSAGE_BYE:
        break;
    }
    KVC_BUG("message %u from rank %u", message->kind, message->rank);
}

enum kvc_status kvc_pool_ranks_hear(struct kvc_pool_ranks *ranks, struct kvc_pool_arrival *arrival,
                                    struct kvc_diag *diag)
{
    struct kvc_ranks_message message;
    enum kvc_status status = KVC_OK;
    arrival->answer = NULL;
    while (kvc_ranks_count() > 1 && status == KVC_OK && arrival->answer == NULL && !ranks->over &&
           kvc_ranks_receive(&message)) {
        status = handle(ranks, &message, arrival, diag);
        free(message.data);
    }
    return status;
}

/* Ends the pool on the other ranks and waits until all of them have said goodbye. What they said before is of
 * no interest any more. */
static void end_others(enum kvc_status status, const struct kvc_diag *diag)
{
    struct kvc_diag failure = {0};
    struct kvc_ranks_message message;
    if (diag != NULL) {
        failure = *diag;
    }
    failure.status = status;
    for (uint32_t rank = 1; rank < kvc_ranks_count(); rank++) {
        if (status == KVC_OK) {
            send_to(rank, MESSAGE_END, 0, NULL, 0);
        } else {
            send_to(rank, MESSAGE_FAILURE, 0, &failure, sizeof(failure));
        }
    }
    for (uint32_t byes = 0; byes + 1 < kvc_ranks_count();) {
        if (kvc_ranks_receive(&message)) {
            byes += message.kind == MESSAGE_BYE;
            free(message.data);
        } else {
            usleep(NAP_US);
        }
    }
}

/* Tells the first rank about a failure that it did not send, and waits until it ends the pool. */
static void await_end(struct kvc_pool_ranks *ranks, enum kvc_status status, struct kvc_diag *diag)
{
    struct kvc_ranks_message message;
    struct kvc_diag failure = {0};
    if (diag != NULL) {
        failure = *diag;
    }
    failure.status = status;
    send_to(0, MESSAGE_FAILURE, 0, &failure, sizeof(failure));
    while (!ranks->over) {
        if (!kvc_ranks_receive(&message)) {
            usleep(NAP_US);
            continue;
        }
        if (message.kind == MESSAGE_FAILURE) {
            ranks->status = adopt_failure(&message, diag);
        }
        ranks->over = message.kind == MESSAGE_FAILURE || message.kind == MESSAGE_END;
        free(message.data);
    }
}

enum kvc_status kvc_pool_ranks_end(struct kvc_pool_ranks *ranks, enum kvc_status status,
                                   struct kvc_diag *diag)
{
    if (kvc_ranks_count() == 1) {
        return status;
    }
    if (kvc_ranks_is_first()) {
        end_others(status, diag);
    } else {
        if (!ranks->over) {
            await_end(ranks, status, diag);
        }
        send_to(0, MESSAGE_BYE, 0, NULL, 0);
        status = ranks->status != KVC_OK ? ranks->status : status;
    }
    kvc_ranks_close();
    return status;
}
