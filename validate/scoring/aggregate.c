#include "validate/scoring/aggregate.h"

#include <fnmatch.h>
#include <math.h>

bool kvc_aggregate_has(const struct kvc_cases *cases, size_t at, size_t part)
{
    return part < at && fnmatch(cases->entry[at].scenario, cases->entry[part].id, 0) == 0;
}

enum kvc_status kvc_aggregate_count(const struct kvc_cases *cases, size_t at, size_t *count,
                                    struct kvc_diag *diag)
{
    *count = 0;
    for (size_t i = 0; i < at; i++) {
        *count += kvc_aggregate_has(cases, at, i);
    }
    return *count > 0 ? KVC_OK
                      : kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                      "case %s: found \"%s\", expected a pattern of earlier cases",
                                      cases->entry[at].id, cases->entry[at].scenario);
}

/* Returns the largest or the smallest value. */
static struct kvc_interval extreme(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores)
{
    bool most = cases->entry[at].mode == KVC_CASE_MOST;
    struct kvc_interval found = {most ? -INFINITY : INFINITY, NAN};
    for (size_t i = 0; i < at; i++) {
        struct kvc_interval part = scores[i].predicted;
        if (kvc_aggregate_has(cases, at, i) && (most ? part.mean > found.mean : part.mean < found.mean)) {
            found = part;
        }
    }
    return found;
}

enum kvc_status kvc_aggregate_value(const struct kvc_cases *cases, size_t at, const struct kvc_score *scores,
                                    struct kvc_interval *value, struct kvc_diag *diag)
{
    enum kvc_case_mode mode = cases->entry[at].mode;
    size_t count;
    enum kvc_status status = kvc_aggregate_count(cases, at, &count, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (mode == KVC_CASE_MOST || mode == KVC_CASE_LEAST) {
        *value = extreme(cases, at, scores);
        return KVC_OK;
    }
    double squares = 0;
    bool varies = false;
    *value = (struct kvc_interval){0, NAN};
    for (size_t i = 0; i < at; i++) {
        struct kvc_interval part = scores[i].predicted;
        if (kvc_aggregate_has(cases, at, i)) {
            value->mean += (mode == KVC_CASE_DEVIATION ? fabs(part.mean - 1) : part.mean) / (double)count;
            squares += isnan(part.half_width) ? 0 : part.half_width * part.half_width;
            varies = varies || !isnan(part.half_width);
        }
    }
    if (varies) {
        value->half_width = sqrt(squares) / (double)count;
    }
    return KVC_OK;
}
