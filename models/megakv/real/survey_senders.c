#include "models/megakv/real/survey_senders.h"

#include <math.h>
#include <stddef.h>

#include "kernels/megakv/slab.h"

enum {
    WARM_UP_REQUESTS = 8000000, /* Most reads that settle the caches. */
    NEARBY_READS = 100000,      /* Reads that settle the caches next to a core. */
    READS_MIN = 64,             /* Fewest GETs of a batch whose reads are timed. */
};

/* Fraction of a store's items whose reference bits reads may set before the share of set bits counts as
 * changed. */
static const double overlooked_frac = 0.05;

/* Reads, relative to the items, that bring the cleared reference bits back into the caches; a line holds 512
 * bits. */
static const double warm_frac = 4.0 / 512;

/* Returns the time of a sender for one GET [ns]. */
static double read_ns(const struct kvc_megakv_testbench_round *round)
{
    return round->send_s * 1e9 / round->send_rows;
}

static double read_again(void *data, int repetition)
{
    return read_ns(kvc_megakv_survey_round(data, repetition));
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* Returns the sender that took longest in all rounds together. */
static uint32_t slowest_of(const struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS],
                           uint32_t threads)
{
    double slowest_s = 0;
    uint32_t slowest = 0;
    for (uint32_t sender = 0; sender < threads; sender++) {
        double sum_s = 0;
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
            sum_s += rounds[i].each_send_s[sender];
        }
        if (sum_s > slowest_s) {
            slowest = sender;
        }
        slowest_s = fmax(slowest_s, sum_s);
    }
    return slowest;
}

static void measure_read(struct kvc_megakv_survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                         struct kvc_megakv_measured_curve *curve)
{
    kvc_megakv_survey_measure(survey, fn, settling, survey->testbench.params.items_bytes, curve);
}

static enum kvc_status measure_reads(struct kvc_megakv_survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    uint32_t threads = survey->testbench.params.pipelines;
    struct kvc_megakv_cost_point where =
        kvc_megakv_survey_place(survey, kvc_megakv_survey_touched_bytes(survey));
    uint64_t misses = 0;
    survey->work = kvc_megakv_survey_reads;
    measure_read(survey, read_again, 0, &survey->measurement->read);
    uint32_t slowest = slowest_of(survey->round, threads);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = survey->round[i].each_send_s[slowest] * 1e9 / survey->round[i].send_rows;
        misses += survey->round[i].misses;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->read_slowest, &where, ns);
    return check_misses(misses, (uint64_t)KVC_MEGAKV_REPETITIONS * kvc_megakv_survey_reads.gets * threads,
                        diag);
}

void kvc_megakv_survey_read_batches(struct kvc_megakv_survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    survey->work = kvc_megakv_survey_reads;
    for (int i = 0; i < KVC_MEGAKV_SURVEY_BATCHES; i++) {
        survey->work.gets = kvc_megakv_survey_batch_rows[i];
        const struct kvc_megakv_cost_point where = {
            .size = kvc_megakv_survey_batches_bytes(survey, survey->work.gets),
            .threads = survey->testbench.params.pipelines};
        kvc_megakv_repeat(read_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->read_batch, &where, ns);
    }
}

/* A repetition is a round with comparison and one without, whose order alternates. Noise can make the
 * difference negative, the comparison cannot. */
static double compare_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    double difference_ns = 0;
    for (int second = 0; second < 2; second++) {
        survey->work.client_compares = (repetition & 1) != second;
        const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
        difference_ns += round->client_compared ? -read_ns(round) : read_ns(round);
    }
    return fmax(difference_ns, 0);
}

/* Measures the time of a miss and adds it to curves of reads as their point of size 0, because a miss has no
 * item whose state could matter. */
static void note_misses(struct kvc_megakv_survey *survey, struct kvc_megakv_measured_curve *const *curves,
                        size_t count)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = kvc_megakv_survey_place(survey, 0);
    survey->work.search = KVC_MEGAKV_TESTBENCH_NO_SEARCH;
    kvc_megakv_repeat(read_again, survey, 0, ns);
    for (size_t i = 0; i < count; i++) {
        kvc_megakv_measured_curve_add(curves[i], &where, ns);
    }
}

/* Reads items in a store in which one of survey->one_in reference bits is clear. The bits that the reads set
 * are cleared again before there are too many of them. */
static double read_marks_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    const struct kvc_megakv_testbench *testbench = &survey->testbench;
    double reads_in_round = (double)survey->work.gets * testbench->params.pipelines;
    if (survey->marked + reads_in_round > overlooked_frac * (double)testbench->keys) {
        kvc_megakv_slab_forget_reads(testbench->store->shards[0].slab, survey->one_in);
        survey->marked = 0;
    }
    const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
    survey->marked += (double)round->send_rows * testbench->params.pipelines;
    return read_ns(round);
}

static void measure_marks(struct kvc_megakv_survey *survey, uint32_t one_in,
                          struct kvc_megakv_measured_curve *curve)
{
    double keys = (double)survey->testbench.keys;
    uint32_t pipelines = survey->testbench.params.pipelines;
    survey->work = kvc_megakv_survey_reads;
    survey->work.gets =
        (uint32_t)fmin(fmax(overlooked_frac * keys / pipelines, READS_MIN), kvc_megakv_survey_reads.gets);
    survey->one_in = one_in;
    survey->marked = INFINITY;
    int settling = (int)(warm_frac * keys / ((double)survey->work.gets * pipelines));
    measure_read(survey, read_marks_again, settling, curve);
}

enum kvc_status kvc_megakv_survey_reads_nearby(struct kvc_megakv_survey *survey, bool misses,
                                               struct kvc_diag *diag)
{
    struct kvc_megakv_measured_curve *const curves[] = {&survey->measurement->read,
                                                        &survey->measurement->read_slowest};
    kvc_megakv_survey_read(survey, NEARBY_READS);
    enum kvc_status status = measure_reads(survey, diag);
    if (status == KVC_OK && misses) {
        note_misses(survey, curves, sizeof(curves) / sizeof(*curves));
    }
    return status;
}

enum kvc_status kvc_megakv_survey_senders(struct kvc_megakv_survey *survey, bool misses,
                                          struct kvc_diag *diag)
{
    struct kvc_megakv_measurement *measurement = survey->measurement;
    kvc_megakv_survey_read(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
    enum kvc_status status = measure_reads(survey, diag);
    if (status != KVC_OK) {
        return status;
    }
    measure_read(survey, compare_again, 0, &measurement->compare);
    survey->work = kvc_megakv_survey_reads;
    survey->work.search = KVC_MEGAKV_TESTBENCH_HALF_ABSENT;
    measure_read(survey, read_again, 0, &measurement->read_half_missed);
    if (misses) {
        struct kvc_megakv_measured_curve *const curves[] = {
            &measurement->read,         &measurement->read_checked,
            &measurement->read_marked,  &measurement->read_half_marked,
            &measurement->read_slowest, &measurement->read_half_missed};
        note_misses(survey, curves, sizeof(curves) / sizeof(*curves));
    }
    measure_marks(survey, KVC_MEGAKV_SLAB_SURE_ITEMS, &measurement->read_checked);
    measure_marks(survey, 2, &measurement->read_half_marked);
    measure_marks(survey, 1, &measurement->read_marked);
    return KVC_OK;
}
