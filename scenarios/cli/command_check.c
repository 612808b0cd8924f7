/* kvcast check: loads a scenario without running it. */
#include <stdio.h>

#include "models/model.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/load/lua/locate.h"
#include "scenarios/output/json.h"
#include "scenarios/cli/print.h"
#include "scenarios/run/limits.h"

static const struct kvc_usage usage = {
    .command = "check",
    .positional = "SCENARIO.lua",
    .positional_min = 1,
    .positional_max = 1,
    .help =
        "Checks a scenario without running it, and shows every resolved value with its source. It also reads the\n"
        "head of every file that a run reads.",
    .takes = KVC_TAKES_SET | KVC_TAKES_SEED | KVC_TAKES_REPLICAS | KVC_TAKES_JSON | KVC_TAKES_QUIET,
};

static json_t *sweep_document(const struct kvc_sweep *sweep)
{
    json_t *axes = json_array();
    for (uint32_t i = 0; i < sweep->count; i++) {
        json_t *axis = json_object(), *values = json_array();
        for (uint32_t j = 0; j < sweep->axis[i].count; j++) {
            json_array_append_new(values, json_string(sweep->axis[i].value[j].label));
        }
        json_object_set_new(axis, "path", json_string(sweep->axis[i].path));
        json_object_set_new(axis, "values", values);
        json_array_append_new(axes, axis);
    }
    return axes;
}

static json_t *document(const struct kvc_loaded *loaded)
{
    json_t *object = json_object(), *warnings = json_array();
    for (uint32_t i = 0; i < loaded->warning_count; i++) {
        json_array_append_new(warnings, json_string(loaded->warning[i]));
    }
    json_object_set_new(object, "scenario", json_string(loaded->scenario.name));
    json_object_set_new(object, "system", json_string(loaded->scenario.model->name));
    json_object_set_new(object, "parameters", kvc_json_values(&loaded->parameters));
    json_object_set_new(object, "sources", kvc_json_sources(&loaded->parameters));
    json_object_set_new(object, "sweep", sweep_document(&loaded->sweep));
    json_object_set_new(object, "warnings", warnings);
    json_object_set_new(object, "memory_planned_bytes",
                        json_real(kvc_memory_needed_bytes(&loaded->scenario)));
    return object;
}

/* Says which part of the store is too small for the keys. It may be meant, so the scenario is not wrong. */
static void warn_about_room(const struct kvc_loaded *loaded)
{
    struct kvc_diag diag = {0};
    const char *option;
    char text[256];
    if (kvc_scenario_lacks_room(&loaded->scenario, &option, text, sizeof(text))) {
        kvc_diag_fail_at(&diag, KVC_ERR_SCENARIO, loaded->scenario.file,
                         kvc_locate_line(loaded->scenario.file, option), "%s", text);
        kvc_print_warning(&diag);
    }
}

static void print_summary(const struct kvc_loaded *loaded, bool quiet)
{
    struct kvc_grid grid = {.columns = 3};
    printf("scenario ok: %s, system %s\n", loaded->scenario.name, loaded->scenario.model->name);
    if (quiet) {
        return;
    }
    printf("memory of a process that simulates: %.1f MiB\n",
           kvc_memory_needed_bytes(&loaded->scenario) / 0x1p20);
    for (uint32_t i = 0; i < loaded->parameters.count; i++) {
        kvc_grid_add(&grid, loaded->parameters.entry[i].path);
        kvc_grid_add(&grid, loaded->parameters.entry[i].value);
        kvc_grid_add(&grid, loaded->parameters.entry[i].source);
    }
    kvc_grid_print(&grid, 2, stdout);
    for (uint32_t i = 0; i < loaded->sweep.count; i++) {
        const struct kvc_sweep_axis *axis = &loaded->sweep.axis[i];
        printf("  sweep %s:", axis->path);
        for (uint32_t j = 0; j < axis->count; j++) {
            printf(" %s", axis->value[j].label);
        }
        putchar('\n');
    }
}

int kvc_command_check(int argc, char **argv)
{
    struct kvc_arguments arguments;
    struct kvc_loaded *loaded;
    struct kvc_diag diag = {0};
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    if (kvc_scenario_load(arguments.positional[0], &arguments.set, &loaded, &diag) != KVC_OK) {
        kvc_arguments_free(&arguments);
        return kvc_print_failure(&diag);
    }
    if (!arguments.quiet) {
        kvc_print_warnings(loaded);
        warn_about_room(loaded);
    }
    if (kvc_memory_check(loaded, arguments.positional[0], &arguments.set, kvc_memory_available_bytes(),
                         &diag) !=
        KVC_OK) { /* Another machine may have more memory, so the scenario is not wrong. */
        kvc_print_warning(&diag);
    }
    if (arguments.json != NULL) {
        exit_status = kvc_print_json(document(loaded), arguments.json);
    } else {
        print_summary(loaded, arguments.quiet);
    }
    kvc_loaded_free(loaded);
    kvc_arguments_free(&arguments);
    return exit_status;
}
