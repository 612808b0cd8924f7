#include "sim/devices/pcie.h"

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_pcie, name),
     .by_default = "",
     .help = "what the link is called"},
    {.name = "h2d",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_pcie, h2d_bytes_per_s),
     .unit = KVC_UNIT_BYTES_PER_S,
     .min = 1e6,
     .max = 1e13,
     .help = "rate from host to device"},
    {.name = "d2h",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_pcie, d2h_bytes_per_s),
     .unit = KVC_UNIT_BYTES_PER_S,
     .min = 1e6,
     .max = 1e13,
     .help = "rate from device to host"},
    {.name = "latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_pcie, latency_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .help = "fixed time of one copy, either way"},
};

static const struct kvc_option_table options = {
    .name = "pcie", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_pcie)};

const struct kvc_device_kind kvc_pcie_kind = {
    .name = "pcie", .help = "hardware profile of the link to a GPU", .options = &options};

double kvc_pcie_h2d_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->h2d_bytes_per_s * 1e9;
}

double kvc_pcie_d2h_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->d2h_bytes_per_s * 1e9;
}
