#include "validate/calibrate/gpu.h"

#ifndef KVC_HAVE_CUDA

enum kvc_status kvc_gpu_measure(uint64_t index_bytes, struct kvc_gpu_costs *costs, struct kvc_diag *diag)
{
    (void)index_bytes;
    (void)diag;
    *costs = (struct kvc_gpu_costs){.present = false};
    return KVC_OK;
}

#else

#include <stdio.h>

#include "kernels/cuda.h"
#include "kernels/hash.h"
#include "kernels/megakv/cuckoo_cuda.h"
#include "sim/base/rng.h"

enum { JOBS_MIN = 1024, JOBS_MAX = 4 << 20, DISPLACEMENTS_MAX = 100 };

static const double load_frac = 0.5;

/* Arrays in pinned memory, which the device reads in place. */
struct launches {
    struct kvc_index *index;
    uint64_t held, turns;
    uint32_t jobs;
    uint64_t *hash;
    uint32_t *location, *out;
    uint64_t missed;
};

static uint64_t hash_of(uint64_t number)
{
    uint64_t key = kvc_mix64(number + 0x9e3779b97f4a7c15);
    return kvc_hash(&key, sizeof key, 1);
}

static void draw_jobs(void *data, uint32_t turn)
{
    struct launches *launches = data;
    (void)turn;
    for (uint32_t i = 0; i < launches->jobs; i++) {
        uint64_t number = kvc_mix64(launches->turns * JOBS_MAX + i) % launches->held;
        launches->hash[i] = hash_of(number);
        launches->location[i] = (uint32_t)number;
    }
    launches->turns++;
}

static void search(void *data, uint32_t turn)
{
    struct launches *launches = data;
    struct kvc_index_stats stats = {0};
    (void)turn;
    kvc_index_search(launches->index, launches->hash, launches->jobs, launches->out, &stats);
    launches->missed += launches->jobs - stats.search_hits;
}

static void insert(void *data, uint32_t turn)
{
    struct launches *launches = data;
    struct kvc_index_stats stats = {0};
    (void)turn;
    kvc_index_insert(launches->index, launches->hash, launches->location, launches->jobs, launches->out,
                     &stats);
}

static void fill(struct launches *launches)
{
    struct kvc_index_stats stats = {0};
    for (uint64_t done = 0; done + JOBS_MAX <= launches->held; done += JOBS_MAX) {
        for (uint32_t i = 0; i < JOBS_MAX; i++) {
            launches->hash[i] = hash_of(done + i);
            launches->location[i] = (uint32_t)(done + i);
        }
        kvc_index_insert(launches->index, launches->hash, launches->location, JOBS_MAX, NULL, &stats);
    }
}

static void add_point(struct kvc_law *law, uint32_t jobs, const struct kvc_probe_time *time)
{
    law->x[law->count] = jobs;
    law->ns[law->count++] = time->median_s * 1e9;
}

static enum kvc_status measure(struct launches *launches, struct kvc_gpu_costs *costs, struct kvc_diag *diag)
{
    fill(launches);
    for (launches->jobs = JOBS_MIN; launches->jobs <= JOBS_MAX; launches->jobs *= 2) {
        struct kvc_probe_time time = kvc_probe(draw_jobs, search, launches);
        add_point(&costs->search, launches->jobs, &time);
        time = kvc_probe(draw_jobs, insert, launches);
        add_point(&costs->insert, launches->jobs, &time);
    }
    if (launches->missed > 0)
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "the GPU does not find %llu of the keys that it was given",
                             (unsigned long long)launches->missed);
    enum kvc_status status =
        kvc_fit_line(costs->search.x, costs->search.ns, costs->search.count, &costs->search.fit, diag);
    if (status == KVC_OK)
        status =
            kvc_fit_line(costs->insert.x, costs->insert.ns, costs->insert.count, &costs->insert.fit, diag);
    return status;
}

enum kvc_status kvc_gpu_measure(uint64_t index_bytes, struct kvc_gpu_costs *costs, struct kvc_diag *diag)
{
    struct kvc_cuda_device device;
    struct kvc_cuckoo_params params = {.bytes = index_bytes, .max_displacements = DISPLACEMENTS_MAX};
    *costs = (struct kvc_gpu_costs){.present = kvc_cuda_device(&device)};
    if (!costs->present)
        return KVC_OK;
    snprintf(costs->name, sizeof costs->name, "%.127s", device.name);
    costs->multiprocessors = (uint32_t)device.multiprocessors;
    costs->memory_bytes = device.memory_bytes;
    struct launches launches = {
        .index = kvc_cuckoo_cuda_create(&params),
        .held = (uint64_t)(load_frac * (double)(index_bytes / 8)) / JOBS_MAX * JOBS_MAX,
        .hash = kvc_cuda_alloc_pinned(JOBS_MAX * sizeof *launches.hash),
        .location = kvc_cuda_alloc_pinned(JOBS_MAX * sizeof *launches.location),
        .out = kvc_cuda_alloc_pinned(JOBS_MAX * sizeof *launches.out),
    };
    enum kvc_status status = KVC_OK;
    if (launches.index == NULL || launches.hash == NULL || launches.location == NULL || launches.out == NULL)
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory on the GPU %s for an index of %llu MiB",
                               costs->name, (unsigned long long)(index_bytes >> 20));
    else
        status = measure(&launches, costs, diag);
    kvc_cuda_free_pinned(launches.hash);
    kvc_cuda_free_pinned(launches.location);
    kvc_cuda_free_pinned(launches.out);
    kvc_index_free(launches.index);
    return status;
}

#endif
