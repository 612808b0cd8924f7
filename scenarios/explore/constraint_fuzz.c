/* Fuzz target that takes any bytes as the expression of a sweep's constraint. A constraint that is refused,
 * or that fails for a point, has one message; otherwise the space has at least one point. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenarios/explore/space.h"
#include "scenarios/load/load.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const char head[] =
    "return { system = { kind = 'megakv' }, sweep = { ['system.cycle'] = { '120us', '160us', '1ms' },"
    " ['system.delay'] = { 1, 2 }, ['system.api'] = { 'get', 'getk' }, where = function(p) return ";
static const char foot[] = "\nend } }";

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
        kvc_fuzz_check(space->points > 0);
    } else {
        kvc_fuzz_check(space == NULL);
        kvc_fuzz_check_refusal(status, &diag);
    }
    kvc_space_free(space);
    kvc_loaded_free(loaded);
    free(text);
    return 0;
}
