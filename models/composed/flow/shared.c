#include "models/composed/flow/shared.h"

#include <math.h>

#include "models/composed/flow/prices.h"
#include "sim/base/serve.h"

/* Returns the device that works for a job. */
static struct kvc_composed_fluid *device_of(struct kvc_composed_server *server,
                                            const struct kvc_composed_job *job, int device)
{
    return &server->fluid[device == KVC_COMPOSED_WIRE ? KVC_COMPOSED_WIRE + job->port : (uint32_t)device];
}

static double left_of(struct kvc_composed_server *server, const struct kvc_composed_job *job, int device,
                      double now_ns)
{
    struct kvc_composed_fluid *fluid = device_of(server, job, device);
    kvc_composed_fluid_until(fluid, now_ns);
    return fluid->backlog_ns;
}

double kvc_composed_left_to_send(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 double now_ns)
{
    return kvc_later_ns(left_of(server, job, KVC_COMPOSED_WIRE, now_ns),
                        left_of(server, job, KVC_COMPOSED_ROOT_OUT, now_ns));
}

double kvc_composed_take_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                                const struct kvc_composed_price *price, double now_ns, double over_ns)
{
    double before_ns = 0;
    server->channel_ns += price->cost.channel_ns;
    for (uint32_t left = price->shares; left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);
        struct kvc_composed_fluid *fluid = device_of(server, job, i);
        kvc_composed_fluid_until(fluid, now_ns);
        before_ns = kvc_later_ns(fluid->backlog_ns, before_ns);
        server->shared_ns[i] += price->work_ns[i];
        job->share[i] += kvc_composed_fluid_begin(fluid, price->work_ns[i], over_ns);
    }
    job->shares |= over_ns > 0 ? price->shares : 0;
    return before_ns;
}

double kvc_composed_take_wire(struct kvc_composed_server *server, struct kvc_composed_job *job,
                              const struct kvc_composed_price *price, double now_ns, double over_ns)
{
    uint64_t ports = server->config->stage[server->config->stages - 1].options->ports;
    job->port = server->port;
    server->port = server->port + 1 < ports ? server->port + 1 : 0;
    double before_ns = left_of(server, job, KVC_COMPOSED_WIRE, now_ns);
    kvc_composed_take_shared(server, job, price, now_ns, over_ns);
    return before_ns;
}

void kvc_composed_take_memory(struct kvc_composed_server *server, struct kvc_composed_job *job,
                              const struct kvc_composed_price *price, double now_ns)
{
    uint32_t running = 0; /* With this one. */
    for (uint32_t i = 0; i < server->streams; i++) {
        running += server->kernel[i].stage < KVC_COMPOSED_STAGES_MAX;
    }
    job->over_ns = fmax(price->cost.busy_ns, running * price->cost.kernel.amount_ns);
    kvc_composed_take_shared(server, job, price, now_ns, job->over_ns);
}

double kvc_composed_end_shared(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns)
{
    static const double nothing_ns = 1e-3; /* What rounding leaves. */
    const uint32_t memory =
        1u << KVC_COMPOSED_MEMORY | 1u << KVC_COMPOSED_CXL_MEMORY | 1u << KVC_COMPOSED_CARD_MEMORY;
    bool core = kvc_composed_has_cores(server->config->stage[stage].place);
    uint32_t waits = core ? memory | 1u << KVC_COMPOSED_ISSUE : ~(1u << KVC_COMPOSED_WIRE);
    bool kernel = server->config->stage[stage].place == KVC_COMPOSED_GPU;
    double longer_ns = kernel ? now_ns - job->began_ns - job->over_ns : 0, wait_ns = 0, memory_ns = 0;
    for (uint32_t left = job->shares; left != 0; left &= left - 1) {
        int i = __builtin_ctz(left);
        struct kvc_composed_fluid *fluid = device_of(server, job, i);
        kvc_composed_fluid_end(fluid, now_ns, job->share[i]);
        kvc_composed_fluid_return(fluid, job->share[i] * longer_ns);
        double left_ns = fluid->backlog_ns;
        wait_ns = (waits >> i & 1) != 0 && left_ns > wait_ns ? left_ns : wait_ns;
        memory_ns = (memory >> i & 1) != 0 && left_ns > memory_ns ? left_ns : memory_ns;
        job->share[i] = 0;
    }
    job->shares = 0;
    server->memory_wait_ns += core && memory_ns > nothing_ns ? memory_ns : 0;
    if (server->config->stage[stage].place == KVC_COMPOSED_FPGA) {
        double behind_ns = fmin(wait_ns, job->latency_ns);
        job->latency_ns += behind_ns;
        wait_ns -= behind_ns;
    }
    return wait_ns > nothing_ns ? wait_ns : 0;
}

void kvc_composed_count_messages(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                 enum kvc_composed_place place, uint32_t stage, double busy_ns,
                                 double wait_ns)
{
    server->busy_ns[stage] += busy_ns;
    server->place_ns[place] += busy_ns;
    kvc_composed_count_job(server, stage, job->counts.requests, wait_ns);
    server->traffic[stage].work_ns += busy_ns;
}

void kvc_composed_count_storage(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                                uint32_t stage, double now_ns)
{
    if (kvc_composed_is_storage(server->config->stage[stage].place)) {
        const struct kvc_composed_cost *alone = &kvc_composed_price_of(server, stage, job)->cost;
        server->traffic[stage].wait_ns +=
            job->counts.requests * (now_ns - job->began_ns - alone->busy_ns - alone->latency_ns);
    }
}
