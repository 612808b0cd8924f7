#include "models/composed/flow/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/composed/storage.h"
#include "sim/base/array.h"
#include "sim/engine.h"
#include "sim/metrics/histogram.h"

enum {
    OF_ALL = 8,   /* Numbers of the store, */
    OF_BATCH = 4, /* of its batches, */
    OF_STAGE = 6, /* and of each stage. */
    NUMBERS_MAX = OF_ALL + OF_BATCH + OF_STAGE * KVC_COMPOSED_STAGES_MAX,
    CHOICES_MAX = 3 + 2 * KVC_COMPOSED_STAGES_MAX,
    TEXT_BYTES = 96,
    TIMELINE_ROW = 2,
};

/* What a choice sets. */
enum choice { COUNT, TIMEOUT, EVERY, CORES, SHARE };

/* Counters of a server at a look. */
struct reading {
    double at_ns, offered, served, lost;
    struct kvc_composed_closed batches;
    struct kvc_composed_traffic stage[KVC_COMPOSED_STAGES_MAX];
    double busy_ns[KVC_COMPOSED_STAGES_MAX], requests[KVC_COMPOSED_STAGES_MAX];
};

struct kvc_composed_policy {
    const struct kvc_store_policy *function;
    struct kvc_composed_server *server;
    struct reading last;
    uint32_t numbers, choices;
    struct kvc_store_number number[NUMBERS_MAX];
    struct kvc_store_choice choice[CHOICES_MAX];
    enum choice sets[CHOICES_MAX];
    uint32_t of[CHOICES_MAX];     /* CORES: the pool, SHARE: the route. */
    double mean_ns[CHOICES_MAX];  /* Integral over the measured time. */
    double looks, changes;        /* In the measured time. */
    struct kvc_histogram latency; /* Since the latest look. */
};

/* ---- what it may choose ---- */

static void add_choice(struct kvc_composed_policy *policy, enum choice sets, uint32_t of,
                       struct kvc_store_number number, double min, double max)
{
    uint32_t i = policy->choices++;
    policy->sets[i] = sets;
    policy->of[i] = of;
    policy->choice[i] = (struct kvc_store_choice){
        .number = number, .min = min, .max = max, .is_whole = sets == COUNT || sets == CORES};
}

/* Cores that share each job stay together. */
static bool moves_cores(const struct kvc_composed_pool *pool)
{
    return pool->place == KVC_COMPOSED_CPU && pool->cores == 1;
}

/* Returns the cores of a pipeline that a policy may move. */
static uint32_t cores_of(const struct kvc_composed_config *config)
{
    uint32_t cores = 0;
    for (uint32_t i = 0; i < config->pools; i++) {
        cores += moves_cores(&config->pool[i]) ? config->pool[i].servers : 0;
    }
    return cores;
}

/* Limits and shares that the scenario states may change, and the cores of a pool if there is another one. */
static void add_choices(struct kvc_composed_policy *policy)
{
    static const double shortest_us = 0.001, longest_us = 1e6;
    const struct kvc_composed_config *config = policy->server->config;
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    double cores = cores_of(config);
    if (batch->count > 0) {
        add_choice(policy, COUNT, 0, (struct kvc_store_number){"batch", NULL, "count", (double)batch->count},
                   1, (double)batch->count);
    }
    if (batch->timeout_ns > 0) {
        add_choice(policy, TIMEOUT, 0,
                   (struct kvc_store_number){"batch", NULL, "timeout_us", batch->timeout_ns * 1e-3},
                   shortest_us, longest_us);
    }
    if (batch->every_ns > 0) {
        add_choice(policy, EVERY, 0,
                   (struct kvc_store_number){"batch", NULL, "every_us", batch->every_ns * 1e-3}, shortest_us,
                   longest_us);
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        uint32_t pool = config->stage[i].pool, servers = config->pool[pool].servers;
        bool first = (uint32_t)__builtin_ctz(config->pool[pool].stages) == i;
        if (moves_cores(&config->pool[pool]) && first && servers < cores) {
            add_choice(policy, CORES, pool,
                       (struct kvc_store_number){"stages", config->stage[i].options->name, "cores", servers},
                       1, cores);
        }
        for (uint32_t j = 0; j < config->routes; j++) {
            if (config->route_stage[j] == i) {
                add_choice(policy, SHARE, j,
                           (struct kvc_store_number){"stages", config->stage[i].options->name, "share",
                                                     config->route_frac[j]},
                           0, 1);
            }
        }
    }
}

/* ---- what it sees ---- */

static struct reading read_server(const struct kvc_composed_server *server, double now_ns)
{
    struct reading reading = {.at_ns = now_ns,
                              .served = (double)server->served,
                              .lost = (double)server->lost,
                              .batches = server->batches};
    reading.offered = reading.served + reading.lost + (double)server->in_flight;
    for (uint32_t i = 0; i < server->config->stages; i++) {
        reading.stage[i] = server->traffic[i];
        reading.busy_ns[i] = server->busy_ns[i];
        reading.requests[i] = server->stage_requests[i];
    }
    return reading;
}

static void see(struct kvc_composed_policy *policy, const char *table, const char *element, const char *name,
                double value)
{
    policy->number[policy->numbers++] = (struct kvc_store_number){table, element, name, value};
}

static void see_stage(struct kvc_composed_policy *policy, const struct reading *now, uint32_t i)
{
    const struct kvc_composed_config *config = policy->server->config;
    const struct kvc_composed_pool *pool = &config->pool[config->stage[i].pool];
    const struct kvc_composed_traffic *after = &now->stage[i], *before = &policy->last.stage[i];
    const char *name = config->stage[i].options->name;
    double span_ns = now->at_ns - policy->last.at_ns;
    double servers = (double)pool->servers * (pool->of_node ? 1 : config->pipelines);
    double jobs = (double)(after->jobs - before->jobs),
           requests = now->requests[i] - policy->last.requests[i];
    double busy = fmin((now->busy_ns[i] - policy->last.busy_ns[i]) / (servers * span_ns), 1);
    bool is_known = !kvc_composed_is_away(config->stage[i].place);
    see(policy, "stages", name, "queue", (double)(after->arrived - after->taken));
    see(policy, "stages", name, "busy_frac", is_known ? busy : NAN);
    see(policy, "stages", name, "jobs", jobs);
    see(policy, "stages", name, "mops", requests / span_ns * 1e3);
    see(policy, "stages", name, "requests_per_job", jobs > 0 ? requests / jobs : NAN);
    see(policy, "stages", name, "mean_us",
        is_known && jobs > 0 ? (after->work_ns - before->work_ns) / jobs * 1e-3 : NAN);
}

static void see_server(struct kvc_composed_policy *policy, const struct reading *now)
{
    const struct kvc_composed_server *server = policy->server;
    const struct kvc_composed_config *config = server->config;
    const struct reading *last = &policy->last;
    double span_ns = now->at_ns - last->at_ns;
    policy->numbers = 0;
    see(policy, NULL, NULL, "time_us", now->at_ns * 1e-3);
    see(policy, NULL, NULL, "span_us", span_ns * 1e-3);
    see(policy, NULL, NULL, "offered_mops", (now->offered - last->offered) / span_ns * 1e3);
    see(policy, NULL, NULL, "served_mops", (now->served - last->served) / span_ns * 1e3);
    see(policy, NULL, NULL, "lost_mops", (now->lost - last->lost) / span_ns * 1e3);
    see(policy, NULL, NULL, "in_flight", (double)server->in_flight);
    see(policy, NULL, NULL, "latency_mean_us", kvc_histogram_mean_ns(&policy->latency) * 1e-3);
    see(policy, NULL, NULL, "latency_p99_us", kvc_histogram_percentile_ns(&policy->latency, 0.99) * 1e-3);
    if (config->batched < config->stages) {
        double closed = (double)(now->batches.closed - last->batches.closed);
        double full = (double)(now->batches.full - last->batches.full);
        double waiting = 0;
        for (uint32_t i = 0; i < config->pipelines; i++) {
            waiting += server->pipeline[i].held.count;
        }
        see(policy, "batch", NULL, "waiting", waiting); /* Frames without a free batch. */
        see(policy, "batch", NULL, "closed", closed);
        see(policy, "batch", NULL, "requests",
            closed > 0 ? (double)(now->batches.requests - last->batches.requests) / closed : NAN);
        see(policy, "batch", NULL, "full_frac", closed > 0 ? full / closed : NAN);
    }
    for (uint32_t i = 0; i < config->stages; i++) {
        see_stage(policy, now, i);
    }
}

/* ---- what it has chosen ---- */

/* Adds the choices since the latest look to their means over the measured time, and to the timeline. */
static void note(struct kvc_composed_policy *policy, double now_ns)
{
    const struct kvc_composed_server *server = policy->server;
    const struct kvc_recorder *recorder = &server->replica->recorder;
    double from_ns = fmax(policy->last.at_ns + server->stopped_ns, recorder->from_ns);
    double span_ns = fmax(fmin(now_ns + server->stopped_ns, recorder->until_ns) - from_ns, 0);
    char text[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < policy->choices; i++) {
        const struct kvc_store_number *number = &policy->choice[i].number;
        policy->mean_ns[i] += number->value * span_ns;
        if (used < sizeof(text)) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s%s %.4g", used > 0 ? ", " : "",
                                     number->element != NULL ? number->element : "",
                                     number->element != NULL ? " " : "", number->name, number->value);
        }
    }
    kvc_timeline_event(server->replica->context->timeline, server->number, TIMELINE_ROW, text,
                       policy->last.at_ns + server->stopped_ns, now_ns - policy->last.at_ns,
                       policy->latency.count);
}

/* Refuses more cores than a pipeline has. */
static enum kvc_status check_cores(const struct kvc_composed_policy *policy,
                                   const struct kvc_store_look *look, struct kvc_diag *diag)
{
    double cores = 0;
    uint32_t most = cores_of(policy->server->config);
    char found[TEXT_BYTES], allowed[TEXT_BYTES];
    for (uint32_t i = 0; i < policy->choices; i++) {
        cores += policy->sets[i] == CORES ? policy->choice[i].number.value : 0;
    }
    if (cores <= most) {
        return KVC_OK;
    }
    snprintf(found, sizeof(found), "%.0f cores for all stages of a pipeline", cores);
    snprintf(allowed, sizeof(allowed), "up to the %u that the scenario states", most);
    return policy->function->refuse(policy->function->data, look, found, allowed, diag);
}

/* Refuses shares with which requests would take no route, or several. */
static enum kvc_status check_shares(const struct kvc_composed_policy *policy,
                                    const struct kvc_store_look *look, struct kvc_diag *diag)
{
    const struct kvc_composed_config *config = policy->server->config;
    double route_frac[KVC_COMPOSED_ROUTES_MAX] = {1};
    char found[TEXT_BYTES];
    for (uint32_t i = 0; i < policy->choices; i++) {
        if (policy->sets[i] == SHARE) {
            route_frac[policy->of[i]] = policy->choice[i].number.value;
        }
    }
    double sum = kvc_composed_set_rest(config, route_frac);
    if (config->routes < 2 || fabs(sum - 1) <= KVC_COMPOSED_SHARES_ERROR) {
        return KVC_OK;
    }
    snprintf(found, sizeof(found), "shares of all routes that add up to %.6g", sum);
    return policy->function->refuse(policy->function->data, look, found, "a sum of 1", diag);
}

static void apply(struct kvc_composed_policy *policy, uint32_t i)
{
    struct kvc_composed_server *server = policy->server;
    double value = policy->choice[i].number.value;
    if (policy->sets[i] == COUNT) {
        server->limits.count = (uint32_t)value;
    } else if (policy->sets[i] == TIMEOUT) {
        server->limits.timeout_ns = value * 1e3;
    } else if (policy->sets[i] == EVERY) {
        server->limits.every_ns = value * 1e3;
    } else if (policy->sets[i] == SHARE) {
        server->route_frac[policy->of[i]] = value;
    } else {
        for (uint32_t j = 0; j < server->stations; j++) {
            struct kvc_composed_station *station = &server->station[j];
            station->wanted = station->pool == policy->of[i] ? (uint32_t)value : station->wanted;
        }
    }
}

/* ---- interface ---- */

void kvc_composed_policy_open(struct kvc_composed_server *server)
{
    char name[KVC_NAME_MAX];
    if (server->scenario->policy.choose == NULL) {
        return;
    }
    server->policy = kvc_array_of(1, sizeof(*server->policy));
    server->policy->function = &server->scenario->policy;
    server->policy->server = server;
    add_choices(server->policy);
    snprintf(name, sizeof(name), "server%u", server->number);
    kvc_timeline_row(server->replica->context->timeline, server->number, TIMELINE_ROW, name, "policy");
}

void kvc_composed_policy_close(struct kvc_composed_policy *policy)
{
    free(policy);
}

bool kvc_composed_policy_look(struct kvc_composed_server *server, double now_ns)
{
    struct kvc_composed_policy *policy = server->policy;
    struct kvc_diag *diag = &server->replica->policy.diag;
    struct reading now = read_server(server, now_ns);
    double before[CHOICES_MAX];
    const struct kvc_recorder *recorder = &server->replica->recorder;
    double time_ns = now_ns + server->stopped_ns;
    bool changed = false, measured = time_ns >= recorder->from_ns && time_ns < recorder->until_ns;
    if (diag->status != KVC_OK) {
        return false;
    }
    see_server(policy, &now);
    note(policy, now_ns);
    for (uint32_t i = 0; i < policy->choices; i++) {
        before[i] = policy->choice[i].number.value;
    }
    const struct kvc_store_look look = {.at_s = time_ns * 1e-9,
                                        .numbers = policy->numbers,
                                        .number = policy->number,
                                        .choices = policy->choices,
                                        .choice = policy->choice};
    enum kvc_status status = policy->function->choose(policy->function->data, &look, diag);
    if (status == KVC_OK) {
        status = check_cores(policy, &look, diag);
    }
    if (status == KVC_OK) {
        status = check_shares(policy, &look, diag);
    }
    if (status != KVC_OK) {
        diag->status = status;
        kvc_engine_stop();
        return false;
    }
    for (uint32_t i = 0; i < policy->choices; i++) {
        changed = changed || policy->choice[i].number.value != before[i];
        apply(policy, i);
    }
    kvc_composed_set_rest(server->config, server->route_frac);
    policy->looks += measured;
    policy->changes += measured && changed;
    policy->last = now;
    kvc_histogram_reset(&policy->latency);
    return changed;
}

void kvc_composed_policy_latencies(struct kvc_composed_policy *policy, const double *sent_ns,
                                   const double *done_ns, uint32_t count)
{
    if (policy != NULL) {
        kvc_histogram_record(&policy->latency, sent_ns, done_ns, count);
    }
}

void kvc_composed_policy_report(const struct kvc_composed_server *servers, uint32_t count, size_t stride,
                                struct kvc_metrics *metrics)
{
    const struct kvc_composed_policy *first = servers->policy;
    double looks = 0, changes = 0, mean[CHOICES_MAX] = {0};
    char name[KVC_NAME_MAX];
    for (uint32_t i = 0; i < count && first != NULL; i++) {
        const struct kvc_composed_server *server = (const void *)((const char *)servers + i * stride);
        struct kvc_composed_policy *policy = server->policy;
        const struct kvc_recorder *recorder = &server->replica->recorder;
        note(policy, recorder->until_ns - server->stopped_ns);
        looks += policy->looks;
        changes += policy->changes;
        for (uint32_t j = 0; j < policy->choices; j++) {
            mean[j] += policy->mean_ns[j] / (recorder->until_ns - recorder->from_ns) / count;
        }
    }
    if (first == NULL) {
        return;
    }
    kvc_metrics_set(metrics, "policy_looks", looks);
    kvc_metrics_set(metrics, "policy_changes", changes);
    for (uint32_t j = 0; j < first->choices; j++) {
        const struct kvc_store_number *number = &first->choice[j].number;
        snprintf(name, sizeof(name), "mean_%s_%s", number->element != NULL ? number->element : number->table,
                 number->name);
        for (char *at = name; *at != '\0'; at++) {
            *at = *at == ' ' ? '_' : *at;
        }
        kvc_metrics_set(metrics, name, mean[j]);
    }
}
