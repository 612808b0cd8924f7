/** @file
 * A trace is a file of requests, read row by row in constant memory, plain or compressed (stream.h).
 *
 * The first bytes of a file tell its format:
 *
 * - kvcast's CSV, `time_us,op,key,key_bytes,value_bytes`, whose header is optional. time_us are decimal
 *   microseconds, not negative; op is get, set or delete; key is text without commas, 1 to key_bytes bytes,
 *   which the number sign pads to key_bytes (1 to 255); value_bytes is 0 to KVC_VALUE_BYTES_MAX. Example:
 *   `0.5,get,user:17,16,100`
 * - oracleGeneral, libCacheSim's binary format: little-endian records of 24 bytes with the time [s], the
 *   object's number and size [bytes], and the position of its next request, which is not used. All requests
 *   are GETs, and keys are the 16 hexadecimal digits of the number.
 * - twitter, the CSV of Twitter's cache traces: time [s], key, key size, value size, client, operation, TTL
 *   [s].
 * - cachelib, the CSV of Meta's key-value traces, whose header names its columns in any order: key, op, size,
 *   op_count and key_size, and perhaps op_time [s] and ttl [s]. A row stands for op_count requests.
 * - watch, the log of memcached's `watch fetchers mutations deletions`. Lines of other events are passed
 *   over.
 * - the synthetic twin of a trace (sim/workload/trace/twin.h). It is read as a whole, and its memory grows
 * with the keys.
 *
 * Where a format has whole seconds, so have the times of its rows. Times are counted from the first row,
 * except in kvcast's CSV. A trace without times has a row each nanosecond. An anonymized key that is longer
 * than the real one stands for a text of the real length, made from its hash; a key longer than
 * KVC_TRACE_KEY_MAX is cut there. The size of a value is 0 where the trace does not know it, as for a GET
 * that missed when it was recorded.
 *
 * Lines end in LF or CR LF; the last line may end with the file. Anything else is an error that names the
 * file and line, what was found and what is allowed. */
#ifndef KVC_SIM_WORKLOAD_TRACE_TRACE_H
#define KVC_SIM_WORKLOAD_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/diag.h"

enum {
    KVC_TRACE_LINE_MAX = 4096, /**< Longest line [bytes]. */
    KVC_TRACE_KEY_MAX = 255,   /**< Longest key [bytes]. */
};

/** One request of a trace. */
struct kvc_trace_row {
    double time_ns;                     /**< Send time [ns]. */
    double ttl_ns;                      /**< Time for which the pair is valid [ns]; 0: for ever. */
    uint8_t op;                         /**< enum kvc_op. */
    uint8_t key_bytes;                  /**< Size of the key [bytes]. */
    uint32_t value_bytes;               /**< Size of the value [bytes]. */
    uint8_t key[KVC_TRACE_KEY_MAX + 1]; /**< The key; zero after `key_bytes`, up to a multiple of 8. */
};

/** The outcome of reading a row. */
enum kvc_trace_next {
    KVC_TRACE_ROW,   /**< A row was read. */
    KVC_TRACE_END,   /**< The trace has ended. */
    KVC_TRACE_ERROR, /**< The row is malformed or cannot be read. */
};

/** An open trace. */
struct kvc_trace;

/** Closes a trace. NULL is allowed. */
void kvc_trace_close(struct kvc_trace *trace);

/** Opens a trace. Returns NULL and fills `diag` if the file cannot be opened or memory is short. */
struct kvc_trace *kvc_trace_open(const char *path, struct kvc_diag *diag);

/** Returns the name of the trace's format. */
const char *kvc_trace_format(const struct kvc_trace *trace);

/** Returns whether the rows have times. */
bool kvc_trace_is_timed(const struct kvc_trace *trace);

/** Returns the resolution of the rows' times [ns]: a second, or 0 where they are exact. */
double kvc_trace_tick_ns(const struct kvc_trace *trace);

/** Returns whether the trace records what stores were told to write, and not only which objects were used. */
bool kvc_trace_has_writes(const struct kvc_trace *trace);

/** Returns which share of the file has been read, 0 to 1. */
double kvc_trace_read_frac(const struct kvc_trace *trace);

/** Reads the next row. After KVC_TRACE_ERROR, which fills `diag`, the trace cannot be read any further. */
enum kvc_trace_next kvc_trace_read(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag);

/** Fails because a trace has no row. */
enum kvc_status kvc_trace_fail_empty(const char *path, struct kvc_diag *diag);

#endif
