#include "validate/probes/cores.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "sim/base/clock.h"
#include "validate/probes/pin.h"

const double kvc_cores_shared_frac = 0.85;

enum { BURSTS = 20, BURST_STEPS = 60000 }; /* A burst takes about 0.1 ms. */

struct crew {
    uint32_t count;
    atomic_uint arrived;
};

struct member {
    struct crew *crew;
    uint32_t core;
    double burst_s;
    pthread_t thread;
};

/* Six independent chains of arithmetic: about four instructions per clock on today's cores. */
static void burst(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (uint32_t i = 0; i < BURST_STEPS; i++) {
        a += i;
        b ^= i;
        c -= i;
        d += i << 1;
        e ^= i << 2;
        f -= i;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
}

/* Starts once all threads have arrived. The median tells siblings from interruptions: another thread on the
 * core slows some bursts, a busy sibling slows all. */
static void *work(void *data)
{
    struct member *member = data;
    double seconds[BURSTS];
    kvc_pin_core(member->core);
    atomic_fetch_add(&member->crew->arrived, 1);
    while (atomic_load(&member->crew->arrived) < member->crew->count) {
        ;
    }
    for (int i = 0; i < BURSTS; i++) {
        double started_s = kvc_clock_wall_s();
        burst();
        seconds[i] = kvc_clock_wall_s() - started_s;
    }
    gsl_sort(seconds, 1, BURSTS);
    member->burst_s = seconds[BURSTS / 2];
    return NULL;
}

/* Times bursts on the cores first to first + count - 1 at the same time. */
static enum kvc_status run(uint32_t first, uint32_t count, double *burst_s, struct kvc_diag *diag)
{
    struct crew crew = {.count = count};
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
        burst_s[i] = member[i].burst_s;
    }
    return started == count ? KVC_OK
                            : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "a thread for core %u cannot be started",
                                            first + started);
}

enum kvc_status kvc_cores_measure(struct kvc_cores *cores, struct kvc_diag *diag)
{
    double fastest_s = INFINITY, alone_s = INFINITY, burst_s[KVC_CORES_MAX];
    enum kvc_status status = KVC_OK;
    uint32_t count = kvc_pin_cores();
    *cores = (struct kvc_cores){.count = count < KVC_CORES_MAX ? count : KVC_CORES_MAX};
    for (uint32_t core = 0; core < cores->count && status == KVC_OK; core++) {
        status = run(core, 1, &alone_s, diag);
        fastest_s = fmin(fastest_s, alone_s);
    }
    if (status == KVC_OK) {
        status = run(0, cores->count, burst_s, diag);
    }
    for (uint32_t core = 0; core < cores->count && status == KVC_OK; core++) {
        cores->speed_frac[core] = fmin(fastest_s / burst_s[core], 1);
    }
    return status;
}

double kvc_cores_slowest_frac(const struct kvc_cores *cores)
{
    double slowest = 1;
    for (uint32_t core = 0; core < cores->count; core++) {
        slowest = fmin(slowest, cores->speed_frac[core]);
    }
    return slowest;
}
