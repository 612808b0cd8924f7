#include "validate/calibrate/gpu.h"

#ifndef KVC_HAVE_CUDA

void kvc_gpu_ask(struct kvc_gpu_facts *facts)
{
    *facts = (struct kvc_gpu_facts){.present = false};
}

#else

#include <stdio.h>

#include "kernels/cuda.h"

void kvc_gpu_ask(struct kvc_gpu_facts *facts)
{
    struct kvc_cuda_device device;
    *facts = (struct kvc_gpu_facts){.present = kvc_cuda_device(&device)};
    if (!facts->present)
        return;
    snprintf(facts->name, sizeof facts->name, "%.127s", device.name);
    facts->multiprocessors = (uint32_t)device.multiprocessors;
    facts->memory_bytes = device.memory_bytes;
}

#endif
