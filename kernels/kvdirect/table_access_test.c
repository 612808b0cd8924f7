#include "kernels/kvdirect/table.h"

#include <criterion/criterion.h>

#include "kernels/kvdirect/table_fixture.h"

/* Asserts that one operation has run since `before` with these accesses, and sets `before` to `now`. */
static void assert_counts(const struct kvc_kvdirect_table_counts *now,
                          struct kvc_kvdirect_table_counts *before, uint64_t index_reads,
                          uint64_t index_writes, uint64_t chain_reads, uint64_t chain_writes,
                          uint64_t slab_reads, uint64_t slab_writes)
{
    cr_assert_eq(now->operations - before->operations, 1);
    cr_assert_eq(now->index_reads - before->index_reads, index_reads);
    cr_assert_eq(now->index_writes - before->index_writes, index_writes);
    cr_assert_eq(now->chain_reads - before->chain_reads, chain_reads);
    cr_assert_eq(now->chain_writes - before->chain_writes, chain_writes);
    cr_assert_eq(now->slab_reads - before->slab_reads, slab_reads);
    cr_assert_eq(now->slab_writes - before->slab_writes, slab_writes);
    cr_assert_eq(kvc_kvdirect_table_accesses(now) - kvc_kvdirect_table_accesses(before),
                 index_reads + index_writes + chain_reads + chain_writes + slab_reads + slab_writes);
    *before = *now;
}

Test(kvdirect_table, accesses_of_inline_pairs)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint8_t value[64];
    uint64_t key[2];
    keys_of_bucket(table, key, 2);
    cr_assert_eq(get(table, &key[0], 8, value, &stats), -1);
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(erase(table, &key[0], 8, &stats), KVC_KVDIRECT_TABLE_ABSENT);
    assert_counts(&stats.erase, &was.erase, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 20, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs more slots");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[0], 16, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs as many slots");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert(has_pair(table, key[0], 16, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 0, 0);
    struct kvc_kvdirect_table_op add = {
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = &key[0], .key_bytes = 8, .operand = 1};
    kvc_kvdirect_table_run(table, &add, 1, &stats);
    assert_counts(&stats.update, &was.update, 1, 1, 0, 0, 0, 0);
    struct kvc_kvdirect_table_op swap = {
        .verb = KVC_KVDIRECT_TABLE_SWAP, .key = &key[0], .key_bytes = 8, .expected = add.original};
    kvc_kvdirect_table_run(table, &swap, 1, &stats);
    cr_assert_eq(swap.result, KVC_KVDIRECT_TABLE_UNEQUAL);
    assert_counts(&stats.update, &was.update, 1, 0, 0, 0, 0, 0);
    cr_assert_eq(erase(table, &key[0], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_pairs(table), 0);
    cr_assert_eq(kvc_kvdirect_table_pair_bytes(table), 0);
    cr_assert_eq(stats.get.found + stats.put.found + stats.erase.found, 1 + 2 + 1);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, accesses_of_pairs_in_slabs)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 20);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key = 7, slabs = kvc_kvdirect_table_free_slab_bytes(table);
    cr_assert_eq(put_pair(table, key, 254, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 1);
    cr_assert_eq(stats.put.slab_lines_written, 4);
    cr_assert_eq(stats.put.lines, 5);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 256);
    cr_assert(has_pair(table, key, 254, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 1, 0);
    cr_assert_eq(stats.get.slab_lines_read, 4);
    cr_assert_eq(stats.get.lines, 5);
    cr_assert_eq(put_pair(table, key, 130, &stats), KVC_KVDIRECT_TABLE_OK, "the pair stays in its slab");
    assert_counts(&stats.put, &was.put, 1, 0, 0, 0, 1, 1);
    cr_assert(has_pair(table, key, 130, &stats));
    was.get = stats.get;
    cr_assert_eq(put_pair(table, key, 30, &stats), KVC_KVDIRECT_TABLE_OK, "the pair moves to a smaller slab");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 1, 1);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 32);
    cr_assert(has_pair(table, key, 30, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 0, 0, 1, 0);
    uint8_t counter[8] = {0};
    cr_assert_eq(put(table, "a key of 17 bytes", 17, counter, 8, &stats), KVC_KVDIRECT_TABLE_OK);
    struct kvc_kvdirect_table_op add = {
        .verb = KVC_KVDIRECT_TABLE_ADD, .key = "a key of 17 bytes", .key_bytes = 17, .operand = 5};
    kvc_kvdirect_table_run(table, &add, 1, &stats);
    cr_assert_eq(add.result, KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.update, &was.update, 1, 0, 0, 0, 1, 1);
    was.put = stats.put;
    cr_assert_eq(put_pair(table, key, 12, &stats), KVC_KVDIRECT_TABLE_OK, "the pair is inline now");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 1, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 32);
    cr_assert_eq(erase(table, "a key of 17 bytes", 17, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 1, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, accesses_along_a_chain)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 10);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key[16], slabs = kvc_kvdirect_table_free_slab_bytes(table);
    keys_of_bucket(table, key, 16);
    for (int i = 0; i < 5; i++) { /* two slots each */
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    }
    cr_assert_eq(put_pair(table, key[5], 10, &stats), KVC_KVDIRECT_TABLE_OK,
                 "a bucket is appended, and the first one gets a pointer to it");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 1, 0, 0);
    for (int i = 6; i < 10; i++) {
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.put, &was.put, 1, 0, 1, 1, 0, 0);
    }
    cr_assert_eq(put_pair(table, key[10], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 0, 1, 2, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 2 * 64);
    for (int i = 0; i < 11; i++) {
        cr_assert(has_pair(table, key[i], 10, &stats));
        assert_counts(&stats.get, &was.get, 1, 0, (uint64_t)(i / 5), 0, 0, 0);
    }
    cr_assert_not(has_pair(table, key[11], 10, &stats));
    assert_counts(&stats.get, &was.get, 1, 0, 2, 0, 0, 0);
    /* A hole in the first bucket is filled first, but only after the whole chain was searched. */
    cr_assert_eq(erase(table, &key[2], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[11], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 2, 0, 0, 0);
    /* The middle bucket is unlinked when its last pair is deleted: its predecessor is written instead. */
    for (int i = 5; i < 9; i++) {
        cr_assert_eq(erase(table, &key[i], 8, &stats), KVC_KVDIRECT_TABLE_OK);
        assert_counts(&stats.erase, &was.erase, 1, 0, 1, 1, 0, 0);
    }
    cr_assert_eq(erase(table, &key[9], 8, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.erase, &was.erase, 1, 1, 1, 0, 0, 0);
    cr_assert_eq(kvc_kvdirect_table_free_slab_bytes(table), slabs - 64);
    was.get = stats.get;
    cr_assert(has_pair(table, key[10], 10, &stats),
              "the bucket behind the unlinked one is still in the chain");
    assert_counts(&stats.get, &was.get, 1, 0, 1, 0, 0, 0);
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, a_pair_that_outgrows_its_bucket)
{
    struct kvc_kvdirect_table *table = create(1 << 16, 0.5, 50);
    struct kvc_kvdirect_table_stats stats = {0};
    struct kvc_kvdirect_table_stats was = {0};
    uint64_t key[6];
    keys_of_bucket(table, key, 6);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(put_pair(table, key[i], 10, &stats), KVC_KVDIRECT_TABLE_OK);
    }
    was.put = stats.put;
    cr_assert_eq(put_pair(table, key[1], 30, &stats), KVC_KVDIRECT_TABLE_OK);
    assert_counts(&stats.put, &was.put, 1, 1, 0, 1, 0, 0);
    cr_assert_eq(put_pair(table, key[2], 20, &stats), KVC_KVDIRECT_TABLE_OK,
                 "the pair fills the two free slots and its own");
    assert_counts(&stats.put, &was.put, 1, 1, 0, 0, 0, 0);
    cr_assert_eq(put_pair(table, key[3], 20, &stats), KVC_KVDIRECT_TABLE_OK,
                 "the pair fills the last four slots of the chained bucket");
    assert_counts(&stats.put, &was.put, 1, 1, 1, 1, 0, 0);
    cr_assert_eq(put_pair(table, key[1], 40, &stats), KVC_KVDIRECT_TABLE_OK, "the pair needs a third bucket");
    assert_counts(&stats.put, &was.put, 1, 0, 1, 2, 0, 0);
    cr_assert(has_pair(table, key[0], 10, &stats));
    cr_assert(has_pair(table, key[1], 40, &stats));
    cr_assert(has_pair(table, key[2], 20, &stats));
    cr_assert(has_pair(table, key[3], 20, &stats));
    cr_assert(has_pair(table, key[4], 10, &stats));
    kvc_kvdirect_table_free(table);
}

/* Computes the average accesses of a new PUT, a GET and an overwriting PUT at this memory utilization. */
static void averages(double hash_index_frac, uint32_t pair_bytes, double utilization, double *average)
{
    struct kvc_kvdirect_table *table = create(1 << 22, hash_index_frac, 10);
    struct kvc_kvdirect_table_stats fill = {0}, last = {0}, stats = {0};
    uint64_t pairs = (uint64_t)(utilization * (1 << 22) / pair_bytes);
    for (uint64_t key = 0; key < pairs; key++) {
        cr_assert_eq(put_pair(table, key, pair_bytes, key < pairs - pairs / 50 ? &fill : &last),
                     KVC_KVDIRECT_TABLE_OK);
    }
    for (uint64_t key = 0; key < pairs; key++) {
        cr_assert(has_pair(table, key, pair_bytes, &stats));
    }
    for (uint64_t key = 0; key < pairs; key++) {
        put_pair(table, key, pair_bytes, &stats);
    }
    average[0] = (double)kvc_kvdirect_table_accesses(&last.put) / (double)last.put.operations;
    average[1] = (double)kvc_kvdirect_table_accesses(&stats.get) / (double)stats.get.operations;
    average[2] = (double)kvc_kvdirect_table_accesses(&stats.put) / (double)stats.put.operations;
    uint64_t slabs = fill.slab.allocated + last.slab.allocated;
    uint64_t dma = fill.slab.dma_reads + last.slab.dma_reads;
    cr_assert_leq((double)dma, 0.07 * (double)slabs + 2, "DMA of the allocator itself");
    kvc_kvdirect_table_free(table);
}

Test(kvdirect_table, average_accesses_are_the_published_ones)
{
    double average[3];
    averages(0.9, 10, 0.3, average); /* sec. 5.1.1: inline, close to 1 per GET and 2 per PUT */
    cr_assert(average[0] > 2 && average[0] < 2.15, "%f", average[0]);
    cr_assert(average[1] > 1 && average[1] < 1.05, "%f", average[1]);
    cr_assert(average[2] > 2 && average[2] < 2.05, "%f", average[2]);
    averages(0.04, 254, 0.8, average); /* not inline: 1 more */
    cr_assert(average[0] > 3 && average[0] < 3.1, "%f", average[0]);
    cr_assert(average[1] > 2 && average[1] < 2.02, "%f", average[1]);
    cr_assert(average[2] > 3 && average[2] < 3.02, "%f", average[2]);
    averages(0.5, 10, 0.5, average); /* long chains cost more */
    cr_assert(average[1] > 1.3 && average[1] < 2, "%f", average[1]);
}
