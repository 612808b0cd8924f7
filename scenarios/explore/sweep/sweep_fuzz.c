/* Fuzz target that takes any bytes as the value of `sweep` in a scenario. A scenario that is refused has one
 * message. The points of a sweep that is accepted have values that its axes have, and the first and last of
 * them become overrides. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const char head[] = "return { system = { kind = 'megakv' }, run = { seed = 7 }, sweep = ",
                  foot[] = "\n}";

static void check_point(const struct kvc_space *space, uint32_t point)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    kvc_space_point(space, point, value);
    for (uint32_t i = 0; i < space->axis_count; i++) {
        kvc_fuzz_check(value[i] < space->axis[i].count);
    }
    kvc_fuzz_check(kvc_space_set(space, point, &set, &diag) == KVC_OK);
    kvc_fuzz_check(set.count >= space->axis_count);
    kvc_overrides_clear(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    struct kvc_loaded *loaded;
    struct kvc_space *space = NULL;
    struct kvc_diag diag = {0};
    kvc_fuzz_check(out != NULL);
    fwrite(head, 1, sizeof(head) - 1, out);
    fwrite(data, 1, bytes, out);
    fwrite(foot, 1, sizeof(foot) - 1, out);
    fclose(out);
    enum kvc_status status =
        kvc_scenario_load(kvc_memory_file((const uint8_t *)text, size), NULL, &loaded, &diag);
    if (status == KVC_OK) {
        status = kvc_space_create(loaded, &space, &diag);
    }
    if (status == KVC_OK) {
        kvc_fuzz_check(space->points > 0 && space->points <= KVC_SPACE_POINTS_MAX);
        for (uint32_t point = 0; point < space->points && point < 16; point++) {
            check_point(space, point);
        }
        check_point(space, space->points - 1);
    } else {
        kvc_fuzz_check(space == NULL);
        kvc_fuzz_check_refusal(status, &diag);
    }
    kvc_space_free(space);
    kvc_loaded_free(loaded);
    free(text);
    return 0;
}
