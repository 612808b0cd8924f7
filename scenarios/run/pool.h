/* A pool of child processes: it runs numbered tasks in forked children, at most `jobs` at a time.
 *
 * The answer of a task is a flat struct, which the child sends through a pipe, optionally followed by a block
 * of any length. The parent receives the answers strictly in task order, in whatever order the children
 * end, so that results do not depend on the number of jobs. The first task that fails stops all others.
 *
 * A task may also run in a child of a keeper, a process that prepares something once, such as a preloaded
 * store, and forks a child of its own for every task, which changes its copy (kvc_pages_unshare). A keeper
 * runs one task at a time. If it is busy, the pool runs the task as usual. Keepers live longer than a pool:
 * they receive all that they need to know about a task as an order, a flat struct.
 *
 * In a job of several ranks (scenarios/run/ranks/ranks.h), all ranks run the same pools and share their
 * tasks. Each of them receives all answers, so that the control flow after a pool is the same everywhere.
 * Task 0 runs on the first rank. Pools inside the children are local. */
#ifndef KVC_SCENARIOS_RUN_POOL_H
#define KVC_SCENARIOS_RUN_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/model.h"
#include "sim/base/diag.h"

/* The part of an answer whose length differs between tasks. */
struct kvc_pool_block {
    void *data; /* Allocated by malloc, or NULL if there are no bytes. The pool frees it. */
    size_t bytes;
};

struct kvc_keepers_options {
    uint32_t keepers;
    size_t order_bytes, answer_bytes;
    void *data; /* First argument of the functions below, which run in the keeper and its child. */

    /* Prepares what the keeper's tasks need, before the first one. */
    enum kvc_status (*prepare)(void *data, uint32_t keeper, void **state, const struct kvc_progress *progress,
                               struct kvc_diag *diag);
    /* Runs a task. `state` is as it was after prepare(). `answer` is zeroed before, and has no block. */
    enum kvc_status (*body)(void *data, uint32_t keeper, void *state, const void *order,
                            const struct kvc_progress *progress, void *answer, struct kvc_diag *diag);
};

/* Keepers, which start when they receive their first order. */
struct kvc_keepers;

/* Creates keepers. `data` must outlive them. */
struct kvc_keepers *kvc_keepers_create(const struct kvc_keepers_options *options);

/* Ends the keepers. NULL is allowed. */
void kvc_keepers_free(struct kvc_keepers *keepers);

struct kvc_pool_options {
    uint32_t tasks;
    uint32_t jobs;       /* At least 1. */
    size_t answer_bytes; /* May be 0. */
    const char *noun;    /* The word for a task in messages, such as "replica". */
    void *data;          /* First argument of the functions below. */

    /* Runs the task, in the child. `answer` is zeroed before. */
    enum kvc_status (*body)(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                            struct kvc_diag *diag);
    struct kvc_keepers *keepers; /* NULL: none. */
    /* Returns the order of a task and sets the number of its keeper; called in the parent. NULL: the task is
     * not for a keeper. */
    const void *(*order)(const void *data, uint32_t task, uint32_t *keeper);

    /* Returns the memory that the task will need; called in the parent. A task starts while others run only
     * if all of them fit into available_bytes, or if that is 0, which means unknown. A single task always
     * starts. NULL when tasks need little memory. */
    double (*memory_bytes)(const void *data, uint32_t task);
    double available_bytes;
    /* Returns the block of an answer, a member of the struct; the pool carries its bytes along. NULL when
     * answers have no block. */
    struct kvc_pool_block *(*block)(void *answer);
    /* Receives an answer, in the parent and in task order. NULL when the answers are not needed. */
    enum kvc_status (*take)(void *data, uint32_t task, const void *answer, struct kvc_diag *diag);
    /* Hands over every answer as soon as its task has ended, so that an interruption loses none of them. Only
     * for a `take` whose effect does not depend on the order. */
    bool any_order;
};

/* Runs all tasks and reports their combined progress, unless `progress` is NULL. Returns KVC_ERR_INTERRUPTED
 * if a deferred signal ended them (sim/base/cleanup.h). */
enum kvc_status kvc_pool_run(const struct kvc_pool_options *pool, const struct kvc_progress *progress,
                             struct kvc_diag *diag);

/* Returns the number of processors that this process may use: its part of those that several ranks share. */
uint32_t kvc_pool_processors(void);

#endif
