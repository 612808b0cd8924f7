#include "models/megakv/real/answer.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/bytes.h"
#include "sim/base/clock.h"

enum { VALUES_BYTES = 16 << 20 };

bool kvc_megakv_real_answerer_open(struct kvc_megakv_real_answerer *answerer, struct kvc_megakv_slab *slab,
                                   uint32_t value_bytes)
{
    uint32_t rows = VALUES_BYTES / (value_bytes > 0 ? value_bytes : 1);
    *answerer = (struct kvc_megakv_real_answerer){
        .slab = slab,
        .rows_max = rows < KVC_MEGAKV_SEND_ROWS ? rows : KVC_MEGAKV_SEND_ROWS,
        .oldest_sent_ns = INFINITY,
        .values = malloc(VALUES_BYTES),
        .latency = calloc(1, sizeof(struct kvc_histogram)),
    };
    if (answerer->values == NULL || answerer->latency == NULL) {
        return false;
    }
    kvc_histogram_reset(answerer->latency);
    return true;
}

void kvc_megakv_real_answerer_close(struct kvc_megakv_real_answerer *answerer)
{
    free(answerer->values);
    free(answerer->latency);
}

/* Returns whether a value is wrong: it must begin with the hash of its key, or with as many bytes of the
 * hash as fit. */
static bool is_wrong(const uint8_t *value, uint32_t value_bytes, uint64_t hash)
{
    uint32_t compared = value_bytes < sizeof(hash) ? value_bytes : (uint32_t)sizeof(hash);
    return kvc_bytes_word_64(value, compared) != kvc_bytes_word_64((const uint8_t *)&hash, compared);
}

/* Reads the items of `count` rows and copies out their values from the start of the buffer of values. */
static void read_items(struct kvc_megakv_real_answerer *answerer, const struct kvc_megakv_real_buffer *buffer,
                       uint32_t first, uint32_t count, bool compare, struct kvc_megakv_slab_stats *stats)
{
    uint32_t position = 0;
    const struct kvc_megakv_slab_reads reads = {
        .count = count,
        .location = buffer->location + first,
        .keys = buffer->keys + (size_t)first * buffer->key_stride,
        .key_stride = buffer->key_stride,
        .key_bytes = buffer->key_bytes + first,
        .compare = compare,
        .out = answerer->values,
        .out_bytes = VALUES_BYTES,
        .out_position = &position,
        .result = answerer->result,
        .value_bytes = answerer->value_bytes,
    };
    kvc_megakv_slab_read(answerer->slab, &reads, stats);
}

/* Marks the rows whose values are wrong, and returns their number. */
static uint32_t find_wrong(struct kvc_megakv_real_answerer *answerer, const uint64_t *hash, uint32_t count)
{
    uint32_t wrong = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) { /* A miss has no bytes, so it is never wrong. */
        if (is_wrong(answerer->values + at, answerer->value_bytes[i], hash[i])) {
            answerer->wrong_row[wrong++] = i;
        }
        at += answerer->value_bytes[i];
    }
    return wrong;
}

/* Sorts out the `wrong` rows of a batch that was read without a comparison of keys: their items belong to
 * other keys, or their values are damaged. The former become mismatches. Returns the number of the latter. An
 * item that has the requested key and its value by now was another key's when it was first read. */
static uint32_t tell_mismatches(struct kvc_megakv_real_answerer *answerer,
                                const struct kvc_megakv_real_buffer *buffer, uint32_t first, uint32_t wrong)
{
    uint32_t damaged = 0;
    for (uint32_t i = 0; i < wrong; i++) {
        struct kvc_megakv_slab_stats aside = {0};
        uint32_t row = answerer->wrong_row[i];
        uint8_t first_result = answerer->result[0];
        read_items(answerer, buffer, first + row, 1, true, &aside);
        bool is_damaged = is_wrong(answerer->values, answerer->value_bytes[0], buffer->hash[first + row]);
        answerer->result[0] = first_result;
        answerer->result[row] = is_damaged ? KVC_MEGAKV_SLAB_HIT : KVC_MEGAKV_SLAB_MISMATCH;
        damaged += is_damaged;
    }
    return damaged;
}

static double now_ns(const struct kvc_megakv_real_answerer *answerer)
{
    return (kvc_clock_wall_s() - answerer->started_s) * 1e9;
}

static bool is_measured(const struct kvc_megakv_real_answerer *answerer, double done_ns)
{
    return done_ns >= answerer->from_ns && done_ns < answerer->until_ns;
}

static void record_latencies(struct kvc_megakv_real_answerer *answerer, const double *sent_ns, uint32_t count,
                             double done_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        answerer->done_ns[i] = done_ns;
    }
    kvc_histogram_record(answerer->latency, sent_ns, answerer->done_ns, count);
}

double kvc_megakv_real_answer_gets(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, uint32_t first,
                                   uint32_t count)
{
    uint64_t hits = 0;
    read_items(answerer, buffer, first, count, answerer->compare, &answerer->stats);
    double done_ns = now_ns(answerer);
    uint32_t wrong = find_wrong(answerer, buffer->hash + first, count);
    answerer->wrong += answerer->compare ? wrong : tell_mismatches(answerer, buffer, first, wrong);
    answerer->answered += count;
    if (!is_measured(answerer, done_ns)) {
        return done_ns;
    }
    for (uint32_t i = 0; i < count; i++) {
        hits += answerer->result[i] == KVC_MEGAKV_SLAB_HIT;
    }
    answerer->hits += hits;
    answerer->misses += count - hits;
    answerer->completed += count;
    answerer->oldest_sent_ns = fmin(answerer->oldest_sent_ns, buffer->sent_ns[first]);
    record_latencies(answerer, buffer->sent_ns + first, count, done_ns);
    return done_ns;
}

void kvc_megakv_real_answer_writes(struct kvc_megakv_real_answerer *answerer,
                                   const struct kvc_megakv_real_buffer *buffer, double done_ns)
{
    uint32_t count = buffer->sets + buffer->deletes;
    answerer->answered += count;
    if (!is_measured(answerer, done_ns)) {
        return;
    }
    answerer->sets += buffer->sets;
    answerer->deletes += buffer->deletes;
    answerer->completed += count;
    if (answerer->time_writes && count > 0) {
        answerer->oldest_sent_ns = fmin(answerer->oldest_sent_ns, buffer->write_sent_ns[0]);
    }
    for (uint32_t first = 0; answerer->time_writes && first < count; first += KVC_MEGAKV_SEND_ROWS) {
        record_latencies(answerer, buffer->write_sent_ns + first,
                         count - first < KVC_MEGAKV_SEND_ROWS ? count - first : KVC_MEGAKV_SEND_ROWS,
                         done_ns);
    }
}
