#include "scenarios/output/export/flat.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct seen {
    char text[2048];
    uint32_t left; /* Values after which the visit ends. */
};

static int note(void *data, const struct kvc_flat_value *value)
{
    struct seen *seen = data;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof(seen->text) - used, "%s=%g|%s|%s\n", value->path, value->number,
             value->text != NULL ? value->text : "-", value->unit != NULL ? value->unit : "-");
    return --seen->left == 0 ? 7 : 0;
}

static const char document[] =
    "{\"schema\": \"kvcast.result/1\", \"latency_us\": {\"mean\": 2, \"clipped\": 3, \"percentiles\": [{\"p\": 0.5, \"us\": 1.5, "
    "\"ci95\": null}], \"cdf\": [[1, 0.5]]}, \"met\": true, \"energy\": {\"watts_mean\": 9, \"kops_per_watt\": 4}, "
    "\"parameters\": {\"run.seed\": 1}, \"requests\": 5}";

Test(flat, values_have_paths_as_jq_writes_them_and_the_units_of_their_keys)
{
    json_t *root = json_loads(document, 0, NULL);
    struct seen seen = {.left = 100};
    cr_assert_eq(kvc_flat_visit(root, note, &seen), 0);
    cr_expect_str_eq(seen.text, "schema=nan|kvcast.result/1|-\n"
                                "latency_us.mean=2|-|us\n"
                                "latency_us.clipped=3|-|-\n"
                                "latency_us.percentiles[0].p=0.5|-|1\n"
                                "latency_us.percentiles[0].us=1.5|-|us\n"
                                "latency_us.percentiles[0].ci95=nan|-|-\n"
                                "latency_us.cdf[0][0]=1|-|-\n"
                                "latency_us.cdf[0][1]=0.5|-|-\n"
                                "met=nan|true|-\n"
                                "energy.watts_mean=9|-|W\n"
                                "energy.kops_per_watt=4|-|thousand/J\n"
                                "parameters[\"run.seed\"]=1|-|-\n"
                                "requests=5|-|-\n");
    json_decref(root);
}

Test(flat, a_visit_ends_when_the_visitor_says_so)
{
    json_t *root = json_loads(document, 0, NULL);
    struct seen seen = {.left = 2};
    cr_expect_eq(kvc_flat_visit(root, note, &seen), 7);
    cr_expect_null(strstr(seen.text, "clipped"));
    json_decref(root);
}
