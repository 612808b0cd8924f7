#include "scenarios/load/loaded.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "sim/base/array.h"

const struct kvc_slo kvc_slo_none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL};

const char *const kvc_plan_objective_names[] = {"price", "watts", "nodes", NULL};

static bool is_path(const char *path)
{
    bool inside = false;
    for (; *path != '\0'; path++) {
        if (*path == '.' && !inside) {
            return false;
        }
        if (*path != '.' && !isalnum((unsigned char)*path) && *path != '_' && *path != '-') {
            return false;
        }
        inside = *path != '.';
    }
    return inside;
}

/* Returns for how many entries there is room when there are `count`: a power of two, so that adding one entry
 * after the other takes time in proportion to their number. */
static size_t room_of(uint32_t count)
{
    size_t room = 1;
    while (room < count) {
        room *= 2;
    }
    return count > 0 ? room : 0;
}

enum kvc_status kvc_overrides_add(struct kvc_overrides *overrides, const char *path, const char *value,
                                  struct kvc_diag *diag)
{
    if (!is_path(path)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "--set", 0,
                                "found \"%.100s\", allowed: a path such as run.duration", path);
    }
    if (strlen(path) >= KVC_PATH_MAX) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "--set", 0,
                                "the path \"%.40s...\" is longer than %d bytes", path, KVC_PATH_MAX - 1);
    }
    if (strlen(value) >= KVC_TEXT_MAX) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "--set", 0, "the value of %s is longer than %d bytes",
                                path, KVC_TEXT_MAX - 1);
    }
    if (room_of(overrides->count + 1) > room_of(overrides->count)) {
        overrides->entry =
            kvc_array_grown(overrides->entry, room_of(overrides->count + 1), sizeof(*overrides->entry));
    }
    struct kvc_override *added = &overrides->entry[overrides->count++];
    strcpy(added->path, path);
    strcpy(added->value, value);
    return KVC_OK;
}

enum kvc_status kvc_overrides_join(struct kvc_overrides *overrides, const struct kvc_overrides *more,
                                   struct kvc_diag *diag)
{
    if (more == NULL || more->count == 0) {
        return KVC_OK;
    }
    struct kvc_override *grown =
        realloc(overrides->entry, room_of(overrides->count + more->count) * sizeof(*grown));
    if (grown == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    overrides->entry = grown;
    memcpy(&grown[overrides->count], more->entry, more->count * sizeof(*grown));
    overrides->count += more->count;
    return KVC_OK;
}

enum kvc_status kvc_overrides_parse(struct kvc_overrides *overrides, const char *assignment,
                                    struct kvc_diag *diag)
{
    char path[KVC_PATH_MAX];
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "--set", 0,
                                "found \"%.100s\", allowed: PATH=VALUE, such as run.duration=20ms",
                                assignment);
    }
    size_t bytes = (size_t)(equals - assignment);
    if (bytes >= sizeof(path)) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, "--set", 0,
                                "the path \"%.40s...\" is longer than %d bytes", assignment,
                                KVC_PATH_MAX - 1);
    }
    memcpy(path, assignment, bytes);
    path[bytes] = '\0';
    return kvc_overrides_add(overrides, path, equals + 1, diag);
}

enum kvc_status kvc_overrides_parse_list(struct kvc_overrides *overrides, const char *text,
                                         struct kvc_diag *diag)
{
    char one[KVC_PATH_MAX + KVC_TEXT_MAX + 1];
    enum kvc_status status = KVC_OK;
    for (size_t length; *text != '\0' && status == KVC_OK; text += length + (text[length] == ';')) {
        length = strcspn(text, ";");
        if (length >= sizeof(one)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "the override \"%.40s...\" is too long", text);
        }
        snprintf(one, sizeof(one), "%.*s", (int)length, text);
        status = length > 0 ? kvc_overrides_parse(overrides, one, diag) : KVC_OK;
    }
    return status;
}

void kvc_overrides_append(const struct kvc_overrides *overrides, char *text, size_t size)
{
    size_t length = strlen(text);
    for (uint32_t i = 0; overrides != NULL && i < overrides->count && length < size; i++) {
        length += (size_t)snprintf(text + length, size - length, " --set %s=%s", overrides->entry[i].path,
                                   overrides->entry[i].value);
    }
}

void kvc_overrides_clear(struct kvc_overrides *overrides)
{
    free(overrides->entry);
    *overrides = (struct kvc_overrides){0};
}

void kvc_sweep_axis_free(struct kvc_sweep_axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        kvc_overrides_clear(&axis->value[i].set);
    }
    free(axis->value);
    axis->value = NULL;
    axis->count = 0;
}

static void free_cluster(struct kvc_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->member_count; i++) {
        free(cluster->member[i].options);
        kvc_node_free(&cluster->member[i].node);
    }
    free(cluster->member);
    cluster->member = NULL;
    cluster->member_count = 0;
}

void kvc_loaded_clear(struct kvc_loaded *loaded)
{
    for (uint32_t i = 0; i < loaded->sweep.count; i++) {
        kvc_sweep_axis_free(&loaded->sweep.axis[i]);
    }
    free(loaded->sweep.axis);
    free(loaded->sweep.list);
    kvc_parameters_clear(&loaded->parameters);
    kvc_parameters_clear(&loaded->provenance);
    kvc_overrides_clear(&loaded->set);
    kvc_overrides_clear(&loaded->calibrated);
    free(loaded->warning);
    kvc_scenario_unresolve(&loaded->scenario);
    free(loaded->scenario.options);
    kvc_node_free(&loaded->scenario.node);
    free_cluster(&loaded->scenario.cluster);
}
