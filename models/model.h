/* The interface of a store: its options, its closed form, its simulation and, where it exists, its measured
 * runtime.
 *
 * A scenario carries a store's options as the user wrote them, with every "auto". `resolve` turns them into
 * the store's configuration, in which every value is settled. kvc_scenario_resolve() does so once, when a
 * scenario is loaded, and keeps the result in the scenario. All later functions read the configuration, and
 * the scenario for its workload and run.
 *
 * Every store fills one struct kvc_model, and models/registry.c lists them all. Drivers and commands know
 * stores only through this struct: no other file names one. */
#ifndef KVC_MODELS_MODEL_H
#define KVC_MODELS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/pipeline.h"
#include "models/resource.h"
#include "models/room.h"
#include "sim/base/diag.h"
#include "sim/base/text/option.h"
#include "sim/base/progress.h"
#include "sim/metrics/result.h"
#include "sim/platform.h"
#include "sim/run/context.h"
#include "sim/scenario.h"

/* A device that a store uses. */
struct kvc_model_device {
    const struct kvc_device_kind *kind;
    /* Default profile from the hardware library, for a node that names none: "tesla-k40c". NULL: such a node
     * does not have the device. */
    const char *profile;
};

struct kvc_forecast;
struct kvc_measurable;
struct kvc_probed_machine;
struct kvc_profile;
struct kvc_steadiness;

/* The input of a store's part of a calibration. */
struct kvc_calibration {
    const struct kvc_probed_machine *machine; /* Results of the probes (sim/probes/machine.h). */
    bool quick;                               /* Measures less, for seconds instead of minutes. */
    struct kvc_steadiness *steadiness;        /* The store checks it from time to time. */
    const struct kvc_progress *progress;      /* May be NULL. */
    struct kvc_profile *profile; /* The machine file under construction, which the store adds to. */
};

/* Sizes that a store may depend on. */
enum { KVC_MODEL_SIZES_MAX = 16 };

struct kvc_model {
    const char *name;                       /* `system.kind` in scenarios. */
    const char *help;                       /* One line about the design. */
    const char *paper;                      /* Publication of the design. */
    const struct kvc_option_table *options; /* Options of the `system` table, without `kind`. */
    /* What a first scenario states beside the store (kvcast new): paths and values, of which the last is
     * NULL. NULL: nothing, because every option has a default. */
    const char *const (*first)[2];
    /* Whether `node.sockets` applies. The store decides what a socket is: a shard with its devices, or a
     * place for cards and their memory. */
    bool has_sockets;
    /* Whether the nodes exchange messages and must therefore be simulated in one engine. */
    bool has_links_between_nodes;
    /* Whether the platform has a host for node.power, the power of a node besides its devices. */
    bool has_rest_power;
    /* Whether its simulation follows the scenario's power policy (sim/power_policy.h). */
    bool takes_power;
    /* Whether its option `policy` is a function that its simulation calls (sim/store_policy.h). */
    bool takes_policy;
    /* Whether its costs depend on the state of the memory: node.huge_pages, node.co_runner. */
    bool takes_memory_state;
    /* Whether its simulation has the stalls of node.stalls. */
    bool takes_stalls;
    /* Whether the load may alternate between phases (sim/workload/phases.h). */
    bool takes_phases;
    /* Whether several tenants may share it (sim/workload/tenants.h). */
    bool takes_tenants;
    /* Largest key and largest pair that it stores [bytes]; 0: those of a workload. Requests of a trace for
     * larger ones are counted. */
    uint32_t key_bytes_most, pair_bytes_most;
    /* The devices that the store uses, in the order of the echo; a NULL kind ends the list. */
    const struct kvc_model_device *devices;

    /* Returns how many devices of this kind one node of a resolved scenario has. NULL: one for each socket,
     * or one if the store has no sockets. */
    double (*device_count)(const struct kvc_scenario *scenario, const struct kvc_device_kind *kind);

    /* Size of the store's configuration [bytes]; 0: the store has none. */
    size_t config_bytes;
    /* Fills the zeroed configuration from the scenario, whose workload and run have been checked. Refuses
     * scenarios that the store cannot compute. NULL exactly if config_bytes is 0. */
    enum kvc_status (*resolve)(const struct kvc_scenario *scenario, void *config, struct kvc_diag *diag);

    /* Checks what the ranges of single options cannot express. The configuration is already resolved. */
    enum kvc_status (*check)(const struct kvc_scenario *scenario, struct kvc_diag *diag);

    /* Returns the path of an option that has no effect, or probably not the wanted one, and says why in
     * `text` of `size` bytes; NULL: there is none. NULL: the store knows none. */
    const char *(*warning)(const struct kvc_scenario *scenario, char *text, size_t size);

    /* Fills in the parts of a resolved scenario's store that may be too small for its keys and returns their
     * number, at most KVC_MODEL_ROOMS_MAX. NULL: `check` refuses a scenario with too many keys, or there are
     * no such parts. */
    uint32_t (*rooms)(const struct kvc_scenario *scenario, struct kvc_model_room *room);

    /* Memory that a functional run needs in this process [bytes]. NULL: a negligible amount. */
    double (*memory_bytes)(const struct kvc_scenario *scenario);

    /* Adds the devices of the simulated machines to an empty platform. The scenario is resolved. Checks and
     * the simulation use the same description. NULL: the store adds them itself, and none of them can change
     * during a run. */
    void (*platform)(const struct kvc_scenario *scenario, struct kvc_platform *platform);

    /* The stages that requests pass through. NULL: there are no resources. */
    kvc_stages_fn *stages;

    /* What pictures show of the stages besides their names. NULL: nothing. */
    kvc_pipeline_fn *pipeline;

    /* The physical resources that requests use; a NULL name ends the list. NULL: unknown, so the bottleneck
     * can be found only by utilization. */
    const struct kvc_model_resource *resources;

    /* Predicts the scenario's result with the store's closed form. */
    enum kvc_status (*predict)(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag);

    /* Evaluates the same closed form for searches over many configurations: fills in the values of *forecast
     * that it knows; all are NaN or empty before (models/forecast.h). NULL: `predict` is used instead.
     */
    enum kvc_status (*forecast)(const struct kvc_scenario *scenario, struct kvc_forecast *forecast,
                                struct kvc_diag *diag);

    /* Returns the time that the costs of a resolved scenario give a launch of `jobs` searches, or of inserts
     * and deletes [ns]. `result` is a forecast of the scenario, whose counts say what a launch consists of.
     * NULL: all launches have the same size. */
    double (*launch_ns)(const struct kvc_scenario *scenario, const struct kvc_result *result, bool inserts,
                        double jobs);

    /* Builds and preloads the store of the replica with this seed (sim/base/seeds.h), in the process that
     * simulates it or in an ancestor of it. The store does not depend on the rate of an open load, nor on the
     * times of the run, so that several runs may begin with copies of it. *state may stay NULL; its memory is
     * freed with the process. NULL: there is nothing to build. */
    enum kvc_status (*prepare)(const struct kvc_scenario *scenario, uint64_t seed, void **state,
                               const struct kvc_progress *progress, struct kvc_diag *diag);
    /* Fills in the sizes and shares of a resolved scenario, out of its hardware and its options, that
     * `prepare` reads, and returns their number, at most KVC_MODEL_SIZES_MAX. Scenarios that differ in
     * nothing but their hardware and agree in these have the same stores (kvc_scenario_prepares_same). NULL:
     * nothing is known about it. */
    uint32_t (*sizes)(const struct kvc_scenario *scenario, double *size);
    /* Simulates one replica, usually with kvc_simulate_replica() (models/simulate.h). A process calls this at
     * most once, because SimGrid allows one engine in a process. */
    enum kvc_status (*run)(const struct kvc_run_context *context, struct kvc_diag *diag);

    /* How this machine runs the store for real (models/measured/measurable.h). NULL: the store has no
     * measured runtime. */
    const struct kvc_measurable *measurable;

    /* Measures the store's own code on this machine and adds its values to the machine file. NULL: the store
     * has nothing to measure. */
    enum kvc_status (*calibrate)(const struct kvc_calibration *calibration, struct kvc_diag *diag);
};

/* Resolves the scenario's options and keeps the configuration in the scenario, in place of an earlier one.
 * The node's devices must outlive it. Returns KVC_ERR_SCENARIO if the store cannot resolve them. */
enum kvc_status kvc_scenario_resolve(struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Frees the configuration. A scenario without one is allowed. */
void kvc_scenario_unresolve(struct kvc_scenario *scenario);

/* Returns the devices of a resolved scenario's simulation, which the caller frees, or NULL if the store has
 * no platform. */
struct kvc_platform *kvc_scenario_platform(const struct kvc_scenario *scenario);

/* Returns KVC_ERR_SCENARIO for a load with phases, of which no closed form knows what they do to each other.
 */
enum kvc_status kvc_scenario_refuse_phases(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Checks a platform that kvc_scenario_platform() returned, and the changes of its devices that the run
 * states. Messages about changes begin with their path, "run.changes.1.at". */
enum kvc_status kvc_scenario_check_platform(const struct kvc_scenario *scenario,
                                            const struct kvc_platform *platform, struct kvc_diag *diag);

/* Does the same with a platform of its own. */
enum kvc_status kvc_scenario_check_devices(const struct kvc_scenario *scenario, struct kvc_diag *diag);

/* Returns whether the stage with this name spends time on the resource. */
bool kvc_scenario_has_stage(const struct kvc_scenario *scenario, const struct kvc_model_resource *resource,
                            const char *name);

/* Returns whether the requests of a resolved scenario take any of a resource of its store. */
bool kvc_resource_is_used(const struct kvc_model_resource *resource, const struct kvc_scenario *scenario);

/* Returns the first resource of a kind of device that the requests of a resolved scenario take time of; NULL:
 * there is none. */
const struct kvc_model_resource *kvc_scenario_resource(const struct kvc_scenario *scenario,
                                                       const char *device);

/* Builds the store of a replica by `prepare`; *state stays as it is if there is nothing to build. */
enum kvc_status kvc_scenario_prepare(const struct kvc_scenario *scenario, uint32_t replica, void **state,
                                     const struct kvc_progress *progress, struct kvc_diag *diag);

/* Returns whether `prepare` builds the same store for two resolved scenarios that differ in nothing but the
 * hardware. False if the store has nothing to prepare, or if that is unknown. */
bool kvc_scenario_prepares_same(const struct kvc_scenario *first, const struct kvc_scenario *second);

/* Returns a copy of a scenario with its own options, devices and members of the cluster, which is not
 * resolved yet. */
struct kvc_scenario *kvc_scenario_copy(const struct kvc_scenario *scenario);

/* Frees a copy and its configuration. NULL is allowed. */
void kvc_scenario_free_copy(struct kvc_scenario *scenario);

/* Returns a copy of a resolved scenario in which the resource is faster, with its own options, devices and
 * configuration; NULL after an error. kvc_scenario_free_copy() frees it. */
struct kvc_scenario *kvc_scenario_faster(const struct kvc_scenario *scenario,
                                         const struct kvc_model_resource *resource, double factor,
                                         struct kvc_diag *diag);

/* Finds the part of a resolved scenario's store that holds the fewest keys. Returns false if all parts hold
 * all but one key in a thousand, or if the keys of the load are unknown. Otherwise `*option` becomes its
 * option, and `text` says, "system.index: 16MiB holds 2.097e+06 of 4e+06 keys ...". */
bool kvc_scenario_lacks_room(const struct kvc_scenario *scenario, const char **option, char *text,
                             size_t size);

/* Adds a note to the result that says so. */
void kvc_scenario_note_room(const struct kvc_scenario *scenario, struct kvc_result *result);

#endif
