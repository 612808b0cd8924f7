#include "sim/base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/cleanup.h"
#include "sim/base/text/printable.h"

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
        kvc_make_printable(diag->file);
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

static void (*tell_parent)(void *data, const struct kvc_diag *diag);
static void *tell_data;

void kvc_out_of_memory_tell(void (*tell)(void *data, const struct kvc_diag *diag), void *data)
{
    tell_parent = tell;
    tell_data = data;
}

_Noreturn static void end(const char *prefix, const char *format, va_list arguments)
{
    struct kvc_diag diag = {.status = KVC_ERR_RUNTIME};
    size_t used = (size_t)snprintf(diag.message, sizeof(diag.message), "%s", prefix);
    vsnprintf(diag.message + used, sizeof(diag.message) - used, format, arguments);
    kvc_make_printable(diag.message);
    kvc_cleanup_now();
    if (tell_parent != NULL) {
        tell_parent(tell_data, &diag);
    } else {
        fprintf(stderr, "kvcast: %s\n", diag.message);
    }
    _exit(KVC_ERR_RUNTIME); /* A forked replica must not flush what its parent had buffered. */
}

_Noreturn void kvc_out_of_memory(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end("out of memory: ", format, arguments);
}

_Noreturn void kvc_give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end("", format, arguments);
}
