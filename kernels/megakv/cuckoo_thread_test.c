/* Many readers and one writer on one cuckoo index, under ThreadSanitizer and, for longer, without it. Every
 * search must find the elements that stay, with their own locations, while the writer inserts and erases
 * others around them and pushes them from bucket to bucket. A plain main; exit status 0 means success. */
#include "kernels/megakv/cuckoo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/random_fixture.h"
#include "kernels/megakv/thread_fixture.h"

enum {
    BATCH = 64,
    RESIDENTS = 2048, /* elements that stay, in 4096 slots */
    VISITORS = 1750,  /* load 0.93: long chains, but hardly ever a drop */
    INDEX_ROUNDS = 60000,
};

struct shared {
    struct kvc_index *index;
    uint64_t resident[RESIDENTS];
};

static void *read_index(void *argument)
{
    struct reader *reader = argument;
    const struct shared *shared = reader->shared;
    struct kvc_index_stats stats = {0};
    do {
        uint64_t hash[BATCH];
        uint32_t number[BATCH], location[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            number[i] = (uint32_t)(next_random(&reader->random) % RESIDENTS);
            hash[i] = shared->resident[number[i]];
        }
        kvc_index_search(shared->index, hash, BATCH, location, &stats);
        for (uint32_t i = 0; i < BATCH; i++) {
            reader->wrong += location[i] != number[i];
            reader->hits++;
        }
    } while (!is_done(reader));
    return NULL;
}

static void write_index(void *argument)
{
    struct shared *shared = argument;
    struct kvc_index_stats stats = {0};
    static uint64_t visitor[VISITORS];
    uint64_t random = 99;
    for (uint32_t round = 0; round < INDEX_ROUNDS; round++) {
        uint32_t slot = round % VISITORS, location = 1u << 20 | slot, out;
        if (visitor[slot] != 0) {
            kvc_index_erase(shared->index, &visitor[slot], &location, 1, NULL, &stats);
        }
        visitor[slot] = next_random(&random);
        kvc_index_insert(shared->index, &visitor[slot], &location, 1, &out, &stats);
        if (out < RESIDENTS) {
            fprintf(stderr, "a resident was dropped: the table is too full for this test\n");
            exit(1);
        }
    }
    printf("index: %" PRIu64 " elements moved\n", stats.displacements);
    if (stats.displacements < INDEX_ROUNDS / 100) {
        fprintf(stderr, "too few elements moved for this test to mean anything\n");
        exit(1);
    }
}

int main(void)
{
    static struct shared shared;
    struct kvc_index_stats stats = {0};
    uint32_t location[RESIDENTS];
    uint64_t random = 5;
    shared.index = kvc_megakv_cuckoo_create(
        &(struct kvc_megakv_cuckoo_params){.bytes = 4096 * 8, .max_displacements = 500});
    if (shared.index == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < RESIDENTS; i++) {
        shared.resident[i] = next_random(&random);
        location[i] = i;
    }
    kvc_index_insert(shared.index, shared.resident, location, RESIDENTS, NULL, &stats);
    bool right = run_readers(&shared, read_index, write_index, "index");
    kvc_index_free(shared.index);
    return right ? 0 : 1;
}
