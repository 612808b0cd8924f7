/* Counters of Mega-KV's sockets for the power policy, and the manager that chooses their clocks. */
#include <math.h>

#include "models/megakv/closed_form.h"
#include "models/megakv/config.h"
#include "models/megakv/simulation.h"
#include "sim/base/array.h"

/* ---- manager ---- */

bool kvc_megakv_cpu_leads(double cpu_mops, double gpu_mops, double mu)
{
    return cpu_mops - gpu_mops > mu * gpu_mops;
}

uint32_t kvc_megakv_slowest_pair(const double *gpu_mops, uint32_t pairs, double cpu_mops)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        if (gpu_mops[i] > cpu_mops && (gpu_mops[best] <= cpu_mops || gpu_mops[i] < gpu_mops[best])) {
            best = i;
        }
    }
    return best;
}

/* Computes the throughput of the GPU at each of its pairs [million/s]. */
static void gpu_throughputs(const struct kvc_megakv_costs *costs, const struct kvc_megakv_load *load,
                            double gpu_mops[KVC_GPU_CLOCKS_MAX])
{
    const struct kvc_megakv_config *config = costs->config;
    for (uint32_t i = 0; i < config->gpu->clock_count; i++) {
        struct kvc_megakv_fit fit = kvc_megakv_fit_of(costs, i);
        gpu_mops[i] = kvc_megakv_speed_max(&fit, load, config->cycle_ns) * 1e3;
    }
}

/* Returns the fastest state that is at least a step slower than `pstate`, or `pstate` if there is none. */
static uint32_t slower_state(const struct kvc_platform_host *cpu, uint32_t pstate, double step_hz)
{
    static const double same_hz = 1e3;
    double at_most_hz = cpu->pstate[pstate].clock_hz - step_hz + same_hz;
    for (uint32_t i = pstate + 1; i < cpu->pstates; i++) {
        if (cpu->pstate[i].clock_hz <= at_most_hz) {
            return i;
        }
    }
    return pstate;
}

static void tune(struct kvc_megakv_manager *manager, double cpu_mops)
{
    manager->tunings += manager->state != KVC_MEGAKV_TUNED;
    manager->state = KVC_MEGAKV_TUNED;
    manager->tuned_mops = cpu_mops;
}

double kvc_megakv_manage(struct kvc_megakv_manager *manager, const struct kvc_power_policy *power,
                         const struct kvc_megakv_costs *costs, const struct kvc_megakv_load *load,
                         const struct kvc_power_view *view, struct kvc_power_choice *choice)
{
    double gpu_mops[KVC_GPU_CLOCKS_MAX] = {0};
    double cpu_mops = power->throughput == KVC_POWER_SERVED ? view->served_mops : view->capacity_mops;
    if (isnan(cpu_mops)) { /* No request was served, so the throughput is unknown. */
        return power->period_ns;
    }
    if (manager->state == KVC_MEGAKV_TUNED) {
        if (fabs(cpu_mops - manager->tuned_mops) <= power->change_frac * manager->tuned_mops) {
            return power->period_ns;
        }
        manager->state = KVC_MEGAKV_MEASURING;
        if (choice->cpu_pstate != 0 || choice->gpu_pstate != 0) {
            choice->cpu_pstate = choice->gpu_pstate = 0;
            return power->settle_ns;
        }
    } else if (manager->state == KVC_MEGAKV_MEASURING && (view->cpu_pstate != 0 || view->gpu_pstate != 0)) {
        choice->cpu_pstate = choice->gpu_pstate = 0; /* The scenario started at other clocks. */
        return power->settle_ns;
    }
    gpu_throughputs(costs, load, gpu_mops);
    if (kvc_megakv_cpu_leads(cpu_mops, gpu_mops[choice->gpu_pstate], power->mu)) {
        uint32_t slower = slower_state(view->cpu, choice->cpu_pstate, power->cpu_step_hz);
        if (slower != choice->cpu_pstate) {
            choice->cpu_pstate = slower;
            manager->state = KVC_MEGAKV_SLOWING;
            return power->settle_ns;
        }
    } else if (manager->state == KVC_MEGAKV_MEASURING && gpu_mops[0] > cpu_mops) {
        choice->gpu_pstate = kvc_megakv_slowest_pair(gpu_mops, costs->config->gpu->clock_count, cpu_mops);
    }
    tune(manager, cpu_mops);
    return power->period_ns;
}

enum { CORES, RECEIVERS, SENDERS };

/* Adds the cores besides the scheduler's, which always polls. */
static void count_cores(const struct kvc_megakv_socket *socket, struct kvc_policy_counters *counters)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double cores = (double)simulation->config->cpu->cores;
    double capacity_ns = kvc_engine_capacity_ns((uint32_t)socket->device.cpu);
    double polling_ns = kvc_megakv_polls(simulation->scenario) ? capacity_ns / cores : 0;
    counters->busy_ns[CORES] = kvc_engine_work_done_ns((uint32_t)socket->device.cpu) - polling_ns;
    counters->possible_ns[CORES] = capacity_ns - polling_ns;
}

static void count(void *data, uint32_t unit, struct kvc_policy_counters *counters)
{
    const struct kvc_megakv_simulation *simulation = data;
    const struct kvc_megakv_socket *socket = &simulation->sockets[unit];
    double now_ns = kvc_engine_now_ns(), threads = simulation->shared ? 1 : simulation->streams;
    *counters = (struct kvc_policy_counters){.offered = (double)socket->sent_here,
                                             .served = (double)socket->served_here};
    count_cores(socket, counters);
    counters->busy_ns[RECEIVERS] = socket->receive_busy_ns;
    counters->possible_ns[RECEIVERS] = threads * now_ns;
    counters->busy_ns[SENDERS] = socket->send_busy_ns;
    counters->possible_ns[SENDERS] = simulation->config->senders * now_ns;
}

static void manage(void *data, uint32_t unit, const struct kvc_power_view *view,
                   struct kvc_power_choice *choice, double *next_ns)
{
    struct kvc_megakv_simulation *simulation = data;
    struct kvc_megakv_load load = kvc_megakv_load_of(simulation->scenario);
    *next_ns = kvc_megakv_manage(&simulation->sockets[unit].manager, &simulation->scenario->power,
                                 &simulation->costs, &load, view, choice);
}

void kvc_megakv_open_policy(struct kvc_megakv_simulation *simulation)
{
    const struct kvc_policy_store store = {.count = count, .manage = manage, .data = simulation};
    struct kvc_policy_unit *units = kvc_array_of(simulation->socket_count, sizeof(*units));
    for (uint32_t i = 0; i < simulation->socket_count; i++) {
        const struct kvc_megakv_socket *socket = &simulation->sockets[i];
        snprintf(units[i].name, sizeof(units[i].name), "%s", socket->name);
        units[i].cpu = socket->device.cpu;
        units[i].gpu = simulation->on_thread ? KVC_POLICY_NONE : socket->device.gpu;
        units[i].timeline_row = 1 + 2 * simulation->streams;
    }
    kvc_policy_open(&simulation->replica.policy, &simulation->scenario->power, simulation->platform,
                    simulation->replica.context->timeline, units, simulation->socket_count, &store);
    free(units);
}
