#include "sim/run/slices/slices.h"

#include <math.h>

#include "sim/engine.h"

static void record_busy(struct kvc_slice_server *server, double now_ns)
{
    const struct kvc_slices *slices = server->slices;
    double busy_ns[KVC_BATCH_STAGES];
    server->busy(server->data, busy_ns);
    for (uint32_t i = 0; i < slices->stages; i++) {
        kvc_recorder_worked(&slices->replica->recorder, i, now_ns, busy_ns[i] - server->busy_before_ns[i]);
        server->busy_before_ns[i] = busy_ns[i];
    }
}

static void record_answers(struct kvc_slice_server *server, double now_ns)
{
    struct kvc_slices *slices = server->slices;
    struct kvc_replica *replica = slices->replica;
    struct kvc_answers *answers = server->answers;
    uint32_t first, last, hits = 0, gets = 0;
    kvc_recorder_offered(&replica->recorder, answers->offered_ns, answers->offered);
    kvc_recorder_latencies(&replica->recorder, now_ns, answers->sent_ns, answers->done_ns, answers->count);
    if (answers->marks > 0 && answers->count > 0) {
        kvc_recorder_paths(&replica->recorder, answers->sent_ns, answers->done_ns, answers->count,
                           answers->mark_ns, answers->marks, answers->marks);
    }
    kvc_recorder_completions(&replica->recorder, now_ns, answers->sent_ns, answers->done_ns, answers->count,
                             &first, &last);
    kvc_recorder_tenants(&replica->recorder, &(struct kvc_tenant_rows){.tenant = answers->client,
                                                                       .sent_ns = answers->sent_ns,
                                                                       .done_ns = answers->done_ns,
                                                                       .outcome = answers->outcome,
                                                                       .hit = KVC_ANSWERED_HIT,
                                                                       .miss = KVC_ANSWERED_MISS,
                                                                       .other_miss = KVC_ANSWERED_MISS,
                                                                       .times_all = true,
                                                                       .count = answers->count});
    for (uint32_t i = first; i < last; i++) {
        slices->answered[answers->outcome[i]]++;
    }
    for (uint32_t i = 0; i < answers->count; i++) {
        bool hit = answers->outcome[i] == KVC_ANSWERED_HIT;
        hits += hit;
        gets += hit || answers->outcome[i] == KVC_ANSWERED_MISS;
    }
    /* At its middle, because its end may be that of the measured time. */
    kvc_recorder_lookups(&replica->recorder, now_ns - slices->slice_ns / 2, gets, hits);
    if (!slices->completes) {
        kvc_source_complete(replica->source, answers->client, answers->done_ns, answers->count);
    }
    answers->count = answers->offered = 0;
}

/* Lets a server process the slice that ends now. */
static void serve(struct kvc_slice_server *server, double now_ns)
{
    const struct kvc_slices *slices = server->slices;
    uint64_t operations = server->advance(server->data, now_ns);
    kvc_timeline_event(slices->replica->context->timeline, server->number, 0, "operations",
                       now_ns - slices->slice_ns, slices->slice_ns, operations);
    if (server->share != NULL) {
        server->share(server->data);
    }
    record_busy(server, now_ns);
    record_answers(server, now_ns);
}

void kvc_slice_server_main(void *data)
{
    struct kvc_slice_server *first = data;
    const struct kvc_slices *slices = first->slices;
    struct kvc_monitor *monitor = &slices->replica->monitor;
    double slice_ns = slices->slice_ns, window_ns = monitor->recorder->window_ns, edge_ns = 0;
    if (slices->looks) {
        kvc_monitor_look(monitor, edge_ns);
    }
    for (uint64_t slice = 1, window = 1;; slice++) {
        double now_ns = (double)slice * slice_ns - first->ahead_ns;
        kvc_engine_sleep_until_ns(now_ns);
        for (struct kvc_slice_server *server = first; server != NULL; server = server->next) {
            serve(server, now_ns);
        }
        edge_ns = (double)window * window_ns;
        if (slices->looks && now_ns > edge_ns - 1e-6 * slice_ns) { /* Rounding must not delay the look. */
            kvc_monitor_look(monitor, fmax(now_ns, edge_ns));
            window++;
        }
    }
}

void kvc_slices_report_stage(const struct kvc_slices *slices, uint32_t stage, const char *name,
                             const char *device, double servers, struct kvc_result *result)
{
    struct kvc_stage_result *added =
        kvc_recorder_report_stage(&slices->replica->recorder, name, device, 1u << stage, servers, result);
    added->utilization_frac = fmin(added->utilization_frac, 1);
}

void kvc_slices_totals(const struct kvc_slices *slices, struct kvc_result *result)
{
    const uint64_t *answered = slices->answered;
    result->hits = answered[KVC_ANSWERED_HIT];
    result->misses = answered[KVC_ANSWERED_MISS];
    result->sets = answered[KVC_ANSWERED_SET];
    result->deletes = answered[KVC_ANSWERED_DELETE];
    result->completed = result->hits + result->misses + result->sets + result->deletes;
}
