#include "models/dido/tasks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kernels/index.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"

enum {
    ITEMS = 256, /* a multiple of the four places of items within lines */
    VALUE_MAX = 1024,
    KEY_MAX = 128,
    TABLE_BYTES = 1 << 19,
    TABLE_KEYS = TABLE_BYTES / 8 / 10 * 9,
    REPLACED_KEYS = 3 * TABLE_KEYS,
    SEARCHED_KEYS = 10000,
};

static const struct {
    uint32_t key_bytes, value_bytes;
} data_sets[] = {{8, 8}, {16, 64}, {32, 256}, {128, 1024}};

static double lines_of(struct kvc_dido_work work)
{
    return work.random_lines + work.next_lines;
}

static bool is_nothing(struct kvc_dido_work work)
{
    return work.instructions == 0 && lines_of(work) == 0;
}

static void check_tasks(enum kvc_op op, uint32_t tasks, bool on_gpu)
{
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        struct kvc_dido_work work = kvc_dido_work_of((enum kvc_dido_task)task, op, 16, 64, on_gpu);
        bool does = (tasks >> task & 1) != 0;
        cr_assert_eq(is_nothing(work), !does, "%s of operation %d", kvc_dido_task_names[task], (int)op);
        cr_assert_eq(work.instructions > 0, does, "%s of operation %d", kvc_dido_task_names[task], (int)op);
    }
}

Test(dido_tasks, operations_do_their_tasks_only)
{
    const uint32_t always = 1u << KVC_DIDO_PP | 1u << KVC_DIDO_WR;
    const uint32_t get = always | 1u << KVC_DIDO_SEARCH | 1u << KVC_DIDO_KC | 1u << KVC_DIDO_RD;
    const uint32_t set = always | 1u << KVC_DIDO_MM | 1u << KVC_DIDO_INSERT | 1u << KVC_DIDO_ERASE;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        check_tasks(KVC_OP_GET, get, on_gpu != 0);
        check_tasks(KVC_OP_SET, set, on_gpu != 0);
        check_tasks(KVC_OP_DELETE, always | 1u << KVC_DIDO_ERASE, on_gpu != 0);
    }
}

Test(dido_tasks, bytes_of_a_value_cost_only_the_tasks_that_move_it)
{
    for (int task = 0; task < KVC_DIDO_TASKS; task++) {
        for (int op = 0; op < KVC_OP_COUNT; op++) {
            struct kvc_dido_work small =
                kvc_dido_work_of((enum kvc_dido_task)task, (enum kvc_op)op, 8, 8, true);
            struct kvc_dido_work large =
                kvc_dido_work_of((enum kvc_dido_task)task, (enum kvc_op)op, 8, 1024, true);
            bool moves = (op == KVC_OP_GET && (task == KVC_DIDO_RD || task == KVC_DIDO_WR)) ||
                         (op == KVC_OP_SET && task == KVC_DIDO_MM);
            cr_assert_eq(large.instructions > small.instructions, moves, "%s", kvc_dido_task_names[task]);
            cr_assert_eq(lines_of(large) > lines_of(small), moves, "%s", kvc_dido_task_names[task]);
            cr_assert_eq(large.random_lines, small.random_lines, "%s", kvc_dido_task_names[task]);
        }
    }
    double without = lines_of(kvc_dido_work_of(KVC_DIDO_RD, KVC_OP_GET, 8, 0, false));
    double with = lines_of(kvc_dido_work_of(KVC_DIDO_RD, KVC_OP_GET, 8, 1024, false));
    cr_assert_geq(with - without, 16);
    cr_assert_leq(with - without, 17);
}

Test(dido_tasks, a_response_without_a_value_is_a_header)
{
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        struct kvc_dido_work miss = kvc_dido_work_of(KVC_DIDO_WR, KVC_OP_GET, 16, 0, on_gpu != 0);
        struct kvc_dido_work hit = kvc_dido_work_of(KVC_DIDO_WR, KVC_OP_GET, 16, 8, on_gpu != 0);
        struct kvc_dido_work set = kvc_dido_work_of(KVC_DIDO_WR, KVC_OP_SET, 16, 64, on_gpu != 0);
        cr_assert_eq(miss.instructions, set.instructions);
        cr_assert_eq(miss.next_lines, 8 / 64.0);
        cr_assert_eq(set.next_lines, 8 / 64.0);
        cr_assert_lt(miss.instructions, hit.instructions);
    }
}

/* ---- the real structures ---- */

/* Stores items of one size, and reads them with a wrong key, and without a look at the key. */
static void count_item_lines(uint32_t key_bytes, uint32_t value_bytes, double *written, double *compared,
                             double *read)
{
    static uint8_t keys[ITEMS * KEY_MAX], values[ITEMS * VALUE_MAX], result[ITEMS], lengths[ITEMS];
    uint32_t location[ITEMS], evicted_count, position = 0;
    struct kvc_megakv_slab_evicted evicted[ITEMS];
    struct kvc_megakv_slab_stats stats = {0};
    struct kvc_megakv_slab *slab = kvc_megakv_slab_create(KVC_MEGAKV_SLAB_BYTES, 1);
    cr_assert_not_null(slab);
    memset(keys, 0, sizeof(keys));
    uint32_t count =
        kvc_megakv_slab_alloc(slab, key_bytes, value_bytes, ITEMS, location, evicted, &evicted_count, &stats);
    cr_assert_eq(count, ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        bool wrote = kvc_megakv_slab_write(slab, location[i], keys, key_bytes, values, value_bytes, &stats);
        cr_assert(wrote);
        lengths[i] = (uint8_t)key_bytes;
    }
    memset(keys, 1, sizeof(keys));
    struct kvc_megakv_slab_reads reads = {.count = ITEMS,
                                          .location = location,
                                          .keys = keys,
                                          .key_stride = KEY_MAX,
                                          .key_bytes = lengths,
                                          .compare = true,
                                          .out = values,
                                          .out_bytes = sizeof(values),
                                          .out_position = &position,
                                          .result = result};
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(result[0], KVC_MEGAKV_SLAB_MISMATCH);
    *compared = stats.read_lines / (double)ITEMS;
    reads.compare = false;
    kvc_megakv_slab_read(slab, &reads, &stats);
    cr_assert_eq(result[0], KVC_MEGAKV_SLAB_HIT);
    *read = stats.read_lines / (double)ITEMS - *compared;
    *written = stats.write_lines / (double)ITEMS;
    kvc_megakv_slab_free(slab);
}

Test(dido_tasks, lines_of_items_are_those_that_the_slabs_count)
{
    for (size_t i = 0; i < sizeof(data_sets) / sizeof(data_sets[0]); i++) {
        uint32_t key_bytes = data_sets[i].key_bytes, value_bytes = data_sets[i].value_bytes;
        double written, compared, read, request = (key_bytes + value_bytes) / 64.0;
        count_item_lines(key_bytes, value_bytes, &written, &compared, &read);
        double mm = lines_of(kvc_dido_work_of(KVC_DIDO_MM, KVC_OP_SET, key_bytes, value_bytes, false));
        double kc = lines_of(kvc_dido_work_of(KVC_DIDO_KC, KVC_OP_GET, key_bytes, value_bytes, false));
        double rd = lines_of(kvc_dido_work_of(KVC_DIDO_RD, KVC_OP_GET, key_bytes, value_bytes, false));
        cr_assert_float_eq(mm - request, written, 1e-9, "MM of %u bytes: %g, %g", value_bytes, mm, written);
        cr_assert_float_eq(kc - key_bytes / 64.0, compared, 1e-9, "KC of %u bytes: %g, %g", key_bytes, kc,
                           compared);
        /* The slabs also count the lines of a long key, although a read without a comparison skips them. */
        double skipped = key_bytes > 64 ? 1 : 0;
        cr_assert_float_eq(rd, read - skipped, 0.5 * skipped + 1e-9, "RD of %u bytes: %g, %g", value_bytes,
                           rd, read);
    }
}

static uint64_t hash_of(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void insert_key(struct kvc_index *index, uint32_t number, struct kvc_index_stats *stats)
{
    uint64_t hash = hash_of(number);
    kvc_index_insert(index, &hash, &number, 1, NULL, stats);
}

static void assert_near(enum kvc_dido_task task, enum kvc_op op, uint64_t lines, uint64_t operations)
{
    double said = kvc_dido_work_of(task, op, 8, 8, false).random_lines,
           counted = (double)lines / (double)operations;
    cr_assert_lt(fabs(said / counted - 1), 0.02, "%s: %g, counted %g", kvc_dido_task_names[task], said,
                 counted);
}

Test(dido_tasks, buckets_are_those_that_a_table_counts)
{
    struct kvc_index_stats fill = {0}, stats = {0};
    struct kvc_index *index = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = TABLE_BYTES, .max_displacements = 64, .seed = 7});
    cr_assert_not_null(index);
    for (uint32_t i = 0; i < TABLE_KEYS; i++) {
        insert_key(index, i, &fill);
    }
    for (uint32_t i = 0; i < REPLACED_KEYS; i++) {
        uint64_t hash = hash_of(i);
        struct kvc_index_stats *now = i < REPLACED_KEYS - TABLE_KEYS ? &fill : &stats;
        kvc_index_erase(index, &hash, &i, 1, NULL, now);
        insert_key(index, TABLE_KEYS + i, now);
    }
    for (uint32_t i = 0; i < SEARCHED_KEYS; i++) {
        uint64_t hash = hash_of(REPLACED_KEYS + hash_of(i) % TABLE_KEYS);
        uint32_t location;
        kvc_index_search(index, &hash, 1, &location, &stats);
    }
    cr_assert_eq(stats.search_hits, SEARCHED_KEYS);
    assert_near(KVC_DIDO_SEARCH, KVC_OP_GET, stats.search_lines, stats.searches);
    assert_near(KVC_DIDO_INSERT, KVC_OP_SET, stats.insert_lines, stats.inserts);
    assert_near(KVC_DIDO_ERASE, KVC_OP_SET, stats.erase_lines, stats.erases);
    kvc_index_free(index);
}

Test(tasks, index_lines_grow_with_the_load)
{
    struct kvc_dido_index_lines empty = kvc_dido_index_lines_at(0), half = kvc_dido_index_lines_at(0.55);
    struct kvc_dido_index_lines full = kvc_dido_index_lines_at(0.9), beyond = kvc_dido_index_lines_at(1);
    cr_expect_float_eq(empty.search, 1.002, 1e-9);
    cr_expect_float_eq(half.search, (1.035 + 1.080) / 2, 1e-9);
    cr_expect_float_eq(full.insert, 2.652, 1e-9);
    cr_expect_float_eq(beyond.erase, 1.464, 1e-9);
}
