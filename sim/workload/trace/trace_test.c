#include "sim/workload/trace/trace.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>
#include <unistd.h>

#include "sim/workload/batch.h"

/* Writes a new file and returns its name. The caller unlinks it. */
static char *write_file(const char *text, size_t bytes)
{
    char *path = strdup("/tmp/kvc_trace_XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, text, bytes), (ssize_t)bytes);
    close(file);
    return path;
}

static struct kvc_trace *open_text(const char *text, size_t bytes)
{
    struct kvc_diag diag = {0};
    char *path = write_file(text, bytes);
    struct kvc_trace *trace = kvc_trace_open(path, &diag);
    cr_assert_not_null(trace);
    unlink(path);
    free(path);
    return trace;
}

static void expect_row(struct kvc_trace *trace, double time_ns, int op, const char *key, uint32_t value_bytes)
{
    struct kvc_trace_row row;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_trace_read(trace, &row, &diag), KVC_TRACE_ROW, "%s", diag.message);
    cr_assert_float_eq(row.time_ns, time_ns, 1e-9);
    cr_assert_eq(row.op, op);
    cr_assert_eq(row.key_bytes, strlen(key));
    cr_assert_eq(row.value_bytes, value_bytes);
    cr_assert_str_eq((const char *)row.key, key);
}

static void expect_end(struct kvc_trace *trace)
{
    struct kvc_trace_row row;
    cr_assert_eq(kvc_trace_read(trace, &row, NULL), KVC_TRACE_END);
    kvc_trace_close(trace);
}

Test(trace, reads_all_columns)
{
    static const char text[] = "time_us,op,key,key_bytes,value_bytes\n"
                               "0,get,a,1,0\n"
                               "0.5,SET,user:17,10,100\r\n"
                               "0.5,Delete,b c,3,1044480\n"
                               "1e3,get,z,2,7";
    struct kvc_trace *trace = open_text(text, sizeof(text) - 1);
    expect_row(trace, 0, KVC_OP_GET, "a", 0);
    expect_row(trace, 500, KVC_OP_SET, "user:17###", 100);
    expect_row(trace, 500, KVC_OP_DELETE, "b c", 1044480);
    expect_row(trace, 1e6, KVC_OP_GET, "z#", 7);
    expect_end(trace);
}

Test(trace, the_header_is_optional)
{
    static const char text[] = "3,get,abc,3,8\n";
    struct kvc_trace *trace = open_text(text, sizeof(text) - 1);
    expect_row(trace, 3000, KVC_OP_GET, "abc", 8);
    expect_end(trace);
}

Test(trace, an_empty_file_has_no_rows)
{
    expect_end(open_text("", 0));
}

Test(trace, the_longest_key_fits)
{
    char key[KVC_TRACE_KEY_MAX + 1], text[400];
    memset(key, 'k', KVC_TRACE_KEY_MAX);
    key[KVC_TRACE_KEY_MAX] = '\0';
    int bytes = snprintf(text, sizeof(text), "0,get,%s,255,1\n", key);
    struct kvc_trace *trace = open_text(text, (size_t)bytes);
    expect_row(trace, 0, KVC_OP_GET, key, 1);
    expect_end(trace);
}

/* A bad line, which the test puts between good ones. The fields are arrays because the parameters are copied
 * to another process. */
struct bad_line {
    char line[64];
    int bytes;
    char found[64]; /* Part of the message. */
    char allowed[64];
};

#define BAD(text, says, allows)                                                                              \
    {                                                                                                        \
        .line = text, .bytes = sizeof(text) - 1, .found = says, .allowed = allows                            \
    }

ParameterizedTestParameters(trace, a_malformed_line_is_named)
{
    static struct bad_line lines[] = {
        BAD("2,get,abc,3", "4 of 5 columns", "truncated"),
        BAD("2,get", "2 of 5 columns", "truncated"),
        BAD("", "1 of 5 columns", "time_us,op,key,key_bytes,value_bytes"),
        BAD("2,get,abc,3,8,9", "6 columns", "5 are allowed"),
        BAD("x,get,abc,3,8", "time_us is \"x\"", "decimal microseconds"),
        BAD(",get,abc,3,8", "time_us is \"\"", "decimal microseconds"),
        BAD("nan,get,abc,3,8", "time_us is \"nan\"", "decimal microseconds"),
        BAD("inf,get,abc,3,8", "time_us is \"inf\"", "decimal microseconds"),
        BAD("0x10,get,abc,3,8", "time_us is \"0x10\"", "decimal microseconds"),
        BAD("-2,get,abc,3,8", "time_us is \"-2\"", "from 0"),
        BAD("1e300,get,abc,3,8", "time_us is \"1e300\"", "from 0"),
        BAD("2us,get,abc,3,8", "time_us is \"2us\"", "decimal microseconds"),
        BAD("0.5,get,abc,3,8", "goes back from 1 to 0.5", ""),
        BAD("2,put,abc,3,8", "op is \"put\"", "get, set and delete"),
        BAD("2,,abc,3,8", "op is \"\"", "get, set and delete"),
        BAD("2,get,abc,0,8", "key_bytes is \"0\"", "1 to 255"),
        BAD("2,get,abc,256,8", "key_bytes is \"256\"", "1 to 255"),
        BAD("2,get,abc,-3,8", "key_bytes is \"-3\"", "1 to 255"),
        BAD("2,get,abc,3.5,8", "key_bytes is \"3.5\"", "1 to 255"),
        BAD("2,get,abc,99999999999999999999,8", "key_bytes is \"999", "1 to 255"),
        BAD("2,get,abc,3,", "value_bytes is \"\"", "0 to 1044480"),
        BAD("2,get,abc,3,1044481", "value_bytes is \"1044481\"", "0 to 1044480"),
        BAD("2,get,abc,3,8B", "value_bytes is \"8B\"", "0 to 1044480"),
        BAD("2,get,abc,2,8", "\"abc\" has 3 bytes", "key_bytes of 2"),
        BAD("2,get,,3,8", "key is empty", "1 to key_bytes"),
        BAD("2,get,a\0c,3,8", "byte 8 of the line is NUL", "plain text"),
        BAD("time_us,op,key,key_bytes,value_bytes", "time_us is \"time_us\"", "decimal microseconds"),
    };
    return cr_make_param_array(struct bad_line, lines, sizeof(lines) / sizeof(*lines));
}

ParameterizedTest(struct bad_line *bad, trace, a_malformed_line_is_named)
{
    static const char before[] = "time_us,op,key,key_bytes,value_bytes\n1,get,abc,3,8\n",
                      after[] = "\n9,get,abc,3,8\n";
    char text[256];
    size_t bytes = sizeof(before) - 1;
    struct kvc_trace_row row;
    struct kvc_diag diag = {0};
    memcpy(text, before, bytes);
    memcpy(text + bytes, bad->line, (size_t)bad->bytes);
    bytes += (size_t)bad->bytes;
    memcpy(text + bytes, after, sizeof(after) - 1);
    bytes += sizeof(after) - 1;
    char *path = write_file(text, bytes);
    struct kvc_trace *trace = kvc_trace_open(path, &diag);
    cr_assert_eq(kvc_trace_read(trace, &row, &diag), KVC_TRACE_ROW);
    cr_assert_eq(kvc_trace_read(trace, &row, &diag), KVC_TRACE_ERROR);
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 3);
    cr_assert_str_eq(diag.file, path);
    cr_assert_not_null(strstr(diag.message, bad->found), "%s", diag.message);
    cr_assert_not_null(strstr(diag.message, bad->allowed), "%s", diag.message);
    kvc_trace_close(trace);
    unlink(path);
    free(path);
}

static void expect_error(const char *text, size_t bytes, int line, const char *says)
{
    struct kvc_trace_row row;
    struct kvc_diag diag = {0};
    struct kvc_trace *trace = open_text(text, bytes);
    enum kvc_trace_next next;
    while ((next = kvc_trace_read(trace, &row, &diag)) == KVC_TRACE_ROW) {
        ;
    }
    cr_assert_eq(next, KVC_TRACE_ERROR);
    cr_assert_eq(diag.line, line);
    cr_assert_not_null(strstr(diag.message, says), "%s", diag.message);
    kvc_trace_close(trace);
}

Test(trace, a_truncated_last_line_is_named)
{
    static const char text[] = "1,get,abc,3,8\n2,get,ab";
    expect_error(text, sizeof(text) - 1, 2, "truncated");
}

Test(trace, a_wrong_header_is_named)
{
    static const char text[] = "time_us,op,key,value_bytes\n1,get,abc,3,8\n";
    expect_error(text, sizeof(text) - 1, 1, "allowed is time_us,op,key,key_bytes,value_bytes");
}

Test(trace, an_overlong_line_is_refused_without_reading_it_all)
{
    static char text[20000];
    memset(text, 'a', sizeof(text));
    memcpy(text, "1,get,abc,3,8\n", 14);
    expect_error(text, sizeof(text), 2, "longer than 4096 bytes");
}

Test(trace, a_file_that_cannot_be_read_is_named)
{
    struct kvc_diag diag = {0};
    cr_assert_null(kvc_trace_open("/nonexistent/trace.csv", &diag));
    cr_assert_eq(diag.status, KVC_ERR_SCENARIO);
    cr_assert_not_null(strstr(diag.message, "/nonexistent/trace.csv"));
    cr_assert_null(kvc_trace_open("/tmp", &diag));
    cr_assert_not_null(strstr(diag.message, "folder"), "%s", diag.message);
}

/* ---- other formats ---- */

static void expect_row_ttl(struct kvc_trace *trace, double time_ns, int op, const char *key,
                           uint32_t value_bytes, double ttl_ns)
{
    struct kvc_trace_row row;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_trace_read(trace, &row, &diag), KVC_TRACE_ROW, "%s", diag.message);
    cr_expect_float_eq(row.time_ns, time_ns, 1e-3);
    cr_expect_eq(row.op, op);
    cr_expect_eq(row.key_bytes, strlen(key));
    cr_expect_eq(memcmp(row.key, key, strlen(key)), 0, "%.255s", row.key);
    cr_expect_eq(row.value_bytes, value_bytes);
    cr_expect_float_eq(row.ttl_ns, ttl_ns, 1e-3);
}

static void expect_text_error(const char *text, int line, const char *says)
{
    expect_error(text, strlen(text), line, says);
}

static struct kvc_trace *open_as(const char *text, size_t bytes, const char *format)
{
    struct kvc_trace *trace = open_text(text, bytes);
    cr_expect_str_eq(kvc_trace_format(trace), format);
    return trace;
}

Test(trace, reads_oracle_general)
{
    static const char bytes[] = "\x0a\0\0\0"
                                "\x01\0\0\0\0\0\0\0"
                                "\0\x02\0\0"
                                "\xff\xff\xff\xff\xff\xff\xff\xff"
                                "\x0b\0\0\0"
                                "\xef\xcd\xab\0\0\0\0\x80"
                                "\x04\0\0\0"
                                "\0\0\0\0\0\0\0\0";
    struct kvc_trace *trace = open_as(bytes, sizeof(bytes) - 1, "oracleGeneral");
    cr_expect_eq(kvc_trace_tick_ns(trace), 1e9);
    cr_expect_not(kvc_trace_has_writes(trace));
    expect_row_ttl(trace, 0, KVC_OP_GET, "0000000000000001", 512, 0);
    expect_row_ttl(trace, 1e9, KVC_OP_GET, "8000000000abcdef", 4, 0);
    expect_end(trace);
    expect_error(bytes, sizeof(bytes) - 2, 2, "record 2 has 23 of 24 bytes");
}

Test(trace, reads_twitters_csv)
{
    static const char text[] = "7,nz:u:key,10,12,3,get,0\n"
                               "7,with,comma,12,9,3,cas,60\n"
                               "9,averylonganonymizedname,4,1,1,delete,0\n";
    struct kvc_trace *trace = open_as(text, sizeof(text) - 1, "twitter");
    struct kvc_trace_row row;
    expect_row_ttl(trace, 0, KVC_OP_GET, "nz:u:key##", 12, 0);
    expect_row_ttl(trace, 0, KVC_OP_SET, "with,comma##", 9, 60e9);
    cr_assert_eq(kvc_trace_read(trace, &row, NULL), KVC_TRACE_ROW);
    cr_expect(row.key_bytes == 4 && row.op == KVC_OP_DELETE && row.time_ns == 2e9);
    expect_end(trace);
    expect_text_error("7,k,1,1,1,get,0\n7,k,1,1,1,touch,0\n", 2, "operation is \"touch\"");
    expect_text_error("7,k,1,1,1,get,0\n6,k,1,1,1,get,0\n", 2, "goes back");
    expect_text_error("7,k,1,1,1,get,0\n7,k,1,1,get,0\n", 2, "fewer than 7 columns");
    expect_text_error("7,k,1,1,1,get,0\n7,k,x,1,1,get,0\n", 2, "the key size is \"x\"");
}

Test(trace, reads_cachelibs_csv_with_times)
{
    static const char text[] = "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n"
                               "604,8213,6,GET,2,87,1,0,36,30\n"
                               "606,8213,6,SET_LEASE,1,65,0,7200,27,65\n";
    struct kvc_trace *trace = open_as(text, sizeof(text) - 1, "cachelib");
    expect_row_ttl(trace, 0, KVC_OP_GET, "8213##", 87, 0);
    expect_row_ttl(trace, 0, KVC_OP_GET, "8213##", 87, 0);
    expect_row_ttl(trace, 2e9, KVC_OP_SET, "8213##", 65, 7200e9);
    expect_end(trace);
}

Test(trace, reads_cachelibs_csv_with_times_behind_other_columns)
{
    static const char text[] = "key,op,size,op_count,op_time,key_size\nk1,GET,5,2,7,4\n";
    struct kvc_trace *trace = open_as(text, sizeof(text) - 1, "cachelib");
    cr_expect(kvc_trace_is_timed(trace));
    cr_expect_eq(kvc_trace_tick_ns(trace), 1e9);
    kvc_trace_close(trace);
}

Test(trace, reads_cachelibs_csv_without_times)
{
    static const char text[] = "key,op,size,op_count,key_size\n1668,SET,82,1,4\n1668,GET,0,3,4\n";
    struct kvc_trace *trace = open_as(text, sizeof(text) - 1, "cachelib");
    cr_expect_not(kvc_trace_is_timed(trace));
    expect_row_ttl(trace, 0, KVC_OP_SET, "1668", 82, 0);
    for (int i = 1; i <= 3; i++) {
        expect_row_ttl(trace, i, KVC_OP_GET, "1668", 0, 0);
    }
    expect_end(trace);
    expect_text_error("key,op,size,key_size\n1,GET,1,1\n", 1, "no column op_count");
    expect_text_error("key,op,size,op_count,key_size\n1,GET,1,1\n", 2, "4 columns, the header has 5");
    expect_text_error("key,op,size,op_count,key_size\n1,SAT,1,1,1\n", 2, "op is \"SAT\"");
    expect_text_error("key,op,size,op_count,key_size\n1,GET,1,0,1\n", 2, "at least 1");
}

Test(trace, reads_memcacheds_watch_log)
{
    static const char text[] =
        "OK\r\n"
        "ts=1573174218.155 gid=1 type=item_get key=foo%20bar status=not_found clsid=0 cfd=26 size=0\r\n"
        "ts=1573174218.9000 gid=2 type=conn_new rip=::1 rport=1 transport=tcp cfd=27\r\n"
        "ts=1573174219.155 gid=3 type=item_store key=foo%20bar status=stored cmd=set ttl=9 clsid=1 cfd=26 "
        "size=17\r\n";
    struct kvc_trace *trace = open_as(text, sizeof(text) - 1, "watch");
    cr_expect_eq(kvc_trace_tick_ns(trace), 0);
    expect_row_ttl(trace, 155e3, KVC_OP_GET, "foo bar", 0, 0);
    expect_row_ttl(trace, 1e9 + 155e3, KVC_OP_SET, "foo bar", 17, 9e9);
    expect_end(trace);
    expect_text_error("ts=1.0 type=item_get key=a status=found clsid=1 cfd=2\n", 1, "size is \"\"");
    expect_text_error("ts=1.0 type=item_get key= size=1\n", 1, "has no key");
    expect_text_error("ts=x type=item_get key=a size=1\n", 1, "has no time");
    expect_text_error("ts=1.0 type=item_get key=a size=1\nhello\n", 2, "the line is \"hello\"");
}
