#include "models/composed/answers.h"

#include <math.h>
#include <string.h>

#include "models/composed/flow/outages.h"
#include "models/composed/flow/policy.h"
#include "models/composed/flow/shared.h"

enum { PARTS = 16 /* So often are clients answered while a stage fills the responses of a batch. */ };

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

/* Lets the answers of a few rows of a job be recorded with the slice, if they come after those that are too.
 * A value of the database is a miss there. Returns whether they will be. */
static bool record_later(struct kvc_composed_server *server, const struct kvc_composed_job *job,
                         uint32_t from, uint32_t until)
{
    enum { FEW = 16 /* More are recorded at once in less time. */ };
    struct kvc_answers *answers = &server->answers;
    const struct kvc_batch *rows = job->rows;
    if (answers->capacity == 0) {
        answers->marks = job->marks;
    }
    bool is_late = answers->count > 0 && server->done_ns[from] < answers->done_ns[answers->count - 1];
    if (until - from > FEW || is_late || job->marks != answers->marks) {
        return false;
    }
    kvc_answers_reserve(answers, until - from);
    for (uint32_t i = from; i < until; i++) {
        uint8_t outcome = kvc_answered_of(rows->op[i], job->outcome[i] != KVC_COMPOSED_HIT);
        kvc_answers_add(answers, rows->sent_ns[i], server->done_ns[i], outcome, rows->client[i]);
        memcpy(kvc_answers_marks(answers), job->mark_ns, job->marks * sizeof(*job->mark_ns));
    }
    return true;
}

/* Records the answers of rows of a job, which are done at done_ns. */
static void record(struct kvc_composed_server *server, struct kvc_composed_job *job, uint32_t from,
                   uint32_t until)
{
    struct kvc_recorder *recorder = &server->replica->recorder;
    const struct kvc_batch *rows = job->rows;
    const double *sent_ns = rows->sent_ns + from;
    double *done_ns = server->done_ns + from;
    uint32_t count = until - from, first = 0, last = count;
    for (uint32_t i = from; i < until; i++) {
        server->done_ns[i] += server->stopped_ns;
    }
    for (uint32_t i = 0; i < job->marks && from == 0; i++) {
        job->mark_ns[i] += server->stopped_ns;
    }
    kvc_composed_policy_latencies(server->policy, sent_ns, done_ns, count);
    kvc_policy_latencies(&server->replica->policy, server->number, sent_ns, done_ns, count);
    if (record_later(server, job, from, until)) {
        while (first < last && !kvc_recorder_measures(recorder, done_ns[first])) {
            first++;
        }
        while (last > first && !kvc_recorder_measures(recorder, done_ns[last - 1])) {
            last--;
        }
    } else {
        double now_ns = server->slice_end_ns;
        uint32_t hits = 0, gets = 0;
        for (uint32_t i = from; i < until; i++) {
            hits += job->outcome[i] == KVC_COMPOSED_HIT;
            gets += rows->op[i] == KVC_OP_GET;
        }
        kvc_recorder_latencies(recorder, now_ns, sent_ns, done_ns, count);
        kvc_recorder_completions(recorder, now_ns, sent_ns, done_ns, count, &first, &last);
        kvc_recorder_lookups(recorder, done_ns[count - 1], gets, hits);
        kvc_recorder_paths(recorder, sent_ns, done_ns, count, job->mark_ns, job->marks, 0);
        kvc_recorder_tenants(recorder, &(struct kvc_tenant_rows){.tenant = rows->client + from,
                                                                 .sent_ns = sent_ns,
                                                                 .done_ns = done_ns,
                                                                 .outcome = job->outcome + from,
                                                                 .hit = KVC_COMPOSED_HIT,
                                                                 .miss = KVC_COMPOSED_MISS,
                                                                 .other_miss = KVC_COMPOSED_FETCHED,
                                                                 .times_all = true,
                                                                 .count = count});
    }
    count_outcomes(server, job, from + first, from + last);
    kvc_source_complete(server->source, rows->client + from, done_ns, count);
    for (uint32_t i = from; i < until && kvc_source_fills(server->source); i++) {
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

/* Responses are filled in a time, and the wire delays the first ones by before_ns, the last ones by after_ns.
 */
struct filled {
    double began_ns, ended_ns, before_ns, after_ns;
};

/* Answers the rows of a job from the first one that is not answered to `until`; those of a frame together. */
static double answer_rows(struct kvc_composed_server *server, struct kvc_composed_job *job, uint32_t until,
                          const struct filled *filled)
{
    const struct kvc_composed_config *config = server->config;
    uint32_t count = job->rows->count, together = 1, first = job->answered;
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
    until -= until < count ? (until - first) % together : 0;
    if (until == first) {
        return filled->ended_ns;
    }
    for (uint32_t i = first; i < until; i += together) {
        uint32_t end = i + together < until ? i + together : until;
        double part = (double)(end - first) / (until - first);
        double done_ns = filled->began_ns + part * (filled->ended_ns - filled->began_ns) + filled->before_ns +
                         part * (filled->after_ns - filled->before_ns) + frame_ns + config->path_ns;
        for (uint32_t j = i; j < end; j++) {
            server->done_ns[j] = done_ns;
        }
    }
    double answered_ns = server->done_ns[until - 1];
    if (job->is_refused) {
        record_refusals(server, job);
    } else {
        record(server, job, first, until);
    }
    job->answered = until;
    return answered_ns;
}

double kvc_composed_answer(struct kvc_composed_server *server, struct kvc_composed_job *job, double began_ns,
                           double ended_ns, double before_ns, double after_ns)
{
    const struct filled filled = {began_ns, ended_ns, before_ns, after_ns};
    return answer_rows(server, job, job->rows->count, &filled);
}

void kvc_composed_answer_early(struct kvc_composed_server *server, uint32_t number, double busy_ns)
{
    const struct kvc_composed_job *job = server->job[number];
    for (uint32_t i = 1; i < PARTS && job->rows->count >= PARTS; i++) {
        kvc_events_add(&server->events, job->began_ns + busy_ns * i / PARTS, KVC_COMPOSED_FILLS, (uint16_t)i,
                       number);
    }
}

void kvc_composed_answer_part(struct kvc_composed_server *server, struct kvc_composed_job *job, uint32_t part,
                              bool streamed, double now_ns)
{
    struct filled filled = {job->filled_ns, now_ns, 0, 0};
    uint32_t before = job->answered;
    if (kvc_composed_outage_meets(server, job, now_ns)) {
        return;
    }
    if (streamed) {
        filled.before_ns = job->backlog_ns;
        filled.after_ns = kvc_composed_left_to_send(server, job, now_ns);
    }
    answer_rows(server, job, (uint32_t)((uint64_t)job->rows->count * part / PARTS), &filled);
    if (job->answered > before) {
        job->filled_ns = now_ns;
        job->backlog_ns = filled.after_ns;
    }
}
