#include "sim/base/files/memory_file_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *kvc_memory_file(const uint8_t *data, size_t bytes)
{
    static char path[32];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, bytes, 0) != (ssize_t)bytes) {
        abort();
    }
    return path;
}
