#include "models/memcachedgpu/real/survey.h"

static const char *const lines_names[KVC_MEMCACHEDGPU_LINES_COUNT] = {"far", "arrived", "near"};

static void write_median(FILE *out, const char *what, const struct kvc_memcachedgpu_median *median,
                         const char *unit)
{
    fprintf(out, "%-34s %9.1f %s (quartiles %.1f .. %.1f)\n", what, median->middle, unit, median->low,
            median->high);
}

static void write_batches(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out,
            "\nA batch alone: cycles of its median block; us from first to last block, and on the host\n");
    fprintf(
        out,
        "key packets keys   lines    cycles (quartiles)            kernel us (quartiles)       host us\n");
    for (uint32_t i = 0; i < survey->batches; i++) {
        const struct kvc_memcachedgpu_survey_batch *row = &survey->batch[i];
        fprintf(out, "%3u %7u %-6s %-7s %7.0f (%6.0f .. %6.0f) %9.3f (%8.3f .. %8.3f) %9.3f\n",
                row->key_bytes, row->packets, row->hits ? "hits" : "misses", lines_names[row->lines],
                row->block_cycles.middle, row->block_cycles.low, row->block_cycles.high,
                row->kernel_ns.middle / 1e3, row->kernel_ns.low / 1e3, row->kernel_ns.high / 1e3,
                row->host_ns.middle / 1e3);
    }
}

static void write_streams(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out,
            "\nBatches of hits that follow each other; background: blocks, kernels, ms beside and alone\n");
    fprintf(out, "key packets streams copied polled      M/s   mean us  95 %% us    max us  background\n");
    for (uint32_t i = 0; i < survey->streams_count; i++) {
        const struct kvc_memcachedgpu_survey_streams *row = &survey->streams[i];
        fprintf(out, "%3u %7u %7u %-6s %-6s %8.2f %9.2f %8.2f %9.2f  %u %u %.3f %.3f\n", row->key_bytes,
                row->packets, row->streams, row->copied ? "yes" : "no", row->polled ? "yes" : "no", row->mops,
                row->batch_mean_ns / 1e3, row->batch_95th_ns / 1e3, row->batch_max_ns / 1e3,
                row->background_blocks, row->background_kernels, row->background_ns / 1e6,
                row->background_alone_ns / 1e6);
    }
}

void kvc_memcachedgpu_survey_write(const struct kvc_memcachedgpu_survey *survey, FILE *out)
{
    fprintf(out, "multiprocessors %u\n", survey->multiprocessors);
    fprintf(out, "dependent access of a warp, cache  %8.1f ns, %8.1f cycles\n", survey->near.ns,
            survey->near.cycles);
    fprintf(out, "dependent access of a warp, memory %8.1f ns, %8.1f cycles\n", survey->far.ns,
            survey->far.cycles);
    fprintf(out, "the same of one thread             %8.1f ns, %8.1f cycles\n", survey->far_alone.ns,
            survey->far_alone.cycles);
    write_median(out, "empty kernel, launched and awaited", &survey->launch_ns, "ns");
    for (int c = 0; c < KVC_MEMCACHEDGPU_CALLS; c++) {
        write_median(out, kvc_memcachedgpu_call_names[c], &survey->call_ns[c], "ns");
    }
    write_median(out, "response, all in caches", &survey->answer_near_ns, "ns");
    write_median(out, "response, values in memory", &survey->answer_far_ns, "ns");
    write_median(out, "SET of a held key", &survey->set_cycles, "cycles");
    write_median(out, "SET of a new key", &survey->set_fresh_cycles, "cycles");
    write_batches(survey, out);
    write_streams(survey, out);
}
