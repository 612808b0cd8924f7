#include "models/megakv/real/survey_receivers.h"

#include <math.h>
#include <stddef.h>

#include "kernels/megakv/slab.h"
#include "models/megakv/costs.h"

enum {
    SETS = 4096,       /* Most SETs of a batch where there is room for few. */
    MANY_SETS = 24000, /* Most SETs of other batches. */
    FEW_JOBS = 256,    /* Fewest index jobs whose collection is timed. */
    MANY_JOBS = 65536, /* Most of them. */
};

/* Upper bound for the free places that storing all keys leaves in the slabs, as a fraction of the items. */
static const double free_frac_max = 0.02;

/* Most places that a batch takes while they are used up, so that the CLOCK hand is only a little way into its
 * round when all of them are in use. */
static const double filling_frac = 1.0 / 16;

/* Reads of random items, relative to the items, after which half of them have been read. */
static const double half_read_frac = 0.693;

/* Batches that fit into the room: those that find free places and those that evict, less than once round. */
static const double write_rounds = 2.5 * (KVC_MEGAKV_REPETITIONS + 8);

const double kvc_megakv_survey_room_bytes = 0x1p25;

static double receive_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
    return round->receive_gets_s * 1e9 / round->gets_rows * survey->frame_requests;
}

void kvc_megakv_survey_receive(struct kvc_megakv_survey *survey, uint32_t frame_requests)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where = kvc_megakv_survey_place(survey, frame_requests);
    survey->work = kvc_megakv_survey_reads;
    survey->frame_requests = frame_requests;
    for (int i = 0; i < KVC_MEGAKV_SURVEY_BATCHES; i++) {
        survey->work.gets = kvc_megakv_survey_batch_rows[i];
        where.footprint_bytes = kvc_megakv_survey_batches_bytes(survey, survey->work.gets);
        kvc_megakv_repeat(receive_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->receive, &where, ns);
    }
}

/* Returns the time of a receiver for one request of a frame in a small batch [ns]. */
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

/* Returns what a SET costs beyond a GET [ns]. */
static double write_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    double request_ns = small_batch_ns(survey);
    const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
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

/* The places of new items are those of the room, too. */
static void measure_write(struct kvc_megakv_survey *survey, struct kvc_megakv_measured_curve *curve)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    kvc_megakv_survey_measure(survey, write_again, 0, params->items_bytes + params->room_bytes, curve);
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
    kvc_megakv_survey_read(survey, half_read_frac * (double)survey->testbench.keys);
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
    kvc_megakv_measured_curve_add(&survey->measurement->pass, &where, ns);
}

/* A repetition is a round of SETs and one of a mix. Noise can make the difference negative. */
static double mix_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    survey->work.mixed = false;
    const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
    double set_ns = receive_ns(survey, round) / round->sets, get_ns = small_batch_ns(survey);
    survey->work.mixed = true;
    round = kvc_megakv_survey_round(survey, repetition);
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
    kvc_megakv_repeat(mix_again, survey, 0, ns);
    kvc_megakv_measured_curve_add(&survey->measurement->mix, &where, ns);
}

static double collect_again(void *data, int repetition)
{
    struct kvc_megakv_survey *survey = data;
    const struct kvc_megakv_testbench_round *round = kvc_megakv_survey_round(survey, repetition);
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
        kvc_megakv_repeat(collect_again, survey, 0, ns);
        kvc_megakv_measured_curve_add(&survey->measurement->drain, &where, ns);
    }
}
