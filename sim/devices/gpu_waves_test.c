/* Kernels that are bound by instructions, by their own latency, and by the room for waves. */
#include "sim/devices/gpu_waves.h"

#include <criterion/criterion.h>

/* One GHz: a cycle is a nanosecond. */
static const struct kvc_gpu gpu = {
    .sms = 8,
    .threads_per_sm = 2560,
    .wave_threads = 64,
    .wave_issue = 1,
    .wave_gap_cycles = 4,
    .access_ns = 500,
    .clock_count = 1,
    .clocks = {{.core_hz = 1e9, .memory_hz = 1e9}},
};

static double ns_of(double threads, double instructions, double depth)
{
    return kvc_gpu_waves_ns(
        &gpu, &(struct kvc_gpu_waves){.threads = threads, .instructions = instructions, .depth = depth});
}

Test(gpu_waves, times)
{
    cr_expect_eq(ns_of(0, 100, 2), 0);
    cr_expect_float_eq(ns_of(1, 100, 2), 2 * 500 + 400, 1e-9, "one thread waits");
    cr_expect_float_eq(ns_of(20480, 100, 2), 320 * 100 / 8, 1e-9, "320 waves on eight multiprocessors");
    cr_expect_float_eq(ns_of(20480, 10, 2), 2 * 500 + 40, 1e-9, "they wait together");
    cr_expect_float_eq(ns_of(20481, 10, 2), 2 * (2 * 500 + 40), 1e-9,
                       "one wave too many takes another round");
}

Test(gpu_waves, a_faster_card_takes_less_time_for_every_kernel)
{
    static const struct kvc_gpu_waves kernels[] = {
        {1, 100, 2, 1, 1e9, 0}, {20480, 100, 2, 2, 1e9, 0}, {50000, 3, 7, 0, 0, 0}};
    struct kvc_gpu faster = gpu;
    kvc_gpu_speed_up(&faster, 1.25);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        double usual_ns = kvc_gpu_waves_ns(&gpu, &kernels[i]);
        cr_expect_float_eq(kvc_gpu_waves_ns(&faster, &kernels[i]) * 1.25, usual_ns, 1e-9 * usual_ns);
    }
}

/* Half of 100 bytes are free: of two random accesses one misses, and two are looked up at a time. */
Test(gpu_waves, translations_that_miss)
{
    struct kvc_gpu walking = gpu;
    walking.walkers = 2;
    walking.walk_ns = 400;
    walking.walk_free_bytes = 50;
    struct kvc_gpu_waves one = {.threads = 1, .depth = 3, .random = 2, .bytes = 100};
    cr_expect_float_eq(kvc_gpu_waves_ns(&walking, &one), 3 * 500 + 400, 1e-9);
    struct kvc_gpu_waves many = {.threads = 1000, .depth = 3, .random = 2, .bytes = 100};
    cr_expect_float_eq(kvc_gpu_waves_ns(&walking, &many), 1000 * 400 / 2.0, 1e-9);
    many.bytes = 40;
    cr_expect_float_eq(kvc_gpu_waves_ns(&walking, &many), 3 * 500, 1e-9);
}
