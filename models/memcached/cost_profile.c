#include "models/memcached/cost_profile.h"

#include <stddef.h>

#define TIME_ROW(name, field, text)                                                                          \
    KVC_REAL_ROW(kvc_memcached_cost_profile, name, field, KVC_UNIT_NS, 0, 1e9, NULL, text)
#define TRANSPORT_ROWS(name, field, waits)                                                                   \
    TIME_ROW(name "_get", field.get_ns, "a GET of no bytes at a thread of the server" waits),                \
        TIME_ROW(name "_set", field.set_ns, "a SET of no bytes, or a DELETE, at a thread" waits),            \
        TIME_ROW(name "_get_byte", field.get_byte_ns, "each byte that a GET returns"),                       \
        TIME_ROW(name "_set_byte", field.set_byte_ns, "each byte that a SET brings"),                        \
        TIME_ROW(name "_key", field.key_ns, "each further key of a multiget"),                               \
        TIME_ROW(name "_client", field.client_ns, "a request and its response at the core of the clients")

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_memcached_cost_profile, "name", name, "", "origin of the costs"),
    TRANSPORT_ROWS("udp", udp, ", over UDP"),
    TRANSPORT_ROWS("tcp", tcp, ", over TCP, without `wait`"),
    TIME_ROW("datagram", datagram_ns, "each further datagram of a response that exceeds 1400 bytes"),
    TIME_ROW("wait", wait_ns, "a wait for connections, after which a thread serves all that are ready"),
    TIME_ROW("wake", wake_ns, "time until a sleeping thread runs; a longer one delays requests at low load"),
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
    costs->client_ns /= factor;
}

void kvc_memcached_cost_profile_speed_up(struct kvc_memcached_cost_profile *profile, double factor)
{
    speed_up(&profile->udp, factor);
    speed_up(&profile->tcp, factor);
    profile->datagram_ns /= factor;
    profile->wait_ns /= factor;
    profile->wake_ns /= factor;
}
