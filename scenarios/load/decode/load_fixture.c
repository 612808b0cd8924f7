#include "scenarios/load/decode/load_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char kvc_test_folder[] = "/tmp/kvc_load_XXXXXX";
char kvc_test_file[64];

void kvc_test_make_folder(void)
{
    cr_assert_not_null(mkdtemp(kvc_test_folder));
    snprintf(kvc_test_file, sizeof(kvc_test_file), "%s/s.lua", kvc_test_folder);
}

void kvc_test_remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", kvc_test_folder);
    cr_assert_eq(system(command), 0);
}

void kvc_test_write_file(const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", kvc_test_folder, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    cr_assert_geq(fputs(text, out), 0);
    cr_assert_eq(fclose(out), 0);
}

enum kvc_status kvc_test_load(const char *text, const char *set, struct kvc_loaded **loaded,
                              struct kvc_diag *diag)
{
    struct kvc_overrides overrides = {0};
    memset(diag, 0, sizeof(*diag));
    kvc_test_write_file("s.lua", text);
    *loaded = NULL;
    enum kvc_status status = set != NULL ? kvc_overrides_parse(&overrides, set, diag) : KVC_OK;
    if (status == KVC_OK) {
        status = kvc_scenario_load(kvc_test_file, &overrides, loaded, diag);
    }
    kvc_overrides_clear(&overrides);
    return status;
}

struct kvc_loaded *kvc_test_accepts(const char *text, const char *set)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    cr_assert_eq(kvc_test_load(text, set, &loaded, &diag), KVC_OK, "%s:%d: %s", diag.file, diag.line,
                 diag.message);
    return loaded;
}

void kvc_test_refuses_set(const char *text, const char *set, int line, const char *part)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    const char *place = line < 0 ? "--set" : kvc_test_file;
    cr_expect_eq(kvc_test_load(text, set, &loaded, &diag), KVC_ERR_SCENARIO, "accepted: %s", text);
    cr_expect_null(loaded);
    cr_expect(diag.line == (line < 0 ? 0 : line) && strcmp(diag.file, place) == 0 &&
                  strstr(diag.message, part) != NULL,
              "%s\nfound %s:%d: %s\nexpected %s:%d: %s", text, diag.file, diag.line, diag.message, place,
              line, part);
}

void kvc_test_refuses(const char *text, int line, const char *part)
{
    kvc_test_refuses_set(text, NULL, line, part);
}

void kvc_test_refuses_line(const char *text, const char *part)
{
    char source[512];
    snprintf(source, sizeof(source), "return {\n  system = { kind = \"megakv\" },\n  %s,\n}\n", text);
    kvc_test_refuses(source, 3, part);
}

void kvc_test_expect_parameter(const struct kvc_loaded *loaded, const char *path, const char *value,
                               bool bare, const char *source)
{
    const struct kvc_parameter *found = kvc_parameters_find(&loaded->parameters, path);
    cr_assert_not_null(found, "%s is not recorded", path);
    cr_expect(strcmp(found->value, value) == 0 && found->bare == bare && strcmp(found->source, source) == 0,
              "%s: found %s%s from \"%s\"", path, found->value, found->bare ? " (bare)" : "", found->source);
}

void kvc_test_refuses_in_profile(const char *key, const char *profile, int line, const char *message)
{
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    char text[128], path[96];
    snprintf(text, sizeof(text), "return { system = { kind = 'megakv' }, node = { %s = 'm.lua' } }", key);
    snprintf(path, sizeof(path), "%s/m.lua", kvc_test_folder);
    kvc_test_write_file("m.lua", profile);
    cr_expect_eq(kvc_test_load(text, NULL, &loaded, &diag), KVC_ERR_SCENARIO, "accepted: %s", profile);
    cr_expect(strcmp(diag.file, path) == 0 && diag.line == line && strstr(diag.message, message) != NULL,
              "found %s:%d: %s\nexpected %s:%d: %s", diag.file, diag.line, diag.message, path, line, message);
}
