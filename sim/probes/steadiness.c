#include "sim/probes/steadiness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/probes/cores.h"
#include "sim/probes/quiet.h"

enum { STEPS = 2000000, REPETITIONS = 3 };

const double kvc_steadiness_busy_frac = 0.05;

/* Every step needs the result of the one before it and no memory: only the core itself can slow it down. */
static double arithmetic_s(void)
{
    uint64_t value = 1;
    double started_s = kvc_clock_wall_s();
    for (uint32_t i = 0; i < STEPS; i++) {
        value = value * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(value));
    }
    return kvc_clock_wall_s() - started_s;
}

void kvc_steadiness_free(struct kvc_steadiness *steadiness)
{
    kvc_memory_watch_close(&steadiness->memory);
    free(steadiness->speed);
    steadiness->speed = NULL;
}

enum { MEMORY_READINGS = 4096 };

/* Without memory for the buffer, the rates stay unknown. */
static void watch_memory(struct kvc_memory_watch *memory, uint32_t cores)
{
    struct kvc_diag diag = {0};
    if (memory->buffer == NULL && kvc_memory_watch_open(memory, cores, MEMORY_READINGS, &diag) != KVC_OK) {
        kvc_memory_watch_close(memory);
        return;
    }
    kvc_cores_read_memory(memory);
}

void kvc_steadiness_check(struct kvc_steadiness *steadiness)
{
    double seconds = INFINITY, speed[KVC_CORES_MAX];
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        seconds = fmin(seconds, arithmetic_s());
    }
    if (steadiness->checks == 0) {
        steadiness->fastest_s = steadiness->slowest_s = seconds;
    }
    steadiness->fastest_s = fmin(steadiness->fastest_s, seconds);
    steadiness->slowest_s = fmax(steadiness->slowest_s, seconds);
    steadiness->checks++;
    uint32_t cores = kvc_cores_watch(speed);
    if (cores > 0) {
        kvc_steadiness_add_speeds(steadiness, speed, cores);
        watch_memory(&steadiness->memory, cores);
    }
}

void kvc_steadiness_add_speeds(struct kvc_steadiness *steadiness, const double *speed, uint32_t cores)
{
    size_t known = (size_t)steadiness->windows * cores;
    steadiness->cores = cores;
    steadiness->windows++;
    steadiness->speed = kvc_array_grown(steadiness->speed, known + cores, sizeof(*speed));
    memcpy(steadiness->speed + known, speed, cores * sizeof(*speed));
}

double kvc_steadiness_core_speed(const struct kvc_steadiness *steadiness)
{
    struct kvc_core_window *window = kvc_array_of(steadiness->windows + 1, sizeof(*window));
    double sum = 0;
    for (uint32_t core = 0; core < steadiness->cores; core++) {
        for (uint32_t i = 0; i < steadiness->windows; i++) {
            window[i].speed = (float)steadiness->speed[(size_t)i * steadiness->cores + core];
        }
        sum += kvc_quiet_fast_speed(window, steadiness->windows);
    }
    free(window);
    return sum > 0 ? sum / steadiness->cores : NAN;
}

double kvc_steadiness_spread_frac(const struct kvc_steadiness *steadiness)
{
    return steadiness->checks > 1 ? steadiness->slowest_s / steadiness->fastest_s - 1 : 0;
}
