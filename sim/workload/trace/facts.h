/** @file
 * The facts of a trace: what a store must know of it before it is replayed, from one pass over its beginning.
 */
#ifndef KVC_SIM_WORKLOAD_TRACE_FACTS_H
#define KVC_SIM_WORKLOAD_TRACE_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "sim/base/diag.h"
#include "sim/workload/batch.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace/key_sample.h"
#include "sim/workload/trace/trace.h"

/** The facts of a trace. */
struct kvc_trace_facts {
    const char *format;       /**< Name of the format. */
    double requests;          /**< Requests. */
    double keys;              /**< Different keys; exact up to KVC_KEY_SAMPLE_MAX, then within about 1 %. */
    double written_keys;      /**< Different keys that a SET writes. */
    double end_ns;            /**< Time of the last request [ns]. */
    double get_frac;          /**< Share of the GETs. */
    double set_frac;          /**< Share of the SETs. */
    double delete_frac;       /**< Share of the DELETEs. */
    double key_bytes;         /**< Mean size of a key, each counted once [bytes]. */
    double value_bytes;       /**< Mean size of a value, that of each key counted once [bytes]. */
    uint32_t key_bytes_max;   /**< Size of the largest key [bytes]. */
    uint32_t value_bytes_max; /**< Size of the largest value [bytes]. */
    struct kvc_pair_sizes
        pair[KVC_SIZE_PAIRS_MAX]; /**< Quantiles of the pairs by size, each key counted once. */
    uint32_t pairs;               /**< Number of `pair`. */
    bool is_timed;                /**< The rows have times. */
    bool has_writes;              /**< The trace records SETs and DELETEs. */
    bool expires;                 /**< Pairs have a time to live. */
    bool is_whole; /**< All rows were read; otherwise counts are extrapolated by the file's size. */
};

/** Sums over the rows of a trace. */
struct kvc_trace_sums {
    uint64_t rows;              /**< Rows. */
    uint64_t op[KVC_OP_COUNT];  /**< Rows of each operation. */
    uint32_t key_bytes_max;     /**< Largest key [bytes]. */
    uint32_t value_bytes_max;   /**< Largest value [bytes]. */
    double end_ns;              /**< Time of the last row [ns]. */
    bool expires;               /**< A pair has a time to live. */
    struct kvc_key_sample keys; /**< A sample of the keys. */
};

/** Frees what sums hold, not the struct. */
void kvc_trace_sums_close(struct kvc_trace_sums *sums);

/** Opens empty sums. Exits with status 3 if memory is short. */
void kvc_trace_sums_open(struct kvc_trace_sums *sums);

/** Adds a row. Returns its key in the sample, which holds until the next call, or NULL. `left` and `data` are
 * those of kvc_key_sample_find(). */
struct kvc_sampled_key *kvc_trace_sums_add(struct kvc_trace_sums *sums, const struct kvc_trace_row *row,
                                           void (*left)(void *data, const struct kvc_sampled_key *key),
                                           void *data);

/** Returns the facts of the rows of `trace` that were added. */
struct kvc_trace_facts kvc_trace_sums_facts(const struct kvc_trace_sums *sums, const struct kvc_trace *trace,
                                            bool is_whole);

/** Returns whether two looks at a path saw the same file, unchanged. */
bool kvc_trace_is_same_file(const struct stat *a, const struct stat *b);

/** Reads the facts of a trace from at most its first 2^22 rows. Facts that were read before are returned at
 * once if the file has not changed. Returns KVC_ERR_SCENARIO if the trace cannot be read, has no row, or has
 * a malformed one, which the message names. `diag` may be NULL. */
enum kvc_status kvc_trace_facts_read(const char *path, struct kvc_trace_facts *facts, struct kvc_diag *diag);

#endif
