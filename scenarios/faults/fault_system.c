/* Calls of the system that fault injection can let fail: allocations, processes and threads, and files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/faults/fault.h"

/* ---- allocations ---- */

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

static bool allocation_strikes(const char *function)
{
    bool fails = kvc_fault_strikes(KVC_FAULT_ALLOCATION, function);
    if (fails) {
        errno = ENOMEM;
    }
    return fails;
}

void *__wrap_malloc(size_t bytes)
{
    return allocation_strikes("malloc") ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return allocation_strikes("calloc") ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return allocation_strikes("realloc") ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return allocation_strikes("aligned_alloc") ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    return allocation_strikes("posix_memalign") ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return allocation_strikes("strdup") ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
    return allocation_strikes("strndup") ? NULL : __real_strndup(text, bytes);
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    return allocation_strikes("vasprintf") ? -1 : __real_vasprintf(text, format, arguments);
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
    return allocation_strikes("mmap") ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, fd, offset);
}

FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
    return allocation_strikes("open_memstream") ? NULL : __real_open_memstream(text, bytes);
}

FILE *__wrap_fmemopen(void *data, size_t bytes, const char *mode)
{
    return allocation_strikes("fmemopen") ? NULL : __real_fmemopen(data, bytes, mode);
}

ssize_t __wrap_getline(char **line, size_t *room, FILE *in)
{
    return allocation_strikes("getline") ? -1 : __real_getline(line, room, in);
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return resolved == NULL && allocation_strikes("realpath") ? NULL : __real_realpath(path, resolved);
}

int __wrap_scandir(const char *folder, struct dirent ***entries, int (*keep)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    return allocation_strikes("scandir") ? -1 : __real_scandir(folder, entries, keep, compare);
}

/* ---- processes, pipes and threads ---- */

KVC_FAULT_WRAPPED(fork);
KVC_FAULT_WRAPPED(pipe);
KVC_FAULT_WRAPPED(pipe2);
KVC_FAULT_WRAPPED(posix_spawnp);
KVC_FAULT_WRAPPED(pthread_create);

static bool process_strikes(const char *function, int error)
{
    bool fails = kvc_fault_strikes(KVC_FAULT_FORK, function);
    if (fails) {
        errno = error;
    }
    return fails;
}

pid_t __wrap_fork(void)
{
    return process_strikes("fork", EAGAIN) ? -1 : __real_fork();
}

int __wrap_pipe(int ends[2])
{
    return process_strikes("pipe", EMFILE) ? -1 : __real_pipe(ends);
}

int __wrap_pipe2(int ends[2], int flags)
{
    return process_strikes("pipe2", EMFILE) ? -1 : __real_pipe2(ends, flags);
}

int __wrap_posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const environment[])
{
    return process_strikes("posix_spawnp", EAGAIN)
               ? EAGAIN
               : __real_posix_spawnp(child, file, actions, attributes, arguments, environment);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                          void *data)
{
    return process_strikes("pthread_create", EAGAIN) ? EAGAIN
                                                     : __real_pthread_create(thread, attributes, body, data);
}

/* ---- creating and writing files, which fail as on a full disk ---- */

KVC_FAULT_WRAPPED(fopen);
KVC_FAULT_WRAPPED(fdopen);
KVC_FAULT_WRAPPED(tmpfile);
KVC_FAULT_WRAPPED(fwrite);
KVC_FAULT_WRAPPED(fputs);
KVC_FAULT_WRAPPED(puts);
KVC_FAULT_WRAPPED(fputc);
KVC_FAULT_WRAPPED(putc);
KVC_FAULT_WRAPPED(putchar);
KVC_FAULT_WRAPPED(vfprintf);
KVC_FAULT_WRAPPED(fprintf);
KVC_FAULT_WRAPPED(printf);
KVC_FAULT_WRAPPED(fflush);
KVC_FAULT_WRAPPED(fclose);
KVC_FAULT_WRAPPED(open);
KVC_FAULT_WRAPPED(write);
KVC_FAULT_WRAPPED(pwrite);
KVC_FAULT_WRAPPED(ftruncate);
KVC_FAULT_WRAPPED(fsync);
KVC_FAULT_WRAPPED(fdatasync);
KVC_FAULT_WRAPPED(rename);
KVC_FAULT_WRAPPED(renameat);
KVC_FAULT_WRAPPED(mkdir);
KVC_FAULT_WRAPPED(mkstemp);
KVC_FAULT_WRAPPED(mkostemp);
KVC_FAULT_WRAPPED(mkdtemp);

enum { STREAM_ERROR = 0x20 /* glibc's _IO_ERR_SEEN: what ferror tests. No function sets it. */ };

static bool write_strikes(const char *function)
{
    bool fails = kvc_fault_strikes(KVC_FAULT_WRITE, function);
    if (fails) {
        errno = ENOSPC;
    }
    return fails;
}

/* A call on a stream. Its failure leaves the stream's error set, as a real one does. stderr never fails, or
 * there would be no message. A stream in memory has no file, and fails as an allocation. */
static bool strikes_stream(FILE *stream, const char *function)
{
    if (stream == stderr) {
        return false;
    }
    bool in_memory = fileno(stream) < 0;
    bool fails = kvc_fault_strikes(in_memory ? KVC_FAULT_ALLOCATION : KVC_FAULT_WRITE, function);
    if (fails) {
        stream->_flags |= STREAM_ERROR;
        errno = in_memory ? ENOMEM : ENOSPC;
    }
    return fails;
}

static bool writes(const char *mode)
{
    return strpbrk(mode, "wa+") != NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return writes(mode) && write_strikes("fopen") ? NULL : __real_fopen(path, mode);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    return writes(mode) && write_strikes("fdopen") ? NULL : __real_fdopen(fd, mode);
}

FILE *__wrap_tmpfile(void)
{
    return write_strikes("tmpfile") ? NULL : __real_tmpfile();
}

size_t __wrap_fwrite(const void *data, size_t size, size_t count, FILE *out)
{
    return strikes_stream(out, "fwrite") ? 0 : __real_fwrite(data, size, count, out);
}

int __wrap_fputs(const char *text, FILE *out)
{
    return strikes_stream(out, "fputs") ? EOF : __real_fputs(text, out);
}

int __wrap_puts(const char *text)
{
    return strikes_stream(stdout, "puts") ? EOF : __real_puts(text);
}

int __wrap_fputc(int byte, FILE *out)
{
    return strikes_stream(out, "fputc") ? EOF : __real_fputc(byte, out);
}

int __wrap_putc(int byte, FILE *out)
{
    return strikes_stream(out, "putc") ? EOF : __real_fputc(byte, out);
}

int __wrap_putchar(int byte)
{
    return strikes_stream(stdout, "putchar") ? EOF : __real_fputc(byte, stdout);
}

int __wrap_vfprintf(FILE *out, const char *format, va_list arguments)
{
    return strikes_stream(out, "vfprintf") ? -1 : __real_vfprintf(out, format, arguments);
}

int __wrap_fprintf(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes = strikes_stream(out, "fprintf") ? -1 : __real_vfprintf(out, format, arguments);
    va_end(arguments);
    return bytes;
}

int __wrap_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int bytes = strikes_stream(stdout, "printf") ? -1 : __real_vfprintf(stdout, format, arguments);
    va_end(arguments);
    return bytes;
}

int __wrap_fflush(FILE *out)
{
    return out != NULL && strikes_stream(out, "fflush") ? EOF : __real_fflush(out);
}

/* The stream is closed in any case; its last bytes may be lost, if it was written to. */
int __wrap_fclose(FILE *stream)
{
    bool fails = __fwritable(stream) && strikes_stream(stream, "fclose");
    int status = __real_fclose(stream);
    if (fails) {
        errno = ENOSPC;
    }
    return fails ? EOF : status;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    bool fails = (flags & O_ACCMODE) != O_RDONLY && write_strikes("open");
    return fails ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    return fd != STDERR_FILENO && write_strikes("write") ? -1 : __real_write(fd, data, bytes);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return write_strikes("pwrite") ? -1 : __real_pwrite(fd, data, bytes, offset);
}

int __wrap_ftruncate(int fd, off_t bytes)
{
    return write_strikes("ftruncate") ? -1 : __real_ftruncate(fd, bytes);
}

int __wrap_fsync(int fd)
{
    return write_strikes("fsync") ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return write_strikes("fdatasync") ? -1 : __real_fdatasync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return write_strikes("rename") ? -1 : __real_rename(from, to);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return write_strikes("renameat") ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return write_strikes("mkdir") ? -1 : __real_mkdir(path, mode);
}

int __wrap_mkstemp(char *path)
{
    return write_strikes("mkstemp") ? -1 : __real_mkstemp(path);
}

int __wrap_mkostemp(char *path, int flags)
{
    return write_strikes("mkostemp") ? -1 : __real_mkostemp(path, flags);
}

char *__wrap_mkdtemp(char *path)
{
    return write_strikes("mkdtemp") ? NULL : __real_mkdtemp(path);
}
