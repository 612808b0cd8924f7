/* Allocations that fault injection can let fail. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/fault.h"
#include "sim/base/fault_wrapped.h"

KVC_FAULT_WRAPPED(malloc);
KVC_FAULT_WRAPPED(calloc);
KVC_FAULT_WRAPPED(realloc);
KVC_FAULT_WRAPPED(aligned_alloc);
KVC_FAULT_WRAPPED(posix_memalign);
KVC_FAULT_WRAPPED(strdup);
KVC_FAULT_WRAPPED(strndup);
KVC_FAULT_WRAPPED(vasprintf);
KVC_FAULT_WRAPPED(asprintf);
KVC_FAULT_WRAPPED(mmap);
KVC_FAULT_WRAPPED(open_memstream);
KVC_FAULT_WRAPPED(fmemopen);
KVC_FAULT_WRAPPED(getline);
KVC_FAULT_WRAPPED(realpath);
KVC_FAULT_WRAPPED(scandir);

static bool strikes(const char *function)
{
    bool fails = kvc_fault_strikes(KVC_FAULT_ALLOCATION, function);
    if (fails) {
        errno = ENOMEM;
    }
    return fails;
}

void *__wrap_malloc(size_t bytes)
{
    return strikes("malloc") ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return strikes("calloc") ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return strikes("realloc") ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return strikes("aligned_alloc") ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    return strikes("posix_memalign") ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return strikes("strdup") ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
    return strikes("strndup") ? NULL : __real_strndup(text, bytes);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    return strikes("vasprintf") ? -1 : __real_vasprintf(text, format, arguments);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return bytes;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return strikes("mmap") ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, fd, offset);
}

FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
    return strikes("open_memstream") ? NULL : __real_open_memstream(text, bytes);
}

FILE *__wrap_fmemopen(void *data, size_t bytes, const char *mode)
{
    return strikes("fmemopen") ? NULL : __real_fmemopen(data, bytes, mode);
}

ssize_t __wrap_getline(char **line, size_t *room, FILE *in)
{
    return strikes("getline") ? -1 : __real_getline(line, room, in);
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return resolved == NULL && strikes("realpath") ? NULL : __real_realpath(path, resolved);
}

int __wrap_scandir(const char *folder, struct dirent ***entries, int (*keep)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    return strikes("scandir") ? -1 : __real_scandir(folder, entries, keep, compare);
}
