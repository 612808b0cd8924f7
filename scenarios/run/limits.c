#include "scenarios/run/limits.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/run/ranks/ranks.h"
#include "sim/base/array.h"
#include "sim/base/cleanup.h"
#include "sim/base/diag.h"
#include "sim/engine.h"
#include "sim/run/replica_memory.h"
#include "sim/run/too_long.h"

#ifdef __GLIBC__
#endif

void kvc_memory_begin(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, KVC_ARRAY_MAPPED_BYTES);
#endif
}

double kvc_memory_taken_bytes(void)
{
    static const double kib = 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? kib * (double)usage.ru_maxrss : 0;
}

/* Calls the engine once in each way that every simulation does. */
static void work(void *data)
{
    const struct kvc_platform *platform = data;
    for (uint32_t i = 0; i < kvc_platform_hosts(platform); i++) {
        kvc_engine_work(&(struct kvc_draw){.host = i, .amount_ns = 1, .alone_ns = 1}, 1);
    }
    kvc_engine_sleep_until_ns(kvc_engine_now_ns() + 1);
}

/* Measurement of the child process. */
struct rehearsal {
    double bytes;
    struct kvc_diag diag; /* Error of the child, if it failed. */
};

static void tell_parent(void *data, const struct kvc_diag *diag)
{
    struct rehearsal rehearsal = {.diag = *diag};
    bool sent = write(*(const int *)data, &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    (void)sent; /* If this fails, too, the parent misses the answer. */
}

/* Runs in the child. */
_Noreturn static void rehearse(const struct kvc_scenario *scenario, int fd)
{
    struct rehearsal rehearsal = {0};
    kvc_out_of_memory_tell(tell_parent, &fd);
    kvc_ranks_leave();
    kvc_memory_begin();
    struct kvc_platform *platform = kvc_platform_create();
    if (scenario->model->platform != NULL) {
        scenario->model->platform(scenario, platform);
    }
    if (kvc_engine_open(NULL, platform, &rehearsal.diag) == KVC_OK) {
        kvc_engine_spawn("work", work, platform);
        kvc_engine_run();
        rehearsal.bytes = kvc_memory_taken_bytes();
    }
    bool sent = write(fd, &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    _exit(sent ? 0 : 1);
}

/* Gives up, unless a signal has ended the measurement: then nothing will be simulated, and the caller of this
 * work tells so. */
static void miss(const char *why)
{
    if (!kvc_cleanup_is_interrupted()) {
        kvc_give_up("the memory of a process that simulates cannot be measured: %s", why);
    }
}

/* Returns the memory [bytes]; 0 if a signal has ended the measurement. */
static double measure(const struct kvc_scenario *scenario)
{
    struct rehearsal rehearsal;
    int ends[2];
    pid_t pid = -1;
    if (pipe(ends) != 0 || (pid = kvc_cleanup_fork()) < 0) {
        miss(strerror(errno));
        return 0;
    }
    if (pid == 0) {
        close(ends[0]);
        rehearse(scenario, ends[1]);
    }
    close(ends[1]);
    bool answered = read(ends[0], &rehearsal, sizeof(rehearsal)) == sizeof(rehearsal);
    close(ends[0]);
    kvc_cleanup_reap(pid);
    if (!answered || rehearsal.bytes <= 0) {
        miss(answered ? rehearsal.diag.message : "the process ended early");
        return 0;
    }
    return rehearsal.bytes;
}

/* Returns the memory of such a process [bytes]. Measures it once, on the platform of the first scenario it is
 * asked about; processes forked later inherit the answer. If that fails, the program ends (kvc_give_up). */
static double base_bytes(const struct kvc_scenario *scenario)
{
    static double bytes = -1;
    if (bytes < 0) {
        bytes = kvc_engine_exists() ? measure(scenario) : kvc_memory_taken_bytes();
    }
    return bytes;
}

/* Returns the throughput that the closed form expects, 0 if it knows none [million/s]. */
static double served_mops(const struct kvc_scenario *scenario)
{
    struct kvc_result *predicted = kvc_array_of(1, sizeof(*predicted));
    struct kvc_diag unused = {0};
    enum kvc_status status = kvc_scenario_predict(scenario, predicted, &unused);
    double mops = status == KVC_OK && isfinite(predicted->throughput_mops) ? predicted->throughput_mops : 0;
    free(predicted);
    return mops;
}

/* Returns the rate of a steady load, 0 for others [million/s]. */
static double sent_mops(const struct kvc_scenario *scenario)
{
    return kvc_workload_is_steady(&scenario->workload) ? scenario->workload.rate_mops : 0;
}

/* Returns the memory of the requests that wait at the end for a store that serves less than it is sent. */
static double backlog_bytes(const struct kvc_scenario *scenario)
{
    static const double request_bytes = 24; /* At least when it was sent, its key and the hash of it. */
    double sent = sent_mops(scenario);
    if (sent <= 0) {
        return 0;
    }
    double waiting = kvc_replica_requests(scenario, 0, fmax(sent - served_mops(scenario), 0));
    return request_bytes * waiting / (kvc_cluster_is_apart(scenario) ? scenario->cluster.nodes : 1);
}

double kvc_memory_needed_bytes(const struct kvc_scenario *scenario)
{
    return base_bytes(scenario) + kvc_scenario_memory_bytes(scenario) + backlog_bytes(scenario);
}

static const double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

/* Returns the number in a file that contains nothing else, such as a limit of the control group, or -1. */
static double number_in_file(const char *path)
{
    double value = -1;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -1;
    }
    if (fscanf(file, "%lf", &value) != 1) { /* "max" stands for no limit. */
        value = -1;
    }
    fclose(file);
    return value;
}

static double meminfo_available_bytes(void)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1) {
            break;
        }
    }
    fclose(file);
    return kib * 1024;
}

double kvc_memory_available_bytes(void)
{
    double available = meminfo_available_bytes();
    double limit = number_in_file("/sys/fs/cgroup/memory.max");
    double used = number_in_file("/sys/fs/cgroup/memory.current");
    if (limit >= 0 && used >= 0) {
        available = fmin(available, fmax(limit - used, 0));
    }
    return available / kvc_ranks_here();
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

enum kvc_status kvc_memory_plan(double needed, double available, uint32_t replicas, uint32_t jobs,
                                uint32_t processors, uint32_t *planned, struct kvc_diag *diag)
{
    uint32_t wanted = least(jobs != 0 ? jobs : processors, replicas);
    *planned = wanted;
    if (available <= 0 || needed <= 0) {
        return KVC_OK;
    }
    uint32_t fit = (uint32_t)fmin(floor(available / needed), UINT32_MAX);
    if (fit == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "the run needs %.1f GiB, but this machine has %.1f GiB available; "
                             "use functional = \"sampled\" (run.functional)",
                             needed / bytes_per_gib, available / bytes_per_gib);
    }
    if (jobs != 0 && fit < wanted) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "%u jobs need %.1f GiB, but this machine has %.1f GiB available; use --jobs %u or "
            "functional = \"sampled\" (run.functional)",
            wanted, needed * wanted / bytes_per_gib, available / bytes_per_gib, fit);
    }
    *planned = least(wanted, fit);
    return KVC_OK;
}

static const double fastest_requests_per_s = 1e8;
static double limit_s = 86400;

double kvc_time_limit_s(void)
{
    return limit_s;
}

void kvc_time_limit_set(double new_limit_s)
{
    limit_s = new_limit_s;
}

double kvc_time_least_s(const struct kvc_scenario *scenario)
{
    double mops = fmax(served_mops(scenario), sent_mops(scenario));
    return kvc_replica_requests(scenario, 0, mops) / fastest_requests_per_s;
}

enum kvc_status kvc_time_plan(const struct kvc_scenario *scenario, double least_s, const char *what,
                              struct kvc_diag *diag)
{
    if (!(least_s > limit_s)) {
        return KVC_OK;
    }
    char text[64];
    snprintf(text, sizeof(text), "%s needs at least", what);
    enum kvc_status status =
        kvc_run_too_long(scenario->run.warmup_ns, scenario->run.duration_ns, text, least_s, limit_s, diag);
    return kvc_time_name_place(scenario, status, diag);
}

enum kvc_status kvc_time_name_place(const struct kvc_scenario *scenario, enum kvc_status status,
                                    struct kvc_diag *diag)
{
    static const char *const paths[] = {"run.duration", "run.warmup"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && diag != NULL && diag->line == 0; i++) {
        if (strncmp(diag->message, paths[i], strlen(paths[i])) == 0) {
            diag->line = kvc_locate_line(scenario->file, paths[i]);
            return kvc_diag_name(diag, status, scenario->file);
        }
    }
    return status;
}

enum { HALVINGS_MAX = 64, BISECTIONS = 4 };

/* Inputs that the scenario was loaded from. */
struct origin {
    const char *path;
    const struct kvc_overrides *set;
};

/* A number with its unit: "64MiB". */
struct quantity {
    double number;
    const char *unit;
};

/* Returns whether users size the option. Hardware does not count, nor the fill of the store, nor the sampling
 * rate, which reduces the memory as it grows. */
static bool is_candidate(const char *path)
{
    static const char *const sections[] = {"system.", "workload.", "run.", "cluster."};
    static const char *const others[] = {"run.seed", "run.replicas", "run.sample_rate", "run.sample_memory",
                                         "workload.preload"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strcmp(path, others[i]) == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        if (strncmp(path, sections[i], strlen(sections[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool quantity_of(const char *text, struct quantity *quantity)
{
    char *end;
    quantity->number = strtod(text, &end);
    quantity->unit = end;
    return end != text && isfinite(quantity->number) && quantity->number > 0;
}

/* Whole numbers stay whole. */
static void write_scaled(const struct quantity *quantity, double factor, char text[KVC_TEXT_MAX])
{
    double scaled = quantity->number * factor;
    if (quantity->number == floor(quantity->number)) {
        snprintf(text, KVC_TEXT_MAX, "%.0f%s", floor(scaled), quantity->unit);
    } else {
        snprintf(text, KVC_TEXT_MAX, "%.6g%s", scaled, quantity->unit);
    }
}

/* Returns the memory with another value of an option, or infinity if the scenario is wrong with it [bytes].
 */
static double bytes_with(const struct origin *origin, const char *path, const char *value)
{
    struct kvc_overrides set = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag unused = {0};
    double bytes = INFINITY;
    if (kvc_overrides_join(&set, origin->set, &unused) == KVC_OK &&
        kvc_overrides_add(&set, path, value, &unused) == KVC_OK &&
        kvc_scenario_load_point(origin->path, &set, &loaded, &unused) == KVC_OK) {
        bytes = kvc_memory_needed_bytes(&loaded->scenario);
    }
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&set);
    return bytes;
}

/* Returns the option that saves most memory if it is halved, or NULL if none saves any. */
static const struct kvc_parameter *find_cause(const struct kvc_loaded *loaded, const struct origin *origin,
                                              double needed)
{
    const struct kvc_parameter *cause = NULL;
    double least = needed;
    for (uint32_t i = 0; i < loaded->parameters.count; i++) {
        const struct kvc_parameter *parameter = &loaded->parameters.entry[i];
        struct quantity quantity;
        char half[KVC_TEXT_MAX];
        if (!is_candidate(parameter->path) || !quantity_of(parameter->value, &quantity)) {
            continue;
        }
        write_scaled(&quantity, 0.5, half);
        double bytes = bytes_with(origin, parameter->path, half);
        if (bytes < least) {
            least = bytes;
            cause = parameter;
        }
    }
    return cause;
}

/* Finds about the largest value of the option that fits. Returns false if none does. */
static bool find_fitting(const struct origin *origin, const struct kvc_parameter *cause, double available,
                         char fitting[KVC_TEXT_MAX])
{
    struct quantity quantity;
    char text[KVC_TEXT_MAX];
    double low = 1;
    quantity_of(cause->value, &quantity);
    for (int i = 0; i < HALVINGS_MAX; i++) {
        low /= 2;
        write_scaled(&quantity, low, text);
        if (bytes_with(origin, cause->path, text) <= available) {
            break;
        }
        if (quantity.number * low < 1) {
            return false;
        }
    }
    double high = 2 * low;
    write_scaled(&quantity, low, fitting);
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        write_scaled(&quantity, middle, text);
        if (bytes_with(origin, cause->path, text) <= available) {
            low = middle;
            strcpy(fitting, text);
        } else {
            high = middle;
        }
    }
    return true;
}

enum kvc_status kvc_memory_check(const struct kvc_loaded *loaded, const char *path,
                                 const struct kvc_overrides *set, double available, struct kvc_diag *diag)
{
    const struct origin origin = {path, set};
    const struct kvc_scenario *scenario = &loaded->scenario;
    double needed = kvc_memory_needed_bytes(scenario);
    char fitting[KVC_TEXT_MAX] = "", advice[2 * KVC_TEXT_MAX] = "", sampled[64] = "";
    if (available <= 0 || needed <= available) {
        return KVC_OK;
    }
    const struct kvc_parameter *cause = find_cause(loaded, &origin, needed);
    if (kvc_run_is_whole(&scenario->run) && bytes_with(&origin, "run.functional", "sampled") <= available) {
        snprintf(sampled, sizeof(sampled), "run.functional = \"sampled\"");
    }
    if (cause != NULL && find_fitting(&origin, cause, available, fitting)) {
        snprintf(advice, sizeof(advice), "%s = %s fits", cause->path, fitting);
    }
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, scenario->file,
        kvc_locate_line(scenario->file, cause != NULL ? cause->path : ""),
        "%s: found %s, with which the run needs %.1f GiB, but this machine has %.1f GiB available; %s%s%s",
        cause != NULL ? cause->path : "scenario", cause != NULL ? cause->value : "no option to reduce",
        needed / bytes_per_gib, available / bytes_per_gib,
        advice[0] == '\0' && sampled[0] == '\0' ? "no smaller value fits" : advice,
        sampled[0] == '\0'  ? ""
        : advice[0] != '\0' ? ", and so does "
                            : "what fits is ",
        sampled);
}
