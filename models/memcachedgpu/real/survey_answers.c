/* Responses of a GNoM-post thread. */
#include <stdlib.h>
#include <string.h>

#include "models/memcachedgpu/real/answer.h"
#include "models/memcachedgpu/real/survey.h"
#include "models/memcachedgpu/real/traffic.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

enum {
    BATCH = 512,
    KEY_BYTES = 16,
    VALUE_BYTES = 2,
    STRIDE_BYTES = 128,
    FRAMES = 512,
    REPETITIONS = 201,
    SETTLING = 20,
};

static const uint64_t near_slabs_bytes = 1 << 16, far_slabs_bytes = UINT64_C(1) << 30,
                      far_quick_bytes = UINT64_C(1) << 28;

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct kvc_memcachedgpu_median kvc_memcachedgpu_median_of(double *value, uint32_t count)
{
    qsort(value, count, sizeof(*value), by_value);
    return (struct kvc_memcachedgpu_median){
        .middle = value[count / 2], .low = value[count / 4], .high = value[3 * count / 4]};
}

/* Heads and results of a batch of hits, as the kernel writes them. */
struct batch {
    uint8_t *heads;
    struct kvc_memcachedgpu_get_result result[BATCH];
};

static void write_heads(struct batch *batch)
{
    struct kvc_memcachedgpu_real_layout layout = kvc_memcachedgpu_real_layout_of(1, KEY_BYTES);
    uint8_t *image = calloc(1, layout.image_bytes), key[KVC_MEMCACHEDGPU_REAL_KEY_ROOM];
    if (image == NULL) {
        kvc_out_of_memory("a packet");
    }
    for (uint32_t i = 0; i < BATCH; i++) {
        const struct kvc_memcachedgpu_packet_item item = {.found = true, .value_bytes = VALUE_BYTES};
        struct kvc_memcachedgpu_get_batch one;
        kvc_memcachedgpu_text_key(key, i, KEY_BYTES);
        kvc_memcachedgpu_real_put(&layout, image, 0, key, KEY_BYTES);
        one = kvc_memcachedgpu_real_batch_of(&layout, image, 1, 0);
        batch->result[i] = (struct kvc_memcachedgpu_get_result){
            .value_bytes = VALUE_BYTES,
            .key_bytes = KEY_BYTES,
            .response_bytes = (uint16_t)kvc_memcachedgpu_packet_respond(
                one.packets, one.packet->bytes, KEY_BYTES, &item,
                batch->heads + (uint64_t)i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES)};
    }
    free(image);
}

/* Times batches whose values are anywhere in the slabs. Returns the time of a response. */
static bool time_answers(struct batch *batch, uint64_t slabs_bytes, struct kvc_memcachedgpu_median *ns)
{
    struct kvc_memcachedgpu_real_slabs slabs;
    struct kvc_memcachedgpu_real_answerer answerer = {.answered = 0};
    struct kvc_rng rng;
    double took_ns[REPETITIONS];
    bool opened = kvc_memcachedgpu_real_slabs_open(&slabs, slabs_bytes / STRIDE_BYTES, STRIDE_BYTES) &&
                  kvc_memcachedgpu_real_answerer_open(&answerer, &slabs, FRAMES);
    kvc_rng_init(&rng, 1, "answer measurement", 0);
    for (int i = -SETTLING; opened && i < REPETITIONS; i++) {
        for (uint32_t p = 0; p < BATCH; p++) {
            batch->result[p].location = (uint32_t)kvc_rng_below(&rng, slabs.count);
        }
        double from_s = kvc_clock_wall_s();
        kvc_memcachedgpu_real_answer(&answerer, batch->heads, batch->result, BATCH);
        if (i >= 0) {
            took_ns[i] = (kvc_clock_wall_s() - from_s) * 1e9 / BATCH;
        }
    }
    if (opened) {
        *ns = kvc_memcachedgpu_median_of(took_ns, REPETITIONS);
    }
    kvc_memcachedgpu_real_answerer_close(&answerer);
    kvc_memcachedgpu_real_slabs_close(&slabs);
    return opened;
}

enum kvc_status kvc_memcachedgpu_survey_answers(struct kvc_memcachedgpu_survey *survey, bool quick,
                                                struct kvc_diag *diag)
{
    struct batch *batch = calloc(1, sizeof(*batch));
    bool measured = batch != NULL;
    if (measured) {
        batch->heads = aligned_alloc(64, (uint64_t)BATCH * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
        measured = batch->heads != NULL;
    }
    if (measured) {
        write_heads(batch);
        measured = time_answers(batch, near_slabs_bytes, &survey->answer_near_ns) &&
                   time_answers(batch, quick ? far_quick_bytes : far_slabs_bytes, &survey->answer_far_ns);
        free(batch->heads);
    }
    free(batch);
    return measured ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for values and frames");
}
