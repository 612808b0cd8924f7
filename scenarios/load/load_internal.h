/* The sections of a scenario, one file each. load.c calls them in the order of the file.
 *
 * `root` is the stack index of the table that the scenario returned, with all overrides applied. Every
 * function leaves the stack as it was if it returns KVC_OK. */
#ifndef KVC_SCENARIOS_LOAD_LOAD_INTERNAL_H
#define KVC_SCENARIOS_LOAD_LOAD_INTERNAL_H

#include "scenarios/load/decode.h"

/* Pushes the returned table with all overrides applied (load_overrides.c). */
enum kvc_status kvc_load_push_root(const struct kvc_decoder *decoder);

/* Pushes the section `name`, which must be a table; an absent one is an empty table (load_section.c). */
enum kvc_status kvc_load_push_section(const struct kvc_decoder *decoder, int root, const char *name);

/* Reads a section that has only plain options (load_section.c). */
enum kvc_status kvc_load_plain(const struct kvc_decoder *decoder, int root,
                               const struct kvc_option_table *options, const char *path, void *object);
enum kvc_status kvc_load_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run);
enum kvc_status kvc_load_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo);

/* Reads the name, which is the file's unless the scenario gives one, and the store (load_system.c). */
enum kvc_status kvc_load_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario);
enum kvc_status kvc_load_system(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario);

/* Reads the node and the devices that the store looks at (load_node.c). */
enum kvc_status kvc_load_node(const struct kvc_decoder *decoder, int root, const struct kvc_model *model,
                              struct kvc_node *node);

/* Reads the offered load: presets, mix, popularity and arrival (load_workload.c). */
enum kvc_status kvc_load_workload(const struct kvc_decoder *decoder, int root, struct kvc_workload *workload);

/* Reads the axes of the sweep; their values are not checked yet (load_sweep.c). */
enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep);

#endif
