/* The section `plan`: what a plan minimises, and how it decides. */
#include "scenarios/load/decode/load_internal.h"

#include <lua.h>

#include "scenarios/load/decode/sections.h"

const char *const kvc_plan_objective_names[] = {"price", "watts", "nodes", NULL};

static const struct kvc_option rows[] = {
    {.name = "minimise",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_plan_request, minimise),
     .choices = kvc_plan_objective_names,
     .help =
         "what the chosen point of the sweep has least of: price (then watts), watts (then price), or nodes "
         "(then price)"},
    {.name = "replicas",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_plan_request, replicas),
     .min = 3,
     .max = 64,
     .by_default = "12",
     .help =
         "most replicas that a candidate is simulated with; more decide candidates that are closer to a bound"},
    {.name = "confidence",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_plan_request, confidence),
     .min = 0.5,
     .max = 0.9999,
     .by_default = "0.95",
     .help = "probability that a candidate is decided rightly; a higher one takes more replicas"},
    {.name = "ahead",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_plan_request, ahead),
     .min = 1,
     .max = 4096,
     .by_default = "1",
     .help =
         "candidates that are simulated at the same time; more keep more processors busy, for replicas that may "
         "turn out unneeded; the chosen point stays the same"},
};

const struct kvc_option_table kvc_plan_option_table = {.name = "plan",
                                                       .rows = rows,
                                                       .count = sizeof(rows) / sizeof(*rows),
                                                       .size = sizeof(struct kvc_plan_request)};

enum kvc_status kvc_load_plan(const struct kvc_decoder *decoder, int root, struct kvc_plan_request *plan)
{
    if (!kvc_decode_has(decoder->lua, root, "plan")) {
        return KVC_OK;
    }
    plan->is_stated = true;
    return kvc_load_plain(decoder, root, &kvc_plan_option_table, "plan", plan);
}
