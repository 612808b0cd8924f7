#include "validate/probes/machine.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "validate/probes/pin.h"

/* ---- what the system says ---- */

/* The text behind `key` and a colon in /proc/cpuinfo; `otherwise` where there is none. */
static void cpuinfo(const char *key, const char *otherwise, char *out, size_t size)
{
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "%s", otherwise);
    while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, key, strlen(key)) != 0) {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (in != NULL) {
        fclose(in);
    }
}

/* "0-1" or "0,64": two hardware threads in the first core. */
static uint32_t threads_per_core(void)
{
    char siblings[64] = "";
    FILE *in = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "r");
    if (in != NULL) {
        if (fgets(siblings, sizeof(siblings), in) == NULL) {
            siblings[0] = '\0';
        }
        fclose(in);
    }
    return strpbrk(siblings, ",-") != NULL ? 2 : 1;
}

void kvc_machine_ask(struct kvc_machine_facts *facts)
{
    char clock_mhz[64];
    time_t now = time(NULL);
    struct tm day;
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    *facts = (struct kvc_machine_facts){.threads_per_core = threads_per_core()};
    facts->cores = (kvc_pin_cores() + facts->threads_per_core - 1) / facts->threads_per_core;
    facts->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    facts->near_cache_bytes = cache > 0 ? (uint64_t)cache : 1 << 20;
    cpuinfo("model name", "unknown processor", facts->cpu, sizeof(facts->cpu));
    cpuinfo("cpu MHz", "1000", clock_mhz, sizeof(clock_mhz));
    facts->clock_hz = fmax(strtod(clock_mhz, NULL), 100) * 1e6;
    strftime(facts->date, sizeof(facts->date), "%Y-%m-%d", gmtime_r(&now, &day));
}

/* ---- the file ---- */

enum { LINE_BYTES = 64 };

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
static const struct kvc_memory_latency_point *beyond_near_cache(const struct kvc_machine_report *report)
{
    const struct kvc_memory_latency_curve *memory = &report->memory;
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->point[i].bytes > report->facts.near_cache_bytes) {
            return &memory->point[i];
        }
    }
    return &memory->point[memory->count - 1];
}

static void write_cpu(const struct writer *writer)
{
    const struct kvc_machine_facts *facts = &writer->report->facts;
    const struct kvc_memory_latency_point *point = beyond_near_cache(writer->report);
    const struct kvc_fit *fit = &writer->report->stages.receive.fit;
    char text[160];
    fprintf(writer->out, "  cpu = {\n    name = \"%s\",\n", facts->cpu);
    value(writer, "cores", facts->cores, "",
          "processors that the process may use, hyper-threads counted once");
    value(writer, "threads_per_core", facts->threads_per_core, "", "siblings of the first processor");
    value(writer, "clock", facts->clock_hz / 1e9, "GHz", "as the system states it");
    describe_fit(fit, fit->slope, fit->slope_half, text, sizeof(text));
    value(writer, "packet", fmax(fit->slope, 0), "ns", "frames of GETs, by their requests: %s", text);
    value(writer, "llc_hit_cycles", point->line_ns[0] * facts->clock_hz / 1e9, "",
          "dependent lines of %llu KiB, the first size beyond the core's own caches",
          (unsigned long long)(point->bytes >> 10));
    fprintf(writer->out, "  },\n");
}

static void write_dram(const struct writer *writer)
{
    const struct kvc_fit *fit = &writer->report->stages.read.fit;
    char text[160];
    fprintf(writer->out, "  dram = {\n    name = \"memory of this machine, as senders read items\",\n");
    describe_fit(fit, fit->base, fit->base_half, text, sizeof(text));
    value(writer, "random_line", fmax(fit->base, 0), "ns", "items by their bytes: %s", text);
    describe_fit(fit, LINE_BYTES * fit->slope, LINE_BYTES * fit->slope_half, text, sizeof(text));
    value(writer, "next_line", fmax(LINE_BYTES * fit->slope, 0), "ns",
          "64 times the slope of the same line: %s", text);
    value(writer, "line", LINE_BYTES, "B", "cache line of x86-64");
    value(writer, "bandwidth", writer->report->memory.sequential_bytes_per_s / 1e9, "GB/s",
          "one core reading in order");
    fprintf(writer->out, "  },\n");
}

static void write_line(const struct writer *writer, const char *per_op, const char *base,
                       const struct kvc_fit *fit, const char *what)
{
    char text[160];
    describe_fit(fit, fit->slope, fit->slope_half, text, sizeof(text));
    value(writer, per_op, fmax(fit->slope, 0), "ns", "%s: %s", what, text);
    describe_fit(fit, fit->base, fit->base_half, text, sizeof(text));
    value(writer, base, fmax(fit->base, 0), "ns", "%s: %s", what, text);
}

/* Where there is no GPU, one thread of the processor is the index's device. */
static void write_gpu(const struct writer *writer)
{
    const struct kvc_machine_facts *facts = &writer->report->facts;
    const struct kvc_gpu_facts *gpu = &writer->report->gpu;
    fprintf(writer->out, "  gpu = {\n    name = \"%s\",\n",
            gpu->present ? gpu->name : "index on one CPU thread");
    value(writer, "sms", gpu->present ? gpu->multiprocessors : 1, "",
          gpu->present ? "as the driver states it" : "one thread");
    value(writer, "memory", (double)(gpu->present ? gpu->memory_bytes : facts->memory_bytes) / 1e6, "MB",
          gpu->present ? "as the driver states it" : "main memory");
    if (gpu->present) {
        value(writer, "sectors", gpu->sectors_per_s / 1e9, "e9", "random 32-byte sectors of 2 GiB");
        value(writer, "launch", gpu->launch.median_s * 1e6, "us",
              "a kernel that does nothing, launched and waited for, quartiles %.3g .. %.3g us",
              gpu->launch.low_s * 1e6, gpu->launch.high_s * 1e6);
    }
    fprintf(writer->out, "    clocks = { {\n");
    value(writer, "core", gpu->present ? 1 : facts->clock_hz / 1e9, "GHz",
          gpu->present ? "not asked: the card's own choice, as it was calibrated"
                       : "as the system states it");
    value(writer, "memory", gpu->present ? 1 : facts->clock_hz / 1e9, "GHz", "not known");
    write_line(writer, "search_per_op", "search_base", &writer->report->stages.search.fit,
               "launches of searches, hits, all pipelines");
    write_line(writer, "insert_per_op", "insert_base", &writer->report->stages.insert.fit,
               "launches of inserts and deletes, all pipelines");
    fprintf(writer->out, "    } },\n  },\n");
}

static void write_pcie(const struct writer *writer)
{
    const struct kvc_gpu_facts *gpu = &writer->report->gpu;
    fprintf(writer->out, "  pcie = {\n    name = \"link to the %s\",\n", gpu->name);
    value(writer, "h2d", gpu->h2d_bytes_per_s / 1e9, "GB/s", "64 MiB of pinned memory to the device");
    value(writer, "d2h", gpu->d2h_bytes_per_s / 1e9, "GB/s", "64 MiB from the device to pinned memory");
    value(writer, "latency", gpu->copy.median_s * 1e6, "us",
          "64 bytes, the slower way, quartiles %.3g .. %.3g us", gpu->copy.low_s * 1e6,
          gpu->copy.high_s * 1e6);
    fprintf(writer->out, "  },\n");
}

static void write_curve(const struct writer *writer, const char *name,
                        const struct kvc_megakv_measured_curve *measured)
{
    fprintf(writer->out, "    %s = {\n", name);
    for (uint32_t i = 0; i < measured->curve.count; i++) {
        const struct kvc_megakv_cost_point *point = &measured->curve.point[i];
        fprintf(writer->out,
                "      { size = %.10g, footprint = \"%.10gMiB\", threads = %llu, time = \"%.4gns\",\n"
                "        source = \"measured %s: median of %d, quartiles %.4g .. %.4g ns\" },\n",
                point->size, point->footprint_bytes / 0x1p20, (unsigned long long)point->threads, point->ns,
                writer->report->facts.date, KVC_MEGAKV_REPETITIONS, measured->low_ns[i],
                measured->high_ns[i]);
    }
    fprintf(writer->out, "    },\n");
}

static void write_stages(const struct writer *writer)
{
    const struct kvc_megakv_measurement *stages = &writer->report->stages;
    fprintf(writer->out, "  megakv_costs = {\n    name = \"Mega-KV's own code on this machine\",\n");
    write_curve(writer, "receive", &stages->receive);
    write_curve(writer, "write", &stages->write);
    write_curve(writer, "pass", &stages->pass);
    write_curve(writer, "read", &stages->read);
    write_curve(writer, "read_checked", &stages->read_checked);
    write_curve(writer, "read_half_marked", &stages->read_half_marked);
    write_curve(writer, "read_marked", &stages->read_marked);
    write_curve(writer, "read_half_missed", &stages->read_half_missed);
    write_curve(writer, "read_slowest", &stages->read_slowest);
    write_curve(writer, "search", &stages->search);
    write_curve(writer, "search_miss", &stages->search_miss);
    write_curve(writer, "drain", &stages->drain);
    write_curve(writer, "search_high_load", &stages->search_high_load);
    write_curve(writer, "insert", &stages->insert);
    write_curve(writer, "insert_high_load", &stages->insert_high_load);
    fprintf(writer->out, "  },\n");
}

static void write_launches(const struct writer *writer)
{
    const struct kvc_megakv_launch_fits *launches = &writer->report->launches;
    fprintf(writer->out,
            "-- Launches of an index of %llu MiB alone, T = k jobs + b, 256 to 65536 jobs, by load factor; "
            "95 %%:\n"
            "--   table                  load  operation   k, ns            b, us            worst\n",
            (unsigned long long)(launches->table_bytes >> 20));
    for (int i = 0; i < KVC_MEGAKV_LAUNCH_FITS; i++) {
        const struct kvc_megakv_launch_fit *row = &launches->fit[i];
        const struct kvc_fit *fit = &row->fit;
        fprintf(writer->out, "--   %-22s %.1f   %-9s %7.3f +- %-6.2g %8.2f +- %-6.2g %.0f %%%s\n",
                row->layout, row->load_frac, row->operation, fit->slope, fit->slope_half, fit->base / 1e3,
                fit->base_half / 1e3, 100 * fit->worst_frac, fit->linear ? "" : ", NOT a straight line");
    }
}

static void write_handoffs(const struct writer *writer)
{
    const struct kvc_handoffs *handoffs = &writer->report->handoffs;
    fprintf(writer->out, "-- From the first core to each other one, through a ring, ns:");
    for (uint32_t core = 1; core < handoffs->cores; core++) {
        fprintf(writer->out, " %.0f", handoffs->ns[core]);
    }
    fprintf(writer->out, "%s\n", handoffs->cores < 2 ? " there is no other" : "");
}

static void write_cores(const struct writer *writer)
{
    const struct kvc_cores *cores = &writer->report->cores;
    fprintf(writer->out, "-- Speed of each core while all work, of the fastest one alone:");
    for (uint32_t core = 0; core < cores->count; core++) {
        fprintf(writer->out, " %.2f", cores->speed_frac[core]);
    }
    fprintf(writer->out, "%s\n",
            kvc_cores_slowest_frac(cores) < kvc_cores_shared_frac
                ? ": SOME SHARE THEIR UNITS, with each other or a neighbour"
                : "");
}

static void write_memory(const struct writer *writer)
{
    const struct kvc_machine_report *report = writer->report;
    fprintf(writer->out,
            "-- Random lines, ns each, by working set and by the number of chains followed at once:\n"
            "--        KiB       1       2       4       8      16      32\n");
    for (uint32_t i = 0; i < report->memory.count; i++) {
        const struct kvc_memory_latency_point *point = &report->memory.point[i];
        fprintf(writer->out, "-- %10llu", (unsigned long long)(point->bytes >> 10));
        for (int c = 0; c < KVC_MEMORY_LATENCY_CHAINS; c++) {
            fprintf(writer->out, " %7.2f", point->line_ns[c]);
        }
        fprintf(writer->out, "\n");
    }
    fprintf(writer->out,
            "-- Of %u points of the stages %u were more than 10 %% slower in one of two passes.\n",
            report->stages.points, report->stages.disagreeing);
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
    write_gpu(&writer);
    if (report->gpu.present) {
        write_pcie(&writer);
    }
    write_stages(&writer);
    fprintf(out, "}\n\n");
    write_launches(&writer);
    write_handoffs(&writer);
    write_cores(&writer);
    write_memory(&writer);
}
