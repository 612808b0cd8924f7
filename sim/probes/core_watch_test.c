#include "sim/probes/core_watch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"

enum { WINDOWS = 20 };

/* Polls for work without finding any until all windows have passed. */
static void watch_all(struct kvc_core_watch *watch, void (*meanwhile)(uint32_t window))
{
    uint32_t passed = 0;
    cr_assert_eq(kvc_core_watch_open(watch, kvc_clock_wall_s() + 0.005, WINDOWS, NULL), KVC_OK);
    kvc_core_watch_begin(watch);
    while (passed < WINDOWS) {
        uint32_t now = kvc_core_watch_tick(watch, kvc_clock_wall_s(), true);
        if (now > passed && meanwhile != NULL) {
            meanwhile(now);
        }
        passed = now;
    }
}

static void sleep_in_window_four(uint32_t window)
{
    const struct timespec nap = {0, 3000000};
    if (window == 4) {
        nanosleep(&nap, NULL);
    }
}

/* Sleeping by oneself is a gap between two questions for work, but no lost processor time. */
Test(core_watch, gaps_are_charged_to_their_window)
{
    struct kvc_core_watch watch;
    watch_all(&watch, sleep_in_window_four);
    cr_expect_eq(atomic_load(&watch.done), WINDOWS);
    cr_expect_geq(watch.window[4].gaps_ns, 2.9e6F);
    double counted_ns = 0;
    for (int kind = 3; kind < KVC_STALL_KINDS; kind++) { /* Longer than 1.28 ms. */
        counted_ns += watch.stalls.sum_ns[kind];
    }
    cr_expect_geq(counted_ns, 2.9e6, "the nap is a stall");
    for (int i = 0; i < WINDOWS; i++) {
        cr_expect(watch.window[i].gaps_ns <= 10e6F && watch.window[i].lost_ns <= 10e6F, "window %d", i);
    }
    kvc_core_watch_close(&watch);
}

/* In a window without a speed, the thread hardly ran. The speed must match the same arithmetic measured
 * directly, but for a sibling that may be busy in one of the two and halves the speed. */
Test(core_watch, the_speed_is_measured_in_every_undisturbed_window)
{
    struct kvc_core_watch watch;
    double direct = 0;
    for (int i = 0; i < WINDOWS; i++) {
        direct = fmax(direct, kvc_speed_measure(3000));
    }
    watch_all(&watch, NULL);
    for (int i = 0; i < WINDOWS; i++) {
        double paused_ns = fmax(watch.window[i].lost_ns, watch.window[i].gaps_ns); /* Either sees it. */
        cr_expect(watch.window[i].speed > 0 || paused_ns > 0.75 * kvc_quiet_window_ns, "window %d: %g ns", i,
                  paused_ns);
        cr_expect_leq(watch.window[i].speed, 4 * direct, "window %d: %g, directly %g", i,
                      watch.window[i].speed, direct);
    }
    cr_expect_geq(kvc_quiet_fast_speed(watch.window, WINDOWS), direct / 4);
    kvc_core_watch_close(&watch);
}

/* A neighbour on the same core takes about half of the time, and working threads also notice that. */
Test(core_watch, a_neighbour_on_the_core_is_noticed)
{
    struct kvc_core_watch watch;
    double lost_ns = 0;
    kvc_pin_core(0);
    pid_t neighbour = fork();
    if (neighbour == 0) {
        for (;;) {
            ;
        }
    }
    cr_assert_eq(kvc_core_watch_open(&watch, kvc_clock_wall_s(), WINDOWS, NULL), KVC_OK);
    kvc_core_watch_begin(&watch);
    while (kvc_core_watch_tick(&watch, kvc_clock_wall_s(), false) < WINDOWS) {
        ;
    }
    kill(neighbour, SIGKILL);
    waitpid(neighbour, NULL, 0);
    for (int i = 0; i < WINDOWS; i++) {
        cr_expect_eq(watch.window[i].gaps_ns, 0, "a working thread sees no gaps");
        lost_ns += watch.window[i].lost_ns;
    }
    cr_expect_gt(lost_ns, 0.2 * WINDOWS * kvc_quiet_window_ns);
    cr_expect_leq(lost_ns, WINDOWS * kvc_quiet_window_ns);
    kvc_core_watch_close(&watch);
}
