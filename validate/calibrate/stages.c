#include "validate/calibrate/stages.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"
#include "kernels/memory.h"
#include "sim/base/rng.h"
#include "validate/measure/receive.h"

enum {
    HASH_SEED = 1,
    KEY_BYTES = 8,
    LINE_BYTES = 64,
    LOCATION_BYTES = 4,
    BATCH = 1024,
    BATCHES = 64, /* of a timed turn */
    JOBS_MAX = 65536,
    LAUNCH_JOBS = 262144, /* of a timed turn, in launches of the size that is looked at */
    PACKET_BYTES = 64 << 20,
    FRAME_BYTES = 1472, /* of requests, in a basic Ethernet frame */
    FRAME_REQUESTS = FRAME_BYTES / (KVC_REQUEST_HEADER_BYTES + KEY_BYTES),
    FRAMES = BATCH * BATCHES / FRAME_REQUESTS,
    BUFFERS = 3, /* as Mega-KV's pipelines have by default */
    BUFFER_ROWS = 16384,
    VALUE_BYTES_MAX = 2048,
    OUT_BYTES = 4 << 20, /* of the responses' ring */
    DISPLACEMENTS_MAX = 100,
};

static const double load_frac = 0.7;

static const uint32_t values[] = {8, 64, 256, 512, 1024, VALUE_BYTES_MAX};

static uint64_t key_of(uint64_t number)
{
    return kvc_mix64(number + 0x9e3779b97f4a7c15);
}

static enum kvc_status out_of_memory(const char *what, uint64_t bytes, struct kvc_diag *diag)
{
    return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %s of %llu MiB", what,
                         (unsigned long long)(bytes >> 20));
}

static void add_point(struct kvc_law *law, double x, double ns)
{
    law->x[law->count] = x;
    law->ns[law->count++] = ns;
}

static enum kvc_status fit_law(struct kvc_law *law, struct kvc_diag *diag)
{
    return kvc_fit_line(law->x, law->ns, law->count, &law->fit, diag);
}

/* ---- receiver: requests out of packets ---- */

/* Frames of GETs behind one another, and a pipeline's buffers that they go into by turns. */
struct receiver {
    uint8_t *packets;
    uint32_t frames, next_frame;
    uint32_t buffer; /* that is being filled */
    struct kvc_buffer buffers[BUFFERS];
    struct kvc_frame_sets sets;
};

static void fill_packets(struct receiver *receiver)
{
    const uint32_t request_bytes = KVC_REQUEST_HEADER_BYTES + KEY_BYTES;
    uint64_t number = 0;
    for (; (receiver->frames + 1) * FRAME_BYTES <= PACKET_BYTES; receiver->frames++) {
        uint8_t *at = receiver->packets + (size_t)receiver->frames * FRAME_BYTES;
        for (uint32_t left = FRAME_BYTES; left >= request_bytes; left -= request_bytes) {
            uint64_t key = key_of(number++);
            struct kvc_request request = {KVC_REQUEST_GET, KEY_BYTES, 0, (const uint8_t *)&key, NULL};
            at = kvc_request_write(at, &request);
        }
    }
}

/* As many requests as BATCHES batches have, about. */
static void receive_frames(void *data, uint32_t turn)
{
    struct receiver *receiver = data;
    (void)turn;
    for (uint32_t f = 0; f < FRAMES; f++) {
        struct kvc_buffer *buffer = &receiver->buffers[receiver->buffer];
        if (buffer->rows + FRAME_REQUESTS > buffer->room) {
            receiver->buffer = (receiver->buffer + 1) % BUFFERS;
            buffer = &receiver->buffers[receiver->buffer];
            kvc_buffer_clear(buffer);
        }
        kvc_receive_frame(buffer, receiver->packets + (size_t)receiver->next_frame * FRAME_BYTES, FRAME_BYTES,
                          HASH_SEED, 0, &receiver->sets);
        receiver->next_frame = (receiver->next_frame + 1) % receiver->frames;
    }
}

static enum kvc_status measure_receiver(struct kvc_stage_costs *costs, struct kvc_diag *diag)
{
    static struct receiver receiver;
    memset(&receiver, 0, sizeof receiver);
    receiver.packets = kvc_memory_alloc(PACKET_BYTES);
    bool opened = receiver.packets != NULL;
    for (uint32_t i = 0; i < BUFFERS; i++)
        opened = kvc_buffer_open(&receiver.buffers[i], BUFFER_ROWS, KEY_BYTES, false) && opened;
    if (opened) {
        fill_packets(&receiver);
        costs->receive_ns =
            kvc_probe(NULL, receive_frames, &receiver).median_s / (FRAMES * FRAME_REQUESTS) * 1e9;
    }
    for (uint32_t i = 0; i < BUFFERS; i++)
        kvc_buffer_close(&receiver.buffers[i]);
    kvc_memory_free(receiver.packets, PACKET_BYTES);
    return opened ? KVC_OK : out_of_memory("packets", PACKET_BYTES, diag);
}

/* ---- slabs: items of one size ---- */

struct items {
    struct kvc_slab *slab;
    uint32_t value_bytes;
    uint64_t count;                     /* that fit; key i is key_of(i) until they are evicted */
    uint64_t written;                   /* keys ever written */
    uint32_t *location;                 /* of key i of the first `count` */
    uint64_t read_key[BATCH * BATCHES]; /* of one turn */
    uint32_t read_location[BATCH * BATCHES];
    uint8_t *out;
    uint32_t out_position;
    struct kvc_slab_stats stats;
    uint64_t missed;
};

static void write_batch(struct items *items, uint32_t count, uint32_t *location)
{
    static const uint8_t value[VALUE_BYTES_MAX];
    struct kvc_evicted evicted[BATCH];
    uint32_t evicted_count;
    uint32_t got = kvc_slab_alloc(items->slab, KEY_BYTES, items->value_bytes, count, location, evicted,
                                  &evicted_count, &items->stats);
    for (uint32_t i = 0; i < got; i++) {
        uint64_t key = key_of(items->written++);
        kvc_slab_write(items->slab, location[i], &key, KEY_BYTES, value, items->value_bytes, &items->stats);
    }
}

static void write_evicting(void *data, uint32_t turn)
{
    uint32_t location[BATCH];
    (void)turn;
    for (uint32_t b = 0; b < BATCHES; b++)
        write_batch(data, BATCH, location);
}

static void draw_reads(void *data, uint32_t turn)
{
    struct items *items = data;
    for (uint32_t i = 0; i < BATCH * BATCHES; i++) {
        uint64_t number = kvc_mix64((uint64_t)turn * BATCH * BATCHES + i) % items->count;
        items->read_key[i] = key_of(number);
        items->read_location[i] = items->location[number];
    }
}

static void read_batches(void *data, uint32_t turn)
{
    struct items *items = data;
    uint8_t key_bytes[BATCH], result[BATCH];
    struct kvc_slab_reads reads = {.count = BATCH,
                                   .key_stride = KEY_BYTES,
                                   .key_bytes = key_bytes,
                                   .compare = true,
                                   .out = items->out,
                                   .out_bytes = OUT_BYTES,
                                   .out_position = &items->out_position,
                                   .result = result};
    (void)turn;
    memset(key_bytes, KEY_BYTES, sizeof key_bytes);
    for (uint32_t b = 0; b < BATCHES; b++) {
        reads.location = items->read_location + b * BATCH;
        reads.keys = (const uint8_t *)(items->read_key + b * BATCH);
        kvc_slab_read(items->slab, &reads, &items->stats);
        for (uint32_t i = 0; i < BATCH; i++)
            items->missed += result[i] != KVC_READ_HIT;
    }
}

static double lines_of(uint32_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES;
}

/* Fills the slabs; page faults are no cost of a store at work. */
static void fill_items(struct items *items)
{
    uint32_t location[BATCH];
    for (uint64_t i = 0; i < items->count; i += BATCH) {
        uint32_t count = items->count - i < BATCH ? (uint32_t)(items->count - i) : BATCH;
        write_batch(items, count, location);
        memcpy(items->location + i, location, count * sizeof *location);
    }
}

/* A slab numbers its items with 16 bits, of which two numbers are no locations. */
static uint64_t items_of_slab(uint32_t item_bytes)
{
    uint64_t items = KVC_SLAB_BYTES / item_bytes;
    return items < UINT16_MAX - 1 ? items : UINT16_MAX - 1;
}

static enum kvc_status measure_items(uint32_t value_bytes, uint64_t slab_bytes, struct kvc_stage_costs *costs,
                                     struct kvc_diag *diag)
{
    static struct items items;
    enum kvc_status status = KVC_OK;
    uint32_t item_bytes = kvc_slab_item_bytes(KEY_BYTES, value_bytes);
    items = (struct items){.slab = kvc_slab_create(slab_bytes, HASH_SEED), .value_bytes = value_bytes};
    items.count = slab_bytes / KVC_SLAB_BYTES * items_of_slab(item_bytes);
    items.location = malloc(items.count * sizeof *items.location);
    items.out = malloc(OUT_BYTES);
    if (items.slab == NULL || items.location == NULL || items.out == NULL) {
        status = out_of_memory("slabs", slab_bytes, diag);
    } else {
        double per_item = 1e9 / (BATCH * BATCHES);
        double more_lines = lines_of(KVC_SLAB_HEADER_BYTES + KEY_BYTES + value_bytes) - 1;
        double read_streams = (LOCATION_BYTES + value_bytes) / (double)LINE_BYTES;
        double write_streams = (KEY_BYTES + value_bytes) / (double)LINE_BYTES;
        fill_items(&items);
        add_point(&costs->read, more_lines + read_streams,
                  kvc_probe(draw_reads, read_batches, &items).median_s * per_item);
        add_point(&costs->write, more_lines + write_streams,
                  kvc_probe(NULL, write_evicting, &items).median_s * per_item);
        if (items.missed > 0)
            status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "%llu of the items that were written are not found",
                                   (unsigned long long)items.missed);
    }
    free(items.location);
    free(items.out);
    kvc_slab_free(items.slab);
    return status;
}

/* ---- index: launches of several sizes ---- */

struct launches {
    struct kvc_index *index;
    uint64_t held;
    uint32_t jobs; /* of a launch */
    uint64_t *hash;
    uint32_t *location, *out;
    uint64_t turns; /* drawn so far */
    struct kvc_index_stats stats;
};

static uint64_t hash_of(uint64_t number)
{
    uint64_t key = key_of(number);
    return kvc_hash(&key, sizeof key, HASH_SEED);
}

/* Of keys that are held; other ones every time, whatever the turn's number. */
static void draw_jobs(void *data, uint32_t turn)
{
    struct launches *launches = data;
    (void)turn;
    for (uint32_t i = 0; i < LAUNCH_JOBS; i++) {
        uint64_t number = kvc_mix64(launches->turns * LAUNCH_JOBS + i) % launches->held;
        launches->hash[i] = hash_of(number);
        launches->location[i] = (uint32_t)number;
    }
    launches->turns++;
}

static void search_launches(void *data, uint32_t turn)
{
    struct launches *launches = data;
    (void)turn;
    for (uint32_t done = 0; done < LAUNCH_JOBS; done += launches->jobs)
        kvc_index_search(launches->index, launches->hash + done, launches->jobs, launches->out + done,
                         &launches->stats);
}

/* Of keys that the index holds, as SETs of a store at work mostly are. */
static void insert_launches(void *data, uint32_t turn)
{
    struct launches *launches = data;
    (void)turn;
    for (uint32_t done = 0; done < LAUNCH_JOBS; done += launches->jobs)
        kvc_index_insert(launches->index, launches->hash + done, launches->location + done, launches->jobs,
                         launches->out + done, &launches->stats);
}

static void fill_index(struct launches *launches)
{
    uint64_t count;
    for (uint64_t done = 0; done < launches->held; done += count) {
        count = launches->held - done < LAUNCH_JOBS ? launches->held - done : LAUNCH_JOBS;
        for (uint64_t i = 0; i < count; i++) {
            launches->hash[i] = hash_of(done + i);
            launches->location[i] = (uint32_t)(done + i);
        }
        kvc_index_insert(launches->index, launches->hash, launches->location, (uint32_t)count, NULL,
                         &launches->stats);
    }
}

static void measure_launches(struct launches *launches, struct kvc_steadiness *steadiness,
                             struct kvc_stage_costs *costs)
{
    fill_index(launches);
    for (launches->jobs = 256; launches->jobs <= JOBS_MAX; launches->jobs *= 2) {
        double per_launch = 1e9 * launches->jobs / LAUNCH_JOBS;
        add_point(&costs->search, launches->jobs,
                  kvc_probe(draw_jobs, search_launches, launches).median_s * per_launch);
        add_point(&costs->insert, launches->jobs,
                  kvc_probe(draw_jobs, insert_launches, launches).median_s * per_launch);
        kvc_steadiness_check(steadiness);
    }
}

static enum kvc_status measure_index(uint64_t index_bytes, struct kvc_steadiness *steadiness,
                                     struct kvc_stage_costs *costs, struct kvc_diag *diag)
{
    struct kvc_cuckoo_params params = {.bytes = index_bytes, .max_displacements = DISPLACEMENTS_MAX};
    struct launches launches = {
        .index = kvc_cuckoo_create(&params),
        .held = (uint64_t)(load_frac * (double)(index_bytes / 8)),
        .hash = malloc(LAUNCH_JOBS * sizeof *launches.hash),
        .location = malloc(LAUNCH_JOBS * sizeof *launches.location),
        .out = malloc(LAUNCH_JOBS * sizeof *launches.out),
    };
    enum kvc_status status = KVC_OK;
    if (launches.index == NULL || launches.hash == NULL || launches.location == NULL || launches.out == NULL)
        status = out_of_memory("index", index_bytes, diag);
    else
        measure_launches(&launches, steadiness, costs);
    free(launches.hash);
    free(launches.location);
    free(launches.out);
    kvc_index_free(launches.index);
    return status;
}

static void report(const struct kvc_progress *progress, const char *step, double fraction)
{
    if (progress != NULL)
        progress->report(progress->data, step, fraction);
}

enum kvc_status kvc_stages_measure(const struct kvc_stage_params *params, struct kvc_steadiness *steadiness,
                                   const struct kvc_progress *progress, struct kvc_stage_costs *costs,
                                   struct kvc_diag *diag)
{
    enum { SIZES = sizeof values / sizeof *values };
    *costs = (struct kvc_stage_costs){0};
    report(progress, "receiver", 0);
    enum kvc_status status = measure_receiver(costs, diag);
    for (uint32_t i = 0; status == KVC_OK && i < SIZES; i++) {
        report(progress, "items", (0.5 + i) / (SIZES + 3));
        status = measure_items(values[i], params->slab_bytes, costs, diag);
        kvc_steadiness_check(steadiness);
    }
    report(progress, "index", (0.5 + SIZES) / (SIZES + 3));
    if (status == KVC_OK)
        status = measure_index(params->index_bytes, steadiness, costs, diag);
    struct kvc_law *const laws[] = {&costs->read, &costs->write, &costs->search, &costs->insert};
    for (size_t i = 0; status == KVC_OK && i < sizeof laws / sizeof *laws; i++)
        status = fit_law(laws[i], diag);
    return status;
}
