#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "sim/workload/source/fill.h"
#include "sim/workload/source/source_fixture.h"
#include "sim/workload/source/source_internal.h"

enum { CLIENTS = 16, CONNECTIONS = 3 };

/* A load of 16 clients with three connections each and frames of ten requests. */
static struct kvc_workload clients_workload(int arrival)
{
    struct kvc_workload workload = kvc_test_workload(arrival);
    workload.flows = CLIENTS;
    workload.connections = CONNECTIONS;
    return workload;
}

/* Observations of the frames of a shard. */
struct seen {
    uint64_t frames;              /* Frames. */
    uint64_t requests;            /* Requests. */
    uint64_t full;                /* Full frames. */
    double wait_ns;               /* Sum of the waits for the frame. */
    double last_ns;               /* When the last frame left. */
    uint64_t client[CLIENTS];     /* Requests of each client. */
    uint32_t connection[CLIENTS]; /* Next connection of each client. */
    double first_ns[CLIENTS];     /* When each client sent its last frame. */
};

/* Drains all frames of a shard that leave by until_ns, and counts their requests by window of their send
 * time. Checks what holds for every frame: its times ascend and it leaves with the last request if it is
 * full, or the timeout after the first one; frames leave in order; connections take turns. */
static struct seen drain_frames(struct kvc_source *source, const struct kvc_workload *workload,
                                uint32_t shard, double until_ns, double window_ns, double *count)
{
    struct kvc_batch *batch = kvc_test_batch(workload, KVC_TEST_FRAME);
    struct seen seen = {0};
    uint32_t connection;
    while (kvc_source_peek(source, shard, until_ns, &connection)) {
        batch->count = 0;
        uint32_t got = kvc_source_drain(source, shard, until_ns, batch),
                 client = batch->connection / CONNECTIONS;
        const double *sent_ns = batch->sent_ns;
        cr_assert(got > 0 && got <= KVC_TEST_FRAME && got == batch->count);
        cr_assert_eq(batch->connection, connection);
        cr_assert_lt(client, CLIENTS);
        cr_assert_eq(batch->connection % CONNECTIONS, seen.connection[client]++ % CONNECTIONS);
        cr_assert(batch->left_ns >= seen.last_ns && batch->left_ns <= until_ns);
        cr_assert_geq(sent_ns[0], seen.first_ns[client]); /* A client fills one frame at a time. */
        cr_assert_leq(sent_ns[got - 1], batch->left_ns);
        if (workload->fill_timeout_ns > 0 && got < KVC_TEST_FRAME) {
            cr_assert_float_eq(batch->left_ns, sent_ns[0] + workload->fill_timeout_ns, 1e-6);
        } else {
            cr_assert_float_eq(batch->left_ns, sent_ns[got - 1], 1e-6 * (batch->left_ns - sent_ns[0]) + 1e-6);
        }
        for (uint32_t i = 0; i < got; i++) {
            cr_assert(i == 0 || sent_ns[i] >= sent_ns[i - 1]);
            seen.wait_ns += batch->left_ns - sent_ns[i];
            if (count != NULL && sent_ns[i] < until_ns) {
                count[(int)(sent_ns[i] / window_ns)]++;
            }
        }
        seen.frames++;
        seen.full += got == KVC_TEST_FRAME;
        seen.requests += got;
        seen.client[client] += got;
        seen.last_ns = seen.first_ns[client] = batch->left_ns;
    }
    double next_ns = kvc_source_next_ns(source, shard);
    batch->count = 0;
    cr_assert_gt(next_ns, until_ns);
    cr_assert_eq(kvc_source_drain(source, shard, nextafter(next_ns, 0), batch), 0);
    cr_assert_gt(kvc_source_drain(source, shard, next_ns, batch), 0);
    kvc_batch_free(batch);
    return seen;
}

/* The requests of each shard are a Poisson process: the variance of their counts equals the mean, so
 * chi-square is tested at both ends. */
Test(source_open, poisson_requests_have_their_rate_at_every_shard)
{
    enum { WINDOWS = 2000, NODES = 4 };
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
    struct kvc_source *source = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    double until_ns = 1e7, requests = workload.rate_mops * 1e-3 * until_ns, total = 0;
    for (uint32_t shard = 0; shard < NODES; shard++) {
        double count[WINDOWS + 1] = {0}, statistic = 0, sum = 0;
        int whole = WINDOWS * 99 / 100; /* At the end, some requests wait in frames that have not left. */
        drain_frames(source, &workload, shard, until_ns, until_ns / WINDOWS, count);
        for (int i = 0; i < whole; i++) {
            sum += count[i];
        }
        for (int i = 0; i < whole; i++) {
            statistic += pow(count[i] - sum / whole, 2) / (sum / whole);
        }
        cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, whole - 1));
        cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, whole - 1));
        cr_expect_float_eq(sum * NODES / (0.99 * requests), 1,
                           0.07); /* Shares on the ring differ a little. */
        total += sum;
    }
    cr_expect_float_eq(total, 0.99 * requests, 5 * sqrt(requests));
    kvc_source_free(source);
}

/* Every client has its share of the requests, and its own requests are a Poisson process: the time that it
 * takes to fill a frame has an Erlang distribution, with the mean and variance of that. */
Test(source_open, clients_are_poisson_processes_of_their_own)
{
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    double gap_ns = CLIENTS / (workload.rate_mops * 1e-3), left_ns[CLIENTS] = {0}, sum = 0, squares = 0;
    double client[CLIENTS] = {0}, statistic = 0, frames = 0;
    while (kvc_source_drain(source, 0, 1e7, batch) != 0) {
        uint32_t number = batch->connection / CONNECTIONS;
        double took_ns = batch->left_ns - left_ns[number];
        sum += took_ns;
        squares += took_ns * took_ns;
        left_ns[number] = batch->left_ns;
        client[number] += batch->count;
        frames++;
        batch->count = 0;
    }
    for (int i = 0; i < CLIENTS; i++) {
        double mean = frames * KVC_TEST_FRAME / CLIENTS;
        statistic += pow(client[i] - mean, 2) / mean;
    }
    double mean = sum / frames, variance = squares / frames - mean * mean;
    cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, CLIENTS - 1));
    cr_expect_float_eq(mean, KVC_TEST_FRAME * gap_ns, 5 * gap_ns * sqrt(KVC_TEST_FRAME / frames));
    cr_expect_float_eq(variance, KVC_TEST_FRAME * gap_ns * gap_ns, 0.05 * KVC_TEST_FRAME * gap_ns * gap_ns);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Simulated frames and waits agree with their closed form, from full frames to lonely requests. */
Test(source_open, frames_fill_as_the_closed_form_says)
{
    static const double timeouts_ns[] = {0, 3000, 1000, 300, 1};
    for (size_t i = 0; i < sizeof(timeouts_ns) / sizeof(*timeouts_ns); i++) {
        struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
        double per_ns = workload.rate_mops * 1e-3 / CLIENTS;
        workload.fill_timeout_ns = timeouts_ns[i];
        struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
        struct seen seen = drain_frames(source, &workload, 0, 1e7, 1, NULL);
        struct kvc_fill fill = kvc_fill_of(per_ns, KVC_TEST_FRAME, timeouts_ns[i]);
        double requests = (double)seen.requests / (double)seen.frames,
               wait_ns = seen.wait_ns / (double)seen.requests;
        cr_expect_float_eq(requests / fill.requests, 1, 0.005, "%g ns: %g, %g", timeouts_ns[i], requests,
                           fill.requests);
        cr_expect_float_eq(wait_ns / fill.wait_ns, 1, 0.01, "%g ns: %g, %g", timeouts_ns[i], wait_ns,
                           fill.wait_ns);
        if (timeouts_ns[i] == 0) {
            cr_expect_eq(seen.full, seen.frames);
            cr_expect_float_eq(fill.wait_ns, (KVC_TEST_FRAME - 1) / 2.0 / per_ns, 1e-9);
        }
        kvc_source_free(source);
    }
}

/* The closed form of filling agrees with the sum over all terms. */
Test(source_open, filling_is_the_sum_of_poisson_probabilities)
{
    static const double means[] = {1e-6, 0.3, 5, 80, 599, 601, 900, 4000, 1e5};
    static const uint32_t most[] = {1, 2, 100, 700, 4096};
    for (size_t i = 0; i < sizeof(means) / sizeof(*means) * sizeof(most) / sizeof(*most); i++) {
        double mean = means[i % (sizeof(means) / sizeof(*means))];
        uint32_t frame = most[i / (sizeof(means) / sizeof(*means))];
        long double requests = 1, waits = 0, below = 0;
        for (uint32_t j = 1; j < frame; j++) {
            below += expl((j - 1) * logl(mean) - mean - lgammal(j));
            requests += fmaxl(1 - below, 0);
            waits += j * fmaxl(1 - below, 0);
        }
        struct kvc_fill fill = kvc_fill_of(mean, frame, 1);
        double wait_ns = (double)(waits / requests / mean);
        cr_expect(fabs(fill.requests / (double)requests - 1) < 1e-12, "%g, %u", mean, frame);
        cr_expect(fabs(fill.wait_ns - wait_ns) <= 1e-12 * (wait_ns + 1 / mean), "%g, %u", mean, frame);
    }
}

/* Frames that are filled at once are a Poisson process at every shard, and none of their requests waits. */
Test(source_open, frames_filled_at_once_have_their_rate_at_every_shard)
{
    enum { WINDOWS = 2000, NODES = 4 };
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
    workload.fill = KVC_FILL_AT_ONCE;
    struct kvc_source *source = kvc_test_source(&workload, NODES, 1, KVC_TEST_SEED);
    double until_ns = 1e7, frames = workload.rate_mops * 1e-3 * until_ns / KVC_TEST_FRAME, total = 0;
    for (uint32_t shard = 0; shard < NODES; shard++) {
        double count[WINDOWS + 1] = {0}, statistic = 0;
        struct seen seen = drain_frames(source, &workload, shard, until_ns, until_ns / WINDOWS, count);
        double mean = (double)seen.frames / WINDOWS;
        for (int i = 0; i < WINDOWS; i++) {
            statistic += pow(count[i] / KVC_TEST_FRAME - mean, 2) / mean;
        }
        cr_expect_eq(seen.wait_ns, 0);
        cr_expect_eq(seen.full, seen.frames);
        cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, WINDOWS - 1));
        cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, WINDOWS - 1));
        total += (double)seen.frames;
    }
    cr_expect_float_eq(total, frames, 5 * sqrt(frames));
    kvc_source_free(source);
}

/* Multigets leave as a whole, in as many frames as they need; writes leave alone, and the shares of the
 * operations and the rate are those of the workload. */
Test(source_open, multigets_are_sent_at_once)
{
    enum { KEYS = 24 };
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
    workload.multiget = KEYS;
    struct kvc_source *source = kvc_test_source(&workload, 1, 2, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    double until_ns = 2e7, count[KVC_OP_COUNT] = {0}, requests = workload.rate_mops * 1e-3 * until_ns;
    for (uint32_t shard = 0; shard < 2; shard++) {
        uint32_t left = 0;
        double sent_ns = -1;
        while (batch->count = 0, kvc_source_drain(source, shard, until_ns, batch) > 0) {
            for (uint32_t i = 0; i<batch->count; i++, left -= left> 0) {
                if (left == 0) {
                    cr_assert_gt(batch->sent_ns[i], sent_ns);
                    sent_ns = batch->sent_ns[i];
                    left = batch->op[i] == KVC_OP_GET ? KEYS : 1;
                }
                cr_assert_eq(batch->sent_ns[i], sent_ns);
                cr_assert(left == 1 || batch->op[i] == KVC_OP_GET);
                count[batch->op[i]]++;
            }
        }
        cr_assert_eq(left, 0);
    }
    const double frac[KVC_OP_COUNT] = {[KVC_OP_GET] = workload.get_frac,
                                       [KVC_OP_SET] = workload.set_frac,
                                       [KVC_OP_DELETE] = workload.delete_frac};
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        double together = op == KVC_OP_GET ? KEYS : 1, expected = frac[op] * requests;
        cr_expect_float_eq(count[op], expected, 5 * sqrt(expected * together), "%d: %g", op, count[op]);
    }
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Clients that take turns send at equal distances, and their first frames are cut so that frames leave spread
 * over the time that one takes to fill. */
Test(source_open, fixed_requests_are_equally_far_apart)
{
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_FIXED);
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    double gap_ns = 1 / (workload.rate_mops * 1e-3), last_ns[CLIENTS], left_ns = 0, longest_ns = 0;
    for (int i = 0; i < CLIENTS; i++) {
        last_ns[i] = (i - CLIENTS) * gap_ns;
    }
    while (kvc_source_drain(source, 0, 1e6, batch) != 0) {
        uint32_t client = batch->connection / CONNECTIONS;
        for (uint32_t i = 0; i < batch->count; i++) {
            cr_assert_float_eq(batch->sent_ns[i] - last_ns[client], CLIENTS * gap_ns, 1e-3);
            last_ns[client] = batch->sent_ns[i];
        }
        longest_ns = fmax(longest_ns, batch->left_ns - left_ns);
        left_ns = batch->left_ns;
        batch->count = 0;
    }
    cr_expect_leq(longest_ns, 2 * CLIENTS * gap_ns); /* Together, frames would leave every 160 gaps. */
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Integrates the rate curve between two times in small steps. Returns the number of requests. */
static double requests_between(const struct kvc_workload *workload, double from_ns, double to_ns)
{
    enum { STEPS = 1000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double at = from_ns + (i + 0.5) * (to_ns - from_ns) / STEPS, rate = workload->curve[0].rate_mops;
        for (uint32_t p = 1; p < workload->curve_points; p++) {
            const struct kvc_rate_point *a = &workload->curve[p - 1], *b = &workload->curve[p];
            if (at >= b->time_ns) {
                rate = b->rate_mops;
            } else if (at > a->time_ns) {
                rate = a->rate_mops +
                       (b->rate_mops - a->rate_mops) * (at - a->time_ns) / (b->time_ns - a->time_ns);
            }
        }
        sum += rate * 1e-3 * (to_ns - from_ns) / STEPS;
    }
    return sum;
}

Test(source_open, curve_requests_follow_the_curve)
{
    enum { WINDOWS = 100 };
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_CURVE);
    static const struct kvc_rate_point points[] = {{1e6, 20},  {3e6, 200},   {4e6, 200}, {4.5e6, 0},
                                                   {5.5e6, 0}, {5.6e6, 300}, {8e6, 10}};
    memcpy(workload.curve, points, sizeof(points));
    workload.curve_points = sizeof(points) / sizeof(*points);
    workload.fill_timeout_ns = 1e5;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    double until_ns = 1e7, count[WINDOWS + 2] = {0}, statistic = 0;
    int bins = 0;
    drain_frames(source, &workload, 0, until_ns + 1e5, until_ns / WINDOWS, count);
    for (int i = 0; i < WINDOWS; i++) {
        double expected = requests_between(&workload, i * until_ns / WINDOWS, (i + 1) * until_ns / WINDOWS);
        if (expected < 1e-9) {
            cr_assert_eq(count[i], 0);
        } else {
            statistic += pow(count[i] - expected, 2) / expected;
            bins++;
        }
    }
    cr_assert_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, bins));
    cr_assert_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, bins));
    kvc_source_free(source);
}

/* All requests of a load that ends are sent, with and without a timeout. */
Test(source_open, a_curve_that_ends_at_zero_ends_the_load)
{
    for (int timeout = 0; timeout < 2; timeout++) {
        struct kvc_workload workload = clients_workload(KVC_ARRIVAL_CURVE);
        workload.curve[1].rate_mops = 0;
        workload.fill_timeout_ns = timeout != 0 ? 1e4 : 0;
        struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
        struct kvc_batch *batch = kvc_test_batch(&workload, 100000);
        kvc_test_drain(source, 0, INFINITY, batch);
        cr_assert_float_eq((double)batch->count, 25000, 5 * sqrt(25000.0)); /* 50 Mops fall to 0 in 1 ms. */
        for (uint32_t i = 0; i < batch->count; i++) {
            cr_assert_leq(batch->sent_ns[i], 1e6);
        }
        cr_assert_leq(batch->left_ns, 1e6 + workload.fill_timeout_ns);
        cr_assert(isinf(kvc_source_next_ns(source, 0)));
        kvc_batch_free(batch);
        kvc_source_free(source);
    }
}

/* With one key, the other shard never receives a request. Asking it must neither hang nor go back in time. */
Test(source_open, a_shard_without_keys_learns_when_to_ask_again)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_POISSON);
    workload.keys = 1;
    struct kvc_source *source = kvc_test_source(&workload, 2, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, KVC_TEST_FRAME);
    kvc_source_keys(source, 0, 1, batch);
    uint32_t owner = kvc_source_shard(source, batch->hash[0]), other = 1 - owner;
    batch->count = 0;
    double first_ns = kvc_source_next_ns(source, other), second_ns = kvc_source_next_ns(source, other);
    cr_assert(first_ns > 0 && second_ns > first_ns && isfinite(second_ns));
    cr_assert_eq(kvc_source_drain(source, other, first_ns, batch), 0);
    cr_assert_eq(kvc_source_drain(source, owner, first_ns, batch), KVC_TEST_FRAME);
    cr_assert_eq(kvc_source_next_ns(source, owner) < second_ns, true);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

/* Every part of the range has its share: the fast path, the edges of the layers, and the tail beyond 7.7. */
Test(exponential, has_the_distribution)
{
    enum { DRAWS = 4000000, BINS = 500 };
    static double count[BINS];
    struct kvc_exponential tables;
    struct kvc_rng rng;
    double statistic = 0, sum = 0, beyond = 0;
    uint32_t rest;
    kvc_exponential_init(&tables);
    kvc_rng_init(&rng, 5, "exponential", 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = kvc_exponential_draw(&tables, &rng, &rest);
        cr_assert(x >= 0 && isfinite(x));
        count[(int)fmin(-expm1(-x) * BINS, BINS - 1)]++;
        sum += x;
        beyond += x > 8;
    }
    for (int i = 0; i < BINS; i++) {
        statistic += pow(count[i] - (double)DRAWS / BINS, 2) / ((double)DRAWS / BINS);
    }
    cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, BINS - 1));
    cr_expect_gt(statistic, gsl_cdf_chisq_Pinv(1e-4, BINS - 1));
    cr_expect_float_eq(sum / DRAWS, 1, 4 / sqrt(DRAWS));
    cr_expect_float_eq(beyond, DRAWS * exp(-8), 4 * sqrt(DRAWS * exp(-8)));
}

/* The 24 bits left over are uniform, and the number says nothing about them. */
Test(exponential, the_rest_is_independent)
{
    enum { DRAWS = 1000000, BINS = 64 };
    static double count[2][BINS];
    struct kvc_exponential tables;
    struct kvc_rng rng;
    uint32_t rest;
    kvc_exponential_init(&tables);
    kvc_rng_init(&rng, 6, "exponential", 0);
    for (int i = 0; i < DRAWS; i++) {
        double x = kvc_exponential_draw(&tables, &rng, &rest);
        cr_assert_lt(rest, 1u << 24);
        count[x > M_LN2][rest * BINS >> 24]++;
    }
    for (int half = 0; half < 2; half++) {
        double statistic = 0;
        for (int i = 0; i < BINS; i++) {
            statistic += pow(count[half][i] - DRAWS / 2.0 / BINS, 2) / (DRAWS / 2.0 / BINS);
        }
        cr_expect_lt(statistic, gsl_cdf_chisq_Qinv(1e-4, BINS));
    }
}

/* ---- misses that clients fill ---- */

/* Two responses arrive at the same time in which GETs missed, and a third one later. */
Test(source_open, clients_fill_what_missed_with_the_pair_of_its_key)
{
    struct kvc_workload workload = clients_workload(KVC_ARRIVAL_POISSON);
    workload.get_frac = 1;
    workload.set_frac = workload.delete_frac = 0;
    workload.rate_mops = 0.001;
    workload.fill_timeout_ns = 1;
    workload.trace.misses = KVC_TRACE_MISSES_FILL;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, KVC_TEST_SEED);
    struct kvc_batch *batch = kvc_test_batch(&workload, 4 * KVC_TEST_FRAME),
                     *filled = kvc_test_batch(&workload, 4);
    while (batch->count < 3) {
        cr_assert_gt(kvc_source_drain(source, 0, 1e9, batch), 0);
    }
    double now_ns = batch->left_ns, next_ns = kvc_source_next_ns(source, 0);
    cr_assert_gt(next_ns, now_ns + 200);
    kvc_source_miss_row(source, batch, 2, now_ns + 200);
    kvc_source_miss_row(source, batch, 0, now_ns + 100);
    kvc_source_miss_row(source, batch, 1, now_ns + 100);
    cr_expect_float_eq(kvc_source_next_ns(source, 0), now_ns + 100, 1e-6);
    cr_expect_eq(kvc_source_drain(source, 0, now_ns + 99, filled), 0);
    cr_expect_eq(kvc_source_drain(source, 0, next_ns - 1, filled), 2);
    cr_expect_eq(kvc_source_drain(source, 0, next_ns - 1, filled), 1);
    cr_expect_eq(kvc_source_drain(source, 0, next_ns - 1, filled), 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t of = filled->key_id[i] == batch->key_id[0]   ? 0
                      : filled->key_id[i] == batch->key_id[1] ? 1
                                                              : 2;
        cr_expect_eq(filled->op[i], KVC_OP_SET);
        cr_expect_eq(filled->key_id[i], batch->key_id[of]);
        cr_expect_eq(filled->hash[i], batch->hash[of]);
        cr_expect_eq(filled->value_bytes[i], batch->value_bytes[of]);
        cr_expect_eq(memcmp(filled->keys + i * filled->key_stride, batch->keys + of * batch->key_stride,
                            filled->key_stride),
                     0);
        cr_expect_float_eq(filled->sent_ns[i], now_ns + (i < 2 ? 100 : 200), 1e-6);
    }
    cr_expect_float_eq(kvc_source_next_ns(source, 0), next_ns, 1e-6);
    cr_expect_eq(kvc_source_trace_counts(source).filled, 3);
    kvc_batch_free(filled);
    kvc_batch_free(batch);
    kvc_source_free(source);
}
