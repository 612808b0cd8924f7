/* KV-Direct's NIC as published, for tests. scenarios/hardware/catapult-*.lua states the sources. */
#ifndef KVC_MODELS_KVDIRECT_CARD_FIXTURE_H
#define KVC_MODELS_KVDIRECT_CARD_FIXTURE_H

#include <criterion/criterion.h>

#include "models/kvdirect/config.h"

/* The devices of the NIC. */
struct kvc_test_card {
    struct kvc_pcie pcie;
    struct kvc_fpga fpga;
    struct kvc_nic nic;
};

static const struct kvc_test_card kvc_test_published_card = {
    .pcie = {.endpoints = 2,
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
             .root_bytes_per_s = 13.2e9,
             .dma_read_ns = 15.5,
             .dma_write_ns = 8,
             .dma_bytes_per_s = 8e9,
             .core_reads_per_s = 29.3e6},
    .fpga = {.clock_hz = 180e6,
             .dram_bytes = 0x1p32,
             .dram_bytes_per_s = 12.8e9,
             .dram_ns = 41.25,
             .power_w = 29.2},
    .nic = {.ports = 1,
            .bytes_per_s = 5e9,
            .mtu_bytes = 1500,
            .frame_overhead_bytes = 38,
            .packet_header_bytes = 50,
            .request_header_bytes = 1,
            .response_header_bytes = 1,
            .latency_ns = 1000},
};

/* Resolves the scenario's options into `config`, which the scenario then points to. A failure fails the test.
 */
static inline void kvc_test_resolve(struct kvc_scenario *scenario, struct kvc_kvdirect_config *config)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_kvdirect_resolve(scenario, config, &diag), KVC_OK, "%s", diag.message);
    scenario->config = config;
}

/* Returns a node with these devices, which must outlive it. */
static inline struct kvc_node kvc_test_card_node(struct kvc_test_card *card)
{
    return (struct kvc_node){.sockets = 1,
                             .device = {{&kvc_pcie_kind, &card->pcie},
                                        {&kvc_fpga_kind, &card->fpga},
                                        {&kvc_nic_kind, &card->nic}}};
}

#endif
