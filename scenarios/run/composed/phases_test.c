/* Loads that alternate, in front of composed stores. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/run/laws_fixture.h"

/* Loads a store whose lookups wait for lines that its caches hold or not, with a load of 2 Mops. */
static struct kvc_loaded *load(const char *index_size, const char *workload)
{
    return kvc_laws_load(
        "return { system = { kind = 'composed', index = { kernel = 'mica', size = '%s' }, stages = {\n"
        "  { name = 'look', on = 'cpu', cores = 2, of = 'get', cycles = 100, does = { 'search', 'insert' } },\n"
        "  { name = 'store', on = 'cpu', of = 'set', ns = 200 } } }, node = { sockets = 1 },\n"
        "workload = { %s fill = 'at_once', per_frame = 1, arrival = { poisson_mops = 2 } },\n"
        "run = { duration = '8ms', warmup = '2ms' } }\n",
        index_size, workload);
}

/* While a load alternates, stages work for each phase as they do for such a load alone, with its share of the
 * keys. Searches of the index touch a line however full it is. */
Test(composition_phases, cost_what_their_loads_do)
{
    static const char *const both = "keys = 4e6, phases = {\n"
                                    "{ length = '1ms', key = 16, value = 8, get = 1, set = 0, zipf = 1.4 },\n"
                                    "{ key = 16, value = 8, get = 0.2, set = 0.8 } },",
                             *const alone[] = {
                                 "keys = 2e6, key = 16, value = 8, get = 1, set = 0, dist = { zipf = 1.4 },",
                                 "keys = 2e6, key = 16, value = 8, get = 0.2, set = 0.8,"};
    struct kvc_outcome *ran = kvc_laws_answer(load("64MiB", both), false),
                       *of[] = {kvc_laws_answer(load("64MiB", alone[0]), false),
                                kvc_laws_answer(load("64MiB", alone[1]), false)};
    for (uint32_t i = 0; i < 2; i++) {
        double found = ran->result.stage[i].utilization_frac, first = of[0]->result.stage[i].utilization_frac,
               second = of[1]->result.stage[i].utilization_frac;
        cr_expect(fabs(first - second) > 0.1 * first, "the phases differ: %.4f, %.4f", first, second);
        cr_expect_float_eq(found, (first + second) / 2, 0.03 * found, "stage %u: %.4f, %.4f and %.4f alone",
                           i, found, first, second);
    }
    for (uint32_t i = 0; i < 2; i++) {
        kvc_outcome_free(of[i]);
    }
    kvc_outcome_free(ran);
}

/* The closed form answers for no load that alternates. */
Test(composition_phases, are_not_predicted)
{
    struct kvc_loaded *loaded =
        load("64KiB", "keys = 1e4, phases = { { length = '1ms', key = 16, value = 8, get = 1, set = 0 } },");
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct kvc_diag diag;
    cr_assert_eq(loaded->scenario.model->predict(&loaded->scenario, result, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "the closed form knows no loads that alternate"), "%s",
                       diag.message);
    free(result);
    kvc_loaded_free(loaded);
}

/* What one of the phases needs must be there. */
Test(composition_phases, need_stages_for_all_of_them)
{
    kvc_laws_refuse(
        "system = { kind = 'composed', index = { kernel = 'cuckoo' }, stages = { { name = 'a', on = 'cpu', "
        "does = 'search' } } }, workload = { keys = 1e4, fill = 'at_once', arrival = { poisson_mops = 1 },\n"
        "phases = { { length = '1ms', key = 8, value = 8, get = 1, set = 0 },\n"
        "{ key = 8, value = 8, get = 0.5, set = 0.5 } } }",
        "system.stages: the workload has SETs, but no stage does insert");
}
