/* kvcast export: writes answers as a table, CSV or SQLite, with the unit of each number. */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plots/document.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/output/export/flat.h"
#include "scenarios/output/json_value.h"
#include "sim/base/files/partial_file.h"

enum { FLAG_OUTPUT };

static const struct kvc_flag flags[] = {
    [FLAG_OUTPUT] = {"--output", "-o", "FILE", "write the table to FILE, which ends in .csv or .sqlite"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "export",
    .positional = "ANSWER...",
    .positional_min = 1,
    .positional_max = KVC_POSITIONAL_MAX,
    .help =
        "Writes answers as one table, for spreadsheets, notebooks and databases. An answer is a JSON file that a command\n"
        "wrote, or the folder of --out with it. The table has a row for each number and text of each answer: source, schema,\n"
        "path (as jq writes it), value, text and unit. A file that ends in .csv has them as columns; in one that ends in\n"
        ".sqlite they are in the table `value`, and the view `metric` has the numbers alone. An existing FILE is replaced.\n"
        "Sweeps and errors are tables already (sweep.csv, sweep.sqlite, errors.csv).",
    .flags = flags,
};

/* Where the rows go. */
struct rows {
    const char *source, *schema;
    FILE *csv; /* NULL: a database. */
    sqlite3 *database;
    sqlite3_stmt *insert;
};

/* Writes a field of CSV, in quotes if it needs them. */
static void put_field(const char *text, FILE *out)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (; *text != '\0'; text++) {
        fputs(*text == '"' ? "\"" : "", out);
        fputc(*text, out);
    }
    fputs(quoted ? "\"" : "", out);
}

static int put_csv(void *data, const struct kvc_flat_value *value)
{
    const struct rows *rows = data;
    char number[KVC_NUMBER_TEXT_MAX] = "";
    if (!isnan(value->number)) {
        kvc_number_text(value->number, number);
    }
    const char *field[] = {rows->source,
                           rows->schema,
                           value->path,
                           number,
                           value->text != NULL ? value->text : "",
                           value->unit != NULL ? value->unit : ""};
    for (size_t i = 0; i < sizeof(field) / sizeof(*field); i++) {
        fputs(i > 0 ? "," : "", rows->csv);
        put_field(field[i], rows->csv);
    }
    fputs("\n", rows->csv);
    return 0;
}

/* Binds a text, or NULL. */
static void bind(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

static int put_sqlite(void *data, const struct kvc_flat_value *value)
{
    const struct rows *rows = data;
    bind(rows->insert, 1, rows->source);
    bind(rows->insert, 2, rows->schema);
    bind(rows->insert, 3, value->path);
    if (isnan(value->number)) {
        sqlite3_bind_null(rows->insert, 4);
    } else {
        sqlite3_bind_double(rows->insert, 4, value->number);
    }
    bind(rows->insert, 5, value->text);
    bind(rows->insert, 6, value->unit);
    int code = sqlite3_step(rows->insert);
    sqlite3_reset(rows->insert);
    return code == SQLITE_DONE ? 0 : code;
}

/* Opens a database in memory, which is written as a whole at the end. */
static int open_database(struct rows *rows)
{
    static const char tables[] =
        "CREATE TABLE value (source TEXT, schema TEXT, path TEXT, value REAL, text TEXT, unit TEXT);"
        "CREATE VIEW metric AS SELECT source, schema, path, value, unit FROM value WHERE value IS NOT NULL;";
    int code = sqlite3_open(":memory:", &rows->database);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(rows->database, tables, NULL, NULL, NULL);
    }
    return code == SQLITE_OK
               ? sqlite3_prepare_v2(rows->database, "INSERT INTO value VALUES (?, ?, ?, ?, ?, ?)", -1,
                                    &rows->insert, NULL)
               : code;
}

/* Writes the database to a file. */
static int write_database(struct rows *rows, FILE *out)
{
    sqlite3_int64 bytes = 0;
    unsigned char *image = sqlite3_serialize(rows->database, "main", &bytes, 0);
    int code = image != NULL ? SQLITE_OK : SQLITE_NOMEM;
    if (image != NULL) {
        fwrite(image, 1, (size_t)bytes, out);
    }
    sqlite3_free(image);
    return code;
}

/* Finds the file of an answer, and reads it. */
static enum kvc_status read_answer(const char *path, json_t **document, const char **schema,
                                   struct kvc_diag *diag)
{
    char file[PATH_MAX];
    enum kvc_document_kind kind;
    struct stat found;
    json_error_t error;
    snprintf(file, sizeof(file), "%s", path);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        enum kvc_status status = kvc_document_find_any(path, &kind, file, diag);
        if (status != KVC_OK) {
            return status;
        }
    }
    *document = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    if (*document == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, error.line > 0 ? error.line : 0,
                                "is no JSON: %.150s; allowed is an answer of kvcast", error.text);
    }
    *schema = json_string_value(json_object_get(*document, "schema"));
    return *schema != NULL && strncmp(*schema, "kvcast.", strlen("kvcast.")) == 0
               ? KVC_OK
               : kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                                  "has %s%.100s, allowed: a schema of kvcast, such as \"kvcast.result/1\"",
                                  *schema != NULL ? "the schema " : "no schema",
                                  *schema != NULL ? *schema : "");
}

static enum kvc_status put_answers(const struct kvc_arguments *arguments, struct rows *rows,
                                   struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int i = 0; i < arguments->positional_count && status == KVC_OK; i++) {
        json_t *document = NULL;
        rows->source = arguments->positional[i];
        status = read_answer(rows->source, &document, &rows->schema, diag);
        if (status == KVC_OK &&
            kvc_flat_visit(document, rows->csv != NULL ? put_csv : put_sqlite, rows) != 0) {
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s", sqlite3_errmsg(rows->database));
        }
        json_decref(document);
    }
    return status;
}

static enum kvc_status export_answers(const struct kvc_arguments *arguments, struct kvc_diag *diag)
{
    const char *output = arguments->flag[FLAG_OUTPUT], *dot = output != NULL ? strrchr(output, '.') : NULL;
    bool csv = dot != NULL && strcmp(dot, ".csv") == 0;
    struct rows rows = {.csv = NULL};
    struct kvc_partial_file file;
    if (!csv && (dot == NULL || strcmp(dot, ".sqlite") != 0)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "export: found %s%.200s, allowed: --output FILE.csv or --output FILE.sqlite",
                             output != NULL ? "--output " : "no --output", output != NULL ? output : "");
    }
    enum kvc_status status = kvc_partial_file_open(&file, output, diag);
    if (status == KVC_OK && csv) {
        rows.csv = file.file;
        fputs("source,schema,path,value,text,unit\n", rows.csv);
    } else if (status == KVC_OK && open_database(&rows) != SQLITE_OK) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%s", sqlite3_errmsg(rows.database));
    }
    if (status == KVC_OK) {
        status = put_answers(arguments, &rows, diag);
    }
    if (status == KVC_OK && !csv && write_database(&rows, file.file) != SQLITE_OK) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for the database");
    }
    sqlite3_finalize(rows.insert);
    sqlite3_close(rows.database);
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

int kvc_command_export(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = export_answers(&arguments, &diag);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
