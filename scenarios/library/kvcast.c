#include "scenarios/library/kvcast.h"

#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/explore/point.h"
#include "scenarios/load/load.h"
#include "scenarios/run/answer.h"
#include "sim/base/array.h"
#include "sim/base/version.h"

struct kvcast {
    char *path;
    struct kvc_point *point; /* NULL: the scenario could not be opened. */
    bool is_predicted;       /* `forecast` is the last result. */
    struct kvc_forecast forecast;
    char *document; /* The last result; NULL: there is none, or it was only predicted so far. */
    json_t *root;   /* `document`, parsed when it is first read; NULL: not yet. */
    char error[sizeof(struct kvc_diag) + 32];
};

/* Values of a forecast that are read without making the document, unless devices are missing in them: the
 * document then has the sum of the others. */
static const struct {
    const char *path;
    size_t offset, missing; /* `missing` is 0 for values that need no device. */
} quick[] = {
    {"throughput_mops.mean", offsetof(struct kvc_forecast, throughput_mops), 0},
    {"load.offered_mops", offsetof(struct kvc_forecast, offered_mops), 0},
    {"load.unserved_frac", offsetof(struct kvc_forecast, unserved_frac), 0},
    {"latency_us.mean", offsetof(struct kvc_forecast, latency.mean_us), 0},
    {"latency_us.percentiles[p=0.5].us", offsetof(struct kvc_forecast, latency.p50_us), 0},
    {"latency_us.percentiles[p=0.95].us", offsetof(struct kvc_forecast, latency.p95_us), 0},
    {"latency_us.percentiles[p=0.99].us", offsetof(struct kvc_forecast, latency.p99_us), 0},
    {"latency_us.percentiles[p=0.999].us", offsetof(struct kvc_forecast, latency.p999_us), 0},
    {"energy.watts_mean", offsetof(struct kvc_forecast, watts_mean),
     offsetof(struct kvc_forecast, watts_missing)},
    {"energy.kops_per_watt", offsetof(struct kvc_forecast, kops_per_watt),
     offsetof(struct kvc_forecast, watts_missing)},
    {"price.usd", offsetof(struct kvc_forecast, price_usd), offsetof(struct kvc_forecast, price_missing)},
};

/* ---- calls ---- */

/* The caches of profiles and the lists of children belong to the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Begins a call. Numbers are read and written as in C, whatever the caller's locale. Returns that locale. */
static locale_t enter(void)
{
    static locale_t plain;
    pthread_mutex_lock(&lock);
    if (plain == (locale_t)0) {
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    }
    return uselocale(plain);
}

/* Ends a call, keeps its message, and returns its status. */
static int leave(struct kvcast *scenario, locale_t locale, enum kvc_status status,
                 const struct kvc_diag *diag)
{
    scenario->error[0] = '\0';
    if (status != KVC_OK) {
        FILE *out = fmemopen(scenario->error, sizeof(scenario->error), "w");
        if (out != NULL) {
            kvc_diag_print(diag, out);
            fclose(out);
        }
    }
    uselocale(locale);
    pthread_mutex_unlock(&lock);
    return (int)status;
}

static void drop_result(struct kvcast *scenario)
{
    json_decref(scenario->root);
    free(scenario->document);
    scenario->root = NULL;
    scenario->document = NULL;
    scenario->is_predicted = false;
}

static enum kvc_status check_open(const struct kvcast *scenario, struct kvc_diag *diag)
{
    return scenario->point != NULL ? KVC_OK
                                   : kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, scenario->path, 0,
                                                      "the scenario could not be opened");
}

int kvcast_open(const char *path, struct kvcast **out)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    struct kvcast *scenario = kvc_array_of(1, sizeof(*scenario));
    scenario->path = kvc_array_of(strlen(path) + 1, 1);
    strcpy(scenario->path, path);
    *out = scenario;
    return leave(scenario, locale, kvc_point_open(path, &scenario->point, &diag), &diag);
}

void kvcast_free(struct kvcast *scenario)
{
    if (scenario != NULL) {
        locale_t locale = enter();
        drop_result(scenario);
        kvc_point_free(scenario->point);
        free(scenario->path);
        leave(scenario, locale, KVC_OK, NULL);
        free(scenario);
    }
}

int kvcast_set(struct kvcast *scenario, const char *option, const char *value)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    drop_result(scenario);
    enum kvc_status status = check_open(scenario, &diag);
    if (status == KVC_OK) {
        status = kvc_point_set(scenario->point, option, value, &diag);
    }
    return leave(scenario, locale, status, &diag);
}

int kvcast_predict(struct kvcast *scenario)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    drop_result(scenario);
    enum kvc_status status = check_open(scenario, &diag);
    if (status == KVC_OK) {
        status = kvc_point_forecast(scenario->point, &scenario->forecast, &diag);
    }
    scenario->is_predicted = status == KVC_OK;
    return leave(scenario, locale, status, &diag);
}

const char *kvcast_error(const struct kvcast *scenario)
{
    return scenario->error;
}

const char *kvcast_version(void)
{
    return kvc_version;
}

/* ---- documents ---- */

/* Answers the scenario and makes the document. The caller frees *document. */
static enum kvc_status answer(const struct kvcast *scenario, enum kvc_answer_by by, char **document,
                              struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = NULL;
    size_t bytes;
    const struct kvc_overrides *set = kvc_point_options(scenario->point);
    FILE *out = open_memstream(document, &bytes);
    enum kvc_status status = out != NULL ? kvc_scenario_load(scenario->path, set, &loaded, diag)
                                         : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    if (status == KVC_OK) {
        const struct kvc_answer_options task = {
            .loaded = loaded, .path = scenario->path, .set = set, .by = by, .json = "-"};
        status = kvc_answer(&task, out, diag);
    }
    if (out != NULL) {
        fclose(out);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* What a child tells: this header, and then the bytes of the document, or the diag if it failed. */
struct told {
    enum kvc_status status;
    size_t bytes;
};

static void write_all(int fd, const void *data, size_t bytes)
{
    ssize_t written = 0;
    for (const char *from = data; bytes > 0 && written >= 0; from += written, bytes -= (size_t)written) {
        written = write(fd, from, bytes);
    }
}

static void tell_failure(void *fd, const struct kvc_diag *diag)
{
    const struct told told = {diag->status, sizeof(*diag)};
    write_all(*(int *)fd, &told, sizeof(told));
    write_all(*(int *)fd, diag, sizeof(*diag));
}

/* Runs the scenario in a child of the caller's process `parent`, as kvcast does in a process of its own: with
 * the usual signals, and without the caller's stdout. */
_Noreturn static void child_main(const struct kvcast *scenario, pid_t parent, int fd)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
    struct kvc_diag diag = {0};
    char *document = NULL;
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        signal(usual[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nowhere = open("/dev/null", O_WRONLY);
    if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) {
        _exit(KVC_ERR_RUNTIME);
    }
    kvc_out_of_memory_tell(tell_failure, &fd);
    enum kvc_status status = answer(scenario, KVC_ANSWER_BY_RUN, &document, &diag);
    if (status == KVC_OK) {
        const struct told told = {status, strlen(document) + 1};
        write_all(fd, &told, sizeof(told));
        write_all(fd, document, told.bytes);
    } else {
        diag.status = status;
        tell_failure(&fd, &diag);
    }
    _exit(KVC_OK); /* Nothing of the caller's may be flushed. */
}

/* Reads up to `bytes`; fewer come if the child ends before. */
static size_t read_all(int fd, void *data, size_t bytes)
{
    size_t got = 0;
    ssize_t more = 1;
    while (got < bytes && (more > 0 || (more < 0 && errno == EINTR))) {
        more = read(fd, (char *)data + got, bytes - got);
        got += more > 0 ? (size_t)more : 0;
    }
    return got;
}

/* Takes what the child tells. Returns false if it ended before it told everything. */
static bool hear(int fd, struct told *told, char **document, struct kvc_diag *diag)
{
    if (read_all(fd, told, sizeof(*told)) < sizeof(*told)) {
        return false;
    }
    if (told->status != KVC_OK) {
        return read_all(fd, diag, sizeof(*diag)) == sizeof(*diag);
    }
    *document = kvc_array_of(told->bytes, 1);
    return read_all(fd, *document, told->bytes) == told->bytes;
}

static enum kvc_status run(const struct kvcast *scenario, char **document, struct kvc_diag *diag)
{
    int ends[2], status = 0;
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start the run: %s", strerror(errno));
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(scenario, parent, ends[1]);
    }
    int error = errno;
    struct told told = {0};
    close(ends[1]);
    bool heard = child > 0 && hear(ends[0], &told, document, diag);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    if (child < 0) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "cannot start the run: %s", strerror(error));
    }
    if (!heard) {
        free(*document);
        *document = NULL;
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, scenario->path, 0, "the run was ended by %s",
                                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "its own exit");
    }
    return told.status;
}

int kvcast_run(struct kvcast *scenario)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    drop_result(scenario);
    enum kvc_status status = check_open(scenario, &diag);
    if (status == KVC_OK) {
        status = run(scenario, &scenario->document, &diag);
    }
    return leave(scenario, locale, status, &diag);
}

/* Makes the document of a result that was only predicted so far. */
static enum kvc_status make_document(struct kvcast *scenario, struct kvc_diag *diag)
{
    if (scenario->document != NULL) {
        return KVC_OK;
    }
    if (!scenario->is_predicted) {
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, scenario->path, 0,
            "found no result, allowed: one of kvcast_predict() or kvcast_run() since the last "
            "option was set");
    }
    char *document = NULL;
    enum kvc_status status = answer(scenario, KVC_ANSWER_BY_PREDICTION, &document, diag);
    if (status == KVC_OK) {
        scenario->document = document;
    } else {
        free(document);
    }
    return status;
}

const char *kvcast_json(struct kvcast *scenario)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    enum kvc_status status = make_document(scenario, &diag);
    leave(scenario, locale, status, &diag);
    return status == KVC_OK ? scenario->document : NULL;
}

/* ---- paths ---- */

/* Returns whether a member of an entry has the value that a path states. */
static bool is_called(const json_t *member, const char *text, size_t bytes)
{
    char *end;
    const char *string = json_string_value(member);
    if (string != NULL) {
        return strlen(string) == bytes && strncmp(string, text, bytes) == 0;
    }
    return json_is_number(member) && strtod(text, &end) == json_number_value(member) && end == text + bytes;
}

/* Takes a step "[3]" or "[name=search]" into an array. */
static const json_t *entry_of(const json_t *array, const char **path)
{
    const char *text = *path + 1, *end = strchr(text, ']');
    const char *equals = end != NULL ? memchr(text, '=', (size_t)(end - text)) : NULL;
    char key[KVC_PATH_MAX], *rest;
    if (end == NULL) {
        return NULL;
    }
    *path = end + 1;
    if (equals == NULL) {
        size_t index = strtoul(text, &rest, 10);
        return rest == end && rest > text ? json_array_get(array, index) : NULL;
    }
    snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        if (is_called(json_object_get(entry, key), equals + 1, (size_t)(end - equals - 1))) {
            return entry;
        }
    }
    return NULL;
}

/* Takes a step to a member of an object. A key may contain dots, such as a parameter's. */
static const json_t *member_of(const json_t *object, const char **path)
{
    const char *from = *path + (**path == '.');
    char key[KVC_PATH_MAX];
    snprintf(key, sizeof(key), "%.*s", (int)strcspn(from, "["), from);
    while (key[0] != '\0') {
        const json_t *member = json_object_get(object, key);
        if (member != NULL) {
            *path = from + strlen(key);
            return member;
        }
        char *dot = strrchr(key, '.');
        *(dot != NULL ? dot : key) = '\0';
    }
    return NULL;
}

/* Fails because a path leads no further than to `at`. */
static enum kvc_status fail_path(const char *path, const json_t *at, struct kvc_diag *diag)
{
    char keys[512] = "";
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)at, key, member)
    {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof(keys) - used, "%s%s", used > 0 ? ", " : "", key);
    }
    if (json_is_array(at)) {
        snprintf(keys, sizeof(keys), "[NUMBER] below %zu, or [KEY=VALUE]", json_array_size(at));
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the path \"%.200s\" leads nowhere; allowed there: %s", path,
                         keys[0] != '\0' ? keys : "the end");
}

static enum kvc_status find(struct kvcast *scenario, const char *path, double *value, struct kvc_diag *diag)
{
    enum kvc_status status = make_document(scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (scenario->root == NULL) {
        scenario->root = json_loads(scenario->document, 0, NULL);
    }
    const json_t *at = scenario->root;
    for (const char *rest = path; *rest != '\0' && !json_is_null(at);) {
        const json_t *next = *rest == '[' ? entry_of(at, &rest) : member_of(at, &rest);
        if (next == NULL) {
            return fail_path(path, at, diag);
        }
        at = next;
    }
    if (!json_is_number(at) && !json_is_boolean(at) && !json_is_null(at)) {
        return json_is_string(at) ? kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                                  "%.200s: found a text, allowed: the path of a number", path)
                                  : fail_path(path, at, diag);
    }
    *value = json_is_null(at) ? NAN : json_is_boolean(at) ? json_is_true(at) : json_number_value(at);
    return KVC_OK;
}

int kvcast_get(struct kvcast *scenario, const char *path, double *value)
{
    struct kvc_diag diag = {0};
    locale_t locale = enter();
    *value = NAN;
    const char *forecast = (const char *)&scenario->forecast;
    for (size_t i = 0; scenario->is_predicted && i < sizeof(quick) / sizeof(*quick); i++) {
        if (strcmp(quick[i].path, path) == 0 &&
            (quick[i].missing == 0 || forecast[quick[i].missing] == '\0')) {
            *value = *(const double *)(forecast + quick[i].offset);
            return leave(scenario, locale, KVC_OK, NULL);
        }
    }
    return leave(scenario, locale, find(scenario, path, value, &diag), &diag);
}
