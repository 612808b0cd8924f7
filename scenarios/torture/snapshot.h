/* The files of a folder and of the folders in it, by name and contents.
 *
 * Lines that depend on the wall clock are left out of the contents: "wall_..." and "..._per_wall_s" of
 * results, and the date of creation in PDF files. */
#ifndef KVC_SCENARIOS_TORTURE_SNAPSHOT_H
#define KVC_SCENARIOS_TORTURE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

enum { KVC_SNAPSHOT_FILES_MAX = 64 };

struct kvc_snapshot_file {
    char *name;     /* Relative to the folder. */
    char *contents; /* Without what depends on the wall clock. */
    size_t bytes;   /* Of the contents. */
};

struct kvc_snapshot {
    struct kvc_snapshot_file file[KVC_SNAPSHOT_FILES_MAX];
    int files;
};

void kvc_snapshot_free(struct kvc_snapshot *snapshot);

/* Reads all files of the folder. Ends this process with a message if they cannot be read. */
void kvc_snapshot_take(const char *folder, struct kvc_snapshot *snapshot);

/* Returns the file of that name, or NULL. */
const struct kvc_snapshot_file *kvc_snapshot_find(const struct kvc_snapshot *snapshot, const char *name);

/* Returns whether two files have the same contents; NULL equals nothing. */
bool kvc_snapshot_same(const struct kvc_snapshot_file *a, const struct kvc_snapshot_file *b);

#endif
