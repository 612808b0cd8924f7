#include "kernels/megakv/slab.h"

#include <criterion/criterion.h>

#include "kernels/hash.h"
#include "kernels/index.h"
#include "kernels/megakv/slab_fixture.h"

Test(slab, rewriting_in_place)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 5, value = 6;
    store_words(slab, 5, 1, &location, &evicted, &evicted_count, &stats);
    kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert_eq(read_word(slab, location, 5, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 6);
    kvc_megakv_slab_free(slab);
}

Test(slab, rewriting_asks_for_the_key)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[2], evicted_count;
    struct kvc_megakv_slab_evicted evicted[2];
    uint64_t key = 5, other = 6, value = 7;
    uint8_t large[32] = {0};
    store_words(slab, key, 1, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location[1], evicted, &evicted_count, &stats), 1);
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &other, 8, &value, 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 7, &value, 8, &stats), "half the key");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, 17, &stats), "does not fit");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, UINT32_MAX - 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[1], &key, 8, &value, 8, &stats), "not yet written");
    cr_assert_not(kvc_megakv_slab_rewrite(slab, KVC_LOCATION_NONE, &key, 8, &value, 8, &stats));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, 65535, &key, 8, &value, 8, &stats),
                  "an item that no one can have");
    cr_assert_eq(stats.writes, 1);
    cr_assert_eq(read_word(slab, location[0], key, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, ~key);
    value = 7;
    cr_assert(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, &value, 8, &stats));
    cr_assert_eq(stats.writes, 2);
    cr_assert_eq(read_word(slab, location[0], key, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 7);
    cr_assert(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, large, 16, &stats), "another length");
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert(kvc_megakv_slab_release_key(slab, location[0], kvc_hash(&key, 8, hash_seed)));
    cr_assert_not(kvc_megakv_slab_rewrite(slab, location[0], &key, 8, &value, 8, &stats), "free");
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, writing_again_may_change_the_key)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 6, value = 7;
    store_words(slab, 5, 1, &location, &evicted, &evicted_count, &stats);
    cr_assert(kvc_megakv_slab_write(slab, location, &key, 8, &value, 8, &stats));
    cr_assert_eq(read_word(slab, location, 5, &value, &stats), KVC_MEGAKV_SLAB_MISMATCH);
    cr_assert_eq(read_word(slab, location, 6, &value, &stats), KVC_MEGAKV_SLAB_HIT);
    cr_assert_eq(value, 7);
    cr_assert(kvc_megakv_slab_release(slab, location));
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location, &evicted, &evicted_count, &stats), 1);
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, release_of_a_key_spares_other_keys)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location, evicted_count;
    struct kvc_megakv_slab_evicted evicted;
    uint64_t key = 5, other = 6;
    store_words(slab, key, 1, &location, &evicted, &evicted_count, &stats);
    uint64_t hash = kvc_hash(&key, sizeof(key), hash_seed);
    cr_assert_not(kvc_megakv_slab_release_key(slab, location, kvc_hash(&other, sizeof(other), hash_seed)));
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 1);
    cr_assert(kvc_megakv_slab_release_key(slab, location, hash));
    cr_assert_not(kvc_megakv_slab_release_key(slab, location, hash), "free already");
    cr_assert_not(kvc_megakv_slab_release_key(slab, KVC_LOCATION_NONE, hash));
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 0);
    kvc_megakv_slab_free(slab);
}

Test(slab, release_works_once)
{
    struct kvc_megakv_slab *slab = create_slab(2 << 20);
    struct kvc_megakv_slab_stats stats = {0};
    uint32_t location[100], again[100], evicted_count;
    struct kvc_megakv_slab_evicted evicted[100];
    store_words(slab, 0, 99, location, evicted, &evicted_count, &stats);
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 1, &location[99], evicted, &evicted_count, &stats), 1);
    for (uint32_t i = 0; i < 100; i += 3) {
        cr_assert(kvc_megakv_slab_release(slab, location[i]));
        cr_assert_not(kvc_megakv_slab_release(slab, location[i]));
    }
    cr_assert_eq(kvc_megakv_slab_used_items(slab), 99 - 33);
    cr_assert_not(kvc_megakv_slab_release(slab, KVC_LOCATION_NONE));
    cr_assert_not(kvc_megakv_slab_release(slab, 65534), "behind the last item");
    cr_assert_not(kvc_megakv_slab_release(slab, 5000), "never allocated");
    cr_assert_eq(kvc_megakv_slab_alloc(slab, 8, 8, 34, again, evicted, &evicted_count, &stats), 34);
    for (uint32_t i = 0; i < 34; i++) {
        cr_assert_eq(again[i], location[3 * i], "what was released is allocated first");
    }
    kvc_megakv_slab_free(slab);
}
