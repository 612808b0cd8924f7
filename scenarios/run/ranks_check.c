#include "scenarios/run/ranks_check.h"

#include <stdio.h>

#include "scenarios/run/ranks.h"
#include "sim/base/rng.h"

static uint64_t add(uint64_t hash, const char *text)
{
    return kvc_mix64(hash ^ kvc_name_hash(text));
}

static uint64_t add_parameters(uint64_t hash, const struct kvc_parameters *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        hash = add(add(add(hash, list->entry[i].path), list->entry[i].value), list->entry[i].source);
    }
    return hash;
}

/* Adds the contents of a file; one that cannot be read adds nothing. */
static uint64_t add_file(uint64_t hash, const char *path)
{
    char part[1 << 16];
    size_t bytes;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return hash;
    }
    while ((bytes = fread(part, 1, sizeof(part) - 1, file)) > 0) {
        part[bytes] = '\0';
        hash = add(hash, part);
    }
    fclose(file);
    return hash;
}

enum kvc_status kvc_ranks_check_loaded(const struct kvc_loaded *loaded, struct kvc_diag *diag)
{
    if (kvc_ranks_count() == 1) {
        return KVC_OK;
    }
    uint64_t hash = add_file(0, loaded->scenario.file);
    hash = add_parameters(add_parameters(hash, &loaded->parameters), &loaded->provenance);
    if (loaded->scenario.workload.trace[0] != '\0') {
        hash = add_file(hash, loaded->scenario.workload.trace);
    }
    return kvc_ranks_check_same("scenario", hash, diag);
}
