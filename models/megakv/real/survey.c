#include "models/megakv/real/survey.h"

#include <math.h>

#include "models/megakv/costs.h"

enum {
    ROWS = 4096,       /* GETs of a batch if its size does not matter. */
    MANY_ROWS = 60000, /* GETs of a batch that is nearly full. */
};

const struct kvc_megakv_testbench_work kvc_megakv_survey_reads = {.gets = ROWS,
                                                                  .search = KVC_MEGAKV_TESTBENCH_KEYS};

const uint32_t kvc_megakv_survey_batch_rows[KVC_MEGAKV_SURVEY_BATCHES] = {ROWS, 16384, 32768, MANY_ROWS};

double kvc_megakv_survey_batches_bytes(const struct kvc_megakv_survey *survey, uint32_t rows)
{
    const struct kvc_megakv_testbench *testbench = &survey->testbench;
    return kvc_megakv_batches_bytes(rows, (uint32_t)testbench->options.buffers,
                                    survey->shared_cores ? testbench->params.pipelines : 1);
}

enum kvc_status kvc_megakv_survey_open(struct kvc_megakv_survey *survey, uint32_t key_bytes,
                                       uint32_t value_bytes, double items_bytes, double room_bytes,
                                       uint32_t frame_requests, uint32_t pipelines, struct kvc_diag *diag)
{
    const struct kvc_megakv_testbench_options params = {
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
        .items_bytes = items_bytes,
        .room_bytes = room_bytes,
        .pipelines = pipelines,
        .shared_cores = survey->shared_cores,
        .cores = survey->cores,
    };
    return kvc_megakv_testbench_open(&survey->testbench, &params, frame_requests, survey->pool, diag);
}

void kvc_megakv_survey_read(struct kvc_megakv_survey *survey, double requests)
{
    struct kvc_megakv_testbench_round round;
    struct kvc_megakv_testbench_work work = kvc_megakv_survey_reads;
    double pipelines = survey->testbench.params.pipelines;
    work.gets = (uint32_t)fmin(fmax(requests / pipelines / 8, ROWS), MANY_ROWS);
    for (double done = 0; done < requests; done += work.gets * pipelines) {
        kvc_megakv_testbench_run(&survey->testbench, &work, &round);
    }
}

const struct kvc_megakv_testbench_round *kvc_megakv_survey_round(struct kvc_megakv_survey *survey,
                                                                 int repetition)
{
    struct kvc_megakv_testbench_round *round = &survey->round[repetition < 0 ? 0 : repetition];
    kvc_megakv_testbench_run(&survey->testbench, &survey->work, round);
    return round;
}

struct kvc_megakv_cost_point kvc_megakv_survey_place(const struct kvc_megakv_survey *survey, double size)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return (struct kvc_megakv_cost_point){.size = size,
                                          .key_bytes = params->key_bytes,
                                          .footprint_bytes = params->items_bytes,
                                          .threads = params->pipelines};
}

double kvc_megakv_survey_touched_bytes(const struct kvc_megakv_survey *survey)
{
    const struct kvc_megakv_testbench_options *params = &survey->testbench.params;
    return kvc_cuckoo_touched_bytes(params->key_bytes, params->value_bytes);
}

void kvc_megakv_survey_measure(struct kvc_megakv_survey *survey, kvc_megakv_repetition_fn *fn, int settling,
                               double footprint_bytes, struct kvc_megakv_measured_curve *curve)
{
    double ns[KVC_MEGAKV_REPETITIONS];
    struct kvc_megakv_cost_point where =
        kvc_megakv_survey_place(survey, kvc_megakv_survey_touched_bytes(survey));
    where.footprint_bytes = footprint_bytes;
    kvc_megakv_repeat(fn, survey, settling, ns);
    kvc_megakv_measured_curve_add(curve, &where, ns);
}
