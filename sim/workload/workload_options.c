#include "sim/workload/workload.h"

static const char *const size_sets[] = {"fixed", "etc", "usr", "app", "var", "sys", NULL};

static const char *const clients_for_names[] = {"cluster", "socket", NULL};

static const char *const fill_names[] = {"gradually", "at_once", NULL};

static const struct kvc_option action_rows[] = {
    KVC_TEXT_ROW(kvc_action, "name", name, NULL, "name of the action, and of the pairs that it reads"),
    KVC_REAL_ROW(
        kvc_action, "frac", frac, KVC_UNIT_NONE, 0, 1, NULL,
        "share of the GETs for an action that reads, or of the SETs for one that updates; each kind adds "
        "up to 1"),
    KVC_REAL_ROW(
        kvc_action, "value", value_bytes, KVC_UNIT_NONE, 0, KVC_VALUE_BYTES_MAX, "workload",
        "size in bytes of the values that an action reads; larger values need more memory and bandwidth",
        .auto_word = "workload", .auto_value = -1),
    KVC_TEXT_ROW(
        kvc_action, "invalidates", invalidates, "",
        "for an action that updates: the pairs that it deletes from the cache, each with its number of "
        "members, such as \"2 list_friends, view_requests\"; more deleted pairs cause more misses"),
};

const struct kvc_option_table kvc_action_option_table =
    KVC_OPTION_TABLE(kvc_action, action_rows, "workload.actions", .max_list = KVC_ACTIONS_MAX);

static const struct kvc_option phase_rows[] = {
    KVC_REAL_ROW(kvc_phase, "length", length_ns, KVC_UNIT_NS, 1e3, 1e12, "previous",
                 "length of the phase; previous: the length of the phase before it", .auto_word = "previous",
                 .auto_value = 0),
    KVC_COUNT_ROW(kvc_phase, "key", key_bytes, 1, KVC_KEY_BYTES_MAX, NULL,
                  "size of every key of the phase in bytes"),
    KVC_COUNT_ROW(kvc_phase, "value", value_bytes, 0, KVC_VALUE_BYTES_MAX, NULL,
                  "size of every value of the phase in bytes"),
    KVC_REAL_ROW(kvc_phase, "get", get_frac, KVC_UNIT_NONE, 0, 1, NULL,
                 "share of GET requests; get, set and delete must add up to 1"),
    KVC_REAL_ROW(kvc_phase, "set", set_frac, KVC_UNIT_NONE, 0, 1, NULL, "share of SET requests"),
    KVC_REAL_ROW(kvc_phase, "delete", delete_frac, KVC_UNIT_NONE, 0, 1, "0", "share of DELETE requests"),
    KVC_REAL_ROW(kvc_phase, "zipf", zipf_s, KVC_UNIT_NONE, 0, 10, "0",
                 "Zipf exponent of the phase's keys, 0 if all are equally popular; a larger one skews the "
                 "popularity more"),
};

const struct kvc_option_table kvc_phase_option_table =
    KVC_OPTION_TABLE(kvc_phase, phase_rows, "workload.phases", .max_list = KVC_PHASES_MAX);

static const struct kvc_option rank_values_rows[] = {
    KVC_REAL_ROW(kvc_rank_values, "top", top_frac, KVC_UNIT_NONE, 0, 1, NULL,
                 "share of the keys, most popular first, up to which this size holds; 1 for the last entry"),
    KVC_COUNT_ROW(kvc_rank_values, "value", value_bytes, 0, KVC_VALUE_BYTES_MAX, NULL,
                  "size in bytes of the values of those keys that no earlier entry covers"),
};

const struct kvc_option_table kvc_rank_values_option_table =
    KVC_OPTION_TABLE(kvc_rank_values, rank_values_rows, "workload.values", .max_list = KVC_RANK_VALUES_MAX);

static const struct kvc_option tenant_rows[] = {
    KVC_TEXT_ROW(kvc_tenant, "name", name, NULL, "name of the tenant, which no other tenant has"),
    KVC_REAL_ROW(
        kvc_tenant, "mops", rate_mops, KVC_UNIT_MOPS, 1e-6, 1e6, NULL,
        "rate of its requests to all nodes; if workload.arrival states a rate, the tenants share that "
        "rate in these proportions"),
    KVC_COUNT_ROW(kvc_tenant, "keys", keys, 1, KVC_KEYS_MAX, NULL,
                  "number of its distinct keys, which no other tenant requests"),
    KVC_COUNT_ROW(kvc_tenant, "key", key_bytes, 1, KVC_KEY_BYTES_MAX, "8",
                  "size of each of its keys in bytes"),
    KVC_COUNT_ROW(kvc_tenant, "value", value_bytes, 0, KVC_VALUE_BYTES_MAX, "8",
                  "size of each of its values in bytes"),
    KVC_REAL_ROW(kvc_tenant, "get", get_frac, KVC_UNIT_NONE, 0, 1, "0.95",
                 "share of GETs among its requests; those that are neither GETs nor DELETEs are SETs"),
    KVC_REAL_ROW(kvc_tenant, "delete", delete_frac, KVC_UNIT_NONE, 0, 1, "0",
                 "share of DELETEs among its requests"),
    KVC_REAL_ROW(kvc_tenant, "zipf", zipf_s, KVC_UNIT_NONE, 0, 10, "0",
                 "Zipf exponent of its keys, 0 if all are equally popular"),
    KVC_REAL_ROW(
        kvc_tenant, "p99", p99_ns, KVC_UNIT_NS, 0, 1e12, "none",
        "objective: the largest 99th percentile of its latency, which every simulation judges like those of slo",
        .auto_word = "none", .auto_value = 0),
};

const struct kvc_option_table kvc_tenant_option_table =
    KVC_OPTION_TABLE(kvc_tenant, tenant_rows, "workload.tenants", .max_list = KVC_TENANTS_MAX);

static const struct kvc_option storm_rows[] = {
    KVC_REAL_ROW(kvc_storm, "at", at_ns, KVC_UNIT_NS, 0, 1e13, NULL,
                 "simulated time at which the storm begins"),
    KVC_REAL_ROW(kvc_storm, "length", length_ns, KVC_UNIT_NS, 1, 1e13, NULL, "length of the storm"),
    KVC_REAL_ROW(
        kvc_storm, "frac", frac, KVC_UNIT_NONE, 1e-9, 1, NULL,
        "share of the requests that go to the keys of the storm; where storms overlap, a later one of the "
        "list takes its share of the rest"),
    KVC_COUNT_ROW(
        kvc_storm, "keys", keys, 1, KVC_KEYS_MAX, "1",
        "keys of the storm, which share its requests equally: those that are least popular at the start of the "
        "run; more keys spread it over more shards"),
};

const struct kvc_option_table kvc_storm_option_table =
    KVC_OPTION_TABLE(kvc_storm, storm_rows, "workload.storms", .max_list = KVC_STORMS_MAX);

static const struct kvc_option rows[] = {
    KVC_COUNT_ROW(kvc_workload, "keys", keys, 1, KVC_KEYS_MAX, "1000000",
                  "number of distinct keys; more keys need more memory and miss caches more often"),
    KVC_COUNT_ROW(
        kvc_workload, "key", key_bytes, 1, KVC_KEY_BYTES_MAX, "8",
        "size of every key in bytes if sizes are fixed; longer keys need more memory and bandwidth"),
    KVC_COUNT_ROW(
        kvc_workload, "value", value_bytes, 0, KVC_VALUE_BYTES_MAX, "8",
        "size of every value in bytes if sizes are fixed; larger values need more memory and bandwidth"),
    KVC_CHOICE_ROW(
        kvc_workload, "sizes", sizes, size_sets, "fixed",
        "sizes of keys and values: fixed, or the distribution of a Facebook pool (Atikoglu et al., "
        "SIGMETRICS 2012)"),
    KVC_REAL_ROW(kvc_workload, "get", get_frac, KVC_UNIT_NONE, 0, 1, "0.95",
                 "share of GET requests; get, set and delete must add up to 1"),
    KVC_REAL_ROW(kvc_workload, "set", set_frac, KVC_UNIT_NONE, 0, 1, "0.05",
                 "share of SET requests; a larger share writes more items"),
    KVC_REAL_ROW(kvc_workload, "delete", delete_frac, KVC_UNIT_NONE, 0, 1, "0",
                 "share of DELETE requests; a larger share removes more keys"),
    KVC_COUNT_ROW(kvc_workload, "per_frame", frame_requests, 1, KVC_FRAME_REQUESTS_MAX, "auto",
                  "requests that a client packs into one Ethernet frame; more requests per frame need fewer "
                  "packets but wait longer",
                  .auto_word = "auto", .auto_value = 0),
    KVC_COUNT_ROW(
        kvc_workload, "multiget", multiget, 1, KVC_FRAME_REQUESTS_MAX, "1",
        "keys that a client of an open loop GETs at once, waiting for the last one; more keys arrive "
        "in larger bursts and wait for the slowest of more"),
    KVC_COUNT_ROW(kvc_workload, "flows", flows, 1, KVC_FLOWS_MAX, "64",
                  "clients that fill frames for a socket in an open loop, for example four machines of 16 "
                  "threads; more clients take longer to fill a frame each"),
    KVC_COUNT_ROW(kvc_workload, "connections", connections, 1, KVC_CONNECTIONS_MAX, "16",
                  "connections that the frames of a client use in turn, 16 as in memaslap; more connections "
                  "spread frames more evenly over the queues of a NIC"),
    KVC_REAL_ROW(
        kvc_workload, "fill_timeout", fill_timeout_ns, KVC_UNIT_NS, 0, 1e9, "100us",
        "longest time that a client of an open loop holds a request back to fill its frame, 0 for no "
        "limit; a longer time sends fuller frames later"),
    KVC_CHOICE_ROW(
        kvc_workload, "fill", fill, fill_names, "gradually",
        "how a client of an open loop gets the requests of a frame; gradually: each has its own send time "
        "and waits for the frame to fill; at_once: all together, as from a generator of whole packets"),
    KVC_CHOICE_ROW(
        kvc_workload, "clients_for", clients_for, clients_for_names, "cluster",
        "clients of a saturating load; cluster: one set for all sockets, so the hottest socket holds back "
        "the others; socket: each socket has its own clients"),
    KVC_REAL_ROW(
        kvc_workload, "preload", preload_frac, KVC_UNIT_NONE, 0, 1, "1",
        "share of the keys, most popular first, that are stored before the run; a larger share raises "
        "the hit ratio"),
    KVC_LIST_ROW(
        kvc_workload, "actions", actions, action_count, &kvc_action_option_table,
        "actions of an application in front of a database, which requests stand for: each member, such as "
        "a user, has one key for each action that reads, and an update deletes keys of one or several "
        "members"),
    KVC_LIST_ROW(
        kvc_workload, "phases", phases, phase_count, &kvc_phase_option_table,
        "phases of an alternating load, which repeat after the last one; each has its own sizes, mix, "
        "popularity and an equal part of the keys; not every store supports them"),
    KVC_LIST_ROW(
        kvc_workload, "values", values, value_count, &kvc_rank_values_option_table,
        "sizes of values by popularity, in place of value: such as { { top = 0.01, value = 32 }, { top = 1, "
        "value = 1024 } } for small values of the most popular hundredth of the keys"),
    KVC_LIST_ROW(
        kvc_workload, "tenants", tenants, tenant_count, &kvc_tenant_option_table,
        "tenants that share the store; each has its own keys, sizes, mix, popularity and rate, and a run tells "
        "throughput, hits and latency of each; not every store supports them"),
    KVC_REAL_ROW(
        kvc_workload, "churn", churn_per_s, KVC_UNIT_NONE, 0, 1e12, NULL,
        "keys per simulated second that rise from the least to the most popular one, while all others lose a "
        "rank; more change the popular keys sooner; left out: the popularity stays; open loads only",
        .optional = true),
    KVC_LIST_ROW(kvc_workload, "storms", storms, storm_count, &kvc_storm_option_table,
                 "hot-key storms: times in which a few keys get a share of all requests; open loads only"),
};

const struct kvc_option_table kvc_workload_option_table = KVC_OPTION_TABLE(kvc_workload, rows, "workload");

static const struct kvc_option curve_rows[] = {
    KVC_REAL_ROW(kvc_rate_point, "time", time_ns, KVC_UNIT_NS, 0, 1e15, NULL, "simulated time of this point"),
    KVC_REAL_ROW(kvc_rate_point, "rate", rate_mops, KVC_UNIT_MOPS, 0, 1e6, NULL,
                 "request rate of all nodes at this point"),
};

const struct kvc_option_table kvc_rate_curve_option_table =
    KVC_OPTION_TABLE(kvc_rate_point, curve_rows, "curve", .max_list = KVC_CURVE_MAX);

static const struct kvc_option burst_rows[] = {
    KVC_REAL_ROW(
        kvc_burst, "times", times, KVC_UNIT_NONE, 0, 1e6, NULL,
        "factor of the rate during the burst; below 1: a lull; where bursts overlap, the largest counts"),
    KVC_REAL_ROW(kvc_burst, "length", length_ns, KVC_UNIT_NS, 1, 1e13, NULL, "length of the burst"),
    KVC_REAL_ROW(kvc_burst, "at", at_ns, KVC_UNIT_NS, 0, 1e13, "auto",
                 "simulated time at which it begins first; auto: in the middle of `every`",
                 .auto_word = "auto", .auto_value = -1),
    KVC_REAL_ROW(kvc_burst, "every", every_ns, KVC_UNIT_NS, 1, 1e13, "never",
                 "time after which it begins again; never: it happens once", .auto_word = "never",
                 .auto_value = 0),
};

const struct kvc_option_table kvc_burst_option_table =
    KVC_OPTION_TABLE(kvc_burst, burst_rows, "bursts", .max_list = KVC_BURSTS_MAX);

static const struct kvc_option mmpp_rows[] = {
    KVC_REAL_ROW(kvc_rate_state, "rate", rate_mops, KVC_UNIT_MOPS, 0, 1e6, NULL,
                 "request rate of all nodes in this state"),
    KVC_REAL_ROW(kvc_rate_state, "length", length_ns, KVC_UNIT_NS, 1, 1e13, NULL,
                 "mean time until the next state begins; the time is exponentially distributed"),
};

const struct kvc_option_table kvc_mmpp_option_table =
    KVC_OPTION_TABLE(kvc_rate_state, mmpp_rows, "mmpp", .max_list = KVC_MMPP_STATES_MAX);
