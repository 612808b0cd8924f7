#include "sim/metrics/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUB = 1 << KVC_HISTOGRAM_SUB_BITS,
    DROPPED_BITS = 52 - KVC_HISTOGRAM_SUB_BITS,   /* Bits of a double's mantissa that a slot ignores. */
    SLOT_OF_ONE = 1023 << KVC_HISTOGRAM_SUB_BITS, /* The exponent of a double is biased by 1023. */
    PERCENTILE_TICKS = 5,                         /* Lines of .hgrm each time the distance to 100 % halves. */
    LANES = 4,
};

#define LIMIT_NS 0x1p40
#define MOST_NS 0x1.fffffffffffffp39 /* The largest double below the limit. */
_Static_assert(KVC_HISTOGRAM_MAX_BITS == 40, "LIMIT_NS is 2^KVC_HISTOGRAM_MAX_BITS");

/* The exponent and the top bits of the mantissa determine the slot, so a shift of a double gives its slot. */
static uint32_t slot_of(double value_ns)
{
    uint64_t bits;
    memcpy(&bits, &value_ns, sizeof(bits));
    return (uint32_t)(bits >> DROPPED_BITS) - SLOT_OF_ONE;
}

static double slot_low_ns(uint32_t slot)
{
    uint64_t bits = (uint64_t)(slot + SLOT_OF_ONE) << DROPPED_BITS;
    double low_ns;
    memcpy(&low_ns, &bits, sizeof(low_ns));
    return low_ns;
}

/* Returns the middle of a slot, which represents its values. */
static double slot_value_ns(uint32_t slot)
{
    return (slot_low_ns(slot) + slot_low_ns(slot + 1)) / 2;
}

/* Returns the slot that a value is recorded in. */
static inline uint32_t recorded_slot(double value_ns)
{
    double kept_ns = value_ns < MOST_NS ? value_ns : MOST_NS;
    return slot_of(kept_ns > 1 ? kept_ns : 1);
}

/* Only slots between the smallest and the largest value have been written. */
void kvc_histogram_reset(struct kvc_histogram *histogram)
{
    if (histogram->count > 0) {
        uint32_t first = recorded_slot(histogram->min_ns), last = recorded_slot(histogram->max_ns);
        memset(&histogram->slot[first], 0, (last + 1 - first) * sizeof(*histogram->slot));
    }
    histogram->count = histogram->clipped = 0;
    histogram->sum_ns = histogram->min_ns = histogram->max_ns = 0;
}

/* Sum, minimum and maximum, which are exact. Four independent lanes avoid waiting for each addition. */
struct exact {
    double sum_ns[LANES], low_ns[LANES], high_ns[LANES];
};

static void take_exact(struct kvc_histogram *histogram, const struct exact *exact, uint32_t count)
{
    if (histogram->count == 0) {
        histogram->min_ns = INFINITY;
        histogram->max_ns = -INFINITY;
    }
    for (int lane = 0; lane < LANES; lane++) {
        histogram->sum_ns += exact->sum_ns[lane];
        histogram->min_ns = fmin(histogram->min_ns, exact->low_ns[lane]);
        histogram->max_ns = fmax(histogram->max_ns, exact->high_ns[lane]);
    }
    histogram->count += count;
}

static inline void record_one(struct kvc_histogram *histogram, struct exact *exact, int lane, double value_ns)
{
    exact->sum_ns[lane] += value_ns;
    exact->low_ns[lane] = value_ns < exact->low_ns[lane] ? value_ns : exact->low_ns[lane];
    exact->high_ns[lane] = value_ns > exact->high_ns[lane] ? value_ns : exact->high_ns[lane];
    histogram->clipped += value_ns > LIMIT_NS;
    histogram->slot[recorded_slot(value_ns)]++;
}

void kvc_histogram_record(struct kvc_histogram *histogram, const double *sent_ns, const double *done_ns,
                          uint32_t count)
{
    struct exact exact;
    uint32_t i = 0;
    if (count == 0) {
        return;
    }
    for (int lane = 0; lane < LANES; lane++) {
        exact.sum_ns[lane] = 0;
        exact.low_ns[lane] = INFINITY;
        exact.high_ns[lane] = -INFINITY;
    }
    for (; i + LANES <= count; i += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            record_one(histogram, &exact, lane, done_ns[i + lane] - sent_ns[i + lane]);
        }
    }
    for (; i < count; i++) {
        record_one(histogram, &exact, 0, done_ns[i] - sent_ns[i]);
    }
    take_exact(histogram, &exact, count);
}

void kvc_histogram_add(struct kvc_histogram *sum, const struct kvc_histogram *other)
{
    if (other->count == 0) {
        return;
    }
    if (sum->count == 0 || other->min_ns < sum->min_ns) {
        sum->min_ns = other->min_ns;
    }
    if (sum->count == 0 || other->max_ns > sum->max_ns) {
        sum->max_ns = other->max_ns;
    }
    sum->count += other->count;
    sum->clipped += other->clipped;
    sum->sum_ns += other->sum_ns;
    for (uint32_t i = recorded_slot(other->min_ns), last = recorded_slot(other->max_ns); i <= last; i++) {
        sum->slot[i] += other->slot[i];
    }
}

bool kvc_histogram_take(struct kvc_histogram *histogram, struct kvc_histogram_pack *pack)
{
    *pack = (struct kvc_histogram_pack){.count = histogram->count};
    if (histogram->count == 0) {
        return true;
    }
    pack->clipped = histogram->clipped;
    pack->sum_ns = histogram->sum_ns;
    pack->min_ns = histogram->min_ns;
    pack->max_ns = histogram->max_ns;
    pack->first = recorded_slot(histogram->min_ns);
    pack->slots = recorded_slot(histogram->max_ns) + 1 - pack->first;
    pack->slot = malloc(pack->slots * sizeof(*pack->slot));
    const uint64_t *from = &histogram->slot[pack->first];
    for (uint32_t i = 0; pack->slot != NULL && i < pack->slots; i++) {
        pack->slot[i] = (uint32_t)from[i];
    }
    kvc_histogram_reset(histogram);
    if (pack->slot == NULL) {
        *pack = (struct kvc_histogram_pack){.count = 0};
        return false;
    }
    return true;
}

void kvc_histogram_add_pack(struct kvc_histogram *sum, const struct kvc_histogram_pack *pack)
{
    if (pack->count == 0) {
        return;
    }
    sum->min_ns = sum->count == 0 ? pack->min_ns : fmin(sum->min_ns, pack->min_ns);
    sum->max_ns = sum->count == 0 ? pack->max_ns : fmax(sum->max_ns, pack->max_ns);
    sum->count += pack->count;
    sum->clipped += pack->clipped;
    sum->sum_ns += pack->sum_ns;
    for (uint32_t i = 0; i < pack->slots; i++) {
        sum->slot[pack->first + i] += pack->slot[i];
    }
}

double kvc_histogram_slot_ns(uint32_t slot)
{
    return slot_value_ns(slot);
}

double kvc_histogram_mean_ns(const struct kvc_histogram *histogram)
{
    return histogram->count > 0 ? histogram->sum_ns / (double)histogram->count : NAN;
}

/* Returns the value that represents a slot, limited to the recorded range. */
static double bounded_ns(const struct kvc_histogram *histogram, uint32_t slot)
{
    return fmax(fmin(slot_value_ns(slot), histogram->max_ns), histogram->min_ns);
}

double kvc_histogram_percentile_ns(const struct kvc_histogram *histogram, double p)
{
    if (histogram->count == 0) {
        return NAN;
    }
    double wanted = fmax(ceil(p * (double)histogram->count - 1e-9), 1);
    uint64_t seen = 0;
    for (uint32_t slot = recorded_slot(histogram->min_ns); slot < KVC_HISTOGRAM_SLOTS; slot++) {
        seen += histogram->slot[slot];
        if ((double)seen >= wanted) {
            return bounded_ns(histogram, slot);
        }
    }
    return histogram->max_ns;
}

uint32_t kvc_histogram_cdf(const struct kvc_histogram *histogram, uint32_t max, double *value_ns,
                           double *fraction)
{
    uint32_t used = 0, points = 0;
    for (uint32_t slot = 0; slot < KVC_HISTOGRAM_SLOTS; slot++) {
        used += histogram->slot[slot] > 0;
    }
    if (used == 0 || max == 0) {
        return 0;
    }
    /* Every n-th used slot becomes a point, counted so that the last one does. */
    uint32_t step = (used + max - 1) / max, until_next = (used - 1) % step;
    uint64_t seen = 0;
    for (uint32_t slot = 0; slot < KVC_HISTOGRAM_SLOTS; slot++) {
        if (histogram->slot[slot] == 0) {
            continue;
        }
        seen += histogram->slot[slot];
        if (until_next-- > 0) {
            continue;
        }
        until_next = step - 1;
        value_ns[points] = bounded_ns(histogram, slot);
        fraction[points++] = (double)seen / (double)histogram->count;
    }
    return points;
}

static double deviation_ns(const struct kvc_histogram *histogram)
{
    double mean_ns = kvc_histogram_mean_ns(histogram), squares = 0;
    for (uint32_t slot = 0; slot < KVC_HISTOGRAM_SLOTS; slot++) {
        double distance_ns = slot_value_ns(slot) - mean_ns;
        squares += (double)histogram->slot[slot] * distance_ns * distance_ns;
    }
    return sqrt(squares / (double)histogram->count);
}

static void write_line(FILE *out, const struct kvc_histogram *histogram, uint32_t slot, double p,
                       uint64_t seen)
{
    fprintf(out, "%12.3f %2.12f %10llu", bounded_ns(histogram, slot) / 1e3, p, (unsigned long long)seen);
    if (p < 1) {
        fprintf(out, " %14.2f", 1 / (1 - p));
    }
    fputc('\n', out);
}

int kvc_histogram_write_hgrm(const struct kvc_histogram *histogram, FILE *out)
{
    uint64_t seen = 0;
    double p = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for (uint32_t slot = 0; slot < KVC_HISTOGRAM_SLOTS && seen < histogram->count; slot++) {
        if (histogram->slot[slot] == 0) {
            continue;
        }
        seen += histogram->slot[slot];
        while (p < 1 && (double)seen >= p * (double)histogram->count && seen < histogram->count) {
            write_line(out, histogram, slot, p, seen);
            p += ldexp(1, -((int)floor(-log2(1 - p)) + 1)) / PERCENTILE_TICKS;
        }
        if (seen == histogram->count) {
            write_line(out, histogram, slot, 1, seen);
        }
    }
    if (histogram->count > 0) {
        fprintf(out,
                "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
                "#[Max     = %12.3f, Total count    = %12llu]\n",
                kvc_histogram_mean_ns(histogram) / 1e3, deviation_ns(histogram) / 1e3,
                histogram->max_ns / 1e3, (unsigned long long)histogram->count);
    }
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", KVC_HISTOGRAM_MAX_BITS, SUB);
    return fflush(out) != 0 || ferror(out) ? -1 : 0;
}
