/* Fuzz target that takes any bytes as a trace of any format. Rows that are accepted are in order of time and
 * within their limits; those of kvcast's CSV, written as lines, read back as the same rows. A trace that is
 * refused has a message. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/files/memory_file_fixture.h"
#include "sim/workload/batch.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace/trace.h"

enum { ROWS_MAX = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

static void check_row(const struct kvc_trace_row *row, double last_ns)
{
    check(isfinite(row->time_ns) && row->time_ns >= last_ns && row->ttl_ns >= 0);
    check(row->op < KVC_OP_COUNT && row->key_bytes > 0);
    for (uint32_t i = row->key_bytes; i % 8 != 0; i++) {
        check(row->key[i] == 0);
    }
}

/* Reads all rows, and writes them as lines of kvcast's CSV to `out`, with the padding of their keys, if they
 * come from such. Returns how the trace ended. */
static enum kvc_trace_next read_all(const char *path, FILE *out, uint64_t *rows, bool *is_csv,
                                    struct kvc_diag *diag)
{
    static const char *const ops[KVC_OP_COUNT] = {
        [KVC_OP_GET] = "get", [KVC_OP_SET] = "SET", [KVC_OP_DELETE] = "Delete"};
    struct kvc_trace *trace = kvc_trace_open(path, diag);
    struct kvc_trace_row row;
    enum kvc_trace_next next;
    double last_ns = 0;
    *rows = 0;
    *is_csv = trace != NULL && strcmp(kvc_trace_format(trace), "csv") == 0;
    if (trace == NULL) {
        return KVC_TRACE_ERROR;
    }
    /* A row of CacheLib stands for up to 2^32 requests. */
    for (; *rows < ROWS_MAX && (next = kvc_trace_read(trace, &row, diag)) == KVC_TRACE_ROW; ++*rows) {
        check_row(&row, last_ns);
        last_ns = row.time_ns;
        if (*is_csv) {
            check(row.value_bytes <= KVC_VALUE_BYTES_MAX && memchr(row.key, ',', row.key_bytes) == NULL);
            fprintf(out, "%.0f,%s,%.*s,%u,%u\n", row.time_ns / 1e3, ops[row.op], (int)row.key_bytes,
                    (const char *)row.key, (unsigned)row.key_bytes, (unsigned)row.value_bytes);
        }
    }
    kvc_trace_close(trace);
    return *rows < ROWS_MAX ? next : KVC_TRACE_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct kvc_diag diag = {0};
    uint64_t rows, rows_again;
    char *text, *text_again;
    size_t text_bytes, bytes_again;
    bool is_csv, is_csv_again;
    FILE *out = open_memstream(&text, &text_bytes), *out_again = open_memstream(&text_again, &bytes_again);
    check(out != NULL && out_again != NULL);
    if (read_all(kvc_memory_file(data, bytes), out, &rows, &is_csv, &diag) == KVC_TRACE_ERROR) {
        check(diag.status == KVC_ERR_SCENARIO && diag.message[0] != '\0');
        check(!is_csv || diag.line > (int)rows || diag.line == 0);
    }
    fclose(out);
    if (is_csv) {
        check(read_all(kvc_memory_file((const uint8_t *)text, text_bytes), out_again, &rows_again,
                       &is_csv_again, &diag) == KVC_TRACE_END);
    }
    fclose(out_again);
    check(!is_csv ||
          (rows_again == rows && bytes_again == text_bytes && memcmp(text, text_again, text_bytes) == 0));
    free(text);
    free(text_again);
    return 0;
}
