#include "sim/run/slices/slice_outages.h"

#include <math.h>

#include "sim/engine.h"

/* Shorter outages are rounding errors of the meters [ns]. */
static const double shortest_ns = 1e-3;

void kvc_slice_outages_add_host(struct kvc_slice_outages *outages, uint32_t host)
{
    if (outages->hosts == KVC_SLICE_HOSTS_MAX) {
        KVC_BUG("a sliced server needs more than %d hosts", KVC_SLICE_HOSTS_MAX);
    }
    outages->host[outages->hosts++] = host;
}

static bool has_link(const struct kvc_slice_outages *outages, uint32_t link)
{
    for (uint32_t i = 0; i < outages->links; i++) {
        if (outages->link[i] == link) {
            return true;
        }
    }
    return false;
}

void kvc_slice_outages_add_route(struct kvc_slice_outages *outages, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    const uint32_t *links = kvc_platform_route(outages->platform, from, to, &count);
    for (uint32_t i = 0; links != NULL && i < count; i++) {
        if (has_link(outages, links[i])) {
            continue;
        }
        if (outages->links == KVC_SLICE_LINKS_MAX) {
            KVC_BUG("a sliced server needs more than %d links", KVC_SLICE_LINKS_MAX);
        }
        outages->link[outages->links++] = links[i];
    }
}

/* Takes over the time for which a device has been off in all, and returns by how much it has grown. */
static double grown_ns(double *before_ns, double off_ns)
{
    double grown = off_ns - *before_ns;
    *before_ns = off_ns;
    return grown > shortest_ns ? grown : 0;
}

double kvc_slice_outages_ns(struct kvc_slice_outages *outages)
{
    double now_ns = kvc_engine_now_ns(), longest_ns = 0;
    for (uint32_t i = 0; i < outages->hosts; i++) {
        double speed = kvc_platform_host(outages->platform, outages->host[i])->pstate[0].speed;
        double on_ns = kvc_engine_capacity_ns(outages->host[i]) / speed;
        longest_ns = fmax(longest_ns, grown_ns(&outages->host_ns[i], now_ns - on_ns));
    }
    for (uint32_t i = 0; i < outages->links; i++) {
        double bytes_per_ns = kvc_platform_link(outages->platform, outages->link[i])->bytes_per_s * 1e-9;
        double on_ns = kvc_engine_link_capacity_bytes(outages->link[i]) / bytes_per_ns;
        longest_ns = fmax(longest_ns, grown_ns(&outages->link_ns[i], now_ns - on_ns));
    }
    return longest_ns;
}

struct kvc_slice_stop kvc_slice_outages_split(struct kvc_slice_outages *outages, double slice_ns, bool *off)
{
    double stopped_ns = fmin(kvc_slice_outages_ns(outages), slice_ns);
    struct kvc_slice_stop stop = {*off ? stopped_ns : 0, *off ? 0 : stopped_ns};
    *off = stop.after_ns > 0 || stop.before_ns >= slice_ns - shortest_ns;
    return stop;
}
