/** @file
 * Error reporting: a status, and one message that is ready to be shown to the user.
 *
 * Library code does not print and does not exit on bad input. It fills the caller's kvc_diag and returns its
 * status. The status values are also the exit statuses of the command line. */
#ifndef KVC_SIM_BASE_DIAG_H
#define KVC_SIM_BASE_DIAG_H

#include <stdio.h>
#include <stdlib.h>

/** The outcome of a call. */
enum kvc_status {
    KVC_OK = 0,                /**< Success. */
    KVC_ERR_REGRESSED = 1,     /**< Validation: an error exceeds its tolerance and its baseline. */
    KVC_ERR_SCENARIO = 2,      /**< The user's scenario, option or file is wrong. */
    KVC_ERR_RUNTIME = 3,       /**< The machine cannot do it: memory, disk, or a child process failed. */
    KVC_ERR_INTERRUPTED = 130, /**< A signal ended the work early (kvc_cleanup_defer). */
};

/** One error. A zeroed struct means that there is no error. */
struct kvc_diag {
    enum kvc_status status; /**< KVC_OK if nothing has failed. */
    int line;               /**< Line number, counted from 1; 0 if unknown. */
    char file[256];         /**< The file that the error is about; empty if none. */
    /** States what was found and what is allowed, in one printable line without a full stop
     * (sim/base/text/printable.h). */
    char message[1024];
};

/** Fills `diag`, which may be NULL, and returns `status`, so that a caller can write
 * `return kvc_diag_fail(...)`. A file and line that are already set are kept. */
enum kvc_status kvc_diag_fail(struct kvc_diag *diag, enum kvc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Like kvc_diag_fail, but also sets the file and the line. `line` is 0 if unknown. */
enum kvc_status kvc_diag_fail_at(struct kvc_diag *diag, enum kvc_status status, const char *file, int line,
                                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/** Fails because the file or folder `path` cannot be written, for the reason `error` (an errno). Returns
 * KVC_ERR_SCENARIO if the user chose an impossible place, such as a missing folder, and KVC_ERR_RUNTIME if
 * the machine lacks something, such as disk space. */
enum kvc_status kvc_diag_fail_write(struct kvc_diag *diag, const char *path, int error);

/** Names the file of a failure that has named none so far, and returns its status. `diag` may be NULL. */
enum kvc_status kvc_diag_name(struct kvc_diag *diag, enum kvc_status status, const char *file);

/** Prints "file:line: message", "file: message" or "message", without a newline. */
void kvc_diag_print(const struct kvc_diag *diag, FILE *out);

/** Ends the process because memory is short: ends its children, removes its half-written files
 * (kvc_cleanup_now), prints "kvcast: out of memory: ..." and exits with KVC_ERR_RUNTIME. This is for code
 * deep inside a simulation that has no status to return; all other code returns KVC_ERR_RUNTIME. */
_Noreturn void kvc_out_of_memory(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the process as kvc_out_of_memory does, with another message: a library failed where it has no reason
 * to. */
_Noreturn void kvc_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Makes kvc_out_of_memory and kvc_give_up hand their message to `tell(data, diag)` instead of printing it. A
 * child process whose parent reports failures calls this. */
void kvc_out_of_memory_tell(void (*tell)(void *data, const struct kvc_diag *diag), void *data);

/** Reports a broken invariant of this program and aborts. Bad input and lack of memory are not bugs. */
#define KVC_BUG(...)                                                                                         \
    do {                                                                                                     \
        fprintf(stderr, "kvcast: bug at %s:%d: ", __FILE__, __LINE__);                                       \
        fprintf(stderr, __VA_ARGS__);                                                                        \
        fputc('\n', stderr);                                                                                 \
        abort();                                                                                             \
    } while (0)

#endif
