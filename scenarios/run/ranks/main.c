/* A program for ranks_test.sh: a pool of tasks in a job of several ranks. Usage: ranks_main MODE
 *
 *   order   answers of different lengths: prints each when it is handed over, in task order
 *   any     the same in any order: prints only how many came
 *   nested  tasks that run pools of their own
 *   fail    task 5 fails with status 2
 *   crash   task 5 crashes
 *   die     rank 1 is killed while it runs a task
 *   differ  rank 1 has another number of tasks */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/run/pool.h"
#include "scenarios/run/ranks/ranks.h"

enum { TASKS = 24, INNER_TASKS = 3 };

struct answer {
    uint32_t number, rank;
    struct kvc_pool_block words;
};

struct work {
    const char *mode;
    uint32_t taken;
    uint32_t ranks_seen; /* One bit for each rank that answered. */
};

static bool is(const struct work *work, const char *mode)
{
    return strcmp(work->mode, mode) == 0;
}

static struct kvc_pool_block *words_of(void *answer)
{
    return &((struct answer *)answer)->words;
}

static enum kvc_status inner_body(void *data, uint32_t task, const struct kvc_progress *progress,
                                  void *answer, struct kvc_diag *diag)
{
    (void)data, (void)progress, (void)diag;
    *(uint32_t *)answer = task + 1;
    return KVC_OK;
}

static enum kvc_status inner_take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    (void)task, (void)diag;
    *(uint32_t *)data += *(const uint32_t *)answer;
    return KVC_OK;
}

/* Returns the sum of the answers of a pool inside a task. */
static uint32_t run_inner(struct kvc_diag *diag)
{
    uint32_t sum = 0;
    const struct kvc_pool_options pool = {.tasks = INNER_TASKS,
                                          .jobs = 2,
                                          .answer_bytes = sizeof(uint32_t),
                                          .noun = "inner task",
                                          .data = &sum,
                                          .body = inner_body,
                                          .take = inner_take};
    return kvc_pool_run(&pool, NULL, diag) == KVC_OK ? sum : 0;
}

static uint32_t own_rank;

static enum kvc_status body(void *data, uint32_t task, const struct kvc_progress *progress, void *answer,
                            struct kvc_diag *diag)
{
    const struct work *work = data;
    struct answer *out = answer;
    (void)progress;
    usleep(10000 + 5000 * (task % 3)); /* Gives every rank some tasks. */
    if (task == 5 && is(work, "fail")) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "some.lua", 3, "task 5 refuses");
    }
    if (task == 5 && is(work, "crash")) {
        raise(SIGSEGV);
    }
    if (own_rank == 1 && is(work, "die")) {
        kill(getppid(), SIGKILL);
        sleep(60);
    }
    out->number = is(work, "nested") ? run_inner(diag) : 100 + task;
    out->rank = own_rank;
    out->words.bytes = (size_t)task * 20000;
    out->words.data = malloc(out->words.bytes + 1);
    memset(out->words.data, 'a' + (int)task, out->words.bytes);
    return KVC_OK;
}

static enum kvc_status take(void *data, uint32_t task, const void *answer, struct kvc_diag *diag)
{
    struct work *work = data;
    const struct answer *in = answer;
    const char *words = in->words.data;
    (void)diag;
    for (size_t i = 0; i < in->words.bytes; i++) {
        if (words[i] != 'a' + (int)task) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "answer %u is damaged", task);
        }
    }
    work->taken++;
    work->ranks_seen |= 1u << in->rank;
    if (!is(work, "any")) {
        printf("%u: %u and %zu bytes\n", task, in->number, in->words.bytes);
    }
    return KVC_OK;
}

static int run(const char *mode)
{
    struct work work = {.mode = mode};
    struct kvc_diag diag = {0};
    own_rank = kvc_ranks_own();
    const struct kvc_pool_options pool = {.tasks = TASKS + (is(&work, "differ") && own_rank == 1),
                                          .jobs = 2,
                                          .answer_bytes = sizeof(struct answer),
                                          .noun = "task",
                                          .data = &work,
                                          .body = body,
                                          .block = words_of,
                                          .take = take,
                                          .any_order = is(&work, "any")};
    enum kvc_status status = KVC_OK;
    for (int i = 0; i < 2 && status == KVC_OK; i++) { /* A second conversation follows the first. */
        status = kvc_pool_run(&pool, NULL, &diag);
        printf("%u answers\n", work.taken);
    }
    if (status != KVC_OK) {
        fputs("kvcast: ", stderr);
        kvc_diag_print(&diag, stderr);
        fputc('\n', stderr);
    } else if (work.ranks_seen != (1u << kvc_ranks_count()) - 1) {
        fprintf(stderr, "ranks %x answered\n", work.ranks_seen);
        status = KVC_ERR_RUNTIME;
    }
    return status;
}

int main(int argc, char **argv)
{
    enum kvc_status status = kvc_ranks_start();
    if (argc != 2) {
        fputs("usage: ranks_main MODE\n", stderr);
        return KVC_ERR_SCENARIO;
    }
    return kvc_ranks_stop(status == KVC_OK ? run(argv[1]) : (int)status);
}
