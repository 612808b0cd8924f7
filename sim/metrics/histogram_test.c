#include <criterion/criterion.h>
#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/metrics/histogram.h"

enum { VALUES = 200000 };

static const double precision = 1.0 / 2048 + 1e-12;
static struct kvc_histogram histogram, other;
static double sent[VALUES], done[VALUES], sorted[VALUES];

/* Draws from distribution 0 (uniform), 1 (exponential) or 2 (log-uniform over six decades). */
static void draw(int shape)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "latencies", (uint64_t)shape);
    kvc_histogram_reset(&histogram);
    for (int i = 0; i < VALUES; i++) {
        sent[i] = 8.0 * i;
        done[i] = sent[i] + (shape == 0   ? 1e5 + 1e5 * kvc_rng_unit(&rng)
                             : shape == 1 ? 1 + kvc_rng_exponential(&rng, 3e5)
                                          : pow(10, 6 * kvc_rng_unit(&rng)));
        sorted[i] = done[i] - sent[i];
    }
    gsl_sort(sorted, 1, VALUES);
}

static void record(struct kvc_histogram *into, int from, int to)
{
    kvc_histogram_record(into, sent + from, done + from, (uint32_t)(to - from));
}

Test(histogram, percentiles_of_known_values)
{
    static const double p[] = {0, 1e-6, 0.01, 0.07, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.99999, 1};
    for (int shape = 0; shape < 3; shape++) {
        draw(shape);
        record(&histogram, 0, VALUES);
        for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++) {
            double rank = fmax(ceil(p[i] * VALUES - 1e-6), 1);
            double exact = sorted[(int)rank - 1], found = kvc_histogram_percentile_ns(&histogram, p[i]);
            cr_expect_float_eq(found, exact, precision * exact, "shape %d p %g: %.9g, exact %.9g", shape,
                               p[i], found, exact);
        }
        cr_expect_eq(histogram.min_ns, sorted[0]);
        cr_expect_eq(histogram.max_ns, sorted[VALUES - 1]);
        cr_expect_float_eq(kvc_histogram_mean_ns(&histogram), gsl_stats_mean(sorted, 1, VALUES),
                           1e-9 * kvc_histogram_mean_ns(&histogram));
    }
}

/* GSL interpolates between neighbors, which are closer to each other than the precision of the histogram. */
Test(histogram, percentiles_agree_with_gsl)
{
    draw(1);
    record(&histogram, 0, VALUES);
    for (double p = 0.1; p < 0.99; p += 0.1) {
        double gsl = gsl_stats_quantile_from_sorted_data(sorted, 1, VALUES, p);
        cr_expect_float_eq(kvc_histogram_percentile_ns(&histogram, p), gsl, 1.1 * precision * gsl);
    }
}

Test(histogram, parts_add_up_to_the_whole)
{
    static struct kvc_histogram sum;
    draw(2);
    record(&histogram, 0, VALUES);
    for (int i = 0; i < VALUES; i += 50000) {
        kvc_histogram_reset(&other);
        record(&other, i, i + 777);
        record(&other, i + 777, i + 777); /* An empty range. */
        record(&other, i + 777, i + 50000);
        kvc_histogram_add(&sum, &other);
    }
    kvc_histogram_reset(&other);
    kvc_histogram_add(&sum, &other);
    cr_expect_arr_eq(sum.slot, histogram.slot, sizeof(sum.slot));
    cr_expect_eq(sum.count, histogram.count);
    cr_expect_eq(sum.min_ns, histogram.min_ns);
    cr_expect_eq(sum.max_ns, histogram.max_ns);
    cr_expect_float_eq(sum.sum_ns, histogram.sum_ns, 1e-9 * sum.sum_ns);
}

Test(histogram, values_at_the_edges)
{
    double from[6] = {0}, to[6] = {-3, 0, 0.25, 1, 0x1p40, 0x1p41};
    uint64_t counted = 0;
    kvc_histogram_reset(&histogram);
    kvc_histogram_record(&histogram, from, to, 6);
    cr_expect_eq(histogram.clipped, 1);
    cr_expect_eq(histogram.slot[0], 4);
    cr_expect_eq(histogram.slot[KVC_HISTOGRAM_SLOTS - 1], 2);
    for (int i = 0; i < KVC_HISTOGRAM_SLOTS; i++) {
        counted += histogram.slot[i];
    }
    cr_expect_eq(counted, 6);
    kvc_histogram_reset(&other);
    kvc_histogram_add(&other, &histogram);
    kvc_histogram_add(&other, &histogram);
    cr_expect_eq(other.clipped, 2);
    cr_expect_eq(histogram.min_ns, -3);
    cr_expect_eq(histogram.max_ns, 0x1p41);
    cr_expect_float_eq(kvc_histogram_percentile_ns(&histogram, 1), 0x1p40, precision * 0x1p40);
}

Test(histogram, of_no_values_has_no_statistics)
{
    double value, fraction;
    kvc_histogram_reset(&histogram);
    cr_expect(isnan(kvc_histogram_mean_ns(&histogram)));
    cr_expect(isnan(kvc_histogram_percentile_ns(&histogram, 0.5)));
    cr_expect_eq(kvc_histogram_cdf(&histogram, 1, &value, &fraction), 0);
}

Test(histogram, cdf_rises_to_one)
{
    static const uint32_t limits[] = {1, 2, 7, 100, 500, 4096};
    static double value[4096], fraction[4096];
    for (int shape = 0; shape < 3; shape++) {
        draw(shape);
        record(&histogram, 0, VALUES);
        for (int i = 0; i < 6; i++) {
            uint32_t points = kvc_histogram_cdf(&histogram, limits[i], value, fraction);
            cr_assert(points >= 1 && points <= limits[i], "%u points of %u", points, limits[i]);
            cr_expect_eq(fraction[points - 1], 1);
            for (uint32_t j = 0; j < points; j++) {
                cr_assert(fraction[j] > 0 &&
                          (j == 0 || (fraction[j] > fraction[j - 1] && value[j] > value[j - 1])));
                double exact = sorted[(int)(fraction[j] * VALUES + 0.5) - 1];
                cr_assert_float_eq(value[j], exact, 2 * precision * exact);
            }
        }
    }
    double from[4] = {0}, to[4] = {5e4, 5e4, 5e4, 5e4};
    kvc_histogram_reset(&histogram);
    kvc_histogram_record(&histogram, from, to, 4);
    cr_expect_eq(kvc_histogram_cdf(&histogram, 10, value, fraction), 1);
    cr_expect_eq(value[0], 5e4);
}

/* Reads the text like a tool that draws .hgrm files: four columns, and comments that begin with '#'. */
Test(histogram, hgrm_format)
{
    char *text = NULL, header[4][32], line[256];
    size_t size = 0;
    double value, p, inverse, last_value = 0, last_p = -1, mean = 0, deviation = 0, most = 0;
    unsigned long long seen, last_seen = 0, total = 0;
    int lines = 0, buckets = 0, sub_buckets = 0;
    draw(1);
    record(&histogram, 0, VALUES);
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(kvc_histogram_write_hgrm(&histogram, out), 0);
    fclose(out);
    FILE *in = fmemopen(text, size, "r");
    cr_assert_eq(fscanf(in, "%31s %31s %31s %31s ", header[0], header[1], header[2], header[3]), 4);
    cr_expect_str_eq(header[0], "Value");
    cr_expect_str_eq(header[1], "Percentile");
    cr_expect_str_eq(header[2], "TotalCount");
    cr_expect_str_eq(header[3], "1/(1-Percentile)");
    while (fgets(line, sizeof(line), in) != NULL && line[0] != '#') {
        int columns = sscanf(line, "%lf %lf %llu %lf", &value, &p, &seen, &inverse);
        cr_assert_eq(columns, p < 1 ? 4 : 3, "%s", line);
        cr_assert(value >= last_value && p > last_p && seen >= last_seen, "%s", line);
        cr_assert_float_eq(value * 1e3, kvc_histogram_percentile_ns(&histogram, p),
                           2 * precision * value * 1e3 + 0.5);
        cr_assert_geq((double)seen, p * VALUES - 1e-6);
        if (p < 1) {
            cr_assert_float_eq(inverse, 1 / (1 - p), 0.006 + 1e-6 * inverse);
        }
        last_value = value;
        last_p = p;
        last_seen = seen;
        lines++;
    }
    cr_expect_eq(last_p, 1);
    cr_expect_eq(last_seen, VALUES);
    cr_expect_geq(lines, 60);
    cr_expect_eq(sscanf(line, "#[Mean = %lf, StdDeviation = %lf]", &mean, &deviation), 2);
    cr_expect_float_eq(mean * 1e3, gsl_stats_mean(sorted, 1, VALUES), 1);
    cr_expect_float_eq(deviation * 1e3, gsl_stats_sd(sorted, 1, VALUES), 1e-3 * deviation * 1e3);
    cr_assert_not_null(fgets(line, sizeof(line), in));
    cr_expect_eq(sscanf(line, "#[Max = %lf, Total count = %llu]", &most, &total), 2);
    cr_expect_float_eq(most * 1e3, sorted[VALUES - 1], 1);
    cr_expect_eq(total, VALUES);
    cr_assert_not_null(fgets(line, sizeof(line), in));
    cr_expect_eq(sscanf(line, "#[Buckets = %d, SubBuckets = %d]", &buckets, &sub_buckets), 2);
    cr_expect(buckets == KVC_HISTOGRAM_MAX_BITS && sub_buckets == 1 << KVC_HISTOGRAM_SUB_BITS);
    cr_expect_null(fgets(line, sizeof(line), in));
    fclose(in);
    free(text);
}

Test(histogram, hgrm_reports_a_full_disk)
{
    FILE *out = fopen("/dev/full", "w");
    cr_assert_not_null(out);
    draw(0);
    record(&histogram, 0, VALUES);
    errno = 0;
    cr_expect_eq(kvc_histogram_write_hgrm(&histogram, out), -1);
    cr_expect_eq(errno, ENOSPC);
    fclose(out);
}

Test(histogram, a_pack_keeps_all_values_and_empties_the_histogram)
{
    static struct kvc_histogram whole;
    for (int shape = 0; shape < 3; shape++) {
        struct kvc_histogram_pack pack[2];
        draw(shape);
        kvc_histogram_reset(&whole);
        record(&whole, 0, VALUES);
        record(&histogram, 0, VALUES / 3);
        cr_assert(kvc_histogram_take(&histogram, &pack[0]));
        cr_expect_eq(histogram.count, 0);
        record(&histogram, VALUES / 3, VALUES);
        cr_assert(kvc_histogram_take(&histogram, &pack[1]));
        kvc_histogram_reset(&other);
        cr_expect_eq(memcmp(&histogram, &other, sizeof(other)), 0, "the histogram is empty");
        for (int i = 0; i < 2; i++) {
            kvc_histogram_add_pack(&other, &pack[i]);
            free(pack[i].slot);
        }
        cr_expect_eq(other.count, whole.count);
        cr_expect_eq(other.min_ns, whole.min_ns);
        cr_expect_eq(other.max_ns, whole.max_ns);
        cr_expect_float_eq(other.sum_ns, whole.sum_ns, 1e-9 * whole.sum_ns);
        cr_expect_eq(memcmp(other.slot, whole.slot, sizeof(whole.slot)), 0);
    }
}

Test(histogram, an_empty_histogram_makes_an_empty_pack)
{
    struct kvc_histogram_pack pack;
    kvc_histogram_reset(&histogram);
    kvc_histogram_reset(&other);
    cr_assert(kvc_histogram_take(&histogram, &pack));
    cr_expect_null(pack.slot);
    kvc_histogram_add_pack(&other, &pack);
    cr_expect_eq(other.count, 0);
}
