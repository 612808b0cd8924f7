/* Ranks by MPI; the only file that uses it. */
#include "scenarios/run/ranks/ranks.h"

#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/version.h"
#include "sim/base/rng.h"

enum {
    TAGS = 32767,   /* Tags that every MPI supports. */
    NAP_US = 1000,  /* Between looks at a request; MPI's own waiting would keep a core busy. */
    PATIENCE_S = 2, /* Time from the failure of one rank to the end of the job [s]. */
    COPY_BYTES = 4096,
};

/* A message on its way. */
struct sending {
    MPI_Request request;
    void *buffer;
};

/* The header of a message, before its data. */
struct header {
    uint32_t kind, task;
};

static bool joined; /* MPI is initialized. */
static int count = 1, own, beside = 1, here = 1;
static int heard_fd = -1; /* The real stderr of a rank whose messages are held back. */
static int tag;
static struct sending *sendings;
static size_t sending_count;

uint32_t kvc_ranks_count(void)
{
    return (uint32_t)count;
}

uint32_t kvc_ranks_own(void)
{
    return (uint32_t)own;
}

uint32_t kvc_ranks_beside(void)
{
    return (uint32_t)beside;
}

uint32_t kvc_ranks_here(void)
{
    return (uint32_t)here;
}

/* ---- joining and leaving ---- */

/* Only a launcher's processes pay for MPI. */
static bool is_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (getenv(names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Counts the ranks of this machine, and those that may use the same processors. Ranks that are bound to
 * processors of their own share none. */
static void count_neighbours(void)
{
    MPI_Comm machine;
    int sharing = 0;
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    cpu_set_t *all = kvc_array_of((size_t)here, sizeof(*all));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, machine);
    for (int i = 0; i < here; i++) {
        sharing += CPU_EQUAL(&mine, &all[i]) != 0;
    }
    free(all);
    MPI_Comm_free(&machine);
    beside = sharing > 0 ? sharing : 1;
}

/* Prints what this rank held back. */
static void speak_up(void)
{
    char copied[COPY_BYTES], host[256] = "";
    ssize_t bytes;
    if (heard_fd < 0) {
        return;
    }
    fflush(stderr);
    gethostname(host, sizeof(host) - 1);
    dprintf(heard_fd, "kvcast: rank %d of %d on %s:\n", own, count, host);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    while ((bytes = read(STDERR_FILENO, copied, sizeof(copied))) > 0) {
        if (write(heard_fd, copied, (size_t)bytes) < 0) {
            break;
        }
    }
    close(heard_fd);
    heard_fd = -1;
}

/* Prints the held-back output of a process that ends anywhere but in kvc_ranks_stop(). */
static void end_early(void)
{
    if (joined) {
        speak_up();
    }
}

/* Holds back the output of all ranks but the first, because all ranks find the same mistakes. */
static void hush(void)
{
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int held = memfd_create("stderr", MFD_CLOEXEC);
    heard_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nothing < 0 || held < 0 || heard_fd < 0) {
        KVC_BUG("no descriptors for a rank");
    }
    dup2(nothing, STDOUT_FILENO);
    dup2(held, STDERR_FILENO);
    close(nothing);
    close(held);
}

enum kvc_status kvc_ranks_start(void)
{
    struct kvc_diag diag = {0};
    if (!is_launched()) {
        return KVC_OK;
    }
    setenv("OMPI_MCA_mpi_warn_on_fork", "0", 0); /* Children of a pool do not use MPI. */
    setenv("NO_COLOR", "1", 0); /* stdout is a terminal of the launcher's, wherever its own output goes. */
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
        fprintf(stderr, "kvcast: MPI cannot be initialized\n");
        return KVC_ERR_RUNTIME;
    }
    joined = true;
    atexit(end_early);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    count_neighbours();
    if (own > 0) {
        hush();
    }
    enum kvc_status status = kvc_ranks_check_same("version of kvcast", kvc_name_hash(kvc_version), &diag);
    if (status != KVC_OK) {
        fprintf(stderr, "kvcast: %s\n", diag.message);
    }
    return status;
}

/* Waits for a request; at most for some time unless that is 0. Returns whether it is done. */
static bool await(MPI_Request *request, double seconds)
{
    double begin_s = kvc_clock_wall_s();
    int done = 0;
    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || (seconds > 0 && kvc_clock_wall_s() - begin_s > seconds)) {
            return done;
        }
        usleep(NAP_US);
    }
}

int kvc_ranks_stop(int exit_status)
{
    MPI_Request request;
    int worst = exit_status, least = exit_status;
    if (!joined) {
        return exit_status;
    }
    fflush(stdout);
    fflush(stderr);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (!await(&request, exit_status != KVC_OK ? PATIENCE_S : 0)) {
        speak_up();
        MPI_Abort(MPI_COMM_WORLD, exit_status);
    }
    MPI_Allreduce(&exit_status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&exit_status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (worst != least && exit_status != KVC_OK) {
        speak_up();
    }
    MPI_Finalize();
    joined = false;
    return worst;
}

bool kvc_ranks_run_here(enum kvc_ranks_use use, const char *command, int *exit_status)
{
    if (count == 1 || use == KVC_RANKS_SHARED) {
        return true;
    }
    if (use == KVC_RANKS_NONE) {
        fprintf(stderr, "kvcast %s: found %d ranks, allowed: one, because it is about this machine alone\n",
                command, count);
        *exit_status = KVC_ERR_SCENARIO;
        return false;
    }
    beside = here = 1;
    count = 1; /* The first rank runs the command alone; the others have nothing to do. */
    *exit_status = KVC_OK;
    return own == 0;
}

void kvc_ranks_leave(void)
{
    if (heard_fd >= 0) {
        dup2(heard_fd, STDERR_FILENO);
    }
    joined = false;
    count = 1;
    own = 0;
}

/* ---- all ranks together ---- */

void kvc_ranks_share(void *data, size_t bytes)
{
    char *at = data;
    while (count > 1 && bytes > 0) {
        int part = bytes < INT_MAX ? (int)bytes : INT_MAX;
        MPI_Request request;
        MPI_Ibcast(at, part, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        await(&request, 0);
        at += part;
        bytes -= (size_t)part;
    }
}

enum kvc_status kvc_ranks_check_same(const char *what, uint64_t number, struct kvc_diag *diag)
{
    if (count == 1) {
        return KVC_OK;
    }
    uint64_t *all = kvc_array_of((size_t)count, sizeof(*all));
    MPI_Request request;
    MPI_Iallgather(&number, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
    await(&request, 0);
    int other = 0;
    while (other < count && all[other] == all[0]) {
        other++;
    }
    free(all);
    return other == count
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                               "rank %d has another %s than rank 0, allowed: the same on all machines", other,
                               what);
}

/* Names the rank in front of its message, unless all know that it is the first. */
static void name_rank(int rank, struct kvc_diag *diag)
{
    char message[sizeof(diag->message)];
    if (rank > 0) {
        snprintf(message, sizeof(message), "rank %d: %.900s", rank, diag->message);
        memcpy(diag->message, message, sizeof(message));
    }
}

enum kvc_status kvc_ranks_agree(enum kvc_status status, struct kvc_diag *diag)
{
    int mine = status, failed = 0;
    MPI_Request request;
    if (count == 1) {
        return status;
    }
    int *all = kvc_array_of((size_t)count, sizeof(*all));
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    await(&request, 0);
    while (failed < count && all[failed] == KVC_OK) {
        failed++;
    }
    free(all);
    if (failed == count) {
        return KVC_OK;
    }
    MPI_Ibcast(diag, sizeof(*diag), MPI_BYTE, failed, MPI_COMM_WORLD, &request);
    await(&request, 0);
    name_rank(failed, diag);
    return diag->status;
}

/* ---- messages ---- */

void kvc_ranks_open(void)
{
    tag = (tag + 1) % TAGS;
}

/* Frees the buffers of messages that have been sent. */
static void forget_sent(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < sending_count; i++) {
        int done;
        MPI_Test(&sendings[i].request, &done, MPI_STATUS_IGNORE);
        if (done) {
            free(sendings[i].buffer);
        } else {
            sendings[kept++] = sendings[i];
        }
    }
    sending_count = kept;
}

void kvc_ranks_send(const struct kvc_ranks_message *message, const void *more, size_t more_bytes)
{
    const struct header header = {message->kind, message->task};
    size_t bytes = sizeof(header) + message->bytes + more_bytes;
    if (bytes > INT_MAX) {
        KVC_BUG("a message of %zu bytes", bytes);
    }
    char *buffer = kvc_array_of(bytes, 1);
    memcpy(buffer, &header, sizeof(header));
    if (message->bytes > 0) {
        memcpy(buffer + sizeof(header), message->data, message->bytes);
    }
    if (more_bytes > 0) {
        memcpy(buffer + sizeof(header) + message->bytes, more, more_bytes);
    }
    forget_sent();
    sendings = kvc_array_grown(sendings, sending_count + 1, sizeof(*sendings));
    struct sending *sending = &sendings[sending_count++];
    sending->buffer = buffer;
    MPI_Isend(buffer, (int)bytes, MPI_BYTE, (int)message->rank, tag, MPI_COMM_WORLD, &sending->request);
}

bool kvc_ranks_receive(struct kvc_ranks_message *message)
{
    MPI_Status status;
    MPI_Message matched;
    struct header header;
    int there = 0, bytes;
    forget_sent();
    MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &matched, &status);
    if (!there) {
        return false;
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    char *buffer = kvc_array_of((size_t)bytes, 1);
    MPI_Mrecv(buffer, bytes, MPI_BYTE, &matched, &status);
    memcpy(&header, buffer, sizeof(header));
    size_t data_bytes = (size_t)bytes - sizeof(header);
    memmove(buffer, buffer + sizeof(header), data_bytes);
    *message = (struct kvc_ranks_message){.rank = (uint32_t)status.MPI_SOURCE,
                                          .kind = header.kind,
                                          .task = header.task,
                                          .data = data_bytes > 0 ? buffer : NULL,
                                          .bytes = data_bytes};
    if (data_bytes == 0) {
        free(buffer);
    }
    return true;
}

void kvc_ranks_close(void)
{
    for (forget_sent(); sending_count > 0; forget_sent()) {
        usleep(NAP_US);
    }
    free(sendings);
    sendings = NULL;
}
