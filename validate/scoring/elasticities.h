/* Elasticities: which parameters of its scenario move the value of a case.
 *
 * The elasticity of a value to a parameter is the relative change of the value over the relative change of
 * the parameter: ln(value'/value) / ln(parameter'/parameter). A prediction that no parameter moves says
 * nothing about the model, and one that follows a single parameter exactly returns an input. Neither is
 * counted.
 *
 * The file elasticities.csv of a paper has the columns case, parameter and elasticity: for each case the
 * largest ones, the largest first. A case that nothing moves has one line without parameter. */
#ifndef KVC_VALIDATE_SCORING_ELASTICITIES_H
#define KVC_VALIDATE_SCORING_ELASTICITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "validate/scoring/cases.h"

enum { KVC_ELASTICITIES_KEPT = 5 /* Per case. */ };

struct kvc_elasticity {
    char parameter[128]; /* Path in the scenario: "node.fpga.clock". */
    double value;
};

/* Parameters that move one case. */
struct kvc_moved_by {
    bool known; /* The file has the case. */
    /* The case's simulation takes too long to be repeated for each parameter, so it counts without this test.
     */
    bool costly;
    uint32_t count;
    struct kvc_elasticity entry[KVC_ELASTICITIES_KEPT]; /* The largest first. */
};

/* Adds an elasticity in its place, unless its size is below `least` or larger ones fill the table. */
void kvc_moved_by_add(struct kvc_moved_by *moved_by, const char *parameter, double value, double least);

/* Returns whether a prediction with these elasticities says nothing about the model: no parameter moves it,
 * or it returns one of them unchanged. */
bool kvc_moved_by_nothing_or_input(const struct kvc_moved_by *moved_by);

/* Reads into moved_by[i] what moves cases->entry[i]. Lines of other cases are ignored, so that a case can be
 * removed. Errors, with file and line: a malformed line, and a scored case that the file lacks. */
enum kvc_status kvc_elasticities_read(const char *path, const struct kvc_cases *cases,
                                      struct kvc_moved_by *moved_by, struct kvc_diag *diag);

/* Writes the cases that are known. */
enum kvc_status kvc_elasticities_write(const char *path, const struct kvc_cases *cases,
                                       const struct kvc_moved_by *moved_by, struct kvc_diag *diag);

#endif
