#include "sim/probes/cores.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "sim/base/clock.h"
#include "sim/probes/core_watch.h"
#include "sim/probes/pin.h"

const double kvc_cores_shared_frac = 0.85;

enum { BURSTS = 20, BURST_STEPS = 60000 }; /* A burst takes about 0.1 ms. */

/* Measures the core of the calling thread. Returns its speed in steps of arithmetic per nanosecond, or
 * anything. */
typedef double measure_fn(void *data, uint32_t core);

struct crew {
    measure_fn *measure;
    void *data;
    uint32_t count;
    atomic_uint arrived;
};

struct member {
    struct crew *crew;
    uint32_t core;
    double speed; /* Steps of arithmetic per nanosecond. */
    pthread_t thread;
};

/* The median tells siblings from interruptions: another thread on the core slows some bursts, a busy sibling
 * slows all. */
static double speed_of_bursts(void *data, uint32_t core)
{
    (void)data, (void)core;
    double speed[BURSTS];
    for (int i = 0; i < BURSTS; i++) {
        speed[i] = kvc_speed_measure(BURST_STEPS);
    }
    gsl_sort(speed, 1, BURSTS);
    return speed[BURSTS / 2];
}

/* The watch of a run measures the speed from time to time while the core works: here, on the same arithmetic.
 */
static double speed_of_watch(void *data, uint32_t core)
{
    (void)data, (void)core;
    struct kvc_core_watch watch;
    double speed = 0;
    if (kvc_core_watch_open(&watch, kvc_clock_wall_s(), 1, NULL) == KVC_OK) {
        kvc_core_watch_begin(&watch);
        do {
            kvc_speed_measure(BURST_STEPS);
        } while (kvc_core_watch_tick(&watch, kvc_clock_wall_s(), false) == 0);
        speed = watch.window[0].speed;
    }
    kvc_core_watch_close(&watch);
    return speed;
}

/* Starts once all threads have arrived. */
static void *work(void *data)
{
    struct member *member = data;
    kvc_pin_core(member->core);
    atomic_fetch_add(&member->crew->arrived, 1);
    while (atomic_load(&member->crew->arrived) < member->crew->count) {
        ;
    }
    member->speed = member->crew->measure(member->crew->data, member->core);
    return NULL;
}

/* Measures the cores first to first + count - 1 at the same time. */
static enum kvc_status run(measure_fn *measure, void *data, uint32_t first, uint32_t count, double *speed,
                           struct kvc_diag *diag)
{
    struct crew crew = {.measure = measure, .data = data, .count = count};
    struct member member[KVC_CORES_MAX];
    uint32_t started = 0;
    while (started < count) {
        member[started] = (struct member){.crew = &crew, .core = first + started};
        if (pthread_create(&member[started].thread, NULL, work, &member[started]) != 0) {
            break;
        }
        started++;
    }
    if (started < count) {
        atomic_store(&crew.arrived, count); /* release the threads that did start */
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(member[i].thread, NULL);
        speed[i] = member[i].speed;
    }
    return started == count ? KVC_OK
                            : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "a thread for core %u cannot be started",
                                            first + started);
}

static uint32_t count_cores(void)
{
    uint32_t count = kvc_pin_cores();
    return count < KVC_CORES_MAX ? count : KVC_CORES_MAX;
}

enum kvc_status kvc_cores_measure(struct kvc_cores *cores, struct kvc_diag *diag)
{
    double fastest = 0, alone = 0, speed[KVC_CORES_MAX];
    enum kvc_status status = KVC_OK;
    *cores = (struct kvc_cores){.count = count_cores()};
    for (uint32_t core = 0; core < cores->count && status == KVC_OK; core++) {
        status = run(speed_of_bursts, NULL, core, 1, &alone, diag);
        fastest = fmax(fastest, alone);
    }
    if (status == KVC_OK) {
        status = run(speed_of_bursts, NULL, 0, cores->count, speed, diag);
    }
    for (uint32_t core = 0; core < cores->count && status == KVC_OK; core++) {
        cores->speed_frac[core] = fmin(speed[core] / fastest, 1);
    }
    return status;
}

uint32_t kvc_cores_watch(double speed[KVC_CORES_MAX])
{
    struct kvc_diag diag = {0};
    uint32_t count = count_cores();
    return run(speed_of_watch, NULL, 0, count, speed, &diag) == KVC_OK ? count : 0;
}

double kvc_cores_slowest_frac(const struct kvc_cores *cores)
{
    double slowest = 1;
    for (uint32_t core = 0; core < cores->count; core++) {
        slowest = fmin(slowest, cores->speed_frac[core]);
    }
    return slowest;
}

static double read_memory(void *data, uint32_t core)
{
    kvc_memory_watch_read(data, core);
    return 0;
}

void kvc_cores_read_memory(struct kvc_memory_watch *watch)
{
    struct kvc_diag diag = {0};
    double none[KVC_CORES_MAX];
    run(read_memory, watch, 0, watch->cores, none, &diag);
}
