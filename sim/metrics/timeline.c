#include "sim/metrics/timeline.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/partial_file.h"

struct kvc_timeline {
    struct kvc_partial_file partial;
    FILE *out; /* The file of `partial`. */
    uint64_t events, max_events, left_out;
    bool any; /* Something was written to the list of events. */
};

struct kvc_timeline *kvc_timeline_open(const char *path, uint64_t max_events, struct kvc_diag *diag)
{
    struct kvc_timeline *timeline = calloc(1, sizeof(*timeline));
    if (timeline == NULL) {
        kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "no memory for a timeline");
        return NULL;
    }
    if (kvc_partial_file_open(&timeline->partial, path, diag) != KVC_OK) {
        if (diag != NULL) {
            diag->status = KVC_ERR_RUNTIME; /* Paths that users name are checked before the run. */
        }
        free(timeline);
        return NULL;
    }
    timeline->out = timeline->partial.file;
    timeline->max_events = max_events;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", timeline->out);
    return timeline;
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
    if (timeline == NULL) {
        return;
    }
    write_name(timeline, "process_name", process, thread, process_name);
    write_name(timeline, "thread_name", process, thread, thread_name);
}

void kvc_timeline_event(struct kvc_timeline *timeline, uint32_t process, uint32_t thread, const char *name,
                        double start_ns, double duration_ns, uint64_t count)
{
    if (timeline == NULL) {
        return;
    }
    if (timeline->events == timeline->max_events) {
        timeline->left_out++;
        return;
    }
    timeline->events++;
    separate(timeline);
    fputs("{\"ph\":\"X\",\"name\":", timeline->out);
    write_text(timeline->out, name);
    fprintf(timeline->out, ",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"args\":{\"requests\":%llu}}",
            process, thread, start_ns / 1e3, duration_ns / 1e3, (unsigned long long)count);
}

enum kvc_status kvc_timeline_close(struct kvc_timeline *timeline, struct kvc_diag *diag)
{
    if (timeline == NULL) {
        return KVC_OK;
    }
    fprintf(timeline->out, "\n],\"otherData\":{\"events_left_out\":%llu}}\n",
            (unsigned long long)timeline->left_out);
    enum kvc_status status = kvc_partial_file_commit(&timeline->partial, diag);
    free(timeline);
    return status;
}
