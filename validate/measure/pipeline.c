#include "validate/measure/pipeline.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/clock.h"
#include "validate/measure/receive.h"

static double now_ns(const struct kvc_node_threads *node)
{
    return (kvc_clock_wall_s() - node->started_s) * 1e9;
}

static bool stopped(const struct kvc_node_threads *node)
{
    return atomic_load_explicit(&node->stop, memory_order_relaxed);
}

static void wait_a_little(const struct kvc_node_threads *node)
{
    if (node->share_cores)
        sched_yield();
#if defined(__x86_64__)
    else
        __builtin_ia32_pause();
#endif
}

/* Counts work from start_ns to end_ns as far as it falls into the measured time; requests by its end. */
static void count_work(const struct kvc_node_threads *node, struct kvc_thread_time *time, double start_ns,
                       double end_ns, uint64_t requests)
{
    double from_ns = fmax(start_ns, node->from_ns), until_ns = fmin(end_ns, node->until_ns);
    if (until_ns > from_ns)
        time->busy_ns += until_ns - from_ns;
    if (end_ns >= node->from_ns && end_ns < node->until_ns)
        time->served += requests;
}

/* ---- receiver ---- */

static void add_erase(struct kvc_buffer *buffer, uint64_t hash, uint32_t location)
{
    buffer->erase_hash[buffer->erases] = hash;
    buffer->erase_location[buffer->erases++] = location;
}

/* How many of the SETs from `first` on are of one size: they are allocated together. */
static uint32_t same_sizes(const struct kvc_frame_sets *sets, uint32_t first)
{
    const struct kvc_request *one = &sets->request[first];
    uint32_t count = 1;
    while (first + count < sets->count && sets->request[first + count].key_bytes == one->key_bytes &&
           sets->request[first + count].value_bytes == one->value_bytes)
        count++;
    return count;
}

static void write_sets(struct kvc_real_pipeline *pipeline, struct kvc_buffer *buffer,
                       const struct kvc_frame_sets *sets)
{
    struct kvc_slab *slab = pipeline->node->shard->slab;
    uint32_t location[KVC_FRAME_REQUESTS_MAX], evicted_count, count;
    struct kvc_evicted evicted[KVC_FRAME_REQUESTS_MAX];
    for (uint32_t first = 0; first < sets->count; first += count) {
        const struct kvc_request *request = &sets->request[first];
        count = same_sizes(sets, first);
        uint32_t got = kvc_slab_alloc(slab, request->key_bytes, request->value_bytes, count, location,
                                      evicted, &evicted_count, &pipeline->receive_stats);
        pipeline->rejected += count - got;
        for (uint32_t i = 0; i < evicted_count; i++)
            add_erase(buffer, evicted[i].hash, evicted[i].location);
        for (uint32_t i = 0; i < got; i++) {
            kvc_slab_write(slab, location[i], request[i].key, request[i].key_bytes, request[i].value,
                           request[i].value_bytes, &pipeline->receive_stats);
            buffer->insert_hash[buffer->inserts] = buffer->hash[sets->row[first + i]];
            buffer->insert_location[buffer->inserts++] = location[i];
        }
    }
}

static void receive_frame(struct kvc_real_pipeline *pipeline, struct kvc_buffer *buffer,
                          const struct kvc_feed_frame *frame, double sent_ns, struct kvc_frame_sets *sets)
{
    uint32_t first = buffer->rows;
    kvc_receive_frame(buffer, pipeline->feed.bytes + frame->offset, frame->bytes, KVC_MEGAKV_HASH_SEED,
                      sent_ns, sets);
    if (buffer->gets == buffer->rows)
        return;
    write_sets(pipeline, buffer, sets);
    for (uint32_t row = first; row < buffer->rows; row++)
        if (buffer->op[row] == KVC_REQUEST_DELETE)
            add_erase(buffer, buffer->hash[row], KVC_LOCATION_ANY);
}

/* Gives the buffer to the scheduler if it asked, and there is another one to go on with. */
static void swap_if_asked(struct kvc_real_pipeline *pipeline, struct kvc_buffer **filling, unsigned *swaps)
{
    if (atomic_load_explicit(&pipeline->swaps_asked, memory_order_acquire) == *swaps)
        return;
    struct kvc_buffer *next = kvc_ring_pop(&pipeline->free);
    if (next == NULL)
        return;
    kvc_ring_push(&pipeline->filled, *filling);
    *filling = next;
    (*swaps)++;
}

void *kvc_receiver_thread(void *data)
{
    struct kvc_real_pipeline *pipeline = data;
    struct kvc_node_threads *node = pipeline->node;
    struct kvc_buffer *filling = kvc_ring_pop(&pipeline->free);
    struct kvc_frame_sets *sets = malloc(sizeof *sets);
    unsigned swaps = 0;
    uint32_t at = 0;
    double lap_ns = 0;
    if (sets == NULL)
        KVC_BUG("no memory for a frame");
    while (!stopped(node)) {
        const struct kvc_feed_frame *frame = &pipeline->feed.frame[at];
        double due_ns = lap_ns + frame->sent_ns, start_ns = now_ns(node);
        swap_if_asked(pipeline, &filling, &swaps);
        if (filling->rows + frame->requests > filling->room || (!node->saturating && start_ns < due_ns)) {
            wait_a_little(node);
            continue;
        }
        receive_frame(pipeline, filling, frame, node->saturating ? start_ns : due_ns, sets);
        count_work(node, &pipeline->receive, start_ns, now_ns(node), frame->requests);
        pipeline->received += frame->requests;
        if (++at == pipeline->feed.frames) {
            at = 0;
            lap_ns += pipeline->feed.span_ns;
        }
    }
    free(sets);
    return NULL;
}

/* ---- scheduler and index ---- */

static void take_writes(struct kvc_node_threads *node, const struct kvc_buffer *buffer)
{
    if (node->inserts + buffer->inserts > node->writes_room ||
        node->erases + buffer->erases > node->writes_room)
        KVC_BUG("more index jobs than buffers hold");
    memcpy(node->insert_hash + node->inserts, buffer->insert_hash, buffer->inserts * sizeof(uint64_t));
    memcpy(node->insert_location + node->inserts, buffer->insert_location,
           buffer->inserts * sizeof(uint32_t));
    memcpy(node->erase_hash + node->erases, buffer->erase_hash, buffer->erases * sizeof(uint64_t));
    memcpy(node->erase_location + node->erases, buffer->erase_location, buffer->erases * sizeof(uint32_t));
    node->inserts += buffer->inserts;
    node->erases += buffer->erases;
}

/* A buffer of GETs alone is searched as it lies; of others the GETs' hashes are gathered first, in the
 * pipeline's part of the scratch arrays. */
static void begin_search(struct kvc_node_threads *node, uint32_t number, const struct kvc_buffer *buffer)
{
    size_t part = (size_t)number * buffer->room;
    uint32_t count = 0;
    if (buffer->gets == buffer->rows) {
        kvc_device_search_begin(node->queues, number, node->shard, buffer->hash, buffer->rows,
                                buffer->location);
        return;
    }
    for (uint32_t row = 0; row < buffer->rows; row++) {
        node->scratch_hash[part + count] = buffer->hash[row];
        node->scratch_row[part + count] = row;
        count += buffer->op[row] == KVC_REQUEST_GET;
    }
    kvc_device_search_begin(node->queues, number, node->shard, node->scratch_hash + part, count,
                            node->scratch_location + part);
}

static void end_search(struct kvc_node_threads *node, uint32_t number, struct kvc_buffer *buffer)
{
    size_t part = (size_t)number * buffer->room;
    for (uint32_t i = 0; buffer->gets < buffer->rows && i < buffer->gets; i++)
        buffer->location[node->scratch_row[part + i]] = node->scratch_location[part + i];
}

/* Asks all receivers for their buffers and waits for them; false: stopped meanwhile. */
static bool collect(struct kvc_node_threads *node, struct kvc_buffer **buffers)
{
    for (uint32_t i = 0; i < node->count; i++)
        atomic_fetch_add_explicit(&node->pipeline[i]->swaps_asked, 1, memory_order_release);
    for (uint32_t i = 0; i < node->count; i++) {
        while ((buffers[i] = kvc_ring_pop(&node->pipeline[i]->filled)) == NULL) {
            if (stopped(node))
                return false;
            wait_a_little(node);
        }
    }
    return true;
}

/* All streams' results arrive together, as in the simulation. */
static void search_all(struct kvc_node_threads *node, struct kvc_buffer **buffers)
{
    double start_ns = now_ns(node);
    uint64_t gets = 0;
    for (uint32_t i = 0; i < node->count; i++)
        begin_search(node, i, buffers[i]);
    for (uint32_t i = 0; i < node->count; i++) {
        take_writes(node, buffers[i]);
        gets += buffers[i]->gets;
    }
    if (!kvc_device_search_end(node->queues))
        atomic_store(&node->failed, true);
    for (uint32_t i = 0; i < node->count; i++)
        end_search(node, i, buffers[i]);
    double end_ns = now_ns(node);
    count_work(node, &node->search, start_ns, end_ns, gets);
    node->search_launches += end_ns >= node->from_ns && end_ns < node->until_ns;
    for (uint32_t i = 0; i < node->count; i++)
        kvc_ring_push(&node->pipeline[i]->ready, buffers[i]);
}

static void insert_all(struct kvc_node_threads *node)
{
    struct kvc_megakv_shard *shard = node->shard;
    double start_ns = now_ns(node);
    if (node->inserts + node->erases == 0)
        return;
    kvc_index_erase(shard->index, node->erase_hash, node->erase_location, node->erases,
                    node->scratch_location, &shard->index_stats);
    for (uint32_t i = 0; i < node->erases; i++)
        if (node->erase_location[i] == KVC_LOCATION_ANY && node->scratch_location[i] != KVC_LOCATION_NONE)
            kvc_slab_release_key(shard->slab, node->scratch_location[i], node->erase_hash[i]);
    kvc_index_insert(shard->index, node->insert_hash, node->insert_location, node->inserts, NULL,
                     &shard->index_stats);
    double end_ns = now_ns(node);
    count_work(node, &node->insert, start_ns, end_ns, node->inserts + node->erases);
    node->insert_launches += end_ns >= node->from_ns && end_ns < node->until_ns;
    node->inserts = node->erases = 0;
}

void *kvc_scheduler_thread(void *data)
{
    struct kvc_node_threads *node = data;
    struct kvc_buffer *buffers[KVC_PIPELINES_MAX];
    double due_ns = 0;
    for (uint64_t cycle = 1; !stopped(node); cycle++) {
        due_ns += node->cycle_ns;
        while (now_ns(node) < due_ns && !stopped(node))
            wait_a_little(node);
        if (!collect(node, buffers))
            break;
        double launched_ns = now_ns(node);
        if (launched_ns >= node->from_ns && launched_ns < node->until_ns)
            node->late_launches += launched_ns - due_ns > 0.1 * node->cycle_ns;
        if (launched_ns - due_ns >=
            node->cycle_ns) /* one that is a little late does not delay those behind */
            due_ns = launched_ns;
        search_all(node, buffers);
        if (cycle % node->delay == 0)
            insert_all(node);
    }
    return NULL;
}

/* ---- sender ---- */

struct answers {
    uint8_t *values;
    uint8_t result[KVC_ANSWER_ROWS_MAX];
    uint32_t value_bytes[KVC_ANSWER_ROWS_MAX];
    double done_ns[KVC_ANSWER_ROWS_MAX];
};

/* Values begin with their key's hash, as far as they are long enough. */
static bool is_wrong(const uint8_t *value, uint32_t value_bytes, uint64_t hash)
{
    uint64_t found = hash;
    if (value_bytes < sizeof found)
        return memcmp(value, &hash, value_bytes) != 0;
    memcpy(&found, value, sizeof found);
    return found != hash;
}

static uint64_t wrong_values(const struct kvc_buffer *buffer, uint32_t first, uint32_t count,
                             const struct answers *answers)
{
    uint64_t wrong = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) { /* what is no hit has no bytes, which are right */
        wrong += is_wrong(answers->values + at, answers->value_bytes[i], buffer->hash[first + i]);
        at += answers->value_bytes[i];
    }
    return wrong;
}

static void count_answers(struct kvc_real_pipeline *pipeline, const struct kvc_buffer *buffer, uint32_t first,
                          uint32_t count, struct answers *answers, double done_ns)
{
    const struct kvc_node_threads *node = pipeline->node;
    pipeline->answered += count;
    if (done_ns < node->from_ns || done_ns >= node->until_ns)
        return;
    uint64_t ops[KVC_REQUEST_OPS] = {0}, hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        ops[buffer->op[first + i]]++;
        hits += answers->result[i] == KVC_READ_HIT; /* only GETs have a location */
        answers->done_ns[i] = done_ns;
    }
    pipeline->hits += hits;
    pipeline->misses += ops[KVC_REQUEST_GET] - hits;
    pipeline->sets += ops[KVC_REQUEST_SET];
    pipeline->deletes += ops[KVC_REQUEST_DELETE];
    pipeline->completed += count;
    kvc_histogram_record(pipeline->latency, buffer->sent_ns + first, answers->done_ns, count);
}

/* Under getk it is the client that compares; whoever does, a wrong key is no hit. */
static void answer_rows(struct kvc_real_pipeline *pipeline, const struct kvc_buffer *buffer, uint32_t first,
                        uint32_t count, struct answers *answers)
{
    uint32_t position = 0;
    const struct kvc_slab_reads reads = {
        .count = count,
        .location = buffer->location + first,
        .keys = buffer->keys + (size_t)first * buffer->key_stride,
        .key_stride = buffer->key_stride,
        .key_bytes = buffer->key_bytes + first,
        .compare = true,
        .out = answers->values,
        .out_bytes = KVC_ANSWER_BYTES,
        .out_position = &position,
        .result = answers->result,
        .value_bytes = answers->value_bytes,
    };
    double start_ns = now_ns(pipeline->node);
    kvc_slab_read(pipeline->node->shard->slab, &reads, &pipeline->send_stats);
    double done_ns = now_ns(pipeline->node);
    count_answers(pipeline, buffer, first, count, answers, done_ns);
    pipeline->wrong += wrong_values(buffer, first, count, answers);
    count_work(pipeline->node, &pipeline->send, start_ns, now_ns(pipeline->node), count);
}

void *kvc_sender_thread(void *data)
{
    struct kvc_real_pipeline *pipeline = data;
    struct kvc_node_threads *node = pipeline->node;
    struct answers *answers = malloc(sizeof *answers);
    if (answers == NULL || (answers->values = malloc(KVC_ANSWER_BYTES)) == NULL)
        KVC_BUG("no memory for answers");
    while (!stopped(node)) {
        struct kvc_buffer *buffer = kvc_ring_pop(&pipeline->ready);
        if (buffer == NULL) {
            wait_a_little(node);
            continue;
        }
        for (uint32_t first = 0; first < buffer->rows; first += node->answer_rows)
            answer_rows(pipeline, buffer, first,
                        buffer->rows - first < node->answer_rows ? buffer->rows - first : node->answer_rows,
                        answers);
        kvc_buffer_clear(buffer);
        kvc_ring_push(&pipeline->free, buffer);
    }
    free(answers->values);
    free(answers);
    return NULL;
}
