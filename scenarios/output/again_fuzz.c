/* Fuzz target that takes any bytes as a result of kvcast run. Its scenario is built again, or refused with
 * one message. Whatever the result says, the scenario is a plain table: no text of it becomes code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plots/document.h"
#include "scenarios/output/again.h"
#include "scenarios/output/json.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = kvc_memory_file(data, bytes);
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag diag = {0};
    json_t *document = NULL;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_RESULT, &document, &diag);
    if (status == KVC_OK) {
        status = kvc_again_load(path, document, NULL, &loaded, &diag);
        kvc_fuzz_check((loaded != NULL) == (status == KVC_OK));
    }
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
    } else {
        json_t *parameters = json_object_get(document, "parameters"),
               *own = kvc_json_values(&loaded->parameters);
        kvc_fuzz_check(
            json_equal(json_object_get(parameters, "system.kind"), json_object_get(own, "system.kind")));
        json_decref(own);
    }
    kvc_loaded_free(loaded);
    json_decref(document);
    return 0;
}
