#include "sim/base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/printable.h"

static void fill_message(struct kvc_diag *diag, enum kvc_status status, const char *format, va_list arguments)
{
    diag->status = status;
    vsnprintf(diag->message, sizeof(diag->message), format, arguments);
    kvc_make_printable(diag->message);
}

enum kvc_status kvc_diag_fail(struct kvc_diag *diag, enum kvc_status status, const char *format, ...)
{
    if (diag == NULL) {
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    fill_message(diag, status, format, arguments);
    va_end(arguments);
    return status;
}

enum kvc_status kvc_diag_fail_at(struct kvc_diag *diag, enum kvc_status status, const char *file, int line,
                                 const char *format, ...)
{
    if (diag == NULL) {
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    fill_message(diag, status, format, arguments);
    va_end(arguments);
    snprintf(diag->file, sizeof(diag->file), "%s", file);
    kvc_make_printable(diag->file);
    diag->line = line;
    return status;
}

static bool is_of_the_place(int error)
{
    switch (error) {
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case EPERM:
    case EROFS:
        return true;
    default:
        return false;
    }
}

enum kvc_status kvc_diag_fail_write(struct kvc_diag *diag, const char *path, int error)
{
    return kvc_diag_fail_at(diag, is_of_the_place(error) ? KVC_ERR_SCENARIO : KVC_ERR_RUNTIME, path, 0,
                            "cannot be written: %s", strerror(error));
}

enum kvc_status kvc_diag_name(struct kvc_diag *diag, enum kvc_status status, const char *file)
{
    if (status != KVC_OK && diag != NULL && diag->file[0] == '\0') {
        snprintf(diag->file, sizeof(diag->file), "%s", file);
    }
    return status;
}

void kvc_diag_print(const struct kvc_diag *diag, FILE *out)
{
    if (diag->file[0] != '\0' && diag->line > 0) {
        fprintf(out, "%s:%d: ", diag->file, diag->line);
    } else if (diag->file[0] != '\0') {
        fprintf(out, "%s: ", diag->file);
    }
    fputs(diag->message, out);
}

_Noreturn void kvc_out_of_memory(const char *format, ...)
{
    va_list arguments;
    fputs("kvcast: out of memory: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(KVC_ERR_RUNTIME); /* A forked replica must not flush what its parent had buffered. */
}
