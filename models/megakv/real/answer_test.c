#include "models/megakv/real/answer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "sim/base/clock.h"

enum { ROOM = 1024, SEED = 7, KEY_BYTES = 8 };

static const double for_ever_ns = 1e18;

struct bed {
    struct kvc_slab *slab;
    struct kvc_buffer buffer;
    struct kvc_answerer answerer;
};

static void open_bed(struct bed *bed, uint32_t value_bytes)
{
    bed->slab = kvc_slab_create(4 * KVC_SLAB_BYTES, SEED);
    cr_assert(bed->slab != NULL && kvc_buffer_open(&bed->buffer, ROOM, KEY_BYTES, false) &&
              kvc_answerer_open(&bed->answerer, bed->slab, value_bytes));
    bed->answerer.started_s = kvc_clock_wall_s();
    bed->answerer.until_ns = for_ever_ns;
}

static void close_bed(struct bed *bed)
{
    kvc_answerer_close(&bed->answerer);
    kvc_buffer_close(&bed->buffer);
    kvc_slab_free(bed->slab);
}

/* Adds a GET of the key; the item found for it is the one of `stored`, whose value is right or not. */
static void add_get(struct bed *bed, uint64_t key, uint64_t stored, uint32_t value_bytes, bool right)
{
    struct kvc_buffer *buffer = &bed->buffer;
    struct kvc_slab_stats stats = {0};
    struct kvc_evicted evicted;
    uint32_t row = buffer->gets++, evictions;
    uint8_t value[64] = {0};
    uint64_t hash = kvc_hash(&stored, KEY_BYTES, SEED);
    memcpy(value, &hash, sizeof hash);
    value[value_bytes < sizeof hash ? value_bytes - 1 : 7] ^= !right;
    cr_assert_eq(kvc_slab_alloc(bed->slab, KEY_BYTES, value_bytes, 1, &buffer->location[row], &evicted,
                                &evictions, &stats),
                 1);
    cr_assert(
        kvc_slab_write(bed->slab, buffer->location[row], &stored, KEY_BYTES, value, value_bytes, &stats));
    memcpy(buffer->keys + row * KEY_BYTES, &key, KEY_BYTES);
    buffer->key_bytes[row] = KEY_BYTES;
    buffer->hash[row] = kvc_hash(&key, KEY_BYTES, SEED);
    buffer->sent_ns[row] = -1e9;
    buffer->rows++;
}

/* 20 hits, 5 keys without a location, 3 whose item is another's; 2 more hits have wrong values. */
static void fill(struct bed *bed, uint32_t value_bytes)
{
    for (uint64_t key = 0; key < 20; key++)
        add_get(bed, key, key, value_bytes, true);
    for (uint64_t key = 20; key < 25; key++) {
        add_get(bed, key, key, value_bytes, true);
        bed->buffer.location[key] = KVC_LOCATION_NONE;
    }
    for (uint64_t key = 25; key < 28; key++)
        add_get(bed, key, key + 100, value_bytes, true);
    for (uint64_t key = 28; key < 30; key++)
        add_get(bed, key, key, value_bytes, false);
}

Test(answer, hits_misses_and_wrong_values)
{
    static const uint32_t values[] = {3, 8,
                                      40}; /* shorter than the hash that they begin with, as long, longer */
    for (int v = 0; v < 3; v++) {
        struct bed bed = {0};
        const struct kvc_answerer *answerer = &bed.answerer;
        open_bed(&bed, values[v]);
        fill(&bed, values[v]);
        double done_ns = kvc_answer_gets(&bed.answerer, &bed.buffer, 0, 30);
        cr_expect(done_ns > 0 && done_ns <= (kvc_clock_wall_s() - answerer->started_s) * 1e9);
        cr_expect_eq(answerer->hits, 22);
        cr_expect_eq(answerer->misses, 8);
        cr_expect_eq(answerer->wrong, 2, "%u bytes: %llu", values[v], (unsigned long long)answerer->wrong);
        cr_expect_eq(answerer->completed, 30);
        cr_expect_eq(answerer->answered, 30);
        cr_assert_eq(answerer->latency->count, 30);
        cr_expect_float_eq(kvc_histogram_mean_ns(answerer->latency), 1e9 + done_ns, 2e6);
        close_bed(&bed);
    }
}

Test(answer, only_the_rows_that_were_asked_for)
{
    struct bed bed = {0};
    open_bed(&bed, 8);
    fill(&bed, 8);
    kvc_answer_gets(&bed.answerer, &bed.buffer, 18, 4);
    cr_expect_eq(bed.answerer.hits, 2);
    cr_expect_eq(bed.answerer.misses, 2);
    cr_expect_eq(bed.answerer.wrong, 0);
    kvc_answer_gets(&bed.answerer, &bed.buffer, 29, 1);
    cr_expect_eq(bed.answerer.wrong, 1);
    cr_expect_eq(bed.answerer.answered, 5);
    close_bed(&bed);
}

/* Before and after the measured time nothing is counted but that it was answered, and wrong values. */
Test(answer, times_outside_are_not_counted)
{
    static const double window_ns[][2] = {{for_ever_ns / 2, for_ever_ns}, {0, 0}};
    for (int w = 0; w < 2; w++) {
        struct bed bed = {0};
        struct kvc_answerer *answerer = &bed.answerer;
        open_bed(&bed, 8);
        fill(&bed, 8);
        answerer->time_writes = true;
        answerer->from_ns = window_ns[w][0];
        answerer->until_ns = window_ns[w][1];
        bed.buffer.sets = 10;
        bed.buffer.deletes = 5;
        double done_ns = kvc_answer_gets(answerer, &bed.buffer, 0, 30);
        kvc_answer_writes(answerer, &bed.buffer, done_ns);
        cr_expect_eq(answerer->hits + answerer->misses + answerer->sets + answerer->deletes, 0);
        cr_expect_eq(answerer->completed, 0);
        cr_expect_eq(answerer->latency->count, 0);
        cr_expect_eq(answerer->answered, 45);
        cr_expect_eq(answerer->wrong, 2);
        close_bed(&bed);
    }
}

Test(answer, the_end_of_the_time_is_outside)
{
    struct bed bed = {0};
    open_bed(&bed, 8);
    bed.buffer.sets = 1;
    bed.answerer.from_ns = 1000;
    bed.answerer.until_ns = 2000;
    for (double done_ns = 999; done_ns <= 2000; done_ns++)
        kvc_answer_writes(&bed.answerer, &bed.buffer, done_ns);
    cr_expect_eq(bed.answerer.sets, 1000);
    cr_expect_eq(bed.answerer.answered, 1002);
    close_bed(&bed);
}

/* Where there are GETs, it is their latencies that count. */
Test(answer, writes_are_timed_where_nothing_else_is)
{
    struct bed bed = {0};
    open_bed(&bed, 8);
    bed.buffer.sets = 700;
    bed.buffer.deletes = 100;
    for (uint32_t i = 0; i < 800; i++)
        bed.buffer.write_sent_ns[i] = 1000.0 * i;
    kvc_answer_writes(&bed.answerer, &bed.buffer, 1e6);
    cr_expect_eq(bed.answerer.sets, 700);
    cr_expect_eq(bed.answerer.deletes, 100);
    cr_expect_eq(bed.answerer.completed, 800);
    cr_expect_eq(bed.answerer.latency->count, 0);
    bed.answerer.time_writes = true;
    kvc_answer_writes(&bed.answerer, &bed.buffer, 1e6);
    cr_assert_eq(bed.answerer.latency->count, 800);
    cr_expect_float_eq(kvc_histogram_mean_ns(bed.answerer.latency), 1e6 - 1000 * 799 / 2.0, 1e3);
    close_bed(&bed);
}

Test(answer, values_fit_into_their_memory)
{
    struct kvc_answerer answerer;
    cr_assert(kvc_answerer_open(&answerer, NULL, 8));
    cr_expect_eq(answerer.rows_max, KVC_MEGAKV_SEND_ROWS);
    kvc_answerer_close(&answerer);
    cr_assert(kvc_answerer_open(&answerer, NULL, 1 << 20));
    cr_expect_eq(answerer.rows_max, 16);
    kvc_answerer_close(&answerer);
}
