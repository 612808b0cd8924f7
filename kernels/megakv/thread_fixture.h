/* Threads, and values that name their key, for tests that run many threads on one index or one store. */
#ifndef KVC_KERNELS_MEGAKV_THREAD_FIXTURE_H
#define KVC_KERNELS_MEGAKV_THREAD_FIXTURE_H

#include <pthread.h>

#include "kernels/megakv/slab.h"

enum {
    VALUE_WORDS = 128,    /* most words of a value, of 8 bytes each */
    LONGEST_VARIANT = 24, /* a variant of even keys that gives VALUE_WORDS words */
};

static const uint64_t hash_seed = 3;

/* Starts a thread; ends the program if there is none. */
void start_thread(pthread_t *thread, void *(*run)(void *), void *argument);

/* One of the threads of run_readers(). */
struct reader {
    pthread_t thread;
    void *shared;
    const bool *done;
    uint64_t random, hits, wrong;
};

bool is_done(const struct reader *reader);

/* Runs three threads of `read` until `write` returns; true if they checked hits and found none wrong. */
bool run_readers(void *shared, void *(*read)(void *), void (*write)(void *), const char *name);

/* A key has many values: runs of one word that names key and variant, whose length follows from the variant.
 * Odd keys have values of 8 bytes, so that tests cover both ways of reading. */
uint32_t value_words(uint64_t key, uint64_t variant);

/* Makes a value of up to VALUE_WORDS + 1 words; returns its length in bytes. */
uint32_t make_value(uint64_t key, uint64_t variant, uint64_t *value);

bool is_value_of(uint64_t key, const uint8_t *value, uint32_t bytes);

/* Counts of read_location(). */
struct read_counts {
    uint64_t hits, wrong;
    struct kvc_megakv_slab_stats stats;
};

/* Reads the item at `location`; without `compare`, its value must still belong to some key. */
void read_location(struct kvc_megakv_slab *slab, uint32_t location, uint64_t key, bool compare,
                   struct read_counts *counts);

#endif
