/* kvcast new: writes a first scenario. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/forecast.h"
#include "models/registry.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/cli/print.h"
#include "scenarios/load/decode/hardware.h"
#include "scenarios/output/again.h"
#include "sim/base/files/partial_file.h"

enum { FLAG_FILE, FLAG_STORE, FLAG_FORCE, COMMENT_COLUMNS = 110, ALLOWED_MAX = 2048 };

static const struct kvc_flag flags[] = {
    [FLAG_FILE] = {"--output", "-o", "FILE.lua", "write the scenario to this file instead of stdout"},
    [FLAG_STORE] = {"--store", NULL, "NAME", "short for --set system.kind=NAME; kvcast list systems"},
    [FLAG_FORCE] = {"--force", NULL, NULL, "replace FILE.lua if it exists"},
    {0},
};

static const struct kvc_usage usage = {
    .command = "new",
    .positional = "",
    .help =
        "Writes a first scenario that explains each of its values and every other option of the store.\n"
        "On a terminal, kvcast new without --store and --set\n"
        "asks for the store, its devices, keys, sizes, the share of GETs, the rate and the latency target, and says what\n"
        "is allowed; an empty answer takes the default. Otherwise --set states what differs from the defaults. The\n"
        "default rate is half of the closed form's throughput; it is halved again while the closed form leaves more\n"
        "than 0.1 % of the requests unserved. The default p99 target is five times the closed form's mean latency, or\n"
        "1 ms where that is unknown. A store whose clients wait for responses has a number of clients instead of a rate.",
    .takes = KVC_TAKES_SET,
    .flags = flags,
};

/* A scenario in the making: the values of its options by path, in the order in which they are written. */
struct draft {
    const struct kvc_overrides *set; /* The user's; they replace questions. */
    struct kvc_overrides value;
    bool asks;               /* Questions go to stderr, and their answers come from stdin. */
    struct kvc_diag failure; /* What kept a default from being found, such as too little memory. */
};

/* ---- values ---- */

/* Returns whether `path` is `of` or lies below it. */
static bool is_within(const char *path, const char *of)
{
    size_t bytes = strlen(of);
    return strncmp(path, of, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '.');
}

static const char *find(const struct kvc_overrides *set, const char *path)
{
    const char *value = NULL;
    for (uint32_t i = 0; i < set->count; i++) {
        value = strcmp(set->entry[i].path, path) == 0 ? set->entry[i].value : value;
    }
    return value;
}

/* Returns whether the user has set something that the question would contradict: the same option or a part of
 * it, another kind of popularity or arrival, or keys and sizes by other means. */
static bool is_settled(const struct draft *draft, const char *path)
{
    static const char *const kinds[] = {"workload.arrival", "workload.dist"};
    static const char *const others[] = {"workload.preset", "workload.sizes", "workload.phases",
                                         "workload.actions", "workload.arrival.trace"};
    for (uint32_t i = 0; i < draft->set->count; i++) {
        const char *set = draft->set->entry[i].path;
        bool is_same = is_within(set, path) || is_within(path, set);
        for (int j = 0; j < 2; j++) {
            is_same = is_same || (is_within(path, kinds[j]) && is_within(set, kinds[j]));
        }
        for (int j = 0; j < 5; j++) {
            is_same = is_same || (is_within(set, others[j]) && is_within(path, "workload") &&
                                  !is_within(path, kinds[0]));
        }
        if (is_same) {
            return true;
        }
    }
    return false;
}

/* Returns the option of a path, or NULL: those of `system` belong to the store, and items of lists to no
 * path. */
static const struct kvc_option *option_of(const struct draft *draft, const char *path)
{
    char own[2 * KVC_PATH_MAX];
    const char *kind = find(&draft->value, "system.kind");
    if (kind != NULL && is_within(path, "system")) {
        snprintf(own, sizeof(own), "%.100s%s", kind, path + strlen("system"));
        path = own;
    }
    return kvc_describe_option(path);
}

/* ---- the loader's opinion ---- */

/* Loads the scenario that the values make, from a file in memory. */
static enum kvc_status load(const struct kvc_overrides *value, struct kvc_loaded **loaded,
                            struct kvc_diag *diag)
{
    static const char empty[] = "return {}";
    char place[64];
    int descriptor = memfd_create("scenario", MFD_CLOEXEC);
    if (descriptor < 0 || write(descriptor, empty, strlen(empty)) != (ssize_t)strlen(empty)) {
        enum kvc_status status =
            kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a scenario: %s", strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
        return status;
    }
    snprintf(place, sizeof(place), "/proc/self/fd/%d", descriptor);
    enum kvc_status status = kvc_scenario_load(place, value, loaded, diag);
    if (strcmp(diag->file, place) == 0) { /* What the scenario lacks is at no place. */
        diag->file[0] = '\0';
        diag->line = 0;
    }
    close(descriptor);
    return status;
}

/* Loads the scenario as it is so far, with one more value unless `path` is NULL, and forecasts it unless
 * `out` is NULL. Returns false if it is refused, or the closed form has no answer. */
static bool forecast(struct draft *draft, const char *path, const char *value, struct kvc_forecast *out)
{
    struct kvc_overrides trial = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    bool is_known = kvc_overrides_join(&trial, &draft->value, &diag) == KVC_OK &&
                    (path == NULL || kvc_overrides_add(&trial, path, value, &diag) == KVC_OK) &&
                    load(&trial, &loaded, &diag) == KVC_OK &&
                    (out == NULL || kvc_scenario_forecast(&loaded->scenario, out, &diag) == KVC_OK);
    if (diag.status == KVC_ERR_RUNTIME && draft->failure.status == KVC_OK) {
        draft->failure = diag;
    }
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&trial);
    return is_known;
}

/* Rounds a positive number to `digits` significant digits. */
static double rounded(double value, int digits)
{
    double unit = pow(10, floor(log10(value)) - digits + 1);
    return round(value / unit) * unit;
}

static const char rate_path[] = "workload.arrival.poisson_mops";

/* Half of the throughput, and half of that until no request stays behind: writes alone may limit a store. */
static void choose_rate(struct draft *draft, char *text, size_t size)
{
    struct kvc_forecast expected;
    bool is_known = forecast(draft, NULL, NULL, &expected) && expected.throughput_mops > 0;
    double mops = is_known ? expected.throughput_mops / 2 : 1;
    snprintf(text, size, "%.6g", rounded(mops, 2));
    while (mops > 1e-3 && forecast(draft, rate_path, text, &expected) && expected.unserved_frac > 1e-3) {
        mops /= 2;
        snprintf(text, size, "%.6g", rounded(mops, 2));
    }
}

/* As many clients as an open load has by default. */
static void choose_clients(struct draft *draft, char *text, size_t size)
{
    (void)draft;
    snprintf(text, size, "%s", kvc_describe_option("workload.flows")->by_default);
}

/* Five times the mean latency. */
static void choose_target(struct draft *draft, char *text, size_t size)
{
    struct kvc_forecast expected;
    bool is_known = forecast(draft, NULL, NULL, &expected) && expected.latency.mean_us > 0;
    kvc_quantity_print(is_known ? rounded(5e3 * expected.latency.mean_us, 1) : 1e6, KVC_UNIT_NS, text, size);
}

/* Whatever GETs and DELETEs leave. */
static void choose_sets(struct draft *draft, char *text, size_t size)
{
    const char *gets = find(&draft->value, "workload.get"), *deletes = find(draft->set, "workload.delete");
    double frac = 1 - (gets != NULL ? atof(gets) : 0) - (deletes != NULL ? atof(deletes) : 0);
    snprintf(text, size, "%.6g", fmax(frac, 0));
}

static void choose_gets(struct draft *draft, char *text, size_t size)
{
    const char *sets = find(draft->set, "workload.set"), *deletes = find(draft->set, "workload.delete");
    const char *usual = kvc_describe_option("workload.get")->by_default;
    double frac = 1 - (sets != NULL ? atof(sets) : 0) - (deletes != NULL ? atof(deletes) : 0);
    snprintf(text, size, "%.6g", fmax(0, sets != NULL ? frac : fmin(frac, atof(usual))));
}

static void choose_store(struct draft *draft, char *text, size_t size)
{
    (void)draft;
    snprintf(text, size, "%s", kvc_models[0]->name);
}

/* ---- questions ---- */

/* Writes the names of all stores, or of all hardware profiles of a kind. */
static void list_names(const struct kvc_device_kind *of, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; of == NULL && kvc_models[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", kvc_models[i]->name);
    }
    struct kvc_profiles profiles = {.count = 0};
    if (of != NULL) {
        kvc_hardware_list(&profiles);
    }
    for (size_t i = 0; i < profiles.count && used < size; i++) {
        char file[PATH_MAX];
        struct kvc_loaded loaded = {.warning_count = 0};
        struct kvc_node node = {.sockets = 1};
        struct kvc_diag diag = {0};
        const struct kvc_device_kind *kind = NULL;
        snprintf(file, sizeof(file), "%s/%s.lua", kvc_hardware_dir(), profiles.name[i]);
        if (kvc_hardware_read(file, &kind, &node, &loaded, &diag) == KVC_OK && kind == of) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", profiles.name[i]);
        }
        kvc_node_free(&node);
        kvc_parameters_clear(&loaded.parameters);
        kvc_parameters_clear(&loaded.provenance);
    }
}

/* Asks until the loader accepts the answer. An empty one stands for the default that `value` has. */
static enum kvc_status ask(struct draft *draft, const char *path, const struct kvc_device_kind *device,
                           char value[KVC_TEXT_MAX], struct kvc_diag *diag)
{
    char allowed[ALLOWED_MAX], line[KVC_TEXT_MAX], by_default[KVC_TEXT_MAX];
    const struct kvc_option *row = option_of(draft, path);
    bool is_store = strcmp(path, "system.kind") == 0;
    snprintf(by_default, sizeof(by_default), "%s", value);
    if (is_store || device != NULL) {
        list_names(device, allowed, sizeof(allowed));
    } else {
        kvc_describe_allowed(row, allowed, sizeof(allowed));
    }
    fprintf(stderr, "%s: %s\n  allowed: %s\n", path,
            device != NULL ? device->help
            : row != NULL  ? row->help
                           : "which store",
            allowed);
    for (;;) {
        struct kvc_overrides trial = {0};
        struct kvc_loaded *loaded = NULL;
        struct kvc_diag refused = {0};
        fprintf(stderr, "  [%s] ", by_default);
        if (fgets(line, sizeof(line), stdin) == NULL) {
            fputc('\n', stderr);
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "new: %s: found no answer, allowed: %.800s", path,
                                 allowed);
        }
        char *first = line + strspn(line, " \t"), *end = first + strcspn(first, "\n");
        while (end > first && isspace((unsigned char)end[-1])) {
            end--;
        }
        *end = '\0';
        snprintf(value, KVC_TEXT_MAX, "%s", *first != '\0' ? first : by_default);
        enum kvc_status status = kvc_overrides_join(&trial, &draft->value, &refused);
        status = status == KVC_OK ? kvc_overrides_add(&trial, path, value, &refused) : status;
        if (status == KVC_OK && strcmp(path, "workload.get") == 0) { /* The shares must add up. */
            char sets[KVC_TEXT_MAX];
            choose_sets(&(struct draft){.set = draft->set, .value = trial}, sets, sizeof(sets));
            status = kvc_overrides_add(&trial, "workload.set", sets, &refused);
        }
        status = status == KVC_OK ? load(&trial, &loaded, &refused) : status;
        kvc_loaded_free(loaded);
        kvc_overrides_clear(&trial);
        if (status == KVC_OK) {
            return KVC_OK;
        }
        if (status != KVC_ERR_SCENARIO) {
            *diag = refused;
            return status;
        }
        fprintf(stderr, "  %s\n", refused.message);
    }
}

/* A scenario in a folder of its own still finds the file. */
static void make_absolute(const struct kvc_option *row, char value[KVC_TEXT_MAX])
{
    char real[PATH_MAX];
    struct stat status;
    if (row != NULL && row->type == KVC_OPTION_TEXT && strchr(value, '.') != NULL &&
        stat(value, &status) == 0 && S_ISREG(status.st_mode) && realpath(value, real) != NULL &&
        strlen(real) < KVC_TEXT_MAX) {
        snprintf(value, KVC_TEXT_MAX, "%.255s", real);
    }
}

/* What a question is about. Its default is that of the option unless there is a function for it. */
struct question {
    const char *path;
    void (*choose)(struct draft *draft, char *text, size_t size);
    bool is_silent; /* Its answer follows from others, or the default does for a first scenario. */
};

/* Takes what the user has set for a path, or else the answer, or the default. */
static enum kvc_status settle(struct draft *draft, const struct question *question,
                              const struct kvc_device_kind *device, const char *by_default,
                              struct kvc_diag *diag)
{
    char value[KVC_TEXT_MAX];
    const char *set = find(draft->set, question->path);
    enum kvc_status status = KVC_OK;
    if (find(&draft->value, question->path) != NULL || (set == NULL && is_settled(draft, question->path))) {
        return KVC_OK;
    }
    if (set != NULL) {
        snprintf(value, sizeof(value), "%s", set);
    } else if (question->choose != NULL) {
        question->choose(draft, value, sizeof(value));
        if (draft->failure.status != KVC_OK) {
            *diag = draft->failure;
            return diag->status;
        }
    } else {
        snprintf(value, sizeof(value), "%s",
                 by_default != NULL ? by_default : option_of(draft, question->path)->by_default);
    }
    if (draft->asks && !question->is_silent) {
        status = ask(draft, question->path, device, value, diag);
    }
    make_absolute(option_of(draft, question->path), value);
    return status == KVC_OK ? kvc_overrides_add(&draft->value, question->path, value, diag) : status;
}

static enum kvc_status settle_devices(struct draft *draft, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    const struct kvc_model *model = kvc_model_find(find(&draft->value, "system.kind"));
    for (size_t i = 0; model != NULL && model->devices[i].kind != NULL && status == KVC_OK; i++) {
        const struct kvc_model_device *device = &model->devices[i];
        char path[KVC_PATH_MAX];
        snprintf(path, sizeof(path), "node.%s", device->kind->name);
        if (device->profile != NULL && !device->kind->optional) {
            status = settle(draft, &(struct question){.path = path}, device->kind, device->profile, diag);
        }
    }
    return status;
}

/* Takes the options that the user has set and no question is about. */
static enum kvc_status add_others(struct draft *draft, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < draft->set->count && status == KVC_OK; i++) {
        const char *path = draft->set->entry[i].path;
        if (find(&draft->value, path) == NULL) {
            status = settle(draft, &(struct question){.path = path, .is_silent = true}, NULL, NULL, diag);
        }
    }
    return status;
}

/* Adds what a first scenario of the store states, unless the user has set it. */
static enum kvc_status add_first(struct draft *draft, struct kvc_diag *diag)
{
    const struct kvc_model *model = kvc_model_find(find(&draft->value, "system.kind"));
    enum kvc_status status = KVC_OK;
    if (model == NULL) { /* The loader says so later. */
        return KVC_OK;
    }
    for (uint32_t i = 0; model->first != NULL && model->first[i][0] != NULL && status == KVC_OK; i++) {
        if (find(draft->set, model->first[i][0]) == NULL) {
            status = kvc_overrides_add(&draft->value, model->first[i][0], model->first[i][1], diag);
        }
    }
    return status;
}

/* Fills the draft, and lets the loader judge it. The rate and the target come last, because their defaults
 * depend on all else. */
static enum kvc_status fill(struct draft *draft, struct kvc_diag *diag)
{
    static const struct question kind = {"system.kind", choose_store, false};
    static const struct question load_of[] = {
        {"workload.keys", NULL, false},      {"workload.key", NULL, false},
        {"workload.value", NULL, false},     {"workload.get", choose_gets, false},
        {"workload.set", choose_sets, true}, {"workload.dist.zipf", NULL, true},
    };
    static const struct question open = {rate_path, choose_rate, false};
    static const struct question closed = {"workload.arrival.clients", choose_clients, false};
    static const struct question last[] = {
        {"slo.p99", choose_target, false}, {"run.duration", NULL, true}, {"run.seed", NULL, true}};
    struct kvc_loaded *loaded = NULL;
    enum kvc_status status = settle(draft, &kind, NULL, NULL, diag);
    status = status == KVC_OK ? add_first(draft, diag) : status;
    status = status == KVC_OK ? settle_devices(draft, diag) : status;
    for (size_t i = 0; i < sizeof(load_of) / sizeof(*load_of) && status == KVC_OK; i++) {
        status = settle(draft, &load_of[i], NULL, NULL, diag);
    }
    status = status == KVC_OK ? add_others(draft, diag) : status;
    if (status == KVC_OK) { /* Over TCP, a connection makes its client wait. */
        bool waits = forecast(draft, NULL, NULL, NULL) && !forecast(draft, rate_path, "1", NULL);
        status = settle(draft, waits ? &closed : &open, NULL, NULL, diag);
    }
    for (size_t i = 0; i < sizeof(last) / sizeof(*last) && status == KVC_OK; i++) {
        status = settle(draft, &last[i], NULL, NULL, diag);
    }
    status = status == KVC_OK ? load(&draft->value, &loaded, diag) : status;
    kvc_loaded_free(loaded);
    return status;
}

/* ---- the file ---- */

/* Writes a comment in lines of COMMENT_COLUMNS at most. */
static void write_comment(const char *text, int indent, FILE *out)
{
    int column = 0;
    while (*text != '\0') {
        int word = (int)strcspn(text, " ");
        if (column == 0 || column + 1 + word > COMMENT_COLUMNS) {
            fputs(column == 0 ? "" : "\n", out);
            column = fprintf(out, "%*s-- %.*s", indent, "", word, text);
        } else {
            column += fprintf(out, " %.*s", word, text);
        }
        text += word + strspn(text + word, " ");
    }
    fputc('\n', out);
}

/* Writes what a path means: its option, or the kind of device of a profile. */
static void write_meaning(const struct draft *draft, const char *path, int indent, FILE *out)
{
    char allowed[256] = "", text[2048];
    const struct kvc_option *row = option_of(draft, path);
    const struct kvc_device_kind *device =
        is_within(path, "node") ? kvc_device_kind_find(path + strlen("node.")) : NULL;
    if (device != NULL) {
        snprintf(text, sizeof(text), "%s: %s", device->name, device->help);
    } else if (row != NULL) {
        kvc_describe_allowed(row, allowed, sizeof(allowed));
        bool has_range = row->type != KVC_OPTION_TEXT;
        snprintf(text, sizeof(text), "%s: %s%s%s%s", row->name, row->help, has_range ? " (" : "",
                 has_range ? allowed : "", has_range ? ")" : "");
    } else {
        return;
    }
    write_comment(text, indent, out);
}

/* Writes a value as the loader reads that of --set. */
static void write_value(const char *value, FILE *out)
{
    char *end;
    bool is_number = strspn(value, "0123456789.eE+-") == strlen(value) && value[0] != '+' &&
                     (strtod(value, &end), end != value && *end == '\0');
    if (is_number || strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        fputs(value, out);
    } else {
        kvc_again_write_text(value, out);
    }
}

/* Writes the options of the store that have their defaults, as comments. */
static void write_defaults(const struct draft *draft, int indent, FILE *out)
{
    const struct kvc_model *model = kvc_model_find(find(&draft->value, "system.kind"));
    for (size_t i = 0; i < model->options->count; i++) {
        const struct kvc_option *row = &model->options->rows[i];
        char path[KVC_PATH_MAX];
        bool is_written = false;
        snprintf(path, sizeof(path), "system.%s", row->name);
        for (uint32_t j = 0; j < draft->value.count; j++) {
            is_written = is_written || is_within(draft->value.entry[j].path, path);
        }
        if (!is_written) {
            write_meaning(draft, path, indent, out);
            fprintf(out, "%*s-- %s = ", indent, "", row->name);
            if (row->by_default == NULL) {
                bool is_table = row->type == KVC_OPTION_LIST || row->type == KVC_OPTION_GROUP;
                fputs(is_table ? "{}" : "nil", out);
            } else {
                write_value(row->by_default, out);
            }
            fputs(",\n", out);
        }
    }
}

/* Writes the members of the table `parent` ("" is the scenario, "workload." a section). */
static void write_members(const struct draft *draft, const char *parent, int indent, FILE *out)
{
    size_t bytes = strlen(parent);
    for (uint32_t i = 0; i < draft->value.count; i++) {
        const char *path = draft->value.entry[i].path, *key = path + bytes;
        char table[KVC_PATH_MAX + 1];
        if (strncmp(path, parent, bytes) != 0) {
            continue;
        }
        int length = (int)strcspn(key, ".");
        snprintf(table, sizeof(table), "%.*s.", (int)bytes + length, path);
        bool is_known = false;
        for (uint32_t j = 0; j < i; j++) {
            is_known = is_known || strncmp(draft->value.entry[j].path, table, strlen(table)) == 0;
        }
        if (is_known) {
            continue;
        }
        if (key[length] == '\0' || strcmp(parent, "system.") == 0) {
            char option[KVC_PATH_MAX];
            snprintf(option, sizeof(option), "%.*s", (int)bytes + length, path);
            write_meaning(draft, option, indent, out);
        }
        fprintf(out, isdigit((unsigned char)*key) ? "%*s[%.*s] = " : "%*s%.*s = ", indent, "", length, key);
        if (key[length] == '\0') {
            write_value(draft->value.entry[i].value, out);
        } else {
            fputs("{\n", out);
            write_members(draft, table, indent + 2, out);
            if (strcmp(table, "system.") == 0) {
                write_defaults(draft, indent + 2, out);
            }
            fprintf(out, "%*s}", indent, "");
        }
        fputs(",\n", out);
    }
}

static void write_scenario(const struct draft *draft, FILE *out)
{
    const struct kvc_model *model = kvc_model_find(find(&draft->value, "system.kind"));
    char text[1024];
    snprintf(
        text, sizeof(text),
        "A first scenario of %s: %s (%s). kvcast run simulates it, and kvcast describe %s, node or workload explains "
        "all options. Lines that are comments show the defaults.",
        model->name, model->help, model->paper, model->name);
    write_comment(text, 0, out);
    fputs("return {\n", out);
    write_members(draft, "", 2, out);
    fputs("}\n", out);
}

/* Refuses to write over a file, and checks the name before anything is asked. */
static enum kvc_status open_file(const struct kvc_arguments *arguments, struct kvc_partial_file *file,
                                 struct kvc_diag *diag)
{
    const char *path = arguments->flag[FLAG_FILE];
    struct stat status;
    if (path == NULL) {
        return KVC_OK;
    }
    if (arguments->flag[FLAG_FORCE] == NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "new: -o: found \"%s\", which exists; allowed: a new file, or --force to replace it", path);
    }
    return kvc_partial_file_open(file, path, diag);
}

int kvc_command_new(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_partial_file file = {0};
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    enum kvc_status status = KVC_OK;
    if (arguments.flag[FLAG_STORE] != NULL) {
        status = kvc_overrides_add(&arguments.set, "system.kind", arguments.flag[FLAG_STORE], &diag);
    }
    struct draft draft = {.set = &arguments.set,
                          .asks = arguments.set.count == 0 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)};
    status = status == KVC_OK ? open_file(&arguments, &file, &diag) : status;
    status = status == KVC_OK ? fill(&draft, &diag) : status;
    if (status == KVC_OK) {
        write_scenario(&draft, file.file != NULL ? file.file : stdout);
        status = file.file != NULL ? kvc_partial_file_commit(&file, &diag) : KVC_OK;
    }
    kvc_partial_file_discard(&file);
    kvc_overrides_clear(&draft.value);
    kvc_arguments_free(&arguments);
    return status == KVC_OK ? 0 : kvc_print_failure(&diag);
}
