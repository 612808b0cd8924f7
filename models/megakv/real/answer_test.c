#include "models/megakv/real/answer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "sim/base/clock.h"

enum { ROOM = 1024, SEED = 7, KEY_BYTES = 8 };

static const double for_ever_ns = 1e18;

struct fixture {
    struct kvc_megakv_slab *slab;
    struct kvc_megakv_real_buffer buffer;
    struct kvc_megakv_real_answerer answerer;
};

static void open_fixture(struct fixture *fixture, uint32_t value_bytes)
{
    fixture->slab = kvc_megakv_slab_create(4 * KVC_MEGAKV_SLAB_BYTES, SEED);
    cr_assert(fixture->slab != NULL &&
              kvc_megakv_real_buffer_open(&fixture->buffer, ROOM, KEY_BYTES, false) &&
              kvc_megakv_real_answerer_open(&fixture->answerer, fixture->slab, value_bytes));
    fixture->answerer.started_s = kvc_clock_wall_s();
    fixture->answerer.until_ns = for_ever_ns;
    fixture->answerer.compare = true;
}

static void close_fixture(struct fixture *fixture)
{
    kvc_megakv_real_answerer_close(&fixture->answerer);
    kvc_megakv_real_buffer_close(&fixture->buffer);
    kvc_megakv_slab_free(fixture->slab);
}

/* Adds a GET of `key` whose search finds the item of the key `stored`. `right` says whether its value is
 * right. */
static void add_get(struct fixture *fixture, uint64_t key, uint64_t stored, uint32_t value_bytes, bool right)
{
    struct kvc_megakv_real_buffer *buffer = &fixture->buffer;
    struct kvc_megakv_slab_stats stats = {0};
    struct kvc_megakv_slab_evicted evicted;
    uint32_t row = buffer->gets++, evictions;
    uint8_t value[64] = {0};
    uint64_t hash = kvc_hash(&stored, KEY_BYTES, SEED);
    memcpy(value, &hash, sizeof(hash));
    value[value_bytes < sizeof(hash) ? value_bytes - 1 : 7] ^= !right;
    cr_assert_eq(kvc_megakv_slab_alloc(fixture->slab, KEY_BYTES, value_bytes, 1, &buffer->location[row],
                                       &evicted, &evictions, &stats),
                 1);
    cr_assert(kvc_megakv_slab_write(fixture->slab, buffer->location[row], &stored, KEY_BYTES, value,
                                    value_bytes, &stats));
    memcpy(buffer->keys + row * KEY_BYTES, &key, KEY_BYTES);
    buffer->key_bytes[row] = KEY_BYTES;
    buffer->hash[row] = kvc_hash(&key, KEY_BYTES, SEED);
    buffer->sent_ns[row] = -1e9;
    buffer->rows++;
}

/* Adds 20 hits, 5 keys without a location, 3 keys whose item belongs to another key, and 2 hits with wrong
 * values. */
static void fill(struct fixture *fixture, uint32_t value_bytes)
{
    for (uint64_t key = 0; key < 20; key++) {
        add_get(fixture, key, key, value_bytes, true);
    }
    for (uint64_t key = 20; key < 25; key++) {
        add_get(fixture, key, key, value_bytes, true);
        fixture->buffer.location[key] = KVC_LOCATION_NONE;
    }
    for (uint64_t key = 25; key < 28; key++) {
        add_get(fixture, key, key + 100, value_bytes, true);
    }
    for (uint64_t key = 28; key < 30; key++) {
        add_get(fixture, key, key, value_bytes, false);
    }
}

/* They are counted in the same way if the client compares the keys. */
Test(answer, hits_misses_and_wrong_values)
{
    /* Shorter than the hash that values begin with, as long, and longer. */
    static const uint32_t values[] = {3, 3, 8, 8, 40, 40};
    for (int v = 0; v < 6; v++) {
        struct fixture fixture = {0};
        const struct kvc_megakv_real_answerer *answerer = &fixture.answerer;
        open_fixture(&fixture, values[v]);
        fixture.answerer.compare = v % 2 == 0;
        fill(&fixture, values[v]);
        double done_ns = kvc_megakv_real_answer_gets(&fixture.answerer, &fixture.buffer, 0, 30);
        cr_expect(done_ns > 0 && done_ns <= (kvc_clock_wall_s() - answerer->started_s) * 1e9);
        cr_expect_eq(answerer->hits, 22);
        cr_expect_eq(answerer->misses, 8);
        cr_expect_eq(answerer->wrong, 2, "%u bytes: %llu", values[v], (unsigned long long)answerer->wrong);
        cr_expect_eq(answerer->completed, 30);
        cr_expect_eq(answerer->answered, 30);
        cr_assert_eq(answerer->latency->count, 30);
        cr_expect_float_eq(kvc_histogram_mean_ns(answerer->latency), 1e9 + done_ns, 2e6);
        close_fixture(&fixture);
    }
}

Test(answer, only_the_rows_that_were_asked_for)
{
    for (int compare = 0; compare < 2; compare++) {
        struct fixture fixture = {0};
        open_fixture(&fixture, 8);
        fixture.answerer.compare = compare;
        fill(&fixture, 8);
        kvc_megakv_real_answer_gets(&fixture.answerer, &fixture.buffer, 18, 4);
        cr_expect_eq(fixture.answerer.hits, 2);
        cr_expect_eq(fixture.answerer.misses, 2);
        cr_expect_eq(fixture.answerer.wrong, 0);
        kvc_megakv_real_answer_gets(&fixture.answerer, &fixture.buffer, 29, 1);
        cr_expect_eq(fixture.answerer.wrong, 1);
        kvc_megakv_real_answer_gets(&fixture.answerer, &fixture.buffer, 27, 2);
        cr_expect_eq(fixture.answerer.wrong, 2);
        cr_expect_eq(fixture.answerer.hits, 4, "two of them with wrong values");
        cr_expect_eq(fixture.answerer.misses, 3);
        cr_expect_eq(fixture.answerer.answered, 7);
        close_fixture(&fixture);
    }
}

/* If the client compares the keys, the sender does not look at the requested ones. The values are right. */
Test(answer, only_a_sender_that_compares_reads_the_keys)
{
    for (int compare = 0; compare < 2; compare++) {
        struct fixture fixture = {0};
        open_fixture(&fixture, 8);
        fixture.answerer.compare = compare;
        fill(&fixture, 8);
        memset(fixture.buffer.keys, 0xff, 20 * KEY_BYTES);
        kvc_megakv_real_answer_gets(&fixture.answerer, &fixture.buffer, 0, 20);
        cr_expect_eq(fixture.answerer.hits, compare ? 0 : 20);
        cr_expect_eq(fixture.answerer.wrong, 0);
        close_fixture(&fixture);
    }
}

/* Before and after the measured time, only answers and wrong values are counted. */
Test(answer, times_outside_are_not_counted)
{
    static const double window_ns[][2] = {{for_ever_ns / 2, for_ever_ns}, {0, 0}};
    for (int w = 0; w < 2; w++) {
        struct fixture fixture = {0};
        struct kvc_megakv_real_answerer *answerer = &fixture.answerer;
        open_fixture(&fixture, 8);
        fill(&fixture, 8);
        answerer->time_writes = true;
        answerer->from_ns = window_ns[w][0];
        answerer->until_ns = window_ns[w][1];
        fixture.buffer.sets = 10;
        fixture.buffer.deletes = 5;
        double done_ns = kvc_megakv_real_answer_gets(answerer, &fixture.buffer, 0, 30);
        kvc_megakv_real_answer_writes(answerer, &fixture.buffer, done_ns);
        cr_expect_eq(answerer->hits + answerer->misses + answerer->sets + answerer->deletes, 0);
        cr_expect_eq(answerer->completed, 0);
        cr_expect_eq(answerer->latency->count, 0);
        cr_expect_eq(answerer->answered, 45);
        cr_expect_eq(answerer->wrong, 2);
        close_fixture(&fixture);
    }
}

Test(answer, the_end_of_the_time_is_outside)
{
    struct fixture fixture = {0};
    open_fixture(&fixture, 8);
    fixture.buffer.sets = 1;
    fixture.answerer.from_ns = 1000;
    fixture.answerer.until_ns = 2000;
    for (double done_ns = 999; done_ns <= 2000; done_ns++) {
        kvc_megakv_real_answer_writes(&fixture.answerer, &fixture.buffer, done_ns);
    }
    cr_expect_eq(fixture.answerer.sets, 1000);
    cr_expect_eq(fixture.answerer.answered, 1002);
    close_fixture(&fixture);
}

/* If the load has GETs, only their latencies are recorded. */
Test(answer, writes_are_timed_where_nothing_else_is)
{
    struct fixture fixture = {0};
    open_fixture(&fixture, 8);
    fixture.buffer.sets = 700;
    fixture.buffer.deletes = 100;
    for (uint32_t i = 0; i < 800; i++) {
        fixture.buffer.write_sent_ns[i] = 1000.0 * i;
    }
    kvc_megakv_real_answer_writes(&fixture.answerer, &fixture.buffer, 1e6);
    cr_expect_eq(fixture.answerer.sets, 700);
    cr_expect_eq(fixture.answerer.deletes, 100);
    cr_expect_eq(fixture.answerer.completed, 800);
    cr_expect_eq(fixture.answerer.latency->count, 0);
    fixture.answerer.time_writes = true;
    kvc_megakv_real_answer_writes(&fixture.answerer, &fixture.buffer, 1e6);
    cr_assert_eq(fixture.answerer.latency->count, 800);
    cr_expect_float_eq(kvc_histogram_mean_ns(fixture.answerer.latency), 1e6 - 1000 * 799 / 2.0, 1e3);
    close_fixture(&fixture);
}

Test(answer, values_fit_into_their_memory)
{
    struct kvc_megakv_real_answerer answerer;
    cr_assert(kvc_megakv_real_answerer_open(&answerer, NULL, 8));
    cr_expect_eq(answerer.rows_max, KVC_MEGAKV_SEND_ROWS);
    kvc_megakv_real_answerer_close(&answerer);
    cr_assert(kvc_megakv_real_answerer_open(&answerer, NULL, 1 << 20));
    cr_expect_eq(answerer.rows_max, 16);
    kvc_megakv_real_answerer_close(&answerer);
}
