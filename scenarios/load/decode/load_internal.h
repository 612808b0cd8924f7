/* The sections of a scenario, one file each. load.c calls them in the order of the file.
 *
 * `root` is the stack index of the table that the scenario returned, with all overrides applied. Every
 * function leaves the stack as it was if it returns KVC_OK. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_LOAD_INTERNAL_H
#define KVC_SCENARIOS_LOAD_DECODE_LOAD_INTERNAL_H

#include "scenarios/load/decode/decode.h"

/* Pushes the returned table with all overrides applied (load_overrides.c). */
enum kvc_status kvc_load_push_root(const struct kvc_decoder *decoder);

/* Reads name, system, node, cluster, workload, run and power (load.c). `function` receives what
 * kvc_load_power() says. */
enum kvc_status kvc_load_scenario(const struct kvc_decoder *decoder, int root, int *function);

/* Checks what has been read and resolves it, with or without the devices of the simulation (load.c). */
enum kvc_status kvc_load_check(const struct kvc_decoder *decoder, bool with_devices);

/* Checks that an objective makes sense with this load (load.c). */
enum kvc_status kvc_load_check_slo(const struct kvc_decoder *decoder);

/* Pushes the value of an override: a number, true, false, or a text (load_overrides.c). */
void kvc_load_push_value(struct lua_State *lua, const char *text);

/* Pushes the section `name`, which must be a table; an absent one is an empty table (load_section.c). */
enum kvc_status kvc_load_push_section(const struct kvc_decoder *decoder, int root, const char *name);

/* Reads a section that has only plain options (load_section.c). */
enum kvc_status kvc_load_plain(const struct kvc_decoder *decoder, int root,
                               const struct kvc_option_table *options, const char *path, void *object);
enum kvc_status kvc_load_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run);
enum kvc_status kvc_load_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo);

/* Reads the section `plan`, if there is one (load_plan.c). */
enum kvc_status kvc_load_plan(const struct kvc_decoder *decoder, int root, struct kvc_plan_request *plan);

/* Reads the name, which is the file's unless the scenario gives one, and the store (load_system.c). */
enum kvc_status kvc_load_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario);
enum kvc_status kvc_load_system(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario);

/* Reads the node and the devices that the store looks at (load_node.c). */
enum kvc_status kvc_load_node(const struct kvc_decoder *decoder, int root, const struct kvc_model *model,
                              struct kvc_node *node);

/* Reads the cluster and its members, each of which has what differs from the scenario's system and node
 * (load_cluster.c). */
enum kvc_status kvc_load_cluster(const struct kvc_decoder *decoder, int root, struct kvc_cluster *cluster);
void kvc_load_free_cluster(struct kvc_cluster *cluster);

/* Reads the offered load: presets, mix, popularity and arrival (load_workload.c). */
enum kvc_status kvc_load_workload(const struct kvc_decoder *decoder, int root, struct kvc_workload *workload);

/* Reads the power policy. If it is a function of the file, *function becomes its number in Lua's registry,
 * and otherwise LUA_NOREF (load_power.c). */
enum kvc_status kvc_load_power(const struct kvc_decoder *decoder, int root, struct kvc_power_policy *power,
                               int *function);

/* Reads the sweep. Its values are not checked yet, and its constraint is only noted (load_sweep.c). */
enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep);

/* Whether the sweep at `root` has a constraint. */
bool kvc_load_has_constraint(const struct kvc_decoder *decoder, int root);

/* Reads the values of an axis from the list or range at the top of the stack (load_axis.c, load_range.c). */
enum kvc_status kvc_load_axis(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis);
enum kvc_status kvc_load_range(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis);

/* Reads the value at the top of the stack and adds it to the axis unless it is there already. Sets *index to
 * its place. */
enum kvc_status kvc_load_value(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                               uint32_t *index);

/* Writes the scalar at the top of the stack as an override would. Returns false if it is not a scalar. */
bool kvc_load_scalar_text(struct lua_State *lua, char out[KVC_TEXT_MAX]);

/* Adds a scalar value to the axis (load_axis.c). */
enum kvc_status kvc_load_add_scalar(const struct kvc_decoder *decoder, struct kvc_sweep_axis *axis,
                                    const char *text);

/* Inserts an axis at its place: as the file writes them, then by name (load_sweep.c). */
enum kvc_status kvc_load_insert_axis(const struct kvc_decoder *decoder, struct kvc_sweep *sweep,
                                     const char *under, const char *path, struct kvc_sweep_axis **axis);

/* Reads sweep.points, at the top of the stack: a list of points, or a design (load_points.c). */
enum kvc_status kvc_load_points(const struct kvc_decoder *decoder, struct kvc_sweep *sweep);

#endif
