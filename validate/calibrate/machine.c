#include "validate/calibrate/machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what the system says ---- */

/* The text behind `key` and a colon in /proc/cpuinfo; `otherwise` where there is none. */
static void cpuinfo(const char *key, const char *otherwise, char *out, size_t size)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "%s", otherwise);
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, key, strlen(key)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (in != NULL)
        fclose(in);
}

/* "0-1" or "0,64": two hardware threads in the first core. */
static uint32_t threads_per_core(void)
{
    char siblings[64] = "";
    FILE *in = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "r");
    if (in != NULL) {
        if (fgets(siblings, sizeof siblings, in) == NULL)
            siblings[0] = '\0';
        fclose(in);
    }
    return strpbrk(siblings, ",-") != NULL ? 2 : 1;
}

void kvc_machine_ask(struct kvc_machine_facts *facts)
{
    char clock_mhz[64];
    time_t now = time(NULL);
    struct tm day;
    long online = sysconf(_SC_NPROCESSORS_ONLN), cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    *facts = (struct kvc_machine_facts){.threads_per_core = threads_per_core()};
    facts->cores =
        online > 0 ? ((uint32_t)online + facts->threads_per_core - 1) / facts->threads_per_core : 1;
    facts->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    facts->near_cache_bytes = cache > 0 ? (uint64_t)cache : 1 << 20;
    cpuinfo("model name", "unknown processor", facts->cpu, sizeof facts->cpu);
    cpuinfo("cpu MHz", "1000", clock_mhz, sizeof clock_mhz);
    facts->clock_hz = fmax(strtod(clock_mhz, NULL), 100) * 1e6;
    strftime(facts->date, sizeof facts->date, "%Y-%m-%d", gmtime_r(&now, &day));
}

/* ---- the file ---- */

struct writer {
    FILE *out;
    const struct kvc_machine_report *report;
};

/* field = { "value unit", source = "measured DATE: how" }, */
static void value(const struct writer *writer, const char *field, double number, const char *unit,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

static void value(const struct writer *writer, const char *field, double number, const char *unit,
                  const char *format, ...)
{
    va_list arguments;
    fprintf(writer->out,
            unit[0] != '\0' ? "    %s = { \"%.4g%s\", source = \"measured %s: "
                            : "    %s = { %.4g%s, source = \"measured %s: ",
            field, number, unit, writer->report->facts.date);
    va_start(arguments, format);
    vfprintf(writer->out, format, arguments);
    va_end(arguments);
    fprintf(writer->out, "\" },\n");
}

/* "1.2 .. 1.4 (95 %), 9 points, worst 3.1 % off" and whether that is a line. */
static void describe_fit(const struct kvc_fit *fit, double middle, double half, char *out, size_t size)
{
    snprintf(out, size, "%.3g .. %.3g (95 %%), %zu points, worst %.1f %% off%s", middle - half, middle + half,
             fit->points, 100 * fit->worst_frac, fit->linear ? "" : "; NOT a straight line");
}

/* The first working set that a core's own caches do not hold. */
static const struct kvc_memory_point *beyond_near_cache(const struct kvc_machine_report *report)
{
    const struct kvc_memory_curve *memory = &report->memory;
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->point[i].bytes > report->facts.near_cache_bytes)
            return &memory->point[i];
    return &memory->point[memory->count - 1];
}

static void write_cpu(const struct writer *writer)
{
    const struct kvc_machine_facts *facts = &writer->report->facts;
    const struct kvc_memory_point *point = beyond_near_cache(writer->report);
    fprintf(writer->out, "  cpu = {\n    name = \"%s\",\n", facts->cpu);
    value(writer, "cores", facts->cores, "", "processors online, hyper-threads counted once");
    value(writer, "threads_per_core", facts->threads_per_core, "", "siblings of the first processor");
    value(writer, "clock", facts->clock_hz / 1e9, "GHz", "as the system states it");
    value(writer, "packet", writer->report->stages.receive_ns, "ns",
          "request parsed, hashed and appended to its batch, key of 8 bytes");
    value(writer, "llc_hit_cycles", point->line_ns[0] * facts->clock_hz / 1e9, "",
          "dependent lines of %llu KiB, the first size beyond the core's own caches",
          (unsigned long long)(point->bytes >> 10));
    fprintf(writer->out, "  },\n");
}

static void write_dram(const struct writer *writer)
{
    const struct kvc_fit *fit = &writer->report->stages.read.fit;
    char text[160];
    fprintf(writer->out, "  dram = {\n    name = \"memory of this machine, as the slab store reads it\",\n");
    describe_fit(fit, fit->base, fit->base_half, text, sizeof text);
    value(writer, "random_line", fmax(fit->base, 0), "ns", "items read in batches, by their lines: %s", text);
    describe_fit(fit, fit->slope, fit->slope_half, text, sizeof text);
    value(writer, "next_line", fmax(fit->slope, 0), "ns", "slope of the same line: %s", text);
    value(writer, "line", 64, "B", "cache line of x86-64");
    value(writer, "bandwidth", writer->report->memory.sequential_bytes_per_s / 1e9, "GB/s",
          "one core reading in order");
    fprintf(writer->out, "  },\n");
}

static void write_law(const struct writer *writer, const char *per_op, const char *base,
                      const struct kvc_fit *fit, const char *what)
{
    char text[160];
    describe_fit(fit, fit->slope, fit->slope_half, text, sizeof text);
    value(writer, per_op, fmax(fit->slope, 0), "ns", "%s: %s", what, text);
    describe_fit(fit, fit->base, fit->base_half, text, sizeof text);
    value(writer, base, fmax(fit->base, 0), "ns", "%s: %s", what, text);
}

static void write_gpu(const struct writer *writer)
{
    const struct kvc_gpu_costs *gpu = &writer->report->gpu;
    fprintf(writer->out, "  gpu = {\n    name = \"%s\",\n", gpu->name);
    value(writer, "sms", gpu->multiprocessors, "", "as the driver states it");
    value(writer, "memory", (double)gpu->memory_bytes / 1e6, "MB", "as the driver states it");
    fprintf(writer->out, "    clocks = { {\n");
    value(writer, "core", 1, "GHz", "not asked: the card's own choice, as it was calibrated");
    value(writer, "memory", 1, "GHz", "not asked, as above");
    write_law(writer, "search_per_op", "search_base", &gpu->search.fit,
              "launches of searches, hits at load 0.5, host memory in place");
    write_law(writer, "insert_per_op", "insert_base", &gpu->insert.fit,
              "launches of inserts of keys that are there, load 0.5, host memory in place");
    fprintf(writer->out, "    } },\n  },\n");
}

/* Where there is no GPU, one thread of the processor is the index's device. */
static void write_index_thread(const struct writer *writer)
{
    const struct kvc_machine_facts *facts = &writer->report->facts;
    fprintf(writer->out, "  gpu = {\n    name = \"index on one CPU thread\",\n");
    value(writer, "sms", 1, "", "one thread");
    value(writer, "memory", (double)facts->memory_bytes / 1e6, "MB", "main memory");
    fprintf(writer->out, "    clocks = { {\n");
    value(writer, "core", facts->clock_hz / 1e6, "MHz", "as the system states it");
    value(writer, "memory", facts->clock_hz / 1e6, "MHz", "not known: the core's");
    write_law(writer, "search_per_op", "search_base", &writer->report->stages.search.fit,
              "launches of 256 to 65536 searches, hits");
    write_law(writer, "insert_per_op", "insert_base", &writer->report->stages.insert.fit,
              "launches of 256 to 65536 inserts of keys that are there");
    fprintf(writer->out, "    } },\n  },\n");
}

static void write_curve(const struct writer *writer, const char *what, const struct kvc_law *law)
{
    fprintf(writer->out, "-- %s, ns:", what);
    for (uint32_t i = 0; i < law->count; i++)
        fprintf(writer->out, " %.4g: %.4g%s", law->x[i], law->ns[i], i + 1 < law->count ? "," : "");
    fprintf(writer->out, "\n");
}

static void write_curves(const struct writer *writer)
{
    const struct kvc_machine_report *report = writer->report;
    fprintf(writer->out,
            "-- Random lines, ns each, by working set and by the number of chains followed at once:\n"
            "--        KiB       1       2       4       8      16      32\n");
    for (uint32_t i = 0; i < report->memory.count; i++) {
        const struct kvc_memory_point *point = &report->memory.point[i];
        fprintf(writer->out, "-- %10llu", (unsigned long long)(point->bytes >> 10));
        for (int c = 0; c < KVC_MEMORY_CHAINS; c++)
            fprintf(writer->out, " %7.2f", point->line_ns[c]);
        fprintf(writer->out, "\n");
    }
    write_curve(writer, "Item read, by following and streamed lines", &report->stages.read);
    write_curve(writer, "Item written into a full store, by following and streamed lines",
                &report->stages.write);
    write_curve(writer, "Searches on one CPU thread, by jobs", &report->stages.search);
    write_curve(writer, "Inserts on one CPU thread, by jobs", &report->stages.insert);
    if (report->gpu.present) {
        write_curve(writer, "Launch of searches on the GPU, by jobs", &report->gpu.search);
        write_curve(writer, "Launch of inserts on the GPU, by jobs", &report->gpu.insert);
    }
    fprintf(writer->out, "-- The same arithmetic took up to %.1f %% longer at times%s.\n",
            100 * kvc_steadiness_spread_frac(&report->steadiness),
            kvc_steadiness_spread_frac(&report->steadiness) > KVC_MACHINE_BUSY_FRAC
                ? ": THE MACHINE WAS BUSY, calibrate again"
                : "");
}

void kvc_machine_write(const struct kvc_machine_report *report, FILE *out)
{
    struct writer writer = {out, report};
    fprintf(out,
            "-- Written by kvcast calibrate. Use: node = { machine = \"this file\" }.\n"
            "return {\n  kind = \"machine\",\n  name = \"%u cores of %s\",\n  date = \"%s\",\n"
            "  compiler = \"gcc %s\",\n  commit = \"%s\",\n",
            report->facts.cores, report->facts.cpu, report->facts.date, __VERSION__, report->version);
    write_cpu(&writer);
    write_dram(&writer);
    if (report->gpu.present)
        write_gpu(&writer);
    else
        write_index_thread(&writer);
    fprintf(out, "}\n\n");
    write_curves(&writer);
}
