#include "sim/probes/timing.h"

#include <gsl/gsl_sort.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/base/clock.h"
#include "sim/probes/quiet.h"

/* The two clocks are read one after the other, so they may differ by this time [s]. */
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

enum { REPETITIONS_MIN = 5, REPETITIONS_MAX = 15, DISTURBED_MAX = 30 };

static const double steady_frac = 0.02;

/* Returns the time of a repetition, and sets *disturbed if the thread lost too much of it. */
static double repetition_s(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data, uint32_t repetition,
                           bool *disturbed)
{
    struct kvc_lost lost;
    if (prepare != NULL) {
        prepare(data, repetition);
    }
    kvc_lost_begin(&lost);
    double started_s = kvc_clock_wall_s();
    work(data, repetition);
    double seconds = kvc_clock_wall_s() - started_s;
    *disturbed = kvc_lost_s(&lost) > kvc_quiet_stalled_frac * seconds;
    return seconds;
}

struct kvc_timing kvc_timing_measure(kvc_timing_fn *prepare, kvc_timing_fn *work, void *data)
{
    double seconds[REPETITIONS_MAX];
    struct kvc_timing timing = {0};
    bool disturbed;
    uint32_t calls = 0;
    repetition_s(prepare, work, data, calls++, &disturbed);
    while (timing.repetitions < REPETITIONS_MAX) {
        double one_s = repetition_s(prepare, work, data, calls++, &disturbed);
        kvc_lost_note_repetition(!disturbed);
        if (disturbed && timing.disturbed < DISTURBED_MAX) {
            timing.disturbed++;
            continue;
        }
        seconds[timing.repetitions++] = one_s;
        if (timing.repetitions < REPETITIONS_MIN) {
            continue;
        }
        gsl_sort(seconds, 1, timing.repetitions);
        timing.median_s = seconds[timing.repetitions / 2];
        timing.low_s = seconds[timing.repetitions / 4];
        timing.high_s = seconds[3 * timing.repetitions / 4];
        if (timing.high_s - timing.low_s < 2 * steady_frac * timing.median_s) {
            break;
        }
    }
    return timing;
}
