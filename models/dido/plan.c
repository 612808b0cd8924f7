#include "models/dido/plan.h"

#include <math.h>

#include "models/dido/paper_model.h"
#include "models/dido/search.h"

enum { STEPS = 12 };

/* A batch that is this close to the one before is as large as it can be. A stage that takes more than the
 * interval by jump_frac has not come close to it, but jumped over it. */
static const double close_frac = 1e-4, first_guess = 4096, jump_frac = 0.01;

/* Throughputs that differ by less are equal: where the memory is the limit, those of many pipelines are. */
static const double equal_frac = 1e-5;

/* The highest limit of a pipeline is looked for in such steps, from a query in a second on. */
static const double limit_step = 1.05, first_limit_per_ns = 1e-9;

double kvc_dido_plan_longest_ns(const struct kvc_dido_config *config,
                                const struct kvc_dido_pipeline *pipeline)
{
    return (1 + jump_frac) * kvc_dido_interval_ns(config, pipeline);
}

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
    if (plan.period.longest_ns > kvc_dido_plan_longest_ns(config, pipeline)) {
        plan.queries = fits;
        plan.period = period_of(config, pipeline, mix, plan.queries);
    }
    plan.per_ns = plan.queries / plan.period.ns;
    return plan;
}

/* ---- the best pipeline ---- */

struct candidates {
    const struct kvc_dido_config *config;
    const struct kvc_dido_mix *mix;
    struct kvc_dido_search *search;     /* NULL: none is ruled out. */
    struct kvc_dido_pipeline promising; /* Has the highest limit. */
    double limit_per_ns;                /* About this limit. */
    double least_per_ns;                /* Throughput of one of them. */
    struct kvc_dido_plan best;
};

/* Keeps the pipeline whose work allows most, and raises the limit as far as its work does. */
static void promise(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct candidates *candidates = data;
    while (kvc_dido_search_may_reach(candidates->search, pipeline, candidates->limit_per_ns * limit_step)) {
        candidates->limit_per_ns *= limit_step;
        candidates->promising = *pipeline;
    }
}

static void try(void *data, const struct kvc_dido_pipeline *pipeline)
{
    struct candidates *candidates = data;
    double more_per_ns = (1 + equal_frac) * candidates->best.per_ns;
    double least_per_ns = fmax((1 - 2 * equal_frac) * candidates->least_per_ns, more_per_ns);
    if (candidates->search != NULL &&
        !(kvc_dido_search_may_reach(candidates->search, pipeline, least_per_ns) &&
          kvc_dido_search_is_new(candidates->search, pipeline))) {
        return;
    }
    struct kvc_dido_plan plan = kvc_dido_plan_of(candidates->config, pipeline, candidates->mix);
    if (plan.per_ns > more_per_ns) {
        candidates->best = plan;
    }
}

static void visit(const struct kvc_dido_config *config, const struct kvc_dido_pipeline *said,
                  void (*visitor)(void *data, const struct kvc_dido_pipeline *pipeline),
                  struct candidates *candidates)
{
    uint32_t cores = (uint32_t)config->cpu->cores;
    if (said != NULL) {
        kvc_dido_pipeline_visit_cores(said, cores, visitor, candidates);
    } else {
        kvc_dido_pipeline_visit_all(cores, visitor, candidates);
    }
}

/* The authors' model may promise more than the work allows. */
struct kvc_dido_plan kvc_dido_best_plan(const struct kvc_dido_config *config,
                                        const struct kvc_dido_pipeline *said, const struct kvc_dido_mix *mix)
{
    struct candidates candidates = {.config = config, .mix = mix, .limit_per_ns = first_limit_per_ns};
    if (config->options->predict == KVC_DIDO_BY_KVCAST) {
        candidates.search = kvc_dido_search_open(config, mix);
        visit(config, said, promise, &candidates);
        if (candidates.promising.stages > 0) {
            candidates.least_per_ns = kvc_dido_plan_of(config, &candidates.promising, mix).per_ns;
        }
    }
    visit(config, said, try, &candidates);
    kvc_dido_search_close(candidates.search);
    if (candidates.best.pipeline.stages == 0) {
        KVC_BUG("no pipeline of %u cores is a plan", (uint32_t)config->cpu->cores);
    }
    return candidates.best;
}
