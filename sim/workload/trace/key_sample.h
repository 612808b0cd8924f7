/** @file
 * A key sample keeps the keys of a long stream whose hashes are the smallest, so that memory stays constant:
 * when it is full, it halves the share of the keys that it keeps (fixed-size SHARDS, Waldspurger et al., FAST
 * 2015). As long as all keys fit, it is exact. */
#ifndef KVC_SIM_WORKLOAD_TRACE_KEY_SAMPLE_H
#define KVC_SIM_WORKLOAD_TRACE_KEY_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum { KVC_KEY_SAMPLE_MAX = 1 << 16 /**< Most keys that a sample keeps. */ };

/** A key of a sample. Its owner uses all but the hash. */
struct kvc_sampled_key {
    uint64_t hash;        /**< Hash of the key; 0: no key is here. */
    uint64_t requests;    /**< Requests for the key. */
    uint64_t uses;        /**< Requests for it, with those that delete it. */
    uint64_t last;        /**< Position of the last request for it. */
    double weight;        /**< Its weight in what the owner sums up. */
    uint32_t value_bytes; /**< Size of its value [bytes]. */
    uint8_t key_bytes;    /**< Size of the key [bytes]. */
    bool is_written;      /**< A request wrote it. */
    bool is_stored;       /**< A request wrote it, and none deleted it since. */
    bool is_deleted;      /**< The last request for it deleted it. */
};

/** A sample. */
struct kvc_key_sample {
    struct kvc_sampled_key *key; /**< A hash table of twice KVC_KEY_SAMPLE_MAX places. */
    uint32_t count;              /**< Keys in the sample. */
    uint64_t below;              /**< Keys with a smaller hash belong to it. */
};

enum {
    KVC_REUSE_USES = 16,                   /**< Groups by uses: 1, 2 to 3, 4 to 7 and so on. */
    KVC_REUSE_GROUPS = 2 * KVC_REUSE_USES, /**< Groups of keys. */
};

/** Returns the group of a key: keys that were used about as often, and are stored or not. */
static inline uint32_t kvc_reuse_group(uint64_t uses, bool is_stored)
{
    uint32_t group = 0;
    while (uses >= 2ull << group && group + 1 < KVC_REUSE_USES) {
        group++;
    }
    return is_stored ? KVC_REUSE_USES + group : group;
}

/** Frees a sample, not the struct. */
void kvc_key_sample_close(struct kvc_key_sample *sample);

/** Opens an empty sample of all keys. Exits with status 3 if memory is short. */
void kvc_key_sample_open(struct kvc_key_sample *sample);

/** Finds a key by its hash, or adds it with zeros. Returns NULL if the sample does not keep it. Before a key
 * is added to a full sample, half of the keys leave; `left`, if not NULL, is called for each with `data`. The
 * pointer holds until the next call. */
struct kvc_sampled_key *kvc_key_sample_find(struct kvc_key_sample *sample, uint64_t hash,
                                            void (*left)(void *data, const struct kvc_sampled_key *key),
                                            void *data);

/** Returns how many keys each key of the sample stands for, at least 1. */
double kvc_key_sample_scale(const struct kvc_key_sample *sample);

#endif
