#include "scenarios/faults/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

KVC_FAULT_WRAPPED(open);
KVC_FAULT_WRAPPED(write);
KVC_FAULT_WRAPPED(mmap);

static const char *const kind_names[KVC_FAULT_KINDS] = {"allocation", "write", "fork", "gsl"};

enum {
    SITE_FRAMES = 3,     /* Callers that tell two sites apart, from the function that called a wrapped one. */
    WRAPPER_FRAMES = 3,  /* Frames of this file and of the wrapper, above them. */
    SITES_MAX = 1 << 14, /* A power of two. */
    FRAME_BYTES_MAX = 1 << 16,
};

/* Counts that all processes share. */
struct counts {
    atomic_ulong calls;
    atomic_ulong site[SITES_MAX];  /* A hash table of the sites that called; 0 marks a free entry. */
    atomic_ulong first[SITES_MAX]; /* The number of the first call of each. */
};

extern char
    __executable_start; /* Set by the linker: where the program lies in memory, which differs between runs. */

static struct counts *counts; /* Indexed by kind. */
static bool counting;
static int chosen_kind = -1;
static unsigned long chosen_number;
static pid_t first_process;

static void report(const char *text)
{
    const char *path = getenv("KVCAST_FAULT_REPORT");
    int fd =
        path != NULL ? __real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : STDERR_FILENO;
    if (fd < 0 || __real_write(fd, text, strlen(text)) < 0) {
        perror("kvcast: KVCAST_FAULT_REPORT");
        _exit(99);
    }
    if (path != NULL) {
        close(fd);
    }
}

static void choose(const char *text)
{
    counting = strcmp(text, "count") == 0;
    for (int kind = 0; kind < KVC_FAULT_KINDS && !counting; kind++) {
        size_t bytes = strlen(kind_names[kind]);
        char *end = NULL;
        if (strncmp(text, kind_names[kind], bytes) == 0 && text[bytes] == ':') {
            chosen_number = strtoul(text + bytes + 1, &end, 10);
        }
        if (end != NULL && *end == '\0' && chosen_number > 0) {
            chosen_kind = kind;
        }
    }
    if (!counting && chosen_kind < 0) {
        fprintf(stderr,
                "kvcast: KVCAST_FAULT: found \"%s\", allowed: count, or allocation, write, fork or gsl with "
                "a number, such as write:3\n",
                text);
        _exit(99);
    }
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("KVCAST_FAULT");
    if (text == NULL) {
        return;
    }
    choose(text);
    first_process = getpid();
    void *shared = __real_mmap(NULL, KVC_FAULT_KINDS * sizeof(*counts), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("kvcast: KVCAST_FAULT");
        _exit(99);
    }
    counts = shared;
}

static void report_sites(enum kvc_fault_kind kind)
{
    char text[64];
    for (int i = 0; i < SITES_MAX; i++) {
        if (counts[kind].first[i] > 0) {
            snprintf(text, sizeof(text), "site %s %lu %lx\n", kind_names[kind], counts[kind].first[i],
                     counts[kind].site[i]);
            report(text);
        }
    }
}

__attribute__((destructor)) static void stop(void)
{
    char text[64];
    for (int kind = 0; kind < KVC_FAULT_KINDS && counting && getpid() == first_process; kind++) {
        snprintf(text, sizeof(text), "calls %s %lu\n", kind_names[kind], counts[kind].calls);
        report(text);
        if (getenv("KVCAST_FAULT_REPORT") != NULL) {
            report_sites(kind);
        }
    }
}

/* Sets the return addresses of the nearest callers, the same in every run, 0 where there are no more. Follows
 * frame pointers while they lead up one stack, since a library below us may use the register for
 * something else. */
__attribute__((no_sanitize("address"), noinline)) static void find_callers(uintptr_t caller[SITE_FRAMES])
{
    uintptr_t *frame = __builtin_frame_address(0);
    memset(caller, 0, SITE_FRAMES * sizeof(*caller));
    for (int i = 0; i < WRAPPER_FRAMES + SITE_FRAMES; i++) {
        if (i >= WRAPPER_FRAMES) {
            caller[i - WRAPPER_FRAMES] = frame[1] - (uintptr_t)&__executable_start;
        }
        uintptr_t *next = (uintptr_t *)frame[0];
        if (next <= frame || (char *)next - (char *)frame > FRAME_BYTES_MAX || (uintptr_t)next % 8 != 0) {
            break;
        }
        frame = next;
    }
}

static uint64_t site_of(const uintptr_t caller[SITE_FRAMES])
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a. */
    for (int i = 0; i < SITE_FRAMES; i++) {
        hash = (hash ^ caller[i]) * 1099511628211u;
    }
    return hash | 1;
}

static void note_site(struct counts *kind, uint64_t site, unsigned long number)
{
    for (uint64_t i = 0; i < SITES_MAX; i++) {
        unsigned long none = 0;
        uint64_t at = (site + i) % SITES_MAX;
        if (atomic_compare_exchange_strong(&kind->site[at], &none, site)) {
            kind->first[at] = number;
            return;
        }
        if (none == site) {
            return;
        }
    }
}

bool kvc_fault_strikes(enum kvc_fault_kind kind, const char *function)
{
    char text[256];
    if (counts == NULL) {
        return false;
    }
    uintptr_t caller[SITE_FRAMES];
    unsigned long number = atomic_fetch_add(&counts[kind].calls, 1) + 1;
    if (counting) {
        find_callers(caller);
        note_site(&counts[kind], site_of(caller), number);
    }
    if ((int)kind != chosen_kind || number != chosen_number) {
        return false;
    }
    int error = errno;
    if (getenv("KVCAST_FAULT_REPORT") != NULL) {
        find_callers(caller);
        snprintf(text, sizeof(text), "%s %lu %s\ncallers %lx %lx %lx\n", kind_names[kind], number, function,
                 caller[0], caller[1], caller[2]);
        report(text);
    }
#ifdef __SANITIZE_ADDRESS__
    if (getenv("KVCAST_FAULT_STACK") != NULL) {
        __sanitizer_print_stack_trace();
    }
#endif
    errno = error;
    return true;
}
