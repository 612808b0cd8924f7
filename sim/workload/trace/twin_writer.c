#include "sim/workload/trace/twin_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/batch.h"
#include "sim/workload/trace/trace.h"
#include "sim/workload/trace/twin.h"

static const double ns_per_us = 1e3;

enum {
    WINDOWS_MAX = 128,
    WINDOW_REQUESTS_MIN = 1000,
    BINS_PER_OCTAVE = 8,
    BINS = BINS_PER_OCTAVE * 40,
    SIZES_MAX = 64, /* Most pairs of sizes of a window. */
};

/* Sizes of a pair, or the sum over several pairs. */
struct sizes {
    uint64_t key_bytes, value_bytes, count;
};

/* What is written of a window. */
struct written_window {
    uint64_t requests;
    double begin_ns;
    uint64_t before; /* Rows of its first tick that are before it. */
    char *text;      /* Its other lines. */
};

/* Gathers the windows while the trace is read. */
struct writer {
    const struct kvc_trace_profile *profile;
    struct written_window window[WINDOWS_MAX];
    uint32_t begun, ended; /* Number of windows that have begun, and that have ended. */
    double window_requests;
    uint64_t rows; /* Number of rows of the trace so far. */

    uint64_t requests[KVC_OP_COUNT];                     /* Requests of the present window. */
    double fresh[KVC_OP_COUNT];                          /* Those that are sampled and for new keys. */
    double reused[KVC_OP_COUNT][KVC_REUSE_GROUPS][BINS]; /* Those that are sampled and for other keys. */
    struct sizes *sizes;
    uint32_t sized, sizes_room;

    double tick_ns, last_ns; /* Resolution of the trace's times, and the last of these. */
    uint64_t tick_rows;      /* Rows of the present tick. */
    uint32_t spread;         /* Windows that are at their places in their ticks. */
};

/* The first place of a bin. Small places have bins of their own, and some bins have none. */
static double bin_begin(int bin)
{
    return ceil(exp2((double)bin / BINS_PER_OCTAVE) * (1 - 1e-12));
}

static int bin_of(double place)
{
    int bin = (int)(BINS_PER_OCTAVE * log2(fmax(place, 1)) + 1e-9);
    return bin < BINS ? bin : BINS - 1;
}

static int by_size(const void *a, const void *b)
{
    const struct sizes *left = a, *right = b;
    uint64_t left_bytes = left->key_bytes + left->value_bytes,
             right_bytes = right->key_bytes + right->value_bytes;
    return left_bytes != right_bytes            ? (left_bytes < right_bytes ? -1 : 1)
           : left->key_bytes < right->key_bytes ? -1
                                                : left->key_bytes > right->key_bytes;
}

static void put_sizes(const struct sizes *sum, FILE *out)
{
    fprintf(out, "size,%llu,%llu,%llu\n", (unsigned long long)(sum->key_bytes / sum->count),
            (unsigned long long)((sum->value_bytes + sum->count / 2) / sum->count),
            (unsigned long long)sum->count);
}

/* Writes the sizes of new pairs: as they are, or if too many differ, the means of parts of equal counts. */
static void write_sizes(struct writer *writer, FILE *out)
{
    uint32_t different = 0, parts;
    const struct kvc_trace_facts *facts = &writer->profile->facts;
    for (uint32_t i = 0; writer->sized == 0 && i < facts->pairs; i++) {
        put_sizes(&(struct sizes){facts->pair[i].key_bytes, facts->pair[i].value_bytes, 1}, out);
    }
    qsort(writer->sizes, writer->sized, sizeof(*writer->sizes), by_size);
    for (uint32_t i = 0; i < writer->sized; i++) {
        different += i == 0 || by_size(&writer->sizes[i - 1], &writer->sizes[i]) != 0;
    }
    parts = different <= SIZES_MAX ? writer->sized : SIZES_MAX;
    struct sizes sum = {0};
    for (uint32_t i = 0; i < writer->sized; i++) {
        const struct sizes *pair = &writer->sizes[i];
        sum.key_bytes += pair->key_bytes;
        sum.value_bytes += pair->value_bytes;
        sum.count++;
        bool ends = i + 1 == writer->sized ||
                    (different <= SIZES_MAX
                         ? by_size(pair, pair + 1) != 0
                         : (uint64_t)(i + 1) * parts / writer->sized != (uint64_t)i * parts / writer->sized);
        if (ends) {
            put_sizes(&sum, out);
            sum = (struct sizes){0};
        }
    }
}

/* Writes the requests for keys of a group. */
static void write_reused(const double *reused, enum kvc_op op, uint32_t group, FILE *out)
{
    for (int bin = 0; bin < BINS; bin++) {
        if (reused[bin] > 0) {
            fprintf(out, "reuse,%s,%d,%u,%.0f,%.0f,%.9g\n", kvc_twin_ops[op], group >= KVC_REUSE_USES,
                    1u << group % KVC_REUSE_USES, bin_begin(bin),
                    fmax(bin_begin(bin + 1) - 1, bin_begin(bin)), reused[bin]);
        }
    }
}

/* Returns the requests of an operation for keys of a level of uses, stored or not, after they were scaled. */
static double scale_level(struct writer *writer, enum kvc_op op, uint32_t level, double factor)
{
    double sum = 0;
    for (uint32_t group = level; group < KVC_REUSE_GROUPS; group += KVC_REUSE_USES) {
        for (int bin = 0; bin < BINS; bin++) {
            sum += writer->reused[op][group][bin] *= factor;
        }
    }
    return sum;
}

/* Makes the requests of an operation as many as there are. A sample that has too many or too few of them has
 * the error among the most used keys (SHARDS). */
static void adjust(struct writer *writer, enum kvc_op op)
{
    double missing = (double)writer->requests[op] - writer->fresh[op];
    for (uint32_t level = 0; level < KVC_REUSE_USES; level++) {
        missing -= scale_level(writer, op, level, 1);
    }
    for (uint32_t level = KVC_REUSE_USES; level-- > 0 && fabs(missing) > 0.5;) {
        double sum = scale_level(writer, op, level, 1);
        if (sum > 0) {
            missing -= scale_level(writer, op, level, fmax(1 + missing / sum, 0)) - sum;
        }
    }
}

static void write_requests(struct writer *writer, enum kvc_op op, FILE *out)
{
    adjust(writer, op);
    if (writer->fresh[op] > 0) {
        fprintf(out, "new,%s,%.9g\n", kvc_twin_ops[op], writer->fresh[op]);
    }
    for (uint32_t group = 0; group < KVC_REUSE_GROUPS; group++) {
        write_reused(writer->reused[op][group], op, group, out);
    }
}

static void end_window(struct writer *writer)
{
    struct written_window *window = &writer->window[writer->ended++];
    size_t bytes;
    FILE *out = open_memstream(&window->text, &bytes);
    if (out == NULL) {
        kvc_out_of_memory("a window of a twin");
    }
    write_sizes(writer, out);
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        window->requests += writer->requests[op];
        write_requests(writer, (enum kvc_op)op, out);
    }
    if (fclose(out) != 0) {
        kvc_out_of_memory("a window of a twin");
    }
    memset(writer->requests, 0, sizeof(writer->requests));
    memset(writer->fresh, 0, sizeof(writer->fresh));
    memset(writer->reused, 0, sizeof(writer->reused));
    writer->sized = 0;
}

/* Moves the windows that begin in the present tick to their places in it, as if its rows were equally far
 * apart. */
static void end_tick(struct writer *writer)
{
    for (; writer->spread < writer->begun; writer->spread++) {
        struct written_window *window = &writer->window[writer->spread];
        window->begin_ns += writer->tick_ns * (double)window->before / (double)writer->tick_rows;
    }
    writer->tick_rows = 0;
}

static void add_sizes(struct writer *writer, const struct sizes *pair)
{
    if (writer->sized == writer->sizes_room) {
        writer->sizes_room = writer->sizes_room > 0 ? 2 * writer->sizes_room : 1024;
        writer->sizes = kvc_array_grown(writer->sizes, writer->sizes_room, sizeof(*writer->sizes));
    }
    writer->sizes[writer->sized++] = *pair;
}

static void add_request(void *data, const struct kvc_profiled_request *request)
{
    struct writer *writer = data;
    const struct kvc_trace_row *row = request->row;
    const struct kvc_sampled_key *key = request->key;
    if (row->time_ns != writer->last_ns && writer->tick_rows > 0) {
        end_tick(writer);
    }
    if (writer->begun == writer->ended) {
        writer->window[writer->begun++] =
            (struct written_window){.begin_ns = row->time_ns, .before = writer->tick_rows};
    }
    writer->last_ns = row->time_ns;
    writer->tick_rows++;
    writer->requests[row->op]++;
    if (key != NULL && request->place > 0) {
        uint32_t group = kvc_reuse_group(key->uses, key->is_stored);
        writer->reused[row->op][group][bin_of(request->place)] += request->scale;
    } else if (key != NULL) {
        writer->fresh[row->op] += request->scale;
    }
    /* Some formats know the size of a value only after a request that misses. */
    if (key != NULL && key->value_bytes > 0 && (request->place == 0 || key->weight == key->key_bytes)) {
        add_sizes(writer, &(struct sizes){key->key_bytes, key->value_bytes, 1});
    }
    if (++writer->rows >= writer->window_requests * (double)(writer->ended + 1)) {
        end_window(writer);
    }
}

static void write_windows(const struct writer *writer, FILE *out)
{
    const struct kvc_trace_facts *facts = &writer->profile->facts;
    fprintf(out, KVC_TWIN_SCHEMA ",%d,%d\n", facts->is_timed, facts->has_writes);
    for (uint32_t i = 0; i < writer->ended; i++) {
        const struct written_window *window = &writer->window[i];
        double end_ns = i + 1 < writer->ended ? window[1].begin_ns : writer->last_ns + writer->tick_ns;
        fprintf(out, "window,%llu,%.15g,%.15g\n%s", (unsigned long long)window->requests,
                window->begin_ns / ns_per_us, end_ns / ns_per_us, window->text);
    }
}

enum kvc_status kvc_twin_write(const char *path, const struct kvc_trace_profile *profile, FILE *out,
                               const struct kvc_progress *progress, struct kvc_diag *diag)
{
    struct kvc_trace *trace = kvc_trace_open(path, diag);
    struct kvc_trace_profile *again = kvc_array_of(1, sizeof(*again));
    struct writer *writer = kvc_array_of(1, sizeof(*writer));
    const struct kvc_profile_watch watch = {add_request, writer};
    writer->profile = profile;
    writer->window_requests = fmax(ceil(profile->facts.requests / WINDOWS_MAX), WINDOW_REQUESTS_MIN);
    writer->tick_ns = trace != NULL ? kvc_trace_tick_ns(trace) : 0;
    enum kvc_status status =
        trace != NULL ? kvc_trace_profile_read(path, again, &watch, progress, diag) : KVC_ERR_SCENARIO;
    if (status == KVC_OK) {
        if (writer->begun > writer->ended) {
            end_window(writer);
        }
        end_tick(writer);
        write_windows(writer, out);
    }
    for (uint32_t i = 0; i < writer->ended; i++) {
        free(writer->window[i].text);
    }
    kvc_trace_close(trace);
    free(writer->sizes);
    free(writer);
    free(again);
    return status;
}
