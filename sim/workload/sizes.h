/** @file
 * Sizes of keys and values. A size is a fixed function of the key's id, so that a key has the same
 * size in every request.
 *
 * The Facebook pools come from Atikoglu et al., "Workload analysis of a large-scale key-value store",
 * SIGMETRICS 2012. Where the paper gives no formula, the simplest distribution that agrees with the known
 * facts is used:
 *
 * - etc is the paper's model. Key sizes follow a generalized extreme value distribution (mu 30.7984, sigma
 *   8.20449, xi 0.078688). Value sizes 0 to 14 have a table of probabilities; from 15 on, the excess over 15
 *   follows a generalized Pareto distribution (theta 0, sigma 214.476, xi 0.348238). The table, and the
 *   reading of theta as "from 15 bytes on", come from the load generator mutilate. The paper's model of the
 *   gaps between requests (generalized Pareto 0, 16.0292, 0.154971 in us) describes one server of 2012 and is
 *   not used.
 * - usr has keys of 16 or 21 bytes and values of 2. The paper does not say how many keys have which size;
 *   here, half of them have each.
 * - app has keys of 31 and values of 270 bytes. The paper calls these typical, and MemcachedGPU, SoCC 2015,
 *   quotes them as such; here all keys have them.
 * - var and sys have neither a formula nor typical sizes. Here they use the model of etc, restricted to
 *   values below 500 bytes. This is an assumption of this program.
 *
 * Continuous sizes are rounded down. Keys are clipped to 4 to 250 bytes: with 4 bytes, 2^32 ids stay
 * distinct, and a shorter etc key has a probability of 1e-19. Values are clipped to KVC_VALUE_BYTES_MAX. */
#ifndef KVC_SIM_WORKLOAD_SIZES_H
#define KVC_SIM_WORKLOAD_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KVC_VALUE_BYTES_MAX = (1 << 20) - 4096, /**< Largest value [bytes]. */
    KVC_SIZE_PAIRS_MAX = 64,                /**< Most pairs of sizes of a trace. */
    KVC_SIZE_KINDS_MAX = 16                 /**< Fixed sizes: most kinds of keys. */
};

/** Key and value sizes. */
enum kvc_size_set {
    KVC_SIZES_FIXED,  /**< "fixed": one key size, and one value size for each kind of keys. */
    KVC_SIZES_ETC,    /**< "etc": Facebook's pool ETC. */
    KVC_SIZES_USR,    /**< "usr": Facebook's pool USR. */
    KVC_SIZES_APP,    /**< "app": Facebook's pool APP. */
    KVC_SIZES_VAR,    /**< "var": Facebook's pool VAR. */
    KVC_SIZES_SYS,    /**< "sys": Facebook's pool SYS. */
    KVC_SIZES_TRACED, /**< Those of a trace (sim/workload/trace/facts.h). */
    KVC_SIZES_RANKED, /**< One key size, and values by the rank of the key. */
    KVC_SIZES_TENANTS /**< Those of several tenants (sim/workload/tenants.h). */
};

/** Sizes of a pair. */
struct kvc_pair_sizes {
    uint32_t key_bytes;   /**< Size of the key [bytes], 1 to 255. */
    uint32_t value_bytes; /**< Size of the value [bytes]. */
};

struct kvc_tenant_keys;

/** A size distribution. */
struct kvc_sizes;

/** Frees a distribution. NULL is allowed. */
void kvc_sizes_free(struct kvc_sizes *sizes);

/** Sets up a distribution. With KVC_SIZES_FIXED, all keys have key_bytes, 1 to 255, and the values of key i
 * have value_bytes[i % kinds], where kinds is at most KVC_SIZE_KINDS_MAX. Other sets ignore these three.
 * Returns NULL if memory is short. */
struct kvc_sizes *kvc_sizes_create(enum kvc_size_set set, uint64_t key_bytes, const double *value_bytes,
                                   uint32_t kinds);

/** Sets up the sizes of a trace: a key has any of `count` pairs of sizes, 1 to KVC_SIZE_PAIRS_MAX, with the
 * same probability. Returns NULL if memory is short. */
struct kvc_sizes *kvc_sizes_create_traced(const struct kvc_pair_sizes *pair, uint32_t count);

/** Sets up the sizes of several tenants' keys: those of a key are the ones of its tenant. The array is
 * copied. Returns NULL if memory is short. */
struct kvc_sizes *kvc_sizes_create_tenants(const struct kvc_pair_sizes *by_tenant,
                                           const struct kvc_tenant_keys *keys);

/** Sets up values by rank: those of keys below end[i] that are not below end[i - 1] have value_bytes[i].
 * There are up to KVC_SIZE_KINDS_MAX. Returns NULL if memory is short. */
struct kvc_sizes *kvc_sizes_create_ranked(uint64_t key_bytes, const uint64_t *end,
                                          const uint32_t *value_bytes, uint32_t count);

/** Returns whether all keys have one size and all values have one size. */
bool kvc_sizes_fixed(const struct kvc_sizes *sizes);

/** Looks up the sizes of `count` keys. */
void kvc_sizes_fill(const struct kvc_sizes *sizes, const uint64_t *key_id, size_t count, uint8_t *key_bytes,
                    uint32_t *value_bytes);

/** Returns the largest key of a set other than KVC_SIZES_FIXED [bytes]. */
uint32_t kvc_size_set_key_max(enum kvc_size_set set);

/** Returns the largest value of a set other than KVC_SIZES_FIXED [bytes]. */
uint32_t kvc_size_set_value_max(enum kvc_size_set set);

/** Returns the exact mean key size of a set other than KVC_SIZES_FIXED [bytes]. */
double kvc_size_set_key_mean(enum kvc_size_set set);

/** Returns the exact mean value size of a set other than KVC_SIZES_FIXED [bytes]. */
double kvc_size_set_value_mean(enum kvc_size_set set);

#endif
