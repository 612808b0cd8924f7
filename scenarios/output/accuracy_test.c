#include "scenarios/output/accuracy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char header[] =
    "system,answer,load,metric,points,median_abs_frac,worst_abs_frac,worst_case,bounds,bounds_held,unseen,"
    "unseen_mean_abs_frac,unseen_worst_abs_frac,from\n";

/* Reads the scores of the store "a" from a file with this text. */
static enum kvc_status read_text(const char *text, struct kvc_accuracy *accuracy, struct kvc_diag *diag)
{
    char path[] = "/tmp/kvcast_accuracy_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    enum kvc_status status = kvc_accuracy_read(path, "a", accuracy, diag);
    unlink(path);
    return status;
}

Test(accuracy, lines_come_back_as_they_were)
{
    static const char lines[] =
        "a,simulation,saturated,throughput,3,0.1000,0.3000,paper x,0,0,2,0.0500,0.0700,paper machine\n"
        "a,closed form,closed loop,energy,0,,,,2,1,0,,,paper\n";
    struct kvc_accuracy accuracy;
    struct kvc_diag diag = {0};
    char text[1024], *again = NULL;
    size_t bytes;
    snprintf(text, sizeof(text), "%sb,simulation,saturated,throughput,1,0.9,0.9,b y,0,0,0,,,b\n%s", header,
             lines);
    cr_assert_eq(read_text(text, &accuracy, &diag), KVC_OK, "%s", diag.message);
    FILE *out = open_memstream(&again, &bytes);
    kvc_accuracy_write(&accuracy, "a", out);
    fclose(out);
    cr_assert_str_eq(again, lines);
    free(again);
}

Test(accuracy, damaged_lines_are_refused)
{
    static const struct {
        const char *line, *said;
    } damaged[] = {
        {"a,guess,saturated,throughput,1,0.1,0.1,x,0,0,0,,,x", "\"guess\""},
        {"a,simulation,busy,throughput,1,0.1,0.1,x,0,0,0,,,x", "\"busy\""},
        {"a,simulation,saturated,speed,1,0.1,0.1,x,0,0,0,,,x", "\"speed\""},
        {"a,simulation,saturated,throughput,1.5,0.1,0.1,x,0,0,0,,,x", "whole numbers"},
        {"a,simulation,saturated,throughput,1,-0.1,0.1,x,0,0,0,,,x", "numbers from 0"},
        {"a,simulation,saturated,throughput,1,,0.1,x,0,0,0,,,x", "do not fit"},
        {"a,simulation,saturated,throughput,0,0.1,0.1,x,0,0,0,,,x", "do not fit"},
        {"a,simulation,saturated,throughput,0,,,,1,2,0,,,x", "2 of 1 bounds"},
        {"a,simulation,saturated,throughput,0,,,,0,0,1,,,x", "1 unseen"},
    };
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        struct kvc_accuracy accuracy;
        struct kvc_diag diag = {0};
        char text[1024];
        snprintf(text, sizeof(text), "%s%s\n", header, damaged[i].line);
        cr_expect_eq(read_text(text, &accuracy, &diag), KVC_ERR_SCENARIO, "%s", damaged[i].line);
        cr_expect(strstr(diag.message, damaged[i].said) != NULL && diag.line == 2, "%s: %s", damaged[i].line,
                  diag.message);
    }
}

Test(accuracy, metrics_of_other_kinds_have_none)
{
    cr_expect_eq(kvc_accuracy_metric_of("latency_p99_us"), KVC_ACCURACY_LATENCY_TAIL);
    cr_expect_eq(kvc_accuracy_metric_of("latency_min_us"), KVC_ACCURACY_METRICS);
    cr_expect_eq(kvc_accuracy_metric_of("hit_frac"), KVC_ACCURACY_METRICS);
}
