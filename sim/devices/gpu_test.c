/* Kernels that are bound by instructions, by their own latency, and by the room for waves. */
#include <criterion/criterion.h>

#include "sim/devices/gpu.h"
#include "sim/devices/gpu_blocks.h"
#include "sim/engine_fixture.h"

/* A card of 13 multiprocessors with room for two blocks of 1024 threads each. */
static struct kvc_gpu card = {.sms = 13, .threads_per_sm = 2048, .blocks_per_sm = 16};

struct kernel {
    double begin_ns, end_ns;
    struct kvc_gpu_grid grid;
};

static struct kvc_gpu_blocks *blocks;

static void run_kernel(void *data)
{
    struct kernel *kernel = data;
    kvc_engine_sleep_until_ns(kernel->begin_ns);
    kvc_gpu_blocks_run(blocks, &kernel->grid);
    kernel->end_ns = kvc_engine_now_ns();
}

static void run(struct kernel *kernels, uint32_t count)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t host = kvc_test_add_host(platform, "gpu", 1);
    kvc_test_open(platform);
    blocks = kvc_gpu_blocks_create(&card, host);
    for (uint32_t i = 0; i < count; i++) {
        kvc_engine_spawn("kernel", run_kernel, &kernels[i]);
    }
    kvc_engine_run();
    cr_expect_eq(kvc_gpu_blocks_kernels(blocks), 0);
    kvc_gpu_blocks_free(blocks);
    kvc_platform_free(platform);
}

/* A task of `n` blocks that together take the whole card's time. */
static struct kernel task(double begin_ns, uint32_t n)
{
    return (struct kernel){.begin_ns = begin_ns,
                           .grid = {.blocks = n, .threads = 1024, .amount_ns = 1e6 / 26, .alone_ns = 1e6}};
}

static struct kernel packets(double begin_ns)
{
    return (struct kernel){.begin_ns = begin_ns,
                           .grid = {.blocks = 16, .threads = 64, .amount_ns = 10, .alone_ns = 2e4}};
}

static uint64_t at_once(uint32_t threads, double shared_bytes)
{
    struct kvc_gpu gpu = card;
    gpu.shared_bytes = 48e3;
    const struct kvc_gpu_grid grid = {.blocks = 1, .threads = threads, .shared_bytes = shared_bytes};
    return kvc_gpu_blocks_at_once(&gpu, &grid);
}

Test(gpu_blocks, holds_what_threads_blocks_and_shared_memory_allow)
{
    cr_expect_eq(at_once(1024, 0), 26);
    cr_expect_eq(at_once(1000, 0), 26);
    cr_expect_eq(at_once(64, 0), 13 * 16);
    cr_expect_eq(at_once(2048, 0), 13);
    cr_expect_eq(at_once(64, 10e3), 13 * 4);
    cr_expect_eq(at_once(64, 50e3), 0);
}

Test(gpu_blocks, blocks_wait_for_shared_memory)
{
    struct kernel kernels[] = {packets(0), packets(0)};
    for (uint32_t i = 0; i < 2; i++) {
        kernels[i].grid.blocks = 13;
        kernels[i].grid.shared_bytes = 30e3; /* One on a multiprocessor. */
    }
    card.shared_bytes = 48e3;
    run(kernels, 2);
    cr_expect_float_eq(kernels[0].end_ns, 2e4, 1);
    cr_expect_float_eq(kernels[1].end_ns, 4e4, 1);
}

Test(gpu_blocks, a_kernel_runs_in_as_many_rounds_as_it_needs)
{
    struct kernel kernels[] = {task(0, 256)};
    run(kernels, 1);
    cr_expect_float_eq(kernels[0].end_ns, 10e6, 1, "256 blocks, 26 at once: %g", kernels[0].end_ns);
}

Test(gpu_blocks, a_kernel_as_a_fluid_takes_as_long_alone)
{
    struct kernel kernels[] = {task(0, 30), packets(1e7)};
    run(kernels, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct kvc_gpu_kernel fluid = kvc_gpu_grid_kernel(&card, &kernels[i].grid);
        cr_expect_float_eq(fluid.alone_ns, kernels[i].end_ns - kernels[i].begin_ns, 1);
        cr_expect_leq(fluid.amount_ns, fluid.alone_ns);
    }
    /* Blocks that hold places are in the way of others, although they take little of the card. */
    double places_ns = kvc_gpu_grid_kernel(&card, &kernels[1].grid).amount_ns;
    cr_expect_float_eq(places_ns, 16 * 2e4 / (13 * 16), 1e-6, "found %g", places_ns);
}

Test(gpu_blocks, a_large_kernel_delays_a_small_one_until_it_is_placed)
{
    struct kernel kernels[] = {task(0, 256), packets(1e5)};
    run(kernels, 2);
    cr_expect(kernels[1].end_ns > 9e6 && kernels[1].end_ns < 9.1e6, "found %g", kernels[1].end_ns);
}

Test(gpu_blocks, tells_when_a_kernel_had_its_place)
{
    double placed_ns[2];
    struct kernel kernels[] = {task(0, 256), packets(1e5)};
    for (uint32_t i = 0; i < 2; i++) {
        kernels[i].grid.placed_ns = &placed_ns[i];
    }
    run(kernels, 2);
    cr_expect_float_eq(placed_ns[0], 9e6, 1, "the last of ten rounds begins: %g", placed_ns[0]);
    cr_expect_float_eq(placed_ns[1], 9e6, 1e5, "found %g", placed_ns[1]);
}

Test(gpu_blocks, small_kernels_leave_room_for_others)
{
    struct kernel kernels[] = {task(0, 16), packets(1e5)};
    run(kernels, 2);
    cr_expect(kernels[1].end_ns < 1.3e5, "found %g", kernels[1].end_ns);
    cr_expect(kernels[0].end_ns < 1.001e6, "the small kernel hardly slows the task");
}

Test(gpu_blocks, kernels_share_the_time_of_the_card)
{
    struct kernel kernels[] = {task(0, 26), task(0, 26), packets(0)};
    run(kernels, 3);
    cr_expect_float_eq(kernels[0].end_ns, 1e6, 1e3);
    cr_expect_float_eq(kernels[1].end_ns, 2e6, 1e3, "no room before the first has ended");
}

static struct kernel greedy(void)
{
    struct kernel kernel = task(0, 13);
    kernel.grid.amount_ns *= 2; /* Half of the places, but all of the memory's bandwidth. */
    return kernel;
}

Test(gpu_blocks, two_kernels_that_each_could_take_the_card_need_twice_as_long)
{
    struct kernel kernels[] = {greedy(), greedy()};
    run(kernels, 2);
    cr_expect_float_eq(kernels[0].end_ns, 2e6, 1e3);
    cr_expect_float_eq(kernels[1].end_ns, 2e6, 1e3);
}

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
