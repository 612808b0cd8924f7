#include "scenarios/run/pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/run/pool_ranks.h"
#include "scenarios/run/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"

enum { STEP_BYTES = 48, LISTEN_MS = 1 /* Between looks at the messages of other ranks. */ };

enum message_kind { MESSAGE_PROGRESS, MESSAGE_ANSWER, MESSAGE_FAILURE };

/* The header of every message. A progress message has no payload, so that it is one atomic write. */
struct message {
    enum message_kind kind;
    double fraction;
    char step[STEP_BYTES];
};

struct child {
    pid_t pid;
    int fd;
    uint32_t task;
    double fraction;
    char step[STEP_BYTES];
};

struct pool_run {
    const struct kvc_pool_options *pool;
    const struct kvc_progress *progress;
    struct child *children;
    struct pollfd *polls;
    struct kvc_pool_ranks ranks; /* How tasks are divided; a single rank draws all of them. */
    uint32_t running, taken;     /* `taken` counts the answers that were handed over. */
    double reserved_bytes;       /* For the running tasks. */
    void **answers;              /* Answers of tasks that ended before an earlier one. */
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

static struct kvc_pool_block *block_of(const struct kvc_pool_options *pool, void *answer)
{
    return pool->block != NULL && answer != NULL ? pool->block(answer) : NULL;
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
        block->bytes > 0 ? kvc_array_of(1, block->bytes) : NULL; /* It was a pointer of the child. */
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

_Noreturn static void child_main(const struct pool_run *run, uint32_t task, int fd)
{
    const struct kvc_pool_options *pool = run->pool;
    struct reporter reporter = {.fd = fd, .sent_fraction = -1};
    struct kvc_progress progress = {.report = report_to_parent, .data = &reporter};
    struct kvc_diag diag = {0};
    struct message message = {.kind = MESSAGE_ANSWER, .fraction = 1};
    kvc_out_of_memory_tell(tell_out_of_memory, &fd);
    void *answer = kvc_array_of(1, pool->answer_bytes + 1);
    enum kvc_status status =
        pool->body(pool->data, task, run->progress != NULL ? &progress : NULL, answer, &diag);
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

static enum kvc_status start(struct pool_run *run, uint32_t task, struct kvc_diag *diag)
{
    int ends[2];
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
        child_main(run, task, ends[1]);
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

static void forget(struct pool_run *run, uint32_t index)
{
    uint32_t task = run->children[index].task;
    close(run->children[index].fd);
    run->children[index] = run->children[--run->running];
    run->reserved_bytes -= memory_of(run, task);
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
            kvc_cleanup_reap(child->pid);
            forget(run, index);
            if (diag != NULL) {
                *diag = failure;
            }
            return failure.status;
        }
        answer = message.kind == MESSAGE_ANSWER ? read_answer(run->pool, child->fd) : NULL;
        if (answer != NULL) {
            kvc_cleanup_reap(child->pid);
            forget(run, index);
            kvc_pool_ranks_tell(&run->ranks, task, answer);
            return receive(run, task, answer, diag);
        }
    }
    pid_t pid = child->pid;
    forget(run, index); /* Closes the pipe, or a child that still writes to it would not end. */
    int status = kvc_cleanup_reap(pid);
    return crashed(run, task, status, diag);
}

static enum kvc_status start_what_fits(struct pool_run *run, struct kvc_diag *diag)
{
    const struct kvc_pool_options *pool = run->pool;
    uint32_t task;
    while (run->running < pool->jobs && kvc_pool_ranks_peek(&run->ranks, &task)) {
        double needed_bytes = memory_of(run, task);
        bool fits = pool->available_bytes <= 0 || run->reserved_bytes + needed_bytes <= pool->available_bytes;
        if (!fits && run->running > 0) {
            break;
        }
        run->reserved_bytes += needed_bytes;
        kvc_pool_ranks_draw(&run->ranks);
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
    struct kvc_pool_arrival arrival;
    enum kvc_status status;
    do {
        status = kvc_pool_ranks_hear(&run->ranks, &arrival, diag);
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
    for (uint32_t i = 0; i < run->running; i++) {
        kill(run->children[i].pid,
             SIGTERM); /* The child ends its own children and removes its partial files. */
        kvc_cleanup_reap(run->children[i].pid);
        close(run->children[i].fd);
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
    kvc_pool_ranks_begin(&run.ranks, &limited);
    while (status == KVC_OK && kvc_pool_ranks_go_on(&run.ranks, run.taken)) {
        status = step(&run, diag);
    }
    end_all(&run);
    return kvc_pool_ranks_end(&run.ranks, status, diag);
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
