#include "models/composed/job.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

void kvc_composed_writes_free(struct kvc_composed_writes *writes)
{
    free(writes->insert_hash);
    free(writes->insert_location);
    free(writes->erase_hash);
    free(writes->erase_location);
}

struct kvc_composed_job *kvc_composed_job_create(uint32_t rows, uint32_t key_stride)
{
    struct kvc_composed_job *job = kvc_array_of(1, sizeof(*job));
    job->rows = kvc_batch_create(rows, key_stride);
    job->location = kvc_array_of(rows, sizeof(*job->location));
    job->outcome = kvc_array_of(rows, sizeof(*job->outcome));
    job->kept = kvc_array_of(rows, sizeof(*job->kept));
    job->hot = kvc_array_of(rows, sizeof(*job->hot));
    job->route = kvc_array_of(rows, sizeof(*job->route));
    return job;
}

void kvc_composed_job_free(struct kvc_composed_job *job)
{
    if (job == NULL) {
        return;
    }
    kvc_batch_free(job->rows);
    free(job->location);
    free(job->outcome);
    free(job->kept);
    free(job->hot);
    free(job->route);
    free(job->evicted);
    kvc_composed_writes_free(&job->later.writes);
    free(job);
}

double kvc_composed_job_memory_bytes(double rows, double used, uint32_t key_stride)
{
    const struct kvc_composed_job *job = NULL;
    return sizeof(*job) + kvc_batch_memory_bytes(rows, used, key_stride) +
           kvc_array_memory_bytes(rows, used, sizeof(*job->location)) +
           kvc_array_memory_bytes(rows, used, sizeof(*job->outcome)) +
           kvc_array_memory_bytes(rows, used, sizeof(*job->kept)) +
           kvc_array_memory_bytes(rows, used, sizeof(*job->hot)) +
           kvc_array_memory_bytes(rows, used, sizeof(*job->route));
}

/* Copies a row, perhaps within a job. */
static void copy_row(struct kvc_composed_job *job, uint32_t to, const struct kvc_composed_job *from,
                     uint32_t row)
{
    struct kvc_batch *rows = job->rows;
    const struct kvc_batch *source = from->rows;
    rows->op[to] = source->op[row];
    rows->key_bytes[to] = source->key_bytes[row];
    rows->value_bytes[to] = source->value_bytes[row];
    memmove(rows->keys + (size_t)to * rows->key_stride, source->keys + (size_t)row * rows->key_stride,
            rows->key_stride);
    rows->key_id[to] = source->key_id[row];
    rows->hash[to] = source->hash[row];
    rows->sent_ns[to] = source->sent_ns[row];
    rows->client[to] = source->client[row];
    job->location[to] = from->location[row];
    job->outcome[to] = from->outcome[row];
    job->kept[to] = from->kept[row];
    job->hot[to] = from->hot[row];
    job->route[to] = from->route[row];
}

void kvc_composed_job_append(struct kvc_composed_job *job, const struct kvc_composed_job *from,
                             uint32_t first, uint32_t count)
{
    struct kvc_batch *to = job->rows;
    const struct kvc_batch *rows = from->rows;
    uint32_t at = to->count;
    if (at + count > to->capacity) {
        KVC_BUG("a batch of %u requests has no room for %u more", at, count);
    }
    job->knows_outcome = from->knows_outcome && (at == 0 || job->knows_outcome);
    if (count == 1) { /* Most frames of many stores. */
        copy_row(job, at, from, first);
        to->count++;
        job->kept_count += from->kept[first];
        return;
    }
    memcpy(to->op + at, rows->op + first, count * sizeof(*to->op));
    memcpy(to->key_bytes + at, rows->key_bytes + first, count * sizeof(*to->key_bytes));
    memcpy(to->value_bytes + at, rows->value_bytes + first, count * sizeof(*to->value_bytes));
    memcpy(to->keys + (size_t)at * to->key_stride, rows->keys + (size_t)first * to->key_stride,
           (size_t)count * to->key_stride);
    memcpy(to->key_id + at, rows->key_id + first, count * sizeof(*to->key_id));
    memcpy(to->hash + at, rows->hash + first, count * sizeof(*to->hash));
    memcpy(to->sent_ns + at, rows->sent_ns + first, count * sizeof(*to->sent_ns));
    memcpy(to->client + at, rows->client + first, count * sizeof(*to->client));
    memcpy(job->location + at, from->location + first, count * sizeof(*job->location));
    memcpy(job->outcome + at, from->outcome + first, count * sizeof(*job->outcome));
    memcpy(job->kept + at, from->kept + first, count * sizeof(*job->kept));
    memcpy(job->hot + at, from->hot + first, count * sizeof(*job->hot));
    memcpy(job->route + at, from->route + first, count * sizeof(*job->route));
    to->count += count;
    for (uint32_t i = first; i < first + count; i++) {
        job->kept_count += from->kept[i];
    }
}

void kvc_composed_job_evict(struct kvc_composed_job *job, const struct kvc_megakv_slab_evicted *evicted,
                            uint32_t count)
{
    if (count == 0) {
        return;
    }
    if (job->evicted_count + count > job->evicted_room) {
        job->evicted_room = 2 * (job->evicted_count + count);
        job->evicted = kvc_array_grown(job->evicted, job->evicted_room, sizeof(*job->evicted));
    }
    memcpy(job->evicted + job->evicted_count, evicted, count * sizeof(*evicted));
    job->evicted_count += count;
}

void kvc_composed_job_take_evicted(struct kvc_composed_job *job, struct kvc_composed_job *from)
{
    kvc_composed_job_evict(job, from->evicted, from->evicted_count);
    from->evicted_count = 0;
}

void kvc_composed_job_mark(struct kvc_composed_job *job, double now_ns)
{
    if (job->marks < KVC_PATHS_PARTS_MAX - 1) {
        job->mark_ns[job->marks++] = now_ns;
    }
}

/* Takes over how far a job has come. */
static void follow(struct kvc_composed_job *job, const struct kvc_composed_job *from)
{
    job->pipeline = from->pipeline;
    job->is_batch = from->is_batch;
    job->is_apart = from->is_apart;
    job->buffer = from->buffer;
    job->ready_ns = from->ready_ns;
    job->knows_outcome = from->knows_outcome;
    job->marks = from->marks;
    memcpy(job->mark_ns, from->mark_ns, sizeof(job->mark_ns));
}

void kvc_composed_job_split(struct kvc_composed_job *from, const bool *moves, struct kvc_composed_job *to)
{
    uint32_t left = 0, count = from->rows->count;
    for (uint32_t i = 0; i < count; i++) {
        if (moves[i]) {
            kvc_composed_job_append(to, from, i, 1);
            from->kept_count -= from->kept[i];
        } else {
            copy_row(from, left++, from, i);
        }
    }
    from->rows->count = left;
    follow(to, from);
}

void kvc_composed_job_take_apart(struct kvc_composed_job *job, struct kvc_composed_job *batch, uint32_t row)
{
    follow(job, batch);
    job->is_batch = false;
    job->is_apart = true;
    kvc_composed_job_append(job, batch, row, 1);
    kvc_composed_job_take_evicted(job, batch);
}

struct kvc_composed_counts kvc_composed_job_count_rows(const struct kvc_composed_job *job, uint32_t first,
                                                       uint32_t count,
                                                       const struct kvc_composed_config *config)
{
    const struct kvc_batch *rows = job->rows;
    const uint8_t *op = rows->op + first, *outcome = job->outcome + first, *hot = job->hot + first,
                  *key_bytes = rows->key_bytes + first;
    const uint32_t *value_bytes = rows->value_bytes + first;
    uint32_t sets = 0, deletes = 0, hits = 0, hots = 0, fetches = 0, keys = 0, set_keys = 0, delete_keys = 0;
    uint64_t set_bytes = 0, got_bytes = 0, fetched_bytes = 0;
    for (uint32_t i = 0; i < count; i++) { /* Several loops, which the compiler turns into vectors. */
        sets += op[i] == KVC_OP_SET;
        deletes += op[i] == KVC_OP_DELETE;
        hits += outcome[i] == KVC_COMPOSED_HIT;
        fetches += outcome[i] == KVC_COMPOSED_FETCHED;
        hots += hot[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        keys += key_bytes[i];
        set_keys += op[i] == KVC_OP_SET ? key_bytes[i] : 0;
        delete_keys += op[i] == KVC_OP_DELETE ? key_bytes[i] : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        set_bytes += op[i] == KVC_OP_SET ? value_bytes[i] : 0;
        got_bytes += outcome[i] == KVC_COMPOSED_HIT ? value_bytes[i] : 0;
    }
    for (uint32_t i = 0; i < count && fetches > 0; i++) {
        got_bytes += outcome[i] == KVC_COMPOSED_FETCHED ? value_bytes[i] : 0;
        fetched_bytes += outcome[i] == KVC_COMPOSED_FETCHED ? key_bytes[i] + value_bytes[i] : 0;
    }
    double in_header = config->nic != NULL ? (double)config->nic->request_header_bytes : 0;
    double out_header = config->nic != NULL ? (double)config->nic->response_header_bytes : 0;
    return (struct kvc_composed_counts){
        .requests = count,
        .ops = {[KVC_OP_GET] = count - sets - deletes, [KVC_OP_SET] = sets, [KVC_OP_DELETE] = deletes},
        .op_bytes = {[KVC_OP_GET] = (double)(keys - set_keys - delete_keys + got_bytes),
                     [KVC_OP_SET] = (double)(set_keys + set_bytes),
                     [KVC_OP_DELETE] = delete_keys},
        .hits = hits,
        .hots = hots,
        .filled = config->fills ? fetches : 0,
        .filled_bytes = config->fills ? (double)fetched_bytes : 0,
        .request_bytes = count * in_header + (double)(keys + set_bytes),
        .response_bytes = count * out_header + (double)got_bytes};
}

void kvc_composed_job_count(struct kvc_composed_job *job, const struct kvc_composed_config *config)
{
    const struct kvc_batch *rows = job->rows;
    bool is_single = rows->count == 1; /* Most jobs of many stores. */
    uint64_t what = is_single ? 1u | (uint32_t)rows->op[0] << 1 | (uint32_t)job->outcome[0] << 3 |
                                    (uint32_t)job->hot[0] << 5 | (uint32_t)rows->key_bytes[0] << 6
                              : 0;
    uint64_t alike = is_single ? (uint64_t)rows->value_bytes[0] << 32 | what : 0;
    if (is_single && job->alike == alike) { /* It counted such a row before. */
        return;
    }
    job->alike = alike;
    job->counts = kvc_composed_job_count_rows(job, 0, rows->count, config);
}

bool kvc_composed_job_meets(const struct kvc_composed_job *job, uint32_t row, uint32_t when,
                            double large_bytes)
{
    static const uint32_t kinds[] = {
        KVC_COMPOSED_WHEN_GET | KVC_COMPOSED_WHEN_SET | KVC_COMPOSED_WHEN_DELETE,
        KVC_COMPOSED_WHEN_HIT | KVC_COMPOSED_WHEN_MISS, KVC_COMPOSED_WHEN_LARGE | KVC_COMPOSED_WHEN_SMALL,
        KVC_COMPOSED_WHEN_HOT | KVC_COMPOSED_WHEN_COLD, KVC_COMPOSED_WHEN_ROUTES};
    uint32_t has = 1u << job->rows->op[row];
    has |= (uint32_t)KVC_COMPOSED_WHEN_ROUTED << job->route[row];
    static const uint32_t outcomes[KVC_COMPOSED_OUTCOMES] = {
        [KVC_COMPOSED_HIT] = KVC_COMPOSED_WHEN_HIT,
        [KVC_COMPOSED_MISS] = KVC_COMPOSED_WHEN_MISS,
        [KVC_COMPOSED_FETCHED] = KVC_COMPOSED_WHEN_MISS,
    };
    has |= outcomes[job->outcome[row]];
    has |= job->rows->value_bytes[row] >= large_bytes ? KVC_COMPOSED_WHEN_LARGE : KVC_COMPOSED_WHEN_SMALL;
    has |= job->hot[row] != 0 ? KVC_COMPOSED_WHEN_HOT : KVC_COMPOSED_WHEN_COLD;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if ((when & kinds[i]) != 0 && (when & kinds[i] & has) == 0) {
            return false;
        }
    }
    return true;
}
