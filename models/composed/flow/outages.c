#include "models/composed/flow/outages.h"

#include <math.h>

void kvc_composed_outages_follow(struct kvc_composed_server *server, enum kvc_composed_place place,
                                 struct kvc_outage outage)
{
    struct kvc_outage *off = &server->off[place];
    *off = (struct kvc_outage){outage.from_ns - server->stopped_ns, outage.until_ns - server->stopped_ns};
    if (place == KVC_COMPOSED_GPU) {
        kvc_gpu_streams_outage(server->gpu, KVC_GPU_CARD, *off);
    }
}

double kvc_composed_outage_within(const struct kvc_composed_server *server, enum kvc_composed_place place,
                                  double from_ns, double until_ns)
{
    const struct kvc_outage *off = &server->off[place];
    return fmax(fmin(until_ns, off->until_ns) - fmax(from_ns, off->from_ns), 0);
}

/* Returns the outage that work of a station in this time meets, or NULL. */
static const struct kvc_outage *met(const struct kvc_composed_server *server, uint32_t station,
                                    double from_ns, double until_ns)
{
    const struct kvc_outage *off = &server->off[server->config->pool[server->station[station].pool].place];
    return off->until_ns > from_ns && off->from_ns < until_ns ? off : NULL;
}

bool kvc_composed_outage_meets(const struct kvc_composed_server *server, const struct kvc_composed_job *job,
                               double now_ns)
{
    return met(server, job->station, job->began_ns, now_ns) != NULL;
}

double kvc_composed_outage_begin(const struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 double now_ns, double busy_ns)
{
    const struct kvc_outage *off = met(server, job->station, now_ns, now_ns + busy_ns);
    if (off == NULL) {
        return 0;
    }
    job->began_ns = job->filled_ns = off->until_ns;
    return off->until_ns - now_ns;
}

double kvc_composed_outage_end(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns)
{
    const struct kvc_outage *off = met(server, job->station, job->began_ns, now_ns);
    if (off == NULL) {
        return 0;
    }
    const struct kvc_composed_pool *pool = &server->config->pool[server->station[job->station].pool];
    double took_ns = now_ns - job->began_ns, lost_ns = off->from_ns - job->began_ns;
    server->busy_ns[stage] += lost_ns;
    server->traffic[stage].work_ns += lost_ns;
    server->place_ns[pool->place] += lost_ns * (kvc_composed_has_cores(pool->place) ? pool->cores : 1);
    job->began_ns = job->filled_ns = off->until_ns;
    return off->until_ns + took_ns;
}
