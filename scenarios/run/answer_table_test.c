#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/answer.h"
#include "scenarios/run/store_fixture.h"

static char *powered_table(bool predict, bool color, double watts)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(3);
    kvc_fake_of(loaded)->watts = watts;
    struct kvc_diag diag = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const struct kvc_answer_options task = {.loaded = loaded,
                                            .path = "fake.lua",
                                            .jobs = 1,
                                            .by = predict ? KVC_ANSWER_BY_PREDICTION : KVC_ANSWER_BY_RUN,
                                            .color = color};
    cr_assert_eq(kvc_answer(&task, out, &diag), KVC_OK, "%s", diag.message);
    fclose(out);
    kvc_loaded_free(loaded);
    return text;
}

static char *table(bool predict, bool color)
{
    return powered_table(predict, color, 0);
}

static void assert_says(const char *text, const char *part)
{
    cr_assert_not_null(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

Test(table, sums_a_run_up)
{
    char *text = table(false, false);
    assert_says(text, "throughput    10");
    assert_says(text, " Mops   (+-: 95 % interval over 3 replicas)\n");
    static const char *const with_interval[] = {"throughput    1", "mean ", "p50 ", "p95 ", "p99 ",
                                                "p99.9 ",          "max "};
    for (size_t i = 0; i < sizeof(with_interval) / sizeof(*with_interval); i++) {
        const char *value = strstr(text, with_interval[i]) + strlen(with_interval[i]);
        cr_expect_eq(strncmp(value + strspn(value, ".0123456789"), " +- ", 4), 0, "%s", with_interval[i]);
    }
    assert_says(text, "fake_us                           3 +- 0\n");
    assert_says(text, "p99.9");
    assert_says(text, "6000 completed, 0 dropped, hit ratio 100.00 +- 0 %");
    assert_says(text, "work          cpu           95.0 % +- 0               6000       1.500 +- 0\n");
    assert_says(text, "bottleneck    work (cpu) is busy 95.0 %");
    assert_says(text, "SimGrid 0 %");
    cr_assert_null(strchr(text, '\033'));
    free(text);
}

Test(table, of_a_prediction_shows_what_it_knows)
{
    char *text = table(true, false);
    assert_says(text, "fake on 1 node, closed form");
    assert_says(text, "throughput    100 Mops\n");
    assert_says(text, "mean 10 us   p95 20 us\n");
    cr_assert_null(strstr(text, "p99"));
    cr_assert_null(strstr(text, "+-"));
    cr_assert_null(strstr(text, "requests"));
    free(text);
}

Test(table, sums_power_and_energy_up_by_kind)
{
    char *text = powered_table(false, false, 200);
    assert_says(text, "power         200 +- 0 W, 0.6 J, ");
    assert_says(text, "\n              gpu 150 W, 0.45 J; cpu 50 W, 0.15 J\n");
    free(text);
    text = table(false, false);
    cr_assert_null(strstr(text, "power"));
    free(text);
}

Test(table, is_coloured_on_demand)
{
    char *text = table(false, true);
    assert_says(text, "\033[1m");
    free(text);
}
