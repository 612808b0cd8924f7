#include "validate/scoring/facts_fixture.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/text/csv.h"

static const char header[] = "fact,value,low,high,unit,section,cases,reason";

enum column { ID, VALUE, LOW, HIGH, UNIT, SECTION, CASES, REASON };

const char *const kvc_fact_reason_names[KVC_FACT_REASONS] = {
    [KVC_FACT_SCORED] = "scored",           [KVC_FACT_INPUT] = "input",
    [KVC_FACT_EQUATION] = "equation",       [KVC_FACT_DUPLICATE] = "duplicate",
    [KVC_FACT_CONTRADICTS] = "contradicts", [KVC_FACT_NOT_MODELLED] = "not modelled",
    [KVC_FACT_OUTSIDE] = "outside",
};

void kvc_facts_free(struct kvc_facts *facts)
{
    free(facts->entry);
    *facts = (struct kvc_facts){0};
}

long kvc_facts_find(const struct kvc_facts *facts, const char *text)
{
    size_t length = strcspn(text, " ,:;");
    for (size_t i = 0; i < facts->count; i++) {
        const char *id = facts->entry[i].id;
        if (strlen(id) == length && memcmp(id, text, length) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static enum kvc_status parse_reason(const char *cell, struct kvc_fact *made, struct kvc_diag *diag)
{
    for (int i = KVC_FACT_SCORED + 1; i < KVC_FACT_REASONS; i++) {
        size_t length = strlen(kvc_fact_reason_names[i]);
        if (strncmp(cell, kvc_fact_reason_names[i], length) == 0 && strncmp(cell + length, ": ", 2) == 0 &&
            cell[length + 2] != '\0') {
            made->reason = (enum kvc_fact_reason)i;
            return kvc_csv_copy(cell + length + 2, made->text, sizeof(made->text), diag);
        }
    }
    return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                         "found the reason \"%.60s\", expected input, equation, duplicate, contradicts, not "
                         "modelled or outside, a colon and a text",
                         cell);
}

static enum kvc_status parse(char *const *column, struct kvc_fact *made, struct kvc_diag *diag)
{
    enum kvc_status status = kvc_csv_copy(column[ID], made->id, sizeof(made->id), diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[VALUE], &made->value, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[LOW], &made->low, diag);
    status = status != KVC_OK ? status : kvc_csv_number(column[HIGH], &made->high, diag);
    status = status != KVC_OK ? status : kvc_csv_copy(column[UNIT], made->unit, sizeof(made->unit), diag);
    status =
        status != KVC_OK ? status : kvc_csv_copy(column[SECTION], made->section, sizeof(made->section), diag);
    status = status != KVC_OK ? status : kvc_csv_copy(column[CASES], made->cases, sizeof(made->cases), diag);
    if (status != KVC_OK) {
        return status;
    }
    if (isnan(made->value) && isnan(made->low) && isnan(made->high)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found neither a value nor a bound");
    }
    if ((made->cases[0] == '\0') == (column[REASON][0] == '\0')) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found %s, expected either cases or a reason",
                             made->cases[0] == '\0' ? "neither cases nor a reason" : "cases and a reason");
    }
    return made->cases[0] != '\0' ? KVC_OK : parse_reason(column[REASON], made, diag);
}

static enum kvc_status append(void *data, char *const *column, int line, struct kvc_diag *diag)
{
    struct kvc_facts *facts = data;
    struct kvc_fact made = {0};
    (void)line;
    enum kvc_status status = parse(column, &made, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (kvc_facts_find(facts, made.id) >= 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "found fact \"%s\" twice", made.id);
    }
    struct kvc_fact *bigger = realloc(facts->entry, (facts->count + 1) * sizeof(*bigger));
    if (bigger == NULL) {
        kvc_out_of_memory("%zu facts", facts->count + 1);
    }
    facts->entry = bigger;
    facts->entry[facts->count++] = made;
    return KVC_OK;
}

/* A duplicate and a contradiction name another fact. */
static enum kvc_status check_others(const char *path, const struct kvc_facts *facts, struct kvc_diag *diag)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct kvc_fact *fact = &facts->entry[i];
        bool needs = fact->reason == KVC_FACT_DUPLICATE || fact->reason == KVC_FACT_CONTRADICTS;
        long other = needs ? kvc_facts_find(facts, fact->text) : -1;
        if (needs && (other < 0 || (size_t)other == i)) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "%s: fact %s: found the reason \"%s: %.60s\", expected another fact first",
                                 path, fact->id, kvc_fact_reason_names[fact->reason], fact->text);
        }
    }
    return KVC_OK;
}

enum kvc_status kvc_facts_read(const char *path, struct kvc_facts *facts, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header, .last_has_commas = true, .needs_rows = true};
    *facts = (struct kvc_facts){0};
    enum kvc_status status = kvc_csv_visit(path, &format, append, facts, diag);
    status = status != KVC_OK ? status : check_others(path, facts, diag);
    if (status != KVC_OK) {
        kvc_facts_free(facts);
    }
    return status;
}

/* Returns whether the fact lists a case, and in *listed how many it lists. */
static bool lists(const struct kvc_fact *fact, const char *id, size_t *listed)
{
    bool found = false;
    *listed = 0;
    for (const char *at = fact->cases; *at != '\0'; (*listed)++) {
        size_t length = strcspn(at, ";");
        found = found || (strlen(id) == length && memcmp(id, at, length) == 0);
        at += length + (at[length] == ';');
    }
    return found;
}

static enum kvc_status check_case(const struct kvc_facts *facts, const struct kvc_case *scored, size_t *named,
                                  struct kvc_diag *diag)
{
    long fact = kvc_facts_find(facts, scored->fact);
    size_t listed;
    if (fact < 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "case %s: found the fact \"%.60s\", expected the id of a line of facts.csv",
                             scored->id, scored->fact);
    }
    if (!lists(&facts->entry[fact], scored->id, &listed)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "case %s: fact %s does not list it (%s%s)", scored->id,
                             facts->entry[fact].id, kvc_fact_reason_names[facts->entry[fact].reason],
                             facts->entry[fact].reason == KVC_FACT_SCORED ? " by others" : "");
    }
    named[fact]++;
    return KVC_OK;
}

enum kvc_status kvc_facts_check(const struct kvc_facts *facts, const struct kvc_cases *cases,
                                struct kvc_diag *diag)
{
    size_t *named = calloc(facts->count + 1, sizeof(*named)), listed;
    enum kvc_status status = KVC_OK;
    if (named == NULL) {
        kvc_out_of_memory("%zu facts", facts->count);
    }
    for (size_t i = 0; i < cases->count && status == KVC_OK; i++) {
        if (cases->entry[i].role != KVC_CASE_INPUT) {
            status = check_case(facts, &cases->entry[i], named, diag);
        }
    }
    for (size_t i = 0; i < facts->count && status == KVC_OK; i++) {
        lists(&facts->entry[i], "", &listed);
        if (listed != named[i]) {
            status = kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "fact %s: found %zu cases (%s), of which %zu are scored and name it",
                                   facts->entry[i].id, listed, facts->entry[i].cases, named[i]);
        }
    }
    free(named);
    return status;
}
