#include "scenarios/torture/snapshot.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static _Noreturn void fail(const char *path)
{
    perror(path);
    exit(1);
}

/* Returns whether a line depends on the wall clock. */
static bool is_timed(const char *line, size_t bytes)
{
    static const char *const marks[] = {"\"wall_", "_per_wall_s\"", "\"memory_", "/CreationDate"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        if (memmem(line, bytes, marks[i], strlen(marks[i])) != NULL) {
            return true;
        }
    }
    return false;
}

static void drop_timed_lines(struct kvc_snapshot_file *file)
{
    size_t kept = 0;
    for (size_t at = 0; at < file->bytes;) {
        const char *line = file->contents + at, *end = memchr(line, '\n', file->bytes - at);
        size_t bytes = end != NULL ? (size_t)(end - line) + 1 : file->bytes - at;
        at += bytes;
        if (!is_timed(line, bytes)) {
            memmove(file->contents + kept, line, bytes);
            kept += bytes;
        }
    }
    file->bytes = kept;
}

static void add(struct kvc_snapshot *snapshot, const FTSENT *entry, size_t folder_bytes)
{
    struct kvc_snapshot_file *file = &snapshot->file[snapshot->files];
    size_t size = (size_t)entry->fts_statp->st_size;
    if (snapshot->files++ == KVC_SNAPSHOT_FILES_MAX) {
        fprintf(stderr, "%s: more than %d files\n", entry->fts_path, KVC_SNAPSHOT_FILES_MAX);
        exit(1);
    }
    FILE *in = fopen(entry->fts_accpath, "r");
    file->name = strdup(entry->fts_path + folder_bytes + 1);
    file->contents = malloc(size + 1);
    if (in == NULL || file->name == NULL || file->contents == NULL) {
        fail(entry->fts_path);
    }
    file->bytes = fread(file->contents, 1, size, in);
    fclose(in);
    drop_timed_lines(file);
}

void kvc_snapshot_take(const char *folder, struct kvc_snapshot *snapshot)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    snapshot->files = 0;
    while (walk != NULL && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_F || entry->fts_info == FTS_SL || entry->fts_info == FTS_DEFAULT) {
            add(snapshot, entry, strlen(folder));
        }
    }
    if (walk == NULL || fts_close(walk) != 0) {
        fail(folder);
    }
}

void kvc_snapshot_free(struct kvc_snapshot *snapshot)
{
    for (int i = 0; i < snapshot->files; i++) {
        free(snapshot->file[i].name);
        free(snapshot->file[i].contents);
    }
    snapshot->files = 0;
}

const struct kvc_snapshot_file *kvc_snapshot_find(const struct kvc_snapshot *snapshot, const char *name)
{
    for (int i = 0; i < snapshot->files; i++) {
        if (strcmp(snapshot->file[i].name, name) == 0) {
            return &snapshot->file[i];
        }
    }
    return NULL;
}

bool kvc_snapshot_same(const struct kvc_snapshot_file *a, const struct kvc_snapshot_file *b)
{
    return a != NULL && b != NULL && a->bytes == b->bytes && memcmp(a->contents, b->contents, a->bytes) == 0;
}
