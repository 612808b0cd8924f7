#include "models/memcached/real/calibrate.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "models/memcached/config.h"
#include "models/memcached/real/client.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/probes/pin.h"
#include "sim/probes/profile.h"
#include "sim/probes/steadiness.h"
#include "sim/probes/timing.h"

enum {
    MANY_LARGE_KEYS = 25000,
    KEYS_AT_ONCE = 1000,
    BURST = 32, /* Requests in flight. A thread finds all by one look for connections. */
    KEY_BYTES = 16,
    LONG_KEY_BYTES = 240,
    SMALL_BYTES = 16,
    DATAGRAM_BYTES = 1016, /* In one datagram. */
    LARGE_BYTES = 4016,
    MULTIGET_KEYS = 16,
    ROUNDS = 200,
    KEPT = ROUNDS / 4, /* The fastest ones count. */
    WARM_BURSTS = 20,  /* Bursts of few requests in a row, of which the last one counts. */
};

static const double piece_ns = 2e6, rest_ns = 10e3, longest_ns = 1e9;

/* One kind of requests, in a range of keys of its own. */
struct load {
    bool tcp;
    enum kvc_op op;
    uint32_t requests, keys, key_bytes, value_bytes, items;
    uint64_t random, first;
};

/* The loads: of each transport GETs and SETs of small values and of larger ones, multigets, and lone GETs.
 * Two requests reach a server of two threads. */
enum {
    GET,
    LARGE_GET,
    SET,
    LARGE_SET,
    MULTIGET,
    ALONE,
    OF_TRANSPORT,
    LONG_GET = 2 * OF_TRANSPORT,
    LONG_KEY,
    MANY,
    MANY_LARGE,
    TWO,
    LOADS
};

#define TRANSPORT_LOADS(tcp, large)                                                                          \
    {tcp, KVC_OP_GET, BURST, 1, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},                       \
        {tcp, KVC_OP_GET, BURST, 1, KEY_BYTES, large, KVC_MEMCACHED_FEW_KEYS, 0, 0},                         \
        {tcp, KVC_OP_SET, BURST, 1, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},                   \
        {tcp, KVC_OP_SET, BURST, 1, KEY_BYTES, large, KVC_MEMCACHED_FEW_KEYS, 0, 0},                         \
        {tcp, KVC_OP_GET, BURST, MULTIGET_KEYS, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},       \
    {                                                                                                        \
        tcp, KVC_OP_GET, 1, 1, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0                          \
    }

static const struct load loads[LOADS] = {
    TRANSPORT_LOADS(false, DATAGRAM_BYTES),
    TRANSPORT_LOADS(true, LARGE_BYTES),
    [LONG_GET] = {false, KVC_OP_GET, BURST, 1, KEY_BYTES, LARGE_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},
    [LONG_KEY] = {true, KVC_OP_GET, BURST, 1, LONG_KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},
    [MANY] = {true, KVC_OP_GET, BURST, 1, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_MANY_KEYS, 0, 0},
    [MANY_LARGE] = {true, KVC_OP_GET, BURST, 1, KEY_BYTES, LARGE_BYTES, MANY_LARGE_KEYS, 0, 0},
    [TWO] = {true, KVC_OP_GET, 2, 1, KEY_BYTES, SMALL_BYTES, KVC_MEMCACHED_FEW_KEYS, 0, 0},
};

/* A cost in each round that counts [ns]; NaN: unknown. */
struct series {
    double ns[KEPT];
};

/* What is measured of a load, for each request [ns]. */
enum {
    SERVE,   /* Time from one response to the next: of BURST requests in flight, all the time, or of few that
                reach a server that sleeps. */
    SEND,    /* Time of the client to send a request, to a server that is stopped or sleeps. */
    RECEIVE, /* Time of the client for a response, of those that wait for it. */
    LATENCY, /* Time from the begin of sending until all responses of a burst are received. */
    VALUES
};

/* A load while it is measured. */
struct trial {
    struct load load;
    struct kvc_memcached_real_client client;
    double value[ROUNDS][VALUES];
};

/* A calibration in progress. */
struct survey {
    struct kvc_memcached_real_server one, two; /* Servers of one thread and of two. */
    struct trial trial[LOADS];
    struct series cost[LOADS][VALUES];
};

static double now_ns(void)
{
    return kvc_clock_wall_s() * 1e9;
}

static uint32_t next(void *data, double time_ns, struct kvc_batch *batch)
{
    struct load *load = data;
    (void)time_ns;
    for (batch->count = 0; batch->count < load->keys; batch->count++) {
        uint32_t row = batch->count;
        batch->op[row] = (uint8_t)load->op;
        batch->key_id[row] = load->first + kvc_mix64(load->random++) % load->items;
        batch->key_bytes[row] = (uint8_t)load->key_bytes;
        batch->value_bytes[row] = load->value_bytes;
        batch->sent_ns[row] = NAN;
    }
    return batch->count;
}

static enum kvc_status preload(const struct kvc_memcached_real_server *server, const struct load *load,
                               struct kvc_diag *diag)
{
    struct kvc_batch *batch = kvc_batch_create(KEYS_AT_ONCE, 256);
    enum kvc_status status = KVC_OK;
    for (uint32_t item = 0; item < load->items && status == KVC_OK; item += KEYS_AT_ONCE) {
        for (batch->count = 0; batch->count < KEYS_AT_ONCE; batch->count++) {
            batch->key_id[batch->count] = load->first + item + batch->count;
            batch->key_bytes[batch->count] = (uint8_t)load->key_bytes;
            batch->value_bytes[batch->count] = load->value_bytes;
        }
        status = kvc_memcached_real_preload(server, batch, diag);
    }
    kvc_batch_free(batch);
    return status;
}

static void wait_until(double time_ns)
{
    while (now_ns() < time_ns) {
        ;
    }
}

/* Receives until nothing is in flight. Returns the time from one response to the next [ns]. */
static double receive_all(struct kvc_memcached_real_client *client)
{
    double began_ns = now_ns(), first_ns = 0, time_ns = began_ns;
    uint32_t free = client->free_count, first = free;
    while (client->free_count < client->load.requests && time_ns < began_ns + longest_ns &&
           !atomic_load(&client->failed)) {
        kvc_memcached_real_client_receive(client);
        time_ns = now_ns();
        if (first == free && client->free_count > free) {
            first = client->free_count;
            first_ns = time_ns;
        }
    }
    return client->free_count > first ? (time_ns - first_ns) / (client->free_count - first) : NAN;
}

/* Keeps the requests of a load in flight for a while. */
static void run_piece(struct kvc_memcached_real_client *client, double value[VALUES])
{
    double began_ns = now_ns(), time_ns = began_ns;
    uint64_t served = client->counts.hits + client->counts.sets;
    do {
        kvc_memcached_real_client_step(client);
        time_ns = now_ns();
    } while (time_ns < began_ns + piece_ns && !atomic_load(&client->failed));
    served = client->counts.hits + client->counts.sets - served;
    value[SERVE] = (time_ns - began_ns) * client->load.keys / (double)served;
    receive_all(client);
}

/* Sends a burst. If it is `held`, the client waits until all responses are there before it receives them. The
 * server is stopped meanwhile, or it sleeps. */
static void run_burst(const struct kvc_memcached_real_server *server,
                      struct kvc_memcached_real_client *client, bool stops, double held_ns,
                      double value[VALUES])
{
    uint32_t requests = client->load.requests;
    wait_until(now_ns() + rest_ns);
    if (stops) {
        kvc_memcached_real_server_stop(server);
    }
    double began_ns = now_ns();
    kvc_memcached_real_client_send(client, requests);
    double sent_ns = now_ns();
    if (stops) {
        kvc_memcached_real_server_continue(server);
    }
    wait_until(sent_ns + held_ns);
    double waited_ns = now_ns(), gap_ns = receive_all(client), ended_ns = now_ns();
    value[SEND] = (sent_ns - began_ns) / requests;
    if (held_ns > 0) {
        value[RECEIVE] = (ended_ns - waited_ns) / requests;
    } else {
        value[SERVE] = gap_ns;
        value[LATENCY] = ended_ns - began_ns;
    }
}

/* Measures a load once. */
static enum kvc_status run_trial(const struct kvc_memcached_real_server *server, struct trial *trial,
                                 double value[VALUES], struct kvc_diag *diag)
{
    struct kvc_memcached_real_client *client = &trial->client;
    bool many = client->load.requests == BURST;
    for (int v = 0; v < VALUES; v++) {
        value[v] = NAN;
    }
    if (many) {
        run_piece(client, value);
    }
    for (int i = 0; i < WARM_BURSTS && !many; i++) {
        run_burst(server, client, false, 0, value);
    }
    double held_ns = fmin(many ? 2 * BURST * value[SERVE] : 2 * value[LATENCY], longest_ns);
    for (int i = 0; i < (many ? 1 : WARM_BURSTS); i++) {
        run_burst(server, client, many, held_ns, value);
    }
    if (atomic_load(&client->failed)) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "memcached: %s", client->error);
    }
    return client->free_count == client->load.requests
               ? KVC_OK
               : kvc_diag_fail(
                     diag, KVC_ERR_RUNTIME,
                     "memcached: no answer over %s for %g s: %u requests of %u keys in flight, values "
                     "of %u bytes",
                     trial->load.tcp ? "TCP" : "UDP", longest_ns / 1e9, client->load.requests,
                     trial->load.keys, trial->load.value_bytes);
}

static enum kvc_status open_trial(const struct kvc_memcached_real_server *server, struct trial *trial,
                                  struct kvc_diag *diag)
{
    const struct kvc_memcached_real_load params = {.tcp = trial->load.tcp,
                                                   .requests = trial->load.requests,
                                                   .keys = trial->load.keys,
                                                   .key_bytes_max = trial->load.key_bytes,
                                                   .value_bytes_max = trial->load.value_bytes,
                                                   .next = next,
                                                   .data = &trial->load};
    enum kvc_status status = preload(server, &trial->load, diag);
    return status == KVC_OK ? kvc_memcached_real_client_open(&trial->client, server, &params, diag) : status;
}

/* Keeps the rounds that took the least time: a neighbour makes a round slower, and so does a virtual machine
 * whose cores are far from each other for a while, because requests move from core to core. */
static void keep_fastest(struct survey *survey, uint32_t rounds)
{
    double total_ns[ROUNDS] = {0};
    size_t order[ROUNDS];
    uint32_t kept = rounds * KEPT / ROUNDS;
    for (uint32_t round = 0; round < rounds; round++) {
        for (int l = 0; l < LOADS; l++) {
            const double *value = survey->trial[l].value[round];
            total_ns[round] += loads[l].requests == BURST ? value[SERVE] : value[LATENCY];
        }
    }
    gsl_sort_index(order, total_ns, 1, rounds);
    for (int v = 0; v < LOADS * VALUES; v++) {
        for (uint32_t i = 0; i < KEPT; i++) {
            survey->cost[v / VALUES][v % VALUES].ns[i] =
                i < kept ? survey->trial[v / VALUES].value[order[i]][v % VALUES] : NAN;
        }
    }
}

/* Measures all loads in turns, so that the machine is as fast for one as for another. */
static enum kvc_status run_all(struct survey *survey, uint32_t rounds, const struct kvc_progress *progress,
                               struct kvc_diag *diag)
{
    uint64_t first = 0;
    enum kvc_status status = KVC_OK;
    for (int l = 0; l < LOADS && status == KVC_OK; l++) {
        survey->trial[l].load = loads[l];
        survey->trial[l].load.first = first;
        first += loads[l].items;
        status = open_trial(l == TWO ? &survey->two : &survey->one, &survey->trial[l], diag);
    }
    for (uint32_t round = 0; round < rounds; round++) {
        kvc_progress_report(progress, "memcached", round / (double)rounds);
        for (int l = 0; l < LOADS && status == KVC_OK; l++) {
            struct trial *trial = &survey->trial[l];
            status = run_trial(l == TWO ? &survey->two : &survey->one, trial, trial->value[round], diag);
        }
    }
    keep_fastest(survey, rounds);
    for (int l = 0; l < LOADS; l++) {
        kvc_memcached_real_client_close(&survey->trial[l].client);
    }
    return status;
}

/* ---- costs ---- */

/* Returns (a - factor * b) / over, round by round. */
static struct series less(const struct series *a, double factor, const struct series *b, double over)
{
    struct series series;
    for (int i = 0; i < KEPT; i++) {
        series.ns[i] = (a->ns[i] - factor * b->ns[i]) / over;
    }
    return series;
}

/* Adds the median of the rounds with its 95 % interval, as in sim/probes/profile.h. */
static void add(struct kvc_profile *profile, const char *prefix, const char *name, struct series series,
                const char *source)
{
    char field[KVC_NAME_MAX];
    size_t known = 0;
    for (int i = 0; i < KEPT; i++) {
        if (isfinite(series.ns[i])) {
            series.ns[known++] = series.ns[i];
        }
    }
    if (known == 0) {
        return; /* The machine file does not have it, and its readers say so. */
    }
    gsl_sort(series.ns, 1, known);
    double spread_ns = series.ns[3 * known / 4] - series.ns[known / 4];
    snprintf(field, sizeof(field), "%s%s", prefix, name);
    kvc_profile_estimate(profile, "memcached_costs", field, series.ns[known / 2],
                         1.96 * 1.2533 / 1.349 * spread_ns / sqrt((double)known), "ns", "%s", source);
}

/* Returns a cost without its bytes. */
static struct series without(const struct series *cost, double bytes, const struct series *byte,
                             const struct series *key_byte)
{
    struct series rest = less(cost, bytes, byte, 1);
    return less(&rest, KEY_BYTES, key_byte, 1);
}

/* Costs of both sides that do not depend on the transport. */
struct shared {
    struct series key_byte, client_key_byte, wait;
};

static const struct series none;

/* Returns a look for responses: a lone one has it for itself. Over UDP, those that fill a step need none. */
static struct series look_of(const struct series cost[][VALUES], bool tcp)
{
    return less(&cost[ALONE][RECEIVE], 1, &cost[GET][RECEIVE], tcp ? 1 - 1.0 / KVC_MEMCACHED_AT_ONCE : 1);
}

/* Adds the costs of a server that sleeps; `get` is a GET without its look. */
static void add_sleep(struct kvc_profile *profile, const char *prefix, const struct series cost[][VALUES],
                      const struct series *get)
{
    struct series work = less(&cost[ALONE][SEND], -1, &cost[ALONE][RECEIVE], 1);
    work = less(&work, -1, get, 1);
    add(profile, prefix, "_notify", less(&cost[ALONE][SEND], 1, &cost[GET][SEND], 1),
        "sending a GET to a server that sleeps, and to one that is stopped");
    add(profile, prefix, "_wake", less(&cost[ALONE][LATENCY], 1, &work, 1),
        "latency of a lone GET, less its work");
}

/* Adds the costs of a transport, from its loads. */
static void add_transport(struct kvc_profile *profile, bool tcp, const struct series cost[][VALUES],
                          const struct shared *shared)
{
    const char *prefix = tcp ? "tcp" : "udp", *values = "values of 16 bytes and larger ones",
               *flight = "from one response to the next, 32 requests in flight",
               *sent = "sending 32 requests to a stopped server", *waiting = "32 responses that wait";
    double bytes = (tcp ? LARGE_BYTES : DATAGRAM_BYTES) - SMALL_BYTES, further = MULTIGET_KEYS - 1;
    struct series look = look_of(cost, tcp);
    struct series get_byte = less(&cost[LARGE_GET][SERVE], 1, &cost[GET][SERVE], bytes);
    struct series set_byte = less(&cost[LARGE_SET][SERVE], 1, &cost[SET][SERVE], bytes);
    struct series send_byte = less(&cost[LARGE_SET][SEND], 1, &cost[SET][SEND], bytes);
    struct series receive_byte = less(&cost[LARGE_GET][RECEIVE], 1, &cost[GET][RECEIVE], bytes);
    /* Over TCP, the requests that the clients send in a step are found by one look. */
    double looks = tcp ? 1.0 / KVC_MEMCACHED_AT_ONCE : 1;
    struct series get = less(&cost[GET][SERVE], looks, &shared->wait, 1);
    struct series set = less(&cost[SET][SERVE], looks, &shared->wait, 1);
    struct series key = less(&cost[MULTIGET][SERVE], 1, &cost[GET][SERVE], further);
    struct series receive = less(&cost[GET][RECEIVE], tcp ? 1.0 / KVC_MEMCACHED_AT_ONCE : 0, &look, 1);
    struct series sends = less(&cost[MULTIGET][SEND], 1, &cost[GET][SEND], further);
    struct series receives = less(&cost[MULTIGET][RECEIVE], 1, &cost[GET][RECEIVE], further);
    struct series client_key = less(&sends, -1, &receives, 1);
    add(profile, prefix, "_get", without(&get, SMALL_BYTES, &get_byte, &shared->key_byte), flight);
    add(profile, prefix, "_set", without(&set, SMALL_BYTES, &set_byte, &shared->key_byte), flight);
    add(profile, prefix, "_get_byte", get_byte, values);
    add(profile, prefix, "_set_byte", set_byte, values);
    add(profile, prefix, "_key", without(&key, SMALL_BYTES, &get_byte, &shared->key_byte),
        "multigets of 16 keys, and GETs of one");
    add(profile, prefix, "_send", without(&cost[GET][SEND], 0, &none, &shared->client_key_byte), sent);
    add(profile, prefix, "_receive", less(&receive, SMALL_BYTES, &receive_byte, 1), waiting);
    add(profile, prefix, "_send_byte", send_byte, values);
    add(profile, prefix, "_receive_byte", receive_byte, values);
    add(profile, prefix, "_look", look, "a response that waits alone, less one of 32");
    add(profile, prefix, "_client_key",
        without(&client_key, SMALL_BYTES, &receive_byte, &shared->client_key_byte),
        "multigets of 16 keys, and GETs of one");
    add_sleep(profile, prefix, cost, &get);
}

/* Adds what is left of a large response over UDP without its bytes: its further datagrams. */
static void add_datagrams(struct kvc_profile *profile, const struct series cost[][VALUES])
{
    static const struct {
        const char *name;
        int value;
    } side[] = {{"datagram", SERVE}, {"client_datagram", RECEIVE}};
    double bytes = LARGE_BYTES - SMALL_BYTES, further = LARGE_BYTES / KVC_MEMCACHED_DATAGRAM_BYTES;
    for (size_t i = 0; i < sizeof(side) / sizeof(*side); i++) {
        const struct series *get = &cost[GET][side[i].value];
        struct series byte = less(&cost[LARGE_GET][side[i].value], 1, get, DATAGRAM_BYTES - SMALL_BYTES);
        struct series longer = less(&cost[LONG_GET][side[i].value], 1, get, 1);
        add(profile, side[i].name, "", less(&longer, bytes, &byte, further), "GETs of 4016 bytes over UDP");
    }
}

/* Adds the costs of a store that leaves the caches, for each doubling of it. */
static void add_doublings(struct kvc_profile *profile, const struct series cost[][VALUES],
                          const struct series tcp[][VALUES])
{
    struct series small = less(&cost[MANY][SERVE], 1, &tcp[GET][SERVE],
                               log2((double)KVC_MEMCACHED_MANY_KEYS / KVC_MEMCACHED_FEW_KEYS));
    struct series large = less(&cost[MANY_LARGE][SERVE], 1, &tcp[LARGE_GET][SERVE],
                               log2((double)MANY_LARGE_KEYS / KVC_MEMCACHED_FEW_KEYS));
    struct series byte = less(&large, 1, &small, LARGE_BYTES - SMALL_BYTES);
    add(profile, "doubling", "", less(&small, SMALL_BYTES, &byte, 1),
        "1000 items of 16 bytes and 100000, over TCP");
    add(profile, "doubling_byte", "", byte, "1000 items of 4016 bytes and 25000, over TCP");
}

static void add_all(struct kvc_profile *profile, const struct series cost[][VALUES])
{
    const struct series(*tcp)[VALUES] = &cost[OF_TRANSPORT];
    const double longer = LONG_KEY_BYTES - KEY_BYTES;
    struct series sends = less(&cost[LONG_KEY][SEND], 1, &tcp[GET][SEND], longer);
    struct series receives = less(&cost[LONG_KEY][RECEIVE], 1, &tcp[GET][RECEIVE], longer);
    const struct shared shared = {.key_byte = less(&cost[LONG_KEY][SERVE], 1, &tcp[GET][SERVE], longer),
                                  .client_key_byte = less(&sends, -1, &receives, 1),
                                  .wait = look_of(tcp, true)};
    add_transport(profile, false, cost, &shared);
    add_transport(profile, true, tcp, &shared);
    add_datagrams(profile, cost);
    add(profile, "key_byte", "", shared.key_byte, "keys of 16 and 240 bytes over TCP");
    add(profile, "client_key_byte", "", shared.client_key_byte, "keys of 16 and 240 bytes over TCP");
    add_doublings(profile, cost, tcp);
    add(profile, "wait", "", shared.wait, "the client's own epoll_wait, in a step for one response");
    if (kvc_pin_cores() == 2) { /* Both threads share one. */
        struct series turn = less(&cost[TWO][SERVE], 1, &tcp[GET][SERVE], 1);
        add(profile, "switch", "", less(&turn, 1, &shared.wait, 1),
            "from the response of one thread to that of another on its core, less a GET and a look");
    }
    kvc_profile_summarize(profile, "%-22s %9.0f ns over UDP, %.0f ns over TCP, in the fastest round",
                          "a GET of memcached", cost[GET][SERVE].ns[0], tcp[GET][SERVE].ns[0]);
}

enum kvc_status kvc_memcached_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    struct kvc_diag missing = {0};
    if (kvc_pin_cores() < 2 || kvc_memcached_real_server_check(&missing) != KVC_OK) {
        kvc_profile_summarize(calibration->profile, "memcached is not measured: %s",
                              kvc_pin_cores() < 2 ? "this machine has one core" : missing.message);
        return KVC_OK;
    }
    struct survey *survey = kvc_array_of(1, sizeof(*survey));
    struct utsname system = {.release = "unknown"};
    char version[32], name[KVC_TEXT_MAX];
    double bytes = 2.0 * MANY_LARGE_KEYS * LARGE_BYTES;
    enum kvc_status status = kvc_memcached_real_server_open(&survey->one, 1, bytes, LOADS * BURST, diag);
    status = status == KVC_OK ? kvc_memcached_real_server_open(&survey->two, 2, 0, BURST, diag) : status;
    kvc_pin_core(0);
    if (status == KVC_OK) {
        uname(&system);
        kvc_memcached_real_server_version(&survey->one, version, sizeof(version));
        snprintf(name, sizeof(name), "memcached %s on %.32s %.32s, with clients beside it", version,
                 system.sysname, system.release);
        kvc_profile_name(calibration->profile, "memcached_costs", name);
        status = run_all(survey, calibration->quick ? ROUNDS / 4 : ROUNDS, calibration->progress, diag);
    }
    kvc_memcached_real_server_close(&survey->one);
    kvc_memcached_real_server_close(&survey->two);
    kvc_pin_release();
    kvc_steadiness_check(calibration->steadiness);
    if (status == KVC_OK) {
        add_all(calibration->profile, (const struct series(*)[VALUES])survey->cost);
    }
    free(survey);
    return status;
}
