#include "sim/workload/workload.h"

static const char *const size_sets[] = {"fixed", "etc", "usr", "app", "var", "sys", NULL};

static const char *const clients_for_names[] = {"cluster", "socket", NULL};

static const char *const fill_names[] = {"gradually", "at_once", NULL};

static const struct kvc_option action_rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_action, name),
     .help = "name of the action, and of the pairs that it reads"},
    {.name = "frac",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_action, frac),
     .min = 0,
     .max = 1,
     .help = "share among the GETs for an action that reads, or among the SETs for one that updates; both "
             "add up to 1"},
    {.name = "value",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_action, value_bytes),
     .min = 0,
     .max = KVC_VALUE_BYTES_MAX,
     .by_default = "workload",
     .auto_word = "workload",
     .auto_value = -1,
     .help =
         "size in bytes of the values that an action reads; larger values need more memory and bandwidth"},
    {.name = "invalidates",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_action, invalidates),
     .by_default = "",
     .help = "for an action that updates: the pairs that it deletes from the cache, and of how many members, "
             "such as \"2 list_friends, view_requests\"; more pairs miss more often"},
};

const struct kvc_option_table kvc_action_option_table = {.name = "workload.actions",
                                                         .rows = action_rows,
                                                         .count = sizeof(action_rows) / sizeof(*action_rows),
                                                         .size = sizeof(struct kvc_action),
                                                         .max_list = KVC_ACTIONS_MAX};

#define PHASE_COUNT(name_, field, least, most, text)                                                         \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_phase, field), .min = least,  \
        .max = most, .help = text                                                                            \
    }
#define PHASE_FRAC(name_, field, standard, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_phase, field), .min = 0,       \
        .max = 1, .by_default = standard, .help = text                                                       \
    }

static const struct kvc_option phase_rows[] = {
    {.name = "length",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_phase, length_ns),
     .unit = KVC_UNIT_NS,
     .min = 1e3,
     .max = 1e12,
     .by_default = "previous",
     .auto_word = "previous",
     .auto_value = 0,
     .help = "how long the phase lasts before the next one begins; previous: as long as the phase before it"},
    PHASE_COUNT("key", key_bytes, 1, KVC_KEY_BYTES_MAX, "size of every key of the phase in bytes"),
    PHASE_COUNT("value", value_bytes, 0, KVC_VALUE_BYTES_MAX, "size of every value of the phase in bytes"),
    PHASE_FRAC("get", get_frac, NULL, "share of GET requests; get, set and delete must add up to 1"),
    PHASE_FRAC("set", set_frac, NULL, "share of SET requests"),
    PHASE_FRAC("delete", delete_frac, "0", "share of DELETE requests"),
    {.name = "zipf",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_phase, zipf_s),
     .min = 0,
     .max = 10,
     .by_default = "0",
     .help =
         "exponent of the popularity of the phase's keys, 0 if all are equally popular; a larger one makes "
         "few keys more popular"},
};

const struct kvc_option_table kvc_phase_option_table = {.name = "workload.phases",
                                                        .rows = phase_rows,
                                                        .count = sizeof(phase_rows) / sizeof(*phase_rows),
                                                        .size = sizeof(struct kvc_phase),
                                                        .max_list = KVC_PHASES_MAX};

static const struct kvc_option rows[] = {
    {.name = "keys",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, keys),
     .min = 1,
     .max = KVC_KEYS_MAX,
     .by_default = "1000000",
     .help = "number of distinct keys; more keys need more memory and miss caches more often"},
    {.name = "key",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, key_bytes),
     .min = 1,
     .max = KVC_KEY_BYTES_MAX,
     .by_default = "8",
     .help = "size of every key in bytes if sizes are fixed; longer keys need more memory and bandwidth"},
    {.name = "value",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, value_bytes),
     .min = 0,
     .max = KVC_VALUE_BYTES_MAX,
     .by_default = "8",
     .help = "size of every value in bytes if sizes are fixed; larger values need more memory and bandwidth"},
    {.name = "sizes",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, sizes),
     .by_default = "fixed",
     .choices = size_sets,
     .help =
         "sizes of keys and values: fixed, or those of a Facebook pool (Atikoglu et al., SIGMETRICS 2012)"},
    {.name = "get",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, get_frac),
     .min = 0,
     .max = 1,
     .by_default = "0.95",
     .help = "share of GET requests; get, set and delete must add up to 1"},
    {.name = "set",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, set_frac),
     .min = 0,
     .max = 1,
     .by_default = "0.05",
     .help = "share of SET requests; a larger share writes more items"},
    {.name = "delete",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, delete_frac),
     .min = 0,
     .max = 1,
     .by_default = "0",
     .help = "share of DELETE requests; a larger share removes more keys"},
    {.name = "per_frame",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, frame_requests),
     .min = 1,
     .max = KVC_FRAME_REQUESTS_MAX,
     .by_default = "auto",
     .auto_word = "auto",
     .auto_value = 0,
     .help = "requests that a client packs into one Ethernet frame; more requests per frame need fewer "
             "packets but wait longer"},
    {.name = "flows",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, flows),
     .min = 1,
     .max = KVC_FLOWS_MAX,
     .by_default = "64",
     .help = "clients that fill frames for a socket in an open loop, for example four machines of 16 "
             "threads; more clients take longer to fill a frame each"},
    {.name = "connections",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_workload, connections),
     .min = 1,
     .max = KVC_CONNECTIONS_MAX,
     .by_default = "16",
     .help = "connections that the frames of a client use in turn, 16 as in memaslap; more connections "
             "spread frames more evenly over the queues of a NIC"},
    {.name = "fill_timeout",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, fill_timeout_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "100us",
     .help = "longest time for which a client of an open loop holds a request back to fill its frame, 0 for "
             "no limit; a longer time sends fuller frames later"},
    {.name = "fill",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, fill),
     .by_default = "gradually",
     .choices = fill_names,
     .help = "how a client of an open loop gets the requests of a frame: gradually, where each has its own "
             "send time and waits for the frame, or at_once, as from a generator of whole packets"},
    {.name = "clients_for",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_workload, clients_for),
     .by_default = "cluster",
     .choices = clients_for_names,
     .help = "clients of a saturating load: with cluster, the hottest socket holds back the others; with "
             "socket, each socket has its own clients"},
    {.name = "preload",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_workload, preload_frac),
     .min = 0,
     .max = 1,
     .by_default = "1",
     .help = "share of the keys, most popular first, that are stored before the run; a larger share raises "
             "the hit ratio"},
    {.name = "actions",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_workload, actions),
     .element = &kvc_action_option_table,
     .count_offset = offsetof(struct kvc_workload, action_count),
     .help = "what requests are to an application in front of a database: each member, such as a user, has "
             "one key for each action that reads, and an update deletes keys of one or several members"},
    {.name = "phases",
     .type = KVC_OPTION_LIST,
     .offset = offsetof(struct kvc_workload, phases),
     .element = &kvc_phase_option_table,
     .count_offset = offsetof(struct kvc_workload, phase_count),
     .help =
         "a load that alternates: phases that follow each other and begin anew after the last one, each "
         "with sizes, a mix, a popularity and an equal part of the keys of its own; not with every store"},
};

const struct kvc_option_table kvc_workload_option_table = {.name = "workload",
                                                           .rows = rows,
                                                           .count = sizeof(rows) / sizeof(*rows),
                                                           .size = sizeof(struct kvc_workload)};

static const struct kvc_option curve_rows[] = {
    {.name = "time",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rate_point, time_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e15,
     .help = "simulated time of this point"},
    {.name = "rate",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_rate_point, rate_mops),
     .unit = KVC_UNIT_MOPS,
     .min = 0,
     .max = 1e6,
     .help = "request rate of all nodes at this point"},
};

const struct kvc_option_table kvc_rate_curve_option_table = {.name = "curve",
                                                             .rows = curve_rows,
                                                             .count =
                                                                 sizeof(curve_rows) / sizeof(*curve_rows),
                                                             .size = sizeof(struct kvc_rate_point),
                                                             .max_list = KVC_CURVE_MAX};
