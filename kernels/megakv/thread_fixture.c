#include "kernels/megakv/thread_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READERS = 3 };

void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument) != 0) {
        perror("pthread_create");
        exit(1);
    }
}

bool is_done(const struct reader *reader)
{
    return __atomic_load_n(reader->done, __ATOMIC_ACQUIRE);
}

bool run_readers(void *shared, void *(*read)(void *), void (*write)(void *), const char *name)
{
    struct reader readers[READERS] = {{0}};
    uint64_t hits = 0, wrong = 0;
    bool done = false;
    for (uint32_t i = 0; i < READERS; i++) {
        readers[i].shared = shared;
        readers[i].done = &done;
        readers[i].random = i + 1;
        start_thread(&readers[i].thread, read, &readers[i]);
    }
    write(shared);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        hits += readers[i].hits;
        wrong += readers[i].wrong;
    }
    printf("%s: %" PRIu64 " hits checked, %" PRIu64 " wrong\n", name, hits, wrong);
    return wrong == 0 && hits > 0;
}

uint32_t value_words(uint64_t key, uint64_t variant)
{
    return key % 2 == 1 ? 1 : (uint32_t)(2 + variant * 37 % (VALUE_WORDS - 1));
}

uint32_t make_value(uint64_t key, uint64_t variant, uint64_t *value)
{
    uint32_t words = value_words(key, variant);
    for (uint32_t i = 0; i < words; i++) {
        value[i] = key << 32 | variant;
    }
    return words * 8;
}

bool is_value_of(uint64_t key, const uint8_t *value, uint32_t bytes)
{
    uint64_t first, word;
    if (bytes < 8) {
        return false;
    }
    memcpy(&first, value, 8);
    for (uint32_t at = 8; at + 8 <= bytes; at += 8) {
        memcpy(&word, value + at, 8);
        if (word != first) {
            return false;
        }
    }
    return first >> 32 == key && bytes == value_words(key, first & 0xffffffff) * 8;
}

void read_location(struct kvc_megakv_slab *slab, uint32_t location, uint64_t key, bool compare,
                   struct read_counts *counts)
{
    uint64_t ring[VALUE_WORDS];
    uint32_t position = 0, bytes;
    uint8_t key_bytes = 8, result;
    kvc_megakv_slab_read(slab,
                         &(struct kvc_megakv_slab_reads){.count = 1,
                                                         .location = &location,
                                                         .keys = (const uint8_t *)&key,
                                                         .key_stride = 8,
                                                         .key_bytes = &key_bytes,
                                                         .compare = compare,
                                                         .out = (uint8_t *)ring,
                                                         .out_bytes = sizeof(ring),
                                                         .out_position = &position,
                                                         .result = &result,
                                                         .value_bytes = &bytes},
                         &counts->stats);
    if (result == KVC_MEGAKV_SLAB_HIT) {
        counts->wrong += !is_value_of(compare ? key : ring[0] >> 32, (const uint8_t *)ring, bytes);
        counts->hits++;
    }
}
