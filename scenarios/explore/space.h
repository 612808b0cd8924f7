/* A space of configurations: axes, each with a path and a table of values. A point is a tuple of indices of
 * values, one for each axis. */
#ifndef KVC_SCENARIOS_EXPLORE_SPACE_H
#define KVC_SCENARIOS_EXPLORE_SPACE_H

#include <stdint.h>

#include "scenarios/load/load.h"

/* A value of an axis: one or more assignments, because a value may be a whole table. */
struct kvc_axis_value {
    char label[KVC_TEXT_MAX]; /* As tables and messages show it. */
    struct kvc_overrides set; /* What it changes in the scenario. */
};

struct kvc_axis {
    char path[KVC_PATH_MAX]; /* "system.cycle" */
    uint32_t count;          /* Values. */
    struct kvc_axis_value *value;
};

struct kvc_space {
    uint32_t axis_count;
    struct kvc_axis *axis;
};

#endif
