/* Fuzz target that takes any bytes as a file of the hardware library: a device, or a machine file as
 * calibrate writes it. A file that is refused has one message. One that is accepted states a source for each
 * of its numbers, which JSON can show. */
#include <stdint.h>
#include <string.h>

#include "scenarios/load/decode/hardware.h"
#include "scenarios/output/json.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_accepted(const struct kvc_device_kind *kind, const struct kvc_loaded *loaded)
{
    json_t *sources = kvc_json_sources(&loaded->provenance);
    kvc_fuzz_check(kind != NULL);
    kvc_fuzz_check(json_object_size(sources) == loaded->provenance.count);
    for (uint32_t i = 0; i < loaded->provenance.count; i++) {
        kvc_fuzz_check(loaded->provenance.entry[i].source[0] != '\0');
        kvc_fuzz_check(kvc_parameters_find(&loaded->parameters, loaded->provenance.entry[i].path) != NULL);
    }
    json_decref(sources);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct kvc_loaded loaded;
    const struct kvc_device_kind *kind = NULL;
    struct kvc_node node;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_hardware_read(kvc_memory_file(data, bytes), &kind, &node, &loaded, &diag);
    if (status == KVC_OK) {
        check_accepted(kind, &loaded);
    } else {
        kvc_fuzz_check_refusal(status, &diag);
    }
    kvc_node_free(&node);
    kvc_parameters_clear(&loaded.parameters);
    kvc_parameters_clear(&loaded.provenance);
    return 0;
}
