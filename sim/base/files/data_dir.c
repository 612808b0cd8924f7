#include "sim/base/files/data_dir.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts the last component off an absolute path. False at the root. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL || path[1] == '\0') {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

/* Writes the folder of the running program, or of the shared library that this code is in. The string is
 * empty if the system does not reveal it. */
static void program_folder(char folder[PATH_MAX])
{
    Dl_info own;
    if (dladdr(program_folder, &own) == 0 || strstr(own.dli_fname, ".so") == NULL ||
        realpath(own.dli_fname, folder) == NULL) {
        ssize_t bytes = readlink("/proc/self/exe", folder, PATH_MAX - 1);
        folder[bytes > 0 ? bytes : 0] = '\0';
    }
    to_parent(folder);
}

/* Looks for prefix/share/kvcast, where the program is in prefix/bin and the library in prefix/lib or in a
 * folder of that. */
static bool find_installed(const char *program, char found[PATH_MAX])
{
    char prefix[PATH_MAX];
    bool exists = false;
    strcpy(prefix, program);
    for (int levels = 0; levels < 2 && !exists && to_parent(prefix); levels++) {
        int bytes = snprintf(found, PATH_MAX, "%s/share/kvcast", strcmp(prefix, "/") == 0 ? "" : prefix);
        exists = bytes < PATH_MAX && access(found, F_OK) == 0;
    }
    return exists;
}

/* Reads the path in the build tree's file kvcast-data, in `folder`. */
static bool read_pointer(const char *folder, char found[PATH_MAX])
{
    char path[PATH_MAX], line[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/kvcast-data", folder) >= PATH_MAX) {
        return false;
    }
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return false;
    }
    bool read = fgets(line, sizeof(line), in) != NULL;
    fclose(in);
    if (!read) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    bool absolute = line[0] == '/';
    return snprintf(path, sizeof(path), "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", line) <
               PATH_MAX &&
           realpath(path, found) != NULL;
}

static bool find_source(const char *program, char found[PATH_MAX])
{
    char folder[PATH_MAX];
    strcpy(folder, program);
    do {
        if (read_pointer(folder, found)) {
            return true;
        }
    } while (to_parent(folder));
    return false;
}

static void find(char found[PATH_MAX])
{
    char program[PATH_MAX];
    const char *chosen = getenv("KVCAST_DATA");
    if (chosen != NULL && chosen[0] != '\0') {
        snprintf(found, PATH_MAX, "%s", chosen);
        return;
    }
    program_folder(program);
    if (!find_installed(program, found) && !find_source(program, found)) {
        find_installed(program, found);
    }
}

const char *kvc_data_dir(void)
{
    static char folder[PATH_MAX];
    if (folder[0] == '\0') {
        find(folder);
    }
    return folder;
}

void kvc_data_path(const char *name, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", kvc_data_dir(), name) >= PATH_MAX) {
        path[0] = '\0'; /* Opening an empty path fails. */
    }
}
