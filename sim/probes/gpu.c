#include "sim/probes/gpu.h"

#ifndef KVC_HAVE_CUDA

enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag)
{
    (void)diag;
    *facts = (struct kvc_gpu_facts){.present = false};
    return KVC_OK;
}

#else

#include <stdio.h>

#include "kernels/cuda.h"
#include "kernels/cuda_probe.h"

enum { CHASE_LANES = 32, CHASE_STEPS = 20000 };

static const uint64_t few_bytes = 64, many_bytes = 64 << 20, table_bytes = UINT64_C(1) << 31,
                      sectors = 1 << 26;

struct probe {
    void *device, *host, *table;
    uint64_t bytes;
    bool to_device, failed;
};

static void launch(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    (void)repetition;
    probe->failed |= !kvc_cuda_probe_launch();
}

static void copy(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    (void)repetition;
    probe->failed |= !kvc_cuda_probe_copy(probe->device, probe->host, probe->bytes, probe->to_device);
}

static void read_sectors(void *data, uint32_t repetition)
{
    struct probe *probe = data;
    probe->failed |= !kvc_cuda_probe_sectors(probe->table, table_bytes, sectors, repetition);
}

static struct kvc_timing time_copy(struct probe *probe, uint64_t bytes, bool to_device)
{
    probe->bytes = bytes;
    probe->to_device = to_device;
    return kvc_timing_measure(NULL, copy, probe);
}

static void chase(struct probe *probe, struct kvc_gpu_facts *facts)
{
    struct kvc_cuda_chase chase = {.ns = 1};
    probe->failed |= !kvc_cuda_zero(probe->table, table_bytes) ||
                     !kvc_cuda_probe_chase(probe->table, table_bytes, CHASE_LANES, CHASE_STEPS, &chase);
    facts->access_ns = chase.ns;
    facts->clock_hz = chase.cycles / chase.ns * 1e9;
}

static void time_all(struct probe *probe, struct kvc_gpu_facts *facts)
{
    facts->launch = kvc_timing_measure(NULL, launch, probe);
    struct kvc_timing there = time_copy(probe, few_bytes, true), back = time_copy(probe, few_bytes, false);
    facts->copy = there.median_s > back.median_s ? there : back;
    facts->h2d_bytes_per_s = (double)many_bytes / time_copy(probe, many_bytes, true).median_s;
    facts->d2h_bytes_per_s = (double)many_bytes / time_copy(probe, many_bytes, false).median_s;
    chase(probe, facts);
    facts->sectors_per_s = (double)sectors / kvc_timing_measure(NULL, read_sectors, probe).median_s;
}

enum kvc_status kvc_gpu_measure(struct kvc_gpu_facts *facts, struct kvc_diag *diag)
{
    struct kvc_cuda_device device;
    enum kvc_status status = KVC_OK;
    *facts = (struct kvc_gpu_facts){.present = kvc_cuda_device(&device)};
    if (!facts->present) {
        return KVC_OK;
    }
    snprintf(facts->name, sizeof(facts->name), "%.127s", device.name);
    facts->multiprocessors = (uint32_t)device.multiprocessors;
    facts->memory_bytes = device.memory_bytes;
    struct probe probe = {.device = kvc_cuda_alloc(many_bytes),
                          .host = kvc_cuda_alloc_pinned(many_bytes),
                          .table = kvc_cuda_alloc(table_bytes)};
    if (probe.device == NULL || probe.host == NULL || probe.table == NULL) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU %s has less than %llu MiB of free memory",
                               facts->name, (unsigned long long)(table_bytes >> 20));
    } else {
        time_all(&probe, facts);
    }
    if (probe.failed) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "the GPU %s failed while it was measured", facts->name);
    }
    kvc_cuda_free(probe.device);
    kvc_cuda_free_pinned(probe.host);
    kvc_cuda_free(probe.table);
    return status;
}

#endif
