/* The sections of a scenario: option tables of sections that only scenarios have, and functions that read
 * them.
 *
 * `root` is the stack index of the table that the scenario returned, with all overrides applied. Every
 * function restores the stack if it returns KVC_OK. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_SECTIONS_H
#define KVC_SCENARIOS_LOAD_DECODE_SECTIONS_H

#include "scenarios/load/decode/decode.h"
#include "sim/base/text/option.h"

/* Fields of struct kvc_workload. A scenario gives one kind of arrival at a time. */
extern const struct kvc_option_table kvc_dist_option_table;
extern const struct kvc_option_table kvc_arrival_option_table;

/* Fields of struct kvc_slo. */
extern const struct kvc_option_table kvc_slo_option_table;

/* Fields of struct kvc_plan_request. */
extern const struct kvc_option_table kvc_plan_option_table;

/* Fields of struct kvc_day, and of a point of its curve. */
extern const struct kvc_option_table kvc_day_option_table;
extern const struct kvc_option_table kvc_day_curve_option_table;

/* Adds the values that figures of the store's paper determine, if the scenario has calibrated = "paper", and
 * writes their source. */
enum kvc_status kvc_load_calibrated(const struct kvc_decoder *decoder, int root, struct kvc_overrides *values,
                                    char source[KVC_TEXT_MAX]);

/* Pushes the returned table with all overrides applied, and before them the values that papers determine. */
enum kvc_status kvc_load_push_root(const struct kvc_decoder *decoder);

/* Pushes the value of an override: a number, true, false, or a text. */
void kvc_load_push_value(struct lua_State *lua, const char *text);

/* Pushes the section `name`, which must be a table; an absent one is an empty table. */
enum kvc_status kvc_load_push_section(const struct kvc_decoder *decoder, int root, const char *name);

/* Reads a section that has only plain options. */
enum kvc_status kvc_load_plain(const struct kvc_decoder *decoder, int root,
                               const struct kvc_option_table *options, const char *path, void *object);
enum kvc_status kvc_load_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run);
enum kvc_status kvc_load_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo);

/* Reads the section `plan`, if there is one. */
enum kvc_status kvc_load_plan(const struct kvc_decoder *decoder, int root, struct kvc_plan_request *plan);

/* Reads the section `day`, if there is one. */
enum kvc_status kvc_load_day(const struct kvc_decoder *decoder, int root, struct kvc_day *day);

/* Reads the name, by default the file's, and the store. */
enum kvc_status kvc_load_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario);
/* *function becomes the number in Lua's registry of the function system.policy, or LUA_NOREF. */
enum kvc_status kvc_load_system(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario,
                                int *function);

/* Reads the node and the devices that the store uses. */
enum kvc_status kvc_load_node(const struct kvc_decoder *decoder, int root, const struct kvc_model *model,
                              struct kvc_node *node);

/* Reads the cluster and its members. A member states what differs from the scenario's system and node. */
enum kvc_status kvc_load_cluster(const struct kvc_decoder *decoder, int root, struct kvc_cluster *cluster);

/* Reads the offered load: presets, mix, popularity and arrival. */
enum kvc_status kvc_load_workload(const struct kvc_decoder *decoder, int root, struct kvc_workload *workload);

/* Reads the power policy. *function becomes the number in Lua's registry of a policy that is a function of
 * the file, or LUA_NOREF. */
enum kvc_status kvc_load_power(const struct kvc_decoder *decoder, int root, struct kvc_power_policy *power,
                               int *function);

/* Reads the sweep. Its values are not checked yet, and its constraint is only noted. */
enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep);

/* Returns whether the sweep at `root` has a constraint. */
bool kvc_load_has_constraint(const struct kvc_decoder *decoder, int root);

#endif
