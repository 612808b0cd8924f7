#include "models/memcachedgpu/real/answer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "models/memcachedgpu/real/traffic.h"

enum { KEYS = 96, BATCH = 128, FRAMES = 128, STRIDE_BYTES = 64, VALUE_BYTES = 30 };

/* A table on the CPU, a batch that it answers, and the thread that completes the responses. */
struct bench {
    struct kvc_set_assoc *table;
    struct kvc_memcachedgpu_real_layout layout;
    uint8_t *image, *heads;
    struct kvc_memcachedgpu_get_result results[BATCH];
    struct kvc_memcachedgpu_real_slabs slabs;
    struct kvc_memcachedgpu_real_answerer answerer;
};

/* Stores keys 0 to KEYS - 1, each with its number as its location. */
static void open_bench(struct bench *bench, uint32_t key_bytes)
{
    struct kvc_set_assoc_params params = {.sets = 64, .ways = 16, .key_bytes_max = key_bytes};
    struct kvc_index_stats stats = {0};
    uint8_t key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    uint32_t offset = 0;
    uint8_t bytes = (uint8_t)key_bytes;
    memset(bench, 0, sizeof(*bench));
    bench->table = kvc_set_assoc_create(&params);
    for (uint32_t k = 0; k < KEYS; k++) {
        struct kvc_set_assoc_item item = {.location = k, .value_bytes = VALUE_BYTES};
        kvc_memcachedgpu_text_key(key, k, key_bytes);
        kvc_table_insert(&bench->table->base, &(struct kvc_set_assoc_keys){key, &offset, &bytes}, &item, 1, k,
                         NULL, &stats);
    }
    bench->layout = kvc_memcachedgpu_real_layout_of(BATCH, key_bytes);
    bench->image = aligned_alloc(128, bench->layout.image_bytes);
    bench->heads = aligned_alloc(128, (size_t)BATCH * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    memset(bench->image, 0, bench->layout.image_bytes);
    cr_assert(kvc_memcachedgpu_real_slabs_open(&bench->slabs, KEYS, STRIDE_BYTES));
    cr_assert(kvc_memcachedgpu_real_answerer_open(&bench->answerer, &bench->slabs, FRAMES));
}

static void close_bench(struct bench *bench)
{
    kvc_set_assoc_free(bench->table);
    free(bench->image);
    free(bench->heads);
    kvc_memcachedgpu_real_answerer_close(&bench->answerer);
    kvc_memcachedgpu_real_slabs_close(&bench->slabs);
}

/* Requests keys 0 to BATCH - 1, so that the last ones miss. */
static void answer_batch(struct bench *bench, uint32_t key_bytes)
{
    uint8_t key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    struct kvc_index_stats stats = {0};
    for (uint32_t i = 0; i < BATCH; i++) {
        kvc_memcachedgpu_text_key(key, i, key_bytes);
        kvc_memcachedgpu_real_put(&bench->layout, bench->image, i, key, key_bytes);
    }
    struct kvc_memcachedgpu_get_batch batch =
        kvc_memcachedgpu_real_batch_of(&bench->layout, bench->image, BATCH, 1000);
    batch.responses = bench->heads;
    batch.results = bench->results;
    kvc_memcachedgpu_get(bench->table, &batch, &stats);
    kvc_memcachedgpu_real_answer(&bench->answerer, bench->heads, bench->results, BATCH);
}

/* A hit's frame ends with its own value and the end of the response; its headers say how long it is. */
static void expect_hit(const struct bench *bench, uint32_t i, const uint8_t *key, uint32_t key_bytes)
{
    const uint8_t *frame = bench->answerer.frames + (size_t)i * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES;
    uint32_t bytes = bench->answerer.frame_bytes[i], head_bytes = bytes - VALUE_BYTES - 7;
    struct kvc_memcachedgpu_packet_response response;
    cr_assert(kvc_memcachedgpu_packet_read_response(frame, head_bytes, &response));
    cr_assert(response.found && response.key_bytes == key_bytes && response.value_bytes == VALUE_BYTES);
    cr_assert_arr_eq(response.key, key, key_bytes);
    for (uint32_t at = 0; at < VALUE_BYTES; at++) {
        cr_assert_eq(frame[head_bytes + at], kvc_memcachedgpu_real_value_byte(i, at));
    }
    cr_assert_arr_eq(frame + bytes - 7, "\r\nEND\r\n", 7);
    cr_assert_eq(kvc_memcachedgpu_packet_load_16(frame + 16), bytes - 14, "length in the IP header");
}

static void expect_frames(uint32_t key_bytes)
{
    struct bench bench;
    uint8_t key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    open_bench(&bench, key_bytes);
    answer_batch(&bench, key_bytes);
    cr_assert_eq(bench.answerer.answered, BATCH);
    cr_assert_eq(bench.answerer.hits, KEYS);
    cr_assert_eq(bench.answerer.unanswered, 0);
    for (uint32_t i = 0; i < BATCH; i++) {
        uint8_t *whole = bench.answerer.frames + (size_t)i * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES;
        uint32_t bytes = bench.answerer.frame_bytes[i];
        cr_assert(kvc_memcachedgpu_real_frame_is_right(whole, bytes));
        whole[bytes - 9]++; /* The last byte of a value, or a byte of a miss's head. */
        cr_assert_not(kvc_memcachedgpu_real_frame_is_right(whole, bytes) && i < KEYS);
        whole[bytes - 9]--;
        kvc_memcachedgpu_text_key(key, i, key_bytes);
        if (i < KEYS) {
            expect_hit(&bench, i, key, key_bytes);
        } else {
            struct kvc_memcachedgpu_packet_response response;
            const uint8_t *frame = bench.answerer.frames + (size_t)i * KVC_MEMCACHEDGPU_REAL_FRAME_BYTES;
            cr_assert(kvc_memcachedgpu_packet_read_response(frame, bench.answerer.frame_bytes[i], &response));
            cr_assert(!response.found);
        }
    }
    close_bench(&bench);
}

Test(memcachedgpu_real_answer, frames_hold_head_value_and_end)
{
    expect_frames(16);
    expect_frames(128);
    expect_frames(250);
}

/* A truncated frame is rejected at every length; its memory is exactly as long, so that sanitizers see
 * overreads. */
Test(memcachedgpu_real_answer, cut_off_frames_are_wrong)
{
    struct bench bench;
    open_bench(&bench, 16);
    answer_batch(&bench, 16);
    for (uint32_t bytes = 0; bytes < bench.answerer.frame_bytes[0]; bytes++) {
        uint8_t *frame = malloc(bytes > 0 ? bytes : 1);
        memcpy(frame, bench.answerer.frames, bytes);
        cr_assert_not(kvc_memcachedgpu_real_frame_is_right(frame, bytes), "%u bytes", bytes);
        free(frame);
    }
    close_bench(&bench);
}

/* Packets that are not requests get no frame, and the ring wraps around. */
Test(memcachedgpu_real_answer, bad_packets_get_no_frame)
{
    struct bench bench;
    open_bench(&bench, 16);
    answer_batch(&bench, 16);
    bench.results[5].response_bytes = 0;
    kvc_memcachedgpu_real_answer(&bench.answerer, bench.heads, bench.results, BATCH);
    cr_assert_eq(bench.answerer.answered, 2 * BATCH - 1);
    cr_assert_eq(bench.answerer.unanswered, 1);
    cr_assert_eq(bench.answerer.next, 2 * BATCH - 1);
    close_bench(&bench);
}

/* The heads of all responses fit the layout's head_bytes, and packets do not overlap. */
Test(memcachedgpu_real_answer, layouts_hold_all_packets)
{
    static const uint32_t key_bytes[] = {1, 16, 17, 64, 128, 250};
    for (size_t k = 0; k < sizeof(key_bytes) / sizeof(*key_bytes); k++) {
        struct kvc_memcachedgpu_real_layout layout = kvc_memcachedgpu_real_layout_of(BATCH, key_bytes[k]);
        cr_assert_geq(layout.slot_bytes, KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + key_bytes[k] + 2);
        cr_assert_leq(layout.head_bytes, KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
        cr_assert_geq(layout.head_bytes, KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes[k] + 14);
        cr_assert_eq(layout.packets_at % 16, 0);
        cr_assert_geq(layout.image_bytes, layout.packets_at + (uint64_t)BATCH * layout.slot_bytes);
    }
}
