#include "sim/workload/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/bytes.h"
#include "kernels/hash.h"
#include "sim/workload/batch.h"
#include "sim/workload/sizes.h"
#include "sim/workload/trace/stream.h"
#include "sim/workload/trace/twin.h"

enum {
    COLUMNS_MAX = 16,
    SHOWN = 40,
    HEAD_BYTES = 4096,   /* They tell the format. */
    RECORD_BYTES = 24,   /* Of oracleGeneral. */
    HASHED_KEY_MAX = 11, /* Characters of 6 bits that hold a hash. */
};

static const double time_max_us = 1e12; /* Eleven days. */
static const double ns_per_s = 1e9, ns_per_us = 1e3;
static const char csv_header[] = "time_us,op,key,key_bytes,value_bytes";

/* Columns of a line; `text` ends with a zero byte. */
struct column {
    char *text;
    size_t bytes;
};

/* A format: how it is recognized by the first bytes of a file, which end with a zero byte, and read. */
struct format {
    const char *name;
    bool (*is)(const char *head, size_t bytes);
    enum kvc_trace_next (*read)(struct kvc_trace *, struct kvc_trace_row *, struct kvc_diag *);
    double tick_ns;
    bool has_no_writes;
};

/* Columns of a CacheLib trace, by place. */
enum cachelib_column { KEY, OP, SIZE, OP_COUNT, KEY_SIZE, OP_TIME, TTL, CACHELIB_COLUMNS };

struct kvc_trace {
    const struct format *format;
    struct kvc_stream *stream;
    char *path;
    int line;         /* Number of the line or record read last. */
    double last_ns;   /* Time of the row read last. */
    double first_s;   /* Time of the first row; times are counted from here. */
    uint64_t repeats; /* CacheLib: how many more requests the row in `repeated` stands for. */
    struct kvc_trace_row repeated;
    int column_at[CACHELIB_COLUMNS]; /* CacheLib: places of the columns; below 0: absent. */
    int columns;                     /* CacheLib: columns of the header. */
    bool header_read;
    struct kvc_twin *twin; /* Twin: its requests; NULL until the first is read. */
    char text[KVC_TRACE_LINE_MAX + 1];
};

#define FAIL(trace, diag, ...)                                                                               \
    (kvc_diag_fail_at((diag), KVC_ERR_SCENARIO, (trace)->path, (trace)->line, __VA_ARGS__), KVC_TRACE_ERROR)

/* ---- lines and fields ---- */

/* Reads a line into trace->text. */
static enum kvc_trace_next read_line(struct kvc_trace *trace, size_t *length, struct kvc_diag *diag)
{
    size_t found, used;
    trace->line++;
    const char *line = (const char *)kvc_stream_look(trace->stream, KVC_TRACE_LINE_MAX + 2, &found, diag);
    if (line == NULL) {
        return KVC_TRACE_ERROR;
    }
    if (found == 0) {
        return KVC_TRACE_END;
    }
    found = found < KVC_TRACE_LINE_MAX + 2 ? found : KVC_TRACE_LINE_MAX + 2;
    const char *end = memchr(line, '\n', found);
    used = end != NULL ? (size_t)(end - line) + 1 : found;
    *length = end != NULL ? used - 1 : used;
    if (*length > 0 && line[*length - 1] == '\r') {
        --*length;
    }
    const char *zero = memchr(line, '\0', *length);
    if (zero != NULL) {
        return FAIL(trace, diag, "byte %zu of the line is NUL; a trace is plain text",
                    (size_t)(zero - line) + 1);
    }
    if (*length > KVC_TRACE_LINE_MAX) {
        return FAIL(trace, diag, "the line is longer than %d bytes", KVC_TRACE_LINE_MAX);
    }
    memcpy(trace->text, line, *length);
    trace->text[*length] = '\0';
    kvc_stream_skip(trace->stream, used);
    return KVC_TRACE_ROW;
}

/* Cuts a line at its commas. Returns the number of columns, of which the first COLUMNS_MAX are kept. */
static int split(char *text, size_t length, struct column *column)
{
    int count = 0;
    char *end = text + length;
    for (char *comma; (comma = memchr(text, ',', (size_t)(end - text))) != NULL; text = comma + 1) {
        if (count < COLUMNS_MAX) {
            *comma = '\0';
            column[count] = (struct column){text, (size_t)(comma - text)};
        }
        count++;
    }
    if (count < COLUMNS_MAX) {
        column[count] = (struct column){text, (size_t)(end - text)};
    }
    return count + 1;
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

static bool parse_count(const char *text, uint64_t most, uint64_t *count)
{
    uint64_t value = 0;
    const char *digit = text;
    for (; *digit >= '0' && *digit <= '9' && digit - text < 19; digit++) {
        value = value * 10 + (uint64_t)(*digit - '0');
    }
    *count = value;
    return digit > text && *digit == '\0' && value <= most;
}

/* A command, in lower case, and its operation. */
struct command {
    const char *name;
    enum kvc_op op;
};

static int find_op(const struct command *command, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(text, command[i].name) == 0) {
            return command[i].op;
        }
    }
    return -1;
}

#define FIND_OP(commands, text) find_op((commands), sizeof(commands) / sizeof(*(commands)), (text))

/* The commands of memcached's protocol, as Twitter's traces name them. */
static const struct command cache_commands[] = {
    {"get", KVC_OP_GET},  {"gets", KVC_OP_GET},    {"set", KVC_OP_SET},       {"add", KVC_OP_SET},
    {"cas", KVC_OP_SET},  {"replace", KVC_OP_SET}, {"append", KVC_OP_SET},    {"prepend", KVC_OP_SET},
    {"incr", KVC_OP_SET}, {"decr", KVC_OP_SET},    {"delete", KVC_OP_DELETE},
};

static void clear_behind_key(struct kvc_trace_row *row)
{
    memset(row->key + row->key_bytes, 0, (size_t)(-row->key_bytes & 7));
}

/* Sets the key to a text that is padded to its real size, or stands for a shorter one. */
static void set_key(struct kvc_trace_row *row, const struct column *text, uint64_t key_bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    row->key_bytes = (uint8_t)(key_bytes < KVC_TRACE_KEY_MAX ? key_bytes : KVC_TRACE_KEY_MAX);
    memset(row->key, '#', row->key_bytes);
    if (text->bytes <= row->key_bytes) {
        memcpy(row->key, text->text, text->bytes);
    } else {
        uint64_t hash = kvc_hash(text->text, text->bytes, 0);
        for (int i = 0; i < HASHED_KEY_MAX && i < row->key_bytes; i++, hash >>= 6) {
            row->key[i] = (uint8_t)digits[hash & 63];
        }
    }
    clear_behind_key(row);
}

/* Sets the time of a row that states seconds. */
static enum kvc_trace_next set_time(struct kvc_trace *trace, struct kvc_trace_row *row, uint64_t s, double ns,
                                    struct kvc_diag *diag)
{
    double own_s = (double)s;
    if (trace->last_ns < 0) {
        trace->first_s = own_s;
    }
    row->time_ns = (own_s - trace->first_s) * ns_per_s + ns;
    if (row->time_ns < trace->last_ns || row->time_ns < 0) {
        return FAIL(trace, diag, "the time goes back to %.0f s; rows must be in order of time (read as %s)",
                    own_s, trace->format->name);
    }
    trace->last_ns = row->time_ns;
    return KVC_TRACE_ROW;
}

/* ---- kvcast's CSV ---- */

static bool is_csv(const char *head, size_t bytes)
{
    (void)head;
    (void)bytes;
    return true; /* Whatever nobody else reads; its messages say what a line has to look like. */
}

static enum kvc_trace_next read_csv(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag)
{
    enum { COLUMNS = 5 };
    static const struct command commands[] = {
        {"get", KVC_OP_GET}, {"set", KVC_OP_SET}, {"delete", KVC_OP_DELETE}};
    struct column column[COLUMNS_MAX];
    uint64_t key_bytes, value_bytes;
    size_t length;
    double us;
    enum kvc_trace_next next = read_line(trace, &length, diag);
    if (next == KVC_TRACE_ROW && trace->line == 1 && strncmp(trace->text, "time_us", 7) == 0) {
        if (strcmp(trace->text, csv_header) != 0) {
            return FAIL(trace, diag, "the header is \"%.*s\"; allowed is %s", SHOWN, trace->text, csv_header);
        }
        next = read_line(trace, &length, diag);
    }
    if (next != KVC_TRACE_ROW) {
        return next;
    }
    int columns = split(trace->text, length, column), op;
    if (columns < COLUMNS) {
        return FAIL(trace, diag, "the line has %d of %d columns (%s); %s", columns, COLUMNS, csv_header,
                    trace->line == 1
                        ? "it is no oracleGeneral, CSV of Twitter or CacheLib, or watch log either"
                        : "it may be truncated");
    }
    if (columns > COLUMNS) {
        return FAIL(trace, diag, "the line has %d columns, %d are allowed (%s)", columns, COLUMNS,
                    csv_header);
    }
    if (!parse_time(column[0].text, &us)) {
        return FAIL(trace, diag, "time_us is \"%.*s\"; allowed are decimal microseconds from 0 to %g", SHOWN,
                    column[0].text, time_max_us);
    }
    if (us * ns_per_us < trace->last_ns) {
        return FAIL(trace, diag, "time_us goes back from %.15g to %.15g", trace->last_ns / ns_per_us, us);
    }
    if ((op = FIND_OP(commands, column[1].text)) < 0) {
        return FAIL(trace, diag, "op is \"%.*s\"; allowed are get, set and delete", SHOWN, column[1].text);
    }
    if (!parse_count(column[3].text, KVC_TRACE_KEY_MAX, &key_bytes) || key_bytes == 0) {
        return FAIL(trace, diag, "key_bytes is \"%.*s\"; allowed are 1 to %d", SHOWN, column[3].text,
                    KVC_TRACE_KEY_MAX);
    }
    if (!parse_count(column[4].text, KVC_VALUE_BYTES_MAX, &value_bytes)) {
        return FAIL(trace, diag, "value_bytes is \"%.*s\"; allowed are 0 to %d", SHOWN, column[4].text,
                    KVC_VALUE_BYTES_MAX);
    }
    if (column[2].bytes == 0) {
        return FAIL(trace, diag, "the key is empty; it needs 1 to key_bytes bytes");
    }
    if (column[2].bytes > key_bytes) {
        return FAIL(trace, diag, "the key \"%.*s\" has %zu bytes, more than its key_bytes of %llu", SHOWN,
                    column[2].text, column[2].bytes, (unsigned long long)key_bytes);
    }
    row->time_ns = trace->last_ns = us * ns_per_us;
    row->ttl_ns = 0;
    row->op = (uint8_t)op;
    row->value_bytes = (uint32_t)value_bytes;
    set_key(row, &column[2], key_bytes);
    return KVC_TRACE_ROW;
}

/* ---- libCacheSim's oracleGeneral ---- */

static bool is_oracle(const char *head, size_t bytes)
{
    return memchr(head, '\0', bytes < RECORD_BYTES ? bytes : RECORD_BYTES) != NULL;
}

/* Returns the 8 hexadecimal digits of a number as the bytes of a word, the first digit in the lowest one. */
static uint64_t hex_digits_of(uint32_t number)
{
    static const uint64_t ones = 0x0101010101010101;
    uint64_t nibbles = number;
    nibbles = (nibbles | nibbles << 16) & 0x0000ffff0000ffff;
    nibbles = (nibbles | nibbles << 8) & 0x00ff00ff00ff00ff;
    nibbles = __builtin_bswap64((nibbles | nibbles << 4) & 0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (nibbles + 6 * ones) >> 4 & ones; /* 1 for a nibble above 9. */
    return nibbles + '0' * ones + ('a' - '0' - 10) * letters;
}

static void set_hex_key(struct kvc_trace_row *row, uint64_t number)
{
    row->key_bytes = 16;
    const uint64_t digits[] = {hex_digits_of((uint32_t)(number >> 32)), hex_digits_of((uint32_t)number)};
    memcpy(row->key, digits, sizeof(digits));
}

static enum kvc_trace_next read_oracle(struct kvc_trace *trace, struct kvc_trace_row *row,
                                       struct kvc_diag *diag)
{
    size_t found;
    const uint8_t *record = kvc_stream_look(trace->stream, RECORD_BYTES, &found, diag);
    if (record == NULL || found == 0) {
        return record == NULL ? KVC_TRACE_ERROR : KVC_TRACE_END;
    }
    trace->line++;
    if (found < RECORD_BYTES) {
        return FAIL(trace, diag, "record %d has %zu of %d bytes (oracleGeneral); the file is cut off",
                    trace->line, found, RECORD_BYTES);
    }
    row->ttl_ns = 0;
    row->op = KVC_OP_GET;
    row->value_bytes = kvc_bytes_word(record + 12, 4);
    set_hex_key(row, kvc_bytes_word_64(record + 4, 8));
    enum kvc_trace_next next = set_time(trace, row, kvc_bytes_word(record, 4), 0, diag);
    kvc_stream_skip(trace->stream, RECORD_BYTES);
    return next;
}

/* ---- Twitter's CSV ---- */

/* Returns the end of the first line. */
static const char *line_end(const char *head)
{
    return head + strcspn(head, "\r\n");
}

static bool is_twitter(const char *head, size_t bytes)
{
    (void)bytes;
    char line[HEAD_BYTES + 1], *last = NULL, *before = NULL;
    size_t length = (size_t)(line_end(head) - head);
    memcpy(line, head, length);
    line[length] = '\0';
    int commas = 0;
    for (char *at = line; (at = strchr(at, ',')) != NULL; at++, commas++) {
        before = last;
        last = at;
    }
    if (commas < 6 || line[0] < '0' || line[0] > '9') {
        return false;
    }
    *last = '\0';
    return FIND_OP(cache_commands, before + 1) >= 0;
}

static enum kvc_trace_next read_twitter(struct kvc_trace *trace, struct kvc_trace_row *row,
                                        struct kvc_diag *diag)
{
    enum { AFTER_KEY = 5, COLUMNS = 7 };
    static const char allowed[] = "time,key,key size,value size,client,operation,TTL";
    static const char *const names[AFTER_KEY] = {"the key size", "the value size", "the client",
                                                 "the operation", "the TTL"};
    uint64_t number[AFTER_KEY] = {0}, time_s;
    size_t length;
    int op = -1;
    enum kvc_trace_next next = read_line(trace, &length, diag);
    if (next != KVC_TRACE_ROW) {
        return next;
    }
    /* Anonymized keys may contain commas, so columns are counted from the end. */
    char *end = trace->text + length, *key = strchr(trace->text, ',');
    for (int i = AFTER_KEY - 1; i >= 0; i--) {
        char *comma = key != NULL ? memrchr(key + 1, ',', (size_t)(end - key - 1)) : NULL;
        if (comma == NULL) {
            return FAIL(trace, diag, "the line has fewer than %d columns (%s); it may be truncated", COLUMNS,
                        allowed);
        }
        *comma = '\0';
        end = comma;
        if (i == 3 && (op = FIND_OP(cache_commands, comma + 1)) < 0) {
            return FAIL(trace, diag,
                        "the operation is \"%.*s\"; allowed are get, gets, set, add, replace, cas, append, "
                        "prepend, incr, decr and delete",
                        SHOWN, comma + 1);
        }
        if ((i < 2 || i == 4) && !parse_count(comma + 1, UINT32_MAX, &number[i])) {
            return FAIL(trace, diag, "%s is \"%.*s\"; allowed is a number", names[i], SHOWN, comma + 1);
        }
    }
    *key = '\0';
    const struct column text = {key + 1, (size_t)(end - key - 1)};
    if (!parse_count(trace->text, UINT32_MAX, &time_s)) {
        return FAIL(trace, diag, "the time is \"%.*s\"; allowed are whole seconds", SHOWN, trace->text);
    }
    if (text.bytes == 0 || number[0] == 0) {
        return FAIL(trace, diag, "the key is empty; it needs at least 1 byte");
    }
    row->op = (uint8_t)op;
    row->value_bytes = (uint32_t)number[1];
    row->ttl_ns = (double)number[4] * ns_per_s;
    set_key(row, &text, number[0]);
    return set_time(trace, row, time_s, 0, diag);
}

/* ---- Meta's CacheLib CSV ---- */

/* Returns whether the first line has a column of this name. */
static bool has_column(const char *head, const char *name)
{
    size_t bytes = strlen(name);
    const char *end = line_end(head);
    for (const char *at = head; at < end; at += strcspn(at, ",\r\n") + 1) {
        if (strncmp(at, name, bytes) == 0 && strcspn(at, ",\r\n") == bytes) {
            return true;
        }
    }
    return false;
}

static bool is_cachelib(const char *head, size_t bytes)
{
    (void)bytes;
    return has_column(head, "key") && has_column(head, "op") && !has_column(head, "time_us");
}

static enum kvc_trace_next read_cachelib_header(struct kvc_trace *trace, struct kvc_diag *diag)
{
    static const char *const names[CACHELIB_COLUMNS] = {
        [KEY] = "key",           [OP] = "op",           [SIZE] = "size", [OP_COUNT] = "op_count",
        [KEY_SIZE] = "key_size", [OP_TIME] = "op_time", [TTL] = "ttl"};
    struct column column[COLUMNS_MAX];
    size_t length;
    enum kvc_trace_next next = read_line(trace, &length, diag);
    if (next != KVC_TRACE_ROW) {
        return next;
    }
    trace->columns = split(trace->text, length, column);
    if (trace->columns > COLUMNS_MAX) {
        return FAIL(trace, diag, "the header has %d columns, at most %d are allowed", trace->columns,
                    COLUMNS_MAX);
    }
    for (int i = 0; i < CACHELIB_COLUMNS; i++) {
        trace->column_at[i] = -1;
        for (int j = 0; j < trace->columns; j++) {
            if (strcmp(column[j].text, names[i]) == 0) {
                trace->column_at[i] = j;
            }
        }
        if (trace->column_at[i] < 0 && i <= KEY_SIZE) {
            return FAIL(trace, diag,
                        "the header has no column %s, which a CacheLib trace needs; the one of kvcast is %s",
                        names[i], csv_header);
        }
    }
    trace->header_read = true;
    return KVC_TRACE_ROW;
}

/* Gives a row of a trace without times the next time. */
static void count_time(struct kvc_trace *trace, struct kvc_trace_row *row)
{
    row->time_ns = ++trace->last_ns;
}

static enum kvc_trace_next read_cachelib_row(struct kvc_trace *trace, struct kvc_trace_row *row,
                                             struct kvc_diag *diag)
{
    static const struct command commands[] = {{"GET", KVC_OP_GET},
                                              {"GET_LEASE", KVC_OP_GET},
                                              {"SET", KVC_OP_SET},
                                              {"SET_LEASE", KVC_OP_SET},
                                              {"DELETE", KVC_OP_DELETE}};
    struct column column[COLUMNS_MAX];
    uint64_t number[CACHELIB_COLUMNS] = {0};
    size_t length;
    enum kvc_trace_next next = read_line(trace, &length, diag);
    if (next != KVC_TRACE_ROW) {
        return next;
    }
    int columns = split(trace->text, length, column), op;
    if (columns != trace->columns) {
        return FAIL(trace, diag, "the line has %d columns, the header has %d", columns, trace->columns);
    }
    for (int i = SIZE; i < CACHELIB_COLUMNS; i++) {
        int at = trace->column_at[i];
        if (at >= 0 && !parse_count(column[at].text, UINT32_MAX, &number[i]) &&
            !(i == TTL && column[at].bytes == 0)) {
            return FAIL(trace, diag, "column %d is \"%.*s\"; allowed is a number", at + 1, SHOWN,
                        column[at].text);
        }
    }
    const struct column *key = &column[trace->column_at[KEY]];
    const char *command = column[trace->column_at[OP]].text;
    if ((op = FIND_OP(commands, command)) < 0) {
        return FAIL(trace, diag, "op is \"%.*s\"; allowed are GET, GET_LEASE, SET, SET_LEASE and DELETE",
                    SHOWN, command);
    }
    if (key->bytes == 0 || number[KEY_SIZE] == 0 || number[OP_COUNT] == 0) {
        return FAIL(trace, diag, "key, key_size or op_count is empty or 0; allowed is at least 1");
    }
    row->op = (uint8_t)op;
    row->value_bytes = (uint32_t)number[SIZE];
    row->ttl_ns = (double)number[TTL] * ns_per_s;
    set_key(row, key, number[KEY_SIZE]);
    trace->repeats = number[OP_COUNT] - 1;
    if (trace->column_at[OP_TIME] < 0) {
        count_time(trace, row);
        return KVC_TRACE_ROW;
    }
    return set_time(trace, row, number[OP_TIME], 0, diag);
}

static enum kvc_trace_next read_cachelib(struct kvc_trace *trace, struct kvc_trace_row *row,
                                         struct kvc_diag *diag)
{
    enum kvc_trace_next next = KVC_TRACE_ROW;
    if (trace->repeats > 0) {
        trace->repeats--;
        *row = trace->repeated;
        if (trace->column_at[OP_TIME] < 0) {
            count_time(trace, row);
        }
        return next;
    }
    next = trace->header_read ? KVC_TRACE_ROW : read_cachelib_header(trace, diag);
    next = next == KVC_TRACE_ROW ? read_cachelib_row(trace, row, diag) : next;
    if (next == KVC_TRACE_ROW && trace->repeats > 0) {
        trace->repeated = *row;
    }
    return next;
}

/* ---- memcached's watch log ---- */

static bool is_watch(const char *head, size_t bytes)
{
    (void)bytes;
    const char *start = strncmp(head, "OK", 2) == 0 ? head + 2 + strspn(head + 2, "\r\n") : head;
    return strncmp(start, "ts=", 3) == 0;
}

/* Returns the value of a field " NAME=VALUE" of the line, or NULL. Its end is a blank or the line's. */
static const char *field_of(const char *text, const char *name, size_t *bytes)
{
    size_t name_bytes = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += name_bytes) {
        if (at[name_bytes] == '=' && (at == text || at[-1] == ' ')) {
            *bytes = strcspn(at + name_bytes + 1, " ");
            return at + name_bytes + 1;
        }
    }
    return NULL;
}

/* Returns the value of a field as text of its own, empty if there is none. */
static void copy_field(const char *text, const char *name, char *to, size_t room)
{
    size_t bytes = 0;
    const char *value = field_of(text, name, &bytes);
    bytes = value == NULL ? 0 : bytes < room - 1 ? bytes : room - 1;
    memcpy(to, value != NULL ? value : "", bytes);
    to[bytes] = '\0';
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Sets the key, in which memcached writes some bytes as % and two hexadecimal digits. */
static enum kvc_trace_next set_watched_key(struct kvc_trace *trace, struct kvc_trace_row *row,
                                           struct kvc_diag *diag)
{
    size_t bytes = 0, made = 0;
    const char *key = field_of(trace->text, "key", &bytes);
    for (size_t i = 0; i < bytes; i++, made++) {
        int high = key[i] == '%' && i + 2 < bytes ? hex_digit(key[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(key[i + 2]) : -1;
        if (made == KVC_TRACE_KEY_MAX) {
            return FAIL(trace, diag, "the key is longer than %d bytes", KVC_TRACE_KEY_MAX);
        }
        row->key[made] = (uint8_t)(low >= 0 ? high * 16 + low : key[i]);
        i += low >= 0 ? 2 : 0;
    }
    if (made == 0) {
        return FAIL(trace, diag, "the line has no key; allowed is key=TEXT");
    }
    row->key_bytes = (uint8_t)made;
    clear_behind_key(row);
    return KVC_TRACE_ROW;
}

/* Reads the time, seconds and microseconds; memcached does not write leading zeros of the latter. */
static enum kvc_trace_next set_watched_time(struct kvc_trace *trace, struct kvc_trace_row *row,
                                            struct kvc_diag *diag)
{
    char text[SHOWN], *point;
    uint64_t s, us = 0;
    copy_field(trace->text, "ts", text, sizeof(text));
    if ((point = strchr(text, '.')) != NULL) {
        *point = '\0';
    }
    if (!parse_count(text, UINT32_MAX, &s) || (point != NULL && !parse_count(point + 1, 999999, &us))) {
        return FAIL(trace, diag, "the line has no time; allowed is ts=SECONDS.MICROSECONDS");
    }
    return set_time(trace, row, s, (double)us * ns_per_us, diag);
}

static enum kvc_trace_next read_watch(struct kvc_trace *trace, struct kvc_trace_row *row,
                                      struct kvc_diag *diag)
{
    static const struct command types[] = {
        {"item_get", KVC_OP_GET}, {"item_store", KVC_OP_SET}, {"deleted", KVC_OP_DELETE}};
    char text[SHOWN];
    uint64_t size, ttl_s;
    size_t length;
    int op = -1;
    while (op < 0) {
        enum kvc_trace_next next = read_line(trace, &length, diag);
        if (next != KVC_TRACE_ROW) {
            return next;
        }
        copy_field(trace->text, "type", text, sizeof(text));
        op = FIND_OP(types, text);
        if (op < 0 && trace->text[0] != '\0' && strncmp(trace->text, "ts=", 3) != 0 &&
            strcmp(trace->text, "OK") != 0) {
            return FAIL(trace, diag, "the line is \"%.*s\"; allowed are lines that begin with ts=", SHOWN,
                        trace->text);
        }
    }
    row->op = (uint8_t)op;
    copy_field(trace->text, "size", text, sizeof(text));
    if (!parse_count(text, UINT32_MAX, &size)) {
        return FAIL(trace, diag, "size is \"%s\"; allowed is a number; logs of old versions have none", text);
    }
    row->value_bytes = (uint32_t)size;
    copy_field(trace->text, "ttl", text, sizeof(text));
    if (text[0] != '\0' && !parse_count(text, UINT32_MAX, &ttl_s)) {
        return FAIL(trace, diag, "ttl is \"%s\"; allowed is a number of seconds", text);
    }
    row->ttl_ns = text[0] != '\0' ? (double)ttl_s * ns_per_s : 0;
    enum kvc_trace_next next = set_watched_key(trace, row, diag);
    return next == KVC_TRACE_ROW ? set_watched_time(trace, row, diag) : next;
}

/* ---- twins of traces ---- */

static bool is_twin(const char *head, size_t bytes)
{
    (void)bytes;
    /* The schema ends in its version, which may be any here. */
    return strncmp(head, KVC_TWIN_SCHEMA, strlen(KVC_TWIN_SCHEMA) - 1) == 0;
}

/* Reads the whole file. */
static enum kvc_trace_next open_twin(struct kvc_trace *trace, struct kvc_diag *diag)
{
    const char *wanted = NULL;
    enum kvc_trace_next next;
    size_t length;
    trace->twin = kvc_twin_create();
    while ((next = read_line(trace, &length, diag)) == KVC_TRACE_ROW) {
        char found[SHOWN + 1];
        snprintf(found, sizeof(found), "%.*s", SHOWN, trace->text);
        if ((wanted = kvc_twin_take(trace->twin, trace->text)) != NULL) {
            return FAIL(trace, diag, "the line is \"%s\"; allowed is %s", found, wanted);
        }
    }
    if (next == KVC_TRACE_END && (wanted = kvc_twin_end(trace->twin)) != NULL) {
        return FAIL(trace, diag, "the twin of a trace ends here; it lacks %s", wanted);
    }
    return next == KVC_TRACE_END ? KVC_TRACE_ROW : next;
}

/* Sets the key to its number in digits of 6 bits; it becomes longer if it is too short for them. */
static void set_twin_key(struct kvc_trace_row *row, uint64_t number, uint8_t key_bytes)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char text[HASHED_KEY_MAX];
    struct column column = {text, 0};
    do {
        text[column.bytes++] = digits[number & 63];
        number >>= 6;
    } while (number > 0);
    set_key(row, &column, column.bytes < key_bytes ? key_bytes : column.bytes);
}

static enum kvc_trace_next read_twin(struct kvc_trace *trace, struct kvc_trace_row *row,
                                     struct kvc_diag *diag)
{
    struct kvc_twin_request request;
    enum kvc_trace_next next = trace->twin == NULL ? open_twin(trace, diag) : KVC_TRACE_ROW;
    if (next != KVC_TRACE_ROW) {
        return next;
    }
    if (!kvc_twin_draw(trace->twin, &request)) {
        return KVC_TRACE_END;
    }
    row->time_ns = trace->last_ns = request.time_ns;
    row->ttl_ns = 0;
    row->op = request.op;
    row->value_bytes = request.value_bytes;
    set_twin_key(row, request.key, request.key_bytes);
    return KVC_TRACE_ROW;
}

/* ---- all formats ---- */

/* The last format reads what no other recognizes. */
static const struct format formats[] = {
    {"oracleGeneral", is_oracle, read_oracle, 1e9, true},
    {"watch", is_watch, read_watch, 0, false},
    {"twin", is_twin, read_twin, 0, false},
    {"cachelib", is_cachelib, read_cachelib, 1e9, false},
    {"twitter", is_twitter, read_twitter, 1e9, false},
    {"csv", is_csv, read_csv, 0, false},
};

void kvc_trace_close(struct kvc_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    kvc_stream_close(trace->stream);
    kvc_twin_free(trace->twin);
    free(trace->path);
    free(trace);
}

/* Recognizes the format by the first bytes. */
static bool recognize(struct kvc_trace *trace, struct kvc_diag *diag)
{
    char head[HEAD_BYTES + 1];
    size_t bytes;
    const uint8_t *start = kvc_stream_look(trace->stream, HEAD_BYTES, &bytes, diag);
    if (start == NULL) {
        return false;
    }
    bytes = bytes < HEAD_BYTES ? bytes : HEAD_BYTES;
    memcpy(head, start, bytes);
    head[bytes] = '\0';
    trace->format = formats;
    while (!trace->format->is(head, bytes)) {
        trace->format++;
    }
    trace->column_at[OP_TIME] = has_column(head, "op_time") ? 0 : -1; /* Its place is read with the header. */
    return true;
}

struct kvc_trace *kvc_trace_open(const char *path, struct kvc_diag *diag)
{
    struct kvc_trace *trace = calloc(1, sizeof(*trace));
    if (trace == NULL || (trace->path = strdup(path)) == NULL) {
        kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the trace reader");
    } else if ((trace->stream = kvc_stream_open(path, diag)) != NULL && recognize(trace, diag)) {
        trace->last_ns = -1;
        return trace;
    }
    kvc_trace_close(trace);
    return NULL;
}

const char *kvc_trace_format(const struct kvc_trace *trace)
{
    return trace->format->name;
}

bool kvc_trace_is_timed(const struct kvc_trace *trace)
{
    return trace->twin != NULL ? kvc_twin_is_timed(trace->twin)
                               : trace->format->read != read_cachelib || trace->column_at[OP_TIME] >= 0;
}

double kvc_trace_tick_ns(const struct kvc_trace *trace)
{
    return kvc_trace_is_timed(trace) ? trace->format->tick_ns : 0;
}

bool kvc_trace_has_writes(const struct kvc_trace *trace)
{
    return trace->twin != NULL ? kvc_twin_has_writes(trace->twin) : !trace->format->has_no_writes;
}

double kvc_trace_read_frac(const struct kvc_trace *trace)
{
    return trace->twin != NULL ? kvc_twin_drawn_frac(trace->twin) : kvc_stream_read_frac(trace->stream);
}

enum kvc_trace_next kvc_trace_read(struct kvc_trace *trace, struct kvc_trace_row *row, struct kvc_diag *diag)
{
    return trace->format->read(trace, row, diag);
}

enum kvc_status kvc_trace_fail_empty(const char *path, struct kvc_diag *diag)
{
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                            "found a trace without requests; at least one row must be there");
}
