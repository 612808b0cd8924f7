/* The main program of a fuzz target in builds without libFuzzer: it runs the target once for each file of the
 * folders given. Each path is printed first, so that the last one names the input of a crash. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Runs the target on a file. Its memory is exactly as long as the file, so that sanitizers see reads beyond
 * its end. Returns false if the file cannot be read. */
static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return false;
    }
    size_t bytes = (size_t)ftell(file);
    uint8_t *data = malloc(bytes > 0 ? bytes : 1);
    rewind(file);
    bool is_read = data != NULL && fread(data, 1, bytes, file) == bytes;
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    if (is_read) {
        LLVMFuzzerTestOneInput(data, bytes);
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(data);
    return is_read;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Runs the target on every file of a folder, by name. Returns false if there is none or one cannot be read.
 */
static bool replay_folder(const char *folder)
{
    struct dirent **entry;
    int count = scandir(folder, &entry, is_visible, alphasort);
    bool is_right = count > 0;
    if (!is_right) {
        fprintf(stderr, "%s: has no inputs\n", folder);
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
        is_right = replay(path) && is_right;
        free(entry[i]);
    }
    if (count >= 0) {
        free(entry);
    }
    printf("%d inputs replayed\n", count > 0 ? count : 0);
    return is_right;
}

int main(int argc, char **argv)
{
    bool is_right = argc > 1;
    for (int i = 1; i < argc; i++) {
        is_right = replay_folder(argv[i]) && is_right;
    }
    return is_right ? 0 : 1;
}
