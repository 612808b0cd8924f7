/* What the sockets of Mega-KV tell the power policy, and how its manager chooses their clocks. */
#include "models/megakv/closed_form.h"
#include "models/megakv/simulation.h"
#include "sim/base/array.h"

enum { CORES, RECEIVERS, SENDERS };

/* Adds the cores besides the scheduler's, which always polls. */
static void count_cores(const struct kvc_megakv_socket *socket, struct kvc_policy_counters *counters)
{
    const struct kvc_megakv_simulation *simulation = socket->simulation;
    double cores = (double)simulation->config->cpu->cores;
    double capacity_ns = kvc_engine_capacity_ns((uint32_t)socket->device.cpu);
    bool polls = simulation->scenario->power.policy != KVC_POWER_RACE_TO_IDLE && !simulation->on_thread;
    double polling_ns = polls ? capacity_ns / cores : 0;
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
