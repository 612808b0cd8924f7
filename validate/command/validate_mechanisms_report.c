/* kvcast validate mechanisms: the cases as tables and as JSON. */
#include <stdio.h>

#include "scenarios/cli/print.h"
#include "validate/command/validate_mechanisms.h"

/* By enum kvc_mechanism_verdict. */
static const char *const verdicts[] = {"ok", "NO DIFFERENCE", "REMAINS"};

static void add_number(struct kvc_grid *grid, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    kvc_grid_add(grid, text);
}

static void add_side(struct kvc_grid *grid, const struct kvc_mechanism_side *side)
{
    add_number(grid, "%.4g", side->closed_form);
    add_number(grid, "%.4g", side->simulated);
    add_number(grid, "%+.1f %%", 100 * side->difference_frac);
}

static void print_numbers(const struct kvc_mechanisms *mechanisms)
{
    static const char *const head[] = {"case", "metric",      "closed form", "simulated",  "difference",
                                       "off:", "closed form", "simulated",   "difference", "verdict"};
    struct kvc_grid grid = {.columns = sizeof(head) / sizeof(*head)};
    for (size_t i = 0; i < grid.columns; i++) {
        kvc_grid_add(&grid, head[i]);
    }
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        kvc_grid_add(&grid, mechanism->id);
        kvc_grid_add(&grid, mechanism->metric);
        add_side(&grid, &mechanism->with);
        kvc_grid_add(&grid, "");
        add_side(&grid, &mechanism->without);
        kvc_grid_add(&grid, verdicts[mechanism->verdict]);
    }
    kvc_grid_print(&grid, 0, stdout);
}

static void print_texts(const struct kvc_mechanisms *mechanisms)
{
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        printf("\n%s: %s\n", mechanism->id, mechanism->text);
        printf("  scenario  %s", mechanism->scenario);
        printf("%s%s\n", mechanism->overrides[0] != '\0' ? ", " : "", mechanism->overrides);
        printf("  on        %s\n", mechanism->on[0] != '\0' ? mechanism->on : "-");
        printf("  off       %s\n", mechanism->off[0] != '\0' ? mechanism->off : "-");
    }
}

void kvc_mechanisms_print(const struct kvc_mechanisms *mechanisms)
{
    size_t ok = 0;
    for (size_t i = 0; i < mechanisms->count; i++) {
        ok += mechanisms->entry[i].verdict == KVC_MECHANISM_OK;
    }
    print_numbers(mechanisms);
    print_texts(mechanisms);
    printf(
        "\ncases: %zu; in %zu the simulation differs from the closed form by more than 10 %%, and with the\n"
        "mechanism off by less than 5 %% or by less than a third of that\n",
        mechanisms->count, ok);
}

static json_t *side_document(const struct kvc_mechanism_side *side)
{
    return json_pack("{s:o, s:o, s:o}", "closed_form", kvc_validate_number(side->closed_form), "simulated",
                     kvc_validate_number(side->simulated), "difference_frac",
                     kvc_validate_number(side->difference_frac));
}

void kvc_mechanisms_list(const struct kvc_mechanisms *mechanisms, json_t *list)
{
    for (size_t i = 0; i < mechanisms->count; i++) {
        const struct kvc_mechanism *mechanism = &mechanisms->entry[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s}", "case", mechanism->id,
                            "scenario", mechanism->scenario, "overrides", mechanism->overrides, "on",
                            mechanism->on, "off", mechanism->off, "metric", mechanism->metric, "mechanism",
                            mechanism->text, "with", side_document(&mechanism->with), "without",
                            side_document(&mechanism->without), "verdict", verdicts[mechanism->verdict]));
    }
}
