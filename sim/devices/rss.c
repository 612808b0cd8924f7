#include "sim/devices/rss.h"

#include <stdlib.h>

#include "sim/base/rng.h"

enum {
    ENTRIES_MAX = 65536,
    SERVER_PORT = 11211,        /* That of memcached. */
    PORT_FIRST = 32768,         /* The ports that Linux gives to clients, ... */
    PORT_LAST = 60999,          /* ... net.ipv4.ip_local_port_range. */
    CLIENTS_FIRST = 0x0a000000, /* Clients have the addresses 10.0.0.0 to 10.127.255.255, ... */
    CLIENTS_MASK = 0x007fffff,
    SERVERS_FIRST = 0x0a800001, /* ... servers those from 10.128.0.1. */
};

struct kvc_rss {
    uint32_t queues;
    uint32_t connections;
    uint16_t queue[];
};

/* The key of Microsoft's verification suite, "Verifying the RSS hash calculation". */
static const uint8_t key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

uint32_t kvc_rss_hash(const uint8_t *input, size_t bytes)
{
    uint32_t hash = 0,
             window = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
    if (bytes > sizeof(key) - sizeof(window)) {
        KVC_BUG("hash of %zu bytes", bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        for (int bit = 7; bit >= 0; bit--) {
            hash ^= (input[i] >> bit & 1) != 0 ? window : 0;
            window = window << 1 | (key[i + sizeof(window)] >> bit & 1);
        }
    }
    return hash;
}

static void put_bytes(uint8_t *to, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8) {
        to[i] = (uint8_t)value;
    }
}

uint32_t kvc_rss_tuple_hash(const struct kvc_rss_tuple *tuple, int fields)
{
    uint8_t input[12];
    put_bytes(input, tuple->source_address, 4);
    put_bytes(input + 4, tuple->destination_address, 4);
    put_bytes(input + 8, tuple->source_port, 2);
    put_bytes(input + 10, tuple->destination_port, 2);
    return kvc_rss_hash(input, fields == KVC_RSS_PORTS ? 12 : 8);
}

struct kvc_rss_tuple kvc_rss_tuple_of(const struct kvc_rss_params *params, uint32_t connection)
{
    struct kvc_rng rng;
    uint32_t client = connection / (params->connections / params->clients);
    kvc_rng_init(&rng, params->seed, "rss.address", 0);
    uint32_t first = (uint32_t)kvc_rng_u64(&rng);
    kvc_rng_init(&rng, params->seed, "rss.port", client);
    uint64_t port = PORT_FIRST + kvc_rng_below(&rng, PORT_LAST - PORT_FIRST + 1);
    return (struct kvc_rss_tuple){
        .source_address = CLIENTS_FIRST | ((first + connection) & CLIENTS_MASK),
        .destination_address = SERVERS_FIRST + params->server,
        .source_port = (uint16_t)port,
        .destination_port = SERVER_PORT,
    };
}

enum kvc_status kvc_rss_check(uint64_t queues, uint64_t entries, struct kvc_diag *diag)
{
    if (entries < 1 || entries > ENTRIES_MAX || (entries & (entries - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "nic.rss_entries is %llu; allowed are powers of two from 1 to %d",
                             (unsigned long long)entries, ENTRIES_MAX);
    }
    if (queues < 1 || queues > entries) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "nic.queues is %llu; allowed are 1 to %llu, the entries of the indirection table, nic.rss_entries",
            (unsigned long long)queues, (unsigned long long)entries);
    }
    return KVC_OK;
}

void kvc_rss_close(struct kvc_rss *rss)
{
    free(rss);
}

struct kvc_rss *kvc_rss_open(const struct kvc_rss_params *params, struct kvc_diag *diag)
{
    if (params->clients < 1 || params->connections % params->clients != 0 || params->connections < 1) {
        KVC_BUG("%u connections of %u clients", params->connections, params->clients);
    }
    if (kvc_rss_check(params->queues, params->entries, diag) != KVC_OK) {
        return NULL;
    }
    struct kvc_rss *rss = malloc(sizeof(*rss) + params->connections * sizeof(*rss->queue));
    if (rss == NULL) {
        kvc_out_of_memory("the receive queues of clients");
    }
    rss->queues = params->queues;
    rss->connections = params->connections;
    for (uint32_t i = 0; i < params->connections; i++) {
        const struct kvc_rss_tuple tuple = kvc_rss_tuple_of(params, i);
        uint32_t entry = kvc_rss_tuple_hash(&tuple, params->fields) & (params->entries - 1);
        rss->queue[i] = (uint16_t)(entry % params->queues);
    }
    return rss;
}

uint32_t kvc_rss_queue(const struct kvc_rss *rss, uint32_t connection)
{
    if (connection >= rss->connections) {
        KVC_BUG("connection %u of %u", connection, rss->connections);
    }
    return rss->queue[connection];
}

double kvc_rss_hottest_frac(const struct kvc_rss *rss)
{
    uint32_t hottest = 0;
    uint32_t *count = calloc(rss->queues, sizeof(*count));
    if (count == NULL) {
        kvc_out_of_memory("the connections of receive queues");
    }
    for (uint32_t i = 0; i < rss->connections; i++) {
        uint32_t of_queue = ++count[rss->queue[i]];
        hottest = of_queue > hottest ? of_queue : hottest;
    }
    free(count);
    return (double)hottest / rss->connections;
}
