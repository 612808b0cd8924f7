#include "scenarios/torture/moment.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/clock.h"

int kvc_moment_watch(const char *folder)
{
    const uint32_t changes = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE;
    char out[512];
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0 || inotify_add_watch(watch, folder, changes) < 0) {
        perror(folder);
        exit(1);
    }
    snprintf(out, sizeof(out), "%s/out", folder);
    inotify_add_watch(watch, out, changes);
    return watch;
}

struct kvc_moment kvc_moment_draw(const struct kvc_life *life, struct kvc_rng *rng)
{
    struct kvc_moment moment = {.seconds = kvc_rng_unit(rng) * life->seconds};
    uint32_t change = 1 + kvc_rng_below(rng, life->changes > 0 ? life->changes : 1);
    if (life->changes > 0 && kvc_rng_below(rng, 2) == 0) {
        moment.changes = change;
    }
    return moment;
}

/* Returns the number of changes since the last call. */
static uint32_t read_changes(int watch)
{
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    uint32_t changes = 0;
    ssize_t bytes = read(watch, buffer, sizeof(buffer));
    for (ssize_t at = 0; at < bytes; changes++) {
        const struct inotify_event *event = (const struct inotify_event *)(buffer + at);
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    return changes;
}

static bool has_ended(pid_t subject)
{
    siginfo_t ended = {0};
    return waitid(P_PID, (id_t)subject, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == subject;
}

bool kvc_moment_wait(int watch, pid_t subject, const struct kvc_moment *moment, struct kvc_life *seen)
{
    struct pollfd change = {.fd = watch, .events = POLLIN};
    double start_s = kvc_clock_wall_s();
    *seen = (struct kvc_life){0};
    for (;;) {
        bool ended = has_ended(subject); /* Before the changes are read, so that none is missed. */
        seen->changes += read_changes(watch);
        seen->seconds = kvc_clock_wall_s() - start_s;
        bool is_here =
            moment->changes > 0 ? seen->changes >= moment->changes : seen->seconds >= moment->seconds;
        if (ended || is_here) {
            return !ended;
        }
        poll(&change, 1, 1);
    }
}
