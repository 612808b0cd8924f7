#include "models/composed/answers.h"

#include <math.h>

#include "models/composed/flow/policy.h"

static void count_outcomes(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                           uint32_t first, uint32_t last)
{
    const struct kvc_batch *rows = job->rows;
    server->completed += last - first;
    for (uint32_t i = first; i < last; i++) {
        server->outcome[job->outcome[i]]++;
        server->sets += rows->op[i] == KVC_OP_SET;
        server->hots += job->hot[i];
        server->deletes += rows->op[i] == KVC_OP_DELETE;
    }
}

/* Records the answers of a job, whose rows are done at done_ns. */
static void record(struct kvc_composed_server *server, struct kvc_composed_job *job)
{
    struct kvc_recorder *recorder = &server->replica->recorder;
    const struct kvc_batch *rows = job->rows;
    double stopped_ns = server->stopped_ns, now_ns = server->slice_end_ns;
    uint32_t count = rows->count, first, last, hits = 0, gets = 0;
    for (uint32_t i = 0; i < count; i++) {
        server->done_ns[i] += stopped_ns;
        hits += job->outcome[i] == KVC_COMPOSED_HIT;
        gets += rows->op[i] == KVC_OP_GET;
    }
    for (uint32_t i = 0; i < job->marks; i++) {
        job->mark_ns[i] += stopped_ns;
    }
    kvc_recorder_answers(recorder, now_ns, rows->sent_ns, server->done_ns, count, gets, hits, &first, &last);
    kvc_composed_policy_latencies(server->policy, rows->sent_ns, server->done_ns, count);
    kvc_policy_latencies(&server->replica->policy, server->number, rows->sent_ns, server->done_ns, count);
    kvc_recorder_paths(recorder, rows->sent_ns, server->done_ns, count, job->mark_ns, job->marks, 0);
    kvc_recorder_tenants(recorder, &(struct kvc_tenant_rows){.tenant = rows->client,
                                                             .sent_ns = rows->sent_ns,
                                                             .done_ns = server->done_ns,
                                                             .outcome = job->outcome,
                                                             .hit = KVC_COMPOSED_HIT,
                                                             .miss = KVC_COMPOSED_MISS,
                                                             .other_miss = KVC_COMPOSED_FETCHED,
                                                             .times_all = true,
                                                             .count = count});
    count_outcomes(server, job, first, last);
    kvc_source_complete(server->source, rows->client, server->done_ns, count);
    for (uint32_t i = 0; i < count && kvc_source_fills(server->source); i++) {
        if (job->outcome[i] == KVC_COMPOSED_MISS) {
            kvc_source_miss_row(server->source, rows, i, server->done_ns[i]);
        }
    }
    server->served += count;
    server->in_flight -= count;
}

/* Tells clients that wait that their requests were refused. */
static void record_refusals(struct kvc_composed_server *server, struct kvc_composed_job *job)
{
    const struct kvc_batch *rows = job->rows;
    for (uint32_t i = 0; i < rows->count; i++) {
        server->done_ns[i] += server->stopped_ns;
    }
    kvc_source_complete(server->source, rows->client, server->done_ns, rows->count);
}

void kvc_composed_lose(struct kvc_composed_server *server, struct kvc_composed_job *job)
{
    const struct kvc_recorder *recorder = &server->replica->recorder;
    const struct kvc_batch *rows = job->rows;
    uint64_t before = recorder->dropped;
    kvc_recorder_dropped(&server->replica->recorder, rows->sent_ns, rows->count);
    server->lost += rows->count;
    server->dropped += recorder->dropped - before;
    server->refused += job->is_refused ? recorder->dropped - before : 0;
    server->in_flight -= rows->count;
    kvc_composed_job_take_evicted(server->evicted, job);
    if (job->is_refused) { /* An error has no value. */
        double header_bytes = (double)server->config->nic->response_header_bytes;
        job->counts.response_bytes = rows->count * header_bytes;
        job->alike = 0;
    }
}

double kvc_composed_answer(struct kvc_composed_server *server, struct kvc_composed_job *job, double began_ns,
                           double ended_ns, double before_ns, double after_ns)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t count = job->rows->count, together = 1;
    double frame_ns = 0;
    if (config->on_network) {
        double each = job->counts.response_bytes / count;
        together =
            job->is_batch ? kvc_nic_messages_per_frame(config->nic, fmax(each, 1)) : config->frame_requests;
        together = together < config->frame_answers ? together : config->frame_answers;
        together = together < count ? together : count;
        double bytes = each * together;
        if (bytes != server->answer_bytes) { /* Most answers are as long as the one before them. */
            server->answer_bytes = bytes;
            server->answer_ns = kvc_nic_wire_ns(config->nic, bytes, config->tx_parts);
        }
        frame_ns = server->answer_ns;
    }
    for (uint32_t i = 0; i < count; i += together) {
        uint32_t end = i + together < count ? i + together : count;
        double part = (double)end / count;
        double done_ns = began_ns + part * (ended_ns - began_ns) + before_ns + part * (after_ns - before_ns) +
                         frame_ns + config->path_ns;
        for (uint32_t j = i; j < end; j++) {
            server->done_ns[j] = done_ns;
        }
    }
    double answered_ns = server->done_ns[count - 1];
    if (job->is_refused) {
        record_refusals(server, job);
    } else {
        record(server, job);
    }
    return answered_ns;
}
