/* Parameters of a paper's hardware that no source publishes, but that figures of the paper determine.
 *
 * identified.csv in the paper's folder asks for them. It has the columns system, parameter, low, high,
 * figures, source:
 *
 *  - system: the scenarios that the parameter concerns, by their system.kind.
 *  - parameter: the path of an option, as for --set.
 *  - low, high: the bounds, numbers with the same unit, such as 2us and 80us. A parameter between whole
 * numbers without a unit is a whole number.
 *  - figures: ids of the cases that determine it, separated by spaces. They have published values.
 *  - source: where the bounds come from. It may contain commas.
 *
 * identification.csv has the answers of `kvcast validate NAME --identify`, with the columns system,
 * parameter, left_out, value, low, high, facts, condition, dropped. The first line of a parameter has the
 * value that all figures determine, its 95 % interval, the value of the scenario without it (facts), the
 * condition number of the fit, and why the parameter is not used, if so. One line for each figure follows,
 * with the value that the others determine without the figure left_out. It is empty where none is left, and
 * the scenario keeps its own. Scenarios with calibrated = "paper" take the first lines. */
#ifndef KVC_VALIDATE_SCORING_IDENTIFIED_H
#define KVC_VALIDATE_SCORING_IDENTIFIED_H

#include <stdbool.h>

#include "sim/base/diag.h"
#include "validate/scoring/cases.h"

enum { KVC_IDENTIFIED_MAX = 8, KVC_FIGURES_MAX = 24 };

/* One line of identified.csv. */
struct kvc_identified_parameter {
    char system[32];
    char scenarios[64];
    char path[128];
    double low, high; /* In `unit`; 0 < low < high. */
    char unit[16];    /* Such as "us", or "". */
    bool is_whole;    /* A count. */
    size_t figures;
    size_t figure[KVC_FIGURES_MAX]; /* Indexes of cases. */
    char source[200];
    int line;
};

/* The answer about one parameter, in its unit. */
struct kvc_identified_value {
    double value;                    /* NaN where it could not be determined. */
    double low, high;                /* The 95 % interval. */
    double facts;                    /* The scenario's own value; NaN if it has none. */
    double condition;                /* Condition number of the fit. */
    char dropped[400];               /* Why the parameter is not used; "" if it is. */
    double without[KVC_FIGURES_MAX]; /* By figure of kvc_identified: the value without it; NaN: the
                                        scenario's. */
};

struct kvc_identified {
    size_t count; /* Number of parameters; 0 without identified.csv. */
    struct kvc_identified_parameter parameter[KVC_IDENTIFIED_MAX];
    struct kvc_identified_value value[KVC_IDENTIFIED_MAX];
    size_t figures;
    size_t figure[KVC_FIGURES_MAX]; /* Indexes of all cases that determine a parameter. */
};

/* Reads identified.csv. A missing file asks for nothing. */
enum kvc_status kvc_identified_read(const char *path, const struct kvc_cases *cases,
                                    struct kvc_identified *identified, struct kvc_diag *diag);

/* Reads identification.csv, which answers for every parameter and every figure. */
enum kvc_status kvc_identification_read(const char *path, const struct kvc_cases *cases,
                                        struct kvc_identified *identified, struct kvc_diag *diag);
enum kvc_status kvc_identification_write(const char *path, const struct kvc_cases *cases,
                                         const struct kvc_identified *identified, struct kvc_diag *diag);

/* Returns whether the parameter concerns a case whose scenario has this system. */
bool kvc_identified_concerns(const struct kvc_identified_parameter *parameter, const char *system,
                             const struct kvc_case *asked);

/* Returns the number of parameters that are used. */
size_t kvc_identified_used(const struct kvc_identified *identified);

/* Returns the index of a figure: of the case itself or, if it is none, of the first one that follows from it;
 * -1 if there is none. */
long kvc_identified_figure(const struct kvc_identified *identified, const struct kvc_cases *cases, size_t at);

enum { KVC_IDENTIFIED_TEXT = 1024 };

/* Writes the values as "path=value ...", or "facts alone" if all are NaN. */
void kvc_identified_print(const struct kvc_identified *identified, const double *value,
                          char text[KVC_IDENTIFIED_TEXT]);

/* Writes the overrides of a case: its own, and ";path=value" for each parameter that concerns it, except
 * where it sets the path itself. `value` is indexed by parameter; NaN: the scenario's own. `system` is the
 * scenario's. Returns whether there are such parameters. */
bool kvc_identified_overrides(const struct kvc_identified *identified, const double *value,
                              const struct kvc_case *asked, const char *system,
                              char text[KVC_IDENTIFIED_TEXT]);

/* Fills the values with which the case at this index is predicted: those that all figures determine or, for a
 * figure and for what it follows from, those that it has not seen. */
void kvc_identified_unseen(const struct kvc_identified *identified, const struct kvc_cases *cases, size_t at,
                           double value[KVC_IDENTIFIED_MAX]);

#endif
