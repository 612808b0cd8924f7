#include "sim/metrics/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/array.h"

struct kvc_timeline {
    FILE *out;
    uint64_t events, max_events, left_out;
    bool any;  /* Whether the list of events has an entry. */
    int error; /* Error of the write that failed (errno); 0: none has. */
};

struct kvc_timeline *kvc_timeline_open(FILE *out, uint64_t max_events)
{
    struct kvc_timeline *timeline = kvc_array_of(1, sizeof(*timeline));
    *timeline = (struct kvc_timeline){.out = out, .max_events = max_events};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    return timeline;
}

/* Empties the file after a failed write. Returns whether there was none. */
static bool check(struct kvc_timeline *timeline)
{
    if (timeline->error == 0 && ferror(timeline->out)) {
        timeline->error = errno != 0 ? errno : EIO;
        __fpurge(timeline->out);
        bool emptied =
            ftruncate(fileno(timeline->out), 0) == 0; /* If this fails, its owner removes the file later. */
        (void)emptied;
    }
    return timeline->error == 0;
}

static void separate(struct kvc_timeline *timeline)
{
    fputs(timeline->any ? ",\n" : "\n", timeline->out);
    timeline->any = true;
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        if ((unsigned char)*text >= ' ') {
            fputc(*text, out);
        }
    }
    fputc('"', out);
}

static void write_name(struct kvc_timeline *timeline, const char *kind, uint32_t process, uint32_t thread,
                       const char *name)
{
    separate(timeline);
    fprintf(timeline->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", kind,
            process, thread);
    write_text(timeline->out, name);
    fputs("}}", timeline->out);
}

void kvc_timeline_row(struct kvc_timeline *timeline, uint32_t process, uint32_t thread,
                      const char *process_name, const char *thread_name)
{
    if (timeline == NULL || timeline->error != 0) {
        return;
    }
    errno = 0;
    write_name(timeline, "process_name", process, thread, process_name);
    write_name(timeline, "thread_name", process, thread, thread_name);
    check(timeline);
}

void kvc_timeline_event(struct kvc_timeline *timeline, uint32_t process, uint32_t thread, const char *name,
                        double start_ns, double duration_ns, uint64_t count)
{
    if (timeline == NULL || timeline->error != 0) {
        return;
    }
    if (timeline->events == timeline->max_events) {
        timeline->left_out++;
        return;
    }
    timeline->events++;
    errno = 0;
    separate(timeline);
    fputs("{\"ph\":\"X\",\"name\":", timeline->out);
    write_text(timeline->out, name);
    fprintf(timeline->out, ",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"args\":{\"requests\":%llu}}",
            process, thread, start_ns / 1e3, duration_ns / 1e3, (unsigned long long)count);
    check(timeline);
}

int kvc_timeline_close(struct kvc_timeline *timeline)
{
    if (timeline == NULL) {
        return 0;
    }
    if (timeline->error == 0) {
        errno = 0;
        fprintf(timeline->out, "\n],\"otherData\":{\"events_left_out\":%llu}}\n",
                (unsigned long long)timeline->left_out);
        fflush(timeline->out);
        check(timeline);
    }
    int error = timeline->error;
    free(timeline);
    return error;
}
