#include "models/megakv/real/survey.h"

#include <math.h>
#include <stddef.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/costs.h"

enum {
    ROWS = 4096,       /* GETs of a batch if its size does not matter. */
    MANY_ROWS = 60000, /* GETs of a batch that is nearly full. */
};

/* Work that reads GETs of keys that exist, as many as a small batch has. */
static const struct kvc_megakv_testbench_work item_reads = {.gets = ROWS,
                                                            .search = KVC_MEGAKV_TESTBENCH_KEYS};

/* Requests of the batches that are measured: from those that stay in the caches until their buffer's next
 * turn to full ones. */
enum { BATCHES = 4 };
static const uint32_t batch_rows[BATCHES] = {ROWS, 16384, 32768, MANY_ROWS};

/* Returns the memory of batches of `rows` requests that a receiver's core fills in turn [bytes]. */
static double batches_bytes(const struct kvc_megakv_survey *survey, uint32_t rows)
{
    const struct kvc_megakv_testbench *testbench = &survey->testbench;
    return kvc_megakv_batches_bytes(rows, (uint32_t)testbench->options.buffers,
                                    survey->shared_cores ? testbench->params.pipelines : 1);
}

enum kvc_status kvc_megakv_survey_open(struct kvc_megakv_survey *survey, uint32_t key_bytes,
                                       uint32_t value_bytes, double items_bytes, double room_bytes,
                                       uint32_t frame_requests, uint32_t pipelines,
                                       enum kvc_megakv_testbench_load last_load, struct kvc_diag *diag)
{
    const struct kvc_megakv_testbench_options params = {
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
        .items_bytes = items_bytes,
        .room_bytes = room_bytes,
        .pipelines = pipelines,
        .shared_cores = survey->shared_cores,
        .cores = survey->cores,
        .last_load = last_load,
    };
    return kvc_megakv_testbench_open(&survey->testbench, &params, frame_requests, survey->watching.pool,
                                     diag);
}

/* Reads about `requests` random items. */
static void read_items(struct kvc_megakv_survey *survey, double requests)
{
    struct kvc_megakv_testbench_round round;
    struct kvc_megakv_testbench_work work = item_reads;
    double pipelines = survey->testbench.params.pipelines;
    work.gets = (uint32_t)fmin(fmax(requests / pipelines / 8, ROWS), MANY_ROWS);
    for (double done = 0; done < requests; done += work.gets * pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
    }
}

/* Runs a round of survey->work and stores its results. */
static const struct kvc_megakv_testbench_round *run_round(struct kvc_megakv_survey *survey, int repetition)
{
    struct kvc_megakv_testbench_round *round = &survey->round[repetition < 0 ? 0 : repetition];
    kvc_megakv_testbench_run(&survey->testbench, &survey->work, round);
    return round;
}

/* Returns the coordinates of the testbench on a curve over items, at `size`. */
static struct kvc_megakv_cost_point place_of(const struct kvc_megakv_survey *survey, double size)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return (struct kvc_megakv_cost_point){.size = size,
                                          .key_bytes = params->key_bytes,
                                          .footprint_bytes = params->items_bytes,
                                          .threads = params->pipelines};
}

/* Returns the bytes of an item that a request touches, which are the size on curves over items. */
static double touched_bytes(const struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return kvc_shards_touched_bytes(params->key_bytes, params->value_bytes);
}

/* Measures a point over the item's bytes, at a footprint. */
static void measure_point(struct kvc_megakv_survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                          double footprint_bytes, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = place_of(survey, touched_bytes(survey));
    where.footprint_bytes = footprint_bytes;
    kvc_megakv_repeat(&survey->watching, fn, survey, settling, ns);
    kvc_megakv_measured_curve_add(curve, &survey->watching, &where, ns);
}

/* ---- senders ---- */

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
    return read_ns(run_round(data, repetition));
}

static enum kvc_status check_misses(uint64_t misses, uint64_t gets, struct kvc_diag *diag)
{
    return misses * 100 <= gets
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of %llu items that were stored are not found",
                               (unsigned long long)misses, (unsigned long long)gets);
}

/* Returns the sender that took longest in every other round. How slow it is follows from the rounds between
 * these: in the same rounds, chance alone makes one of equal senders the slowest. */
static uint32_t slowest_of(const struct kvc_megakv_testbench_round rounds[KVC_MEGAKV_REPETITIONS],
                           uint32_t threads)
{
    double slowest_s = 0;
    uint32_t slowest = 0;
    for (uint32_t sender = 0; sender < threads; sender++) {
        double sum_s = 0;
        for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i += 2) {
            sum_s += rounds[i].each_send_s[sender];
        }
        if (sum_s > slowest_s) {
            slowest = sender;
        }
        slowest_s = fmax(slowest_s, sum_s);
    }
    return slowest;
}

/* Reads most items, which fills the caches and sets their reference bits. */
static void settle_reads(struct kvc_megakv_survey *survey)
{
    read_items(survey, fmin(2 * (double)survey->testbench.keys, WARM_UP_REQUESTS));
}

static void measure_read(struct kvc_megakv_survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                         struct kvc_megakv_measured_curve *curve)
{
    measure_point(survey, fn, settling, survey->testbench.params.items_bytes, curve);
}

static enum kvc_status measure_reads(struct kvc_megakv_survey *survey, struct kvc_diag *diag)
{
    double ns[KVC_MEGAKV_REPETITIONS], slowest_s = 0, mean_s = 0;
    uint32_t threads = survey->testbench.params.pipelines;
    struct kvc_megakv_cost_point where = place_of(survey, touched_bytes(survey));
    uint64_t misses = 0;
    survey->work = item_reads;
    kvc_megakv_repeat(&survey->watching, read_again, survey, 0, ns);
    kvc_megakv_measured_curve_add(&survey->measurement->read, &survey->watching, &where, ns);
    uint32_t slowest = slowest_of(survey->round, threads);
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        slowest_s += i % 2 > 0 ? survey->round[i].each_send_s[slowest] : 0;
        mean_s += i % 2 > 0 ? survey->round[i].send_s : 0;
        misses += survey->round[i].misses;
    }
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] *= slowest_s / mean_s;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->read_slowest, &survey->watching, &where, ns);
    return check_misses(misses, (uint64_t)KVC_MEGAKV_REPETITIONS * item_reads.gets * threads, diag);
}

void kvc_megakv_survey_read_batches(struct kvc_megakv_survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    settle_reads(survey);
    survey->work = item_reads;
    for (int i = 0; i < BATCHES; i++) {
        survey->work.gets = batch_rows[i];
        const struct kvc_megakv_cost_point where = {.size = batches_bytes(survey, survey->work.gets),
                                                    .threads = survey->testbench.params.pipelines};
        kvc_megakv_repeat(&survey->watching, read_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->read_batch, &survey->watching, &where, ns);
    }
}

/* A repetition is a round with comparison and one without, whose order alternates. Only noise can make the
 * difference negative. */
static double compare_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    double difference_ns = 0;
    for (int second = 0; second < 2; second++) {
        survey->work.client_compares = (repetition & 1) != second;
        const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
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
    struct kvc_megakv_cost_point where = place_of(survey, 0);
    survey->work.search = KVC_MEGAKV_TESTBENCH_NO_SEARCH;
    kvc_megakv_repeat(&survey->watching, read_again, survey, 0, ns);
    for (size_t i = 0; i < count; i++) {
        kvc_megakv_measured_curve_add(curves[i], &survey->watching, &where, ns);
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
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    survey->marked += (double)round->send_rows * testbench->params.pipelines;
    return read_ns(round);
}

static void measure_marks(struct kvc_megakv_survey *survey, uint32_t one_in,
                          struct kvc_megakv_measured_curve *curve)
{
    double keys = (double)survey->testbench.keys;
    uint32_t pipelines = survey->testbench.params.pipelines;
    survey->work = item_reads;
    survey->work.gets = (uint32_t)fmin(fmax(overlooked_frac * keys / pipelines, READS_MIN), item_reads.gets);
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
    read_items(survey, NEARBY_READS);
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
    settle_reads(survey);
    enum kvc_status status = measure_reads(survey, diag);
    if (status != KVC_OK) {
        return status;
    }
    measure_read(survey, compare_again, 0, &measurement->compare);
    survey->work = item_reads;
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

/* ---- receivers ---- */

enum {
    SETS = 4096,       /* Most SETs of a batch where there is room for few. */
    MANY_SETS = 24000, /* Most SETs of other batches. */
    FEW_JOBS = 256,    /* Fewest index jobs whose collection is timed. */
    MANY_JOBS = 65536, /* Most index jobs whose collection is timed. */
};

/* Upper bound for the free places that storing all keys leaves in the slabs, as a fraction of the items. */
static const double free_frac_max = 0.02;

/* Most places that a batch takes while they are used up, so that the CLOCK hand is only a little way into its
 * round when all of them are in use. */
static const double filling_frac = 1.0 / 16;

/* Reads of random items, relative to the items, after which half of them have been read. */
static const double half_read_frac = 0.693;

/* Batches that fit into the room: batches that find free places, and batches that evict, less than one round.
 */
enum { WRITE_ATTEMPTS = 2 };
static const double write_rounds = (WRITE_ATTEMPTS + 0.5) * (KVC_MEGAKV_REPETITIONS + 8);

const double kvc_megakv_survey_room_bytes = 0x1p25;

static double receive_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    return round->receive_gets_s * 1e9 / round->gets_rows * survey->frame_requests;
}

void kvc_megakv_survey_receive(struct kvc_megakv_survey *survey, uint32_t frame_requests)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = place_of(survey, frame_requests);
    survey->work = item_reads;
    survey->frame_requests = frame_requests;
    for (int i = 0; i < BATCHES; i++) {
        survey->work.gets = batch_rows[i];
        where.footprint_bytes = batches_bytes(survey, survey->work.gets);
        kvc_megakv_repeat(&survey->watching, receive_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->receive, &survey->watching, &where, ns);
    }
}

/* Returns the time of a receiver for one request of a frame in a small batch, as the receivers' cores are
 * now [ns]. */
static double small_batch_ns(const struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    double smallest[KVC_CURVE_POINTS_MAX];
    for (int i = 0; i < KVC_CURVE_POINTS_MAX; i++) {
        smallest[i] = 1;
    }
    struct kvc_curve receive = kvc_megakv_cost_curve_by_size(
        &survey->measurement->receive.curve, params->key_bytes, 0, params->pipelines, smallest);
    return kvc_curve_at(&receive, survey->frame_requests) / survey->frame_requests;
}

/* Returns how long each receiver took for SETs or a mix without the time in which the CLOCK hand passes items
 * [ns]. */
static double receive_ns(const struct kvc_megakv_survey *survey,
                         const struct kvc_megakv_testbench_round *round)
{
    return round->receive_sets_s * 1e9 -
           (double)round->passed / survey->testbench.params.pipelines * survey->pass_ns;
}

/* Returns the extra cost of a SET over a GET [ns]. */
static double write_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    double request_ns = small_batch_ns(survey);
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    return fmax(receive_ns(survey, round) / round->sets - request_ns, 0);
}

static double places_of(const struct kvc_megakv_testbench_options *params)
{
    double slabs = ceil((params->items_bytes + params->room_bytes) / KVC_MEGAKV_SLAB_BYTES);
    return slabs * KVC_MEGAKV_SLAB_BYTES / kvc_megakv_slab_item_bytes(params->key_bytes, params->value_bytes);
}

/* Uses up the slabs' free places, so that from then on every SET evicts. Returns the time in which the CLOCK
 * hand passed an item when it passed most of them in one round [ns]. */
static double fill_up(struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    struct kvc_megakv_testbench_round round;
    double places = places_of(params), pass_ns = 0;
    double wanted = places - (1 - free_frac_max) * (double)survey->testbench.keys;
    const struct kvc_megakv_testbench_work work = {
        .sets = (uint32_t)fmin(fmax(places * filling_frac / params->pipelines, 1), MANY_SETS)};
    for (double done = 0; done < wanted; done += (double)work.sets * params->pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
        if (round.passed > survey->testbench.keys / 2) {
            pass_ns = round.receive_sets_s * 1e9 / (double)round.passed;
        }
    }
    return pass_ns;
}

/* New items also take places of the free room. */
static void measure_write(struct kvc_megakv_survey *survey, struct kvc_megakv_measured_curve *curve)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    survey->watching.attempts = WRITE_ATTEMPTS;
    measure_point(survey, write_again, 0, params->items_bytes + params->room_bytes, curve);
    survey->watching.attempts = 0;
}

void kvc_megakv_survey_writes(struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    double item_bytes = kvc_megakv_slab_item_bytes(params->key_bytes, params->value_bytes);
    const struct kvc_megakv_testbench_work work = {
        .sets = (uint32_t)fmin(
            fmax(kvc_megakv_survey_room_bytes / (item_bytes * params->pipelines * write_rounds), 1), SETS)};
    survey->frame_requests = kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_SETS, params->key_bytes,
                                                                 params->value_bytes);
    survey->work = work;
    measure_write(survey, &survey->measurement->write);
    fill_up(survey);
    measure_write(survey, &survey->measurement->evict);
    read_items(survey, half_read_frac * (double)survey->testbench.keys);
    survey->work = work;
    measure_write(survey, &survey->measurement->evict_half_marked);
}

/* There is only one such SET in a store. */
void kvc_megakv_survey_pass(struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    const struct kvc_megakv_cost_point where = {
        .size = 1, .footprint_bytes = params->items_bytes, .threads = 1};
    double ns[KVC_MEGAKV_REPETITIONS], pass_ns = fill_up(survey);
    if (params->pipelines > 1) {
        return;
    }
    survey->pass_ns = pass_ns;
    for (int i = 0; i < KVC_MEGAKV_REPETITIONS; i++) {
        ns[i] = pass_ns;
    }
    kvc_megakv_measured_curve_add(&survey->measurement->pass, &survey->watching, &where, ns);
}

/* A repetition is a round of SETs and one of a mix. Noise can make the difference negative. */
static double mix_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    survey->work.mixed = false;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    double set_ns = receive_ns(survey, round) / round->sets, get_ns = small_batch_ns(survey);
    survey->work.mixed = true;
    round = run_round(survey, repetition);
    double apart_ns = round->sets * set_ns + (round->sets_rows - round->sets) * get_ns;
    return fmax((receive_ns(survey, round) - apart_ns) / round->sets_rows, 0);
}

void kvc_megakv_survey_mix(struct kvc_megakv_survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    const struct kvc_megakv_cost_point where = {.size = 1, .threads = params->pipelines};
    survey->frame_requests =
        kvc_megakv_testbench_frame_requests(KVC_MEGAKV_TESTBENCH_MIX, params->key_bytes, params->value_bytes);
    survey->work = (struct kvc_megakv_testbench_work){.sets = MANY_SETS};
    kvc_megakv_repeat(&survey->watching, mix_again, survey, 0, ns);
    kvc_megakv_measured_curve_add(&survey->measurement->mix, &survey->watching, &where, ns);
}

static double collect_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    const struct kvc_megakv_testbench_round *round = run_round(survey, repetition);
    double jobs = 2.0 * survey->work.sets * survey->testbench.params.pipelines;
    return round->insert_jobs > 0 ? round->collect_s * 1e9 * jobs / round->insert_jobs : 0;
}

void kvc_megakv_survey_drain(struct kvc_megakv_survey *survey)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    uint32_t pipelines = survey->testbench.params.pipelines;
    for (uint32_t jobs = FEW_JOBS; jobs <= MANY_JOBS; jobs *= 4) {
        struct kvc_megakv_cost_point where = {.size = jobs, .threads = pipelines};
        survey->work = (struct kvc_megakv_testbench_work){.sets = (jobs / 2 + pipelines - 1) / pipelines};
        kvc_megakv_repeat(&survey->watching, collect_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->drain, &survey->watching, &where, ns);
    }
}
