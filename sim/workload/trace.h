/** @file
 * Reads a request trace in CSV line by line, in constant memory.
 *
 *     time_us,op,key,key_bytes,value_bytes
 *     0.5,get,user:17,16,100
 *
 * The header line is optional. The columns are:
 *
 * - time_us: decimal microseconds, not negative; the times of successive lines must not decrease
 * - op: get, set or delete, in upper or lower case
 * - key: text without commas, 1 to key_bytes bytes; the real key is this text, padded with the number sign
 * - key_bytes: 1 to 255
 * - value_bytes: 0 to KVC_VALUE_BYTES_MAX
 *
 * Lines end in LF or CR LF; the last line may end with the file. Quotes, blanks around fields and empty lines
 * are not allowed. Any other line is an error that names the file and line, what was found and what is
 * allowed. */
#ifndef KVC_SIM_WORKLOAD_TRACE_H
#define KVC_SIM_WORKLOAD_TRACE_H

#include <stdint.h>

#include "sim/base/diag.h"

enum {
    KVC_TRACE_LINE_MAX = 4096, /**< Longest line [bytes]. */
    KVC_TRACE_KEY_MAX = 255,   /**< Longest key [bytes]. */
};

/** One line of a trace. */
struct kvc_trace_row {
    double time_ns;                     /**< Send time [ns]. */
    uint8_t op;                         /**< enum kvc_op. */
    uint8_t key_bytes;                  /**< Size of the key [bytes]. */
    uint32_t value_bytes;               /**< Size of the value [bytes]. */
    uint8_t key[KVC_TRACE_KEY_MAX + 1]; /**< The key; zero after `key_bytes`. */
};

/** The outcome of reading a line. */
enum kvc_trace_next {
    KVC_TRACE_ROW,   /**< A row was read. */
    KVC_TRACE_END,   /**< The trace has ended. */
    KVC_TRACE_ERROR, /**< The line is malformed or cannot be read. */
};

/** An open trace. */
struct kvc_trace;

/** Closes a trace. NULL is allowed. */
void kvc_trace_close(struct kvc_trace *trace);

/** The extent of a trace, estimated from its first rows and the size of the file. */
struct kvc_trace_extent {
    double rows;      /**< Approximate number of rows. */
    double keys;      /**< Approximate number of different keys that they store; too large if many keys return
                         later. */
    double end_ns;    /**< Send time of the last row [ns]. */
    double key_bytes; /**< Mean size of a row's key [bytes]. */
    double value_bytes; /**< Mean size of a row's value [bytes]. */
};

/** Returns the extent of a trace. All is 0 if its first row cannot be read. */
struct kvc_trace_extent kvc_trace_extent_of(const char *path);

/** Reads the first 4096 rows of a trace, which show whether it has the format. Returns KVC_ERR_SCENARIO with
 * the first line that is malformed, or if the trace cannot be opened or has no row. */
enum kvc_status kvc_trace_check(const char *path, struct kvc_diag *diag);

/** Fails because a trace has no row. */
enum kvc_status kvc_trace_fail_empty(const char *path, struct kvc_diag *diag);

/** Opens a trace. Returns NULL and fills `diag` if the file cannot be opened or memory is short. */
struct kvc_trace *kvc_trace_open(const char *path, struct kvc_diag *diag);

/** Reads the next row. After KVC_TRACE_ERROR, which fills `diag`, the trace cannot be read any further. */
enum kvc_trace_next kvc_trace_read(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag);

#endif
