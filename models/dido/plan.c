#include "models/dido/plan.h"

#include <math.h>

#include "models/dido/paper_model.h"

enum { STEPS = 12 };

/* A batch that is this close to the interval is as large as it can be. */
static const double close_frac = 1e-4, first_guess = 4096;

static struct kvc_dido_period period_of(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *pipeline,
                                        const struct kvc_dido_mix *mix, double queries)
{
    return config->options->predict == KVC_DIDO_BY_PAPER
               ? kvc_dido_paper_period(config, pipeline, mix, queries)
               : kvc_dido_period_of(config, pipeline, mix, queries);
}

/* The period grows almost as a straight line over the batch, so the line through the last two guesses leads
 * to the interval in a few steps. */
struct kvc_dido_plan kvc_dido_plan_of(const struct kvc_dido_config *config,
                                      const struct kvc_dido_pipeline *pipeline,
                                      const struct kvc_dido_mix *mix)
{
    struct kvc_dido_plan plan = {.pipeline = *pipeline, .queries = first_guess};
    double interval_ns = kvc_dido_interval_ns(config, pipeline);
    double before = 1, before_ns = period_of(config, pipeline, mix, before).longest_ns;
    for (int i = 0; i < STEPS; i++) {
        double ns = period_of(config, pipeline, mix, plan.queries).longest_ns;
        double slope = (ns - before_ns) / (plan.queries - before);
        double next = slope > 0 ? plan.queries + (interval_ns - ns) / slope : KVC_DIDO_BATCH_MAX;
        before = plan.queries;
        before_ns = ns;
        plan.queries = fmin(fmax(next, 1), KVC_DIDO_BATCH_MAX);
        if (fabs(plan.queries - before) < close_frac * before) {
            break;
        }
    }
    plan.period = period_of(config, pipeline, mix, plan.queries);
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
