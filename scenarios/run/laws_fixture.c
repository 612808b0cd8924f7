#include "scenarios/run/laws_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kvc_loaded *kvc_laws_try(const char *text, struct kvc_diag *diag)
{
    char path[] = "/tmp/kvcast-laws-XXXXXX";
    struct kvc_loaded *loaded = NULL;
    FILE *file = fdopen(mkstemp(path), "w");
    if (file != NULL && fputs(text, file) >= 0 && fclose(file) == 0) {
        kvc_scenario_load(path, NULL, &loaded, diag);
    }
    unlink(path);
    return loaded;
}

struct kvc_loaded *kvc_laws_load(const char *format, ...)
{
    char *text;
    struct kvc_diag diag = {0};
    va_list arguments;
    va_start(arguments, format);
    cr_assert_geq(vasprintf(&text, format, arguments), 0);
    va_end(arguments);
    struct kvc_loaded *loaded = kvc_laws_try(text, &diag);
    cr_assert_not_null(loaded, "%s", diag.message);
    free(text);
    return loaded;
}

void kvc_laws_refuse(const char *fields, const char *message)
{
    char path[] = "/tmp/kvcast-laws-XXXXXX";
    struct kvc_diag diag = {0};
    struct kvc_loaded *loaded = NULL;
    FILE *file = fdopen(mkstemp(path), "w");
    cr_assert_not_null(file);
    fprintf(file, "return { %s }\n", fields);
    cr_assert_eq(fclose(file), 0);
    cr_expect_eq(kvc_scenario_load(path, NULL, &loaded, &diag), KVC_ERR_SCENARIO, "%s", fields);
    cr_expect_not_null(strstr(diag.message, message), "%s", diag.message);
    unlink(path);
    kvc_loaded_free(loaded);
}

struct kvc_outcome *kvc_laws_answer(struct kvc_loaded *loaded, bool predict)
{
    const struct kvc_run_options options = {.jobs = 1};
    struct kvc_outcome *outcome;
    struct kvc_diag diag = {0};
    enum kvc_status status = predict ? kvc_driver_predict(&loaded->scenario, &outcome, &diag)
                                     : kvc_driver_run(&loaded->scenario, &options, &outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    kvc_loaded_free(loaded);
    return outcome;
}

double kvc_laws_value(const struct kvc_outcome *outcome, const char *name)
{
    double value = kvc_outcome_interval(outcome, name).mean;
    cr_assert(isfinite(value), "%s is %g", name, value);
    return value;
}
