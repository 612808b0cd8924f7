#include "models/composed/closed_form/waits.h"

#include <math.h>

uint32_t kvc_composed_answers_of(const struct kvc_composed_config *config)
{
    uint32_t last = config->stages - 1;
    bool wire = config->stage[last].place == KVC_COMPOSED_NIC_TX;
    uint32_t fills = wire && last > 0 ? last - 1 : last;
    const struct kvc_composed_stage *stage = &config->stage[fills];
    bool spreads = kvc_composed_has_cores(stage->place) && fills >= config->batched &&
                   fills < config->apart && stage->first == stage->last;
    return spreads ? fills : config->stages;
}

double kvc_composed_together(const struct kvc_scenario *scenario)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    bool closed = workload->arrival == KVC_ARRIVAL_CLOSED && workload->think_ns <= 0;
    if (closed && batch->every_ns > 0 &&
        batch->timeout_ns <= 0) { /* All begin together, and cycles keep them so. */
        return (double)workload->clients / config->shards / config->pipelines;
    }
    bool together = workload->arrival == KVC_ARRIVAL_SATURATE;
    for (uint32_t i = config->batched; i < config->stages; i++) {
        const struct kvc_composed_stage_options *options = config->stage[i].options;
        bool splits = config->stage[i].when != 0 && !options->background;
        /* One after the other passes it, and the clients of each spread over all pipelines. */
        bool staggers = config->pipelines > 1 && config->pool[config->stage[i].pool].of_node;
        together = together && !splits && !staggers;
    }
    bool mixes = config->pipelines > 1 && config->options->spread == KVC_COMPOSED_BY_KEY;
    return together && !mixes ? (double)config->outstanding / config->pipelines : 0;
}

double kvc_composed_closing_ns(const struct kvc_composed_config *config, double requests, double together,
                               double inside_ns, double most_ns)
{
    double every_ns = config->options->batch.every_ns;
    bool alone =
        every_ns > 0 && config->options->batch.timeout_ns <= 0 && together > 0 && requests >= together;
    return alone ? ceil(inside_ns / every_ns) * every_ns - inside_ns : most_ns;
}

/* Returns the integral of the next whole number, from 0 to x. */
static double integral_of_ceil(double x)
{
    double whole = floor(x);
    return (whole + 1) * (x - whole / 2);
}

double kvc_composed_cycles(double from, double spread)
{
    return spread > 0 ? (integral_of_ceil(from + spread) - integral_of_ceil(from)) / spread : ceil(from);
}

/* Returns the squared coefficient of variation of the times between the batches of a pipeline: a scheduler
 * has none, a timeout begins when a frame comes, and a number of requests takes as many frames. */
static double arrivals_cv2(const struct kvc_composed_config *config,
                           const struct kvc_composed_batches *batches)
{
    double frames = fmax(batches->requests / batches->frame_requests, 1);
    if (!batches->by_time) {
        return 1 / frames;
    }
    return config->options->batch.every_ns > 0 ? 0 : 1 / (frames * frames);
}

/* Returns the same for the batches of all pipelines at servers that are busy for a share of the time: the
 * busier these are, the longer are the times over which they see that each pipeline is regular (Whitt, "The
 * Queueing Network Analyzer", Bell System Technical Journal 62(9), 1983, eq. 29 and 33). */
static double met_cv2(double cv2, double pipelines, double busy_frac)
{
    double weight = 1 / (1 + 4 * (1 - busy_frac) * (1 - busy_frac) * (pipelines - 1));
    return weight * cv2 + 1 - weight;
}

/* What a pool does for a batch. */
struct pool_jobs {
    double jobs, mean_ns, cv2;
    double waits;  /* Jobs that the batch waits for. */
    bool has_more; /* It has jobs besides those of the batches in the buffers. */
};

static struct pool_jobs jobs_of(const struct kvc_composed_config *config,
                                const struct kvc_composed_batches *batches, uint32_t pool)
{
    double jobs = 0, busy_ns = 0, square_ns2 = 0, waits = 0;
    uint32_t of_batches = (1u << config->apart) - (1u << config->batched);
    bool has_more = (config->pool[pool].stages & ~of_batches) != 0;
    double vary = batches->by_time ? batches->frame_requests / batches->requests : 0;
    for (uint32_t i = config->batched; i < config->stages; i++) {
        if (config->stage[i].pool != pool || batches->jobs[i] <= 0) {
            continue;
        }
        bool background = config->stage[i].options->background;
        jobs += batches->jobs[i];
        busy_ns += batches->busy_ns[i];
        square_ns2 += batches->busy_ns[i] * batches->busy_ns[i] / batches->jobs[i] * (1 + vary);
        waits += background ? 0 : batches->jobs[i];
        has_more = has_more || background;
    }
    if (jobs <= 0 || busy_ns <= 0) {
        return (struct pool_jobs){0};
    }
    return (struct pool_jobs){jobs, busy_ns / jobs, fmax(square_ns2 * jobs / (busy_ns * busy_ns) - 1, 0),
                              waits, has_more};
}

void kvc_composed_add_waits(struct kvc_composed_network *network, const struct kvc_scenario *scenario,
                            const struct kvc_composed_batches *batches)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double cv2 = arrivals_cv2(config, batches);
    for (uint32_t i = 0; i < config->pools; i++) {
        const struct kvc_composed_pool *pool = &config->pool[i];
        struct pool_jobs jobs = jobs_of(config, batches, i);
        double pipelines = pool->of_node ? config->pipelines : 1, servers = pool->servers;
        double at_once = pipelines * (double)config->options->batch.buffers;
        if (jobs.waits <= 0 || batches->grow || pool->takes_all || (!jobs.has_more && at_once <= servers)) {
            continue;
        }
        double per_ns = batches->per_ns / batches->requests * (pool->of_node ? 1 : 1.0 / config->pipelines);
        double busy_frac = per_ns * jobs.jobs * jobs.mean_ns / servers;
        const struct kvc_latency_queue queue = {
            .group = KVC_LATENCY_BATCHES,
            .name = config->stage[__builtin_ctz(pool->stages)].options->name,
            .servers = servers,
            .job_ns = jobs.mean_ns,
            .job_cv2 = jobs.cv2,
            .longest_ns = jobs.has_more ? 0 : (at_once - servers) / servers * jobs.mean_ns,
            .even_frac = 1 - met_cv2(cv2, pipelines, busy_frac),
            .utilization_frac = busy_frac,
            .share = 1 / pipelines,
            .equals_frac = 1,
            .visits = jobs.waits};
        double customers = batches->in_flight / batches->requests / (pool->of_node ? 1 : config->pipelines);
        kvc_composed_network_add(network, &scenario->workload, &queue, customers,
                                 pool->stages >> config->batched << config->batched);
    }
}
