#include "sim/probes/noise.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/clock.h"
#include "sim/probes/pin.h"

static void be_busy(double seconds)
{
    double until_s = kvc_clock_wall_s() + seconds;
    while (kvc_clock_wall_s() < until_s) {
        ;
    }
}

Test(noise, is_a_share)
{
    struct kvc_noise noise;
    kvc_noise_begin(&noise);
    be_busy(0.05);
    double frac = kvc_noise_frac(&noise);
    cr_expect(frac >= 0 && frac <= 1.5, "%g", frac); /* The system counts in steps of 10 ms. */
}

/* A child process counts as another process. */
Test(noise, others_are_noticed)
{
    struct kvc_noise noise;
    int status;
    kvc_noise_begin(&noise);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        be_busy(0.15);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    double frac = kvc_noise_frac(&noise) * kvc_pin_cores();
    cr_expect_gt(frac, 0.5, "one core was busy, not %g", frac);
}

Test(pin, a_core_is_kept)
{
    uint32_t cores = kvc_pin_cores();
    cr_assert_geq(cores, 1);
    for (uint32_t core = 0; core < cores; core++) {
        cpu_set_t set;
        kvc_pin_core(core);
        cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
        cr_expect_eq(CPU_COUNT(&set), 1);
        cr_expect(CPU_ISSET(core, &set));
    }
    cr_expect_eq(kvc_pin_cores(), cores, "those of the process, not of the thread");
}
