#include "scenarios/run/pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/pages.h"
#include "scenarios/run/ranks/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"

static struct kvc_pool_block *block_of(const struct kvc_pool_options *pool, void *answer)
{
    return pool->block != NULL && answer != NULL ? pool->block(answer) : NULL;
}

/* ---- the tasks of other ranks ----
 *
 * How a pool's tasks are divided among ranks (scenarios/run/ranks/ranks.h):
 *
 * Tasks are drawn from one counter, which the first rank keeps. A rank with room for another task asks it for
 * one, and sends it every answer; the first rank passes all answers on to all others. The first rank draws
 * before it listens, so that it always runs task 0. The first failure ends the pool on all ranks with the
 * same message.
 *
 * The counter is no window of memory that ranks read and add to by themselves. With Open MPI 4.1 and sockets
 * (osc/pt2pt), such a draw ends only when the first rank calls MPI again: it took 2 s while that rank slept
 * for 2 s, and 8 ms on average while it looked every millisecond. All answers come together at the first rank
 * anyway. */

/* One rank's view of a pool. */
struct sharing {
    const struct kvc_pool_options *pool;
    uint32_t drawn;      /* First rank, or the only one: the counter. */
    bool asked, drained; /* Others: the first rank has not replied; it has no tasks left. */
    bool has_granted;    /* Others: `granted` is a task that has not started yet. */
    uint32_t granted;
    bool over;              /* Others: the first rank has ended the pool. */
    enum kvc_status status; /* Others: how it ended. */
};

/* An answer from another rank. */
struct arrival {
    uint32_t task;
    void *answer; /* Owned like the pool's own answers; the receiver frees it. */
};

enum rank_message_kind {
    RANKS_ASK,     /* To the first rank: asks for a task, with this rank's terms of the pool. */
    RANKS_GRANT,   /* From the first rank: this task. */
    RANKS_DRAINED, /* From the first rank: no task is left. */
    RANKS_ANSWER,  /* Either way: the answer of this task. */
    RANKS_FAILURE, /* Either way: a diag. */
    RANKS_END,     /* From the first rank: all answers have been sent. */
    RANKS_BYE,     /* To the first rank: nothing else will come in this pool. */
};

enum { NAP_US = 1000 };

/* Values that ranks have to agree on. */
struct terms {
    uint32_t tasks;
    size_t answer_bytes;
};

static void send_to(uint32_t rank, enum rank_message_kind kind, uint32_t task, const void *data, size_t bytes)
{
    const struct kvc_ranks_message message = {
        .rank = rank, .kind = kind, .task = task, .data = (void *)data, .bytes = bytes};
    kvc_ranks_send(&message, NULL, 0);
}

/* Sends an answer and its block. */
static void send_answer(const struct kvc_pool_options *pool, uint32_t rank, uint32_t task, void *answer)
{
    const struct kvc_pool_block *block = block_of(pool, answer);
    const struct kvc_ranks_message message = {
        .rank = rank, .kind = RANKS_ANSWER, .task = task, .data = answer, .bytes = pool->answer_bytes};
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
            /* The received pointer belongs to another process. */
            block->bytes > 0 ? malloc(block->bytes) : NULL;
        if (block->data != NULL) {
            memcpy(block->data, (const char *)message->data + pool->answer_bytes, block->bytes);
        } else if (block->bytes > 0) {
            free(answer);
            return NULL;
        }
    }
    return answer;
}

/* Begins a pool. All ranks begin the same pools in the same order. */
static void begin_sharing(struct sharing *ranks, const struct kvc_pool_options *pool)
{
    *ranks = (struct sharing){.pool = pool};
    if (kvc_ranks_count() > 1) {
        kvc_ranks_open();
    }
}

/* Returns whether the pool continues after `taken` answers. */
static bool goes_on(const struct sharing *ranks, uint32_t taken)
{
    return kvc_ranks_is_first() ? taken < ranks->pool->tasks : !ranks->over;
}

/* Returns whether there is a task for this rank now, the same one until it is drawn. Others than the first
 * ask for one if there is none. */
static bool peek_task(struct sharing *ranks, uint32_t *task)
{
    if (kvc_ranks_is_first()) {
        *task = ranks->drawn;
        return ranks->drawn < ranks->pool->tasks;
    }
    if (!ranks->has_granted && !ranks->asked && !ranks->drained) {
        const struct terms terms = {ranks->pool->tasks, ranks->pool->answer_bytes};
        send_to(0, RANKS_ASK, 0, &terms, sizeof(terms));
        ranks->asked = true;
    }
    *task = ranks->granted;
    return ranks->has_granted;
}

/* Takes the task that peek_task() showed. */
static void draw_task(struct sharing *ranks)
{
    if (kvc_ranks_is_first()) {
        ranks->drawn++;
    }
    ranks->has_granted = false;
}

/* Sends the answer of this rank's task to the others. */
static void tell_ranks(struct sharing *ranks, uint32_t task, void *answer)
{
    if (!kvc_ranks_is_first()) {
        send_answer(ranks->pool, 0, task, answer);
    } else {
        pass_on(ranks->pool, task, answer, 0);
    }
}

/* Replies to a rank that asks for a task. */
static enum kvc_status reply(struct sharing *ranks, const struct kvc_ranks_message *message,
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
        send_to(message->rank, RANKS_GRANT, ranks->drawn++, NULL, 0);
    } else {
        send_to(message->rank, RANKS_DRAINED, 0, NULL, 0);
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
static enum kvc_status handle(struct sharing *ranks, const struct kvc_ranks_message *message,
                              struct arrival *arrival, struct kvc_diag *diag)
{
    switch ((enum rank_message_kind)message->kind) {
    case RANKS_ASK:
        return reply(ranks, message, diag);
    case RANKS_GRANT:
        ranks->granted = message->task;
        ranks->has_granted = true;
        ranks->asked = false;
        return KVC_OK;
    case RANKS_DRAINED:
        ranks->drained = true;
        ranks->asked = false;
        return KVC_OK;
    case RANKS_ANSWER:
        *arrival = (struct arrival){message->task, answer_of(ranks->pool, message)};
        if (arrival->answer == NULL) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for the answer of %s %u",
                                 ranks->pool->noun, message->task);
        }
        if (kvc_ranks_is_first()) {
            pass_on(ranks->pool, message->task, arrival->answer, message->rank);
        }
        return KVC_OK;
    case RANKS_FAILURE:
        ranks->over = !kvc_ranks_is_first();
        ranks->status = adopt_failure(message, diag);
        return ranks->status;
    case RANKS_END:
        ranks->over = true;
        return KVC_OK;
    case RANKS_BYE:
        break;
    }
    KVC_BUG("message %u from rank %u", message->kind, message->rank);
}

/* Handles messages of other ranks until there are none or an answer comes. Sets arrival->answer to NULL if
 * none came. Returns the failure of another rank, if there is one. */
static enum kvc_status hear_ranks(struct sharing *ranks, struct arrival *arrival, struct kvc_diag *diag)
{
    struct kvc_ranks_message message;
    enum kvc_status status = KVC_OK;
    *arrival = (struct arrival){.answer = NULL};
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
            send_to(rank, RANKS_END, 0, NULL, 0);
        } else {
            send_to(rank, RANKS_FAILURE, 0, &failure, sizeof(failure));
        }
    }
    for (uint32_t byes = 0; byes + 1 < kvc_ranks_count();) {
        if (kvc_ranks_receive(&message)) {
            byes += message.kind == RANKS_BYE;
            free(message.data);
        } else {
            usleep(NAP_US);
        }
    }
}

/* Tells the first rank about a failure that it did not send, and waits until it ends the pool. */
static void await_end(struct sharing *ranks, enum kvc_status status, struct kvc_diag *diag)
{
    struct kvc_ranks_message message;
    struct kvc_diag failure = {0};
    if (diag != NULL) {
        failure = *diag;
    }
    failure.status = status;
    send_to(0, RANKS_FAILURE, 0, &failure, sizeof(failure));
    while (!ranks->over) {
        if (!kvc_ranks_receive(&message)) {
            usleep(NAP_US);
            continue;
        }
        if (message.kind == RANKS_FAILURE) {
            ranks->status = adopt_failure(&message, diag);
        }
        ranks->over = message.kind == RANKS_FAILURE || message.kind == RANKS_END;
        free(message.data);
    }
}

/* Ends the pool on all ranks, after success or failure. Returns the status that all of them have. */
static enum kvc_status end_sharing(struct sharing *ranks, enum kvc_status status, struct kvc_diag *diag)
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
        send_to(0, RANKS_BYE, 0, NULL, 0);
        status = ranks->status != KVC_OK ? ranks->status : status;
    }
    kvc_ranks_close();
    return status;
}

/* ---- children ---- */

enum { STEP_BYTES = 48, LISTEN_MS = 1 /* Between looks at the messages of other ranks. */ };

enum message_kind { MESSAGE_PROGRESS, MESSAGE_ANSWER, MESSAGE_FAILURE };

/* The header of every message. A progress message has no payload, so that it is one atomic write. */
struct message {
    enum message_kind kind;
    double fraction;
    char step[STEP_BYTES];
};

/* Orders go through a socket, because writing to one that is closed need not raise a signal. */
struct keeper {
    pid_t pid; /* 0: not started. */
    int orders, fd;
    bool is_busy;
};

struct kvc_keepers {
    struct kvc_keepers_options options;
    struct keeper *keeper;
};

struct child {
    pid_t pid; /* The keeper's if there is one. */
    int fd;
    struct keeper *keeper; /* NULL: the task has a process of its own. */
    uint32_t task;
    double fraction;
    char step[STEP_BYTES];
};

struct pool_run {
    const struct kvc_pool_options *pool;
    const struct kvc_progress *progress;
    struct child *children;
    struct pollfd *polls;
    struct sharing ranks;    /* Division of tasks; a single rank draws all of them. */
    uint32_t running, taken; /* `taken` counts the answers that were handed over. */
    double reserved_bytes;   /* Memory reserved for the running tasks. */
    void **answers;          /* Answers of tasks that ended before an earlier one. */
    uint32_t ended;
};

static bool write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t count = write(fd, at, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t count = read(fd, at, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

static void free_answer(const struct kvc_pool_options *pool, void *answer)
{
    struct kvc_pool_block *block = block_of(pool, answer);
    if (block != NULL) {
        free(block->data);
    }
    free(answer);
}

static bool write_answer(const struct kvc_pool_options *pool, int fd, void *answer)
{
    const struct kvc_pool_block *block = block_of(pool, answer);
    return write_all(fd, answer, pool->answer_bytes) &&
           (block == NULL || block->bytes == 0 || write_all(fd, block->data, block->bytes));
}

/* Returns a copy of the answer that the child sends, or NULL if it ends early. */
static void *read_answer(const struct kvc_pool_options *pool, int fd)
{
    void *answer = kvc_array_of(1, pool->answer_bytes + 1);
    if (!read_all(fd, answer, pool->answer_bytes)) {
        free(answer);
        return NULL;
    }
    struct kvc_pool_block *block = block_of(pool, answer);
    if (block == NULL) {
        return answer;
    }
    block->data =
        /* The received pointer belongs to the child. */
        block->bytes > 0 ? kvc_array_of(1, block->bytes) : NULL;
    if (block->bytes > 0 && !read_all(fd, block->data, block->bytes)) {
        free_answer(pool, answer);
        return NULL;
    }
    return answer;
}

/* Sends the progress of a child to the parent, but not more often than a bar can show. */
struct reporter {
    int fd;
    double sent_fraction;
    char sent_step[STEP_BYTES];
};

static void report_to_parent(void *data, const char *step, double fraction)
{
    struct reporter *reporter = data;
    bool same_step = strncmp(step, reporter->sent_step, STEP_BYTES - 1) == 0;
    if (same_step && fraction - reporter->sent_fraction < 0.004) {
        return;
    }
    struct message message = {.kind = MESSAGE_PROGRESS, .fraction = fraction};
    snprintf(message.step, sizeof(message.step), "%s", step);
    snprintf(reporter->sent_step, sizeof(reporter->sent_step), "%s", step);
    reporter->sent_fraction = fraction;
    write_all(reporter->fd, &message, sizeof(message));
}

static bool send_failure(int fd, const struct kvc_diag *diag)
{
    const struct message message = {.kind = MESSAGE_FAILURE};
    return write_all(fd, &message, sizeof(message)) && write_all(fd, diag, sizeof(*diag));
}

static void tell_out_of_memory(void *data, const struct kvc_diag *diag)
{
    send_failure(*(const int *)data, diag); /* If this fails, too, the parent sees the exit status. */
}

_Noreturn static void child_main(const struct kvc_pool_options *pool, bool shows, uint32_t task, int fd)
{
    struct reporter reporter = {.fd = fd, .sent_fraction = -1};
    struct kvc_progress progress = {.report = report_to_parent, .data = &reporter};
    struct kvc_diag diag = {0};
    struct message message = {.kind = MESSAGE_ANSWER, .fraction = 1};
    kvc_out_of_memory_tell(tell_out_of_memory, &fd);
    void *answer = kvc_array_of(1, pool->answer_bytes + 1);
    enum kvc_status status = pool->body(pool->data, task, shows ? &progress : NULL, answer, &diag);
    bool sent;
    if (status == KVC_OK) {
        sent = write_all(fd, &message, sizeof(message)) && write_answer(pool, fd, answer);
    } else {
        diag.status = status;
        sent = send_failure(fd, &diag);
    }
    /* exit() would flush buffers and run exit handlers that belong to the parent. */
    _exit(sent ? 0 : 1);
}

/* ---- keepers ---- */

/* A task in the child of a keeper. */
struct kept_task {
    const struct kvc_keepers_options *options;
    void *state, *order;
};

static enum kvc_status run_kept(void *data, uint32_t keeper, const struct kvc_progress *progress,
                                void *answer, struct kvc_diag *diag)
{
    const struct kept_task *task = data;
    kvc_pages_unshare();
    return task->options->body(task->options->data, keeper, task->state, task->order, progress, answer, diag);
}

/* Ends the keeper as its child ended, so that the parent describes the crash. */
_Noreturn static void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static enum kvc_status prepare_kept(const struct kept_task *task, uint32_t number, int fd, void **state,
                                    struct kvc_diag *diag)
{
    struct reporter reporter = {.fd = fd, .sent_fraction = -1};
    const struct kvc_progress progress = {.report = report_to_parent, .data = &reporter};
    return task->options->prepare(task->options->data, number, state, &progress, diag);
}

_Noreturn static void keeper_main(const struct kvc_keepers_options *options, uint32_t number, int orders,
                                  int fd)
{
    kvc_out_of_memory_tell(tell_out_of_memory, &fd);
    struct kept_task task = {.options = options, .order = kvc_array_of(1, options->order_bytes)};
    const struct kvc_pool_options pool = {
        .answer_bytes = options->answer_bytes, .data = &task, .body = run_kept};
    struct kvc_diag diag = {0};
    bool prepared = false;
    while (read_all(orders, task.order, options->order_bytes)) {
        enum kvc_status status = prepared ? KVC_OK : prepare_kept(&task, number, fd, &task.state, &diag);
        prepared = true;
        pid_t pid = status == KVC_OK ? kvc_cleanup_fork() : -1;
        if (pid == 0) {
            close(orders);
            child_main(&pool, true, number, fd);
        }
        if (pid < 0) {
            diag.status = status != KVC_OK ? status
                                           : kvc_diag_fail(&diag, KVC_ERR_RUNTIME, "cannot start a task: %s",
                                                           strerror(errno));
            _exit(send_failure(fd, &diag) ? 0 : 1);
        }
        int ended = kvc_cleanup_reap(pid);
        if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
            end_like(ended);
        }
    }
    _exit(0);
}

struct kvc_keepers *kvc_keepers_create(const struct kvc_keepers_options *options)
{
    struct kvc_keepers *keepers = kvc_array_of(1, sizeof(*keepers));
    keepers->options = *options;
    keepers->keeper = kvc_array_of(options->keepers, sizeof(*keepers->keeper));
    return keepers;
}

/* Ends a keeper, if it has not ended already, and returns its wait status. */
static int close_keeper(struct keeper *keeper)
{
    kill(keeper->pid, SIGTERM);
    close(keeper->orders);
    close(keeper->fd);
    int status = kvc_cleanup_reap(keeper->pid);
    *keeper = (struct keeper){.pid = 0};
    return status;
}

void kvc_keepers_free(struct kvc_keepers *keepers)
{
    if (keepers == NULL) {
        return;
    }
    for (uint32_t i = 0; i < keepers->options.keepers; i++) {
        if (keepers->keeper[i].pid != 0) {
            close_keeper(&keepers->keeper[i]);
        }
    }
    free(keepers->keeper);
    free(keepers);
}

/* Starts a keeper. Returns false if the system refuses. */
static bool open_keeper(const struct kvc_keepers *keepers, uint32_t number)
{
    int orders[2], ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, orders) != 0) {
        return false;
    }
    pid_t pid = pipe(ends) == 0 ? kvc_cleanup_fork() : -2;
    if (pid == 0) {
        close(orders[0]);
        close(ends[0]);
        kvc_ranks_leave();
        keeper_main(&keepers->options, number, orders[1], ends[1]);
    }
    close(orders[1]);
    if (pid > 0) {
        close(ends[1]);
        keepers->keeper[number] = (struct keeper){.pid = pid, .orders = orders[0], .fd = ends[0]};
        return true;
    }
    close(orders[0]);
    if (pid == -1) {
        close(ends[0]);
        close(ends[1]);
    }
    return false;
}

/* Hands the task to its keeper. Returns NULL if that is busy or cannot take it. */
static struct keeper *order(const struct kvc_pool_options *pool, uint32_t task)
{
    struct kvc_keepers *keepers = pool->keepers;
    uint32_t number;
    if (keepers == NULL) {
        return NULL;
    }
    const void *words = pool->order(pool->data, task, &number);
    struct keeper *keeper = &keepers->keeper[number];
    if (words == NULL || keeper->is_busy || (keeper->pid == 0 && !open_keeper(keepers, number))) {
        return NULL;
    }
    size_t bytes = keepers->options.order_bytes;
    if (send(keeper->orders, words, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
        close_keeper(keeper);
        return NULL;
    }
    keeper->is_busy = true;
    return keeper;
}

/* ---- tasks ---- */

static enum kvc_status start(struct pool_run *run, uint32_t task, struct kvc_diag *diag)
{
    int ends[2];
    struct keeper *keeper = order(run->pool, task);
    if (keeper != NULL) {
        run->children[run->running++] =
            (struct child){.pid = keeper->pid, .fd = keeper->fd, .keeper = keeper, .task = task};
        return KVC_OK;
    }
    if (pipe(ends) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start %s %u: %s", run->pool->noun, task,
                             strerror(errno));
    }
    pid_t pid = kvc_cleanup_fork();
    if (pid < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start %s %u: %s", run->pool->noun, task,
                             strerror(error));
    }
    if (pid == 0) {
        close(ends[0]);
        for (uint32_t i = 0; i < run->running; i++) {
            close(run->children[i].fd);
        }
        kvc_ranks_leave();
        child_main(run->pool, run->progress != NULL, task, ends[1]);
    }
    close(ends[1]);
    struct child *child = &run->children[run->running++];
    *child = (struct child){.pid = pid, .fd = ends[0], .task = task};
    return KVC_OK;
}

static double memory_of(const struct pool_run *run, uint32_t task)
{
    const struct kvc_pool_options *pool = run->pool;
    return pool->memory_bytes != NULL ? pool->memory_bytes(pool->data, task) : 0;
}

/* Forgets a task that has ended. Ends its process, or lets its keeper wait for another order if `stays`.
 * Returns the wait status of the process. */
static int forget(struct pool_run *run, uint32_t index, bool stays)
{
    struct child *child = &run->children[index];
    int status = 0;
    if (child->keeper != NULL && stays) {
        child->keeper->is_busy = false;
    } else if (child->keeper != NULL) {
        status = close_keeper(child->keeper);
    } else {
        close(child->fd); /* A child that still writes would not end. */
        status = kvc_cleanup_reap(child->pid);
    }
    run->reserved_bytes -= memory_of(run, child->task);
    run->children[index] = run->children[--run->running];
    return status;
}

static void show(const struct pool_run *run)
{
    if (run->progress == NULL) {
        return;
    }
    double sum = run->ended;
    const struct child *oldest = NULL;
    for (uint32_t i = 0; i < run->running; i++) {
        const struct child *child = &run->children[i];
        sum += child->fraction;
        if (oldest == NULL || child->task < oldest->task) {
            oldest = child;
        }
    }
    char step[2 * STEP_BYTES];
    if (run->pool->tasks == 1) {
        snprintf(step, sizeof(step), "%s", oldest != NULL ? oldest->step : "");
    } else {
        snprintf(step, sizeof(step), "%s %u/%u", run->pool->noun, run->ended + (run->running > 0),
                 run->pool->tasks);
    }
    kvc_progress_report(run->progress, step, sum / run->pool->tasks);
}

static enum kvc_status crashed(const struct pool_run *run, uint32_t task, int status, struct kvc_diag *diag)
{
    const char *noun = run->pool->noun;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "%s %u was killed (signal 9), most likely because memory ran out", noun, task);
    }
    if (WIFSIGNALED(status)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s %u crashed: signal %d (%s)", noun, task,
                             WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s %u ended without an answer: exit status %d", noun, task,
                         WEXITSTATUS(status));
}

/* Hands over an answer and frees it. */
static enum kvc_status take(struct pool_run *run, uint32_t task, void *answer, struct kvc_diag *diag)
{
    const struct kvc_pool_options *pool = run->pool;
    enum kvc_status status = pool->take != NULL ? pool->take(pool->data, task, answer, diag) : KVC_OK;
    free_answer(pool, answer);
    run->taken++;
    return status;
}

/* Keeps an answer of this rank or another one until its turn, or hands it over. */
static enum kvc_status receive(struct pool_run *run, uint32_t task, void *answer, struct kvc_diag *diag)
{
    run->ended++;
    if (run->pool->any_order) {
        return take(run, task, answer, diag);
    }
    run->answers[task] = answer;
    return KVC_OK;
}

/* Reads one message of a child, or the end of its pipe. */
static enum kvc_status hear(struct pool_run *run, uint32_t index, struct kvc_diag *diag)
{
    struct child *child = &run->children[index];
    uint32_t task = child->task;
    struct message message;
    struct kvc_diag failure;
    void *answer = NULL;
    if (read_all(child->fd, &message, sizeof(message))) {
        if (message.kind == MESSAGE_PROGRESS) {
            child->fraction = message.fraction;
            memcpy(child->step, message.step, sizeof(child->step));
            return KVC_OK;
        }
        if (message.kind == MESSAGE_FAILURE && read_all(child->fd, &failure, sizeof(failure))) {
            forget(run, index, false);
            if (diag != NULL) {
                *diag = failure;
            }
            return failure.status;
        }
        answer = message.kind == MESSAGE_ANSWER ? read_answer(run->pool, child->fd) : NULL;
        if (answer != NULL) {
            forget(run, index, true);
            tell_ranks(&run->ranks, task, answer);
            return receive(run, task, answer, diag);
        }
    }
    return crashed(run, task, forget(run, index, false), diag);
}

static enum kvc_status start_what_fits(struct pool_run *run, struct kvc_diag *diag)
{
    const struct kvc_pool_options *pool = run->pool;
    uint32_t task;
    while (run->running < pool->jobs && peek_task(&run->ranks, &task)) {
        double needed_bytes = memory_of(run, task);
        bool fits = pool->available_bytes <= 0 || run->reserved_bytes + needed_bytes <= pool->available_bytes;
        if (!fits && run->running > 0) {
            break;
        }
        run->reserved_bytes += needed_bytes;
        draw_task(&run->ranks);
        enum kvc_status status = start(run, task, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static enum kvc_status take_what_is_next(struct pool_run *run, struct kvc_diag *diag)
{
    while (!run->pool->any_order && run->taken < run->pool->tasks && run->answers[run->taken] != NULL) {
        uint32_t task = run->taken;
        void *answer = run->answers[task];
        run->answers[task] = NULL;
        enum kvc_status status = take(run, task, answer, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

/* Receives the answers of other ranks. */
static enum kvc_status listen_to_ranks(struct pool_run *run, struct kvc_diag *diag)
{
    struct arrival arrival;
    enum kvc_status status;
    do {
        status = hear_ranks(&run->ranks, &arrival, diag);
        if (arrival.answer != NULL) {
            status = receive(run, arrival.task, arrival.answer, diag);
        }
    } while (status == KVC_OK && arrival.answer != NULL);
    return status;
}

static enum kvc_status step(struct pool_run *run, struct kvc_diag *diag)
{
    enum kvc_status status = start_what_fits(run, diag);
    if (status != KVC_OK) {
        return status;
    }
    for (uint32_t i = 0; i < run->running; i++) {
        run->polls[i] = (struct pollfd){.fd = run->children[i].fd, .events = POLLIN};
    }
    uint32_t polled = run->running;
    if (poll(run->polls, polled, kvc_ranks_count() > 1 ? LISTEN_MS : -1) < 0) {
        if (errno == EINTR) {
            return KVC_OK;
        }
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot wait for child processes: %s", strerror(errno));
    }
    for (uint32_t i = polled; i-- > 0;) { /* Downwards, as `forget` moves the last child into the gap. */
        if (run->polls[i].revents == 0) {
            continue;
        }
        status = hear(run, i, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    status = listen_to_ranks(run, diag);
    if (status == KVC_OK) {
        status = take_what_is_next(run, diag);
    }
    show(run);
    return status;
}

static void end_all(struct pool_run *run)
{
    while (run->running > 0) {
        /* The child ends its own children and removes its partial files. */
        kill(run->children[run->running - 1].pid, SIGTERM);
        forget(run, run->running - 1, false);
    }
    if (run->answers != NULL) {
        for (uint32_t i = 0; i < run->pool->tasks; i++) {
            free_answer(run->pool, run->answers[i]);
        }
    }
    free(run->answers);
    free(run->children);
    free(run->polls);
}

enum kvc_status kvc_pool_run(const struct kvc_pool_options *pool, const struct kvc_progress *progress,
                             struct kvc_diag *diag)
{
    struct kvc_pool_options limited = *pool;
    if (limited.jobs > KVC_CLEANUP_CHILDREN_MAX) {
        limited.jobs = KVC_CLEANUP_CHILDREN_MAX;
    }
    struct pool_run run = {.pool = &limited, .progress = progress};
    run.children = calloc(limited.jobs, sizeof(*run.children));
    run.polls = calloc(limited.jobs, sizeof(*run.polls));
    run.answers = calloc(limited.tasks, sizeof(*run.answers));
    enum kvc_status status = KVC_OK;
    if (run.children == NULL || run.polls == NULL || run.answers == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory for %u children", limited.jobs);
    }
    begin_sharing(&run.ranks, &limited);
    while (status == KVC_OK && goes_on(&run.ranks, run.taken)) {
        status = step(&run, diag);
    }
    end_all(&run);
    if (status != KVC_OK && kvc_cleanup_is_interrupted()) {
        status = kvc_diag_fail(diag, KVC_ERR_INTERRUPTED, "interrupted");
    }
    return end_sharing(&run.ranks, status, diag);
}

uint32_t kvc_pool_processors(void)
{
    cpu_set_t set;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        processors = CPU_COUNT(&set);
    }
    long share = processors / kvc_ranks_beside();
    return share > 0 ? (uint32_t)share : 1;
}
