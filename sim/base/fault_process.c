/* Processes, pipes and threads that fault injection can let fail. */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>

#include "sim/base/fault.h"
#include "sim/base/fault_wrapped.h"

KVC_FAULT_WRAPPED(fork);
KVC_FAULT_WRAPPED(pipe);
KVC_FAULT_WRAPPED(pipe2);
KVC_FAULT_WRAPPED(posix_spawnp);
KVC_FAULT_WRAPPED(pthread_create);

static bool strikes(const char *function, int error)
{
    bool fails = kvc_fault_strikes(KVC_FAULT_FORK, function);
    if (fails) {
        errno = error;
    }
    return fails;
}

pid_t __wrap_fork(void)
{
    return strikes("fork", EAGAIN) ? -1 : __real_fork();
}

int __wrap_pipe(int ends[2])
{
    return strikes("pipe", EMFILE) ? -1 : __real_pipe(ends);
}

int __wrap_pipe2(int ends[2], int flags)
{
    return strikes("pipe2", EMFILE) ? -1 : __real_pipe2(ends, flags);
}

int __wrap_posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const environment[])
{
    return strikes("posix_spawnp", EAGAIN)
               ? EAGAIN
               : __real_posix_spawnp(child, file, actions, attributes, arguments, environment);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                          void *data)
{
    return strikes("pthread_create", EAGAIN) ? EAGAIN : __real_pthread_create(thread, attributes, body, data);
}
