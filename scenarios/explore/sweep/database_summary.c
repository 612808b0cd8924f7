/* What the database of a sweep says of all its points. */
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explore/sweep/database.h"

/* Writes the name of FOLDER/sweep.sqlite as a URI. SQLite then creates no files beside it. */
static bool write_uri(const char *folder, char *uri, size_t size)
{
    char real[PATH_MAX]; /* SQLite allows no link in the whole path; the user's folder may be one. */
    if (realpath(folder, real) == NULL) {
        return false;
    }
    size_t length = (size_t)snprintf(uri, size, "file:");
    for (const char *at = real; *at != '\0' && length + 4 < size; at++) {
        length +=
            (size_t)snprintf(uri + length, size - length, strchr("%?#", *at) != NULL ? "%%%02x" : "%c", *at);
    }
    length += (size_t)snprintf(uri + length, length < size ? size - length : 0, "/sweep.sqlite?immutable=1");
    return length < size;
}

/* Sets a member to the JSON or, if it is none, the text that a query finds. */
static void take(sqlite3 *sqlite, const char *query, const char *member, bool is_json, json_t *summary)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(sqlite, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        json_object_set_new(summary, member,
                            is_json ? json_loads(text, JSON_DECODE_ANY, NULL) : json_string(text));
    }
    sqlite3_finalize(statement);
}

json_t *kvc_database_summary(const char *folder)
{
    static const char *const members[] = {"scenario_file", "command", "version", "parameters", "overrides"};
    char uri[4 * PATH_MAX], query[96];
    sqlite3 *sqlite = NULL;
    json_t *summary = json_object(), *first;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    if (write_uri(folder, uri, sizeof(uri)) && sqlite3_open_v2(uri, &sqlite, flags, NULL) == SQLITE_OK) {
        /* The file may come from a stranger: nothing in its schema runs. */
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
            snprintf(query, sizeof(query), "SELECT value FROM meta WHERE key = '%s'", members[i]);
            take(sqlite, query, members[i], i > 2, summary);
        }
        take(sqlite, "SELECT document FROM documents ORDER BY point LIMIT 1", "first", true, summary);
    }
    sqlite3_close(sqlite);
    first = json_object_get(summary, "first");
    if (first != NULL) {
        json_object_set(summary, "provenance", json_object_get(first, "provenance"));
        json_object_set(summary, "accuracy", json_object_get(first, "accuracy"));
        json_object_set(summary, "scenario", json_object_get(first, "scenario"));
        json_object_del(summary, "first");
    }
    return summary;
}
