/* The published numbers of a paper, one per line of facts.csv beside its cases. Each is either scored by
 * cases or has a reason why none scores it.
 *
 * The columns are fact, value, low, high, unit, section, cases, reason:
 *  fact    The id that cases name in their column `fact`, up to the first blank, comma, colon or semicolon.
 *  value   The published number. When it is empty, `low` or `high` or both are published.
 *  cases   The ids of all predictions and equations that name the fact, separated by semicolons.
 *  reason  "category: text", only if there are no cases:
 *    input          A profile, an option, a scenario or a kernel uses the number. The text begins with the
 *                   file that does.
 *    equation       The paper computes it from other numbers that it publishes.
 *    duplicate      The text begins with the fact that says the same.
 *    contradicts    The text begins with the fact that it cannot be true beside.
 *    not modelled   The model leaves out this part of the store or of its machine.
 *    outside        It is no property of the store: a price, another system, a method of measuring.
 */
#ifndef KVC_VALIDATE_SCORING_FACTS_FIXTURE_H
#define KVC_VALIDATE_SCORING_FACTS_FIXTURE_H

#include <stddef.h>

#include "validate/scoring/cases.h"

enum kvc_fact_reason {
    KVC_FACT_SCORED, /* The fact is scored by the cases that it lists. */
    KVC_FACT_INPUT,
    KVC_FACT_EQUATION,
    KVC_FACT_DUPLICATE,
    KVC_FACT_CONTRADICTS,
    KVC_FACT_NOT_MODELLED,
    KVC_FACT_OUTSIDE,
    KVC_FACT_REASONS
};

struct kvc_fact {
    char id[64];
    double value, low, high; /* NaN when not given. */
    char unit[24];
    char section[80];
    char cases[256]; /* Separated by semicolons; empty if there is a reason. */
    enum kvc_fact_reason reason;
    char text[192]; /* Text of the reason. */
};

struct kvc_facts {
    size_t count;
    struct kvc_fact *entry;
};

/* The categories as facts.csv spells them, by enum kvc_fact_reason; KVC_FACT_SCORED is "scored". */
extern const char *const kvc_fact_reason_names[KVC_FACT_REASONS];

void kvc_facts_free(struct kvc_facts *facts);

/* A malformed line is an error that names file and line: a fact without cases and reason or with both, one
 * that stands twice, one whose reason names no fact although it must. On failure nothing stays allocated. */
enum kvc_status kvc_facts_read(const char *path, struct kvc_facts *facts, struct kvc_diag *diag);

/* Returns the index of the fact whose id is the first word of `text`, or -1. */
long kvc_facts_find(const struct kvc_facts *facts, const char *text);

/* Checks that facts and cases name each other: every prediction and every equation names a fact, which lists
 * it, and a fact lists nothing else. An error names the case. */
enum kvc_status kvc_facts_check(const struct kvc_facts *facts, const struct kvc_cases *cases,
                                struct kvc_diag *diag);

#endif
