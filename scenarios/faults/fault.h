/** @file
 * Fault injection: lets one call of a kind fail, chosen by its number. Builds with KVCAST_FAULTS only.
 *
 * The linker sends our own calls of the functions that are wrapped (fault_system.c, fault_libraries.c) here
 * first. Each call counts as one of its kind, over the whole tree of processes in the order of the calls, so
 * that a number means one call of one process. The environment says what happens:
 *
 *   KVCAST_FAULT=KIND:N        the N-th call of the kind fails, all others work
 *   KVCAST_FAULT=count         none fails; the first process prints the numbers at its end
 *   KVCAST_FAULT_REPORT=FILE   the numbers, or the call that failed, are appended to FILE instead of stderr
 *   KVCAST_FAULT_STACK=1       the call that fails prints its stack, where the build has sanitizers
 *
 * Calls within the libraries that we use (SimGrid, GSL, SQLite, libc) are not seen. */
#ifndef KVC_SCENARIOS_FAULTS_FAULT_H
#define KVC_SCENARIOS_FAULTS_FAULT_H

#include <stdbool.h>

/** Declares the wrapper of a function and the function itself, with the type that its own header states. The
 * linker's option --wrap=NAME turns our calls of NAME into calls of __wrap_NAME, and __real_NAME is the
 * function. CMakeLists.txt passes the option for each line that begins with this macro. */
#define KVC_FAULT_WRAPPED(name) extern __typeof__(name) __wrap_##name, __real_##name

/** Kinds of calls, each with a count of its own. */
enum kvc_fault_kind {
    KVC_FAULT_ALLOCATION, /**< Memory: malloc and its like, mmap, writes to a stream in memory, Jansson's
                             values. */
    KVC_FAULT_WRITE, /**< Files: creating, writing, flushing, closing, renaming; stdout, but not stderr. */
    KVC_FAULT_FORK,  /**< Processes and what joins them: fork, posix_spawnp, pipe, threads. */
    KVC_FAULT_GSL,   /**< GSL functions that allocate or return a status. */
    KVC_FAULT_KINDS,
};

/** Counts a call of `function`. Returns whether this one is to fail. */
bool kvc_fault_strikes(enum kvc_fault_kind kind, const char *function);

#endif
