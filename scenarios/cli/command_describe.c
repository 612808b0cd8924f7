/* kvcast describe: explains a name, with unit, range and default of every option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/registry.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/load/decode/hardware.h"
#include "scenarios/load/decode/sections.h"
#include "scenarios/output/json.h"
#include "scenarios/cli/print.h"

static const struct kvc_usage usage = {
    .command = "describe",
    .positional = "NAME",
    .positional_min = 1,
    .positional_max = 1,
    .help = "Describes a system, a hardware profile or a workload preset (kvcast list shows their names), a "
            "section of\n"
            "scenarios (run, node, workload, gpu, ...) or one option (run.duration).",
    .takes = KVC_TAKES_JSON,
};

/* Keys whose values are not plain options; they have sections or profiles of their own. */
static const struct kvc_option system_extra[] = {
    {.name = "kind", .type = KVC_OPTION_TEXT, .help = "which store; kvcast list systems"},
};
static const struct kvc_option machine_row = {
    .name = "machine",
    .type = KVC_OPTION_TEXT,
    .by_default = "none",
    .help = "machine file of kvcast calibrate, for all devices that are not named"};
static const struct kvc_option workload_extra[] = {
    {.name = "preset",
     .type = KVC_OPTION_TEXT,
     .by_default = "none",
     .help = "named sizes or operation mix, or a list of them, applied before the other keys; kvcast list "
             "presets"},
    {.name = "dist",
     .type = KVC_OPTION_TEXT,
     .by_default = "uniform",
     .help = "popularity of keys: \"uniform\", \"zipf\" or { zipf = 0.99 }; kvcast describe workload.dist"},
    {.name = "arrival",
     .type = KVC_OPTION_TEXT,
     .by_default = "saturate",
     .help = "\"saturate\", or a table with one kind of arrival; kvcast describe workload.arrival"},
};

static const struct kvc_option scenario_extra[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .by_default = "the file's",
     .help = "name in tables, files and pictures"},
    {.name = "calibrated",
     .type = KVC_OPTION_TEXT,
     .by_default = "none",
     .help = "\"paper\": options that no source states have the values that figures of the store's paper "
             "determine (kvcast validate --identify), instead of those of the scenario and its hardware"},
};

static const struct kvc_option cluster_extra[] = {
    {.name = "members",
     .type = KVC_OPTION_TEXT,
     .by_default = "none",
     .help = "groups of equal nodes in place of nodes; kvcast describe cluster.members"},
};
static const struct kvc_option member_extra[] = {
    {.name = "node",
     .type = KVC_OPTION_TEXT,
     .by_default = "the scenario's",
     .help = "options of node that differ from the scenario's; kvcast describe node"},
    {.name = "system",
     .type = KVC_OPTION_TEXT,
     .by_default = "the scenario's",
     .help = "options of system that differ from the scenario's, except kind"},
};

static const struct kvc_option sweep_extra[] = {
    {.name = "PATH",
     .type = KVC_OPTION_TEXT,
     .optional = true,
     .help =
         "values of an option, such as [\"system.cycle\"] = { \"120us\", \"160us\" } or { from = \"100us\", "
         "to = \"400us\", steps = 7, scale = \"log\" }; tables are values, too; all combinations are points"},
    {.name = "points",
     .type = KVC_OPTION_TEXT,
     .optional = true,
     .help =
         "{ random = 500 } or { latin_hypercube = 200 } draws points instead of all combinations; a list of "
         "tables gives the points themselves"},
    {.name = "replicas",
     .type = KVC_OPTION_COUNT,
     .min = 1,
     .max = 1000,
     .optional = true,
     .help = "run.replicas of every point; more of them narrow the intervals"},
    {.name = "where",
     .type = KVC_OPTION_TEXT,
     .optional = true,
     .help =
         "function whose argument is a table of a point's values by path, with numbers in base units; points for "
         "which it does not return true are left out"},
};

static const struct kvc_option_table no_options = {.name = "sweep"};

/* Something that has options. `extra` are keys that its option table does not list. */
struct topic {
    const char *name;
    const char *what;
    const struct kvc_option_table *options;
    const struct kvc_option *extra;
    size_t extra_count;
};

enum { TOPICS_MAX = 256, DEVICE_HELP_MAX = 160, NAMES_MAX = 1024 };

/* All topics except the systems. The registry gives the topics of the devices. */
struct topics {
    size_t count;
    struct topic topic[TOPICS_MAX];
    char name[TOPICS_MAX][64]; /* Names of lists and tables inside devices and systems: "gpu.clocks". */
    struct kvc_option node[KVC_DEVICE_KINDS_MAX + 1]; /* Keys of `node`. */
    char help[KVC_DEVICE_KINDS_MAX][DEVICE_HELP_MAX];
};

#define EXTRA(rows) rows, sizeof(rows) / sizeof(*(rows))

static const struct topic sections[] = {
    {"scenario", "keys of a scenario beside its sections", &no_options, EXTRA(scenario_extra)},
    {"run", "section of a scenario: how it is simulated", &kvc_run_option_table, NULL, 0},
    {"run.changes", "changes of devices during a run", &kvc_change_option_table, NULL, 0},
    {"power", "section of a scenario: who chooses the clocks while it runs", &kvc_power_policy_option_table,
     NULL, 0},
    {"cluster", "section of a scenario: how many machines", &kvc_cluster_option_table, EXTRA(cluster_extra)},
    {"cluster.members", "groups of equal nodes, each with its own node and system",
     &kvc_cluster_member_option_table, EXTRA(member_extra)},
    {"cluster.changes", "nodes that join, leave or fail during a run", &kvc_cluster_change_option_table, NULL,
     0},
    {"workload", "section of a scenario: the offered load", &kvc_workload_option_table,
     EXTRA(workload_extra)},
    {"workload.actions", "actions of an application in front of a database", &kvc_action_option_table, NULL,
     0},
    {"workload.phases", "phases of a load that alternates", &kvc_phase_option_table, NULL, 0},
    {"workload.storms", "hot-key storms", &kvc_storm_option_table, NULL, 0},
    {"workload.dist", "popularity of keys as a table", &kvc_dist_option_table, NULL, 0},
    {"workload.arrival", "when requests come; one kind at a time", &kvc_arrival_option_table, NULL, 0},
    {"workload.arrival.curve", "points of a rate curve", &kvc_rate_curve_option_table, NULL, 0},
    {"workload.arrival.bursts", "times for which the rate is a multiple", &kvc_burst_option_table, NULL, 0},
    {"workload.arrival.mmpp", "states of a Markov-modulated Poisson process", &kvc_mmpp_option_table, NULL,
     0},
    {"sweep", "section of a scenario: the points of kvcast sweep", &no_options, EXTRA(sweep_extra)},
    {"day", "section of a scenario: the day of kvcast day", &kvc_day_option_table, NULL, 0},
    {"day.curve", "points of the curve of a day", &kvc_day_curve_option_table, NULL, 0},
    {"slo", "section of a scenario: service-level objectives; every answer says which are met",
     &kvc_slo_option_table, NULL, 0},
    {"plan", "section of a scenario: what kvcast plan looks for among the points of the sweep",
     &kvc_plan_option_table, NULL, 0},
};

enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

static void add_topic(struct topics *topics, struct topic topic)
{
    if (topics->count < TOPICS_MAX) {
        topics->topic[topics->count++] = topic;
    }
}

/* Writes the help of a device's key in `node`, which ends in the stores that use such a device: "hardware
 * profile, or a table with base; megakv, kvdirect". */
static void write_device_help(const struct kvc_device_kind *kind, char help[DEVICE_HELP_MAX])
{
    size_t used = (size_t)snprintf(help, DEVICE_HELP_MAX, "hardware profile, or a table with base;");
    const char *separator = " ";
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        for (const struct kvc_model_device *device = kvc_models[i]->devices; device->kind != NULL; device++) {
            if (device->kind == kind && used < DEVICE_HELP_MAX) {
                used += (size_t)snprintf(help + used, DEVICE_HELP_MAX - used, "%s%s", separator,
                                         kvc_models[i]->name);
                separator = ", ";
            }
        }
    }
}

static void add_node(struct topics *topics)
{
    size_t count = 0;
    topics->node[count++] = machine_row;
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        write_device_help(kvc_device_kinds[i], topics->help[i]);
        topics->node[count++] = (struct kvc_option){.name = kvc_device_kinds[i]->name,
                                                    .type = KVC_OPTION_TEXT,
                                                    .by_default = "the store's",
                                                    .help = topics->help[i]};
    }
    add_topic(topics, (struct topic){"node", "section of a scenario: one machine", &kvc_node_option_table,
                                     topics->node, count});
}

/* Adds the lists and tables inside the options of `of`, and those inside them. */
static void add_inner(struct topics *topics, const char *of, const struct kvc_option_table *options)
{
    for (size_t i = 0; i < options->count && topics->count < TOPICS_MAX; i++) {
        const struct kvc_option *row = &options->rows[i];
        if (row->element != NULL) {
            char *name = topics->name[topics->count];
            snprintf(name, sizeof(topics->name[0]), "%s.%s", of, row->name);
            add_topic(topics, (struct topic){name, row->help, row->element, NULL, 0});
            add_inner(topics, name, row->element);
        }
    }
}

static const struct topics *all_topics(void)
{
    static struct topics topics;
    if (topics.count > 0) {
        return &topics;
    }
    for (int i = 0; i < SECTIONS; i++) {
        add_topic(&topics, sections[i]);
    }
    add_node(&topics);
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        const struct kvc_device_kind *kind = kvc_device_kinds[i];
        add_topic(&topics, (struct topic){kind->name, kind->help, kind->options, NULL, 0});
        add_inner(&topics, kind->name, kind->options);
    }
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        add_inner(&topics, kvc_models[i]->name, kvc_models[i]->options);
        add_inner(&topics, "system", kvc_models[i]->options);
    }
    return &topics;
}

static const char *const unit_names[] = {
    [KVC_UNIT_NONE] = "",        [KVC_UNIT_NS] = "time",
    [KVC_UNIT_BYTES] = "bytes",  [KVC_UNIT_BYTES_PER_S] = "bytes/s",
    [KVC_UNIT_HZ] = "frequency", [KVC_UNIT_MOPS] = "Mops",
    [KVC_UNIT_WATTS] = "watts",
};

static const char *const type_names[] = {
    [KVC_OPTION_BOOL] = "true, false", [KVC_OPTION_COUNT] = "count", [KVC_OPTION_REAL] = "number",
    [KVC_OPTION_CHOICE] = "choice",    [KVC_OPTION_TEXT] = "text",   [KVC_OPTION_LIST] = "list",
    [KVC_OPTION_WORDS] = "words",      [KVC_OPTION_GROUP] = "table",
};

static void show_range(const struct kvc_option *row, char *out, size_t size)
{
    char low[48], high[48];
    size_t used = 0;
    out[0] = '\0';
    if (row->type == KVC_OPTION_CHOICE || row->type == KVC_OPTION_WORDS) {
        for (size_t i = 0; row->choices[i] != NULL && used < size; i++) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", row->choices[i]);
        }
    } else if (row->type == KVC_OPTION_LIST) {
        snprintf(out, size, "up to %zu tables", row->element->max_list);
    } else if (row->type == KVC_OPTION_COUNT) {
        used = (size_t)snprintf(out, size, "%.0f .. %.0f", row->min, row->max);
    } else if (row->type == KVC_OPTION_REAL) {
        kvc_quantity_print(row->min, row->unit, low, sizeof(low));
        kvc_quantity_print(row->max, row->unit, high, sizeof(high));
        used = (size_t)snprintf(out, size, "%s .. %s", low, high);
    }
    if (row->auto_word != NULL && used < size) {
        snprintf(out + used, size - used, ", %s", row->auto_word);
    }
}

static const char *show_unit(const struct kvc_option *row)
{
    return row->type == KVC_OPTION_REAL && row->unit != KVC_UNIT_NONE ? unit_names[row->unit]
                                                                      : type_names[row->type];
}

static const char *show_default(const struct kvc_option *row)
{
    if (row->type == KVC_OPTION_LIST || row->type == KVC_OPTION_GROUP) {
        return "empty";
    }
    if (row->optional && row->by_default == NULL) {
        return "(optional)";
    }
    return row->by_default == NULL ? "(required)" : row->by_default[0] == '\0' ? "\"\"" : row->by_default;
}

static void add_row(struct kvc_grid *grid, const struct kvc_option *row)
{
    char range[256];
    show_range(row, range, sizeof(range));
    kvc_grid_add(grid, row->name);
    kvc_grid_add(grid, show_unit(row));
    kvc_grid_add(grid, range);
    kvc_grid_add(grid, show_default(row));
    kvc_grid_add(grid, row->help);
}

static void print_header(struct kvc_grid *grid)
{
    static const char *const titles[] = {"OPTION", "UNIT", "RANGE", "DEFAULT", "MEANING"};
    grid->columns = sizeof(titles) / sizeof(*titles);
    for (size_t i = 0; i < grid->columns; i++) {
        kvc_grid_add(grid, titles[i]);
    }
}

static json_t *row_document(const struct kvc_option *row)
{
    char range[256];
    show_range(row, range, sizeof(range));
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(row->name));
    json_object_set_new(object, "type", json_string(type_names[row->type]));
    json_object_set_new(object, "unit",
                        json_string(row->type == KVC_OPTION_REAL ? unit_names[row->unit] : ""));
    json_object_set_new(object, "range", json_string(range));
    json_object_set_new(object, "default",
                        row->by_default != NULL ? json_string(row->by_default) : json_null());
    if (row->optional) {
        json_object_set_new(object, "optional", json_true());
    }
    json_object_set_new(object, "help", json_string(row->help));
    return object;
}

/* Prints the topic's options, or only `option` (NULL: all), as text or JSON. */
static int describe_topic(const struct topic *topic, const char *option, const char *json)
{
    struct kvc_grid grid = {.columns = 5};
    json_t *list = json_array();
    print_header(&grid);
    for (size_t i = 0; i < topic->extra_count + topic->options->count; i++) {
        const struct kvc_option *row =
            i < topic->extra_count ? &topic->extra[i] : &topic->options->rows[i - topic->extra_count];
        if (option != NULL && strcmp(option, row->name) != 0) {
            continue;
        }
        add_row(&grid, row);
        json_array_append_new(list, row_document(row));
    }
    if (json != NULL) {
        for (size_t i = 0; i < grid.count; i++) {
            free(grid.cell[i]);
        }
        free(grid.cell);
        return kvc_print_json(
            json_pack("{s:s, s:s, s:o}", "name", topic->name, "what", topic->what, "options", list), json);
    }
    json_decref(list);
    printf("%s: %s\n", topic->name, topic->what);
    kvc_grid_print(&grid, 2, stdout);
    return KVC_OK;
}

static struct topic model_topic(const struct kvc_model *model, char what[512])
{
    snprintf(what, 512, "%s (%s)", model->help, model->paper);
    return (struct topic){model->name, what, model->options, EXTRA(system_extra)};
}

static bool has_option(const struct topic *topic, const char *name)
{
    for (size_t i = 0; i < topic->extra_count; i++) {
        if (strcmp(topic->extra[i].name, name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < topic->options->count; i++) {
        if (strcmp(topic->options->rows[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds a section, a device, a system, or for "system" the first system that has the option. */
static bool find_topic(const char *name, const char *option, struct topic *topic, char what[512])
{
    if (strncmp(name, "node.", 5) == 0) {
        name += 5;
    }
    const struct topics *topics = all_topics();
    for (size_t i = 0; i < topics->count; i++) {
        *topic = topics->topic[i];
        if (strcmp(name, topic->name) == 0 && (option == NULL || has_option(topic, option))) {
            return true;
        }
    }
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        *topic = model_topic(kvc_models[i], what);
        if ((strcmp(name, topic->name) == 0 || strcmp(name, "system") == 0) &&
            (option == NULL || has_option(topic, option))) {
            return true;
        }
    }
    return false;
}

static json_t *actions_document(const struct kvc_workload_preset *preset)
{
    json_t *actions = json_array();
    for (uint32_t i = 0; i < preset->action_count; i++) {
        const struct kvc_action *action = &preset->actions[i];
        json_array_append_new(actions, json_pack("{s:s, s:f, s:s}", "name", action->name, "frac",
                                                 action->frac, "invalidates", action->invalidates));
    }
    return actions;
}

static int describe_preset(const struct kvc_workload_preset *preset, const char *json)
{
    struct kvc_workload workload = {0};
    kvc_option_table_set_defaults(&kvc_workload_option_table, &workload);
    kvc_workload_preset_apply(preset, &workload);
    if (json != NULL) {
        json_t *object = json_pack("{s:s, s:s}", "name", preset->name, "source", preset->source);
        if (preset->has_sizes) {
            json_object_set_new(object, "key_bytes_mean", json_real(kvc_workload_key_bytes_mean(&workload)));
            json_object_set_new(object, "value_bytes_mean",
                                json_real(kvc_workload_value_bytes_mean(&workload)));
        }
        if (preset->has_mix) {
            json_object_set_new(object, "get_frac", json_real(preset->get_frac));
            json_object_set_new(object, "set_frac", json_real(preset->set_frac));
            json_object_set_new(object, "delete_frac", json_real(preset->delete_frac));
        }
        if (preset->actions != NULL) {
            json_object_set_new(object, "actions", actions_document(preset));
        }
        return kvc_print_json(object, json);
    }
    printf("%s: workload preset (%s)\n", preset->name, preset->source);
    if (preset->has_sizes) {
        printf("  sizes   mean key %.6g bytes, mean value %.6g bytes%s\n",
               kvc_workload_key_bytes_mean(&workload), kvc_workload_value_bytes_mean(&workload),
               preset->sizes == KVC_SIZES_FIXED ? ", all equal" : "");
    }
    if (preset->has_mix) {
        printf("  mix     get %.6g, set %.6g, delete %.6g\n", preset->get_frac, preset->set_frac,
               preset->delete_frac);
    }
    for (uint32_t i = 0; i < preset->action_count; i++) {
        const struct kvc_action *action = &preset->actions[i];
        bool reads = action->invalidates[0] == '\0';
        printf("  %-7s %s %.6g of the %s%s\n", i == 0 ? "actions" : "", action->name, action->frac,
               reads ? "GETs" : "SETs, invalidates ", action->invalidates);
    }
    return KVC_OK;
}

static int describe_profile(const char *name, const char *file, const char *json)
{
    struct kvc_loaded loaded = {.warning_count = 0};
    struct kvc_node node = {.sockets = 1};
    struct kvc_diag diag = {0};
    const struct kvc_device_kind *kind = NULL;
    int exit_status = KVC_OK;
    if (kvc_hardware_read(file, &kind, &node, &loaded, &diag) != KVC_OK) {
        exit_status = kvc_print_failure(&diag);
    } else if (json != NULL) {
        json_t *object = json_pack("{s:s, s:s}", "name", name, "kind", kind->name);
        json_object_set_new(object, "values", kvc_json_values(&loaded.parameters));
        json_object_set_new(object, "sources", kvc_json_sources(&loaded.provenance));
        exit_status = kvc_print_json(object, json);
    } else {
        struct kvc_grid grid = {.columns = 3};
        printf("%s: hardware profile, kind %s\n", name, kind->name);
        for (uint32_t i = 0; i < loaded.parameters.count; i++) {
            kvc_grid_add(&grid, loaded.parameters.entry[i].path);
            kvc_grid_add(&grid, loaded.parameters.entry[i].value);
            kvc_grid_add(&grid, loaded.parameters.entry[i].source);
        }
        kvc_grid_print(&grid, 2, stdout);
    }
    kvc_node_free(&node);
    kvc_parameters_clear(&loaded.parameters);
    kvc_parameters_clear(&loaded.provenance);
    return exit_status;
}

static int report_unknown(const char *name)
{
    const char *names[NAMES_MAX + 1];
    struct kvc_profiles profiles;
    size_t count = 0;
    names[count++] = "system";
    const struct topics *topics = all_topics();
    for (size_t i = 0; i < topics->count; i++) {
        names[count++] = topics->topic[i].name;
    }
    for (size_t i = 0; kvc_models[i] != NULL && count < NAMES_MAX; i++) {
        names[count++] = kvc_models[i]->name;
    }
    for (size_t i = 0; kvc_workload_preset_lists[i] != NULL; i++) {
        const struct kvc_workload_preset *preset = kvc_workload_preset_lists[i];
        for (; preset->name != NULL && count < NAMES_MAX; preset++) {
            names[count++] = preset->name;
        }
    }
    kvc_hardware_list(&profiles);
    for (size_t i = 0; i < profiles.count && count < NAMES_MAX; i++) {
        names[count++] = profiles.name[i];
    }
    names[count] = NULL;
    const char *nearest = kvc_nearest_name(name, names);
    fprintf(
        stderr,
        "kvcast describe: found \"%s\"%s%s%s allowed: a name from kvcast list, a section such as run, or an option such as run.duration\n",
        name, nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
        nearest != NULL ? "\"?" : ",");
    return KVC_ERR_SCENARIO;
}

static int describe(const char *name, const char *json)
{
    struct topic topic;
    char what[512], parent[128], file[1024];
    if (find_topic(name, NULL, &topic, what)) {
        return describe_topic(&topic, NULL, json);
    }
    const struct kvc_workload_preset *preset = kvc_workload_preset_find(kvc_workload_preset_lists, name);
    if (preset != NULL) {
        return describe_preset(preset, json);
    }
    int bytes = snprintf(file, sizeof(file), "%s/%s.lua", kvc_hardware_dir(), name);
    if (strchr(name, '/') == NULL && bytes < (int)sizeof(file) && access(file, R_OK) == 0) {
        return describe_profile(name, file, json);
    }
    const char *dot = strrchr(name, '.');
    if (dot != NULL && (size_t)(dot - name) < sizeof(parent)) {
        snprintf(parent, sizeof(parent), "%.*s", (int)(dot - name), name);
        if (find_topic(parent, dot + 1, &topic, what)) {
            return describe_topic(&topic, dot + 1, json);
        }
    }
    return report_unknown(name);
}

const struct kvc_option *kvc_describe_option(const char *path)
{
    struct topic topic;
    char what[512], parent[KVC_PATH_MAX];
    const char *dot = strrchr(path, '.');
    if (dot == NULL || (size_t)(dot - path) >= sizeof(parent)) {
        return NULL;
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(dot - path), path);
    if (!find_topic(parent, dot + 1, &topic, what)) {
        return NULL;
    }
    for (size_t i = 0; i < topic.extra_count; i++) {
        if (strcmp(topic.extra[i].name, dot + 1) == 0) {
            return &topic.extra[i];
        }
    }
    const struct kvc_option *row = topic.options->rows;
    while (strcmp(row->name, dot + 1) != 0) {
        row++;
    }
    return row;
}

void kvc_describe_allowed(const struct kvc_option *row, char *out, size_t size)
{
    show_range(row, out, size);
    if (out[0] == '\0') {
        snprintf(out, size, "%s", show_unit(row));
    }
}

static json_t *topic_document(const struct topic *topic)
{
    json_t *list = json_array();
    for (size_t i = 0; i < topic->extra_count; i++) {
        json_array_append_new(list, row_document(&topic->extra[i]));
    }
    for (size_t i = 0; i < topic->options->count; i++) {
        json_array_append_new(list, row_document(&topic->options->rows[i]));
    }
    return json_pack("{s:s, s:s, s:o}", "name", topic->name, "what", topic->what, "options", list);
}

json_t *kvc_describe_topics(void)
{
    json_t *topics = json_array();
    const struct topics *all = all_topics();
    for (size_t i = 0; i < all->count; i++) {
        /* Lists inside a device may share an option table; only the first of these is shown. */
        if (i == 0 || all->topic[i].options != all->topic[i - 1].options) {
            json_array_append_new(topics, topic_document(&all->topic[i]));
        }
    }
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        char what[512];
        struct topic topic = model_topic(kvc_models[i], what);
        json_array_append_new(topics, topic_document(&topic));
    }
    return topics;
}

int kvc_command_describe(int argc, char **argv)
{
    struct kvc_arguments arguments;
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    exit_status = describe(arguments.positional[0], arguments.json);
    kvc_arguments_free(&arguments);
    return exit_status;
}
