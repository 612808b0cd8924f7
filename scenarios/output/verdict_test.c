#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/verdict.h"

static struct kvc_slo_values known(void)
{
    return (struct kvc_slo_values){.value = {100, 200, 300, 400, 80, 0, 0.9, 500, 20000}};
}

Test(verdict, judges_each_objective_with_its_margin)
{
    struct kvc_slo slo = kvc_slo_none;
    const struct kvc_slo_values values = known();
    slo.p99_ns = 400e3;
    slo.mops = 100;
    slo.price_usd = 20000;
    struct kvc_slo_verdict verdict = kvc_slo_verdict_of(&slo, &values);
    cr_assert_eq(verdict.count, 4);
    cr_expect_eq(verdict.state, KVC_SLO_MISSED);
    cr_expect_eq(verdict.judged[0].state, KVC_SLO_MET);
    cr_expect_float_eq(verdict.judged[0].margin_frac, 0.25, 1e-12);
    cr_expect_eq(verdict.judged[1].state, KVC_SLO_MISSED);
    cr_expect_float_eq(verdict.judged[1].margin_frac, -0.2, 1e-12);
    cr_expect_eq(verdict.judged[2].objective, KVC_OBJECTIVE_LOSS);
    cr_expect_eq(verdict.judged[3].state, KVC_SLO_MET, "the bound itself is allowed");
    cr_expect_eq(verdict.judged[3].margin_frac, 0);
}

/* The latency of the requests that are served says nothing about the others. */
Test(verdict, unserved_requests_miss_every_objective_for_latency_or_throughput)
{
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = known();
    slo.p99_ns = 400e3;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MET);
    values.value[KVC_OBJECTIVE_LOSS] = 0.01;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MISSED);
    slo.loss_frac = 0.02;
    struct kvc_slo_verdict verdict = kvc_slo_verdict_of(&slo, &values);
    cr_expect_eq(verdict.state, KVC_SLO_MET, "slo.loss allows a share");
    cr_expect(verdict.judged[1].is_stated);
    cr_expect_float_eq(verdict.judged[1].margin_frac, 0.5, 1e-12);
    values.value[KVC_OBJECTIVE_LOSS] = NAN;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_UNKNOWN);
    slo = kvc_slo_none;
    slo.hit_frac = 0.5;
    values.value[KVC_OBJECTIVE_LOSS] = 0.5;
    verdict = kvc_slo_verdict_of(&slo, &values);
    cr_expect_eq(verdict.count, 1, "a hit ratio is no promise to serve");
    cr_expect_eq(verdict.state, KVC_SLO_MET);
}

Test(verdict, is_sure_if_the_bound_lies_outside_the_interval)
{
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = known();
    slo.p99_ns = 310e3;
    values.half_width[KVC_OBJECTIVE_P99] = 9;
    cr_expect(kvc_slo_verdict_of(&slo, &values).judged[0].is_sure);
    values.half_width[KVC_OBJECTIVE_P99] = 11;
    cr_expect_not(kvc_slo_verdict_of(&slo, &values).judged[0].is_sure);
    values.half_width[KVC_OBJECTIVE_P99] = NAN;
    cr_expect_not(kvc_slo_verdict_of(&slo, &values).judged[0].is_sure);
}

Test(verdict, what_an_answer_does_not_know_is_not_met)
{
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = known();
    slo.p50_ns = slo.p95_ns = slo.p99_ns = slo.p999_ns = 1e6;
    slo.mops = 1;
    slo.hit_frac = 0.5;
    slo.watts = 1000;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MET);
    values.value[KVC_OBJECTIVE_WATTS] = NAN;
    struct kvc_slo_verdict verdict = kvc_slo_verdict_of(&slo, &values);
    cr_expect_eq(verdict.state, KVC_SLO_UNKNOWN);
    cr_expect_eq(verdict.judged[7].objective, KVC_OBJECTIVE_WATTS);
    cr_expect_eq(verdict.judged[7].state, KVC_SLO_UNKNOWN);
    values.value[KVC_OBJECTIVE_HIT] = 0.4;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_MISSED, "one missed objective decides");
}

Test(verdict, says_it_in_json_and_in_words)
{
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = known();
    struct kvc_slo_verdict verdict = kvc_slo_verdict_of(&slo, &values);
    cr_expect_null(kvc_slo_verdict_json(&verdict));
    slo.hit_frac = 0.95;
    slo.p999_ns = 500e3;
    values.value[KVC_OBJECTIVE_P999] = NAN;
    values.half_width[KVC_OBJECTIVE_P999] = NAN;
    values.half_width[KVC_OBJECTIVE_HIT] = 0.0625;
    verdict = kvc_slo_verdict_of(&slo, &values);
    json_t *json = kvc_slo_verdict_json(&verdict);
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)), *words = NULL;
    cr_expect_str_eq(text, "{\"met\":false,\"objectives\":["
                           "{\"name\":\"latency_p999_us\",\"at_most\":500.0,\"found\":null,\"met\":null,"
                           "\"margin_frac\":null,\"ci95\":null,\"sure\":false},"
                           "{\"name\":\"unserved_frac\",\"at_most\":0.0,\"found\":0.0,\"met\":true,"
                           "\"margin_frac\":null,\"ci95\":0.0,\"sure\":true},"
                           "{\"name\":\"hit_frac\",\"at_least\":0.95,\"found\":0.9,\"met\":false,"
                           "\"margin_frac\":-0.0526316,\"ci95\":0.0625,\"sure\":false}]}");
    size_t bytes;
    FILE *out = open_memstream(&words, &bytes);
    kvc_slo_verdict_write(&verdict, "slo", "!", "", out);
    fclose(out);
    cr_expect_str_eq(words, "slo           !missed: 1 of 2 objectives, not sure of 1\n"
                            "              !unknown: this answer has no p99.9 latency, at most 500 us\n"
                            "              !missed: hit ratio 0.9 +- 0.0625, at least 0.95, margin -5.3 %, "
                            "not sure: the bound lies in the interval\n");
    free(words);
    free(text);
    json_decref(json);
}

Test(verdict, judges_tenants_beside_all_requests)
{
    struct kvc_workload *workload = calloc(1, sizeof(*workload));
    struct kvc_slo slo = kvc_slo_none;
    struct kvc_slo_values values = known();
    workload->tenant_count = 2;
    workload->tenants[0] = (struct kvc_tenant){.name = "web"};
    workload->tenants[1] = (struct kvc_tenant){.name = "batch", .p99_ns = 500e3};
    slo.workload = workload;
    slo.p99_ns = 400e3;
    values.tenant_p99_us[0] = (struct kvc_interval){900, 1};
    values.tenant_p99_us[1] = (struct kvc_interval){400, 1};
    struct kvc_slo_verdict verdict = kvc_slo_verdict_of(&slo, &values);
    cr_assert_eq(verdict.count, 3, "p99, what it implies, and that of batch");
    cr_expect_eq(verdict.state, KVC_SLO_MET);
    cr_expect_str_eq(verdict.judged[2].tenant, "batch");
    cr_expect_float_eq(verdict.judged[2].margin_frac, 0.2, 1e-12);
    values.tenant_p99_us[1].mean = NAN;
    cr_expect_eq(kvc_slo_verdict_of(&slo, &values).state, KVC_SLO_UNKNOWN);
    values.tenant_p99_us[1].mean = 600;
    verdict = kvc_slo_verdict_of(&slo, &values);
    cr_expect_eq(verdict.state, KVC_SLO_MISSED);
    char *words = NULL;
    size_t bytes;
    FILE *out = open_memstream(&words, &bytes);
    kvc_slo_verdict_write(&verdict, "slo", "!", "", out);
    fclose(out);
    cr_expect_str_eq(
        words, "slo           !missed: 1 of 2 objectives\n"
               "              met: p99 latency 300 us, at most 400 us, margin 25.0 %\n"
               "              !missed: p99 latency of batch 600 +- 1 us, at most 500 us, margin -20.0 %\n");
    slo.p99_ns = NAN;
    cr_expect_eq(kvc_slo_bound(&slo, KVC_OBJECTIVE_LOSS), 0,
                 "a latency of a tenant implies that it is served");
    free(words);
    free(workload);
}
