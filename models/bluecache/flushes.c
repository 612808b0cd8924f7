#include "models/bluecache/flushes.h"

#include <math.h>

#include "models/bluecache/config.h"
#include "models/bluecache/costs.h"

/* Returns the time that a flush takes [ns]. */
static double flush_ns(const struct kvc_bluecache_service *service, double requests)
{
    double mean = requests / service->units, busiest = mean + sqrt(2 * mean * log(service->units));
    return service->alone_ns + fmax(busiest - 1, 0) * service->units / service->lowest_per_ns;
}

double kvc_bluecache_segments_per_ns(const struct kvc_scenario *scenario,
                                     const struct kvc_bluecache_service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double segments = (double)config->options->segments, bytes = config->options->segment_bytes;
    double requests = bytes / service->request_bytes, responses = bytes / service->response_bytes;
    double host_per_ns = service->lowest_per_ns / config->apps, round_ns = 2 * config->pcie->latency_ns;
    /* A segment is read when the table has room for its last request. What is served while the table holds it
     * fills a burst at once. */
    double read_ns = kvc_bluecache_in_ns(config, bytes) + fmax(requests - config->table, 0) / host_per_ns;
    double filled_ns = kvc_bluecache_out_ns(config, bytes) + fmax(responses - config->table, 0) / host_per_ns;
    return config->apps * segments *
           fmin(requests / (read_ns + round_ns), responses / (filled_ns + round_ns));
}

/* Returns the requests that arrive at a host during a flush, at least one. */
static double added_requests(const struct kvc_bluecache_service *service, double host_per_ns)
{
    double requests = 1;
    for (int i = 0; i < 100; i++) {
        requests = fmax(host_per_ns * flush_ns(service, requests), 1);
    }
    return requests;
}

static struct kvc_bluecache_flow saturated(const struct kvc_bluecache_config *config,
                                           const struct kvc_bluecache_service *service)
{
    double outstanding = (double)config->options->outstanding, apps = config->apps;
    double kept = config->options->segment_bytes * (1 / service->request_bytes + 1 / service->response_bytes);
    double flushed_per_ns = apps * outstanding / (flush_ns(service, outstanding) + service->away_ns);
    double full_per_ns = apps * (outstanding - kept) / (service->alone_ns + service->away_ns);
    double per_ns = fmin(fmax(flushed_per_ns, full_per_ns), service->most_per_ns);
    return (struct kvc_bluecache_flow){.per_ns = per_ns,
                                       .latency_ns = apps * outstanding / per_ns,
                                       .together = flushed_per_ns > full_per_ns ? outstanding : INFINITY};
}

static struct kvc_bluecache_flow closed(const struct kvc_scenario *scenario,
                                        const struct kvc_bluecache_service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double clients = (double)scenario->workload.clients, think_ns = scenario->workload.think_ns;
    double together = fmax(clients / config->apps, 1);
    double cycle_ns =
        fmax(flush_ns(service, together) + service->away_ns + think_ns, config->options->flush_pause_ns);
    double per_ns = fmin(clients / cycle_ns, service->most_per_ns);
    return (struct kvc_bluecache_flow){
        .per_ns = per_ns,
        .latency_ns = fmax(service->alone_ns + service->away_ns, clients / per_ns - think_ns),
        .together = together};
}

/* A request of an open load waits for half of the flush during which it comes, if there is one. */
static struct kvc_bluecache_flow opened(const struct kvc_scenario *scenario,
                                        const struct kvc_bluecache_service *service)
{
    const struct kvc_bluecache_config *config = kvc_bluecache_config_of(scenario);
    double offered_per_ns = kvc_workload_rate_max_mops(&scenario->workload) * 1e-3;
    struct kvc_bluecache_flow flow = {
        .per_ns = fmin(service->most_per_ns, offered_per_ns), .latency_ns = NAN, .together = INFINITY};
    if (offered_per_ns < service->most_per_ns) {
        double host_per_ns = offered_per_ns / config->apps;
        struct kvc_bluecache_service left = *service; /* By the other hosts. */
        left.lowest_per_ns -= offered_per_ns - host_per_ns;
        double during = host_per_ns * service->alone_ns;
        double waits = scenario->workload.arrival == KVC_ARRIVAL_FIXED ? during >= 1 : 1 - exp(-during);
        flow.together = added_requests(&left, host_per_ns);
        flow.latency_ns = flush_ns(&left, flow.together) * (1 + waits / 2) + service->away_ns;
    }
    return flow;
}

struct kvc_bluecache_flow kvc_bluecache_flow_of(const struct kvc_scenario *scenario,
                                                const struct kvc_bluecache_service *service)
{
    switch (scenario->workload.arrival) {
    case KVC_ARRIVAL_SATURATE:
        return saturated(kvc_bluecache_config_of(scenario), service);
    case KVC_ARRIVAL_CLOSED:
        return closed(scenario, service);
    default:
        return opened(scenario, service);
    }
}

double kvc_bluecache_messages_per_segment(const struct kvc_scenario *scenario, double together, double bytes)
{
    double segment_bytes = kvc_bluecache_config_of(scenario)->options->segment_bytes;
    return isinf(together) ? segment_bytes / bytes
                           : together / ceil((together * bytes + KVC_BLUECACHE_HEADER_BYTES) / segment_bytes);
}
