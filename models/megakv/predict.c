#include "models/megakv/predict.h"

#include <math.h>

#include "kernels/megakv/slab.h"
#include "models/shards/cache.h"
#include "models/forecast.h"
#include "models/latency.h"
#include "models/megakv/closed_form.h"
#include "models/megakv/config.h"
#include "models/megakv/costs.h"
#include "models/megakv/machine.h"
#include "models/megakv/resources.h"
#include "sim/metrics/bottleneck.h"

static const double rounding_frac = 1e-6;   /* Limits that differ by less are equal. */
static const double lost_hits_frac = 0.005; /* Smallest loss that is reported. */

/* Adds the results of the equations for every clock pair of the GPU. */
static void add_clock_metrics(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                              struct kvc_result *result, double speed)
{
    const struct kvc_gpu *gpu = costs->config->gpu;
    double cycle_ns = costs->config->cycle_ns;
    struct kvc_megakv_load delayed = kvc_megakv_load_of(scenario), together = {delayed.search_frac, 1};
    if (delayed.delay < 2) {
        delayed.delay = 2;
    }
    for (uint32_t i = 0; i < gpu->clock_count; i++) {
        const struct kvc_gpu_clock *clock = &gpu->clocks[i];
        struct kvc_megakv_fit fit = kvc_megakv_fit_of(costs, i);
        const struct {
            const char *name;
            double value;
        } metrics[] = {
            {"cycle_floor_delayed_us", kvc_megakv_cycle_min_ns(&fit, &delayed, 0) / 1e3},
            {"cycle_floor_us", kvc_megakv_cycle_min_ns(&fit, &together, 0) / 1e3},
            {"cycle_min_delayed_us", kvc_megakv_cycle_min_ns(&fit, &delayed, speed) / 1e3},
            {"cycle_min_us", kvc_megakv_cycle_min_ns(&fit, &together, speed) / 1e3},
            {"speed_max_delayed_mops", kvc_megakv_speed_max(&fit, &delayed, cycle_ns) * 1e3},
            {"speed_max_mops", kvc_megakv_speed_max(&fit, &together, cycle_ns) * 1e3},
        };
        for (size_t j = 0; j < sizeof(metrics) / sizeof(*metrics); j++) {
            char name[KVC_NAME_MAX];
            snprintf(name, sizeof(name), "gpu%.0f_%s", clock->core_hz / 1e6, metrics[j].name);
            kvc_metrics_set(&result->model, name, metrics[j].value);
        }
    }
}

/* Sets the utilization of each stage in the list; `limit_mops` is the rate that the database serves. */
static void set_utilization(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                            const struct kvc_megakv_closed_form *form, double throughput_mops,
                            double limit_mops, double utilization_frac[KVC_MEGAKV_STAGES])
{
    for (int stage = 0; stage < KVC_MEGAKV_DATABASE; stage++) {
        utilization_frac[stage] =
            kvc_megakv_closed_utilization(scenario, costs, form, (enum kvc_megakv_stage)stage);
    }
    utilization_frac[KVC_MEGAKV_DATABASE] = throughput_mops / limit_mops;
}

/* Returns the latencies of the requests of n batches. With a database, hits have those of the store, and the
 * other requests take equally longer. */
static struct kvc_latency_law law_of(const struct kvc_megakv_behind *behind,
                                     const struct kvc_megakv_closed_form *form)
{
    struct kvc_megakv_latencies latencies = kvc_megakv_latencies_of(&form->times, behind->config.delay);
    struct kvc_latency_law law = {.assumes =
                                      "they come evenly over a cycle of the scheduler and leave evenly "
                                      "while their batch is sent"};
    double full = form->limits.lowest * (1 + rounding_frac);
    if (behind->scenario->workload.arrival == KVC_ARRIVAL_SATURATE &&
        (form->limits.gpu <= full || form->limits.senders <= full)) {
        law.unknown = "saturating clients fill the buffers, and how fast is not modelled";
    }
    double store_ns = kvc_megakv_latency_mean_ns(&latencies), spread_ns = fabs(latencies.spread_ns);
    double mean_ns = kvc_megakv_behind_latency_ns(behind, store_ns, form->fill_ns);
    double hits = behind->config.database == NULL ? 1 : behind->mix.get > 0 ? behind->mix.hit : 0;
    for (uint32_t k = 0; k < latencies.batches; k++) {
        double least_ns = latencies.middle_ns[k] - spread_ns / 2;
        kvc_latency_add(&law, hits, least_ns, spread_ns);
        kvc_latency_add(&law, 1 - hits, least_ns + (mean_ns - store_ns) / (1 - hits), spread_ns);
    }
    return law;
}

/* Adds the store's database, if there is one. */
static void add_database(const struct kvc_megakv_behind *behind, struct kvc_result *result)
{
    if (behind->config.database == NULL) {
        return;
    }
    if (isfinite(behind->limit_mops)) {
        kvc_metrics_set(&result->model, "database_limit_mops", behind->limit_mops);
    }
    if (result->throughput_mops >= behind->limit_mops * (1 - 1e-9)) {
        kvc_result_note(result,
                        "the load is more than the database serves: this is the load that keeps it busy; "
                        "hits, which do not ask it, do not wait for it");
    }
}

/* Notes the time at which the slabs will be full, after which replaced items and evictions lower the hit
 * ratio. */
static void add_filling(const struct kvc_megakv_costs *costs, const struct kvc_megakv_closed_form *form,
                        const struct kvc_workload *workload, struct kvc_result *result)
{
    const struct kvc_megakv_config *config = costs->config;
    double sets_per_ns = workload->set_frac * form->speed / form->share;
    double items = config->shards * kvc_megakv_mean_items(config);
    double free_items = items - workload->preload_frac * (double)workload->keys;
    if (config->database != NULL && (double)workload->keys <= items) { /* Only missing keys are stored. */
        return;
    }
    if (config->shards * kvc_shards_slots(config->index_bytes) < (double)workload->keys) {
        return; /* The index loses keys first. */
    }
    if (sets_per_ns <= 0 || free_items <= 0 || workload->arrival == KVC_ARRIVAL_TRACE) {
        return;
    }
    double full_s = free_items / sets_per_ns * 1e-9;
    double long_run_frac = 1 - kvc_shards_lookup_mix_of(workload, items).missed_frac;
    kvc_metrics_set(&result->model, "slabs_full_after_s", full_s);
    kvc_metrics_set(&result->model, "hit_long_run_frac", long_run_frac);
    if (costs->hit_frac - long_run_frac > lost_hits_frac) {
        kvc_result_note(
            result,
            "the slabs are full after %.3g s of this load; then SETs evict items, and the hit ratio "
            "falls from %.2f to %.2f %% in the long run",
            full_s, 100 * costs->hit_frac, 100 * long_run_frac);
    }
}

static void add_metrics(const struct kvc_megakv_costs *costs, const struct kvc_megakv_closed_form *form,
                        const struct kvc_workload *workload, struct kvc_result *result)
{
    struct kvc_metrics *model = &result->model;
    const struct kvc_megakv_limits *limits = &form->limits;
    const struct kvc_megakv_cycle_times *times = &form->times;
    kvc_metrics_set(model, "t_search_us", times->search_ns / 1e3);
    kvc_metrics_set(model, "t_insert_us", times->insert_ns / 1e3);
    kvc_metrics_set(model, "search_ns_per_job", times->search_ns / times->searches);
    kvc_metrics_set(model, "insert_ns_per_job", times->insert_ns / times->inserts);
    kvc_metrics_set(model, "t_max_us", (times->search_ns + times->insert_ns) / 1e3);
    kvc_metrics_set(model, "cycle_us", times->cycle_ns / 1e3);
    kvc_metrics_set(model, "hit_frac", costs->hit_frac);
    add_filling(costs, form, workload, result);
    kvc_metrics_set(model, "hottest_socket_share_frac", form->share);
    kvc_metrics_set(model, "gpu_limit_mops", limits->gpu * 1e3);
    kvc_metrics_set(model, "receivers_limit_mops", limits->receivers * 1e3);
    kvc_metrics_set(model, "senders_limit_mops", limits->senders * 1e3);
    kvc_metrics_set(model, "rx_limit_mops", limits->rx * 1e3);
    kvc_metrics_set(model, "tx_limit_mops", limits->tx * 1e3);
    kvc_metrics_set(model, "buffers_limit_mops", limits->buffers * 1e3);
}

static void add_notes(const struct kvc_scenario *scenario, double cycle_ns, struct kvc_result *result)
{
    double asked_ns = kvc_megakv_config_of(scenario)->cycle_ns;
    if (cycle_ns > asked_ns * (1 + 1e-9)) {
        kvc_result_note(
            result, "the cycle of %.4g us is infeasible at this load: T_S + T_max needs a cycle of %.4g us",
            asked_ns / 1e3, cycle_ns / 1e3);
    }
    if (scenario->workload.arrival == KVC_ARRIVAL_TRACE && scenario->workload.trace.steady_mops <= 0) {
        kvc_result_note(result,
                        "a trace has no rate beforehand: this is the largest load that the store sustains");
    }
}

/* Returns the bytes of a request and its response on the wire. */
static double wire_bytes_of(const struct kvc_nic *nic, const struct kvc_shards_means *means)
{
    double requests = kvc_nic_messages_per_frame(nic, means->request_bytes);
    double responses = kvc_nic_messages_per_frame(nic, means->response_bytes);
    return kvc_nic_wire_bytes(nic, requests * means->request_bytes) / requests +
           kvc_nic_wire_bytes(nic, responses * means->response_bytes) / responses;
}

/* Returns the time of the whole card that the kernels of a launch take [ns]. */
static double kernels_ns(const struct kvc_megakv_costs *costs, const struct kvc_megakv_launch_work *launch)
{
    double streams = costs->config->streams;
    return launch->jobs > 0 ? streams * kvc_megakv_kernel_of(costs, launch, launch->jobs / streams).amount_ns
                            : 0;
}

/* Returns the time for which a request of mean size occupies the channels of the memory, summed over them
 * [ns]: for the data of receiving and answering it, and for its index job on the way to the GPU and back. */
static double memory_ns(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs)
{
    static const double search_bytes = 8 + 4, insert_bytes = 12;
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t key_bytes = (uint32_t)costs->config->means.key_bytes;
    uint32_t value_bytes = (uint32_t)kvc_workload_value_bytes_requested(workload);
    bool on_gpu = costs->config->index_on == KVC_MEGAKV_INDEX_ON_GPU;
    struct kvc_dram_load sum = {0};
    for (int op = 0; op < KVC_OP_COUNT; op++) {
        double frac = kvc_shards_op_frac(workload, op), hits = op == KVC_OP_GET ? costs->hit_frac : 1;
        const struct kvc_dram_load parts[] = {
            kvc_megakv_receive_load(costs, op, key_bytes, value_bytes),
            kvc_megakv_send_load(costs, kvc_megakv_usual_outcome(op), key_bytes, value_bytes),
            kvc_megakv_send_load(costs, KVC_MEGAKV_MISS, key_bytes, value_bytes),
            {.streamed_bytes = !on_gpu            ? 0
                               : op == KVC_OP_GET ? search_bytes
                                                  : insert_bytes}};
        kvc_dram_load_add(&sum, &parts[0], frac);
        kvc_dram_load_add(&sum, &parts[1], frac * hits);
        kvc_dram_load_add(&sum, &parts[2], frac * (1 - hits));
        kvc_dram_load_add(&sum, &parts[3], frac);
    }
    return kvc_dram_channel_ns(costs->config->dram, &sum);
}

/* Adds the utilization of the devices of an average socket, counted as in a simulation: a thread without a
 * sibling holds its core while it stalls, and the scheduler of a GPU polls. */
static void add_devices(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                        const struct kvc_megakv_closed_form *form, struct kvc_forecast *out)
{
    const struct kvc_megakv_config *config = costs->config;
    const struct kvc_megakv_mean_costs *mean = &form->mean;
    const struct kvc_nic *nic = config->nic;
    bool siblings = config->cpu->threads_per_core > 1, on_gpu = config->index_on == KVC_MEGAKV_INDEX_ON_GPU;
    double speed = form->speed / form->share / config->shards, cycle_ns = form->times.cycle_ns;
    double index_frac = (form->times.search_ns + form->times.insert_ns / config->delay) / cycle_ns;
    double core_ns = mean->receive.compute_ns + mean->send.compute_ns +
                     (siblings ? 0 : mean->receive.stall_ns + mean->send.stall_ns);
    double cores = speed * core_ns + (on_gpu ? 1 : index_frac);
    kvc_forecast_add_device(out, "cpu", fmin(cores / (double)config->cpu->cores, 1));
    if (on_gpu) {
        struct kvc_megakv_launch_work insert =
            kvc_megakv_insert_work(costs, (1 - form->load.search_frac) * speed * cycle_ns * form->load.delay);
        struct kvc_megakv_launch_work search = kvc_megakv_search_work(
            costs, form->load.search_frac * speed * cycle_ns, insert.jobs / form->load.delay);
        double kernel_ns = kernels_ns(costs, &search) + kernels_ns(costs, &insert) / form->load.delay;
        kvc_forecast_add_device(out, "gpu", fmin(kernel_ns / cycle_ns, 1));
    }
    kvc_forecast_add_device(out, "dram",
                            fmin(speed * memory_ns(scenario, costs) / kvc_dram_channels(config->dram), 1));
    if (config->feed == KVC_MEGAKV_NETWORK) {
        kvc_forecast_add_device(out, "nic",
                                speed * wire_bytes_of(nic, &config->means) / 2 /
                                    ((double)nic->ports * nic->bytes_per_s) * 1e9);
    }
}

/* Adds the power of the devices, in proportion to the load of an average socket. */
static void add_power(const struct kvc_scenario *scenario, const struct kvc_megakv_costs *costs,
                      const struct kvc_megakv_closed_form *form, struct kvc_result *result)
{
    struct kvc_forecast forecast = {.device_count = 0};
    struct kvc_platform *platform = kvc_platform_create();
    kvc_megakv_machine(scenario, platform, NULL);
    struct kvc_power power = kvc_power_of(platform);
    kvc_platform_free(platform);
    add_devices(scenario, costs, form, &forecast);
    result->watts_mean =
        kvc_power_watts(&power, forecast.device, forecast.device_count, result->watts_missing);
}

void kvc_megakv_set_polling(const struct kvc_scenario *scenario, struct kvc_result *result)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    if (kvc_megakv_polls(scenario)) {
        kvc_metrics_set(&result->model, "cpu_polling_frac", 1 / (double)config->cpu->cores);
    }
}

enum kvc_status kvc_megakv_predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                                   struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_workload *asked = &scenario->workload;
    struct kvc_megakv_behind behind;
    struct kvc_megakv_costs costs;
    kvc_megakv_behind_open(&behind, scenario);
    kvc_megakv_behind_costs(&behind, &costs);
    scenario = behind.scenario;
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    struct kvc_megakv_closed_form form = kvc_megakv_closed_form_of(scenario, &costs);
    struct kvc_latency_law law = law_of(&behind, &form);
    double utilization_frac[KVC_MEGAKV_STAGES];

    result->throughput_mops = form.speed / form.share / behind.messages * 1e3;
    kvc_result_set_latencies(result, &law, asked);
    set_utilization(scenario, &costs, &form, result->throughput_mops, behind.limit_mops, utilization_frac);
    kvc_stages_predict(kvc_megakv_stages, scenario, utilization_frac, result);
    add_database(&behind, result);
    kvc_bottleneck_find(result);
    add_metrics(&costs, &form, &scenario->workload, result);
    add_clock_metrics(scenario, &costs, result, form.speed);
    kvc_megakv_set_polling(scenario, result);
    add_power(scenario, &costs, &form, result);
    kvc_metrics_set(&result->model, "feasible",
                    kvc_megakv_feasible(&form.fit, &form.load, config->cycle_ns, form.speed * (1 - 1e-9)));
    kvc_megakv_note_range(scenario, form.load.search_frac * form.speed * form.times.cycle_ns, result);
    add_notes(scenario, form.times.cycle_ns, result);
    return KVC_OK;
}

double kvc_megakv_predict_launch_ns(const struct kvc_scenario *scenario, const struct kvc_result *result,
                                    bool inserts, double jobs)
{
    struct kvc_megakv_behind behind;
    struct kvc_megakv_costs costs;
    kvc_megakv_behind_open(&behind, scenario);
    kvc_megakv_behind_costs(&behind, &costs);
    double search_frac = kvc_megakv_closed_form_of(behind.scenario, &costs).load.search_frac;
    double evictions = kvc_metrics_get(&result->kernel, "evictions");
    costs.evicting = isnan(evictions) ? costs.evicting : evictions > 0;
    struct kvc_megakv_launch_work launch =
        inserts
            ? kvc_megakv_insert_work(&costs, jobs / kvc_megakv_insert_work(&costs, 1).jobs)
            : kvc_megakv_search_work(
                  &costs, jobs, kvc_megakv_insert_work(&costs, jobs * (1 - search_frac) / search_frac).jobs);
    return kvc_megakv_launch_ns(&costs, &launch);
}

enum kvc_status kvc_megakv_forecast(const struct kvc_scenario *scenario, struct kvc_forecast *out,
                                    struct kvc_diag *diag)
{
    (void)diag; /* The scenario was checked when it was loaded. */
    const struct kvc_workload *asked = &scenario->workload;
    struct kvc_megakv_costs costs;
    double utilization_frac[KVC_MEGAKV_STAGES];
    struct kvc_model_stage stage[KVC_MODEL_STAGES_MAX];
    struct kvc_megakv_behind behind;
    kvc_megakv_behind_open(&behind, scenario);
    kvc_megakv_behind_costs(&behind, &costs);
    scenario = behind.scenario;
    struct kvc_megakv_closed_form form = kvc_megakv_closed_form_of(scenario, &costs);
    struct kvc_latency_law law = law_of(&behind, &form);
    out->throughput_mops = form.speed / form.share / behind.messages * 1e3;
    kvc_latencies_set(&law, asked, out->throughput_mops, &out->latency);
    out->hit_frac = costs.hit_frac;
    set_utilization(scenario, &costs, &form, out->throughput_mops, behind.limit_mops, utilization_frac);
    for (uint32_t i = 0, count = kvc_megakv_stages(scenario, stage); i < count; i++) {
        if (stage[i].servers > 0) {
            kvc_forecast_add_stage(out, stage[i].name, stage[i].device, utilization_frac[i]);
        }
    }
    add_devices(scenario, &costs, &form, out);
    return KVC_OK;
}

/* ---- the range of a calibrated machine ---- */

/* Cost curves are also valid a little beyond their measured points. */
static const double beyond = 1.25;

/* Adds a note about a quantity outside the range, and returns by how much its costs may be off; 0 without a
 * note. */
static double note(struct kvc_result *result, const char *what, double found, double low, double high,
                   const char *unit, double beyond_frac)
{
    if (!(found * beyond < low || found > high * beyond)) {
        return 0;
    }
    kvc_result_note(
        result,
        "outside the calibrated range: %s of %.4g%s; measured: %.4g .. %.4g%s; the nearest calibrated "
        "point is %.4g%s, whose costs may be %.3g %% off here, by which intervals are wider",
        what, found, unit, low, high, unit, found > high ? high : low, unit, 100 * beyond_frac);
    return beyond_frac;
}

void kvc_megakv_note_range(const struct kvc_scenario *scenario, double jobs_per_search,
                           struct kvc_result *result)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_megakv_cost_profile *profile = config->cost_profile;
    const struct kvc_workload *workload = &scenario->workload;
    if (!kvc_megakv_cost_profile_is_measured(profile)) {
        return;
    }
    const struct kvc_megakv_cost_curve *receive = &profile->receive, *read = &profile->read,
                                       *search = &profile->search;
    struct kvc_megakv_cost_range frames = kvc_megakv_cost_range_of(receive),
                                 items = kvc_megakv_cost_range_of(read),
                                 launches = kvc_megakv_cost_range_of(search);
    double mib = 0x1p20, item_bytes = config->means.item_bytes, key_bytes = config->means.key_bytes;
    double items_bytes = item_bytes * (double)workload->keys / config->shards;
    double largest = kvc_shards_touched_bytes(kvc_workload_key_bytes_max(workload),
                                              kvc_workload_value_bytes_max(workload));
    double off = note(result, "frames", config->frame_mean, frames.size_low, frames.size_high, " requests",
                      kvc_megakv_cost_beyond_frac(receive, KVC_MEGAKV_BY_SIZE, config->frame_mean));
    off += note(result, "items", largest, items.size_low, items.size_high, " B",
                kvc_megakv_cost_beyond_frac(read, KVC_MEGAKV_BY_SIZE, largest));
    if (items.key_high > 0) {
        off += note(result, "keys", key_bytes, items.key_low, items.key_high, " B",
                    kvc_megakv_cost_beyond_frac(receive, KVC_MEGAKV_BY_KEY, key_bytes));
    }
    off +=
        note(result, "item memory", items_bytes / mib, items.footprint_low / mib, items.footprint_high / mib,
             " MiB", kvc_megakv_cost_beyond_frac(read, KVC_MEGAKV_BY_FOOTPRINT, items_bytes));
    off += note(result, "an index", config->index_bytes / mib, launches.footprint_low / mib,
                launches.footprint_high / mib, " MiB",
                kvc_megakv_cost_beyond_frac(search, KVC_MEGAKV_BY_FOOTPRINT, config->index_bytes));
    double slots = config->index_bytes / sizeof(uint64_t);
    if (launches.load_high > 0) {
        double load_frac = fmin((double)workload->keys / config->shards / slots, 1);
        off += note(result, "an index filled to", load_frac, launches.load_low, launches.load_high, "",
                    kvc_megakv_cost_beyond_frac(search, KVC_MEGAKV_BY_LOAD, load_frac));
    }
    off += note(result, "senders at once", config->senders, items.threads_low, items.threads_high, "",
                kvc_megakv_cost_beyond_frac(read, KVC_MEGAKV_BY_THREADS, config->senders));
    if (jobs_per_search > 0) {
        bool on_thread = config->index_on == KVC_MEGAKV_INDEX_ON_THREAD;
        double jobs = on_thread ? jobs_per_search : jobs_per_search / config->streams;
        off += note(result, on_thread ? "launches" : "launches in each stream", jobs, launches.size_low,
                    launches.size_high, " searches",
                    kvc_megakv_cost_beyond_frac(search, KVC_MEGAKV_BY_SIZE, jobs));
    }
    if (off > 0) {
        kvc_metrics_set(&result->model, kvc_extrapolated_name, off);
    }
}
