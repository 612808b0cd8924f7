#include "sim/metrics/paths.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t bin_of(double latency_ns)
{
    int exponent;
    double fraction = 2 * frexp(fmax(latency_ns, 1e3) * 1e-3, &exponent) - 1; /* 0 to below 1. */
    double bin = (exponent - 1) * (double)KVC_PATHS_PER_OCTAVE + floor(fraction * KVC_PATHS_PER_OCTAVE);
    return (uint32_t)fmin(bin, KVC_PATHS_BINS - 1);
}

void kvc_paths_count(struct kvc_paths *paths, const double *sent_ns, const double *done_ns, uint32_t count,
                     const double *mark_ns, uint32_t marks, uint32_t stride)
{
    uint32_t i = paths->skip;
    if (paths->parts != 0 && paths->parts != marks + 1) {
        return;
    }
    for (; i < count; i += KVC_PATHS_EVERY) {
        uint32_t bin = bin_of(done_ns[i] - sent_ns[i]);
        double *part_ns = paths->part_ns[bin], since_ns = sent_ns[i];
        const double *passed_ns = marks > 0 ? mark_ns + (size_t)i * stride : NULL;
        paths->parts = marks + 1;
        paths->count[bin]++;
        for (uint32_t j = 0; j < marks; j++) {
            part_ns[j] += passed_ns[j] - since_ns;
            since_ns = passed_ns[j];
        }
        part_ns[marks] += done_ns[i] - since_ns;
    }
    paths->skip = i - count;
}

void kvc_paths_name(struct kvc_paths *paths, uint32_t part, const char *name)
{
    if (part < paths->parts) {
        snprintf(paths->name[part], KVC_PATHS_NAME_MAX, "%s", name);
    }
}

void kvc_paths_add(struct kvc_paths *sum, const struct kvc_paths *other)
{
    if (sum->parts == 0) {
        sum->parts = other->parts;
        memcpy(sum->name, other->name, sizeof(sum->name));
    }
    for (uint32_t i = 0; sum->parts == other->parts && i < KVC_PATHS_BINS; i++) {
        sum->count[i] += other->count[i];
        for (uint32_t j = 0; j < KVC_PATHS_PARTS_MAX; j++) {
            sum->part_ns[i][j] += other->part_ns[i][j];
        }
    }
}

double kvc_paths_slowest(const struct kvc_paths *paths, double share_frac,
                         double part_us[KVC_PATHS_PARTS_MAX])
{
    double all = 0, taken = 0;
    memset(part_us, 0, KVC_PATHS_PARTS_MAX * sizeof(*part_us));
    for (uint32_t i = 0; i < KVC_PATHS_BINS; i++) {
        all += (double)paths->count[i];
    }
    double wanted = share_frac * all;
    for (uint32_t i = KVC_PATHS_BINS; i-- > 0 && taken < wanted;) {
        double count = fmin((double)paths->count[i], wanted - taken);
        for (uint32_t j = 0; j < paths->parts && count > 0; j++) {
            part_us[j] += paths->part_ns[i][j] * (count / (double)paths->count[i]) * 1e-3;
        }
        taken += count;
    }
    for (uint32_t j = 0; j < paths->parts && taken > 0; j++) {
        part_us[j] /= taken;
    }
    return taken;
}
