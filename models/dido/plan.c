#include "models/dido/plan.h"

#include <math.h>

#include "models/dido/paper_model.h"

enum { STEPS = 12 };

/* A batch that is this close to the one before is as large as it can be. A stage that takes more than the
 * interval by jump_frac has not come close to it, but jumped over it. */
static const double close_frac = 1e-4, first_guess = 4096, jump_frac = 0.01;

static struct kvc_dido_period period_of(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *pipeline,
                                        const struct kvc_dido_mix *mix, double queries)
{
    return config->options->predict == KVC_DIDO_BY_PAPER
               ? kvc_dido_paper_period(config, pipeline, mix, queries)
               : kvc_dido_period_of(config, pipeline, mix, queries);
}

/* The time of the slowest stage grows almost as a straight line over the batch, so the line through the last
 * two guesses leads to the interval in a few steps. With stealing it may jump, and even fall, where a thief
 * begins to have time for a whole batch. A step that leaves what the guesses allow is halved then. */
struct kvc_dido_plan kvc_dido_plan_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline,
                                      const struct kvc_dido_mix *mix)
{
    struct kvc_dido_plan plan = {.pipeline = *pipeline, .queries = first_guess};
    double interval_ns = kvc_dido_interval_ns(config, pipeline);
    double fits = 1, too_many = INFINITY; /* Queries. */
    double before = 1, before_ns = period_of(config, pipeline, mix, before).longest_ns;
    for (int i = 0; i < STEPS; i++) {
        double ns = period_of(config, pipeline, mix, plan.queries).longest_ns;
        double slope = (ns - before_ns) / (plan.queries - before);
        double next = slope > 0 ? plan.queries + (interval_ns - ns) / slope : INFINITY;
        if (ns <= interval_ns) {
            fits = plan.queries;
        } else {
            too_many = plan.queries;
        }
        if (next < fits || next > too_many) {
            next = (fits + too_many) / 2;
        }
        before = plan.queries;
        before_ns = ns;
        plan.queries = fmin(fmax(next, 1), KVC_DIDO_BATCH_MAX);
        if (fabs(plan.queries - before) < close_frac * before) {
            break;
        }
    }
    plan.period = period_of(config, pipeline, mix, plan.queries);
    if (plan.period.longest_ns > (1 + jump_frac) * interval_ns) {
        plan.queries = fits;
        plan.period = period_of(config, pipeline, mix, plan.queries);
    }
    plan.per_ns = plan.queries / plan.period.ns;
    return plan;
}

/* ---- the best pipeline ---- */

struct search {
    const struct kvc_dido_config *config;
    const struct kvc_dido_mix *mix;
    struct kvc_dido_plan best;
};

static void try(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct search *search = data;
    struct kvc_dido_plan plan = kvc_dido_plan_of(search->config, pipeline, search->mix);
    if (plan.per_ns > search->best.per_ns) {
        search->best = plan;
    }
}

struct kvc_dido_plan kvc_dido_best_plan(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *said, const struct kvc_dido_mix *mix)
{
    struct search search = {.config = config, .mix = mix};
    uint32_t cores = (uint32_t)config->cpu->cores;
    if (said != NULL) {
        kvc_dido_pipeline_visit_cores(said, cores, try, &search);
    } else {
        kvc_dido_pipeline_visit_all(cores, try, &search);
    }
    return search.best;
}
