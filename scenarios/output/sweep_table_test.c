#include "scenarios/output/sweep_table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/csv.h"

/* Two results whose names clash in every way: the kernels' and the model's "dropped" and "dup", a stage
 * "work" beside a metric "work_utilization_frac", a metric that is called like a swept parameter, and a
 * metric that has the name which another one would get. */
#define FIRST                                                                                                  \
    "{\"throughput_mops\": {\"mean\": 9, \"ci95\": 0.5},"                                                      \
    " \"requests\": {\"completed\": 90, \"dropped\": 10, \"offered_mops\": 10, \"lost_frac\": 0.1},"           \
    " \"latency_us\": {\"mean\": 5, \"ci95\": 0.2, \"percentiles\": [{\"p\": 0.99, \"us\": 8, \"ci95\": 1}]}," \
    " \"stages\": [{\"name\": \"work\", \"utilization_frac\": 0.75}],"                                         \
    " \"kernel\": {\"dropped\": 1, \"dup\": 2, \"work_utilization_frac\": 3, \"system.a\": 4},"                \
    " \"model\": {\"dropped\": 5, \"dup\": 6, \"model_dup\": 7, \"point\": 8},"                                \
    " \"notes\": [\"10 % were lost, the load is too high\", \"said \\\"b\\\"\"]}"
#define SECOND "{\"kernel\": {\"late\": 11, \"dup\": 12}, \"model\": {}, \"notes\": []}"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/kvcast-table-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    unlink("first.json");
    unlink("second.json");
    unlink("sweep.csv");
    rmdir(folder);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

/* Writes the table of both results and reads it back. */
static void write_table(struct kvc_csv *csv)
{
    struct kvc_diag diag = {0};
    struct kvc_sweep_axis axis = {.path = "system.a", .count = 2};
    const struct kvc_sweep sweep = {.count = 1, .axis = &axis};
    struct kvc_sweep_table table = {.sweep = &sweep};
    put("first.json", FIRST);
    put("second.json", SECOND);
    cr_assert_eq(kvc_sweep_table_add(&table, "first.json", &diag), KVC_OK, "%s", diag.message);
    kvc_sweep_table_value(&table, 0, "1");
    cr_assert_eq(kvc_sweep_table_add(&table, "second.json", &diag), KVC_OK, "%s", diag.message);
    kvc_sweep_table_value(&table, 0, "2");
    FILE *out = fopen("sweep.csv", "w");
    kvc_sweep_table_write(&table, out);
    cr_assert_eq(fclose(out), 0);
    kvc_sweep_table_free(&table);
    cr_assert_eq(kvc_csv_read("sweep.csv", &(struct kvc_csv_format){.needs_rows = true}, csv, &diag), KVC_OK,
                 "%s", diag.message);
}

static const char *cell(const struct kvc_csv *csv, size_t row, const char *name)
{
    long column = kvc_csv_column(csv, name);
    cr_assert_geq(column, 0, "no column %s", name);
    return kvc_csv_cell(csv, row, (size_t)column);
}

TestSuite(sweep_table, .init = make_folder, .fini = remove_folder);

Test(sweep_table, has_no_column_twice_and_loses_no_value)
{
    static const char *const expected[][2] = {
        {"dropped", "10"},    {"kernel_dropped", "1"},  {"model_dropped", "5"},
        {"dup", "2"},         {"model_dup", "6"},       {"work_utilization_frac", "0.75"},
        {"system.a", "1"},    {"kernel_system.a", "4"}, {"kernel_work_utilization_frac", "3"},
        {"model_point", "8"}, {"point", "1"},           {"model_model_dup", "7"},
    };
    struct kvc_csv csv;
    write_table(&csv);
    for (size_t i = 0; i < csv.columns; i++) {
        for (size_t j = 0; j < i; j++) {
            cr_expect_str_neq(csv.cell[i], csv.cell[j], "columns %zu and %zu", i, j);
        }
    }
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        cr_expect_str_eq(cell(&csv, 0, expected[i][0]), expected[i][1], "%s", expected[i][0]);
    }
    kvc_csv_free(&csv);
}

Test(sweep_table, shows_an_overloaded_point)
{
    static const char *const expected[][2] = {
        {"throughput_mops", "9"},
        {"throughput_ci95_mops", "0.5"},
        {"offered_mops", "10"},
        {"lost_frac", "0.1"},
        {"latency_mean_ci95_us", "0.2"},
        {"latency_p99_us", "8"},
        {"latency_p99_ci95_us", "1"},
        {"hit_frac", ""},
        {"notes", "10 % were lost, the load is too high; said \"b\""},
    };
    struct kvc_csv csv;
    write_table(&csv);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        cr_expect_str_eq(cell(&csv, 0, expected[i][0]), expected[i][1], "%s", expected[i][0]);
    }
    kvc_csv_free(&csv);
}

Test(sweep_table, leaves_what_a_point_lacks_empty)
{
    struct kvc_csv csv;
    write_table(&csv);
    cr_expect_str_eq(cell(&csv, 0, "late"), "");
    cr_expect_str_eq(cell(&csv, 1, "late"), "11");
    cr_expect_str_eq(cell(&csv, 1, "dup"), "12");
    cr_expect_str_eq(cell(&csv, 1, "model_dup"), "");
    cr_expect_str_eq(cell(&csv, 1, "throughput_mops"), "");
    cr_expect_str_eq(cell(&csv, 1, "notes"), "");
    kvc_csv_free(&csv);
}
