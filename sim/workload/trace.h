/* Reads a request trace as CSV, one line at a time, in constant memory.
 *
 *     time_us,op,key,key_bytes,value_bytes      this first line may be left out
 *     0.5,get,user:17,16,100
 *
 * - time_us: decimal microseconds, not negative; lines must not go back in time
 * - op: get, set or delete, in any case
 * - key: text without commas, 1..key_bytes bytes; the real key is this text, filled up with '#'
 * - key_bytes: 1..255
 * - value_bytes: 0..KVC_VALUE_BYTES_MAX
 *
 * Lines end in LF or CR LF, the last one may end with the file. No quoting, no blanks around fields, no empty
 * lines. Every other line is an error that names file:line, what was found and what is allowed. */
#ifndef KVC_SIM_WORKLOAD_TRACE_H
#define KVC_SIM_WORKLOAD_TRACE_H

#include <stdint.h>

#include "sim/base/diag.h"

enum { KVC_TRACE_LINE_MAX = 4096, KVC_TRACE_KEY_MAX = 255 };

struct kvc_trace_row {
    double time_ns;
    uint8_t op; /* enum kvc_op */
    uint8_t key_bytes;
    uint32_t value_bytes;
    uint8_t key[KVC_TRACE_KEY_MAX + 1]; /* zero behind key_bytes */
};

enum kvc_trace_next { KVC_TRACE_ROW, KVC_TRACE_END, KVC_TRACE_ERROR };

struct kvc_trace;

void kvc_trace_close(struct kvc_trace *trace); /* NULL is allowed */

/* NULL and `diag` when the file cannot be opened or memory is short. */
struct kvc_trace *kvc_trace_open(const char *path, struct kvc_diag *diag);

/* Reads the next row. After KVC_TRACE_ERROR (`diag` tells) the trace cannot be read on. */
enum kvc_trace_next kvc_trace_read(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag);

#endif
