#include "models/memcached/real/calibrate.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/memcached/cost_profile.h"
#include "models/memcached/real/client.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/probes/pin.h"
#include "sim/probes/profile.h"
#include "sim/probes/steadiness.h"
#include "sim/probes/timing.h"

enum {
    KEYS = 1000,
    KEY_BYTES = 16,
    PIECES_MAX = 320,
    SMALL_BYTES = 16,
    UDP_LARGE_BYTES = 1016, /* In one datagram. */
    LONG_BYTES = 4016,
    UDP_REQUESTS = 64, /* In flight. The server is what limits them. */
    TCP_REQUESTS = 32,
    FEW_REQUESTS = 4,
    MULTIGETS = 8,
    MULTIGET_KEYS = 16,
    LOADS = 13,
};

static const double piece_s = 0.005, longest_s = 5;

/* A saturating load of one kind of requests. */
struct load {
    bool tcp;
    enum kvc_op op;
    uint32_t requests, keys, value_bytes;
    uint64_t random;
};

/* A median with half of its 95 % interval. */
struct estimate {
    double ns, half_ns;
};

/* What is measured of a load, for each key [ns]. */
enum {
    SERVED,  /* Wall clock. */
    SERVER,  /* Processor time of the server, without the kernel's interrupts. */
    CLIENT,  /* Time of the client, with them. */
    LATENCY, /* Time from the key's request to its answer. */
    VALUES
};

/* A calibration in progress. */
struct survey {
    struct kvc_memcached_real_server server;
    uint32_t pieces, done;
    enum kvc_status status; /* After an error, nothing more is measured. */
    const struct kvc_progress *progress;
    struct kvc_diag *diag;
};

static uint32_t next(void *data, double now_ns, struct kvc_batch *batch)
{
    struct load *load = data;
    (void)now_ns;
    for (batch->count = 0; batch->count < load->keys; batch->count++) {
        uint32_t row = batch->count;
        batch->op[row] = (uint8_t)load->op;
        batch->key_id[row] = kvc_mix64(load->random++) % KEYS;
        batch->key_bytes[row] = KEY_BYTES;
        batch->value_bytes[row] = load->value_bytes;
        batch->sent_ns[row] = NAN;
    }
    return batch->count;
}

static enum kvc_status preload(const struct kvc_memcached_real_server *server, uint32_t value_bytes,
                               struct kvc_diag *diag)
{
    struct kvc_batch *batch = kvc_batch_create(KEYS, 256);
    for (; batch->count < KEYS; batch->count++) {
        batch->key_id[batch->count] = batch->count;
        batch->key_bytes[batch->count] = KEY_BYTES;
        batch->value_bytes[batch->count] = value_bytes;
    }
    enum kvc_status status = kvc_memcached_real_preload(server, batch, diag);
    kvc_batch_free(batch);
    return status;
}

/* Returns the median of the pieces' values with half of its 95 % interval, as in sim/probes/profile.h. */
static struct estimate estimate_of(double (*piece)[VALUES], uint32_t count, int which)
{
    double value[PIECES_MAX];
    for (uint32_t p = 0; p < count; p++) {
        value[p] = piece[p][which];
    }
    gsl_sort(value, 1, count);
    double spread = value[3 * count / 4] - value[count / 4];
    return (struct estimate){value[count / 2], 1.96 * 1.2533 / 1.349 * spread / sqrt(count)};
}

static int by_speed(const void *first, const void *second)
{
    const double *a = first, *b = second;
    return (a[SERVED] > b[SERVED]) - (a[SERVED] < b[SERVED]);
}

static double served(const struct kvc_memcached_real_client *client)
{
    return (double)(client->counts.hits + client->counts.sets);
}

/* Runs a load for a while, until something is served. Nothing is while the client does not run. */
static void run_piece(const struct kvc_memcached_real_server *server,
                      struct kvc_memcached_real_client *client, double value[VALUES])
{
    double keys = served(client), client_ns = client->counts.busy_ns;
    double server_ns = kvc_memcached_real_server_times(server).busy_ns;
    double began_s = kvc_clock_wall_s(), wall_s = 0;
    kvc_histogram_reset(&client->latency);
    while ((wall_s < piece_s || (served(client) == keys && wall_s < longest_s)) &&
           !atomic_load(&client->failed)) {
        kvc_memcached_real_client_step(client);
        wall_s = kvc_clock_wall_s() - began_s;
    }
    keys = served(client) - keys; /* None: the values become infinite. */
    value[SERVED] = wall_s * 1e9 / keys;
    value[SERVER] = (kvc_memcached_real_server_times(server).busy_ns - server_ns) / keys;
    value[CLIENT] = (client->counts.busy_ns - client_ns) / keys;
    value[LATENCY] = kvc_histogram_mean_ns(&client->latency);
}

/* Runs a load in pieces, of which the fastest quarter counts: neighbours only ever make a piece slower. */
static void run(struct survey *survey, struct load load, struct estimate cost[VALUES])
{
    struct kvc_memcached_real_client *client = kvc_array_of(1, sizeof(*client));
    const struct kvc_memcached_real_load params = {.tcp = load.tcp,
                                                   .requests = load.requests,
                                                   .keys = load.keys,
                                                   .key_bytes_max = KEY_BYTES,
                                                   .value_bytes_max = load.value_bytes,
                                                   .next = next,
                                                   .data = &load};
    double(*piece)[VALUES] = kvc_array_of(survey->pieces, sizeof(*piece));
    uint32_t counted = survey->pieces / 4;
    if (survey->status == KVC_OK) {
        kvc_progress_report(survey->progress, "memcached", survey->done++ / (double)LOADS);
        survey->status = preload(&survey->server, load.value_bytes, survey->diag);
    }
    if (survey->status == KVC_OK) {
        survey->status = kvc_memcached_real_client_open(client, &survey->server, &params, survey->diag);
    }
    for (uint32_t p = 0; survey->status == KVC_OK && p < survey->pieces; p++) {
        run_piece(&survey->server, client, piece[p]);
        if (atomic_load(&client->failed)) {
            survey->status = kvc_diag_fail(survey->diag, KVC_ERR_RUNTIME, "memcached: %s", client->error);
        } else if (isinf(piece[p][SERVED])) {
            survey->status = kvc_diag_fail(survey->diag, KVC_ERR_RUNTIME,
                                           "memcached: no answer over %s for %g s: %u requests of %u keys in "
                                           "flight, values of %u bytes",
                                           load.tcp ? "TCP" : "UDP", longest_s, load.requests, load.keys,
                                           load.value_bytes);
        }
    }
    kvc_memcached_real_client_close(client);
    free(client);
    qsort(piece, survey->pieces, sizeof(*piece), by_speed);
    for (int v = 0; v < VALUES; v++) {
        cost[v] = estimate_of(piece, counted, v);
    }
    free(piece);
}

/* ---- costs ---- */

/* The loads of a transport: GETs and SETs of small values and of larger ones, and multigets. */
struct measured {
    struct estimate get[VALUES], large_get[VALUES], set[VALUES], large_set[VALUES], multiget[VALUES];
};

static struct measured measure(struct survey *survey, bool tcp, uint32_t requests, uint32_t large_bytes)
{
    struct measured measured;
    run(survey, (struct load){tcp, KVC_OP_GET, requests, 1, SMALL_BYTES, 0}, measured.get);
    run(survey, (struct load){tcp, KVC_OP_GET, requests, 1, large_bytes, 0}, measured.large_get);
    run(survey, (struct load){tcp, KVC_OP_SET, requests, 1, SMALL_BYTES, 0}, measured.set);
    run(survey, (struct load){tcp, KVC_OP_SET, requests, 1, large_bytes, 0}, measured.large_set);
    run(survey, (struct load){tcp, KVC_OP_GET, MULTIGETS, MULTIGET_KEYS, SMALL_BYTES, 0}, measured.multiget);
    return measured;
}

/* Returns (a * first - b * second) / over. */
static struct estimate combine(double a, const struct estimate *first, double b,
                               const struct estimate *second, double over)
{
    return (struct estimate){(a * first->ns - b * second->ns) / over,
                             hypot(a * first->half_ns, b * second->half_ns) / over};
}

static void add(struct kvc_profile *profile, const char *prefix, const char *name,
                const struct estimate *estimate, const char *source)
{
    char field[KVC_NAME_MAX];
    snprintf(field, sizeof(field), "%s%s", prefix, name);
    kvc_profile_estimate(profile, "memcached_costs", field, estimate->ns, estimate->half_ns, "ns", "%s",
                         source);
}

/* Adds the costs of a transport; `busy` is the time of the server's core for its processor time. */
static void add_transport(struct kvc_profile *profile, const char *prefix, const struct measured *measured,
                          double busy, double large_bytes, const char *requests)
{
    const struct estimate *get = &measured->get[SERVER], *set = &measured->set[SERVER];
    double bytes = large_bytes - SMALL_BYTES;
    struct estimate get_byte = combine(busy, &measured->large_get[SERVER], busy, get, bytes);
    struct estimate set_byte = combine(busy, &measured->large_set[SERVER], busy, set, bytes);
    struct estimate get_none = combine(busy, get, SMALL_BYTES, &get_byte, 1);
    struct estimate set_none = combine(busy, set, SMALL_BYTES, &set_byte, 1);
    struct estimate key =
        combine(busy * MULTIGET_KEYS, &measured->multiget[SERVER], busy, get, MULTIGET_KEYS - 1);
    key = combine(1, &key, SMALL_BYTES, &get_byte, 1);
    char source[160];
    snprintf(source, sizeof(source), "%s requests of 16 bytes in flight, times %.3f for interrupts", requests,
             busy);
    add(profile, prefix, "_get", &get_none, source);
    add(profile, prefix, "_set", &set_none, source);
    add(profile, prefix, "_get_byte", &get_byte, "values of 16 bytes and larger ones");
    add(profile, prefix, "_set_byte", &set_byte, "values of 16 bytes and larger ones");
    add(profile, prefix, "_key", &key, "multigets of 16 keys, and GETs of one");
    add(profile, prefix, "_client", &measured->get[CLIENT], "time of the client for such a GET");
}

static void survey_all(struct survey *survey, struct kvc_profile *profile)
{
    struct estimate long_get[VALUES], few[VALUES], alone[VALUES];
    struct measured udp = measure(survey, false, UDP_REQUESTS, UDP_LARGE_BYTES);
    struct measured tcp = measure(survey, true, TCP_REQUESTS, LONG_BYTES);
    run(survey, (struct load){false, KVC_OP_GET, UDP_REQUESTS, 1, LONG_BYTES, 0}, long_get);
    run(survey, (struct load){true, KVC_OP_GET, FEW_REQUESTS, 1, SMALL_BYTES, 0}, few);
    run(survey, (struct load){false, KVC_OP_GET, 1, 1, SMALL_BYTES, 0}, alone);
    if (survey->status != KVC_OK) {
        return;
    }
    /* Over UDP the server is what limits a load: its core does nothing else, but the kernel counts interrupts
     * apart. */
    double busy = fmax(udp.get[SERVED].ns / udp.get[SERVER].ns, 1);
    struct estimate byte =
        combine(busy, &udp.large_get[SERVER], busy, &udp.get[SERVER], UDP_LARGE_BYTES - SMALL_BYTES);
    struct estimate longer = combine(busy, &long_get[SERVER], busy, &udp.get[SERVER], 1);
    struct estimate datagram =
        combine(1, &longer, LONG_BYTES - SMALL_BYTES, &byte, LONG_BYTES / KVC_MEMCACHED_DATAGRAM_BYTES);
    struct estimate wait =
        combine(busy, &few[SERVER], busy, &tcp.get[SERVER], 1.0 / FEW_REQUESTS - 1.0 / TCP_REQUESTS);
    struct estimate tcp_get = combine(1, &tcp.get[SERVER], 1 / busy / TCP_REQUESTS, &wait, 1);
    struct estimate idle = combine(1, &alone[LATENCY], 1, &udp.get[CLIENT], 1);
    struct estimate wake = combine(1, &idle, busy, &udp.get[SERVER], 1);
    tcp.get[SERVER] = tcp_get;
    kvc_profile_name(profile, "memcached_costs", "memcached on this machine, with clients beside it");
    add_transport(profile, "udp", &udp, busy, UDP_LARGE_BYTES, "64");
    add_transport(profile, "tcp", &tcp, busy, LONG_BYTES, "32");
    add(profile, "datagram", "", &datagram, "GETs of 4016 bytes over UDP");
    add(profile, "wait", "", &wait, "4 connections and 32, each with one GET in flight");
    add(profile, "wake", "", &wake, "latency of one GET in flight over UDP, less its work");
    kvc_profile_summarize(profile, "%-22s %9.0f ns over UDP, %.0f ns over TCP", "a GET of memcached",
                          busy * udp.get[SERVER].ns, busy * tcp.get[SERVER].ns);
}

enum kvc_status kvc_memcached_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag)
{
    struct kvc_diag missing = {0};
    struct survey survey = {.pieces = calibration->quick ? PIECES_MAX / 4 : PIECES_MAX,
                            .progress = calibration->progress,
                            .diag = diag};
    if (kvc_pin_cores() < 2 || kvc_memcached_real_server_check(&missing) != KVC_OK) {
        kvc_profile_summarize(calibration->profile, "memcached is not measured: %s",
                              kvc_pin_cores() < 2 ? "this machine has one core" : missing.message);
        return KVC_OK;
    }
    survey.status = kvc_memcached_real_server_open(&survey.server, 1, 0, UDP_REQUESTS, diag);
    kvc_pin_core(0);
    if (survey.status == KVC_OK) {
        survey_all(&survey, calibration->profile);
    }
    kvc_memcached_real_server_close(&survey.server);
    kvc_pin_release();
    kvc_steadiness_check(calibration->steadiness);
    return survey.status;
}
