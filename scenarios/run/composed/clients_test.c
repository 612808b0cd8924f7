/* Holds Little's law against random compositions whose clients wait for answers: throughput times latency is
 * the number of clients, unless the store loses a request, whose client then waits for ever. So it is while
 * the load and the cores change.
 *
 * KVCAST_COMPOSITIONS_SEED=1000 KVCAST_COMPOSITIONS_COUNT=200 draws others, and more of them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/composed/config.h"
#include "scenarios/run/composed/changes_fixture.h"
#include "scenarios/run/laws_fixture.h"
#include "scenarios/run/pool.h"

enum { ARRIVAL_BYTES = 64, TEXT_BYTES = 512 };

struct waited {
    char error[TEXT_BYTES], arrival[ARRIVAL_BYTES]; /* An empty error: the run has ended. */
    double clients, mops, latency_us, longest_us, duration_us, refused;
    double waiting; /* Requests that wait for stages. */
};

/* Returns NULL if the loader refuses the composition. A child must not assert: Criterion would wait for it.
 */
static struct kvc_loaded *load(uint64_t seed, const char *arrival, double duration_us, bool changes,
                               struct kvc_diag *diag)
{
    const struct kvc_composition_use use = {arrival, duration_us, 1, 1};
    char text[KVC_CHANGED_BYTES];
    if (changes) {
        kvc_composition_write_changed(seed, &use, text);
    } else {
        kvc_composition_write(seed, &use, text);
    }
    return kvc_laws_try(text, diag);
}

/* Each seed has two tests, of which the second one changes. While cores were off, batches of seed 45 were
 * answered after they had ended. */
static uint64_t seed_of(const void *data, uint32_t number)
{
    return *(const uint64_t *)data + number / 2;
}

/* Returns how many requests of clients wait for a stage. Those for which several stages work beside each
 * other wait for all of these, and work that is put off waits without them. */
static double waiting(const struct kvc_scenario *scenario, const struct kvc_result *result)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double sum = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        const struct kvc_composed_stage *stage = &config->stage[i];
        bool counts = stage->first == i && !stage->options->background && stage->options->every == 1;
        sum += counts ? result->stage[i].waiting_requests : 0;
    }
    return sum;
}

/* There are as many clients as saturating ones keep requests in flight, by the closed form's throughput and
 * latency: these fill all batches. The measured time is that of several answers of each. Runs in a child. */
static enum kvc_status wait_for_answers(void *data, uint32_t number, const struct kvc_progress *progress,
                                        void *answer, struct kvc_diag *diag)
{
    const struct kvc_run_options options = {.jobs = 1};
    struct waited *waited = answer;
    uint64_t seed = seed_of(data, number);
    (void)progress;
    struct kvc_outcome *outcome;
    struct kvc_loaded *loaded = load(seed, "'saturate'", 2e3, false, diag);
    if (loaded == NULL || kvc_driver_predict(&loaded->scenario, &outcome, diag) != KVC_OK) {
        kvc_loaded_free(loaded);
        return KVC_ERR_SCENARIO;
    }
    kvc_loaded_free(loaded);
    double cycle_us = outcome->result.predicted.mean_us;
    waited->clients = round(outcome->result.throughput_mops * cycle_us);
    kvc_outcome_free(outcome);
    waited->duration_us = fmax(12 * cycle_us, 2e3);
    snprintf(waited->arrival, ARRIVAL_BYTES, "{ clients = %.0f }", waited->clients);
    struct kvc_diag failed = {0};
    loaded = load(seed, waited->arrival, waited->duration_us, number % 2 == 1, &failed);
    outcome = NULL;
    if (loaded != NULL && kvc_driver_run(&loaded->scenario, &options, &outcome, &failed) == KVC_OK) {
        waited->mops = outcome->result.throughput_mops;
        waited->latency_us = kvc_outcome_value(outcome, 0, "latency_mean_us");
        waited->longest_us = kvc_outcome_value(outcome, 0, "latency_max_us");
        waited->waiting = waiting(&loaded->scenario, &outcome->result);
        waited->refused = kvc_metrics_get(&outcome->result.model, "queue_refusals");
    } else {
        snprintf(waited->error, TEXT_BYTES, "%.*s", TEXT_BYTES - 1, failed.message);
    }
    kvc_outcome_free(outcome);
    kvc_loaded_free(loaded);
    return KVC_OK;
}

/* At either end of the measured time, each client has a request that is not counted, or counted in part.
 * Those that are refused have no latency, so that the others are fewer than the clients. */
static enum kvc_status take(void *data, uint32_t number, const void *answer, struct kvc_diag *diag)
{
    const struct waited *waited = answer;
    uint64_t seed = seed_of(data, number);
    const struct kvc_composition_use use = {waited->arrival, waited->duration_us, 1, 1};
    char text[KVC_CHANGED_BYTES] = "";
    double found = waited->mops * waited->latency_us, border_frac = waited->longest_us / waited->duration_us;
    double missing = waited->clients - found, border = border_frac * fmax(found, waited->clients);
    bool holds = waited->error[0] == '\0' && -missing <= border && (missing <= border || waited->refused > 0);
    bool fits = !(waited->waiting > waited->clients + border);
    (void)diag;
    if (!holds || !fits) {
        kvc_composition_write_changed(seed, &use, text); /* With what changes in the second test. */
    }
    if (getenv("KVCAST_COMPOSITIONS_REPORT") != NULL) {
        fprintf(stderr, "%llu: %.6g of %.0f clients, within %.4f\n", (unsigned long long)seed, found,
                waited->clients, border_frac);
    }
    cr_expect(fits, "%.6g of %.0f clients wait for stages, composition %llu: %s", waited->waiting,
              waited->clients, (unsigned long long)seed, text);
    cr_expect(holds, "%s%.6g Mops, each for %.6g us, make %.6g of %.0f clients, composition %llu: %s",
              waited->error, waited->mops, waited->latency_us, found, waited->clients,
              (unsigned long long)seed, text);
    return KVC_OK;
}

static uint64_t number_of(const char *variable, uint64_t usual)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoull(text, NULL, 10) : usual;
}

Test(composition_clients, are_as_many_as_throughput_times_latency)
{
    uint64_t seed = number_of("KVCAST_COMPOSITIONS_SEED", 1);
    struct kvc_diag diag = {0};
    const struct kvc_pool_options pool = {.tasks = 2 * (uint32_t)number_of("KVCAST_COMPOSITIONS_COUNT", 46),
                                          .jobs = kvc_pool_processors(),
                                          .answer_bytes = sizeof(struct waited),
                                          .noun = "composition",
                                          .data = &seed,
                                          .body = wait_for_answers,
                                          .take = take};
    cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_OK, "%s", diag.message);
}

/* Returns what clients get of a store whose stage in the background is the slowest one. */
static struct kvc_outcome *answer_behind(const char *arrival, bool by_closed_form)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', index = { kernel = 'cuckoo' }, stages = {\n"
                      "{ name = 'receive', on = 'nic.rx' },\n"
                      "{ name = 'look', on = 'cpu', cores = 2, cycles = 100, does = 'search' },\n"
                      "{ name = 'store', on = 'cpu', background = true, cycles = 800, does = 'insert' },\n"
                      "{ name = 'send', on = 'nic.tx' } } },\n"
                      "workload = { keys = 20000, get = 0.5, set = 0.5, per_frame = 1, arrival = %s },\n"
                      "run = { duration = '4ms', warmup = '1ms' } }\n",
                      arrival),
        by_closed_form);
}

/* Frames that wait for a stage in the background lose no request. */
Test(composition_clients, are_answered_behind_work_in_the_background)
{
    const double clients = 64;
    struct kvc_outcome *ran = answer_behind("{ clients = 64 }", false);
    double found = ran->result.throughput_mops * kvc_laws_value(ran, "latency_mean_us");
    cr_expect(fabs(found - clients) <= 0.01 * clients, "%.6g of %.0f clients are served", found, clients);
    kvc_outcome_free(ran);
}

/* What waits for a stage in the background leaves its own work there, and not that of those behind it: an
 * overloaded store still serves what it can. */
Test(composition_clients, overload_work_in_the_background)
{
    struct kvc_outcome *ran = answer_behind("{ poisson_mops = 20 }", false),
                       *predicted = answer_behind("{ poisson_mops = 20 }", true);
    double mops = ran->result.throughput_mops, capacity = predicted->result.throughput_mops;
    cr_expect(fabs(mops - capacity) <= 0.03 * capacity, "%.4g Mops, %.4g predicted", mops, capacity);
    kvc_outcome_free(ran);
    kvc_outcome_free(predicted);
}

/* A store that refuses answers what it can serve, and the rest at once; one that is offered no more than that
 * refuses nothing. */
Test(composition_clients, are_refused_by_a_full_queue)
{
    static const double offered_mops[] = {1, 20};
    for (size_t i = 0; i < 2; i++) {
        struct kvc_outcome *ran = kvc_laws_answer(
            kvc_laws_load("return { system = { kind = 'composed', stages = {\n"
                          "{ name = 'receive', on = 'nic.rx' },\n"
                          "{ name = 'serve', on = 'cpu', ns = 250, queue = 64, full = 'refuse' },\n"
                          "{ name = 'send', on = 'nic.tx' } } },\n"
                          "workload = { keys = 1e4, per_frame = 1, arrival = { poisson_mops = %.0f } },\n"
                          "run = { duration = '2ms', warmup = '1ms' } }\n",
                          offered_mops[i]),
            false);
        double refused = kvc_metrics_get(&ran->result.model, "queue_refusals");
        cr_expect_eq(refused, (double)ran->result.dropped, "%.0f of %llu lost requests", refused,
                     (unsigned long long)ran->result.dropped);
        cr_expect_float_eq(ran->result.throughput_mops, i == 0 ? 2 * 0.5 : 2 * 4, 0.15);
        cr_expect_eq(refused > 0, i == 1);
        kvc_outcome_free(ran);
    }
}

/* Clients that wait lose no request in a full queue. No server waits for a queue that its own pool empties.
 */
Test(composition_clients, are_answered_by_a_pool_of_two_stages)
{
    const double clients = 64;
    struct kvc_outcome *ran = kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', index = { kernel = 'cuckoo' }, stages = {\n"
                      "{ name = 'look', on = 'cpu', pool = 'both', cycles = 300, does = 'search' },\n"
                      "{ name = 'work', on = 'cpu', queue = 1, cycles = 100 },\n"
                      "{ name = 'store', on = 'cpu', pool = 'both', queue = 1, full = 'drop', cycles = 300,\n"
                      "  does = 'insert' } } },\n"
                      "workload = { keys = 20000, get = 0.5, set = 0.5, per_frame = 1,\n"
                      "  arrival = { clients = %.0f } },\n"
                      "run = { duration = '4ms', warmup = '1ms' } }\n",
                      clients),
        false);
    double found = ran->result.throughput_mops * kvc_laws_value(ran, "latency_mean_us");
    cr_expect(fabs(found - clients) <= 0.01 * clients, "%.6g of %.0f clients are served", found, clients);
    kvc_outcome_free(ran);
}

Test(composition_clients, are_answered_by_the_last_stage)
{
    kvc_laws_refuse("system = { kind = 'composed', index = { kernel = 'cuckoo' }, stages = {\n"
                    "{ name = 'look', on = 'cpu', cycles = 300, does = 'search' },\n"
                    "{ name = 'store', on = 'cpu', cycles = 100, does = 'insert', every = 2 } } }",
                    "system.stages.2.every: found one, but the last stage answers all requests");
}
