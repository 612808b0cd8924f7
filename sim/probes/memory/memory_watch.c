#include "sim/probes/memory/memory_watch.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/probes/core_watch.h"

/* Lines of a reading: about 0.3 ms of each kind on a core that the memory serves at 100 ns, or 8 lines at
 * once.
 */
enum {
    LINE_BYTES = 64,
    INDEPENDENT = 16384,
    PREFETCHED = 65536,
    DEPENDENT = 2048,
    IN_ORDER = 32768,
    LINES_AT_ONCE = 256
};

/* Times that a reading hands a line over and back, and looks at it before it looks at the clock; steps of
 * arithmetic. */
enum { HANDOFFS = 200, LOOKS = 64, STEPS = 3000 };

/* Time after which a reading stops with one kind of lines, but not before a few pieces of it [s]. */
static const double part_s = 0.5e-3;

/* Pieces of a reading, of which the median counts, so that one with a preemption does not decide. */
enum { PIECES_MIN = 3, PIECES_MAX = PREFETCHED / LINES_AT_ONCE };

/* Most time for the handoffs, whose threads do not begin together [s]. */
static const double handoffs_s = 2e-3;

/* Times of the same state of a machine differ by less than this factor. */
static const double alike_ratio = 1.25;

/* One core of this many may be different in the same state. */
enum { DIFFERENT_PER = 4 };

struct kvc_memory_baton {
    _Alignas(64) atomic_ullong handoffs; /* Handoffs of all readings. */
};

const uint64_t kvc_memory_watch_bytes = UINT64_C(512) << 20;

enum kvc_status kvc_memory_watch_open(struct kvc_memory_watch *watch, uint32_t cores, uint32_t room,
                                      struct kvc_diag *diag)
{
    *watch = (struct kvc_memory_watch){.cores = cores, .room = room};
    watch->count = kvc_array_of(cores, sizeof(*watch->count));
    watch->rates = kvc_array_of((size_t)cores * room, sizeof(*watch->rates));
    watch->baton = aligned_alloc(64, (cores / 2 + 1) * sizeof(*watch->baton));
    /* A system that has no huge page left gives small ones, on which random lines take up to three times as
     * long. */
    watch->buffer = kvc_pages_alloc_sparse(kvc_memory_watch_bytes);
    if (watch->buffer == NULL || watch->baton == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "no memory for a buffer of %llu MiB that watches the memory",
                             (unsigned long long)(kvc_memory_watch_bytes >> 20));
    }
    kvc_pages_touch(watch->buffer, kvc_memory_watch_bytes);
    for (uint32_t i = 0; i <= cores / 2; i++) {
        atomic_init(&watch->baton[i].handoffs, 0);
    }
    return KVC_OK;
}

void kvc_memory_watch_close(struct kvc_memory_watch *watch)
{
    if (watch->buffer != NULL) {
        kvc_pages_free(watch->buffer, kvc_memory_watch_bytes);
    }
    free(watch->count);
    free(watch->rates);
    free(watch->baton);
    *watch = (struct kvc_memory_watch){.buffer = NULL};
}

/* What a reading does to one line after another. */
struct reading {
    const uint8_t *buffer;
    uint64_t bytes;
    uint64_t first, sum; /* All words are 0, which the processor does not know. */
    const uint64_t *word;
};

/* Returns a line that depends on `key`. */
static const uint64_t *line_of(const struct reading *reading, uint64_t key)
{
    uint64_t lines = reading->bytes / LINE_BYTES;
    uint64_t line = (uint64_t)(((unsigned __int128)kvc_mix64(key) * lines) >> 64);
    return (const uint64_t *)(const void *)(reading->buffer + line * LINE_BYTES);
}

static void read_independent(struct reading *reading, uint32_t i)
{
    reading->sum += *line_of(reading, reading->first + i);
}

/* Reads lines in chunks that are prefetched before. */
static void read_prefetched(struct reading *reading, uint32_t i)
{
    for (uint32_t ahead = 0; i % LINES_AT_ONCE == 0 && ahead < LINES_AT_ONCE; ahead++) {
        __builtin_prefetch(line_of(reading, reading->first + i + ahead), 0, 2);
    }
    read_independent(reading, i);
}

static void read_dependent(struct reading *reading, uint32_t i)
{
    reading->sum += *line_of(reading, ~reading->first - i + reading->sum);
}

static void read_in_order(struct reading *reading, uint32_t i)
{
    const uint64_t *word = reading->word, *next = word + LINE_BYTES / 8;
    (void)i;
    for (int w = 0; w < LINE_BYTES / 8; w++) {
        reading->sum += word[w];
    }
    reading->word = (const uint8_t *)next < reading->buffer + reading->bytes ? next : line_of(reading, 0);
}

/* Reads up to `lines` lines, for as long as a part of a reading may take. Returns the time of a line [ns] in
 * the median of its pieces, since a piece during which the thread waited for its core takes thousands of
 * times as long. */
static inline double time_lines(struct reading *reading, void (*read)(struct reading *, uint32_t),
                                uint32_t lines)
{
    double piece_s[PIECES_MAX];
    double started_s = kvc_clock_wall_s(), now_s = started_s;
    uint32_t pieces = 0;
    while (pieces * LINES_AT_ONCE < lines && (pieces < PIECES_MIN || now_s - started_s < part_s)) {
        double before_s = now_s;
        for (uint32_t i = 0; i < LINES_AT_ONCE; i++) {
            read(reading, pieces * LINES_AT_ONCE + i);
        }
        __asm__ volatile("" : "+r"(reading->sum));
        now_s = kvc_clock_wall_s();
        piece_s[pieces++] = now_s - before_s;
    }
    return gsl_stats_median(piece_s, 1, pieces) * 1e9 / LINES_AT_ONCE;
}

double kvc_memory_prefetched_ns(const uint8_t *buffer, uint64_t bytes, uint64_t first)
{
    struct reading reading = {.buffer = buffer, .bytes = bytes, .first = first};
    return time_lines(&reading, read_prefetched, PREFETCHED);
}

double kvc_memory_latency_ns(const uint8_t *buffer, uint64_t bytes, uint64_t first)
{
    struct reading reading = {.buffer = buffer, .bytes = bytes, .first = first};
    return time_lines(&reading, read_dependent, DEPENDENT);
}

/* Waits for as many handoffs of a line. Returns false if they have not come by until_s. */
static bool await_handoffs(struct kvc_memory_baton *baton, uint64_t handoffs, double until_s)
{
    for (uint32_t look = 1; atomic_load_explicit(&baton->handoffs, memory_order_acquire) != handoffs;
         look++) {
        if (look % LOOKS == 0 && kvc_clock_wall_s() > until_s) {
            return false;
        }
    }
    return true;
}

/* Hands a line to the neighbour of a core and back. Returns the time of a handoff [ns], or NaN if the core
 * has no neighbour or the neighbour does not come. */
static double time_handoffs(struct kvc_memory_watch *watch, uint32_t core, uint32_t number)
{
    struct kvc_memory_baton *baton = &watch->baton[core / 2];
    uint64_t first = number * UINT64_C(2) * HANDOFFS + 1; /* The even core begins. */
    double started_s = 0, until_s = kvc_clock_wall_s() + handoffs_s;
    if ((core ^ 1) >= watch->cores) {
        return NAN;
    }
    for (uint64_t i = core % 2; i < UINT64_C(2) * HANDOFFS; i += 2) {
        if (i > 0 && !await_handoffs(baton, first + i - 1, until_s)) {
            return NAN;
        }
        started_s = i < 2 ? kvc_clock_wall_s() : started_s;
        atomic_store_explicit(&baton->handoffs, first + i, memory_order_release);
    }
    return (kvc_clock_wall_s() - started_s) * 1e9 / (2 * HANDOFFS - 1);
}

void kvc_memory_watch_read(struct kvc_memory_watch *watch, uint32_t core)
{
    uint32_t number = watch->count[core];
    if (number == watch->room) {
        return;
    }
    struct kvc_memory_rates *rates = &watch->rates[(size_t)core * watch->room + number];
    struct reading reading = {.buffer = watch->buffer,
                              .bytes = kvc_memory_watch_bytes,
                              .first = ((uint64_t)core << 48) + ((uint64_t)number << 24)};
    reading.word = line_of(&reading, reading.first);
    rates->handoff_ns = time_handoffs(watch, core, number);
    rates->line_ns = time_lines(&reading, read_independent, INDEPENDENT);
    rates->latency_ns = time_lines(&reading, read_dependent, DEPENDENT);
    rates->bytes_per_s = LINE_BYTES * 1e9 / time_lines(&reading, read_in_order, IN_ORDER);
    rates->step_ns = 1 / kvc_speed_measure(STEPS);
    watch->count[core]++;
}

void kvc_memory_watch_skip(struct kvc_memory_watch *watch, uint32_t core)
{
    if (watch->count[core] < watch->room) {
        watch->rates[(size_t)core * watch->room + watch->count[core]++] =
            (struct kvc_memory_rates){NAN, NAN, NAN, NAN, NAN};
    }
}

/* Returns a rate of a reading, which lies `offset` bytes within it. */
static double rate_of(const struct kvc_memory_watch *watch, uint32_t core, uint32_t number, size_t offset)
{
    const struct kvc_memory_rates *rates = &watch->rates[(size_t)core * watch->room + number];
    return *(const double *)(const void *)((const char *)rates + offset);
}

/* Returns the readings that all cores have taken. */
static uint32_t readings_of(const struct kvc_memory_watch *watch)
{
    uint32_t count = watch->room;
    for (uint32_t core = 0; core < watch->cores; core++) {
        count = watch->count[core] < count ? watch->count[core] : count;
    }
    return count;
}

/* Returns whether two times are alike, or one is not known. */
static bool alike(double a, double b)
{
    return !(a > alike_ratio * b) && !(b > alike_ratio * a);
}

/* Returns whether two readings resemble each other. What is not known does not count. */
static bool resemble(const struct kvc_memory_watch *watch, enum kvc_memory_state state, uint32_t a,
                     uint32_t b)
{
    uint32_t different = 0;
    for (uint32_t core = 0; core < watch->cores; core++) {
        const struct kvc_memory_rates *of = &watch->rates[(size_t)core * watch->room];
        different += ((state & KVC_MEMORY_LINES) != 0 && !alike(of[a].line_ns, of[b].line_ns)) ||
                     ((state & KVC_MEMORY_HANDOFFS) != 0 && !alike(of[a].handoff_ns, of[b].handoff_ns));
    }
    return different <= watch->cores / DIFFERENT_PER;
}

void kvc_memory_watch_usual(const struct kvc_memory_watch *watch, enum kvc_memory_state state, bool *usual)
{
    uint32_t readings = readings_of(watch), most = 0, commonest = 0;
    for (uint32_t i = 0; i < readings; i++) {
        uint32_t count = 0;
        for (uint32_t j = 0; j < readings; j++) {
            count += resemble(watch, state, i, j);
        }
        commonest = count > most ? i : commonest;
        most = count > most ? count : most;
    }
    for (uint32_t i = 0; i < watch->room; i++) {
        usual[i] = i < readings && resemble(watch, state, i, commonest);
    }
}

/* Returns the median of a core's rate over usual readings; NaN if it is not known. */
static double median_of(const struct kvc_memory_watch *watch, const bool *usual, uint32_t core, size_t offset)
{
    uint32_t count = 0, readings = readings_of(watch);
    double *values = kvc_array_of(readings + 1, sizeof(*values));
    for (uint32_t i = 0; i < readings; i++) {
        values[count] = rate_of(watch, core, i, offset);
        count += usual[i] && values[count] > 0;
    }
    double median = count > 0 ? gsl_stats_median(values, 1, count) : NAN;
    free(values);
    return median;
}

static double mean_of_medians(const struct kvc_memory_watch *watch, const bool *usual, size_t offset)
{
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t core = 0; core < watch->cores; core++) {
        double median = median_of(watch, usual, core, offset);
        sum += median > 0 ? median : 0;
        known += median > 0;
    }
    return known > 0 ? sum / known : NAN;
}

double kvc_memory_watch_line_ns(const struct kvc_memory_watch *watch, const bool *usual, uint32_t core)
{
    return median_of(watch, usual, core, offsetof(struct kvc_memory_rates, line_ns));
}

/* Returns the lower quartile of a rate over all cores and readings. */
static double lower_quartile(const struct kvc_memory_watch *watch, size_t offset)
{
    size_t known = 0, readings = readings_of(watch);
    double *sorted = kvc_array_of(readings * watch->cores + 1, sizeof(*sorted));
    for (size_t i = 0; i < readings * watch->cores; i++) {
        sorted[known] = rate_of(watch, (uint32_t)(i % watch->cores), (uint32_t)(i / watch->cores), offset);
        known += sorted[known] > 0;
    }
    gsl_sort(sorted, 1, known);
    double quartile = known > 0 ? gsl_stats_quantile_from_sorted_data(sorted, 1, known, 0.25) : NAN;
    free(sorted);
    return quartile;
}

struct kvc_memory_rates kvc_memory_watch_fast(const struct kvc_memory_watch *watch)
{
    return (struct kvc_memory_rates){
        .line_ns = lower_quartile(watch, offsetof(struct kvc_memory_rates, line_ns)),
        .latency_ns = lower_quartile(watch, offsetof(struct kvc_memory_rates, latency_ns)),
        .bytes_per_s = NAN,
        .handoff_ns = lower_quartile(watch, offsetof(struct kvc_memory_rates, handoff_ns)),
        .step_ns = lower_quartile(watch, offsetof(struct kvc_memory_rates, step_ns))};
}

struct kvc_memory_rates kvc_memory_watch_rates(const struct kvc_memory_watch *watch, const bool *usual)
{
    return (struct kvc_memory_rates){
        .line_ns = mean_of_medians(watch, usual, offsetof(struct kvc_memory_rates, line_ns)),
        .latency_ns = mean_of_medians(watch, usual, offsetof(struct kvc_memory_rates, latency_ns)),
        .bytes_per_s = mean_of_medians(watch, usual, offsetof(struct kvc_memory_rates, bytes_per_s)),
        .handoff_ns = mean_of_medians(watch, usual, offsetof(struct kvc_memory_rates, handoff_ns)),
        .step_ns = mean_of_medians(watch, usual, offsetof(struct kvc_memory_rates, step_ns))};
}
