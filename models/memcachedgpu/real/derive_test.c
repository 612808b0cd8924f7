#include "models/memcachedgpu/real/calibrate.h"

#include <criterion/criterion.h>

/* A card with known costs: a block takes 3 accesses to memory, 2 to the cache, 900 cycles, and 7 cycles for
 * each byte of the key beyond 16. */
static const double clock_ghz = 1.5, near_cycles = 250, far_cycles = 700, own_cycles = 900, key_cycles = 7,
                    packet_cycles = 60;
enum { MULTIPROCESSORS = 100 };

static void add(struct kvc_memcachedgpu_survey *survey, uint32_t key_bytes, uint32_t packets, bool hits,
                enum kvc_memcachedgpu_lines lines)
{
    double access = lines == KVC_MEMCACHEDGPU_LINES_NEAR ? near_cycles : far_cycles;
    double cycles = own_cycles + 2 * near_cycles + 3 * access + key_cycles * (key_bytes - 16.0);
    double kernel_ns = cycles / clock_ghz +
                       packets * packet_cycles / MULTIPROCESSORS / clock_ghz; /* The base is arbitrary. */
    survey->batch[survey->batches++] = (struct kvc_memcachedgpu_survey_batch){
        .key_bytes = key_bytes,
        .packets = packets,
        .hits = hits,
        .lines = lines,
        .block_cycles.middle = 1, /* The median block does not count. */
        .kernel_ns.middle = hits ? kernel_ns : 1,
    };
}

static void fill(struct kvc_memcachedgpu_survey *survey)
{
    static const uint32_t key_bytes[] = {16, 64, 128}, packets[] = {32, 512, 8192, 65536};
    *survey = (struct kvc_memcachedgpu_survey){
        .near = {near_cycles / clock_ghz, near_cycles},
        .far = {far_cycles / clock_ghz, far_cycles},
        .multiprocessors = MULTIPROCESSORS,
        .set_cycles.middle = 3000,
        .answer_near_ns.middle = 12,
    };
    for (int k = 0; k < 3; k++) {
        for (int p = 0; p < 4; p++) {
            for (uint32_t lines = 0; lines < KVC_MEMCACHEDGPU_LINES_COUNT; lines++) {
                add(survey, key_bytes[k], packets[p], true, lines);
                add(survey, key_bytes[k], packets[p], false, lines);
            }
        }
    }
    /* 512 packets take 6 us at most; copies slow large batches, and kernels of a background task wait. */
    survey->streams[0] = (struct kvc_memcachedgpu_survey_streams){.packets = 512, .copied = true, .mops = 80};
    survey->streams[1] = (struct kvc_memcachedgpu_survey_streams){
        .packets = 512, .copied = true, .streams = 4, .mops = 512 / 6.0};
    survey->streams[2] = (struct kvc_memcachedgpu_survey_streams){.packets = 512, .mops = 200};
    survey->streams[3] =
        (struct kvc_memcachedgpu_survey_streams){.packets = 8192, .copied = true, .mops = 300};
    survey->streams_count = 4;
}

static struct kvc_memcachedgpu_survey survey;

Test(memcachedgpu_real_derive, finds_what_the_survey_was_made_of)
{
    struct kvc_memcachedgpu_derived derived;
    fill(&survey);
    cr_assert(kvc_memcachedgpu_derive(&survey, &derived));
    cr_assert_float_eq(derived.clock_hz, clock_ghz * 1e9, 1);
    cr_assert_float_eq(derived.accesses, 3, 1e-9);
    cr_assert_float_eq(derived.block_cycles,
                       own_cycles + 2 * near_cycles + 512 * packet_cycles / MULTIPROCESSORS, 1e-6);
    cr_assert_float_eq(derived.key_cycles, key_cycles, 1e-9);
    cr_assert_float_eq(derived.packet_cycles, packet_cycles, 1e-6);
    cr_assert_float_eq(derived.call_ns, 1000, 1e-9, "6 us of six calls");
    cr_assert_float_eq(derived.set_cycles, 3000 - 3 * far_cycles, 1e-6);
    cr_assert_eq(derived.answer_ns, 12);
}

Test(memcachedgpu_real_derive, needs_single_blocks_and_large_batches)
{
    struct kvc_memcachedgpu_derived derived;
    fill(&survey);
    survey.batches = 0;
    cr_assert_not(kvc_memcachedgpu_derive(&survey, &derived), "no batches");
    add(&survey, 16, 512, true, KVC_MEMCACHEDGPU_LINES_ARRIVED);
    add(&survey, 16, 512, true, KVC_MEMCACHEDGPU_LINES_NEAR);
    cr_assert_not(kvc_memcachedgpu_derive(&survey, &derived), "keys of one length, batches of one size");
    fill(&survey);
    survey.streams_count = 1;
    survey.streams[0].background_blocks = 256;
    cr_assert_not(kvc_memcachedgpu_derive(&survey, &derived), "no stream without a background task");
    fill(&survey);
    survey.near = survey.far;
    cr_assert_not(kvc_memcachedgpu_derive(&survey, &derived), "no difference between cache and memory");
}
