#include "models/megakv/launch_costs.h"

#include <math.h>

struct kvc_megakv_launch_work kvc_megakv_search_work(const struct kvc_megakv_costs *costs, double searches,
                                                     double drained)
{
    return (struct kvc_megakv_launch_work){.kernel = KVC_MEGAKV_KERNEL_SEARCH,
                                           .jobs = searches,
                                           .hit_frac = costs->hit_frac,
                                           .drained = drained};
}

struct kvc_megakv_launch_work kvc_megakv_insert_work(const struct kvc_megakv_costs *costs, double writes)
{
    double sets = writes * costs->set_job_frac;
    double evicted = costs->measured && costs->evicting ? sets : 0;
    double deletes = writes - sets, erases = deletes + evicted;
    /* An item that a later SET of its key has replaced is not in the index any more when it is evicted. */
    double erased = deletes * costs->hit_frac + evicted * (1 - costs->hit_frac);
    return (struct kvc_megakv_launch_work){.kernel = KVC_MEGAKV_KERNEL_INSERT,
                                           .jobs = writes + evicted,
                                           .erases = erases,
                                           .replaced_frac = costs->hit_frac,
                                           .erased_frac = erases > 0 ? erased / erases : 1};
}

/* Returns the time of `jobs` of which first_frac are of the first of two kinds, in random order. Which kind
 * comes next is what no core can predict; that costs most at one half of each, where it was measured. */
static double mixed_ns(const struct kvc_curve *first, const struct kvc_curve *second,
                       const struct kvc_curve *half, double first_frac, double jobs)
{
    double first_ns = kvc_curve_at(first, jobs), second_ns = kvc_curve_at(second, jobs), surprise_ns = 0;
    if (half->count > 0) {
        surprise_ns = fmax(kvc_curve_at(half, jobs) - (first_ns + second_ns) / 2, 0);
    }
    return first_frac * first_ns + (1 - first_frac) * second_ns +
           kvc_megakv_surprise_frac(first_frac) * surprise_ns;
}

/* A thread drains the index jobs after its search. The scheduler of a GPU drains them while the GPU searches,
 * once it has handed the launch over; the shortest measured launch is the cost of handing over. */
static double measured_search_ns(const struct kvc_megakv_costs *costs,
                                 const struct kvc_megakv_launch_work *launch)
{
    bool on_thread = costs->config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
    double drain_ns = launch->drained > 0 ? kvc_curve_at(&costs->drain, launch->drained) : 0;
    double in_turn =
        on_thread ? launch->jobs : launch->jobs / costs->config->streams; /* A thread serves them in turn. */
    double search_ns =
        mixed_ns(&costs->search, &costs->search_miss, &costs->search_half_missed, launch->hit_frac, in_turn);
    return on_thread ? search_ns + drain_ns : fmax(search_ns, costs->search.y[0] + drain_ns);
}

/* First all deletes run, then all inserts. */
static double measured_insert_ns(const struct kvc_megakv_costs *costs,
                                 const struct kvc_megakv_launch_work *launch)
{
    double inserts = launch->jobs - launch->erases;
    const struct kvc_curve *miss = costs->erase_miss.count > 0 ? &costs->erase_miss : &costs->erase;
    double erase_ns = launch->erases > 0 ? mixed_ns(&costs->erase, miss, &costs->erase_half_missed,
                                                    launch->erased_frac, launch->erases)
                                         : 0;
    return inserts > 0 ? erase_ns + mixed_ns(&costs->replace, &costs->insert, &costs->insert_half_replaced,
                                             launch->replaced_frac, inserts)
                       : erase_ns;
}

double kvc_megakv_launch_at_ns(const struct kvc_megakv_costs *costs, uint32_t clock,
                               const struct kvc_megakv_launch_work *launch)
{
    if (launch->jobs > 0 && costs->measured) {
        return launch->kernel == KVC_MEGAKV_KERNEL_SEARCH ? measured_search_ns(costs, launch)
                                                          : measured_insert_ns(costs, launch);
    }
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_gpu_work work =
        kvc_megakv_gpu_work(launch->kernel, launch->jobs, config->streams, launch->stats);
    const struct kvc_gpu_fit *fit = kvc_megakv_gpu_fit(&config->gpu->clocks[clock], launch->kernel);
    return kvc_gpu_launch_ns(config->gpu, config->pcie, fit, &work);
}

double kvc_megakv_launch_ns(const struct kvc_megakv_costs *costs, const struct kvc_megakv_launch_work *launch)
{
    return kvc_megakv_launch_at_ns(costs, costs->clock, launch);
}

/* Measured launches include their copies. The shortest one is the latency; the rest is the time in which the
 * streams share the card. */
static struct kvc_gpu_kernel measured_kernel(const struct kvc_megakv_costs *costs,
                                             const struct kvc_megakv_launch_work *launch,
                                             const struct kvc_gpu_work *work, double frac)
{
    const struct kvc_pcie *pcie = costs->config->pcie;
    double shortest_ns = launch->kernel == KVC_MEGAKV_KERNEL_SEARCH ? costs->search.y[0]
                         : launch->erases <= 0                      ? costs->insert.y[0]
                         : launch->erases < launch->jobs            ? costs->insert.y[0] + costs->erase.y[0]
                                                                    : costs->erase.y[0];
    double launch_ns = kvc_megakv_launch_ns(costs, launch);
    struct kvc_gpu_fit line = {.base_ns = fmin(shortest_ns, launch_ns)};
    line.ns_per_op = (launch_ns - line.base_ns) / launch->jobs;
    return kvc_gpu_kernel_of(costs->config->gpu, pcie, &line, work, frac);
}

struct kvc_gpu_kernel kvc_megakv_kernel_of(const struct kvc_megakv_costs *costs,
                                           const struct kvc_megakv_launch_work *launch, double jobs)
{
    const struct kvc_megakv_config *config = costs->config;
    struct kvc_gpu_work work =
        kvc_megakv_gpu_work(launch->kernel, launch->jobs, config->streams, launch->stats);
    double frac = jobs / launch->jobs;
    if (costs->measured) {
        return measured_kernel(costs, launch, &work, frac);
    }
    const struct kvc_gpu_fit *fit = kvc_megakv_gpu_fit(&config->gpu->clocks[costs->clock], launch->kernel);
    return kvc_gpu_kernel_of(config->gpu, config->pcie, fit, &work, frac);
}
