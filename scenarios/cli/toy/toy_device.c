/* A device: a struct, the table of its options, and a descriptor for the registry. */
#include "scenarios/cli/toy/toy.h"

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_toydev, name),
     .by_default = "",
     .help = "Name of the device in lists."},
    {.name = "speed",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_toydev, speed_mops),
     .unit = KVC_UNIT_MOPS,
     .min = 1e-3,
     .max = 1e3,
     .help = "Units of work per second; a faster device serves a request sooner."},
};

static const struct kvc_option_table options = {
    .name = "toydev", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_toydev)};

const struct kvc_device_kind kvc_toydev_kind = {
    .name = "toydev", .help = "Device of the smallest store: speed", .options = &options};
