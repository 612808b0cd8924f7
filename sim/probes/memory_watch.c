#include "sim/probes/memory_watch.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernels/pages.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

/* Lines of a reading: about 0.3 ms of each kind on a core that the memory serves at 100 ns, or 8 lines at
 * once.
 */
enum { LINE_BYTES = 64, INDEPENDENT = 16384, DEPENDENT = 2048, IN_ORDER = 32768, LINES_AT_ONCE = 256 };

/* Most time for one kind of lines, on a slow machine [s]. */
static const double part_s = 0.5e-3;

const uint64_t kvc_memory_watch_bytes = UINT64_C(512) << 20;

enum kvc_status kvc_memory_watch_open(struct kvc_memory_watch *watch, uint32_t cores, uint32_t room,
                                      struct kvc_diag *diag)
{
    *watch = (struct kvc_memory_watch){.cores = cores, .room = room};
    watch->count = kvc_array_of(cores, sizeof(*watch->count));
    watch->rates = kvc_array_of((size_t)cores * room, sizeof(*watch->rates));
    /* A system that has no huge page left gives small ones, on which random lines take up to three times as
     * long. */
    watch->buffer = kvc_pages_alloc_sparse(kvc_memory_watch_bytes);
    if (watch->buffer == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "no memory for a buffer of %llu MiB that watches the memory",
                             (unsigned long long)(kvc_memory_watch_bytes >> 20));
    }
    kvc_pages_touch(watch->buffer, kvc_memory_watch_bytes);
    return KVC_OK;
}

void kvc_memory_watch_close(struct kvc_memory_watch *watch)
{
    if (watch->buffer != NULL) {
        kvc_pages_free(watch->buffer, kvc_memory_watch_bytes);
    }
    free(watch->count);
    free(watch->rates);
    *watch = (struct kvc_memory_watch){.buffer = NULL};
}

/* Returns a line that depends on `key`. */
static const uint64_t *line_of(const struct kvc_memory_watch *watch, uint64_t key)
{
    uint64_t lines = kvc_memory_watch_bytes / LINE_BYTES;
    uint64_t line = (uint64_t)(((unsigned __int128)kvc_mix64(key) * lines) >> 64);
    return (const uint64_t *)(const void *)(watch->buffer + line * LINE_BYTES);
}

/* What a reading does to one line after another. */
struct reading {
    const struct kvc_memory_watch *watch;
    uint64_t first, sum; /* All words are 0, which the processor does not know. */
    const uint64_t *word;
};

static void read_independent(struct reading *reading, uint32_t i)
{
    reading->sum += *line_of(reading->watch, reading->first + i);
}

static void read_dependent(struct reading *reading, uint32_t i)
{
    reading->sum += *line_of(reading->watch, ~reading->first - i + reading->sum);
}

static void read_in_order(struct reading *reading, uint32_t i)
{
    const uint8_t *buffer = reading->watch->buffer;
    const uint64_t *word = reading->word, *next = word + LINE_BYTES / 8;
    (void)i;
    for (int w = 0; w < LINE_BYTES / 8; w++) {
        reading->sum += word[w];
    }
    reading->word =
        (const uint8_t *)next < buffer + kvc_memory_watch_bytes ? next : line_of(reading->watch, 0);
}

/* Reads up to `lines` lines, for as long as a part of a reading may take. Returns the time of a line [ns]. */
static inline double time_lines(struct reading *reading, void (*read)(struct reading *, uint32_t),
                                uint32_t lines)
{
    double started_s = kvc_clock_wall_s(), now_s = started_s;
    uint32_t done = 0;
    while (done < lines && now_s - started_s < part_s) {
        for (uint32_t i = 0; i < LINES_AT_ONCE; i++) {
            read(reading, done + i);
        }
        __asm__ volatile("" : "+r"(reading->sum));
        done += LINES_AT_ONCE;
        now_s = kvc_clock_wall_s();
    }
    return (now_s - started_s) * 1e9 / done;
}

void kvc_memory_watch_read(struct kvc_memory_watch *watch, uint32_t core)
{
    uint32_t number = watch->count[core];
    if (number == watch->room) {
        return;
    }
    struct kvc_memory_rates *rates = &watch->rates[(size_t)core * watch->room + number];
    struct reading reading = {.watch = watch, .first = ((uint64_t)core << 48) + ((uint64_t)number << 24)};
    reading.word = line_of(watch, reading.first);
    rates->line_ns = time_lines(&reading, read_independent, INDEPENDENT);
    rates->latency_ns = time_lines(&reading, read_dependent, DEPENDENT);
    rates->bytes_per_s = LINE_BYTES * 1e9 / time_lines(&reading, read_in_order, IN_ORDER);
    watch->count[core]++;
}

/* Returns the mean over the cores of the medians of a rate, which lies `offset` bytes within a reading. */
static double mean_of_medians(const struct kvc_memory_watch *watch, size_t offset)
{
    double sum = 0, *values = kvc_array_of(watch->room + 1, sizeof(*values));
    for (uint32_t core = 0; core < watch->cores; core++) {
        for (uint32_t i = 0; i < watch->count[core]; i++) {
            const struct kvc_memory_rates *rates = &watch->rates[(size_t)core * watch->room + i];
            values[i] = *(const double *)(const void *)((const char *)rates + offset);
        }
        sum += watch->count[core] > 0 ? gsl_stats_median(values, 1, watch->count[core]) : NAN;
    }
    free(values);
    return sum / watch->cores;
}

struct kvc_memory_rates kvc_memory_watch_rates(const struct kvc_memory_watch *watch)
{
    return (struct kvc_memory_rates){
        .line_ns = mean_of_medians(watch, offsetof(struct kvc_memory_rates, line_ns)),
        .latency_ns = mean_of_medians(watch, offsetof(struct kvc_memory_rates, latency_ns)),
        .bytes_per_s = mean_of_medians(watch, offsetof(struct kvc_memory_rates, bytes_per_s))};
}
