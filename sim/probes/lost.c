#include "sim/probes/lost.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/base/clock.h"

/* The two clocks are read one after the other, which makes a difference of this size [s]. */
static const double clocks_differ_s = 2e-6;

static _Atomic uint64_t total_ns, repetitions, quiet_repetitions;

void kvc_lost_begin(struct kvc_lost *lost)
{
    struct rusage usage;
    struct timespec cpu;
    lost->sleeps = getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    lost->cpu_s = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec;
    lost->wall_s = kvc_clock_wall_s();
}

double kvc_lost_s(const struct kvc_lost *since)
{
    struct kvc_lost now;
    kvc_lost_begin(&now);
    double lost_s = (now.wall_s - since->wall_s) - (now.cpu_s - since->cpu_s);
    if (now.sleeps != since->sleeps || lost_s <= clocks_differ_s) {
        return 0;
    }
    atomic_fetch_add(&total_ns, (uint64_t)(lost_s * 1e9));
    return lost_s;
}

double kvc_lost_total_s(void)
{
    return (double)atomic_load(&total_ns) * 1e-9;
}

void kvc_lost_note_repetition(bool quiet)
{
    atomic_fetch_add(&repetitions, 1);
    atomic_fetch_add(&quiet_repetitions, quiet);
}

double kvc_lost_quiet_frac(void)
{
    uint64_t all = atomic_load(&repetitions);
    return all > 0 ? (double)atomic_load(&quiet_repetitions) / (double)all : 1;
}
