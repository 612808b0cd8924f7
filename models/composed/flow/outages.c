#include "models/composed/flow/outages.h"

void kvc_composed_outages_follow(struct kvc_composed_server *server, struct kvc_outage outage)
{
    server->off =
        (struct kvc_outage){outage.from_ns - server->stopped_ns, outage.until_ns - server->stopped_ns};
}

/* Whether work of a station in this time meets the outage. */
static bool meets(const struct kvc_composed_server *server, uint32_t station, double from_ns, double until_ns)
{
    return server->off.until_ns > from_ns && server->off.from_ns < until_ns &&
           server->config->pool[server->station[station].pool].place == KVC_COMPOSED_CPU;
}

bool kvc_composed_outage_meets(const struct kvc_composed_server *server, const struct kvc_composed_job *job,
                               double now_ns)
{
    return meets(server, job->station, job->began_ns, now_ns);
}

double kvc_composed_outage_begin(const struct kvc_composed_server *server, struct kvc_composed_job *job,
                                 double now_ns, double busy_ns)
{
    if (!meets(server, job->station, now_ns, now_ns + busy_ns)) {
        return 0;
    }
    job->began_ns = job->filled_ns = server->off.until_ns;
    return server->off.until_ns - now_ns;
}

double kvc_composed_outage_end(struct kvc_composed_server *server, struct kvc_composed_job *job,
                               uint32_t stage, double now_ns)
{
    if (!kvc_composed_outage_meets(server, job, now_ns)) {
        return 0;
    }
    const struct kvc_composed_pool *pool = &server->config->pool[server->station[job->station].pool];
    double took_ns = now_ns - job->began_ns, lost_ns = server->off.from_ns - job->began_ns;
    server->busy_ns[stage] += lost_ns;
    server->traffic[stage].work_ns += lost_ns;
    server->place_ns[KVC_COMPOSED_CPU] += lost_ns * pool->cores;
    job->began_ns = job->filled_ns = server->off.until_ns;
    return server->off.until_ns + took_ns;
}
