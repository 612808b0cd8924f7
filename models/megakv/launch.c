#include "models/megakv/launch.h"

/* Two 32-byte sectors per 64-byte bucket: signatures, and the matching location. */
enum { SECTORS_PER_BUCKET = 2 };

/* A processing unit has a thread per slot (sec. 4.3.1). */
enum { THREADS_PER_JOB = KVC_MEGAKV_CUCKOO_SLOTS };

const struct kvc_gpu_fit *kvc_megakv_gpu_fit(const struct kvc_gpu_clock *clock, enum kvc_megakv_kernel kernel)
{
    if (clock->search.ns_per_op <= 0) {
        return NULL;
    }
    return kernel == KVC_MEGAKV_KERNEL_SEARCH ? &clock->search : &clock->insert;
}

struct kvc_gpu_work kvc_megakv_gpu_work(enum kvc_megakv_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats)
{
    /* These hold for the closed form and before the first launch: the primary bucket holds most keys of a
     * half-full table, and an insert reads both buckets and writes one. */
    double buckets = kernel == KVC_MEGAKV_KERNEL_SEARCH ? 1.5 : 3;
    if (stats != NULL && kernel == KVC_MEGAKV_KERNEL_SEARCH && stats->searches > 0) {
        buckets = (double)stats->search_lines / (double)stats->searches;
    }
    if (stats != NULL && kernel == KVC_MEGAKV_KERNEL_INSERT && stats->inserts > 0) {
        buckets = (double)stats->insert_lines / (double)stats->inserts;
    }
    return (struct kvc_gpu_work){
        .jobs = jobs,
        .in_bytes = jobs * (kernel == KVC_MEGAKV_KERNEL_SEARCH
                                ? 8
                                : 12), /* Signature and hash; inserts also have a location. */
        .out_bytes = kernel == KVC_MEGAKV_KERNEL_SEARCH ? jobs * 4 : 0,
        .sectors = jobs * buckets * SECTORS_PER_BUCKET,
        .depth = buckets,
        .threads_per_job = THREADS_PER_JOB,
        .streams = streams,
    };
}
