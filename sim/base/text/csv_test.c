#include "sim/base/text/csv.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/kvcast-csv-XXXXXX";
static const struct kvc_csv_format any = {0};

static void make_file(void)
{
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

TestSuite(csv, .init = make_file, .fini = remove_file);

static void write_bytes(const char *bytes, size_t count)
{
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(bytes, 1, count, out), count);
    cr_assert_eq(fclose(out), 0);
}

static struct kvc_csv read_text(const char *text, const struct kvc_csv_format *format)
{
    struct kvc_csv csv;
    struct kvc_diag diag = {0};
    write_bytes(text, strlen(text));
    cr_assert_eq(kvc_csv_read(path, format, &csv, &diag), KVC_OK, "%s", diag.message);
    return csv;
}

Test(csv, reads_cells_by_row_and_column)
{
    struct kvc_csv csv = read_text("id,value\na,1\nb,\n", &any);
    cr_assert_eq(csv.columns, 2);
    cr_assert_eq(csv.rows, 2);
    cr_expect_eq(kvc_csv_column(&csv, "id"), 0);
    cr_expect_eq(kvc_csv_column(&csv, "value"), 1);
    cr_expect_eq(kvc_csv_column(&csv, "val"), -1);
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 0), "a");
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 1), "1");
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 0), "b");
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 1), "");
    kvc_csv_free(&csv);
    cr_expect_null(csv.cell);
}

Test(csv, removes_quotes)
{
    struct kvc_csv csv = read_text("\"a,b\",c\n\"say \"\"hi\"\", twice\",\"\"\nx\"y,\"1\"2\n", &any);
    cr_expect_str_eq(csv.cell[0], "a,b");
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 0), "say \"hi\", twice");
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 1), "");
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 0), "x\"y", "a quote inside a cell is a character");
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 1), "12");
    kvc_csv_free(&csv);
}

Test(csv, reads_quotes_carriage_returns_and_a_last_line_without_end)
{
    struct kvc_csv csv = read_text("a,\"b \"\"c\"\"\"\r\n\"1,\n2\",3\r\n\n,x", &any);
    cr_assert_eq(csv.rows, 2);
    cr_assert_eq(kvc_csv_column(&csv, "b \"c\""), 1);
    cr_assert_eq(kvc_csv_column(&csv, "d"), -1);
    cr_assert_str_eq(kvc_csv_cell(&csv, 0, 0), "1,\n2");
    cr_assert_str_eq(kvc_csv_cell(&csv, 0, 1), "3");
    cr_assert_str_eq(kvc_csv_cell(&csv, 1, 0), "");
    cr_assert_str_eq(kvc_csv_cell(&csv, 1, 1), "x");
    kvc_csv_free(&csv);
}

Test(csv, counts_lines_across_empty_ones_and_quoted_breaks)
{
    struct kvc_csv csv = read_text("\nid\r\n\r\n\"one\ntwo\"\r\n\n\nlast", &any);
    cr_assert_eq(csv.rows, 2);
    cr_expect_str_eq(csv.cell[0], "id");
    cr_expect_eq(csv.line[0], 2);
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 0), "one\ntwo");
    cr_expect_eq(kvc_csv_line(&csv, 0), 4);
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 0), "last");
    cr_expect_eq(kvc_csv_line(&csv, 1), 8);
    kvc_csv_free(&csv);
}

Test(csv, keeps_commas_of_a_free_text_in_the_last_column)
{
    static const struct kvc_csv_format format = {.header = "id,note", .last_has_commas = true};
    struct kvc_csv csv = read_text("id,note\na,one, two,\nb,\"x\", y\n", &format);
    cr_expect_str_eq(kvc_csv_cell(&csv, 0, 1), "one, two,");
    cr_expect_str_eq(kvc_csv_cell(&csv, 1, 1), "x, y");
    kvc_csv_free(&csv);
}

Test(csv, grows_with_the_file)
{
    enum { ROWS = 30000 };
    FILE *out = fopen(path, "w");
    struct kvc_csv csv;
    fputs("row,twice\n", out);
    for (int i = 0; i < ROWS; i++) {
        fprintf(out, "%d,%d\n", i, 2 * i);
    }
    fclose(out);
    cr_assert_eq(kvc_csv_read(path, &any, &csv, NULL), KVC_OK);
    cr_assert_eq(csv.rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        cr_assert_eq(atoi(kvc_csv_cell(&csv, i, 0)), (int)i);
        cr_assert_eq(atoi(kvc_csv_cell(&csv, i, 1)), (int)(2 * i));
        cr_assert_eq(kvc_csv_line(&csv, i), (int)i + 2);
    }
    kvc_csv_free(&csv);
}

struct bad_file {
    const char *text;
    int line;
    const char *message;
};

static void expect_failure(const struct kvc_csv_format *format, const struct bad_file *bad)
{
    struct kvc_csv csv;
    struct kvc_diag diag = {0};
    write_bytes(bad->text, strlen(bad->text));
    cr_expect_eq(kvc_csv_read(path, format, &csv, &diag), KVC_ERR_SCENARIO, "\"%s\"", bad->text);
    cr_expect_str_eq(diag.file, path);
    cr_expect_eq(diag.line, bad->line, "line %d of \"%s\"", diag.line, bad->text);
    cr_expect_str_eq(diag.message, bad->message);
    cr_expect_null(csv.cell);
    cr_expect_null(csv.text);
}

Test(csv, names_the_line_of_an_error)
{
    static const struct kvc_csv_format format = {.header = "a,b", .needs_rows = true};
    static const struct bad_file bad[] = {
        {"", 0, "is empty, expected the header \"a,b\""},
        {"a,c\n", 1, "found header \"a,c\", expected \"a,b\""},
        {"a,b,c\n", 1, "found header \"a,b,c\", expected \"a,b\""},
        {"a,b\n", 0, "has no rows below its header"},
        {"a,b\n1\n", 2, "found 1 columns, expected 2"},
        {"a,b\n1,2\n\n1,2,3\n", 4, "found 3 columns, expected 2"},
        {"a,b\n\"1\n\",\"2\n", 3, "found a cell that begins with a quote, but no closing quote"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        expect_failure(&format, &bad[i]);
    }
}

Test(csv, refuses_files_that_are_no_text_or_do_not_exist)
{
    struct kvc_csv csv;
    struct kvc_diag diag = {0};
    write_bytes("a\nb\0c\n", 6);
    cr_expect_eq(kvc_csv_read(path, &any, &csv, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "contains a zero byte, expected text");
    cr_expect_eq(kvc_csv_read("/nonexistent.csv", &any, &csv, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, "/nonexistent.csv");
    cr_expect_eq(strncmp(diag.message, "cannot read: ", 13), 0, "%s", diag.message);
    cr_expect_eq(kvc_csv_read("/tmp", &any, &csv, &diag), KVC_ERR_SCENARIO, "a folder");
}

static enum kvc_status stop_at_b(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    *(int *)data += line;
    return strcmp(cell[0], "b") != 0 ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found b");
}

Test(csv, visits_rows_until_one_fails)
{
    struct kvc_diag diag = {0};
    int lines = 0;
    write_bytes("id\na\n\nb\nc\n", 10);
    cr_expect_eq(kvc_csv_visit(path, &any, stop_at_b, &lines, &diag), KVC_ERR_SCENARIO);
    cr_expect_eq(lines, 2 + 4);
    cr_expect_str_eq(diag.file, path);
    cr_expect_eq(diag.line, 4);
    cr_expect_str_eq(diag.message, "found b");
    write_bytes("id\na\nc\n", 7);
    lines = 0;
    cr_expect_eq(kvc_csv_visit(path, &any, stop_at_b, &lines, NULL), KVC_OK);
    cr_expect_eq(lines, 2 + 3);
}

Test(csv, converts_cells)
{
    struct kvc_diag diag = {0};
    char text[4];
    double value;
    cr_expect_eq(kvc_csv_copy("abc", text, sizeof(text), &diag), KVC_OK);
    cr_expect_str_eq(text, "abc");
    cr_expect_eq(kvc_csv_copy("abcd", text, sizeof(text), &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "found \"abcd...\", allowed are 3 characters");
    cr_expect_eq(kvc_csv_number("-2.5e1", &value, &diag), KVC_OK);
    cr_expect_eq(value, -25);
    cr_expect_eq(kvc_csv_number("", &value, &diag), KVC_OK);
    cr_expect(isnan(value));
    cr_expect_eq(kvc_csv_number("1x", &value, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "found \"1x\", expected a number");
    cr_expect_eq(kvc_csv_number("inf", &value, &diag), KVC_ERR_SCENARIO);
}
