/* Each pool of servers, and each device that several of them share, takes some time of every request. The
 * rate at which one of them has no time left is the capacity. What a request takes depends on the size of its
 * batch, which depends on the rate, so that the capacity is where the busiest one is just busy.
 *
 * A request waits in the network, for its batch to fill and close, and for the stages: frames and batches
 * wait for busy servers as in models/latency.h and models/composed/closed_form/waits.h. A branch splits a
 * batch, and each part costs what a batch costs. Clients that wait keep a number of requests in the store,
 * whose time, by Little's law, gives the throughput up to the capacity, and which wait for each other as
 * models/composed/closed_form/mva.h says; those that are answered together come together again and stay in
 * one batch, and batches that close at set times hold them for whole cycles.
 *
 * Latencies are a mixture over the paths that branches make: a GET that the hot tier answers passes the
 * stages by that look for others, and one that goes to a database waits for it.
 *
 * Left out:
 * - clients that wait take turns in batches that close when those before them are answered;
 * - requests of some paths meet more queues than others;
 * - requests wait in pipelines, and at chips, that get more than their share of them, except at the chips of
 * new pages;
 * - kernels and copies wait for each other below the capacity;
 * - clients that wait may be in other numbers than frames have room for, batches of set times may become
 *   unequal for them, and branches may part them;
 * - requests are dropped. */
#include "models/composed/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/composed/machine.h"
#include "models/composed/closed_form/batches.h"
#include "models/composed/closed_form/buffer.h"
#include "models/composed/closed_form/rate.h"
#include "models/composed/closed_form/mix.h"
#include "models/composed/closed_form/mva.h"
#include "models/composed/closed_form/parts.h"
#include "models/composed/closed_form/reads.h"
#include "models/composed/closed_form/rest.h"
#include "models/composed/resources.h"
#include "models/composed/closed_form/waits.h"
#include "models/latency.h"
#include "sim/base/bracket.h"
#include "sim/metrics/bottleneck.h"
#include "sim/workload/phases.h"

static const double rounding_frac = 1e-9;

/* ---- demands ---- */

/* What a request takes of each pool and device at a rate, and the times of its batch. */
struct demands {
    double requests;                              /* Requests of a batch. */
    double job_requests[KVC_COMPOSED_STAGES_MAX]; /* That a stage serves at a time. */
    double stage_ns[KVC_COMPOSED_STAGES_MAX];     /* Time of each stage for its part of a batch [ns]. */
    double busy_ns[KVC_COMPOSED_STAGES_MAX];      /* Time of its servers for a request [ns]. */
    double pool_ns[KVC_COMPOSED_STAGES_MAX];      /* Time of a pool for a request, over its servers [ns]. */
    double waits_frac[KVC_COMPOSED_STAGES_MAX];   /* Storage: share of the requests that wait for it. */
    double waits_ns[KVC_COMPOSED_STAGES_MAX];     /* Storage: how long they do. */
    double jobs[KVC_COMPOSED_STAGES_MAX];         /* Jobs of a stage for a batch. */
    double card_ns, memory_ns; /* Time of the GPU and, spread over them, of the memory's channels [ns]. */
    double root_ns[2];         /* Time of the root complex, to memory and from it [ns]. */
    double issue_ns;           /* Time of the cores, if hardware threads share them, spread over them [ns]. */
    double card_memory_ns, dma_ns; /* Time of the card's memory and of its PCIe links [ns]. */
    double cxl_ns;                 /* Time of the memory behind CXL [ns]. */
    double batched_ns;             /* The longest of those of batches. */
    double buffers_ns;             /* Time of the buffers [ns]. */
    double next_ns;    /* Time from an answer to the next one of a batch that has come apart [ns]. */
    double apart_ns;   /* Time from the first answer of such a batch to the last one [ns]. */
    double round_ns;   /* Time in which all requests of a batch are answered [ns]. */
    uint32_t grows;    /* A bit for each pool whose stages have bursts that may still grow. */
    double joins_ns;   /* Time in which a request joins the batch of a pipeline at least [ns]. */
    double slowest_ns; /* The longest of all. */
};

/* Returns the requests that a stage serves at a time: a batch, or the frames that come while one of its
 * servers works, as many as a burst has at most. Those of an earlier burst, `joined` requests, stay together.
 */
static double job_requests(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                           uint32_t number, double batch, double per_ns, double joined)
{
    enum { ROUNDS = 20 };
    const struct kvc_composed_stage *stage = &config->stage[number];
    const struct kvc_composed_pool *pool = &config->pool[stage->pool];
    const struct kvc_composed_pace pace = kvc_composed_pace_of(config);
    double requests = joined, most = kvc_composed_burst_most(mix, stage);
    if (number >= config->batched) {
        return number < config->apart ? batch : 1;
    }
    double of_server = per_ns / pool->servers * (pool->of_node ? 1 : mix->fullest / config->pipelines);
    for (int i = 0; i < ROUNDS && most > requests; i++) {
        const struct kvc_composed_counts counts = kvc_composed_mix_counts(config, mix, number, requests);
        double next = of_server * kvc_composed_cost_of(config, number, &counts, &pace).busy_ns;
        requests = fmin(fmax(next, joined), most);
    }
    return requests;
}

/* Returns the requests that wait for a buffer of a pipeline, and fill it at once: those that the servers of
 * the stage in front of it hold. */
static double waiting_requests(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix)
{
    if (config->batched == 0) {
        return INFINITY;
    }
    const struct kvc_composed_stage *stage = &config->stage[config->batched - 1];
    const struct kvc_composed_pool *pool = &config->pool[stage->pool];
    bool turns = kvc_composed_turns(config, config->batched - 1); /* They leave what waits to batches. */
    bool joins = stage->first != stage->last; /* None of the servers beside each other holds it. */
    return turns || joins || pool->takes_all ? INFINITY
                                             : kvc_composed_burst_most(mix, stage) * pool->servers /
                                                   (pool->of_node ? config->pipelines : 1);
}

/* Returns for how long the batch of a full store fills, and waits to be closed by time. */
static double fill_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                      double requests, double joins_ns)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double join_ns = fmax(requests - waiting_requests(config, mix), 0) * joins_ns;
    double closes_ns = batch->timeout_ns > 0 ? batch->timeout_ns : INFINITY;
    closes_ns = batch->every_ns > 0 ? fmin(closes_ns, batch->every_ns / 2) : closes_ns;
    return requests < kvc_composed_batch_most(config) && isfinite(closes_ns) ? closes_ns
                                                                             : fmin(join_ns, closes_ns);
}

/* Returns the time in which a request joins a batch of a pipeline at least, while others wait for it: they
 * wait in front of the last stage that has room for them before the batches [ns]. */
static double joins_ns_of(const struct kvc_composed_config *config, const struct demands *demands)
{
    double joins_ns = 0;
    for (uint32_t i = config->batched; i-- > 0;) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        if (stage->options->background) {
            continue;
        }
        joins_ns = fmax(joins_ns, demands->pool_ns[stage->pool] * config->pipelines);
        if (stage->options->queue == 0) {
            break;
        }
    }
    return joins_ns;
}

/* Sets who waits for a stage on storage, and for how long: the stage's time is the mean of all jobs. */
static void set_waits(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                      uint32_t stage, double requests, struct demands *demands)
{
    double served = fmin(kvc_composed_mix_counts(config, mix, stage, 1).requests, 1);
    double reached = kvc_composed_reached(requests, served);
    if (reached <= 0) {
        return;
    }
    const struct kvc_composed_counts counts = kvc_composed_mix_counts(config, mix, stage, requests / reached);
    double waits = kvc_composed_waits_frac(config, stage, &counts);
    demands->waits_frac[stage] = served * waits;
    demands->waits_ns[stage] = waits > 0 ? demands->stage_ns[stage] / (served * waits) : 0;
}

/* Returns the time of a pool for a request with which it just keeps up, but for rounding. */
static double keeps_up_ns(const struct kvc_composed_mix *mix, const struct kvc_composed_pool *pool,
                          double per_ns)
{
    return (1 - rounding_frac) / (per_ns * (pool->of_node || pool->is_common ? 1 : mix->fullest));
}

/* Returns the most requests of a job if one waits in earlier servers, whose bursts have up to `most`
 * requests, because the queue of a stage is full; 0: none waits there. Clients that wait have no more to fill
 * them with.
 */
static double held_requests(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                            uint32_t number, double most)
{
    const struct kvc_composed_stage *stage = &config->stage[number];
    const struct kvc_composed_stage_options *options = stage->options;
    double jobs = (double)options->queue + config->pool[stage->pool].servers + 1;
    bool waits = options->full == KVC_COMPOSED_WAIT ||
                 (options->full == KVC_COMPOSED_DROP ? mix->clients_wait : mix->saturates);
    return options->queue > 0 && waits ? fmin(most, mix->in_flight / config->pipelines / jobs) : 0;
}

/* Sets how long batches take buffers whose requests spend inside_ns in the stages before they come apart. */
static void set_buffers(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                        double inside_ns, struct demands *demands)
{
    double batch = demands->requests, pipelines = config->pipelines;
    double buffers = (double)config->options->batch.buffers;
    demands->joins_ns = joins_ns_of(config, demands);
    double meet_ns =
        config->on_flash && config->apart < config->stages
            ? kvc_composed_meet_ns(config, mix, batch * kvc_composed_mix_flash(config, mix).reads)
            : 0;
    demands->apart_ns = fmax((batch - 1) * demands->next_ns, meet_ns);
    demands->round_ns += inside_ns + demands->apart_ns;
    double taken_ns = demands->round_ns + fill_ns(config, mix, batch, demands->joins_ns);
    demands->buffers_ns = taken_ns / (buffers * pipelines * batch);
    if (kvc_composed_closes_idle(config, batch)) { /* One is under way. */
        demands->buffers_ns = fmax(demands->buffers_ns, demands->round_ns / (pipelines * batch));
    }
}

/* Returns the demands with batches of `batch` requests, if bursts for the stages of some pools, a bit for
 * each, have grown until these keep up. */
static struct demands demands_if(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                                 double per_ns, double batch, uint32_t grown)
{
    struct demands demands = {.requests = batch};
    double inside_ns[KVC_COMPOSED_STAGES_MAX], joined = mix->frame.requests, most = joined;
    /* Clients that a batch answers come together, as fast as the earlier stages let them. */
    bool together = mix->clients_wait && mix->workload->think_ns <= 0 && config->batched < config->stages;
    double slowest_ns = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        const struct kvc_composed_pool *pool = &config->pool[stage->pool];
        double comes_per_ns = together ? fmax(1 / slowest_ns, per_ns) : per_ns;
        double requests = job_requests(config, mix, i, batch, comes_per_ns, joined);
        if (together && i < config->batched) {
            requests = fmin(requests, fmax(batch / config->pipelines, joined));
        }
        double servers = (double)pool->servers * (pool->of_node ? 1 : config->pipelines);
        double before = most;
        most = fmax(held_requests(config, mix, i, most), fmax(requests, kvc_composed_burst_most(mix, stage)));
        requests = i < config->batched && (grown >> stage->pool & 1) != 0 ? most : requests;
        demands.grows |= i < config->batched && requests < most ? 1u << stage->pool : 0;
        demands.job_requests[i] = requests;
        bool joins = stage->when == 0; /* Jobs that pass it by are not joined. */
        joined = joins ? requests : joined;
        most = joins ? most : before;
        const struct kvc_composed_job_parts parts = kvc_composed_job_parts_of(config, mix, i, requests);
        const struct kvc_composed_cost cost = parts.sum;
        demands.busy_ns[i] = cost.busy_ns / requests;
        double burst = kvc_composed_burst_most(mix, stage);
        if (i < config->batched && stage->options->burst > 1 && requests < burst) {
            /* The servers are busy with bursts that may still grow, until they are full. */
            double full_ns = kvc_composed_job_parts_of(config, mix, i, burst).sum.busy_ns / burst;
            double grown_ns = fmax(full_ns, servers * keeps_up_ns(mix, pool, per_ns));
            demands.busy_ns[i] = fmin(demands.busy_ns[i], grown_ns);
        }
        slowest_ns = fmax(slowest_ns, demands.busy_ns[i] / servers);
        double *first_ns =
            &demands.stage_ns[stage->first]; /* Stages beside each other take what the slowest does. */
        *first_ns = fmax(*first_ns, stage->options->background ? 0 : parts.mean_ns);
        demands.jobs[i] = parts.jobs;
        if (kvc_composed_is_away(stage->place) && !stage->options->background) {
            set_waits(config, mix, i, requests, &demands);
        }
        demands.pool_ns[stage->pool] += demands.busy_ns[i] / servers;
        demands.card_ns += cost.kernel.amount_ns / requests;
        demands.issue_ns += cost.issue_ns / (double)config->cpu->cores / requests;
        demands.memory_ns += cost.channel_ns / config->host_cores.channels / requests;
        bool out = stage->place == KVC_COMPOSED_NIC_TX || stage->place == KVC_COMPOSED_PCIE_DOWN;
        demands.root_ns[out] += cost.root_ns / requests;
        demands.dma_ns += cost.dma_ns / requests;
        demands.cxl_ns += cost.cxl_ns / requests;
        demands.card_memory_ns +=
            cost.card_ns > 0 ? cost.card_ns / kvc_composed_card_memory_of(config).channels / requests : 0;
        /* A port that answers takes a batch from its buffer at once. */
        bool answers = i + 1 == config->stages && stage->place == KVC_COMPOSED_NIC_TX;
        bool holds = i >= config->batched && !stage->options->background && !answers;
        demands.round_ns += holds && i >= config->apart ? parts.mean_ns : 0;
        inside_ns[i] = holds && i < config->apart
                           ? cost.busy_ns / fmin(pool->servers, parts.most) + parts.latency_ns
                           : 0;
    }
    double wire_ns = 0; /* Time of the ports for all that leaves. */
    for (uint32_t i = 0; i < config->pools; i++) {
        if ((grown >> i & 1) != 0) {
            demands.pool_ns[i] = fmax(demands.pool_ns[i], keeps_up_ns(mix, &config->pool[i], per_ns));
        }
        if (config->pool[i].place ==
            KVC_COMPOSED_FLASH) { /* The stages may keep different parts of it busy. */
            const struct kvc_flash_load load = kvc_composed_mix_flash(config, mix);
            demands.pool_ns[i] = kvc_composed_flash_busy_ns(config, &load);
        }
        bool leaves =
            config->pool[i].place == KVC_COMPOSED_NIC_TX || config->pool[i].place == KVC_COMPOSED_NODE;
        wire_ns += leaves ? demands.pool_ns[i] : 0;
        bool is_common = config->pool[i].of_node || config->pool[i].is_common;
        double pool_ns = (is_common ? 1 : mix->fullest) * demands.pool_ns[i];
        bool batches = config->pool[i].stages >> config->batched != 0;
        bool apart = config->pool[i].stages >> config->apart != 0;
        double next_ns = demands.pool_ns[i] * (config->pool[i].of_node ? 1 : config->pipelines);
        demands.next_ns = apart ? fmax(demands.next_ns, next_ns) : demands.next_ns;
        demands.slowest_ns = fmax(demands.slowest_ns, pool_ns);
        demands.batched_ns = batches ? fmax(demands.batched_ns, pool_ns) : demands.batched_ns;
    }
    demands.slowest_ns = fmax(demands.slowest_ns, wire_ns);
    demands.batched_ns = fmax(demands.batched_ns, demands.card_ns);
    if (config->batched < config->stages) {
        set_buffers(config, mix, kvc_composed_longest_ns(config, mix, inside_ns), &demands);
    }
    demands.slowest_ns = fmax(demands.slowest_ns, fmax(demands.card_ns, demands.memory_ns));
    demands.slowest_ns = fmax(demands.slowest_ns, demands.issue_ns);
    demands.slowest_ns = fmax(demands.slowest_ns, fmax(demands.root_ns[0], demands.root_ns[1]));
    demands.slowest_ns = fmax(demands.slowest_ns, fmax(demands.card_memory_ns, demands.dma_ns));
    demands.slowest_ns = fmax(demands.slowest_ns, demands.cxl_ns);
    return demands;
}

/* Returns the mix at a rate with batches of `batch` requests. */
static struct kvc_composed_mix with_batches(const struct kvc_composed_config *config,
                                            const struct kvc_composed_mix *mix, double per_ns, double batch)
{
    struct kvc_composed_mix with = *mix;
    if (kvc_composed_inserts_late(config)) {
        kvc_composed_buffer_at(config, &with, per_ns, batch);
    }
    return with;
}

/* Returns the demands with batches of `batch` requests. Bursts grow while they wait for servers that are busy
 * with other stages, or for room in front of those that do not keep up. */
static struct demands demands_with(const struct kvc_composed_config *config,
                                   const struct kvc_composed_mix *any_mix, double per_ns, double batch)
{
    const struct kvc_composed_mix with = with_batches(config, any_mix, per_ns, batch), *mix = &with;
    const struct demands demands = demands_if(config, mix, per_ns, batch, 0);
    uint32_t grown = 0;
    for (uint32_t i = 0; i < config->pools; i++) {
        bool over = demands.pool_ns[i] * (1 - rounding_frac) > keeps_up_ns(mix, &config->pool[i], per_ns);
        grown |= over || mix->gathers ? demands.grows & 1u << i : 0;
    }
    return grown != 0 ? demands_if(config, mix, per_ns, batch, grown) : demands;
}

/* A socket whose rate, or the requests of whose batches at a rate, are sought. */
struct sought {
    const struct kvc_composed_config *config;
    const struct kvc_composed_mix *mix;
    double per_ns;
    double think_ns; /* Pause of its clients between requests [ns]. */
    const struct kvc_scenario *scenario;
};

enum { STEPS = 50 /* Bisection in 50 steps leaves a relative error of 1e-13. */ };

/* How far buffers and servers, those of the fullest pipeline, are from just keeping up with a rate, but for
 * rounding, as a logarithm. */
static double left_for_batches(const struct kvc_composed_mix *mix, const struct demands *demands,
                               double per_ns)
{
    return -log(per_ns * fmax(mix->fullest * demands->buffers_ns, demands->batched_ns)) - rounding_frac;
}

static double left_with_requests(void *data, double log_requests)
{
    const struct sought *sought = data;
    const struct demands demands =
        demands_with(sought->config, sought->mix, sought->per_ns, exp(log_requests));
    return left_for_batches(sought->mix, &demands, sought->per_ns);
}

/* Returns the time from the first answer of a batch to the last one [ns]. */
static double answers_ns(const struct kvc_composed_config *config, const struct demands *demands)
{
    uint32_t fills = kvc_composed_answers_of(config);
    return fills < config->stages ? demands->stage_ns[fills] : 0;
}

/* A batch that closes by time takes more requests while it waits for a free buffer, or for a server that is
 * busy: as many as it may have, or those that just let the store keep up. */
static struct demands demands_of(const struct kvc_composed_config *config,
                                 const struct kvc_composed_mix *any_mix, double per_ns, bool just)
{
    const struct kvc_composed_mix at = kvc_composed_mix_at(config, any_mix, per_ns), *mix = &at;
    double requests = kvc_composed_batch_requests(config, per_ns / config->pipelines),
           most = kvc_composed_batch_grown(config, mix);
    most =
        just ? fmax(fmin(most, mix->in_flight), requests) : most; /* Clients have no more to fill it with. */
    struct demands demands = demands_with(config, mix, per_ns, requests);
    double comes = fmin(mix->together, waiting_requests(config, mix) +
                                           kvc_composed_batch_time_ns(config) / demands.joins_ns);
    if (requests < most && comes > requests) { /* Clients that are answered together come together. */
        const struct demands together = demands_with(config, mix, per_ns, fmin(comes, most));
        /* Answers that take longer than a cycle spread their clients over the cycles. */
        bool parts = mix->clients_wait && !mix->saturates && config->options->batch.every_ns > 0 &&
                     answers_ns(config, &together) > config->options->batch.every_ns;
        requests = parts ? requests : fmin(comes, most);
        demands = parts ? demands : together;
    }
    double left = left_for_batches(mix, &demands, per_ns);
    if (requests < most && left < -rounding_frac) {
        double joined = waiting_requests(config, mix) + kvc_composed_batch_time_ns(config) / demands.joins_ns;
        most = fmax(fmin(most, joined), requests);
        demands = demands_with(config, mix, per_ns, most);
        struct kvc_bracket bracket = {log(requests), left, log(most),
                                      left_for_batches(mix, &demands, per_ns)};
        if (just && bracket.f_high > 0) {
            struct sought sought = {config, mix, per_ns, 0, NULL};
            requests =
                exp(kvc_bisect_rising(left_with_requests, &sought, log(requests), log(most), STEPS, bracket));
            demands = demands_with(config, mix, per_ns, requests);
        }
    }
    demands.slowest_ns = fmax(demands.slowest_ns, mix->fullest * demands.buffers_ns); /* Each has its own. */
    return demands;
}

/* Returns the rate, at most most_per_ns, at which a function of its logarithm crosses 0 [requests/ns]. */
static double rate_of(kvc_rising_fn *f, struct sought *sought, double most_per_ns)
{
    double low = log(1e-9), high = log(most_per_ns);
    struct kvc_bracket bracket = {low, f(sought, low), high, f(sought, high)};
    if (bracket.f_high < 0) {
        return most_per_ns;
    }
    return exp(kvc_bisect_rising(f, sought, low, high, STEPS, bracket));
}

/* How far the busiest of all is from having no time left, as a logarithm. */
static double busiest(void *data, double log_per_ns)
{
    const struct sought *sought = data;
    return log(demands_of(sought->config, sought->mix, exp(log_per_ns), false).slowest_ns) + log_per_ns;
}

/* Returns the rate of a socket at which the busiest of all has no time left [requests/ns]. */
static double capacity_of(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix)
{
    static const double most_per_ns = 100;
    struct sought sought = {config, mix, NAN, 0, NULL};
    return rate_of(busiest, &sought, most_per_ns);
}

/* Returns the same if bursts and the write buffer are full, as saturating clients may keep them that once
 * have filled them: those that a burst answers come together again, and what is in the buffer is not read. 0:
 * there are none. */
static double gathered_capacity_of(const struct kvc_composed_config *config,
                                   const struct kvc_composed_mix *mix)
{
    struct kvc_composed_mix full = *mix;
    full.gathers = mix->buffered_fracs[0] > 0;
    for (uint32_t i = 0; i < config->batched && i < config->stages; i++) {
        full.gathers = full.gathers || config->stage[i].options->burst > 1;
    }
    return full.gathers ? capacity_of(config, &full) : 0;
}

/* ---- latency ---- */

/* Returns whether batches have grown because none was free, or no server, until the store keeps up. */
static bool has_grown(const struct kvc_composed_config *config, double requests, double per_ns)
{
    static const double rounding = 1.001;
    return requests > rounding * kvc_composed_batch_requests(config, per_ns / config->pipelines);
}

/* Returns for how long the first request of a batch waits for the last one. Where batches have grown,
 * requests also wait for a free one, and none waits longer than from one batch to the next. */
static double batch_wait_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                            const struct demands *demands, double per_ns)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double requests = demands->requests, fill_ns = requests / (per_ns / config->pipelines);
    if (kvc_composed_closes_idle(
            config, requests)) { /* Frames that come at random, and find none under way, do not wait. */
        double frames = demands->round_ns * requests / fill_ns / mix->frame.requests;
        return demands->round_ns * frames / (frames + exp(-frames));
    }
    if (has_grown(config, requests, per_ns)) {
        return fill_ns;
    }
    fill_ns = batch->timeout_ns > 0 ? fmin(fill_ns, batch->timeout_ns) : fill_ns;
    return batch->every_ns > 0 ? fmin(fill_ns, batch->every_ns) : fill_ns;
}

/* The latency of requests that find all servers free: they wait for their batch to close, the first ones
 * longest, and the first ones are answered first. */
struct way {
    double least_ns, spread_ns;
    double held_ns; /* Time for which the places of saturating clients are still taken after their answer
                       [ns]. */
};

/* Returns the squared coefficient of variation of the sizes of batches that close by time: frames come at
 * random, and the first one of a timeout is sure. A request is in a batch that is larger by it than the mean
 * one. */
static double sizes_cv2(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                        const struct demands *demands, double per_ns)
{
    double frames = fmax(demands->requests / mix->frame.requests, 1);
    bool even = config->batched == config->stages || mix->clients_wait ||
                demands->requests >= kvc_composed_batch_most(config) ||
                kvc_composed_closes_idle(config, demands->requests) ||
                has_grown(config, demands->requests, per_ns);
    return even ? 0 : config->options->batch.every_ns > 0 ? 1 / frames : (frames - 1) / (frames * frames);
}

/* Returns whether the clients of a closed loop go with batches that close at set times, so that what they
 * wait for other batches until then costs them nothing. */
static bool has_cycles(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                       const struct demands *demands)
{
    bool closed = mix->clients_wait && !mix->saturates;
    return closed && demands->requests < kvc_composed_batch_most(config) &&
           config->options->batch.every_ns > 0 && config->options->batch.timeout_ns <= 0;
}

/* Returns how long the mean batch waits for those of other pipelines that a scheduler closes at the same
 * time: they pass the servers that all share one after another, and wait for the slowest. */
static double meets_ns(const struct kvc_composed_config *config, const struct demands *demands)
{
    double longest_ns = 0;
    for (uint32_t i = config->batched; i < config->stages; i++) {
        const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
        double batch_ns = demands->busy_ns[i] * demands->requests / pool->servers;
        longest_ns = pool->of_node ? fmax(longest_ns, batch_ns) : longest_ns;
    }
    return longest_ns * (config->pipelines - 1) / 2;
}

static struct way way_of(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                         const struct demands *demands, double per_ns)
{
    uint32_t last = config->stages - 1, answers = kvc_composed_answers_of(config);
    bool wire = config->stage[last].place == KVC_COMPOSED_NIC_TX;
    double fixed_ns = 2 * config->path_ns + mix->frame.wait_ns, fill_ns = 0, spread_ns = 0;
    double larger = 1 + sizes_cv2(config, mix, demands, per_ns);
    for (uint32_t i = 0; i < config->stages; i++) {
        bool in_batch = i >= config->batched && i < config->apart,
             grows = in_batch && kvc_composed_has_cores(config->stage[i].place);
        double stage_ns = demands->stage_ns[i] * (grows ? larger : 1);
        if (i == answers) {
            fixed_ns += stage_ns / demands->requests;
            spread_ns = stage_ns - stage_ns / demands->requests;
        } else if (i == last && wire && in_batch) { /* The last frame leaves after the others. */
            fixed_ns += stage_ns / demands->requests * fmin(config->frame_mean, demands->requests);
        } else if (kvc_composed_is_storage(
                       config->stage[i].place)) { /* Those that it is not for pass it by. */
            fixed_ns += demands->waits_frac[i] * demands->waits_ns[i];
        } else {
            fixed_ns += stage_ns;
        }
    }
    if (wire && last >= config->batched) { /* They leave no faster than a port takes them. */
        spread_ns = fmax(spread_ns, demands->stage_ns[last]);
    }
    if (config->batched < config->stages) {
        fill_ns = batch_wait_ns(config, mix, demands, per_ns);
        spread_ns += (demands->requests - 1) * demands->next_ns;
        bool first = larger > 1 && config->options->batch.every_ns <= 0; /* Its frame waits for all of it. */
        fixed_ns += first ? fill_ns / 2 * fmin(mix->frame.requests / demands->requests, 1) : 0;
    }
    double held_ns = mix->saturates ? spread_ns / 2 : 0; /* They send again when the whole batch has ended. */
    if (has_cycles(config, mix, demands)) {
        double every_ns = config->options->batch.every_ns, think_ns = mix->workload->think_ns;
        double back_ns = fixed_ns + meets_ns(config, demands) + think_ns;
        double cycles = kvc_composed_cycles(back_ns / every_ns, spread_ns / every_ns);
        return (struct way){floor(cycles) * every_ns - think_ns, 2 * (cycles - floor(cycles)) * every_ns, 0};
    }
    if (mix->clients_wait &&
        kvc_composed_closes_idle(config, demands->requests)) { /* All wait until all are answered. */
        return (struct way){fixed_ns + fmax(spread_ns, demands->apart_ns), 0, held_ns};
    }
    if (mix->clients_wait && demands->requests < kvc_composed_batch_most(config)) {
        fill_ns = kvc_composed_closing_ns(config, demands->requests, mix->together, fixed_ns + spread_ns,
                                          fmin(fill_ns, kvc_composed_batch_time_ns(config)));
        /* Who is answered together asks together, and waits until time closes the batch. */
        return (struct way){fixed_ns + fill_ns, spread_ns, held_ns};
    }
    return (struct way){fixed_ns + fmin(fill_ns, spread_ns), fabs(fill_ns - spread_ns), held_ns};
}

/* A part of an exponential distribution with the mean 1: a share of it, spread evenly from a time on. */
struct band {
    double share, from, spread;
};

/* Returns band `number` of `bands`. Each has half of what is left, with its mean, and the last one the rest.
 */
static struct band band_of(uint32_t number, uint32_t bands)
{
    double left = 1.0 / (1u << number), from = number * log(2);
    return number + 1 < bands ? (struct band){left / 2, from, 2 * (1 - log(2))}
                              : (struct band){left, from, 2};
}

/* Returns the time by which requests of a path take longer than the mean one: stages that it does not pass
 * take none of it. Storage is left to add_storage(). */
static double longer_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                        const struct demands *demands, const struct kvc_composed_path *path)
{
    double sum_ns = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        bool alone = stage->first == stage->last && !stage->options->background;
        if (stage->when != 0 && alone && !kvc_composed_is_away(stage->place)) {
            const struct kvc_composed_job_parts parts =
                kvc_composed_job_parts_of(config, mix, i, demands->job_requests[i]);
            sum_ns += (path->stages >> i & 1 ? parts.served_ns[path->part[i]] : 0) - demands->stage_ns[i];
        }
    }
    return sum_ns;
}

/* Splits the parts from `first` on into those that wait for a stage on storage, and the others, if there are
 * at most `most` then. Returns their number. */
static uint32_t add_storage(const struct kvc_composed_config *config, const struct demands *demands,
                            uint32_t stage, double share, struct kvc_latency_part *part, uint32_t first,
                            uint32_t parts, uint32_t most)
{
    enum { BANDS = 9 };
    bool database = config->stage[stage].place == KVC_COMPOSED_DATABASE;
    bool exponential = database && config->database->times == KVC_DATABASE_EXPONENTIAL;
    uint32_t bands = exponential ? BANDS : 1, before = parts;
    double ns = demands->waits_ns[stage], passes_ns = demands->waits_frac[stage] * ns;
    if (parts + bands * (parts - first) > most) {
        return parts;
    }
    for (uint32_t j = first; j < before; j++) {
        struct kvc_latency_part all = part[j];
        double least_ns = all.least_ns - passes_ns;
        part[j] = (struct kvc_latency_part){all.share * (1 - share), least_ns, all.spread_ns};
        for (uint32_t b = 0; b < bands && share > 0; b++) {
            struct band band = exponential ? band_of(b, bands) : (struct band){1, 1, 0};
            part[parts++] = (struct kvc_latency_part){
                all.share * share * band.share, least_ns + ns * band.from, all.spread_ns + ns * band.spread};
        }
    }
    return parts;
}

/* Adds the latency of requests that find all servers free, by path: those that wait for storage, and the
 * others, are parts of their own. */
static void add_parts(struct kvc_latency_law *law, const struct kvc_composed_config *config,
                      const struct kvc_composed_mix *mix, const struct demands *demands, double per_ns)
{
    if (has_cycles(config, mix, demands)) { /* Little's law says how many each request takes on average. */
        double every_ns = config->options->batch.every_ns, cycle_ns = mix->in_flight / per_ns;
        double least_ns = floor(cycle_ns / every_ns * (1 + rounding_frac)) * every_ns;
        kvc_latency_add(law, 1, least_ns - mix->workload->think_ns, 2 * fmax(cycle_ns - least_ns, 0));
        return;
    }
    struct way way = way_of(config, mix, demands, per_ns);
    struct kvc_composed_path path[KVC_COMPOSED_PATHS_MAX];
    struct kvc_latency_part part[KVC_LATENCY_PARTS_MAX];
    uint32_t paths = kvc_composed_mix_paths(config, mix, path), parts = 0;
    double for_stage[KVC_COMPOSED_STAGES_MAX] = {0};
    for (uint32_t i = 0; i < config->stages; i++) {
        for (uint32_t j = 0; j < paths; j++) {
            for_stage[i] += path[j].stages >> i & 1 ? path[j].share : 0;
        }
    }
    for (uint32_t i = 0; i < paths; i++) {
        uint32_t first = parts, most = KVC_LATENCY_PARTS_MAX - (paths - i - 1);
        double least_ns = way.least_ns + longer_ns(config, mix, demands, &path[i]);
        part[parts++] = (struct kvc_latency_part){path[i].share, least_ns, way.spread_ns};
        for (uint32_t j = 0; j < config->stages; j++) {
            if (kvc_composed_is_away(config->stage[j].place)) {
                bool is_for = (path[i].stages >> j & 1) != 0;
                double share = is_for ? fmin(demands->waits_frac[j] / for_stage[j], 1) : 0;
                parts = add_storage(config, demands, j, share, part, first, parts, most);
            }
        }
    }
    for (uint32_t i = 0; i < parts; i++) {
        kvc_latency_add(law, part[i].share, part[i].least_ns, part[i].spread_ns);
    }
}

/* Adds the queues of frames, and of requests in front of storage. Clients keep to a pipeline, unless keys
 * choose it. */
static void add_queues(struct kvc_composed_network *network, const struct kvc_scenario *scenario,
                       const struct kvc_composed_mix *mix, const struct demands *demands, double per_ns)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    bool keeps = mix->clients_wait && config->options->spread != KVC_COMPOSED_BY_KEY;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
        bool waits = pool->takes_all ? !config->stage[i].options->background
                                     : i < config->batched || i >= config->apart;
        if (!waits || pool->place == KVC_COMPOSED_FLASH) {
            continue;
        }
        bool storage = pool->takes_all, database = pool->place == KVC_COMPOSED_DATABASE;
        bool common = pool->of_node || pool->is_common;
        /* Storage works on single requests. */
        double requests = storage ? 1 : demands->job_requests[i];
        double jobs = fmax(storage ? demands->waits_frac[i] : fmin(demands->jobs[i], 1), 1e-300);
        double customers = mix->in_flight / requests / (common || !keeps ? 1 : config->pipelines);
        double servers = pool->servers * (pool->is_common ? config->pipelines : 1);
        double job_ns = demands->busy_ns[i] * requests / jobs;
        /* A burst with room takes all that wait for it: until the first of all servers, which end theirs at
         * any time. */
        bool has_room = !storage && (pool->stages & (pool->stages - 1)) == 0 &&
                        requests * (1 + rounding_frac) < kvc_composed_burst_most(mix, &config->stage[i]);
        const struct kvc_latency_queue queue = {
            .group = pool->of_node ? KVC_LATENCY_IN_LINE : KVC_LATENCY_PARALLEL,
            .name = config->stage[i].options->name,
            .servers = servers,
            .job_ns = job_ns,
            .longest_ns = has_room ? job_ns / (servers + 1) : 0,
            .job_cv2 = database && config->database->times == KVC_DATABASE_EXPONENTIAL,
            .utilization_frac = per_ns * demands->pool_ns[config->stage[i].pool],
            .share = jobs * (common || keeps ? 1 : 1.0 / config->pipelines),
            .equals_frac = 1,
            .visits = jobs};
        kvc_composed_network_add(network, &scenario->workload, &queue, customers, 1u << i);
    }
}

/* Returns the batches of a rate. */
static struct kvc_composed_batches batches_of(const struct kvc_composed_config *config,
                                              const struct kvc_composed_mix *mix,
                                              const struct demands *demands, double per_ns)
{
    struct kvc_composed_batches batches = {.per_ns = per_ns,
                                           .requests = demands->requests,
                                           .frame_requests = mix->frame.requests,
                                           .in_flight = mix->in_flight,
                                           .by_time = demands->requests < kvc_composed_batch_most(config),
                                           .grow = has_grown(config, demands->requests, per_ns) ||
                                                   kvc_composed_closes_idle(config, demands->requests)};
    for (uint32_t i = config->batched; i < config->apart; i++) {
        batches.busy_ns[i] = demands->busy_ns[i] * demands->requests;
        batches.jobs[i] = demands->jobs[i];
    }
    return batches;
}

static struct kvc_composed_network network_of(const struct kvc_scenario *scenario,
                                              const struct kvc_composed_mix *mix,
                                              const struct demands *demands, double per_ns)
{
    struct kvc_composed_network network = {0};
    const struct kvc_composed_batches batches =
        batches_of(kvc_composed_config_of(scenario), mix, demands, per_ns);
    if (!has_cycles(kvc_composed_config_of(scenario), mix, demands)) {
        add_queues(&network, scenario, mix, demands, per_ns);
        kvc_composed_add_flash(&network, scenario, mix, per_ns);
        kvc_composed_add_waits(&network, scenario, &batches);
    }
    return network;
}

/* How far the clients of a socket are from having no request left to send, as a logarithm. */
static double clients_left(void *data, double log_per_ns)
{
    const struct sought *sought = data;
    const struct kvc_composed_config *config = sought->config;
    double per_ns = exp(log_per_ns);
    struct kvc_composed_mix at = kvc_composed_mix_at(config, sought->mix, per_ns);
    const struct demands demands = demands_of(config, &at, per_ns, true);
    at = with_batches(config, &at, per_ns, demands.requests);
    const struct way way = way_of(config, &at, &demands, per_ns);
    const struct kvc_composed_network network = network_of(sought->scenario, &at, &demands, per_ns);
    double cycle_ns =
        way.least_ns + way.spread_ns / 2 + way.held_ns + sought->think_ns + kvc_composed_network_ns(&network);
    return log(cycle_ns / at.in_flight) + log_per_ns;
}

/* Returns the rate of a socket whose clients keep requests in it and pause for think_ns in between: by
 * Little's law, and at most the capacity. Batches fill the more slowly, the lower the rate is. */
static double waiting_rate(const struct kvc_scenario *scenario, const struct kvc_composed_mix *mix,
                           double think_ns, double capacity)
{
    struct sought sought = {kvc_composed_config_of(scenario), mix, NAN, think_ns, scenario};
    return rate_of(clients_left, &sought, capacity);
}

/* By which share of it the capacity may be too low: saturated simulations of random compositions served at
 * most so much more than it, or than with full bursts and a full write buffer. Chips that share a channel
 * with few others need not fall into step (flash.h). */
static const double low_by_frac = 0.65, low_on_flash_frac = 0.9;

/* What the store serves: its capacity, and its rate, by the mean socket [requests/ns]. */
struct served {
    double capacity, per_ns;
};

/* Rates are those of the mean socket, and the fullest one is the first that has no time left. */
static struct served served_of(const struct kvc_scenario *scenario, const struct kvc_composed_mix *mix)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    double capacity = capacity_of(config, mix) / (mix->shard_frac * config->shards);
    double think_ns = workload->arrival == KVC_ARRIVAL_CLOSED ? workload->think_ns : 0;
    double per_ns = workload->arrival == KVC_ARRIVAL_CLOSED || mix->saturates
                        ? waiting_rate(scenario, mix, think_ns, capacity)
                        : fmin(capacity, kvc_composed_sent_per_ns(scenario));
    return (struct served){capacity, per_ns};
}

/* Returns how GETs bring items into the hot tier: on their paths from the stage that looks there to the one
 * that copies, without what they wait for servers. */
static struct kvc_composed_copying copying_of(const struct kvc_composed_config *config,
                                              const struct kvc_composed_mix *any_mix, double per_ns)
{
    uint32_t looks = config->hot_index != NULL ? KVC_COMPOSED_HOT_SEARCH : KVC_COMPOSED_SEARCH;
    if (!config->has_hot || (kvc_composed_does(config) & KVC_COMPOSED_HOT_FILL) == 0) {
        return (struct kvc_composed_copying){0, 0};
    }
    const struct kvc_composed_mix mix = kvc_composed_mix_at(config, any_mix, per_ns);
    const struct demands demands = demands_of(config, &mix, per_ns, true);
    struct kvc_composed_path path[KVC_COMPOSED_PATHS_MAX];
    uint32_t paths = kvc_composed_mix_paths(config, &mix, path), first = 0, last = 0;
    for (uint32_t i = config->stages; i-- > 0;) { /* The first route that does it counts. */
        first = (config->stage[i].does & looks) != 0 ? i : first;
        last = (config->stage[i].does & KVC_COMPOSED_HOT_FILL) != 0 ? i : last;
    }
    double sum_ns = 0, copies = 0;
    for (uint32_t i = 0; i < paths; i++) {
        double share = path[i].stages >> last & 1 ? path[i].share : 0;
        for (uint32_t j = first; j < last && share > 0; j++) {
            const struct kvc_composed_job_parts parts =
                kvc_composed_job_parts_of(config, &mix, j, demands.job_requests[j]);
            double part_ns = kvc_composed_is_away(config->stage[j].place) ? demands.waits_ns[j]
                                                                          : parts.served_ns[path[i].part[j]];
            bool takes = (path[i].stages >> j & 1) != 0 && !config->stage[j].options->background;
            sum_ns += takes ? share * part_ns : 0;
        }
        copies += share;
    }
    return (struct kvc_composed_copying){sum_ns / fmax(copies, 1e-300),
                                         first >= config->batched ? demands.requests / per_ns : 0};
}

/* Returns the same with the mix of that rate: what the structures hold within the measured time depends on
 * the requests that have come, as these depend on what is held. */
static struct served settle(const struct kvc_scenario *scenario, struct kvc_composed_parts *parts,
                            struct kvc_composed_mix *mix)
{
    enum { ROUNDS = 8 };
    static const double settled_frac = 1e-3;
    double per_ns = kvc_composed_sent_per_ns(scenario);
    struct kvc_composed_expected expected = kvc_composed_expect(scenario, per_ns, NULL);
    struct served served;
    for (int i = 0; i < ROUNDS; i++) {
        *mix = kvc_composed_mix_of(scenario, &expected, parts);
        kvc_composed_buffer_open(scenario, mix);
        served = served_of(scenario, mix);
        per_ns = per_ns > 0 ? sqrt(per_ns * served.per_ns) : served.per_ns;
        const struct kvc_composed_copying copying =
            copying_of(kvc_composed_config_of(scenario), mix, served.per_ns);
        expected = kvc_composed_expect(scenario, per_ns, &copying);
        if (fabs(expected.hit_frac - mix->expected.hit_frac) <= settled_frac &&
            fabs(expected.hot_frac - mix->expected.hot_frac) <= settled_frac) {
            break;
        }
    }
    return served;
}

/* Returns the pool that has the least time left; `pools`: shared devices or buffers have less. */
static uint32_t limiting_pool(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                              const struct demands *demands)
{
    for (uint32_t i = 0; i < config->pools; i++) {
        bool is_common = config->pool[i].of_node || config->pool[i].is_common;
        double pool_ns = (is_common ? 1 : mix->fullest) * demands->pool_ns[i];
        if (pool_ns >= demands->slowest_ns * (1 - rounding_frac)) {
            return i;
        }
    }
    return config->pools;
}

/* Sets what the mean request waits for each stage [ns], of which rest_ns are not those of the network. */
static void set_stage_waits(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                            const struct demands *demands, const struct kvc_composed_network *network,
                            const struct served *served, double rest_ns, double *wait_ns)
{
    double share[KVC_COMPOSED_STAGES_MAX];
    double batches = (double)config->options->batch.buffers * config->pipelines;
    const struct kvc_composed_rest rest = {.per_ns = served->per_ns,
                                           .ns = rest_ns,
                                           .pool = limiting_pool(config, mix, demands),
                                           .room_requests = batches * demands->requests *
                                                            (1 - demands->buffers_ns * served->per_ns),
                                           .job_requests = demands->job_requests};
    for (uint32_t i = 0; i < config->stages; i++) {
        double requests = kvc_composed_mix_counts(config, mix, i, 1).requests;
        share[i] = config->stage[i].options->background ? 0 : requests;
        wait_ns[i] = 0;
    }
    kvc_composed_network_by_stage(network, share, wait_ns);
    if (served->per_ns >= served->capacity * (1 - rounding_frac)) {
        kvc_composed_add_rest(config, &rest, share, wait_ns);
    }
}

enum kvc_status kvc_composed_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                     struct kvc_diag *diag)
{
    enum kvc_status status = kvc_scenario_refuse_phases(scenario, diag);
    if (status != KVC_OK) { /* All else was checked when the scenario was loaded. */
        return status;
    }
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    struct kvc_composed_parts parts;
    struct kvc_composed_mix mix;
    const struct served served = settle(scenario, &parts, &mix);
    double capacity = served.capacity, per_ns = served.per_ns;
    char assumes[KVC_NOTE_BYTES];
    snprintf(assumes, sizeof(assumes),
             "%s%spipelines get equal shares, and all branches meet the same queues%s",
             config->batched < config->stages ? "kernels do not wait for each other on a card, " : "",
             config->on_flash ? "all chips get equal shares, " : "",
             config->options->policy[0] != '\0' ? "; the policy is not asked" : "");
    struct kvc_latency_law law = {.assumes = assumes};
    bool closed = workload->arrival == KVC_ARRIVAL_CLOSED,
         saturates = workload->arrival == KVC_ARRIVAL_SATURATE;
    if (saturates && config->options->backlog > 0) {
        law.unknown = "how many requests are in flight follows from system.backlog, which is left out";
    }
    double think_ns = closed ? workload->think_ns : 0;
    mix = kvc_composed_mix_at(config, &mix, per_ns);
    struct demands demands = demands_of(config, &mix, per_ns, true);
    mix = with_batches(config, &mix, per_ns, demands.requests);
    add_parts(&law, config, &mix, &demands, per_ns);
    const struct kvc_composed_network network = network_of(scenario, &mix, &demands, per_ns);
    kvc_composed_network_wait(&network, &law);
    double wait_ns[KVC_COMPOSED_STAGES_MAX], rest_ns = 0;
    if (closed || saturates) {
        struct way way = way_of(config, &mix, &demands, per_ns);
        double mean_ns = mix.in_flight / per_ns - think_ns - way.held_ns;
        rest_ns = fmax(mean_ns - kvc_latency_alone_ns(&law) - kvc_composed_network_ns(&network), 0);
        kvc_latency_closed(&law, mean_ns);
    }
    set_stage_waits(config, &mix, &demands, &network, &served, rest_ns, wait_ns);
    result->throughput_mops = per_ns * 1e3 * config->shards;
    kvc_result_set_latencies(result, &law, workload);
    double utilization_frac[KVC_COMPOSED_STAGES_MAX];
    struct kvc_flash_busy flash = {0};
    if (config->on_flash) {
        const struct kvc_flash_load load = kvc_composed_mix_flash(config, &mix);
        flash = kvc_flash_busy_of(config->flash, &load);
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
        double servers = (double)pool->servers * (pool->of_node ? 1 : config->pipelines);
        utilization_frac[i] = per_ns * demands.busy_ns[i] / servers;
        if (pool->place ==
            KVC_COMPOSED_FLASH) { /* What its chips do for the stage, of what they do for all. */
            const struct kvc_composed_counts counts = kvc_composed_mix_counts(config, &mix, i, 1);
            struct kvc_flash_load load = kvc_composed_flash_load(config, i, &counts);
            double part = kvc_flash_busy_of(config->flash, &load).chips_ns / fmax(flash.chips_ns, 1e-300);
            utilization_frac[i] = per_ns * part * fmax(kvc_flash_shared_ns(&flash), flash.chips_ns);
        }
    }
    kvc_stages_predict(kvc_composed_stages, scenario, utilization_frac, result);
    for (uint32_t i = 0; i < config->stages && isfinite(result->predicted.mean_us); i++) {
        struct kvc_stage_result *stage = &result->stage[i];
        double share = kvc_composed_mix_counts(config, &mix, i, 1).requests;
        bool waits = !config->stage[i].options->background;
        stage->served_mops = result->throughput_mops * share;
        stage->waiting_requests = waits ? per_ns * config->shards * wait_ns[i] : NAN;
        stage->wait_us = waits && share > 0 ? wait_ns[i] / share * 1e-3 : NAN;
    }
    kvc_bottleneck_find(result);
    kvc_composed_set_power(scenario, per_ns * demands.card_ns, per_ns * demands.memory_ns,
                           per_ns * kvc_flash_shared_ns(&flash), result);
    struct kvc_metrics *model = &result->model;
    kvc_metrics_set(model, "capacity_mops", capacity * 1e3 * config->shards);
    double most = fmax(gathered_capacity_of(config, &mix) / (mix.shard_frac * config->shards), capacity);
    kvc_metrics_set(model, "capacity_most_mops",
                    most * 1e3 * config->shards * (1 + (config->on_flash ? low_on_flash_frac : low_by_frac)));
    kvc_metrics_set(model, "hit_frac", mix.expected.hit_frac);
    if (config->has_hot) {
        kvc_metrics_set(model, "hot_frac", mix.expected.hot_frac);
    }
    kvc_metrics_set(model, "requests_per_batch",
                    config->batched < config->stages ? demands.requests : mix.frame.requests);
    kvc_metrics_set(model, "fullest_pipeline_over_mean", mix.fullest);
    kvc_metrics_set(model, "memory_frac", per_ns * demands.memory_ns);
    kvc_metrics_set(model, "slabs_full_after_s", kvc_composed_full_ns(&mix, per_ns) * 1e-9);
    if (kvc_composed_on_card(config)) {
        kvc_metrics_set(model, "card_memory_frac", per_ns * demands.card_memory_ns);
        kvc_metrics_set(model, "card_pcie_frac", per_ns * demands.dma_ns);
    }
    if (config->gpu != NULL) {
        kvc_metrics_set(model, "gpu_frac", per_ns * demands.card_ns);
    }
    if (config->cached_hit_frac > 0) {
        kvc_metrics_set(model, "cached_hit_frac", config->cached_hit_frac);
    }
    return KVC_OK;
}
