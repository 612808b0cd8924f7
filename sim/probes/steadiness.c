#include "sim/probes/steadiness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/probes/cores.h"
#include "sim/probes/quiet.h"

enum { STEPS = 2000000, REPETITIONS = 3 };

const double kvc_steadiness_busy_frac = 0.05;

/* Random lines that take this many times as long are in no state of the machine: the slowest state that was
 * seen on a quiet one took 2.4 times as long as the fastest (two cores of an AMD EPYC, 27 November 2026). */
static const double disturbed_ratio = 3;

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

/* Readings of the memory that fit, and those that the reference is taken from. */
enum { MEMORY_READINGS = 1 << 15, FIRST_READINGS = 100 };

static const struct timespec readings_apart = {0, 20000000};

struct reader {
    struct kvc_memory_watch *memory;
    uint32_t core;
};

static void read_core(void *data)
{
    const struct reader *reader = data;
    kvc_memory_watch_read(reader->memory, reader->core);
}

static void read_memory(struct kvc_memory_watch *memory, struct kvc_thread_pool *pool)
{
    if (pool == NULL) {
        kvc_cores_read_memory(memory);
        return;
    }
    struct reader reader[KVC_CORES_MAX];
    struct kvc_thread_pool_task task[KVC_CORES_MAX];
    uint32_t awake = kvc_thread_pool_awake(pool);
    for (uint32_t core = 0; core < memory->cores; core++) {
        reader[core] = (struct reader){memory, core};
        task[core] = (struct kvc_thread_pool_task){.fn = read_core, .data = &reader[core], .core = core};
        if (core >= awake) {
            kvc_memory_watch_skip(memory, core);
        }
    }
    kvc_thread_pool_run(pool, task, awake < memory->cores ? awake : memory->cores);
}

/* Prepares the watch and finds the reference. Without memory for its buffer, both stay unknown. */
static void begin_watch(struct kvc_steadiness *steadiness)
{
    struct kvc_diag diag = {0};
    double speed[KVC_CORES_MAX];
    struct kvc_memory_watch *memory = &steadiness->memory;
    steadiness->reference.line_ns = NAN;
    if (kvc_memory_watch_open(memory, kvc_cores_watch(speed), MEMORY_READINGS, &diag) != KVC_OK) {
        kvc_memory_watch_close(memory);
        return;
    }
    for (int i = 0; i < FIRST_READINGS; i++) {
        kvc_cores_read_memory(memory);
        nanosleep(&readings_apart, NULL);
    }
    steadiness->reference = kvc_memory_watch_fast(memory);
}

int64_t kvc_steadiness_read_memory(struct kvc_steadiness *steadiness, struct kvc_thread_pool *pool)
{
    struct kvc_memory_watch *memory = &steadiness->memory;
    if (steadiness->reference.line_ns == 0) {
        begin_watch(steadiness);
    }
    if (isnan(steadiness->reference.line_ns) || memory->count[0] == memory->room) {
        return -1;
    }
    read_memory(memory, pool);
    return memory->count[0] - 1;
}

/* Returns rates i < 2 cores of two readings, one core after another; NULL if the readings are not known. */
static const struct kvc_memory_rates *rates_at(const struct kvc_steadiness *steadiness,
                                               const int64_t reading[2], uint32_t i)
{
    const struct kvc_memory_watch *memory = &steadiness->memory;
    return reading[0] < 0 || reading[1] < 0 || i >= 2 * memory->cores
               ? NULL
               : &memory->rates[(size_t)(i / 2) * memory->room + (size_t)reading[i % 2]];
}

bool kvc_steadiness_disturbed(struct kvc_steadiness *steadiness, const int64_t reading[2], double lost_s)
{
    const struct kvc_memory_rates *rates;
    double slowest_ns = 0;
    for (uint32_t i = 0; (rates = rates_at(steadiness, reading, i)) != NULL; i++) {
        slowest_ns = fmax(slowest_ns, rates->line_ns);
    }
    if (!(slowest_ns > disturbed_ratio * steadiness->reference.line_ns) || steadiness->endurance_s <= 0) {
        return false;
    }
    nanosleep(&readings_apart, NULL);
    steadiness->endurance_s -= lost_s + (double)readings_apart.tv_nsec * 1e-9;
    return true;
}

void kvc_steadiness_settle(struct kvc_steadiness *steadiness)
{
    const struct kvc_memory_watch *memory = &steadiness->memory;
    if (steadiness->reference.line_ns > 0) {
        bool *usual = kvc_array_of(memory->room + 1, sizeof(*usual));
        kvc_memory_watch_usual(memory, KVC_MEMORY_STATE, usual);
        steadiness->reference = kvc_memory_watch_rates(memory, usual);
        free(usual);
    }
}

double kvc_steadiness_distance(const struct kvc_steadiness *steadiness, const int64_t reading[2])
{
    const struct kvc_memory_rates *rates, *reference = &steadiness->reference;
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; (rates = rates_at(steadiness, reading, i)) != NULL; i++) {
        double line = fabs(log(rates->line_ns / reference->line_ns)),
               handoff = fabs(log(rates->handoff_ns / reference->handoff_ns)),
               step = log(rates->step_ns / reference->step_ns);
        sum += rates->line_ns > 0 ? fmax(fmax(line, handoff), step) : 0; /* fmax ignores NaN. */
        known += rates->line_ns > 0;
    }
    return known > 0 ? sum / known : 0;
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
