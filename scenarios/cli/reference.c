#include "scenarios/cli/reference.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/cli/command.h"
#include "sim/base/diag.h"

/* Prints text in a cell of a table, where a bar must be escaped. */
static void print_cell(const char *text, FILE *out)
{
    fputs("| ", out);
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            fputc('\\', out);
        }
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc(' ', out);
}

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : otherwise;
}

static void print_option(const json_t *option, FILE *out)
{
    const char *unit = text_of(option, "unit", "");
    const char *absent = strcmp(text_of(option, "type", ""), "list") == 0    ? "empty"
                         : json_is_true(json_object_get(option, "optional")) ? "(optional)"
                                                                             : "(required)";
    fprintf(out, "| `%s` ", text_of(option, "name", ""));
    print_cell(unit[0] != '\0' ? unit : text_of(option, "type", ""), out);
    print_cell(text_of(option, "range", ""), out);
    print_cell(text_of(option, "default", absent), out);
    print_cell(text_of(option, "help", ""), out);
    fputs("|\n", out);
}

static void print_topic(const json_t *topic, FILE *out)
{
    const json_t *options = json_object_get(topic, "options");
    fprintf(out, "### %s\n\n%s.\n\n", text_of(topic, "name", ""), text_of(topic, "what", ""));
    fputs("| option | unit | range | default | meaning |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < json_array_size(options); i++) {
        print_option(json_array_get(options, i), out);
    }
    fputc('\n', out);
}

/* Prints the devices of a system's nodes, with the profiles that nodes have unless a scenario names others.
 */
static void print_devices(const struct kvc_model *model, FILE *out)
{
    fprintf(out, "A node of `%s` has these devices:\n\n| device | profile by default |\n|---|---|\n",
            model->name);
    for (const struct kvc_model_device *device = model->devices; device->kind != NULL; device++) {
        if (device->profile != NULL) {
            fprintf(out, "| `%s` | `%s` |\n", device->kind->name, device->profile);
        } else {
            fprintf(out, "| `%s` | none |\n", device->kind->name);
        }
    }
    fputc('\n', out);
}

/* Returns whether a topic belongs to a device, as "gpu" and "gpu.clocks" do. */
static bool is_device(const char *topic)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(topic, "."), topic);
    return kvc_device_kind_find(name) != NULL;
}

static void print_topics(const json_t *topics, const char *title, const char *intro, bool devices, FILE *out)
{
    fprintf(out, "## %s\n\n%s\n\n", title, intro);
    for (size_t i = 0; i < json_array_size(topics); i++) {
        const json_t *topic = json_array_get(topics, i);
        const char *name = text_of(topic, "name", "");
        if (kvc_model_find(name) == NULL && is_device(name) == devices) {
            print_topic(topic, out);
        }
    }
}

static void print_systems(const json_t *topics, FILE *out)
{
    fputs(
        "## Systems\n\nA scenario names one in `system.kind`; its options are the other keys of `system`.\n\n",
        out);
    for (size_t i = 0; i < json_array_size(topics); i++) {
        const json_t *topic = json_array_get(topics, i);
        const struct kvc_model *model = kvc_model_find(text_of(topic, "name", ""));
        if (model != NULL) {
            print_topic(topic, out);
            print_devices(model, out);
        }
    }
}

static void print_group(const json_t *groups, const char *group, const char *title, const char *intro,
                        FILE *out)
{
    const json_t *list = json_object_get(groups, group);
    fprintf(out, "## %s\n\n%s\n\n| name | what it is |\n|---|---|\n", title, intro);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        fprintf(out, "| `%s` ", text_of(entry, "name", ""));
        print_cell(text_of(entry, "note", ""), out);
        fputs("|\n", out);
    }
    fputc('\n', out);
}

int kvc_reference_print(FILE *out)
{
    json_t *topics = kvc_describe_topics(), *groups = kvc_list_groups();
    if (topics == NULL || groups == NULL) {
        json_decref(topics);
        json_decref(groups);
        fputs("kvcast: out of memory\n", stderr);
        return KVC_ERR_RUNTIME;
    }
    print_systems(topics, out);
    print_topics(
        topics, "Sections of a scenario",
        "A scenario is a Lua file that returns one table. Besides `system`, it has these sections and tables "
        "within them.",
        false, out);
    print_topics(
        topics, "Devices",
        "`node.DEVICE` names a hardware profile, or is a table with `base` and the options to change.", true,
        out);
    print_group(groups, "hardware", "Hardware profiles",
                "`kvcast describe NAME` shows the values of a profile, each with its source.", out);
    print_group(groups, "presets", "Workload presets", "`workload.preset` names one or several.", out);
    print_group(groups, "scenarios", "Scenarios",
                "These come with kvcast; `kvcast list` says in which folder.", out);
    json_decref(topics);
    json_decref(groups);
    return KVC_OK;
}
