/* One error, ready to be shown to the user.
 *
 * Library code never prints and never exits: it fills the caller's kvc_diag and returns its status.
 * The status values are also the exit codes of the command line. */
#ifndef KVC_SIM_BASE_DIAG_H
#define KVC_SIM_BASE_DIAG_H

#include <stdio.h>
#include <stdlib.h>

enum kvc_status {
    KVC_OK = 0,
    KVC_ERR_REGRESSED = 1, /* validation: an error grew past its tolerance or baseline */
    KVC_ERR_SCENARIO = 2,  /* the user's scenario, option or file is wrong */
    KVC_ERR_RUNTIME = 3,   /* the machine said no: memory, disk, a child process */
};

struct kvc_diag {
    enum kvc_status status;
    int line;           /* 1-based; 0: no line is known */
    char file[256];     /* empty: not about a file */
    char message[1024]; /* what was found, what is allowed; one line, no full stop */
};

/* Fills `diag` (NULL is allowed) and returns `status`, so that callers can `return kvc_diag_fail(...)`.
 * Keeps a file and line that are already set. */
enum kvc_status kvc_diag_fail(struct kvc_diag *diag, enum kvc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As kvc_diag_fail, and names the place. `line` 0: unknown. */
enum kvc_status kvc_diag_fail_at(struct kvc_diag *diag, enum kvc_status status, const char *file, int line,
                                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "file:line: message", "file: message" or "message", without a newline. */
void kvc_diag_print(const struct kvc_diag *diag, FILE *out);

/* Ends the process for lack of memory: prints "kvcast: out of memory: ..." and exits with KVC_ERR_RUNTIME.
 * For places deep in a simulation that no status leads out of; everything else returns KVC_ERR_RUNTIME. */
_Noreturn void kvc_out_of_memory(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a broken invariant of our own code and aborts. Bad input and lack of memory have other answers. */
#define KVC_BUG(...)                                                                                         \
    do {                                                                                                     \
        fprintf(stderr, "kvcast: bug at %s:%d: ", __FILE__, __LINE__);                                       \
        fprintf(stderr, __VA_ARGS__);                                                                        \
        fputc('\n', stderr);                                                                                 \
        abort();                                                                                             \
    } while (0)

#endif
