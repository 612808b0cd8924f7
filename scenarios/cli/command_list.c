/* kvcast list: the names of systems, hardware, presets and scenarios. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models/registry.h"
#include "scenarios/cli/arguments.h"
#include "scenarios/cli/command.h"
#include "scenarios/load/decode/hardware.h"
#include "scenarios/cli/print.h"
#include "sim/base/files/data_dir.h"

static const struct kvc_usage usage = {
    .command = "list",
    .positional = "[systems|hardware|presets|scenarios]",
    .positional_min = 0,
    .positional_max = 1,
    .help =
        "Lists systems, hardware profiles, workload presets and scenarios; kvcast describe NAME shows more.",
    .takes = KVC_TAKES_JSON,
};

/* One group of names, each with a note. */
struct group {
    const char *name;
    struct kvc_grid grid; /* two columns */
};

static void add(struct group *group, const char *name, const char *note)
{
    kvc_grid_add(&group->grid, name);
    kvc_grid_add(&group->grid, note);
}

static void add_systems(struct group *group)
{
    for (size_t i = 0; kvc_models[i] != NULL; i++) {
        add(group, kvc_models[i]->name, kvc_models[i]->help);
    }
}

static int widest_kind(void)
{
    size_t widest = 0;
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        size_t bytes = strlen(kvc_device_kinds[i]->name);
        widest = bytes > widest ? bytes : widest;
    }
    return (int)widest;
}

static void add_hardware(struct group *group)
{
    struct kvc_profiles profiles;
    char file[1024], note[KVC_TEXT_MAX + 64];
    kvc_hardware_list(&profiles);
    for (size_t i = 0; i < profiles.count; i++) {
        struct kvc_loaded loaded = {.warning_count = 0};
        struct kvc_node node = {.sockets = 1};
        struct kvc_diag diag = {0};
        const struct kvc_device_kind *kind = NULL;
        const char *called = "";
        snprintf(file, sizeof(file), "%s/%s.lua", kvc_hardware_dir(), profiles.name[i]);
        enum kvc_status status = kvc_hardware_read(file, &kind, &node, &loaded, &diag);
        for (uint32_t j = 0; status == KVC_OK && j < loaded.parameters.count; j++) {
            if (strcmp(loaded.parameters.entry[j].path, "name") == 0) {
                called = loaded.parameters.entry[j].value;
            }
        }
        if (status == KVC_OK) {
            snprintf(note, sizeof(note), "%-*s  %s", widest_kind(), kind->name, called);
        } else {
            snprintf(note, sizeof(note), "cannot be used: %.200s", diag.message);
        }
        add(group, profiles.name[i], note);
        kvc_node_free(&node);
        kvc_parameters_clear(&loaded.parameters);
        kvc_parameters_clear(&loaded.provenance);
    }
}

static void add_presets(struct group *group)
{
    for (size_t i = 0; kvc_workload_preset_lists[i] != NULL; i++) {
        const struct kvc_workload_preset *preset = kvc_workload_preset_lists[i];
        for (; preset->name != NULL; preset++) {
            add(group, preset->name, preset->source);
        }
    }
}

/* Copies the first sentence of the comment that a scenario starts with. */
static void first_sentence(const char *file, char *out, size_t size)
{
    char line[256];
    size_t used = 0;
    FILE *in = fopen(file, "r");
    out[0] = '\0';
    if (in == NULL) {
        return;
    }
    while (used < size && fgets(line, sizeof(line), in) != NULL && strncmp(line, "--", 2) == 0) {
        const char *text = line + 2 + strspn(line + 2, " ");
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? " " : "",
                                 (int)strcspn(text, "\n"), text);
    }
    fclose(in);
    for (char *dot = strstr(out, ". "); dot != NULL; dot = strstr(dot + 1, ". ")) {
        if (dot[2] >= 'A' && dot[2] <= 'Z') {
            dot[1] = '\0';
            return;
        }
    }
}

static int is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Adds the scenarios below `folder` of the data folder, in alphabetical order and at most `depth` folders
 * deep. */
static void add_folder(struct group *group, const char *folder, int depth)
{
    struct dirent **entries;
    char path[PATH_MAX], relative[512], note[400];
    struct stat info;
    kvc_data_path(folder, path);
    int count = scandir(path, &entries, is_listed, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t bytes = strlen(name);
        int fit = snprintf(relative, sizeof(relative), "%s/%s", folder, name);
        kvc_data_path(relative, path);
        if (fit < (int)sizeof(relative) && stat(path, &info) == 0) {
            if (S_ISDIR(info.st_mode) && depth > 0) {
                add_folder(group, relative, depth - 1);
            } else if (bytes > 4 && strcmp(name + bytes - 4, ".lua") == 0) {
                first_sentence(path, note, sizeof(note));
                add(group, relative, note);
            }
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
}

static void add_scenarios(struct group *group)
{
    add_folder(group, "scenarios", 0);
    add_folder(group, "scenarios/examples", 0);
    add_folder(group, "scenarios/papers", 3);
}

static const struct {
    const char *name;
    void (*fill)(struct group *group);
} kinds[] = {
    {"systems", add_systems},
    {"hardware", add_hardware},
    {"presets", add_presets},
    {"scenarios", add_scenarios},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static json_t *group_document(const struct kvc_grid *grid)
{
    json_t *list = json_array();
    for (size_t i = 0; i + 1 < grid->count; i += 2) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "name", grid->cell[i], "note", grid->cell[i + 1]));
    }
    return list;
}

static void discard(struct kvc_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->cell[i]);
    }
    free(grid->cell);
}

static bool is_kind(const char *name)
{
    const char *names[KINDS + 1] = {NULL};
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return true;
        }
        names[i] = kinds[i].name;
    }
    const char *nearest = kvc_nearest_name(name, names);
    fprintf(stderr, "kvcast list: found \"%s\"%s%s%s allowed: systems, hardware, presets or scenarios\n",
            name, nearest != NULL ? "; did you mean \"" : ",", nearest != NULL ? nearest : "",
            nearest != NULL ? "\"?" : "");
    return false;
}

json_t *kvc_list_groups(void)
{
    json_t *document = json_object();
    for (int i = 0; i < KINDS; i++) {
        struct group group = {kinds[i].name, {.columns = 2}};
        kinds[i].fill(&group);
        json_object_set_new(document, group.name, group_document(&group.grid));
        discard(&group.grid);
    }
    return document;
}

int kvc_command_list(int argc, char **argv)
{
    struct kvc_arguments arguments;
    int exit_status;
    if (!kvc_arguments_parse(argc, argv, &usage, &arguments, &exit_status)) {
        return exit_status;
    }
    const char *wanted = arguments.positional_count > 0 ? arguments.positional[0] : NULL;
    if (wanted != NULL && !is_kind(wanted)) {
        kvc_arguments_free(&arguments);
        return KVC_ERR_SCENARIO;
    }
    json_t *document = arguments.json != NULL ? json_object() : NULL;
    for (int i = 0; i < KINDS; i++) {
        struct group group = {kinds[i].name, {.columns = 2}};
        if (wanted != NULL && strcmp(wanted, kinds[i].name) != 0) {
            continue;
        }
        kinds[i].fill(&group);
        if (document != NULL) {
            json_object_set_new(document, group.name, group_document(&group.grid));
            discard(&group.grid);
        } else {
            printf("%s%s%s\n", group.name, kinds[i].fill == add_scenarios ? ", below " : "",
                   kinds[i].fill == add_scenarios ? kvc_data_dir() : "");
            kvc_grid_print(&group.grid, 2, stdout);
        }
    }
    if (document != NULL) {
        exit_status = kvc_print_json(document, arguments.json);
    }
    kvc_arguments_free(&arguments);
    return exit_status;
}
