#include "sim/probes/core_watch.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/clock.h"

/* Times shorter than the clock's own resolution cannot be told from 0 [s]. */
static const double least_s = 1e-9;

/* Six independent chains of arithmetic: about four instructions per clock on today's cores. */
double kvc_speed_measure(uint32_t steps)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < steps; i++) {
        a += i;
        b ^= i;
        c -= i;
        d += i << 1;
        e ^= i << 2;
        f -= i;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
    return steps / fmax(kvc_clock_wall_s() - started_s, least_s) * 1e-9;
}

enum { PROBE_STEPS = 3000 };

static const double read_every_s = 1e-3, probe_every_s = 2e-3;

/* An idle thread asks for work all the time. A longer pause between two questions means that it was kept from
 * running. Short pauses count too, because they stand for those that working threads do not notice. */
static const double gap_least_s = 20e-6;

enum kvc_status kvc_core_watch_open(struct kvc_core_watch *watch, double from_s, uint32_t room,
                                    struct kvc_diag *diag)
{
    *watch = (struct kvc_core_watch){
        .from_s = from_s, .room = room, .window = calloc(room, sizeof(*watch->window))};
    return watch->window != NULL
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to watch a core for %u windows", room);
}

void kvc_core_watch_close(struct kvc_core_watch *watch)
{
    free(watch->window);
    watch->window = NULL;
}

void kvc_core_watch_begin(struct kvc_core_watch *watch)
{
    kvc_lost_begin(&watch->read);
    watch->probe_s = watch->due_s = watch->read.wall_s;
}

/* Returns the window of a time; below 0 before the first one. */
static double window_at(const struct kvc_core_watch *watch, double time_s)
{
    return floor((time_s - watch->from_s) * 1e9 / kvc_quiet_window_ns);
}

/* Charges a pause of `paused_s` somewhere in began_s .. ended_s to all windows that it may have been in. */
static void charge(struct kvc_core_watch *watch, double began_s, double ended_s, double paused_s, bool gap)
{
    double last = fmin(window_at(watch, ended_s), watch->room - 1.0);
    for (double i = fmax(window_at(watch, began_s), 0); i <= last; i++) {
        double start_s = watch->from_s + i * kvc_quiet_window_ns * 1e-9;
        double end_s = start_s + kvc_quiet_window_ns * 1e-9;
        double overlap_s = fmin(ended_s, end_s) - fmax(began_s, start_s);
        struct kvc_core_window *window = &watch->window[(uint32_t)i];
        float *sum_ns = gap ? &window->gaps_ns : &window->lost_ns;
        *sum_ns += (float)(1e9 * fmin(paused_s, overlap_s));
    }
}

/* Counts a stall that ended at a time. */
static void count_stall(struct kvc_core_watch *watch, double ended_s, double stalled_s)
{
    int kind = 0;
    for (double most_s = 4 * gap_least_s; kind + 1 < KVC_STALL_KINDS && stalled_s > most_s; most_s *= 4) {
        kind++;
    }
    if (stalled_s >= gap_least_s && window_at(watch, ended_s) >= 0) {
        watch->stalls.count[kind]++;
        watch->stalls.sum_ns[kind] += stalled_s * 1e9;
    }
}

/* The clocks also show the pauses that an idle thread has noticed itself. */
static void compare_clocks(struct kvc_core_watch *watch)
{
    double lost_s = kvc_lost_s(&watch->read), read_s = watch->read.wall_s;
    kvc_lost_begin(&watch->read);
    if (lost_s > 0) {
        charge(watch, read_s, watch->read.wall_s, lost_s, false);
    }
    count_stall(watch, watch->read.wall_s, lost_s - watch->gaps_s);
    watch->gaps_s = 0;
}

static void finish_window(struct kvc_core_watch *watch, uint32_t done, uint32_t passed)
{
    if (watch->probes > 0 && done < watch->room) {
        gsl_sort(watch->speed, 1, watch->probes);
        watch->window[done].speed = (float)watch->speed[watch->probes / 2];
    }
    watch->probes = 0;
    atomic_store_explicit(&watch->done, passed, memory_order_release);
}

uint32_t kvc_core_watch_tick(struct kvc_core_watch *watch, double now_s, bool idle)
{
    uint32_t done = atomic_load_explicit(&watch->done, memory_order_relaxed);
    if (idle && watch->idle_s > 0 && now_s - watch->idle_s >= gap_least_s) {
        charge(watch, watch->idle_s, now_s, now_s - watch->idle_s, true);
        count_stall(watch, now_s, now_s - watch->idle_s);
        watch->gaps_s += now_s - watch->idle_s;
    }
    watch->idle_s = idle ? now_s : 0;
    if (now_s < watch->due_s) {
        return done;
    }
    compare_clocks(watch);
    double passed = fmin(window_at(watch, watch->read.wall_s), watch->room);
    if (passed > done) {
        finish_window(watch, done, (uint32_t)passed);
        done = (uint32_t)passed;
    }
    if (now_s >= watch->probe_s && passed >= 0 && watch->probes < KVC_CORE_WATCH_PROBES) {
        watch->speed[watch->probes++] = kvc_speed_measure(PROBE_STEPS);
        watch->probe_s = now_s + probe_every_s;
    }
    watch->due_s = fmin(now_s + read_every_s, watch->from_s + (done + 1) * kvc_quiet_window_ns * 1e-9);
    watch->idle_s = idle ? kvc_clock_wall_s() : 0; /* The watch's own work is no pause. */
    return done;
}
