/* Fuzz target that takes any bytes as a scenario file. A scenario that is refused has one message, whose line
 * the file has. One that is accepted has values that JSON can show, warnings of one line each, and an answer
 * by the closed form, or one message that says why not. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/load/load.h"
#include "scenarios/output/json.h"
#include "scenarios/run/driver.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int lines_of(const uint8_t *data, size_t bytes)
{
    int lines = 1;
    for (size_t i = 0; i < bytes; i++) {
        lines += data[i] == '\n' || data[i] == '\r'; /* For Lua, both end a line. */
    }
    return lines;
}

static void check_values(const struct kvc_loaded *loaded)
{
    json_t *values = kvc_json_values(&loaded->parameters), *sources = kvc_json_sources(&loaded->parameters);
    kvc_fuzz_check(json_object_size(values) == loaded->parameters.count);
    kvc_fuzz_check(json_object_size(sources) == loaded->parameters.count);
    json_decref(values);
    json_decref(sources);
    for (uint32_t i = 0; i < loaded->warning_count; i++) {
        kvc_fuzz_check_line(loaded->warning[i]);
    }
}

static void predict(const struct kvc_loaded *loaded)
{
    struct kvc_outcome *outcome;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_driver_predict(&loaded->scenario, &outcome, &diag);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
        return;
    }
    kvc_fuzz_check(!(outcome->result.throughput_mops < 0));
    kvc_outcome_free(outcome);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = kvc_memory_file(data, bytes);
    struct kvc_loaded *loaded;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_scenario_load(path, NULL, &loaded, &diag);
    if (status != KVC_OK) {
        kvc_fuzz_check(loaded == NULL);
        kvc_fuzz_check_refusal(status, &diag);
        kvc_fuzz_check(strcmp(diag.file, path) != 0 || diag.line <= lines_of(data, bytes));
        return 0;
    }
    check_values(loaded);
    predict(loaded);
    kvc_loaded_free(loaded);
    return 0;
}
