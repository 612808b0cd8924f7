#include "sim/probes/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Returns the machine file of two cores that were seen to do 1.5 steps per nanosecond. The caller frees it.
 */
static char *file_of(uint32_t threads_per_core, double slowest_frac, uint32_t windows)
{
    struct kvc_probed_machine machine = {
        .facts = {.cores = 2, .threads_per_core = threads_per_core, .clock_hz = 1e9},
        .memory = {.count = 1, .point = {{.bytes = 4096, .line_ns = {1}}}},
        .cores = {.count = 2, .speed_frac = {1, slowest_frac}}};
    struct kvc_steadiness steadiness = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct kvc_profile *profile = kvc_machine_profile(&machine, "test");
    for (uint32_t i = 0; i < windows; i++) {
        kvc_steadiness_add_speeds(&steadiness, (double[]){1.4, 1.6}, 2);
    }
    kvc_machine_add_core_speed(&machine, &steadiness, profile);
    kvc_profile_write(profile, out);
    kvc_profile_free(profile);
    kvc_steadiness_free(&steadiness);
    fclose(out);
    return text;
}

static void expect(uint32_t threads_per_core, double slowest_frac, uint32_t windows, const char *wanted,
                   const char *unwanted)
{
    char *text = file_of(threads_per_core, slowest_frac, windows);
    cr_expect_not_null(strstr(text, wanted), "%s lacks %s", text, wanted);
    cr_expect_null(strstr(text, unwanted), "%s has %s", text, unwanted);
    free(text);
}

static const char value[] = "    core_speed = { 1.5, source = \"measured ",
                  unknown[] = "core_speed is not known: ";

Test(machine, the_core_speed_is_in_the_file)
{
    expect(1, 0.95, 3, value, unknown);
}

Test(machine, siblings_hide_the_core_speed)
{
    expect(2, 0.95, 3, "-- cpu.core_speed is not known: cores share their units", value);
    expect(1, 0.5, 3, "-- cpu.core_speed is not known: cores share their units", value);
    expect(1, 0.95, 0, "-- cpu.core_speed is not known: it was not measured", value);
}
