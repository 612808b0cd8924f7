#include "kernels/kvdirect/table_ops.h"

#include "kernels/hash.h"

/* The memory that an operation will need after its first bucket. */
struct second {
    const uint8_t *start; /* First byte. */
    uint32_t bytes;       /* Size, of which only the number of lines matters [bytes]. */
};

/* Guesses from the first bucket: the slab of a pointer that may be the key's, or the next bucket if the pair
 * is not in this one, else the first bucket again. There is no branch on where the pair is, because it would
 * often be mispredicted. */
KVC_KVDIRECT_INLINE struct second second_of(const struct kvc_kvdirect_table *table,
                                            const struct kvc_kvdirect_key *key)
{
    struct kvc_kvdirect_bucket *bucket = kvc_kvdirect_first_bucket(table, key->hash);
    struct kvc_kvdirect_bucket_meta meta = kvc_kvdirect_bucket_load_meta(bucket);
    if (meta.pointers) {
        uint32_t equal =
            kvc_kvdirect_bucket_match_pointers(bucket, &meta, kvc_kvdirect_secondary_of(key->hash));
        if (equal != 0) {
            unsigned slot = (unsigned)__builtin_ctz(equal);
            return (struct second){kvc_kvdirect_slab_at(table, kvc_kvdirect_bucket_pointer_at(bucket, slot)),
                                   kvc_kvdirect_slab_bytes(kvc_kvdirect_bucket_slab_type_at(&meta, slot))};
        }
    }
    bool here = kvc_kvdirect_match_inline(bucket, &meta, key) != 0;
    uintptr_t second = (uintptr_t)kvc_kvdirect_bucket_at(table, meta.chain);
    uintptr_t mask = -(uintptr_t)((!here) & (meta.chain != 0));
    return (struct second){(const uint8_t *)((second & mask) | ((uintptr_t)bucket & ~mask)), 1};
}

KVC_KVDIRECT_INLINE void prefetch_seconds(const struct second *second, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(second[i].start);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = KVC_KVDIRECT_TABLE_BUCKET_BYTES; at < second[i].bytes;
             at += KVC_KVDIRECT_TABLE_BUCKET_BYTES) {
            __builtin_prefetch(second[i].start + at);
        }
    }
}

static void run_one(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                    const struct kvc_kvdirect_key *key, struct kvc_kvdirect_table_stats *stats)
{
    switch ((enum kvc_kvdirect_table_verb)op->verb) {
    case KVC_KVDIRECT_TABLE_GET:
        kvc_kvdirect_table_get(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_PUT:
        kvc_kvdirect_table_put(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_DELETE:
        kvc_kvdirect_table_delete(table, op, key, stats);
        break;
    case KVC_KVDIRECT_TABLE_ADD:
    case KVC_KVDIRECT_TABLE_SWAP:
    case KVC_KVDIRECT_TABLE_APPLY:
        kvc_kvdirect_table_update(table, op, key, stats);
        break;
    }
}

/* Keys pass three stages, each a group ahead of the next: prefetch the first bucket, prefetch what lies
 * behind it, run the operation. */
void kvc_kvdirect_table_run(struct kvc_kvdirect_table *table, struct kvc_kvdirect_table_op *op,
                            uint32_t count, struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_key ring[KVC_KVDIRECT_TABLE_RING];
    uint64_t hashed = 0, asked = 0;
    for (uint64_t done = 0; done < count;) {
        uint64_t start = hashed;
        for (; hashed < kvc_kvdirect_least(done + 3 * KVC_KVDIRECT_TABLE_GROUP, count); hashed++) {
            uint64_t hash = kvc_hash(op[hashed].key, op[hashed].key_bytes, table->seed);
            ring[hashed % KVC_KVDIRECT_TABLE_RING] =
                kvc_kvdirect_make_key(op[hashed].key, op[hashed].key_bytes, hash);
        }
        for (uint64_t i = start; i < hashed; i++) {
            __builtin_prefetch(kvc_kvdirect_first_bucket(table, ring[i % KVC_KVDIRECT_TABLE_RING].hash));
        }
        struct second second[2 * KVC_KVDIRECT_TABLE_GROUP];
        uint32_t seconds = 0;
        for (; asked < kvc_kvdirect_least(done + 2 * KVC_KVDIRECT_TABLE_GROUP, count); asked++) {
            second[seconds++] = second_of(table, &ring[asked % KVC_KVDIRECT_TABLE_RING]);
        }
        prefetch_seconds(second, seconds);
        for (uint64_t end = kvc_kvdirect_least(done + KVC_KVDIRECT_TABLE_GROUP, count); done < end; done++) {
            if (__builtin_expect(table->trace != NULL, 0)) {
                table->trace->operation = (uint32_t)done;
            }
            run_one(table, &op[done], &ring[done % KVC_KVDIRECT_TABLE_RING], stats);
        }
    }
}
