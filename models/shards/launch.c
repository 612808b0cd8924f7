#include "models/shards/launch.h"

#include <math.h>

#include "kernels/megakv/cuckoo.h"

enum { LINE_BYTES = 64 };

/* A bucket has 64 bytes: a sector of signatures and a sector of locations. Where the L2 cache is known, both
 * come with one access to the memory: on an H100 and on an H200, random buckets are as fast as random sectors
 * (cuckoo_cuda_bench). On other cards each counts. */
enum { SECTORS_PER_BUCKET = 2 };

/* Jobs of a warp, which merges their accesses to one place: two threads serve a job in the fastest kernel. */
static const double jobs_per_warp = 16;

/* A processing unit has a thread per slot (sec. 4.3.1). */
enum { THREADS_PER_JOB = KVC_MEGAKV_CUCKOO_SLOTS };

const struct kvc_gpu_fit *kvc_shards_gpu_fit(const struct kvc_gpu_clock *clock, enum kvc_shards_kernel kernel)
{
    if (clock->search.ns_per_op <= 0) {
        return NULL;
    }
    return kernel == KVC_SHARDS_SEARCH ? &clock->search : &clock->insert;
}

struct kvc_gpu_work kvc_shards_gpu_work(enum kvc_shards_kernel kernel, double jobs, uint32_t streams,
                                        const struct kvc_index_stats *stats)
{
    /* These hold for the closed form and before the first launch: the primary bucket holds most keys of a
     * half-full table, and an insert reads both buckets and writes one. */
    bool searches = kernel == KVC_SHARDS_SEARCH;
    double written = searches ? 0 : 1, buckets = searches ? 1.5 : 3, read = buckets - written;
    if (stats != NULL && searches && stats->searches > 0) {
        buckets = read = (double)stats->search_lines / (double)stats->searches;
    }
    if (stats != NULL && !searches && stats->inserts > 0) {
        buckets = read = (double)stats->insert_lines / (double)stats->inserts;
    }
    /* Signature and hash; inserts also have a location. */
    double in_bytes = searches ? 8 : 12, out_bytes = searches ? 4 : 0;
    /* The jobs and their results pass through cache and memory, too. */
    double streamed = (in_bytes + out_bytes) / LINE_BYTES;
    return (struct kvc_gpu_work){
        .jobs = jobs,
        .in_bytes = jobs * in_bytes,
        .out_bytes = jobs * out_bytes,
        .sectors = jobs * SECTORS_PER_BUCKET * buckets,
        .accesses = jobs * (read + written + streamed),
        .l2_sectors = jobs * (SECTORS_PER_BUCKET * (read + streamed) + written),
        .depth = buckets,
        .threads_per_job = THREADS_PER_JOB,
        .streams = streams,
    };
}

void kvc_shards_gpu_caches(enum kvc_shards_kernel kernel, double l2_frac, double hot_frac,
                           struct kvc_gpu_work *work)
{
    double warps = work->jobs / jobs_per_warp * (1 - pow(1 - hot_frac, jobs_per_warp));
    work->l2_frac = l2_frac;
    *(kernel == KVC_SHARDS_SEARCH ? &work->hot_reads : &work->hot_writes) = warps;
}
