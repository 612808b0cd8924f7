#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/pages.h"
#include "scenarios/run/pool.h"

enum { TASKS = 12 };

struct worded {
    uint32_t number;
    struct kvc_pool_block words;
};

struct seen {
    uint32_t count;
    uint32_t order[TASKS];
    bool right[TASKS];
};

static struct kvc_pool_block *words_of(void *answer)
{
    return &((struct worded *)answer)->words;
}

/* Task 3 has no words; the last tasks have more than a pipe holds. */
static size_t length_of(uint32_t task)
{
    return task == 3 ? 0 : (size_t)task * task * 4000 + 1;
}

static enum kvc_status speak(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                             struct kvc_diag *diag)
{
    struct worded *out = answer;
    (void)data, (void)progress, (void)diag;
    if (task == 0) {
        usleep(200000); /* Makes task 0 end last. */
    }
    out->number = 100 + task;
    out->words.bytes = length_of(task);
    out->words.data = out->words.bytes > 0 ? malloc(out->words.bytes) : NULL;
    if (out->words.bytes > 0) {
        memset(out->words.data, 'a' + (int)task, out->words.bytes);
    }
    return KVC_OK;
}

static enum kvc_status listen(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct seen *seen = data;
    const struct worded *heard = answer;
    const char *words = heard->words.data;
    (void)diag;
    seen->order[seen->count++] = task;
    bool right = heard->number == 100 + task && heard->words.bytes == length_of(task);
    for (size_t i = 0; right && i < heard->words.bytes; i++) {
        right = words[i] == 'a' + (int)task;
    }
    seen->right[task] = right;
    return KVC_OK;
}

static struct seen run(uint32_t jobs, bool any_order)
{
    struct seen seen = {0};
    struct kvc_diag diag = {0};
    const struct kvc_pool_options pool = {.tasks = TASKS,
                                          .jobs = jobs,
                                          .answer_bytes = sizeof(struct worded),
                                          .noun = "task",
                                          .data = &seen,
                                          .body = speak,
                                          .block = words_of,
                                          .take = listen,
                                          .any_order = any_order};
    cr_assert_eq(kvc_pool_run(&pool, NULL, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(seen.count, TASKS);
    for (uint32_t i = 0; i < TASKS; i++) {
        cr_expect(seen.right[i], "answer %u", i);
    }
    return seen;
}

Test(pool, carries_answers_of_any_length_in_task_order)
{
    for (uint32_t jobs = 1; jobs <= 4; jobs += 3) {
        struct seen seen = run(jobs, false);
        for (uint32_t i = 0; i < TASKS; i++) {
            cr_expect_eq(seen.order[i], i);
        }
    }
}

Test(pool, hands_over_answers_as_they_come)
{
    cr_expect_eq(run(4, true).order[TASKS - 1], 0, "task 0 sleeps");
    cr_expect_eq(run(1, true).order[0], 0);
}

static enum kvc_status starve(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                              struct kvc_diag *diag)
{
    (void)data, (void)progress, (void)answer, (void)diag;
    if (task == 1) {
        kvc_out_of_memory("%d bytes", 7);
    }
    usleep(10000000);
    return KVC_OK;
}

/* The message comes once, from the parent, and the other tasks do not hold it up. */
Test(pool, a_task_without_memory_fails_in_the_parent, .timeout = 5)
{
    struct kvc_diag diag = {0};
    const struct kvc_pool_options pool = {.tasks = 2, .jobs = 2, .noun = "task", .body = starve};
    cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_ERR_RUNTIME);
    cr_expect_str_eq(diag.message, "out of memory: 7 bytes");
}

enum { KEEPERS = 2, CELLS = 1 << 20, CRASH = 99 };

/* A keeper's cells begin with its number and how often they were prepared in this process. */
static enum kvc_status keep_cells(void *data, uint32_t keeper, void **state,
                                  const struct kvc_progress *progress, struct kvc_diag *diag)
{
    static uint32_t prepared;
    uint32_t *cells = kvc_pages_alloc(CELLS * sizeof(*cells));
    (void)data, (void)progress, (void)diag;
    cells[0] = keeper;
    cells[1] = ++prepared;
    *state = cells;
    return KVC_OK;
}

/* Answers by what it finds in the cells, and then changes them all. */
static enum kvc_status use_cells(void *data, uint32_t keeper, void *state, const void *order,
                                 const struct kvc_progress *progress, void *answer, struct kvc_diag *diag)
{
    uint32_t *cells = state, number = *(const uint32_t *)order, sum = 0;
    (void)data, (void)progress, (void)diag;
    for (uint32_t i = 2; i < CELLS; i++) {
        sum += cells[i]++;
    }
    if (number == CRASH) {
        _exit(7);
    }
    *(uint32_t *)answer = sum == 0 && cells[0] == keeper && cells[1] == 1 ? 100 + number : 0;
    cells[1]++;
    return KVC_OK;
}

/* A task whose keeper is busy runs without it, in the end as well. */
static enum kvc_status run_alone(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                                 struct kvc_diag *diag)
{
    (void)progress, (void)diag;
    *(uint32_t *)answer = 100 + ((const uint32_t *)data)[task];
    return KVC_OK;
}

static const void *order_of(const void *data, uint32_t task, uint32_t *keeper)
{
    *keeper = task % KEEPERS;
    return &((const uint32_t *)data)[task];
}

static enum kvc_status hear_number(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    (void)diag;
    cr_expect_eq(*(const uint32_t *)answer, 100 + ((const uint32_t *)data)[task], "task %u", task);
    return KVC_OK;
}

/* Every task finds what was prepared, in pools that begin after the keepers. */
Test(pool, tasks_of_a_keeper_begin_with_the_same_state, .timeout = 30)
{
    uint32_t numbers[TASKS];
    struct kvc_diag diag = {0};
    const struct kvc_keepers_options options = {.keepers = KEEPERS,
                                                .order_bytes = sizeof(uint32_t),
                                                .answer_bytes = sizeof(uint32_t),
                                                .prepare = keep_cells,
                                                .body = use_cells};
    struct kvc_pool_options pool = {.tasks = TASKS,
                                    .answer_bytes = sizeof(uint32_t),
                                    .noun = "task",
                                    .data = numbers,
                                    .body = run_alone,
                                    .keepers = kvc_keepers_create(&options),
                                    .order = order_of,
                                    .take = hear_number};
    for (pool.jobs = 1; pool.jobs <= 3; pool.jobs++) {
        for (uint32_t i = 0; i < TASKS; i++) {
            numbers[i] = 10 * pool.jobs + i;
        }
        cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_OK, "%s", diag.message);
    }
    numbers[1] = CRASH;
    pool.jobs = 1;
    cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_ERR_RUNTIME);
    cr_expect_str_eq(diag.message, "task 1 ended without an answer: exit status 7");
    numbers[1] = 1; /* The keeper starts again. */
    cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_OK, "%s", diag.message);
    kvc_keepers_free(pool.keepers);
}
