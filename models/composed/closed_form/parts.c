#include "models/composed/closed_form/parts.h"

#include <math.h>

#include "models/composed/closed_form/reads.h"
#include "models/composed/machine.h"

static void add_times(struct kvc_composed_cost *sum, const struct kvc_composed_cost *cost, double chance)
{
    sum->busy_ns += chance * cost->busy_ns;
    sum->latency_ns += chance * cost->latency_ns;
    sum->issue_ns += chance * cost->issue_ns;
    sum->channel_ns += chance * cost->channel_ns;
    sum->root_ns += chance * cost->root_ns;
    sum->cxl_ns += chance * cost->cxl_ns;
    sum->card_ns += chance * cost->card_ns;
    sum->dma_ns += chance * cost->dma_ns;
    sum->kernel.amount_ns += chance * cost->kernel.amount_ns;
}

static void add_cost(struct kvc_composed_cost *sum, const struct kvc_composed_config *config, uint32_t stage,
                     const struct kvc_composed_counts *counts, double chance)
{
    const struct kvc_composed_pace pace = kvc_composed_pace_of(config);
    const struct kvc_composed_cost cost = kvc_composed_cost_of(config, stage, counts, &pace);
    add_times(sum, &cost, chance);
}

double kvc_composed_reached(double requests, double share)
{
    return -expm1(fmax(requests, 1) * log1p(-fmin(share, 1)));
}

/* Returns the probability that a part of a job has a request for a stage, which is for a share of them. A
 * branch in front of batches takes its requests out of their frames. They then come to the batches in a row,
 * so that fewer batches have some for a later stage of the same branch. */
static double reached_of(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                         uint32_t stage, double requests, double share)
{
    double each = fmax(mix->frame.requests, 1), has = kvc_composed_reached(each, share);
    bool sorted = false;
    for (uint32_t i = 0; i < config->batched && config->batched <= stage; i++) {
        sorted =
            sorted || (config->stage[stage].when != 0 && config->stage[i].when == config->stage[stage].when);
    }
    if (!sorted || share <= 0) {
        return kvc_composed_reached(requests, share);
    }
    double in_row = each * share / has,
           rows = (requests + in_row - 1) / each; /* Rows that may meet the job. */
    return rows < 1 ? rows * has : -expm1(rows * log1p(-fmin(has, 1)));
}

/* Returns counts whose searches and writes are multiplied by these factors. */
static struct kvc_composed_counts with_kernels(const struct kvc_composed_counts *counts, double searches,
                                               double writes)
{
    struct kvc_composed_counts with = *counts;
    with.searches *= searches;
    with.search_lines *= searches;
    with.next_lines *= searches;
    with.inserts *= writes;
    with.insert_lines *= writes;
    with.erases *= writes;
    with.erase_lines *= writes;
    return with;
}

/* Returns the mean cost of a stage for a part of a job of `requests` requests of the load. It is for a share
 * `served` of them, and for a share `reached` of such parts. A job without a request for
 * the stage passes it by, and one that has nothing to search or nothing to write launches no kernel for it.
 */
static struct kvc_composed_cost mean_cost(const struct kvc_composed_config *config,
                                          const struct kvc_composed_mix *mix, uint32_t stage, uint32_t part,
                                          double requests, double served, double reached)
{
    double every = (double)config->stage[stage].options->every;
    struct kvc_composed_cost sum = {0};
    if (served <= 0) {
        return sum;
    }
    struct kvc_composed_counts counts =
        kvc_composed_mix_part(config, mix, stage, part, every * requests / reached);
    double others = mix->of->part[stage][part].counts.requests - served; /* They share the job. */
    counts.requests -= others > 0 ? others * requests * (1 / reached - 1) : 0;
    if (config->stage[stage].place != KVC_COMPOSED_GPU) {
        add_cost(&sum, config, stage, &counts, reached / every);
        if (config->stage[stage].place == KVC_COMPOSED_FLASH) {
            double reads = kvc_composed_flash_load(config, stage, &counts).reads,
                   waits = kvc_composed_waits_frac(config, stage, &counts);
            sum.latency_ns +=
                reads > 0 ? reached / every * waits * kvc_composed_meet_ns(config, mix, reads / waits) : 0;
        }
        return sum;
    }
    double requests_of = fmax(counts.requests, 1), writes = counts.inserts + counts.erases;
    double searching = kvc_composed_reached(requests_of, counts.searches / requests_of);
    double writing = kvc_composed_reached(requests_of, writes / requests_of);
    for (int i = 0; i < 4; i++) {
        bool searches = (i & 1) != 0, changes = (i & 2) != 0;
        double chance = (searches ? searching : 1 - searching) * (changes ? writing : 1 - writing);
        if (chance > 0) {
            const struct kvc_composed_counts some =
                with_kernels(&counts, searches ? 1 / searching : 0, changes ? 1 / writing : 0);
            add_cost(&sum, config, stage, &some, chance * reached / every);
        }
    }
    return sum;
}

/* Returns the share of a part's requests that a stage has something to do for. One beside others that works
 * for some operations only, and does none on the structures, passes by jobs that have none of these. */
static double concerned_of(const struct kvc_composed_stage *stage, uint32_t number,
                           const struct kvc_composed_counts *counts)
{
    double concerned = 0;
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        concerned += (stage->options->of >> op & 1) != 0 ? counts->ops[op] : 0;
    }
    bool skips = stage->first != number && stage->does == 0;
    return fmin(skips ? fmin(concerned, counts->requests) : counts->requests, 1);
}

struct kvc_composed_job_parts kvc_composed_job_parts_of(const struct kvc_composed_config *config,
                                                        const struct kvc_composed_mix *mix, uint32_t stage,
                                                        double requests)
{
    struct kvc_composed_job_parts parts = {0};
    double all = 0;
    for (uint32_t i = 0; i < mix->of->parts[stage]; i++) {
        const struct kvc_composed_part *part = &mix->of->part[stage][i];
        double served = fmin(part->counts.requests, 1);
        double concerned = concerned_of(&config->stage[stage], stage, &part->counts);
        double reached = reached_of(config, mix, stage, requests, concerned);
        const struct kvc_composed_cost cost = mean_cost(config, mix, stage, i, requests, concerned, reached);
        double passes =
            concerned < served ? 1 - reached / reached_of(config, mix, stage, requests, served) : 0;
        add_times(&parts.sum, &cost, 1);
        parts.served_ns[i] = (cost.busy_ns + cost.latency_ns) / fmax(reached, 1e-300);
        parts.mean_ns += served * (1 - passes) * parts.served_ns[i];
        parts.latency_ns += part->share * cost.latency_ns;
        parts.jobs += reached / (double)config->stage[stage].options->every;
        parts.most += concerned > 0;
        all += part->share;
    }
    parts.most = fmax(parts.most, 1);
    parts.latency_ns /= fmax(all, 1e-300);
    return parts;
}

double kvc_composed_longest_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                               const double *stage_ns)
{
    double longest_ns = 0;
    for (uint32_t i = 0; i < mix->of->ways; i++) {
        double sum_ns = 0, beside_ns = 0;
        for (uint32_t j = 0; j < config->stages; j++) {
            beside_ns = config->stage[j].first == j ? 0 : beside_ns;
            double ns = (mix->of->way[i] >> config->stage[j].first & 1) != 0 ? stage_ns[j] : 0;
            sum_ns += fmax(ns - beside_ns, 0);
            beside_ns = fmax(ns, beside_ns);
        }
        longest_ns = fmax(longest_ns, sum_ns);
    }
    return longest_ns;
}
