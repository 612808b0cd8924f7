/* Ranks: the processes of one job on many machines, started by mpirun or srun.
 *
 * All ranks run the same command with the same arguments, so that each of them knows every task of a pool
 * (scenarios/run/pool.h) without being told. The pool divides the tasks among the ranks and gives every
 * answer to all of them, so that they decide the same. Rank 0, the first, is the only one that prints, shows
 * progress, and writes files and databases; the others have no stdout, and their messages appear only if they
 * fail alone.
 *
 * A process that no launcher started is the first of one rank, and so is every child of a pool. A build
 * without MPI (KVCAST_MPI) has one rank only and refuses to be one of several. */
#ifndef KVC_SCENARIOS_RUN_RANKS_RANKS_H
#define KVC_SCENARIOS_RUN_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/diag.h"

/* Use of several ranks by a command. */
enum kvc_ranks_use {
    KVC_RANKS_FIRST,  /* The first rank runs it alone; the others wait. */
    KVC_RANKS_SHARED, /* All ranks run the command and share the tasks of its pools. */
    /* The command refuses several ranks, because it measures one machine, which they would disturb. */
    KVC_RANKS_NONE,
};

/* Joins the job that this process was started in. Call once, before anything else. Returns KVC_ERR_SCENARIO
 * if it is one of several processes and was built without MPI; only one of them prints a message. */
enum kvc_status kvc_ranks_start(void);

/* Leaves the job and returns the process's exit status. If only some ranks fail, or another one does not come
 * here within seconds after a failure, the failed ones print their messages, and the whole job ends. */
int kvc_ranks_stop(int exit_status);

/* Says how the command uses the ranks. Returns whether this rank runs it. Prints a message if it refuses, and
 * sets *exit_status if it returns false. */
bool kvc_ranks_run_here(enum kvc_ranks_use use, const char *command, int *exit_status);

uint32_t kvc_ranks_count(void); /* At least 1. */
uint32_t kvc_ranks_own(void);   /* Number of this rank, from 0. */

/* Returns how many ranks share the processors of this one, itself included. */
uint32_t kvc_ranks_beside(void);

/* Returns how many ranks share the memory of this one's machine, itself included. */
uint32_t kvc_ranks_here(void);

/* Makes a forked child, which may not use MPI, the first of one rank. Its messages appear. */
void kvc_ranks_leave(void);

/* Copies the first rank's bytes to all others. All ranks call it. */
void kvc_ranks_share(void *data, size_t bytes);

/* Fails on all ranks unless all of them have the same number. All ranks call it. `what` is the subject of the
 * message, such as "scenario". */
enum kvc_status kvc_ranks_check_same(const char *what, uint64_t number, struct kvc_diag *diag);

/* Makes all ranks fail with the first failure in the order of ranks. All ranks call it, with their own status
 * and its diag. Use it after a step at which one rank may fail alone, such as opening a file. */
enum kvc_status kvc_ranks_agree(enum kvc_status status, struct kvc_diag *diag);

/* A message between ranks. */
struct kvc_ranks_message {
    uint32_t rank;       /* The other rank. */
    uint32_t kind, task; /* Kind of the message and its task; the sender defines both. */
    void *data;          /* Allocated by malloc; NULL without bytes. */
    size_t bytes;
};

/* Begins a conversation. It receives no messages of earlier or later conversations. All ranks begin the same
 * conversations in the same order. */
void kvc_ranks_open(void);

/* Sends a message without waiting. `data` is copied; `more` follows it directly and may be NULL. */
void kvc_ranks_send(const struct kvc_ranks_message *message, const void *more, size_t more_bytes);

/* Receives the next message, whose data the caller frees. Returns false if there is none now. Messages of one
 * rank come in their order. */
bool kvc_ranks_receive(struct kvc_ranks_message *message);

/* Waits until all messages of this rank have been sent, and ends the conversation. */
void kvc_ranks_close(void);

static inline bool kvc_ranks_is_first(void)
{
    return kvc_ranks_own() == 0;
}

#endif
