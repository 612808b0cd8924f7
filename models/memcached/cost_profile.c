#include "models/memcached/cost_profile.h"

#include <stddef.h>

#define TIME_ROW(name, field, text)                                                                          \
    KVC_REAL_ROW(kvc_memcached_cost_profile, name, field, KVC_UNIT_NS, 0, 1e9, NULL, text)
#define TRANSPORT_ROWS(name, field)                                                                          \
    TIME_ROW(name "_get", field.get_ns, "a GET of no bytes at a thread of the server, without `wait`"),      \
        TIME_ROW(name "_set", field.set_ns, "a SET of no bytes, or a DELETE, at a thread, without `wait`"),  \
        TIME_ROW(name "_get_byte", field.get_byte_ns, "each byte that a GET returns"),                       \
        TIME_ROW(name "_set_byte", field.set_byte_ns, "each byte that a SET brings"),                        \
        TIME_ROW(name "_key", field.key_ns, "each further key of a multiget"),                               \
        TIME_ROW(name "_send", field.send_ns, "a request at the core of the clients"),                       \
        TIME_ROW(name "_receive", field.receive_ns, "a response there"),                                     \
        TIME_ROW(name "_send_byte", field.send_byte_ns, "each byte of a value that is sent there"),          \
        TIME_ROW(name "_receive_byte", field.receive_byte_ns,                                                \
                 "each byte of a value that is received there"),                                             \
        TIME_ROW(name "_look", field.look_ns,                                                                \
                 "a look for responses there, after which up to 16 are received"),                           \
        TIME_ROW(name "_client_key", field.client_key_ns, "each further key of a multiget there"),           \
        TIME_ROW(name "_notify", field.notify_ns,                                                            \
                 "a request that finds the core of its thread idle, there"),                                 \
        TIME_ROW(name "_wake", field.wake_ns,                                                                \
                 "time until that thread runs; a longer one delays requests at low load")

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_memcached_cost_profile, "name", name, "", "origin of the costs"),
    TRANSPORT_ROWS("udp", udp),
    TRANSPORT_ROWS("tcp", tcp),
    TIME_ROW("datagram", datagram_ns, "each further datagram of a response that exceeds 1400 bytes"),
    TIME_ROW("client_datagram", client_datagram_ns, "each such datagram at the core of the clients"),
    TIME_ROW("key_byte", key_byte_ns, "each byte of a key at a thread of the server"),
    TIME_ROW("client_key_byte", client_key_byte_ns, "each byte of a key at the core of the clients"),
    TIME_ROW("doubling", doubling_ns,
             "each doubling of a store beyond 1000 items, which then leave the caches"),
    TIME_ROW("doubling_byte", doubling_byte_ns, "each doubling, for each byte of the value"),
    TIME_ROW(
        "wait", wait_ns,
        "a thread's look (epoll_wait) for connections that are ready, all of which it then serves, or for "
        "a datagram"),
    TIME_ROW("switch", switch_ns, "time until another thread runs on a core whose thread falls asleep"),
};

static const struct kvc_option_table table =
    KVC_OPTION_TABLE(kvc_memcached_cost_profile, rows, "memcached_costs");

const struct kvc_device_kind kvc_memcached_cost_profile_kind = {
    .name = "memcached_costs",
    .help = "costs of memcached on a machine whose clients run on it, too, as calibrated there",
    .options = &table,
};

static void speed_up(struct kvc_memcached_transport_costs *costs, double factor)
{
    costs->get_ns /= factor;
    costs->set_ns /= factor;
    costs->get_byte_ns /= factor;
    costs->set_byte_ns /= factor;
    costs->key_ns /= factor;
    costs->send_ns /= factor;
    costs->receive_ns /= factor;
    costs->send_byte_ns /= factor;
    costs->receive_byte_ns /= factor;
    costs->look_ns /= factor;
    costs->client_key_ns /= factor;
    costs->notify_ns /= factor;
    costs->wake_ns /= factor;
}

void kvc_memcached_cost_profile_speed_up(struct kvc_memcached_cost_profile *profile, double factor)
{
    speed_up(&profile->udp, factor);
    speed_up(&profile->tcp, factor);
    double *const shared[] = {&profile->datagram_ns, &profile->client_datagram_ns,
                              &profile->key_byte_ns, &profile->client_key_byte_ns,
                              &profile->doubling_ns, &profile->doubling_byte_ns,
                              &profile->wait_ns,     &profile->switch_ns};
    for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++) {
        *shared[i] /= factor;
    }
}
