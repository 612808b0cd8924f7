#include "sim/metrics/ratios.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/metrics/statistics.h"
#include "sim/metrics/values.h"

void kvc_ratios_close(struct kvc_ratios *ratios)
{
    free(ratios->ratio);
    ratios->ratio = NULL;
}

void kvc_ratios_begin(struct kvc_ratios *ratios, int32_t batch)
{
    ratios->next = 0;
    ratios->batch = batch;
}

static void add(struct kvc_ratios *ratios, const struct kvc_ratio *ratio)
{
    if (ratios->count == ratios->room) {
        ratios->room = ratios->room > 0 ? 2 * ratios->room : 64;
        ratios->ratio = kvc_array_grown(ratios->ratio, ratios->room, sizeof(*ratios->ratio));
    }
    ratios->ratio[ratios->count++] = (struct kvc_ratio_batches){.latest = *ratio};
}

void kvc_ratios_sample(struct kvc_ratios *ratios, const struct kvc_ratio *ratio)
{
    uint32_t at = ratios->next++;
    if (at == ratios->count) {
        add(ratios, ratio);
        return;
    }
    struct kvc_ratio_batches *batches = &ratios->ratio[at];
    if (ratios->batch >= 0) {
        batches->part[ratios->batch] += ratio->part - batches->latest.part;
        batches->whole[ratios->batch] += ratio->whole - batches->latest.whole;
    }
    batches->latest = *ratio;
}

/* Joins neighbouring batches of a ratio in pairs. */
static void join(struct kvc_ratio_batches *batches)
{
    for (uint32_t i = 0; i < KVC_BATCHES_MAX; i++) {
        double part = batches->part[i], whole = batches->whole[i];
        batches->part[i] = batches->whole[i] = 0;
        batches->part[i / 2] += part;
        batches->whole[i / 2] += whole;
    }
}

void kvc_ratios_join(struct kvc_ratios *ratios)
{
    for (uint32_t i = 0; i < ratios->count; i++) {
        join(&ratios->ratio[i]);
    }
}

/* Returns whether one of the first `count` batches has nothing to divide by. */
static bool has_gap(const struct kvc_ratio_batches *batches, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(batches->whole[i] > 0)) {
            return true;
        }
    }
    return false;
}

/* Returns the quotient of the sums over the first `count` batches, and in *whole the mean denominator. */
static double quotient_of(const struct kvc_ratio_batches *batches, uint32_t count, double *whole)
{
    double parts = 0, wholes = 0;
    for (uint32_t i = 0; i < count; i++) {
        parts += batches->part[i];
        wholes += batches->whole[i];
    }
    *whole = wholes / count;
    return parts / wholes;
}

static double half_width(struct kvc_ratio_batches *batches, uint32_t count, double measured_ns)
{
    enum kvc_ratio_kind kind = batches->latest.kind;
    double mean[KVC_BATCHES_MAX], whole;
    while (count >= KVC_BATCHES_MIN && has_gap(batches, count)) {
        join(batches);
        count /= 2;
    }
    double quotient = quotient_of(batches, count, &whole);
    for (uint32_t i = 0; i < count; i++) {
        double value = quotient + (batches->part[i] - quotient * batches->whole[i]) / whole;
        mean[i] = kind != KVC_RATIO_OF_COUNTS ? kvc_rounded(value, KVC_BATCH_DIGITS) : value;
        mean[i] *= kind == KVC_RATIO_OF_TIME ? measured_ns : 1;
    }
    return kvc_interval_of_batches(mean, count).half_width;
}

void kvc_ratios_report(struct kvc_ratios *ratios, uint32_t count, double measured_ns,
                       struct kvc_result *result)
{
    for (uint32_t i = 0; i < ratios->count; i++) {
        const struct kvc_ratio *ratio = &ratios->ratio[i].latest;
        char full[KVC_VALUE_NAME_MAX];
        kvc_value_name(ratio->group, ratio->entry, ratio->name, full);
        kvc_result_add_half_width(result, full, half_width(&ratios->ratio[i], count, measured_ns));
    }
}
