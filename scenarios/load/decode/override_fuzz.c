/* Fuzz target that takes the lines of its input as overrides, path=value, of a scenario. The first byte
 * selects the store. What is refused has one message; an override that is accepted is the value that the
 * scenario then shows for its path, if it shows one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/load/load.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { OVERRIDES_MAX = 16 };

static const char *write_scenario(uint8_t which)
{
    char text[256];
    size_t count = 0;
    while (kvc_models[count] != NULL) {
        count++;
    }
    int bytes = snprintf(text, sizeof(text), "return { system = { kind = '%s' }, workload = { keys = 1e5 } }",
                         kvc_models[which % count]->name);
    return kvc_memory_file((const uint8_t *)text, (size_t)bytes);
}

/* Adds the lines as overrides. Returns false if one is refused. */
static bool parse(char *lines, struct kvc_overrides *set)
{
    char *rest;
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL && set->count < OVERRIDES_MAX;
         line = strtok_r(NULL, "\n", &rest)) {
        struct kvc_diag diag = {0};
        enum kvc_status status = kvc_overrides_parse(set, line, &diag);
        if (status != KVC_OK) {
            kvc_fuzz_check_refusal(status, &diag);
            return false;
        }
        const struct kvc_override *added = &set->entry[set->count - 1];
        size_t path = strlen(added->path);
        kvc_fuzz_check(strncmp(line, added->path, path) == 0 && line[path] == '=' &&
                       strcmp(line + path + 1, added->value) == 0);
    }
    return true;
}

static void load(const char *path, const struct kvc_overrides *set)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_scenario_load(path, set, &loaded, &diag);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
        return;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        const struct kvc_parameter *shown = kvc_parameters_find(&loaded->parameters, set->entry[i].path);
        kvc_fuzz_check(shown == NULL || strcmp(shown->source, "--set") == 0);
    }
    kvc_loaded_free(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct kvc_overrides set = {0};
    char *lines = bytes > 0 ? strndup((const char *)data + 1, bytes - 1) : NULL;
    if (lines == NULL) {
        return 0;
    }
    const char *path = write_scenario(data[0]);
    if (parse(lines, &set)) {
        load(path, &set);
    }
    kvc_overrides_clear(&set);
    free(lines);
    return 0;
}
