#include "scenarios/cli/manual.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/cli/command.h"
#include "sim/base/diag.h"
#include "sim/base/version.h"

/* Writes `text` with a backslash in front of every character that `special` names. */
static void print_escaped(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (strchr(special, *text) != NULL) {
            putchar('\\');
        }
        putchar(*text);
    }
}

/* Writes `text` for use between single quotes in a shell; `special` gets a backslash. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else if (strchr(special, *text) != NULL) {
            printf("\\%c", *text);
        } else {
            putchar(*text);
        }
    }
}

/* Writes running text for troff: no line can look like a request, and a hyphen stays a hyphen. */
static void print_roff(const char *text, size_t bytes)
{
    if (bytes > 0 && (text[0] == '.' || text[0] == '\'')) {
        fputs("\\&", stdout);
    }
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\\') {
            fputs("\\e", stdout);
        } else if (text[i] == '-') {
            fputs("\\-", stdout);
        } else {
            putchar(text[i]);
        }
    }
}

/* Writes the lines of a help text. Lines that start with a blank were laid out by hand and keep their layout.
 */
static void print_roff_lines(const char *text)
{
    bool kept = false;
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        if ((text[0] == ' ') != kept) {
            kept = !kept;
            puts(kept ? ".nf" : ".fi");
        }
        if (bytes == 0) {
            fputs(".PP", stdout);
        }
        print_roff(text, bytes);
        putchar('\n');
        text += bytes + (text[bytes] == '\n');
    }
    if (kept) {
        puts(".fi");
    }
}

static void print_man_title(const char *page)
{
    printf(".TH \"%s\" 1 \"\" \"kvcast %s\" \"User Commands\"\n", page, kvc_version);
}

static void print_man_flag(const struct kvc_flag *flag)
{
    puts(".TP");
    fputs(".B ", stdout);
    if (flag->letter != NULL) {
        print_roff(flag->letter, strlen(flag->letter));
        fputs(", ", stdout);
    }
    print_roff(flag->name, strlen(flag->name));
    if (flag->value != NULL) {
        fputs(" \\fI", stdout);
        print_roff(flag->value, strlen(flag->value));
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(flag->help, strlen(flag->help));
    putchar('\n');
}

static void print_man_exit_status(void)
{
    puts(
        ".SH EXIT STATUS\n0 ok, 1 validation regressed, 2 usage or scenario error, 3 run\\-time failure, 130 interrupted.");
}

/* Prints the first sentence of a help text as the section NAME needs it: on one line, in lower case, without
 * a full stop. */
static void print_summary(const char *help)
{
    char sentence[256];
    size_t bytes = 0;
    while (help[bytes] != '\0' && bytes + 1 < sizeof(sentence) &&
           !(strchr(".;:", help[bytes]) != NULL && strchr(" \n", help[bytes + 1]) != NULL)) {
        sentence[bytes] = help[bytes] == '\n' ? ' ' : help[bytes];
        bytes++;
    }
    if (bytes > 0 && sentence[bytes - 1] == '.') {
        bytes--;
    }
    if (bytes > 0 && (bytes == 1 || islower((unsigned char)sentence[1]))) {
        sentence[0] = (char)tolower((unsigned char)sentence[0]);
    }
    print_roff(sentence, bytes);
}

static void print_man_command(const struct kvc_usage *usage)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    char page[64];
    int count = kvc_usage_flags(usage, flags, NULL);
    snprintf(page, sizeof(page), "kvcast-%s", usage->command);
    print_man_title(page);
    printf(".SH NAME\nkvcast\\-%s \\- ", usage->command);
    print_summary(usage->help);
    printf("\n.SH SYNOPSIS\n.B kvcast %s\n[options] ", usage->command);
    print_roff(usage->positional, strlen(usage->positional));
    puts("\n.SH DESCRIPTION");
    print_roff_lines(usage->help);
    puts(".SH OPTIONS");
    for (int i = 0; i < count; i++) {
        print_man_flag(flags[i]);
    }
    print_man_exit_status();
    puts(".SH SEE ALSO\n.BR kvcast (1)");
}

static void print_man_program(const struct kvc_command *commands, size_t count)
{
    print_man_title("kvcast");
    puts(
        ".SH NAME\nkvcast \\- forecasts how heterogeneous in\\-memory key\\-value stores perform\n"
        ".SH SYNOPSIS\n.B kvcast\n.I COMMAND\n[options] ...\n.br\n.B kvcast \\-\\-help\n.br\n.B kvcast \\-\\-version\n"
        ".SH DESCRIPTION\n"
        "A scenario, which is a file in Lua, describes a store, its machines and its load. kvcast simulates it or\n"
        "answers in closed form: throughput, latency, utilisation, power and the bottleneck.\n"
        ".SH COMMANDS");
    for (size_t i = 0; i < count; i++) {
        printf(".TP\n.BR kvcast\\-%s (1)\n", commands[i].name);
        print_roff(commands[i].help, strlen(commands[i].help));
        putchar('\n');
    }
    print_man_exit_status();
    puts(
        ".SH ENVIRONMENT\n"
        ".TP\n.B KVCAST_DATA\nFolder of the hardware profiles, scenarios and other data that kvcast comes with, in place\n"
        "of ../share/kvcast beside the program's folder.\n"
        ".TP\n.B KVCAST_MEASURED\nFolder of measured machines that\n.BR kvcast\\-validate (1)\nscores in place of those\n"
        "that kvcast comes with.\n"
        ".TP\n.B NO_COLOR\nIf it is set and not empty, output is without colour.");
    puts(".SH SEE ALSO");
    for (size_t i = 0; i < count; i++) {
        printf(".BR kvcast\\-%s (1)%s\n", commands[i].name, i + 1 < count ? "," : "");
    }
}

/* Prints the values that the positional argument can have, if it is of the form "[a|b]". */
static void print_choices(const char *positional)
{
    if (positional[0] == '[' && strchr(positional, '|') != NULL) {
        for (const char *at = positional + 1; *at != '\0' && *at != ']'; at++) {
            putchar(*at == '|' ? ' ' : *at);
        }
    }
}

static void print_bash_command(const struct kvc_usage *usage)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, NULL);
    printf("    %s)\n        flags='", usage->command);
    for (int i = 0; i < count; i++) {
        printf("%s%s%s%s", i > 0 ? " " : "", flags[i]->name, flags[i]->letter != NULL ? " " : "",
               flags[i]->letter != NULL ? flags[i]->letter : "");
    }
    printf("'\n        valued=' ");
    for (int i = 0; i < count; i++) {
        if (flags[i]->value != NULL) {
            printf("%s %s%s", flags[i]->name, flags[i]->letter != NULL ? flags[i]->letter : "",
                   flags[i]->letter != NULL ? " " : "");
        }
    }
    printf("'\n        choices='");
    print_choices(usage->positional);
    puts("'\n        ;;");
}

static void print_zsh_command(const struct kvc_usage *usage)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, NULL);
    printf("    %s)\n        _arguments", usage->command);
    for (int i = 0; i < count; i++) {
        if (flags[i]->letter != NULL) {
            printf(" \\\n            '(%s %s)'{%s,%s}'[", flags[i]->letter, flags[i]->name, flags[i]->letter,
                   flags[i]->name);
        } else {
            printf(" \\\n            '*%s[", flags[i]->name);
        }
        print_quoted(flags[i]->help, "[]:\\");
        putchar(']');
        if (flags[i]->value != NULL) {
            putchar(':');
            print_quoted(flags[i]->value, ":\\");
            fputs(":_files", stdout);
        }
        putchar('\'');
    }
    if (usage->positional[0] != '\0') {
        fputs(" \\\n            '*:", stdout);
        print_quoted(usage->positional, ":\\");
        if (usage->positional[0] == '[') {
            fputs(":(", stdout);
            print_choices(usage->positional);
            fputs(")'", stdout);
        } else {
            fputs(":_files'", stdout);
        }
    }
    puts("\n        ;;");
}

static void print_fish_command(const struct kvc_usage *usage)
{
    const struct kvc_flag *flags[KVC_USAGE_FLAGS_MAX];
    int count = kvc_usage_flags(usage, flags, NULL);
    for (int i = 0; i < count; i++) {
        printf("complete -c kvcast -n '__fish_seen_subcommand_from %s' -l %s%s%s%s -d '", usage->command,
               flags[i]->name + 2, flags[i]->letter != NULL ? " -s " : "",
               flags[i]->letter != NULL ? flags[i]->letter + 1 : "", flags[i]->value != NULL ? " -r" : "");
        print_escaped(flags[i]->help, "\\'");
        puts("'");
    }
}

static void print_markdown_command(const struct kvc_usage *usage)
{
    printf("### kvcast %s\n\n```text\n", usage->command);
    kvc_usage_print(usage, stdout);
    puts("```\n");
}

int kvc_manual_print_command(const struct kvc_usage *usage, const char *format)
{
    static const struct {
        const char *name;
        void (*print)(const struct kvc_usage *usage);
    } formats[] = {
        {"man", print_man_command},   {"bash", print_bash_command},         {"zsh", print_zsh_command},
        {"fish", print_fish_command}, {"markdown", print_markdown_command},
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].print(usage);
            return KVC_OK;
        }
    }
    struct kvc_diag diag = {0};
    kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                  "kvcast %s: --help: found \"%s\", allowed: man, bash, zsh, fish or markdown",
                  usage->command, format);
    kvc_diag_print(&diag, stderr);
    fputc('\n', stderr);
    return KVC_ERR_SCENARIO;
}

/* Lets every command print its part of the format. */
static void print_pieces(const struct kvc_command *commands, size_t count, const char *format)
{
    char option[32];
    snprintf(option, sizeof(option), "--help=%s", format);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        char *argv[] = {name, option, NULL};
        snprintf(name, sizeof(name), "%s", commands[i].name);
        commands[i].function(2, argv);
    }
}

static void print_bash_program(const struct kvc_command *commands, size_t count)
{
    puts(
        "# bash completion for kvcast. Values and scenarios complete as file names.\n"
        "_kvcast()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} flags valued choices\n"
        "    COMPREPLY=()\n"
        "    case ${COMP_WORDS[1]} in");
    print_pieces(commands, count, "bash");
    puts("    esac\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        mapfile -t COMPREPLY < <(compgen -W '", stdout);
    for (size_t i = 0; i < count; i++) {
        printf("%s ", commands[i].name);
    }
    puts("--help --version' -- \"$current\")\n"
         "    elif [[ $valued == *\" $previous \"* ]]; then\n"
         "        return\n"
         "    elif [[ $current == -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$current\")\n"
         "    else\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$current\")\n"
         "    fi\n}\n"
         "complete -o default -F _kvcast kvcast");
}

static void print_zsh_program(const struct kvc_command *commands, size_t count)
{
    puts("#compdef kvcast\n"
         "_kvcast()\n{\n"
         "    local command=$words[2]\n"
         "    local -a commands=(");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", commands[i].name);
        print_quoted(commands[i].help, ":\\");
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    print_pieces(commands, count, "zsh");
    puts("    esac\n}\n_kvcast \"$@\"");
}

static void print_fish_program(const struct kvc_command *commands, size_t count)
{
    puts("# fish completion for kvcast. Values and scenarios complete as file names.");
    for (size_t i = 0; i < count; i++) {
        printf("complete -c kvcast -n __fish_use_subcommand -f -a %s -d '", commands[i].name);
        print_escaped(commands[i].help, "\\'");
        puts("'");
    }
    print_pieces(commands, count, "fish");
}

static void print_markdown_program(const struct kvc_command *commands, size_t count)
{
    puts(
        "# Reference\n\nThis page is made from the tables behind `kvcast --help` and `kvcast describe`; `make reference` refreshes it.\n\n## Commands\n\n```text");
    kvc_manual_print_help(commands, count, stdout);
    puts("```\n");
    print_pieces(commands, count, "markdown");
}

static void print_names(const struct kvc_command *commands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        puts(commands[i].name);
    }
}

void kvc_manual_print_help(const struct kvc_command *commands, size_t count, FILE *out)
{
    fprintf(out, "usage: kvcast COMMAND [options] ...\n\n"
                 "Forecasts how heterogeneous in-memory key-value stores perform.\n\ncommands:\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fprintf(
        out,
        "\nkvcast COMMAND --help shows its options.\n"
        "Exit status: 0 ok, 1 validation regressed, 2 usage or scenario error, 3 run-time failure, 130 interrupted.\n");
}

int kvc_manual_print_program(const struct kvc_command *commands, size_t count, const char *format)
{
    static const struct {
        const char *name;
        void (*print)(const struct kvc_command *commands, size_t count);
    } formats[] = {
        {"man", print_man_program},   {"bash", print_bash_program}, {"zsh", print_zsh_program},
        {"fish", print_fish_program}, {"commands", print_names},    {"markdown", print_markdown_program},
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].print(commands, count);
            return KVC_OK;
        }
    }
    struct kvc_diag diag = {0};
    kvc_diag_fail(&diag, KVC_ERR_SCENARIO,
                  "kvcast: --help: found \"%s\", allowed: man, bash, zsh, fish, markdown or commands",
                  format);
    kvc_diag_print(&diag, stderr);
    fputc('\n', stderr);
    return KVC_ERR_SCENARIO;
}

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
    const char *type = text_of(option, "type", "");
    bool nests = strcmp(type, "list") == 0 || strcmp(type, "table") == 0;
    const char *absent = nests                                               ? "empty"
                         : json_is_true(json_object_get(option, "optional")) ? "(optional)"
                                                                             : "(required)";
    fprintf(out, "| `%s` ", text_of(option, "name", ""));
    print_cell(unit[0] != '\0' ? unit : type, out);
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
