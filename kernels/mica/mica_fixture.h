/** @file
 * Stores, single operations and rewinding of random numbers for the tests of the MICA store. */
#ifndef KVC_KERNELS_MICA_MICA_FIXTURE_H
#define KVC_KERNELS_MICA_MICA_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/mica/mica.h"
#include "kernels/random_fixture.h"

/** Makes random_word repeat its last words. */
void random_rewind(uint32_t words);

/** Creates a store; the test fails if that is impossible. */
struct kvc_mica *create(uint32_t partitions, uint32_t buckets, uint32_t entries, uint64_t log_bytes,
                        uint32_t offset_bits);

/** Runs one SET. */
enum kvc_mica_outcome set(struct kvc_mica *store, const void *key, uint8_t key_bytes, const void *data,
                          uint32_t bytes, struct kvc_index_stats *stats);

/** Runs one GET. Returns the size of the value, or KVC_MICA_NONE. */
uint32_t get(struct kvc_mica *store, const void *key, uint8_t key_bytes, void *data, uint32_t room,
             struct kvc_index_stats *stats);

/** Runs one deletion. Returns whether the key was stored. */
bool erase(struct kvc_mica *store, const void *key, uint8_t key_bytes, struct kvc_index_stats *stats);

/** Searches the index for a hash. Returns its location, or KVC_LOCATION_NONE. */
uint32_t get_hash(struct kvc_mica *store, uint64_t hash);

/** Inserts a hash into the index. Returns the location that left it, or KVC_LOCATION_NONE. */
uint32_t put_hash(struct kvc_mica *store, uint64_t hash, uint32_t location, struct kvc_index_stats *stats);

#endif
