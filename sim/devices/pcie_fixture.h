/* A PCIe link as published, for tests: KV-Direct (SOSP 2017), sec. 2.4, one Gen3 x8 endpoint of its card. */
#ifndef KVC_SIM_DEVICES_PCIE_FIXTURE_H
#define KVC_SIM_DEVICES_PCIE_FIXTURE_H

#include "sim/devices/pcie.h"

static const struct kvc_pcie kvc_test_published_pcie = {.endpoints = 1,
                                                        .generation = 3,
                                                        .lanes = 8,
                                                        .header_bytes = 26,
                                                        .payload_max_bytes = 256,
                                                        .tags = 64,
                                                        .read_credits = 84,
                                                        .write_credits = 88,
                                                        .write_data_credits = 440,
                                                        .completion_credits = 1024,
                                                        .read_ns = 800,
                                                        .memory_ns = 250,
                                                        .credit_ns = 500,
                                                        .root_bytes_per_s = 13.2e9};

#endif
