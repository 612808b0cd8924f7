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

/* Moves the beginning of the measurement back by wall_s, in which others were busy for others_s. */
static double frac_since(double wall_s, double others_s)
{
    struct kvc_noise noise;
    kvc_noise_begin(&noise);
    noise.wall_s -= wall_s;
    noise.others_s -= others_s;
    return kvc_noise_frac(&noise);
}

Test(noise, is_a_share_of_all_cores)
{
    cr_expect_float_eq(frac_since(1000, 600), 0.6 / kvc_pin_cores(), 1e-3);
    cr_expect_eq(frac_since(1000, -600), 0, "the system's clock ticks coarsely");
    cr_expect(isnan(frac_since(1000, NAN)), "the system does not say");
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
