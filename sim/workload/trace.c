#include "sim/workload/trace.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "kernels/hash.h"
#include "sim/workload/batch.h"
#include "sim/workload/sizes.h"

enum { COLUMNS = 5, SHOWN = 40, HEAD_ROWS = 4096 /* Rows that show the format and the extent of a trace. */ };

static const double time_max_us = 1e12; /* Eleven days. */
static const char header[] = "time_us,op,key,key_bytes,value_bytes";

struct kvc_trace {
    FILE *file;
    char *path;
    int line; /* Number of the line in `text`. */
    double last_us;
    char text[KVC_TRACE_LINE_MAX + 1];
};

void kvc_trace_close(struct kvc_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    if (trace->file != NULL) {
        fclose(trace->file);
    }
    free(trace->path);
    free(trace);
}

struct kvc_trace *kvc_trace_open(const char *path, struct kvc_diag *diag)
{
    struct kvc_trace *trace = calloc(1, sizeof(*trace));
    struct stat status;
    if (trace == NULL || (trace->path = strdup(path)) == NULL) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the trace reader");
    } else if ((trace->file = fopen(path, "r")) == NULL) {
        kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cannot open the trace \"%s\": %s", path, strerror(errno));
    } else if (fstat(fileno(trace->file), &status) == 0 && S_ISDIR(status.st_mode)) {
        kvc_diag_fail(diag, KVC_ERR_SCENARIO, "cannot open the trace \"%s\": it is a folder", path);
    } else {
        return trace;
    }
    kvc_trace_close(trace);
    return NULL;
}

#define FAIL(trace, diag, ...)                                                                               \
    (kvc_diag_fail_at((diag), KVC_ERR_SCENARIO, (trace)->path, (trace)->line, __VA_ARGS__), KVC_TRACE_ERROR)

/* Reads a line into trace->text. getline is not used, because it would hold a whole file without line ends
 * in memory. */
static enum kvc_trace_next read_line(struct kvc_trace *trace, struct kvc_diag *diag)
{
    size_t length = 0;
    int c;
    trace->line++;
    while ((c = getc_unlocked(trace->file)) != EOF && c != '\n') {
        if (c == '\0') {
            return FAIL(trace, diag, "byte %zu of the line is NUL; a trace is plain text", length + 1);
        }
        if (length == KVC_TRACE_LINE_MAX) {
            return FAIL(trace, diag, "the line is longer than %d bytes", KVC_TRACE_LINE_MAX);
        }
        trace->text[length++] = (char)c;
    }
    if (c == EOF && ferror(trace->file)) {
        return FAIL(trace, diag, "cannot read on: %s", strerror(errno));
    }
    if (c == EOF && length == 0) {
        return KVC_TRACE_END;
    }
    if (length > 0 && trace->text[length - 1] == '\r') {
        length--;
    }
    trace->text[length] = '\0';
    return KVC_TRACE_ROW;
}

/* Cuts the line at its commas. Returns the number of columns. */
static int split(char *text, char *column[COLUMNS])
{
    int count = 1;
    column[0] = text;
    for (char *comma = strchr(text, ','); comma != NULL; comma = strchr(comma + 1, ',')) {
        if (count < COLUMNS) {
            *comma = '\0';
            column[count] = comma + 1;
        }
        count++;
    }
    return count;
}

static bool parse_time(const char *text, double *us)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') {
        return false; /* strtod alone would accept blanks, hexadecimal numbers, inf and nan. */
    }
    char *end;
    *us = strtod(text, &end);
    return *end == '\0' && *us >= 0 && *us <= time_max_us;
}

static bool parse_count(const char *text, unsigned long most, unsigned long *count)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0' || strlen(text) > 9) {
        return false;
    }
    *count = strtoul(text, NULL, 10);
    return *count <= most;
}

static int parse_op(const char *text)
{
    static const char *const names[KVC_OP_COUNT] = {
        [KVC_OP_GET] = "get", [KVC_OP_SET] = "set", [KVC_OP_DELETE] = "delete"};
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        if (strcasecmp(text, names[op]) == 0) {
            return op;
        }
    }
    return -1;
}

static enum kvc_trace_next parse_row(struct kvc_trace *trace, struct kvc_trace_row *row,
                                     struct kvc_diag *diag)
{
    char *column[COLUMNS];
    unsigned long key_bytes, value_bytes;
    double us;
    int columns = split(trace->text, column), op;
    if (columns < COLUMNS) {
        return FAIL(trace, diag, "the line has %d of %d columns (%s); it may be truncated", columns, COLUMNS,
                    header);
    }
    if (columns > COLUMNS) {
        return FAIL(trace, diag, "the line has %d columns, %d are allowed (%s)", columns, COLUMNS, header);
    }
    if (!parse_time(column[0], &us)) {
        return FAIL(trace, diag, "time_us is \"%.*s\"; allowed are decimal microseconds from 0 to %g", SHOWN,
                    column[0], time_max_us);
    }
    if (us < trace->last_us) {
        return FAIL(trace, diag, "time_us goes back from %.15g to %.15g", trace->last_us, us);
    }
    if ((op = parse_op(column[1])) < 0) {
        return FAIL(trace, diag, "op is \"%.*s\"; allowed are get, set and delete", SHOWN, column[1]);
    }
    if (!parse_count(column[3], KVC_TRACE_KEY_MAX, &key_bytes) || key_bytes == 0) {
        return FAIL(trace, diag, "key_bytes is \"%.*s\"; allowed are 1 to %d", SHOWN, column[3],
                    KVC_TRACE_KEY_MAX);
    }
    if (!parse_count(column[4], KVC_VALUE_BYTES_MAX, &value_bytes)) {
        return FAIL(trace, diag, "value_bytes is \"%.*s\"; allowed are 0 to %d", SHOWN, column[4],
                    KVC_VALUE_BYTES_MAX);
    }
    size_t text_bytes = strlen(column[2]);
    if (text_bytes == 0) {
        return FAIL(trace, diag, "the key is empty; it needs 1 to key_bytes bytes");
    }
    if (text_bytes > key_bytes) {
        return FAIL(trace, diag, "the key \"%.*s\" has %zu bytes, more than its key_bytes of %lu", SHOWN,
                    column[2], text_bytes, key_bytes);
    }
    row->time_ns = us * 1e3;
    row->op = (uint8_t)op;
    row->key_bytes = (uint8_t)key_bytes;
    row->value_bytes = (uint32_t)value_bytes;
    memcpy(row->key, column[2], text_bytes);
    memset(row->key + text_bytes, '#', key_bytes - text_bytes);
    memset(row->key + key_bytes, 0, sizeof(row->key) - key_bytes);
    trace->last_us = us;
    return KVC_TRACE_ROW;
}

enum kvc_trace_next kvc_trace_read(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag)
{
    enum kvc_trace_next next = read_line(trace, diag);
    if (next == KVC_TRACE_ROW && trace->line == 1 && strncmp(trace->text, "time_us", 7) == 0) {
        if (strcmp(trace->text, header) != 0) {
            return FAIL(trace, diag, "the header is \"%.*s\"; allowed is %s", SHOWN, trace->text, header);
        }
        next = read_line(trace, diag);
    }
    return next == KVC_TRACE_ROW ? parse_row(trace, row, diag) : next;
}

enum kvc_status kvc_trace_fail_empty(const char *path, struct kvc_diag *diag)
{
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                            "found a trace without requests; at least one line must follow the header");
}

enum kvc_status kvc_trace_check(const char *path, struct kvc_diag *diag)
{
    struct kvc_diag inner = {0};
    struct kvc_trace *trace = kvc_trace_open(path, &inner);
    struct kvc_trace_row row;
    enum kvc_trace_next next = trace != NULL ? KVC_TRACE_ROW : KVC_TRACE_ERROR;
    uint32_t rows = 0;
    while (next == KVC_TRACE_ROW && rows < HEAD_ROWS) {
        next = kvc_trace_read(trace, &row, &inner);
        rows += next == KVC_TRACE_ROW;
    }
    kvc_trace_close(trace);
    if (next == KVC_TRACE_END && rows == 0) {
        kvc_trace_fail_empty(path, &inner);
    }
    if (inner.status != KVC_OK && diag != NULL) {
        *diag = inner;
    }
    return inner.status;
}

/* Returns the number that the last line begins with, or 0. */
static double last_number(const char *text, size_t bytes)
{
    size_t at = bytes;
    while (at > 0 && text[at - 1] == '\n') {
        at--;
    }
    while (at > 0 && text[at - 1] != '\n') {
        at--;
    }
    return fmax(strtod(text + at, NULL), 0);
}

/* Returns the send time of the last row [ns]. */
static double end_ns_of(FILE *file, off_t bytes)
{
    static const double ns_per_us = 1e3;
    char text[2 * KVC_TRACE_LINE_MAX + 1];
    const off_t room = sizeof(text) - 1;
    if (fseeko(file, bytes > room ? bytes - room : 0, SEEK_SET) != 0) {
        return 0;
    }
    size_t read = fread(text, 1, sizeof(text) - 1, file);
    text[read] = '\0';
    return fmin(last_number(text, read), time_max_us) * ns_per_us;
}

/* Adds a hash to the hashes of the keys so far, unless it is among them. */
static bool is_new(uint64_t *hash, uint32_t count, uint64_t next)
{
    for (uint32_t i = 0; i < count; i++) {
        if (hash[i] == next) {
            return false;
        }
    }
    hash[count] = next;
    return true;
}

struct kvc_trace_extent kvc_trace_extent_of(const char *path)
{
    struct kvc_trace *trace = kvc_trace_open(path, NULL);
    struct kvc_trace_extent extent = {0};
    struct kvc_trace_row row;
    struct stat status;
    uint64_t hash[HEAD_ROWS];
    double rows = 0, keys = 0, key_bytes = 0, value_bytes = 0;
    if (trace == NULL) {
        return extent;
    }
    for (; rows < HEAD_ROWS && kvc_trace_read(trace, &row, NULL) == KVC_TRACE_ROW; rows++) {
        keys += row.op == KVC_OP_SET && is_new(hash, (uint32_t)keys, kvc_hash(row.key, row.key_bytes, 0));
        key_bytes += row.key_bytes;
        value_bytes += row.value_bytes;
    }
    off_t read = ftello(trace->file);
    if (rows > 0 && read > 0 && fstat(fileno(trace->file), &status) == 0) {
        double all = (double)status.st_size / (double)read;
        extent = (struct kvc_trace_extent){.rows = all * rows,
                                           .keys = all * keys,
                                           .key_bytes = key_bytes / rows,
                                           .value_bytes = value_bytes / rows};
        extent.end_ns = end_ns_of(trace->file, status.st_size);
    }
    kvc_trace_close(trace);
    return extent;
}
