#include "plots/document.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How a kind is called, found and recognized. */
struct kind {
    const char *noun;
    const char *name;              /* In the folder of its writer. */
    const char *writer;            /* The command that writes the folder. */
    const char *pictures;          /* The kinds of pictures that show it. */
    const char *schema;            /* NULL for a CSV. */
    const char *header, *also_has; /* A CSV's first line begins with `header` and contains `also_has`. */
};

static const struct kind kinds[] = {
    [KVC_DOCUMENT_RESULT] = {"result of kvcast", "result.json", "run",
                             "cdf, tail, timeline, platform or pipeline", .schema = "kvcast.result/1"},
    [KVC_DOCUMENT_CAPACITY] = {"document of kvcast capacity", "capacity.json", "capacity", "capacity",
                               .schema = "kvcast.capacity/1"},
    [KVC_DOCUMENT_PLAN] = {"document of kvcast plan", "plan.json", "plan", "pareto",
                           .schema = "kvcast.plan/1"},
    [KVC_DOCUMENT_WHY] = {"document of kvcast why", "why.json", "why", "critical", .schema = "kvcast.why/1"},
    [KVC_DOCUMENT_COMPARE] = {"document of kvcast compare", "compare.json", "compare", "cdf of its results",
                              .schema = "kvcast.compare/1"},
    [KVC_DOCUMENT_TRACE] = {"document of kvcast trace", "trace.json", "trace", "miss_ratio",
                            .schema = "kvcast.trace/1"},
    [KVC_DOCUMENT_DAY] = {"document of kvcast day", "day.json", "day", "day", .schema = "kvcast.day/1"},
    [KVC_DOCUMENT_SWEEP] = {"sweep.csv of kvcast sweep", "sweep.csv", "sweep", "sweep", .header = "point,",
                            .also_has = ",throughput_mops"},
    [KVC_DOCUMENT_ERRORS] = {"table of errors", "errors.csv", "validate", "error", .header = "case,",
                             .also_has = ",predicted"},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), HEAD_BYTES = 4096, SCHEMA_TEXT = 128 };

/* Returns whether the file, which begins with `head`, is of the kind. */
static bool is_of_kind(const char *head, const struct kind *kind)
{
    char quoted[64];
    size_t line = strcspn(head, "\n");
    snprintf(quoted, sizeof(quoted), "\"%s\"", kind->schema != NULL ? kind->schema : "");
    if (kind->schema != NULL) {
        return head[strspn(head, " \t\r\n")] == '{' && strstr(head, quoted) != NULL;
    }
    const char *column = strstr(head, kind->also_has);
    return strncmp(head, kind->header, strlen(kind->header)) == 0 && column != NULL &&
           (size_t)(column - head) < line;
}

/* Returns the kind of the file, or NULL if it is none of these. A pipe can be read only once, so that only
 * regular files are looked at. */
static const struct kind *recognize(const char *file)
{
    char head[HEAD_BYTES] = "";
    struct stat found;
    const struct kind *kind = NULL;
    FILE *in = stat(file, &found) == 0 && S_ISREG(found.st_mode) ? fopen(file, "re") : NULL;
    if (in == NULL) {
        return NULL;
    }
    head[fread(head, 1, sizeof(head) - 1, in)] = '\0';
    fclose(in);
    for (size_t i = 0; i < KINDS && kind == NULL; i++) {
        kind = is_of_kind(head, &kinds[i]) ? &kinds[i] : NULL;
    }
    return kind;
}

/* Says which schema the document states, or nothing if it is none. */
static const char *say_schema(const json_t *document, char text[SCHEMA_TEXT])
{
    const char *schema = json_string_value(json_object_get(document, "schema"));
    snprintf(text, SCHEMA_TEXT, "%s%.80s", schema != NULL ? ": it has the schema " : "",
             schema != NULL ? schema : "");
    return text;
}

static void join(const char *folder, const char *name, char file[PATH_MAX])
{
    snprintf(file, PATH_MAX, "%.3000s/%s", folder, name);
}

/* Fails because the folder lacks the file of the kind, and says what it has. */
static enum kvc_status fail_missing(const char *folder, const struct kind *kind, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    const struct kind *other = NULL;
    for (size_t i = 0; i < KINDS && other == NULL; i++) {
        join(folder, kinds[i].name, file);
        other = access(file, F_OK) == 0 ? &kinds[i] : NULL;
    }
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, folder, 0,
        "has no %s; allowed is a folder that `kvcast %s --out` wrote, or the file itself%s%s%s%s", kind->name,
        kind->writer, other != NULL ? "; this folder has " : "", other != NULL ? other->name : "",
        other != NULL ? ", which is drawn by --kind " : "", other != NULL ? other->pictures : "");
}

enum kvc_status kvc_document_find(const char *path, enum kvc_document_kind wanted, char file[PATH_MAX],
                                  struct kvc_diag *diag)
{
    const struct kind *kind = &kinds[wanted];
    struct stat found;
    snprintf(file, PATH_MAX, "%.3000s", path);
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        join(path, kind->name, file);
        if (access(file, F_OK) != 0) {
            return fail_missing(path, kind, diag);
        }
    }
    const struct kind *other = recognize(file);
    if (other == NULL || other == kind) {
        return KVC_OK;
    }
    bool is_unreadable = kind->schema != NULL && other->schema == NULL;
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, file, is_unreadable ? 1 : 0, "%s %s: it is a %s, which is drawn by --kind %s",
        is_unreadable ? "cannot be read as a JSON" : "is not a", kind->noun, other->noun, other->pictures);
}

enum kvc_status kvc_document_find_any(const char *path, enum kvc_document_kind *kind, char file[PATH_MAX],
                                      struct kvc_diag *diag)
{
    struct stat found;
    snprintf(file, PATH_MAX, "%.3000s", path);
    if (stat(path, &found) != 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read: %s", strerror(errno));
    }
    for (size_t i = 0; i < KINDS && S_ISDIR(found.st_mode); i++) {
        join(path, kinds[i].name, file);
        if (access(file, F_OK) == 0) {
            break;
        }
    }
    const struct kind *kind_found = recognize(file);
    if (kind_found == NULL) {
        char schema[SCHEMA_TEXT];
        bool is_file = stat(file, &found) == 0 && S_ISREG(found.st_mode);
        json_t *document = is_file ? json_load_file(file, 0, NULL) : NULL;
        enum kvc_status status = kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, is_file ? file : path, 0,
            "is no answer of kvcast%s; allowed is a folder that --out wrote, or in it "
            "result.json, capacity.json, day.json, plan.json, why.json, compare.json, trace.json, sweep.csv or "
            "errors.csv",
            say_schema(document, schema));
        json_decref(document);
        return status;
    }
    *kind = (enum kvc_document_kind)(kind_found - kinds);
    return KVC_OK;
}

const char *kvc_document_noun(enum kvc_document_kind kind)
{
    return kinds[kind].noun;
}

enum kvc_status kvc_document_load(const char *file, enum kvc_document_kind kind, json_t **document,
                                  struct kvc_diag *diag)
{
    json_error_t error;
    *document = json_load_file(file, 0, &error);
    if (*document == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, error.line > 0 ? error.line : 0,
                                "cannot be read as a JSON %s: %s", kinds[kind].noun, error.text);
    }
    const char *schema = json_string_value(json_object_get(*document, "schema"));
    if (schema != NULL && strcmp(schema, kinds[kind].schema) == 0) {
        return KVC_OK;
    }
    char said[SCHEMA_TEXT];
    enum kvc_status status =
        kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0, "is not a %s, whose schema is %s%s",
                         kinds[kind].noun, kinds[kind].schema, say_schema(*document, said));
    json_decref(*document);
    *document = NULL;
    return status;
}

double kvc_document_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *kvc_document_text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "-";
}

enum kvc_status kvc_document_check_result(const char *file, const json_t *document, struct kvc_diag *diag)
{
    const json_t *mean = json_object_get(json_object_get(document, "throughput_mops"), "mean");
    return json_is_number(mean)
               ? KVC_OK
               : kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                                  "has no throughput (throughput_mops.mean), which every result has");
}
