#include "sim/devices/gpu_blocks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/engine.h"

/* Room that is left on a multiprocessor. */
struct room {
    uint32_t threads, blocks;
    double shared_bytes;
};

struct kvc_gpu_blocks {
    uint32_t host, sms;
    struct room *room;
    /* Multiprocessor at which the search for room starts; blocks are spread over the card. */
    uint32_t next_sm;
    struct kvc_gate *turn;  /* Held by the kernel that places its blocks. */
    struct kvc_gate *freed; /* Opens when blocks end while a kernel waits for room. */
    bool waits;
    uint32_t kernels;
};

/* A running kernel. */
struct kernel {
    struct kvc_gpu_blocks *blocks;
    const struct kvc_gpu_grid *grid;
    uint32_t waves; /* Waves that have an actor each. */
    struct kvc_gate *ended;
};

/* Blocks that were placed at one moment. */
struct wave {
    struct kernel *kernel;
    uint32_t count;
    uint32_t sm[]; /* Multiprocessor of each block. */
};

static struct room empty(const struct kvc_gpu *gpu)
{
    return (struct room){(uint32_t)gpu->threads_per_sm, (uint32_t)gpu->blocks_per_sm,
                         gpu->shared_bytes > 0 ? gpu->shared_bytes : INFINITY};
}

static bool holds(const struct room *room, const struct kvc_gpu_grid *grid)
{
    return room->blocks > 0 && room->threads >= grid->threads && room->shared_bytes >= grid->shared_bytes;
}

uint64_t kvc_gpu_blocks_at_once(const struct kvc_gpu *gpu, const struct kvc_gpu_grid *grid)
{
    struct room room = empty(gpu);
    double blocks = fmin(room.blocks, room.threads / grid->threads);
    if (grid->shared_bytes > 0) {
        blocks = fmin(blocks, floor(room.shared_bytes / grid->shared_bytes));
    }
    return gpu->sms * (uint64_t)blocks;
}

struct kvc_gpu_grid kvc_gpu_grid_of(const struct kvc_gpu *gpu, const struct kvc_gpu_clock *clock,
                                    const struct kvc_gpu_block_work *work)
{
    double cycle_ns = 1e9 / clock->core_hz;
    double blocks = fmax(ceil(work->jobs / work->block_jobs), 1);
    double issue_cycles = fmin(work->jobs, work->block_jobs) * work->job_cycles;
    double issue_ns = work->jobs * work->job_cycles * cycle_ns / (double)gpu->sms;
    double memory_ns = work->sectors / kvc_gpu_sectors_per_s(gpu) * 1e9;
    return (struct kvc_gpu_grid){.blocks = (uint32_t)blocks,
                                 .threads = work->threads,
                                 .shared_bytes = work->shared_bytes,
                                 .amount_ns = fmax(issue_ns, memory_ns) / blocks,
                                 .alone_ns = fmax(work->block_cycles, issue_cycles) * cycle_ns +
                                             work->accesses * gpu->access_ns};
}

struct kvc_gpu_kernel kvc_gpu_grid_kernel(const struct kvc_gpu *gpu, const struct kvc_gpu_grid *grid)
{
    double at_once = (double)kvc_gpu_blocks_at_once(gpu, grid), blocks = grid->blocks;
    double amount_ns = blocks * fmax(grid->amount_ns, grid->alone_ns / at_once);
    return (struct kvc_gpu_kernel){
        .latency_ns = gpu->launch_ns,
        .amount_ns = amount_ns,
        .alone_ns = fmax(ceil(blocks / at_once) * grid->alone_ns, blocks * grid->amount_ns)};
}

struct kvc_gpu_blocks *kvc_gpu_blocks_create(const struct kvc_gpu *gpu, uint32_t host)
{
    struct kvc_gpu_blocks *blocks = kvc_array_of(1, sizeof(*blocks));
    *blocks = (struct kvc_gpu_blocks){.host = host,
                                      .sms = (uint32_t)gpu->sms,
                                      .room = kvc_array_of(gpu->sms, sizeof(*blocks->room)),
                                      .turn = kvc_gate_create(1),
                                      .freed = kvc_gate_create(0)};
    for (uint32_t i = 0; i < blocks->sms; i++) {
        blocks->room[i] = empty(gpu);
    }
    return blocks;
}

void kvc_gpu_blocks_free(struct kvc_gpu_blocks *blocks)
{
    if (blocks != NULL) {
        kvc_gate_free(blocks->turn);
        kvc_gate_free(blocks->freed);
        free(blocks->room);
        free(blocks);
    }
}

uint32_t kvc_gpu_blocks_kernels(const struct kvc_gpu_blocks *blocks)
{
    return blocks->kernels;
}

/* Places up to `most` blocks of the kernel, at most one on a multiprocessor before the next one's turn.
 * Returns NULL if there is no room. */
static struct wave *place(struct kernel *kernel, uint32_t most)
{
    struct kvc_gpu_blocks *blocks = kernel->blocks;
    const struct kvc_gpu_grid *grid = kernel->grid;
    struct wave *wave = malloc(sizeof(*wave) + most * sizeof(*wave->sm));
    if (wave == NULL) {
        kvc_out_of_memory("%u blocks of a kernel", most);
    }
    *wave = (struct wave){.kernel = kernel};
    for (uint32_t full = 0; wave->count < most && full < blocks->sms;) {
        struct room *room = &blocks->room[blocks->next_sm];
        if (holds(room, grid)) {
            room->threads -= grid->threads;
            room->shared_bytes -= grid->shared_bytes;
            room->blocks--;
            wave->sm[wave->count++] = blocks->next_sm;
            full = 0;
        } else {
            full++;
        }
        blocks->next_sm = (blocks->next_sm + 1) % blocks->sms;
    }
    if (wave->count == 0) {
        free(wave);
        return NULL;
    }
    return wave;
}

static void run_wave(struct wave *wave)
{
    struct kvc_gpu_blocks *blocks = wave->kernel->blocks;
    const struct kvc_gpu_grid *grid = wave->kernel->grid;
    kvc_engine_work(&(struct kvc_draw){blocks->host, wave->count * grid->amount_ns, grid->alone_ns}, 1);
    for (uint32_t i = 0; i < wave->count; i++) {
        blocks->room[wave->sm[i]].threads += grid->threads;
        blocks->room[wave->sm[i]].shared_bytes += grid->shared_bytes;
        blocks->room[wave->sm[i]].blocks++;
    }
    free(wave);
    if (blocks->waits) {
        blocks->waits = false;
        kvc_gate_post(blocks->freed);
    }
}

static void wave_main(void *data)
{
    struct wave *wave = data;
    struct kernel *kernel = wave->kernel;
    run_wave(wave);
    kvc_gate_post(kernel->ended);
}

void kvc_gpu_blocks_run(struct kvc_gpu_blocks *blocks, const struct kvc_gpu_grid *grid)
{
    struct kernel kernel = {.blocks = blocks, .grid = grid};
    uint32_t left = grid->blocks;
    struct wave *last = NULL;
    blocks->kernels++;
    kvc_gate_wait(blocks->turn);
    while (left > 0) {
        struct wave *wave = place(&kernel, left);
        if (wave == NULL) {
            if (blocks->kernels == 1 && kernel.waves == 0) {
                KVC_BUG("no multiprocessor holds a block of %u threads", grid->threads);
            }
            blocks->waits = true;
            kvc_gate_wait(blocks->freed);
            continue;
        }
        left -= wave->count;
        if (left == 0) { /* The usual kernel has one wave, which needs no actor of its own. */
            last = wave;
            break;
        }
        if (kernel.ended == NULL) {
            kernel.ended = kvc_gate_create(0);
        }
        kernel.waves++;
        kvc_engine_spawn("wave", wave_main, wave);
    }
    kvc_gate_post(blocks->turn);
    if (grid->placed_ns != NULL) {
        *grid->placed_ns = kvc_engine_now_ns();
    }
    run_wave(last);
    for (uint32_t i = 0; i < kernel.waves; i++) {
        kvc_gate_wait(kernel.ended);
    }
    kvc_gate_free(kernel.ended);
    blocks->kernels--;
}
