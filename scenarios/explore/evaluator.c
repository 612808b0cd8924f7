#include "scenarios/explore/evaluator.h"

#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/forecast.h"
#include "models/model.h"
#include "scenarios/explore/patches/patches.h"
#include "scenarios/load/load.h"
#include "scenarios/run/driver.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"
#include "sim/devices/cpu.h"

enum {
    VERIFIED_POINTS = 6, /* Points at which patches are compared with full decodings. */
    MACHINES = 4096,     /* Machines whose devices are remembered, a power of two. */
};

/* Cached results about the devices of a machine. */
struct machine {
    bool known;
    bool valid; /* The devices of the simulation pass their check. */
    uint64_t number, assignments;
    struct kvc_power power;
};

/* The verdict about a device's values. */
struct verdict {
    bool known, valid;
    uint64_t number, assignments;
};

struct kvc_evaluator {
    struct kvc_overrides set; /* The user's. */
    const struct kvc_space *space;
    struct kvc_load_session *session;
    struct kvc_patches *patches;                 /* NULL: every point is loaded. */
    struct machine *machine;                     /* By number, modulo MACHINES. */
    struct verdict device[KVC_NODE_DEVICES_MAX]; /* The latest ones. */
    uint64_t assignments; /* Number of assignments to options of machines; each makes older findings stale. */
};

/* Lists all overrides of a point. */
static enum kvc_status set_of(const struct kvc_evaluator *evaluator, const uint32_t *value,
                              struct kvc_overrides *set, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_overrides_join(set, &evaluator->set, diag);
    for (uint32_t a = 0; status == KVC_OK && a < evaluator->space->axis_count; a++) {
        status = kvc_overrides_join(set, &evaluator->space->axis[a].value[value[a]].set, diag);
    }
    return status;
}

/* Loads the scenario of a point. */
static enum kvc_status load_point(const struct kvc_evaluator *evaluator, const uint32_t *value,
                                  struct kvc_loaded **out, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = set_of(evaluator, value, &set, diag);
    *out = NULL;
    if (status == KVC_OK) {
        status = kvc_load_session_point(evaluator->session, &set, out, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

static enum kvc_status forecast_loaded(const struct kvc_evaluator *evaluator, const uint32_t *value,
                                       struct kvc_forecast *out, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded;
    enum kvc_status status = load_point(evaluator, value, &loaded, diag);
    if (status == KVC_OK) {
        status = kvc_driver_forecast(&loaded->scenario, out, diag);
    }
    kvc_loaded_free(loaded);
    return status;
}

/* Returns whether a device passes the check that the loader does while it decodes the device. */
static bool device_is_valid(struct kvc_evaluator *evaluator, uint32_t number, const struct kvc_device *device)
{
    struct verdict *verdict = &evaluator->device[number];
    uint64_t values = kvc_patches_device(evaluator->patches, number);
    struct kvc_diag unused = {0};
    if (!verdict->known || verdict->number != values || verdict->assignments != evaluator->assignments) {
        *verdict = (struct verdict){.known = true, .number = values, .assignments = evaluator->assignments};
        verdict->valid =
            device->kind->check == NULL || device->kind->check(device->values, &unused) == KVC_OK;
    }
    return verdict->valid;
}

static bool devices_are_valid(struct kvc_evaluator *evaluator, const struct kvc_node *node)
{
    struct kvc_diag unused = {0};
    uint32_t pstate;
    bool valid = kvc_cpu_pstate_of(node, &pstate, &unused) == KVC_OK;
    for (uint32_t i = 0; valid && node->device[i].kind != NULL; i++) {
        valid = device_is_valid(evaluator, i, &node->device[i]);
    }
    return valid;
}

/* Returns a node of a cluster whose platform is that node over and over, or NULL. */
static struct kvc_scenario *repeated_node(const struct kvc_scenario *scenario)
{
    struct kvc_diag unused = {0};
    bool repeats = scenario->cluster.nodes > 1 && scenario->cluster.member_count == 0 &&
                   !scenario->model->has_links_between_nodes && scenario->run.change_count == 0;
    return repeats ? kvc_cluster_class_scenario(scenario, 0, &unused) : NULL;
}

/* Checks the devices of a machine and notes their power. */
static void look_at(struct machine *machine, const struct kvc_scenario *scenario)
{
    struct kvc_diag unused = {0};
    struct kvc_scenario *node = repeated_node(scenario);
    struct kvc_platform *platform = kvc_scenario_platform(node != NULL ? node : scenario);
    machine->valid = kvc_scenario_check_platform(scenario, platform, &unused) == KVC_OK;
    machine->power = kvc_power_of(platform);
    for (uint32_t i = 0; node != NULL && i < machine->power.count; i++) {
        machine->power.kind[i].count *= (double)scenario->cluster.nodes;
    }
    kvc_platform_free(platform);
    kvc_cluster_free_class(node);
}

/* Finds the machine of the patched scenario, which is resolved. */
static const struct machine *machine_of(struct kvc_evaluator *evaluator, const struct kvc_scenario *scenario)
{
    uint64_t number = kvc_patches_machine(evaluator->patches);
    struct machine *machine = &evaluator->machine[kvc_mix64(number) & (MACHINES - 1)];
    if (!machine->known || machine->number != number || machine->assignments != evaluator->assignments) {
        machine->known = true;
        machine->number = number;
        machine->assignments = evaluator->assignments;
        machine->valid = devices_are_valid(evaluator, &scenario->node);
        if (machine->valid) {
            look_at(machine, scenario);
        }
    }
    return machine;
}

/* Fails with the loader's message for the patched scenario, which is refused. */
static enum kvc_status refuse(const struct kvc_evaluator *evaluator, struct kvc_loaded *loaded,
                              const uint32_t *value, struct kvc_diag *diag)
{
    struct kvc_overrides set = {0};
    enum kvc_status status = set_of(evaluator, value, &set, diag);
    if (status == KVC_OK) {
        status = kvc_load_session_check(evaluator->session, loaded, &set, diag);
    }
    kvc_overrides_clear(&set);
    return status;
}

/* Forecasts a point by patches. *done becomes false if the point needs a full load. */
static enum kvc_status forecast_patched(struct kvc_evaluator *evaluator, const uint32_t *value,
                                        struct kvc_forecast *out, bool *done, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = kvc_patches_apply(evaluator->patches, value);
    struct kvc_diag refused = {0};
    *done = loaded != NULL;
    if (loaded == NULL) {
        return KVC_OK;
    }
    struct kvc_run *run = &loaded->scenario.run;
    double warmup_ns = run->warmup_ns, duration_ns = run->duration_ns; /* The check changes them. */
    enum kvc_status status = kvc_load_session_check(evaluator->session, loaded, NULL, &refused);
    if (status != KVC_OK) {
        run->warmup_ns = warmup_ns;
        run->duration_ns = duration_ns;
        status = refuse(evaluator, loaded, value, diag);
    } else {
        const struct machine *machine = machine_of(evaluator, &loaded->scenario);
        *done = machine->valid;
        bool traced = loaded->scenario.workload.arrival == KVC_ARRIVAL_TRACE; /* A copy costs time. */
        struct kvc_scenario steady;
        status = traced ? kvc_driver_steady(&loaded->scenario, &steady, diag) : KVC_OK;
        if (machine->valid && status == KVC_OK) {
            status =
                kvc_scenario_forecast_with(traced ? &steady : &loaded->scenario, &machine->power, out, diag);
        }
    }
    run->warmup_ns = warmup_ns;
    run->duration_ns = duration_ns;
    return status;
}

/* Finds out whether patches and a full load agree about a point: both refuse it, with the same message, or
 * the forecasts are equal. KVC_ERR_RUNTIME if one of them lacks memory, which says nothing. */
static enum kvc_status compare(struct kvc_evaluator *evaluator, const uint32_t *value, bool *same,
                               struct kvc_diag *diag)
{
    struct kvc_diag said[2] = {{0}};
    struct kvc_forecast forecast[2];
    bool done;
    memset(forecast, 0, sizeof(forecast));
    enum kvc_status loaded = forecast_loaded(evaluator, value, &forecast[0], &said[0]);
    enum kvc_status patched = forecast_patched(evaluator, value, &forecast[1], &done, &said[1]);
    if (loaded == KVC_ERR_RUNTIME || patched == KVC_ERR_RUNTIME) {
        *diag = said[loaded == KVC_ERR_RUNTIME ? 0 : 1];
        return KVC_ERR_RUNTIME;
    }
    *same =
        !done || /* The answer will come from a full load. */
        (loaded == patched &&
         (loaded == KVC_OK ? memcmp(&forecast[0], &forecast[1], sizeof(*forecast)) == 0
                           : strcmp(said[0].message, said[1].message) == 0 &&
                                 strcmp(said[0].file, said[1].file) == 0 && said[0].line == said[1].line));
    return KVC_OK;
}

/* Compares patches with full loads at the first, the last and a few other points; drops the patches if they
 * disagree. */
static enum kvc_status verify(struct kvc_evaluator *evaluator, struct kvc_diag *diag)
{
    uint32_t value[KVC_SWEEP_AXES_MAX];
    enum kvc_status status = KVC_OK;
    struct kvc_rng rng;
    kvc_rng_init(&rng, 0, "evaluator", 0);
    for (int i = 0; i < VERIFIED_POINTS && evaluator->patches != NULL && status == KVC_OK; i++) {
        bool same = true;
        for (uint32_t a = 0; a < evaluator->space->axis_count; a++) {
            uint32_t count = evaluator->space->axis[a].count;
            value[a] = i == 0 ? 0 : i == 1 ? count - 1 : (uint32_t)kvc_rng_below(&rng, count);
        }
        status = compare(evaluator, value, &same, diag);
        if (!same) {
            kvc_patches_free(evaluator->patches);
            evaluator->patches = NULL;
        }
    }
    return status;
}

void kvc_evaluator_free(struct kvc_evaluator *evaluator)
{
    if (evaluator == NULL) {
        return;
    }
    kvc_patches_free(evaluator->patches);
    kvc_load_session_close(evaluator->session);
    kvc_overrides_clear(&evaluator->set);
    free(evaluator->machine);
    free(evaluator);
}

enum kvc_status kvc_evaluator_create(const char *path, const struct kvc_overrides *set,
                                     const struct kvc_space *space, struct kvc_evaluator **out,
                                     struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_evaluator *evaluator = kvc_array_of(1, sizeof(*evaluator));
    evaluator->machine = kvc_array_of(MACHINES, sizeof(*evaluator->machine));
    evaluator->space = space;
    enum kvc_status status = set != NULL ? kvc_overrides_join(&evaluator->set, set, diag) : KVC_OK;
    if (status == KVC_OK) {
        status = kvc_load_session_open(path, &evaluator->session, diag);
    }
    if (status == KVC_OK) {
        status = kvc_patches_create(evaluator->session, &evaluator->set, space, &evaluator->patches, diag);
    }
    if (status == KVC_OK) {
        status = verify(evaluator, diag);
    }
    if (status != KVC_OK) {
        kvc_evaluator_free(evaluator);
        return status;
    }
    *out = evaluator;
    return KVC_OK;
}

bool kvc_evaluator_is_fast(const struct kvc_evaluator *evaluator)
{
    return evaluator->patches != NULL;
}

bool kvc_evaluator_assign(struct kvc_evaluator *evaluator, uint32_t axis, uint32_t value, const char *text)
{
    bool machine = false;
    bool assigned =
        evaluator->patches != NULL && kvc_patches_assign(evaluator->patches, axis, value, text, &machine);
    evaluator->assignments += machine;
    return assigned;
}

enum kvc_status kvc_evaluator_forecast(struct kvc_evaluator *evaluator, const uint32_t *value,
                                       struct kvc_forecast *out, struct kvc_diag *diag)
{
    bool done = false;
    enum kvc_status status = KVC_OK;
    if (evaluator->patches != NULL) {
        status = forecast_patched(evaluator, value, out, &done, diag);
    }
    return done ? status : forecast_loaded(evaluator, value, out, diag);
}
