/* A build without MPI: there is one rank. */
#include <stdio.h>
#include <stdlib.h>

#include "scenarios/run/ranks/ranks.h"

/* Returns a number that a launcher put into the environment, or `otherwise`. */
static long from_environment(const char *const *names, long otherwise)
{
    for (; *names != NULL; names++) {
        const char *text = getenv(*names);
        if (text != NULL && text[0] != '\0') {
            return strtol(text, NULL, 10);
        }
    }
    return otherwise;
}

enum kvc_status kvc_ranks_start(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    long size = from_environment(sizes, 1);
    if (size <= 1) {
        return KVC_OK;
    }
    if (from_environment(ranks, 0) == 0) {
        fprintf(stderr,
                "kvcast: started as one of %ld ranks, but built without MPI (cmake -DKVCAST_MPI=ON)\n", size);
    }
    return KVC_ERR_SCENARIO;
}

int kvc_ranks_stop(int exit_status)
{
    return exit_status;
}

bool kvc_ranks_run_here(enum kvc_ranks_use use, const char *command, int *exit_status)
{
    (void)use, (void)command, (void)exit_status;
    return true;
}

uint32_t kvc_ranks_count(void)
{
    return 1;
}

uint32_t kvc_ranks_own(void)
{
    return 0;
}

uint32_t kvc_ranks_beside(void)
{
    return 1;
}

uint32_t kvc_ranks_here(void)
{
    return 1;
}

void kvc_ranks_leave(void)
{
}

void kvc_ranks_share(void *data, size_t bytes)
{
    (void)data, (void)bytes;
}

enum kvc_status kvc_ranks_check_same(const char *what, uint64_t number, struct kvc_diag *diag)
{
    (void)what, (void)number, (void)diag;
    return KVC_OK;
}

enum kvc_status kvc_ranks_agree(enum kvc_status status, struct kvc_diag *diag)
{
    (void)diag;
    return status;
}

void kvc_ranks_open(void)
{
}

void kvc_ranks_send(const struct kvc_ranks_message *message, const void *more, size_t more_bytes)
{
    (void)more, (void)more_bytes;
    KVC_BUG("a message to rank %u of one", message->rank);
}

bool kvc_ranks_receive(struct kvc_ranks_message *message)
{
    (void)message;
    return false;
}

void kvc_ranks_close(void)
{
}
