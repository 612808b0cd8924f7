/* Fuzz target that takes any bytes as a file that kvcast plot draws: a result, a sweep.csv, a table of
 * errors, or a document of kvcast capacity or kvcast plan. The first byte selects the kind of picture. A file
 * that is refused has one message. What gnuplot gets of others has whole quotes and no control characters, so
 * that no text of the file can be a command. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plots/plot.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_data(const char *text, size_t bytes)
{
    size_t quotes = 0;
    for (size_t i = 0; i < bytes; i++) {
        quotes += text[i] == '"';
        kvc_fuzz_check(text[i] == '\n' ? quotes % 2 == 0 : (unsigned char)text[i] >= ' ');
    }
    kvc_fuzz_check(bytes > 0 && quotes % 2 == 0);
}

/* Returns the path of a result that stands beside the input in pictures of several results. */
static const char *another_result(void)
{
    static const char text[] =
        "{\"schema\":\"kvcast.result/1\",\"scenario\":\"a\",\"parameters\":{\"run.seed\":2},"
        "\"throughput_mops\":{\"mean\":1},\"latency_us\":{\"cdf\":[[1,1]]},"
        "\"windows\":{\"length_us\":1,\"mops\":[1]}}";
    static char path[32];
    if (path[0] == '\0') {
        int file = memfd_create("another", MFD_CLOEXEC);
        kvc_fuzz_check(file >= 0 && write(file, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const char *path = kvc_memory_file(data + 1, bytes - 1), *other = another_result();
    const char *const inputs[] = {path, other};
    struct kvc_plot_options plot = {.kind = data[0] % KVC_PLOT_PLATFORM, .inputs = inputs, .output = "a.svg"};
    if (plot.kind == KVC_PLOT_SWEEP && data[0] >= 128) {
        plot.x = "b";
        plot.y = "latency_p99_us";
        plot.by = "a,system.cycle";
    }
    plot.input_count =
        plot.kind == KVC_PLOT_CDF || plot.kind == KVC_PLOT_TAIL || plot.kind == KVC_PLOT_TIMELINE ? 2 : 1;
    struct kvc_figure_data figure = {0};
    struct kvc_diag diag = {0};
    size_t size;
    char *text;
    figure.data = open_memstream(&text, &size);
    kvc_fuzz_check(figure.data != NULL);
    enum kvc_status status = kvc_figure_extract(&plot, &figure, &diag);
    fclose(figure.data);
    if (status == KVC_OK) {
        kvc_fuzz_check(figure.blocks > 0);
        check_data(text, size);
    } else {
        kvc_fuzz_check_refusal(status, &diag);
    }
    free(text);
    return 0;
}
