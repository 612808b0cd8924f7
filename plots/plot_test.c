#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/plot.h"

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/kvcast-plots-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    cr_assert_eq(chdir(root), 0);
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof(command), "/bin/rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static enum kvc_status draw(enum kvc_plot_kind kind, const char *input, const char *output,
                            struct kvc_diag *diag)
{
    const struct kvc_plot_options plot = {.kind = kind, .input_count = 1, .inputs = &input, .output = output};
    return kvc_plot_draw(&plot, diag);
}

static void assert_begins(const char *path, const char *magic)
{
    char found[16] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    cr_assert_gt(fread(found, 1, sizeof(found), file), 0);
    fclose(file);
    cr_assert_eq(memcmp(found, magic, strlen(magic)), 0, "%s", path);
}

#define RESULT                                                                                               \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a `b` \\\"c\\\" $(d) %s\", "                          \
    "\"latency_us\": {\"cdf\": [[1.5, 0.25], [2, 0.5], [8, 1.0]]}, "                                         \
    "\"throughput_mops\": {\"mean\": 2}, \"windows\": {\"length_us\": 100, \"mops\": [1, 2, 3]}}"
#define CAPACITY                                                                                                    \
    "{\"schema\": \"kvcast.capacity/1\", \"capacity_mops\": {\"low\": 9.9, \"mean\": 10, \"high\": 10.1}, "         \
    "\"points\": [{\"offered_mops\": 5, \"served\": true, \"latency_us\": {\"mean\": {\"mean\": 3, \"ci95\": 9}}, " \
    "\"closed_form\": {\"latency_mean_us\": 2}}, {\"offered_mops\": 11, \"served\": false, \"latency_us\": "        \
    "{\"mean\": {\"mean\": 30, \"ci95\": null}, \"p99\": {\"mean\": 40, \"ci95\": null}}, "                         \
    "\"closed_form\": {\"latency_mean_us\": null}}]}"
#define WHY                                                                                                  \
    "{\"schema\": \"kvcast.why/1\", \"resources\": [{\"resource\": \"gpu\", \"throughput\": "                \
    "{\"change_frac\": 0.02, \"ci95_frac\": 0.01}, \"latency_mean\": {\"change_frac\": -0.03}}], "           \
    "\"path\": {\"parts\": [{\"part\": \"index\", \"mean_us\": 3, \"slowest_us\": 9}]}}"
#define TRACE                                                                                                \
    "{\"schema\": \"kvcast.trace/1\", \"trace\": \"a.csv\", \"miss_ratio_curve\": "                          \
    "[{\"cache_bytes\": 1024, \"miss_frac\": 0.9}, {\"cache_bytes\": 4096, \"miss_frac\": 0.4}]}"
#define DAY                                                                                                  \
    "{\"schema\": \"kvcast.day/1\", \"slo_p99_us\": 90, \"windows\": [{\"from_hour\": 0, \"to_hour\": 12, "  \
    "\"rate_mops\": 5, \"throughput_mops\": 5, \"latency_p99_us\": 70, \"watts_mean\": 200}, "               \
    "{\"from_hour\": 12, \"to_hour\": 24, \"rate_mops\": 9, \"throughput_mops\": 8, "                        \
    "\"latency_p99_us\": null, \"watts_mean\": 220}]}"
#define SWEEP "point,system.cycle_ns,system.delay,throughput_mops,throughput_ci95_mops,bottleneck\n"

TestSuite(plot, .init = make_root, .fini = remove_root);

/* Reads a picture, of which gnuplot's SVG contains the names of axes and lines. Returns its size [bytes]. */
static size_t read_picture(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(bytes, 1, room, file);
    cr_assert_lt(size, room, "%s is too large", path);
    fclose(file);
    return size;
}

/* Returns how often the picture contains the text. */
static size_t count_of(const char *path, const char *text)
{
    static char bytes[1 << 18];
    size_t count = 0, size = read_picture(path, bytes, sizeof(bytes));
    for (const char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), text, strlen(text))) != NULL;
         at++) {
        count++;
    }
    return count;
}

/* Returns the big-endian number that the file has at the offset. */
static unsigned number_at(const char *path, long offset)
{
    unsigned char byte[4];
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_eq(fseek(file, offset, SEEK_SET), 0);
    cr_assert_eq(fread(byte, 1, sizeof(byte), file), sizeof(byte));
    fclose(file);
    return (unsigned)byte[0] << 24 | (unsigned)byte[1] << 16 | (unsigned)byte[2] << 8 | byte[3];
}

/* A picture for one column is 8.5 cm wide, which are 240 points, and one for two columns 17.5 cm. */
Test(plot, every_format_has_the_width_of_its_columns)
{
    enum { PNG_WIDTH_AT = 16 };
    const char *input = "result.json";
    struct kvc_plot_options plot = {
        .kind = KVC_PLOT_CDF, .input_count = 1, .inputs = &input, .output = "wide.pdf", .wide = true};
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.pdf", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.png", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(kvc_plot_draw(&plot, &diag), KVC_OK, "%s", diag.message);
    plot.output = "wide.png";
    cr_assert_eq(kvc_plot_draw(&plot, &diag), KVC_OK, "%s", diag.message);
    assert_begins("a.svg", "<?xml");
    assert_begins("a.pdf", "%PDF");
    assert_begins("a.png", "\x89PNG");
    cr_expect_eq(count_of("a.pdf", "MediaBox [ 0 0 240 "), 1);
    cr_expect_eq(count_of("wide.pdf", "MediaBox [ 0 0 496 "), 1);
    double ratio = (double)number_at("wide.png", PNG_WIDTH_AT) / number_at("a.png", PNG_WIDTH_AT);
    cr_expect_float_eq(ratio, 17.5 / 8.5, 0.01, "%g", ratio);
}

/* gnuplot draws all bars of a line as one path, and starts every stroke of it with "M". */
Test(plot, a_distribution_shows_the_intervals_of_its_percentiles)
{
#define WITH_INTERVALS(half_width, other)                                                                    \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a\", \"throughput_mops\": {\"mean\": 2}, "            \
    "\"latency_us\": {"                                                                                      \
    "\"percentiles\": [{\"p\": 0.5, \"us\": 2, \"ci95\": " half_width                                        \
    "}, {\"p\": 0.9, \"us\": 5, \"ci95\": " other "}], \"cdf\": [[1.5, 0.25], [2, 0.5], [8, 1.0]]}}"
    struct kvc_diag diag = {0};
    put("result.json", WITH_INTERVALS("0.5", "null"));
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_OK, "%s", diag.message);
    size_t with_one = count_of("a.svg", "M");
    put("result.json", WITH_INTERVALS("0.5", "0.1"));
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(count_of("a.svg", "M"), with_one + 3, "a bar and its two ends");
    cr_expect_eq(count_of("a.svg", ">95 % interval<"), 1);
}

Test(plot, draws_every_kind)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    put("sweep.csv", SWEEP "1,120000,1,100,2,x\n2,120000,2,110,,x\n3,160000,1,150,3,x\n4,200000,2,160,3,x\n");
    put("words.csv", SWEEP "1,get,1,100,2,x\n2,getk,1,110,,x\n");
    put("error.csv", "case,published,predicted\n\"a, b\",100,95\nc,10,20\n");
    cr_assert_eq(draw(KVC_PLOT_TIMELINE, "result.json", "timeline.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_SWEEP, "sweep.csv", "sweep.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_SWEEP, "words.csv", "words.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_ERROR, "error.csv", "error.svg", &diag), KVC_OK, "%s", diag.message);
    put("capacity.json", CAPACITY);
    cr_assert_eq(draw(KVC_PLOT_CAPACITY, ".", "folder.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_CAPACITY, "capacity.json", "file.svg", &diag), KVC_OK, "%s", diag.message);
    static const struct {
        const char *picture, *text;
    } shown[] = {
        {"timeline.svg", ">time after the warm-up (ms)<"},
        {"sweep.svg", ">system.cycle (µs)<"},
        {"sweep.svg", ">delay = 1<"},
        {"sweep.svg", ">delay = 2<"},
        {"sweep.svg", ">200<"}, /* Few values are tics themselves. */
        {"sweep.svg", ">95 % interval<"},
        {"words.svg", ">getk<"},
        {"error.svg", ">predicted (same unit)<"},
        {"error.svg", ">c<"}, /* Names the case that is far off. */
        {"folder.svg", ">capacity 10 Mops<"},
        {"file.svg", ">offered load (Mops)<"},
        {"file.svg", ">closed form, mean<"},
        {"file.svg", ">p99<"},
        {"file.svg", ">not served<"},
    };
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        cr_expect_eq(count_of(shown[i].picture, shown[i].text), 1, "%s: %s", shown[i].picture, shown[i].text);
    }
    cr_expect_eq(count_of("error.svg", ">a, b<"), 0, "a case within 10 %% has no name");
    cr_expect_eq(count_of("file.svg", ">p50<"), 0, "no point has a p50");
}

/* A sweep of two values and a word, with an objective for the latency. */
#define VIEWED                                                                                                \
    "point,system.cycle_ns,system.gpu_core_hz,system.api,throughput_mops,latency_p99_us,latency_p99_ci95_us," \
    "hit_frac,bottleneck,slo_p99_margin_frac\n"                                                               \
    "1,120000,875000000,get,80,300,5,0.5,index,0.142857142857\n2,160000,875000000,get,80,320,5,0.5,index,"    \
    "0.0857142857143\n3,120000,666000000,getk,80,360,5,0.25,index,-0.0285714285714\n4,160000,666000000,getk," \
    "80,370,,0.25,index,-0.0571428571429\n"

static enum kvc_status draw_view(const char *x, const char *y, const char *by, struct kvc_diag *diag)
{
    const char *input = "sweep.csv";
    const struct kvc_plot_options plot = {.kind = KVC_PLOT_SWEEP,
                                          .input_count = 1,
                                          .inputs = &input,
                                          .output = "a.svg",
                                          .x = x,
                                          .y = y,
                                          .by = by};
    put("sweep.csv", VIEWED);
    *diag = (struct kvc_diag){0};
    return kvc_plot_draw(&plot, diag);
}

static void expect_texts(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_gt(count_of("a.svg", texts[i]), 0, "%s", texts[i]);
    }
}

#define EXPECT_TEXTS(...)                                                                                    \
    expect_texts((const char *const[]){__VA_ARGS__},                                                         \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

Test(plot, a_sweep_shows_any_metric_over_any_swept_value)
{
    struct kvc_diag diag;
    cr_assert_eq(draw_view("system.cycle", "latency_p99_us", "system.gpu_core,system.api", &diag), KVC_OK,
                 "%s", diag.message);
    EXPECT_TEXTS(">p99 latency (µs)<", ">system.cycle (µs)<", ">120<", ">160<", ">gpu_core, api<",
                 ">875 MHz, get<", ">666 MHz, getk<", ">objective: at most 350 µs<", ">95 % interval<");
    cr_assert_eq(draw_view("system.api", "hit_frac", "system.cycle_ns", &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(">hit ratio (%)<", ">system.api<", ">get<", ">getk<", ">cycle = 120 µs<",
                 ">gpu_core = 875 MHz<", ">gpu_core = 666 MHz<");
    cr_expect_eq(count_of("a.svg", "objective"), 0);
    cr_assert_eq(draw_view(NULL, NULL, NULL, &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(">throughput (Mops)<", ">system.cycle (µs)<", ">gpu_core = 875 MHz<", ">api = get<");
}

Test(plot, a_wrong_name_of_a_sweep_lists_what_is_allowed)
{
    static const struct {
        const char *x, *y, *by, *message;
    } wrong[] = {
        {"system.cycel", NULL, NULL,
         "plot: found -x system.cycel, allowed: system.cycle, system.gpu_core, system.api; did you mean system.cycle?"},
        {NULL, "bottleneck", NULL,
         "plot: found -y bottleneck, allowed: throughput_mops, latency_p99_us, hit_frac, slo_p99_margin_frac"},
        {NULL, "latency_p99_ci95_us", NULL,
         "plot: found -y latency_p99_ci95_us, allowed: throughput_mops, latency_p99_us, hit_frac, slo_p99_margin_frac; "
         "did you mean latency_p99_us?"},
        {NULL, NULL, "system.api,gpu",
         "plot: found --by gpu, allowed: system.cycle, system.gpu_core, system.api"},
        {"system.api", NULL, "system.api",
         "plot: found system.api as --by and as -x, allowed: each swept value once"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct kvc_diag diag;
        cr_expect_eq(draw_view(wrong[i].x, wrong[i].y, wrong[i].by, &diag), KVC_ERR_SCENARIO);
        cr_expect_str_eq(diag.message, wrong[i].message);
    }
}

/* Two stores, whose parameters all differ, are named by the stores. */
Test(plot, a_legend_has_room_for_its_titles)
{
#define RESULT_BY(system, parameters)                                                                        \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a\", \"system\": \"" system                           \
    "\", \"parameters\": {" parameters                                                                       \
    "}, \"throughput_mops\": {\"mean\": 2}, \"latency_us\": {\"cdf\": [[1.5, 0.25], [8, 1]]}}"
    const char *inputs[] = {"one.json", "two.json"};
    const struct kvc_plot_options plot = {
        .kind = KVC_PLOT_CDF, .input_count = 2, .inputs = inputs, .output = "a.svg"};
    struct kvc_diag diag = {0};
    put("one.json", RESULT_BY("mica", "\"system.log\": \"auto\""));
    put("two.json", RESULT_BY("rdma", "\"system.sides\": \"two\""));
    cr_assert_eq(kvc_plot_draw(&plot, &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(">a: mica<", ">a: rdma<");
    put("one.json", RESULT_BY("mica", "\"system.gpu_core\": \"666MHz\", \"system.log\": \"64MiB\", "
                                      "\"workload.distribution\": \"zipf\", \"workload.value\": 64"));
    put("two.json", RESULT_BY("mica", "\"system.gpu_core\": \"auto\", \"system.log\": \"1GiB\", "
                                      "\"workload.distribution\": \"uniform\", \"workload.value\": 65"));
    cr_assert_eq(kvc_plot_draw(&plot, &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(">gpu_core = 666 MHz, log = 64 MiB, 2 more<", ">gpu_core = auto, log = 1 GiB, 2 more<");
}

/* A run without a warm-up begins with no request on its way: its first window is no throughput. */
Test(plot, a_timeline_shows_the_latency_and_whole_windows)
{
#define RESULT_OVER_TIME(warmup, latencies)                                                                        \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a\", \"throughput_mops\": {\"mean\": 2}, \"simulation\": {" \
    "\"warmup_s\": " warmup "}, \"windows\": {\"length_us\": 100, \"mops\": [999, 2, 3]" latencies "}}"
    struct kvc_diag diag = {0};
    put("result.json", RESULT_OVER_TIME("0.001", ""));
    cr_assert_eq(draw(KVC_PLOT_TIMELINE, "result.json", "a.svg", &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(" 1000<");
    cr_expect_eq(count_of("a.svg", "latency"), 0);
    put("result.json", RESULT_OVER_TIME("0", ", \"latency_mean_us\": [null, 70, 75]"));
    cr_assert_eq(draw(KVC_PLOT_TIMELINE, "result.json", "a.svg", &diag), KVC_OK, "%s", diag.message);
    EXPECT_TEXTS(">mean latency (µs)<", ">throughput (Mops)<", " 60<");
    cr_expect_eq(count_of("a.svg", " 1000<"), 0);
}

Test(plot, an_error_picture_says_what_it_compares_with)
{
#define ERRORS "case,metric,published,measured,predicted\n"
    static const struct {
        const char *table, *label;
    } pictures[] = {
        {ERRORS "a,mops,100,,95\nb,us,10,,20\n", ">published (unit of the case)<"},
        {ERRORS "a,mops,,100,95\nb,mops,,10,20\n", ">measured (unit of the case)<"},
        {ERRORS "a,mops,100,,95\nb,mops,,10,20\n", ">published or measured (unit of the case)<"},
    };
    for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
        struct kvc_diag diag = {0};
        put("error.csv", pictures[i].table);
        cr_assert_eq(draw(KVC_PLOT_ERROR, "error.csv", "error.svg", &diag), KVC_OK, "%s", diag.message);
        cr_expect_eq(count_of("error.svg", pictures[i].label), 1, "%s", pictures[i].label);
    }
}

Test(plot, every_kind_takes_the_folder_or_the_file)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    put("sweep.csv", SWEEP "1,120us,1,100,2,x\n2,160us,1,110,,x\n");
    put("errors.csv", "case,published,predicted\na,100,95\nc,10,20\n");
    put("why.json", WHY);
    put("trace.json", TRACE);
    put("capacity.json", CAPACITY);
    put("day.json", DAY);
    static const struct {
        enum kvc_plot_kind kind;
        const char *file;
    } inputs[] = {
        {KVC_PLOT_CDF, "result.json"},   {KVC_PLOT_TIMELINE, "result.json"},   {KVC_PLOT_SWEEP, "sweep.csv"},
        {KVC_PLOT_ERROR, "errors.csv"},  {KVC_PLOT_CAPACITY, "capacity.json"}, {KVC_PLOT_TAIL, "result.json"},
        {KVC_PLOT_CRITICAL, "why.json"}, {KVC_PLOT_MISS_RATIO, "trace.json"},  {KVC_PLOT_DAY, "day.json"},
    };
    for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
        cr_expect_eq(draw(inputs[i].kind, inputs[i].file, "a.svg", &diag), KVC_OK, "%s", diag.message);
        cr_expect_eq(draw(inputs[i].kind, ".", "a.svg", &diag), KVC_OK, "%s", diag.message);
    }
}

/* Expects a refusal with this message of the file, and that the old picture stays. */
static void expect_refusal(const struct kvc_plot_options *plot, const char *file, const char *message)
{
    struct kvc_diag diag = {0};
    put("a.svg", "old");
    cr_expect_eq(kvc_plot_draw(plot, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, file);
    cr_expect_not_null(strstr(diag.message, message), "%s", diag.message);
    assert_begins("a.svg", "old");
}

static void expect_refusal_of(enum kvc_plot_kind kind, const char *input, const char *file,
                              const char *message)
{
    const struct kvc_plot_options plot = {
        .kind = kind, .input_count = 1, .inputs = &input, .output = "a.svg"};
    expect_refusal(&plot, file, message);
}

Test(plot, input_of_another_kind_is_named)
{
    put("sweep.csv", SWEEP "1,120us,1,100,2,x\n");
    put("error.csv", "case,published,predicted\na,100,95\n");
    cr_assert_eq(mkdir("of_run", 0777), 0);
    put("of_run/result.json", RESULT);
    expect_refusal_of(KVC_PLOT_CDF, "sweep.csv", "sweep.csv",
                      "it is a sweep.csv of kvcast sweep, which is drawn by --kind sweep");
    expect_refusal_of(KVC_PLOT_PLATFORM, "error.csv", "error.csv",
                      "it is a table of errors, which is drawn by --kind error");
    expect_refusal_of(
        KVC_PLOT_SWEEP, "of_run/result.json", "of_run/result.json",
        "it is a result of kvcast, which is drawn by --kind cdf, tail, timeline, platform or pipeline");
    expect_refusal_of(KVC_PLOT_PARETO, "of_run", "of_run",
                      "has no plan.json; allowed is a folder that `kvcast plan --out` wrote, or the file "
                      "itself; this folder has result.json");
}

/* A result without a throughput is damaged, and one that is drawn over itself hides that there is only one.
 */
Test(plot, a_result_is_whole_and_drawn_once)
{
#define RESULT_OF(member, wall)                                                                              \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a\", \"" member "\": {\"mean\": 2}, "                 \
    "\"latency_us\": {\"cdf\": [[1.5, 1]]}, \"simulation\": {\"wall_s\": " wall "}}"
    const char *inputs[] = {"one.json", "two.json"};
    const struct kvc_plot_options plot = {
        .kind = KVC_PLOT_CDF, .input_count = 2, .inputs = inputs, .output = "a.svg"};
    struct kvc_diag diag = {0};
    put("one.json", RESULT_OF("throughput", "1"));
    expect_refusal_of(KVC_PLOT_CDF, "one.json", "one.json", "has no throughput (throughput_mops.mean)");
    put("one.json", RESULT_OF("throughput_mops", "1"));
    put("two.json", RESULT_OF("throughput_mops", "2"));
    expect_refusal(&plot, "two.json", "is the same result as one.json, allowed: each result once");
    put("two.json", RESULT);
    cr_expect_eq(kvc_plot_draw(&plot, &diag), KVC_OK, "%s", diag.message);
}

Test(plot, an_error_from_zero_is_left_out)
{
    struct kvc_diag diag = {0};
    put("error.csv", "case,published,predicted\na,100,95\nof_zero,0,20\nb,50,90\n");
    cr_assert_eq(draw(KVC_PLOT_ERROR, "error.csv", "error.svg", &diag), KVC_OK, "%s", diag.message);
    cr_expect_not_null(strstr(diag.message, "found 1 of 3 cases whose published or measured value is 0"),
                       "%s", diag.message);
    cr_expect_eq(count_of("error.svg", ">published, without 1 of value 0 (unit of the case)<"), 1);
    cr_expect_eq(count_of("error.svg", ">b<"), 1);
    cr_expect_eq(count_of("error.svg", "of_zero"), 0);
    put("error.csv", "case,published,predicted\na,0,95\n");
    expect_refusal_of(KVC_PLOT_ERROR, "error.csv", "error.csv", "found 1 of 1 cases");
}

Test(plot, names_are_never_commands)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "| touch owned #.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "'`touch owned`.svg", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(access("owned", F_OK), -1);
    assert_begins("| touch owned #.svg", "<?xml");
    assert_begins("'`touch owned`.svg", "<?xml");
}

Test(plot, wrong_input_is_the_users_and_keeps_the_old_picture)
{
    struct kvc_diag diag = {0};
    put("a.svg", "old");
    put("broken.json", "{\n \"schema\": ");
    put("other.json", "{\"schema\": \"something/1\"}");
    put("short.csv", "point,a,throughput_mops\n1,2\n");
    put("foreign.csv", "a,b\n1,2\n");
    put("text.csv", "case,published,predicted\na,1,2\nb,1,many\n");
    put("blank.csv", "case,published,measured,predicted\na,,,2\n");
    cr_assert_eq(draw(KVC_PLOT_CDF, "missing.json", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(draw(KVC_PLOT_CDF, "broken.json", "a.svg", &diag), KVC_ERR_SCENARIO);
    diag = (struct kvc_diag){0};
    cr_assert_eq(draw(KVC_PLOT_CDF, "other.json", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "other.json");
    diag = (struct kvc_diag){0};
    cr_assert_eq(draw(KVC_PLOT_SWEEP, "short.csv", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 2);
    cr_assert_eq(draw(KVC_PLOT_SWEEP, "foreign.csv", "a.svg", &diag), KVC_ERR_SCENARIO);
    diag = (struct kvc_diag){0};
    cr_assert_eq(draw(KVC_PLOT_ERROR, "text.csv", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 3);
    cr_assert_eq(draw(KVC_PLOT_ERROR, "blank.csv", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_assert_eq(diag.line, 2);
    assert_begins("a.svg", "old");
    cr_assert_eq(system("test -z \"$(ls *.partial 2>/dev/null)\""), 0);
}

Test(plot, wrong_output_is_the_users)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.jpg", &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.message, "found a picture of unknown format, allowed: .svg, .pdf, .png");
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "nowhere/a.svg", &diag), KVC_ERR_SCENARIO);
}

Test(plot, a_missing_gnuplot_is_a_run_time_failure)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    put("a.svg", "old");
    setenv("PATH", "/nowhere", 1);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_ERR_RUNTIME);
    cr_assert_eq(strncmp(diag.message, "gnuplot is not installed", 24), 0, "%s", diag.message);
    assert_begins("a.svg", "old");
}

Test(plot, a_failing_gnuplot_is_quoted)
{
    struct kvc_diag diag = {0};
    put("result.json", RESULT);
    put("gnuplot", "#!/bin/sh\necho '     ^'\necho 'line 3: no such thing' >&2\nexit 1\n");
    cr_assert_eq(chmod("gnuplot", 0755), 0);
    setenv("PATH", root, 1);
    cr_assert_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "line 3: no such thing"), "%s", diag.message);
    cr_assert_eq(system("test -z \"$(ls *.partial 2>/dev/null)\""), 0);
}

/* Draws with a program in place of gnuplot, and expects a failure that says so and leaves the old picture. */
static void expect_failure_of(const char *program, const char *message)
{
    struct kvc_diag diag = {0};
    char path[512];
    put("result.json", RESULT);
    put("a.svg", "old");
    put("gnuplot", program);
    cr_assert_eq(chmod("gnuplot", 0755), 0);
    snprintf(path, sizeof(path), "%s:%s", root, getenv("PATH"));
    setenv("PATH", path, 1);
    cr_expect_eq(draw(KVC_PLOT_CDF, "result.json", "a.svg", &diag), KVC_ERR_RUNTIME);
    cr_expect_not_null(strstr(diag.message, message), "%s", diag.message);
    assert_begins("a.svg", "old");
    cr_expect_eq(system("test -z \"$(ls *.partial 2>/dev/null)\""), 0);
}

Test(plot, a_killed_gnuplot_leaves_the_old_picture)
{
    expect_failure_of("#!/bin/sh\necho '<svg>'\nkill -9 $$\n", "gnuplot ended early");
}

Test(plot, half_a_picture_is_none)
{
    expect_failure_of("#!/bin/sh\necho '<svg>'\n", "gnuplot ended before the picture did");
}

/* A limit on the size of files stands for a full disk. */
Test(plot, a_picture_that_does_not_fit_leaves_the_old_one)
{
    static const char *const pictures[] = {"a.svg", "a.pdf", "a.png"};
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    put("result.json", RESULT);
    for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
        struct kvc_diag diag = {0};
        put(pictures[i], "old");
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, limit.rlim_max}), 0);
        cr_expect_eq(draw(KVC_PLOT_CDF, "result.json", pictures[i], &diag), KVC_ERR_RUNTIME);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        cr_expect_str_eq(diag.file, pictures[i]);
        cr_expect_not_null(strstr(diag.message, "too large"), "%s", diag.message);
        assert_begins(pictures[i], "old");
        cr_expect_eq(system("test -z \"$(ls *.partial 2>/dev/null)\""), 0);
    }
}

/* ---- platform ---- */

#define HOST(name, kind, more)                                                                               \
    "<host id=\"" name "\" core=\"8\" pstate=\"1\" speed=\"1Gf,0.5Gf\">\n"                                   \
    "<prop id=\"device\" value=\"" kind "\"/>\n" more "</host>\n"
#define LINK(name)                                                                                           \
    "<link id=\"" name "\" bandwidth=\"10300000000Bps\" latency=\"0s\">\n"                                   \
    "<prop id=\"device\" value=\"pcie\"/>\n</link>\n"
#define NODE(name)                                                                                           \
    "<zone id=\"" name "\" routing=\"Full\">\n" HOST(name ".socket0.cpu", "cpu", "")                         \
        HOST(name ".socket0.gpu", "gpu", "") HOST(name ".nic", "nic", "") LINK(name ".down")                 \
            LINK(name ".root") "<route src=\"" name ".socket0.cpu\" dst=\"" name                             \
                               ".socket0.gpu\" symmetrical=\"NO\">"                                          \
                               "<link_ctn id=\"" name ".root\"/><link_ctn id=\"" name ".down\"/></route>\n"  \
                               "<route src=\"" name ".nic\" dst=\"" name                                     \
                               ".socket0.cpu\" symmetrical=\"NO\">"                                          \
                               "<link_ctn id=\"" name ".root\"/></route>\n</zone>\n"
#define PLATFORM(nodes)                                                                                      \
    "<?xml version=\"1.0\"?>\n<platform version=\"4.1\">\n<zone id=\"world\">\n" nodes                       \
    "<zone id=\"simulation\"><host id=\"kvcast\" speed=\"1Gf\"/></zone>\n</zone></platform>\n"
#define METERED                                                                                              \
    "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a <b> & $(touch owned)\", "                           \
    "\"throughput_mops\": {\"mean\": 2}, \"devices\": ["                                                     \
    "{\"name\": \"node0.socket0.gpu\", \"utilization_frac\": 0.801}, "                                       \
    "{\"name\": \"node0.root\", \"utilization_frac\": 0.25}], "                                              \
    "\"energy\": {\"devices\": [{\"device\": \"node0.socket0.gpu\", \"watts_mean\": 89.64}]}}"

Test(plot, a_platform_shows_devices_links_rates_and_utilization)
{
    struct kvc_diag diag = {0};
    put("platform.xml", PLATFORM(NODE("node0")));
    put("result.json", METERED);
    cr_assert_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_OK, "%s", diag.message);
    const char *const parts[] = {">cpu<",
                                 ">8 cores<",
                                 ">slower state 1 of 1<",
                                 ">80 %, 89.6 W<",
                                 ">socket0<",
                                 ">root<",
                                 ">10.3 GB/s<",
                                 ">25 %<",
                                 ">node0<",
                                 "a &lt;b&gt; &amp; $(touch owned)"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        cr_expect_gt(count_of("a.svg", parts[i]), 0, "%s", parts[i]);
    }
    cr_expect_eq(count_of("a.svg", "kvcast"), 0);
    cr_expect_eq(count_of("a.svg", " more node"), 0);
    cr_assert_eq(draw(KVC_PLOT_PLATFORM, "result.json", "a.pdf", &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(draw(KVC_PLOT_PLATFORM, "./result.json", "a.png", &diag), KVC_OK, "%s", diag.message);
    assert_begins("a.pdf", "%PDF");
    assert_begins("a.png", "\x89PNG");
    cr_assert_eq(access("owned", F_OK), -1);
}

Test(plot, a_cluster_shows_its_stages_all_nodes_and_the_busiest_in_full)
{
    struct kvc_diag diag = {0};
    put("platform.xml", PLATFORM(NODE("node0") NODE("node1") NODE("node2")));
    put("result.json", METERED);
    cr_assert_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_OK, "%s", diag.message);
    cr_expect_gt(count_of("a.svg", ">node0, the busiest of 3 with these devices<"), 0);
    cr_expect_eq(count_of("a.svg", ">node1"), 0);
    put("result.json",
        "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a\", \"throughput_mops\": {\"mean\": 2}, "
        "\"stages\": [{\"name\": \"index\", \"device\": \"gpu\", \"utilization_frac\": 0.763}], "
        "\"cluster\": {\"nodes\": [{\"name\": \"node0\", \"busiest_stage\": \"index\", "
        "\"utilization_frac\": 0.7, \"throughput_mops\": 1.25, \"latency_p99_us\": 310, "
        "\"watts_mean\": null}, {\"name\": \"node1\", \"busiest_stage\": \"send\", "
        "\"utilization_frac\": 0.9}, {\"name\": \"node2\"}]}}");
    cr_assert_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_OK, "%s", diag.message);
    const char *const parts[] = {">stages, mean of all nodes<",
                                 ">index (gpu)<",
                                 ">76.3 %<",
                                 ">1.25<",
                                 ">310<",
                                 ">send 90.0 %<",
                                 ">node0<",
                                 ">node2<",
                                 ">node1, the busiest of 3 with these devices<"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        cr_expect_gt(count_of("a.svg", parts[i]), 0, "%s", parts[i]);
    }
}

Test(plot, a_platform_needs_its_files_and_dot)
{
    struct kvc_diag diag = {0};
    put("result.json", METERED);
    cr_expect_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, "./platform.xml");
    put("platform.xml", "<platform>\n<zone id=\"node0\">\n<link id=\"a\"/>\n");
    diag = (struct kvc_diag){0};
    cr_expect_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_expect_eq(diag.line, 3);
    put("platform.xml", PLATFORM(NODE("node0")));
    put("result.json", "{\"schema\": \"something/1\"}");
    diag = (struct kvc_diag){0};
    cr_expect_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.file, "./result.json");
    put("result.json", METERED);
    setenv("PATH", "/nowhere", 1);
    cr_expect_eq(draw(KVC_PLOT_PLATFORM, ".", "a.svg", &diag), KVC_ERR_RUNTIME);
    cr_expect_eq(strncmp(diag.message, "dot is not installed", 20), 0, "%s", diag.message);
    cr_expect_eq(access("a.svg", F_OK), -1);
}

/* ---- pipeline ---- */

Test(plot, a_pipeline_shows_stages_branches_batches_and_structures)
{
    struct kvc_diag diag = {0};
    put("result.json",
        "{\"schema\": \"kvcast.result/1\", \"scenario\": \"a <b>\", \"throughput_mops\": {\"mean\": 2}, "
        "\"stages\": [{\"name\": \"take\", \"utilization_frac\": 0.4}, "
        "{\"name\": \"log\", \"utilization_frac\": 0.5}, {\"name\": \"late\"}], "
        "\"bottleneck\": {\"stage\": \"take\"}, \"pipeline\": {\"pipelines\": 3, \"sockets\": 2, "
        "\"batch\": {\"before\": \"log\", \"closes\": [\"512 requests\", \"50 us\"], \"buffers\": 4}, "
        "\"stages\": [{\"name\": \"take\", \"place\": \"cpu\", \"servers\": \"2 cores\", \"pool\": \"p\", "
        "\"work\": [\"90 cycles per request\"], \"does\": \"search\", \"structures\": [\"index\"]}, "
        "{\"name\": \"log\", \"place\": \"cpu\", \"pool\": \"p\", \"when\": \"get, miss\", \"share_frac\": 0.25, "
        "\"queue\": 64, \"drops\": true}, {\"name\": \"late\", \"place\": \"gpu\", \"background\": true, "
        "\"every\": 4}], "
        "\"structures\": [{\"name\": \"index\", \"kernel\": \"cuckoo\", \"memory\": \"gpu\", "
        "\"size_bytes\": 16777216}]}}");
    cr_assert_eq(draw(KVC_PLOT_PIPELINE, ".", "a.svg", &diag), KVC_OK, "%s", diag.message);
    const char *const parts[] = {">a &lt;b&gt;<",
                                 ">3 pipelines in each of 2 sockets<",
                                 ">cpu: 2 cores, pool p<",
                                 ">90 cycles per request<",
                                 ">40 % busy, pool 90 %<",
                                 ">bottleneck<",
                                 ">512 requests<",
                                 ">or 50 us<",
                                 ">4 buffers<",
                                 "get, miss: 25 %<",
                                 ">queue of 64,<",
                                 ">lost if full<",
                                 "in the background<",
                                 ">once for 4 batches<",
                                 ">16 MiB<",
                                 ">in gpu<"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        cr_expect_gt(count_of("a.svg", parts[i]), 0, "%s", parts[i]);
    }
    put("result.json", METERED);
    cr_expect_eq(draw(KVC_PLOT_PIPELINE, ".", "b.svg", &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "has no stages to draw");
}
