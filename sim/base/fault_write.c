/* Creating and writing files, which fault injection can let fail as a full disk does. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fault.h"
#include "sim/base/fault_wrapped.h"

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

static bool strikes(const char *function)
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
    return writes(mode) && strikes("fopen") ? NULL : __real_fopen(path, mode);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    return writes(mode) && strikes("fdopen") ? NULL : __real_fdopen(fd, mode);
}

FILE *__wrap_tmpfile(void)
{
    return strikes("tmpfile") ? NULL : __real_tmpfile();
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
    bool fails = (flags & O_ACCMODE) != O_RDONLY && strikes("open");
    return fails ? -1 : __real_open(path, flags, mode);
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    return fd != STDERR_FILENO && strikes("write") ? -1 : __real_write(fd, data, bytes);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return strikes("pwrite") ? -1 : __real_pwrite(fd, data, bytes, offset);
}

int __wrap_ftruncate(int fd, off_t bytes)
{
    return strikes("ftruncate") ? -1 : __real_ftruncate(fd, bytes);
}

int __wrap_fsync(int fd)
{
    return strikes("fsync") ? -1 : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return strikes("fdatasync") ? -1 : __real_fdatasync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return strikes("rename") ? -1 : __real_rename(from, to);
}

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return strikes("renameat") ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    return strikes("mkdir") ? -1 : __real_mkdir(path, mode);
}

int __wrap_mkstemp(char *path)
{
    return strikes("mkstemp") ? -1 : __real_mkstemp(path);
}

int __wrap_mkostemp(char *path, int flags)
{
    return strikes("mkostemp") ? -1 : __real_mkostemp(path, flags);
}

char *__wrap_mkdtemp(char *path)
{
    return strikes("mkdtemp") ? NULL : __real_mkdtemp(path);
}
