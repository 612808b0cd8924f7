/* kvcast validate --identify: values of parameters that figures of a paper determine. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_vector.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/cli/print.h"
#include "sim/base/array.h"
#include "validate/command/validate.h"

enum { MAX = KVC_IDENTIFIED_MAX, FIGURES = KVC_FIGURES_MAX };

/* Factor between two values of a parameter whose answers give a derivative. Answers have noise, so it is no
 * small step. */
static const double STEP = 1.2;

/* Iterations of a fit, and the steps, relative to a parameter's range, below which it ends. */
enum { ITERATIONS = 12 };
static const double NEAR = 2e-3;

/* Largest ratio of the ends of an interval. */
static const double WIDEST = 2;

/* Part of a parameter's range, in the logarithm, that counts as its bound. */
static const double EDGE = 0.02;

/* Standard deviations in half of a 95 % interval. A figure's tolerance is taken as one. */
static const double SIGMAS = 1.96;

/* The answer of one case with these overrides. Few parameters concern each case, so that most cases keep
 * their answers when one parameter moves. */
struct known {
    size_t at;
    char overrides[KVC_IDENTIFIED_TEXT];
    struct kvc_interval value;
};

struct fitting {
    struct kvc_paper *paper;
    const struct kvc_run_options *options;
    struct kvc_diag *diag;
    enum kvc_status status; /* The first failure. */
    size_t known_count;
    struct known *known; /* Everything that has been simulated so far. */
    size_t parameters;   /* Free ones of the present fit. */
    size_t parameter[MAX];
    double fixed[MAX]; /* Values of the others; NaN: the scenario's own. */
    size_t figures;    /* Those of the present fit, by number in kvc_identified. */
    size_t figure[FIGURES];
};

static double sigma(const struct fitting *fitting, size_t figure)
{
    size_t at = fitting->paper->identified.figure[figure];
    return fitting->paper->cases.entry[at].tolerance_frac / SIGMAS;
}

/* ---- answers ---- */

/* No parameter has another value than the scenario's. */
static const double facts_alone[MAX] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
_Static_assert(MAX == 8, "facts_alone has a value for each parameter");

static const struct known *find_known(const struct fitting *fitting, size_t at, const char *overrides)
{
    for (size_t i = 0; i < fitting->known_count; i++) {
        if (fitting->known[i].at == at && strcmp(fitting->known[i].overrides, overrides) == 0) {
            return &fitting->known[i];
        }
    }
    return NULL;
}

/* Keeps the answers of the wanted cases that do not follow from others. */
static void keep(struct fitting *fitting, const bool *wanted, char (*overrides)[KVC_IDENTIFIED_TEXT],
                 const struct kvc_score *scores)
{
    const struct kvc_cases *cases = &fitting->paper->cases;
    for (size_t at = 0; at < cases->count; at++) {
        if (wanted[at] && !kvc_case_is_derived(&cases->entry[at])) {
            fitting->known =
                kvc_array_grown(fitting->known, fitting->known_count + 1, sizeof(*fitting->known));
            struct known *made = &fitting->known[fitting->known_count++];
            made->at = at;
            made->value = scores[at].predicted;
            strcpy(made->overrides, overrides[at]);
        }
    }
}

/* Marks the case if a figure of the present fit is the case or follows from it. */
static bool is_needed(const struct fitting *fitting, size_t at)
{
    const struct kvc_paper *paper = fitting->paper;
    bool needed = false;
    for (size_t i = 0; i < fitting->figures; i++) {
        size_t figure = paper->identified.figure[fitting->figure[i]];
        needed = needed || figure == at || kvc_score_follows(&paper->cases, figure, at);
    }
    return needed;
}

/* Answers the figures of the present fit with these values: ln_ratio, by figure of kvc_identified, becomes
 * the logarithm of predicted over published. Returns false after a failure. */
static bool ask(struct fitting *fitting, const double value[MAX], double ln_ratio[FIGURES])
{
    struct kvc_paper *paper = fitting->paper;
    const struct kvc_identified *identified = &paper->identified;
    if (fitting->status != KVC_OK) {
        return false;
    }
    char(*overrides)[KVC_IDENTIFIED_TEXT] = kvc_array_of(paper->cases.count, sizeof(*overrides));
    bool *wanted = kvc_array_of(paper->cases.count, sizeof(*wanted));
    struct kvc_score *scores = kvc_array_of(paper->cases.count, sizeof(*scores));
    for (size_t at = 0; at < paper->cases.count; at++) {
        wanted[at] = is_needed(fitting, at);
        if (wanted[at] && !kvc_case_is_derived(&paper->cases.entry[at])) {
            kvc_identified_overrides(identified, value, &paper->cases.entry[at], paper->scenarios[at].system,
                                     overrides[at]);
            const struct known *known = find_known(fitting, at, overrides[at]);
            wanted[at] = known == NULL;
            scores[at].predicted = known != NULL ? known->value : scores[at].predicted;
        }
    }
    fitting->status = kvc_paper_answer(paper, wanted, overrides, scores, fitting->options, fitting->diag);
    if (fitting->status == KVC_OK) {
        keep(fitting, wanted, overrides, scores);
    }
    for (size_t i = 0; i < fitting->figures; i++) {
        size_t at = identified->figure[fitting->figure[i]];
        double found = log(scores[at].predicted.mean / paper->cases.entry[at].published);
        ln_ratio[fitting->figure[i]] = found;
        if (fitting->status == KVC_OK && !isfinite(found)) {
            fitting->status =
                kvc_diag_fail(fitting->diag, KVC_ERR_SCENARIO,
                              "case %s: its value with identified parameters is %g, which has no logarithm",
                              paper->cases.entry[at].id, scores[at].predicted.mean);
        }
    }
    free(overrides);
    free(wanted);
    free(scores);
    return fitting->status == KVC_OK;
}

/* ---- least squares within bounds ---- */

static double ln_range(const struct kvc_identified_parameter *parameter)
{
    return log(parameter->high / parameter->low);
}

/* The fit moves x, any number, and a parameter stays between its bounds: the logistic function of x is the
 * part of its range, in the logarithm. */
static double value_of(const struct kvc_identified_parameter *parameter, double x)
{
    return parameter->low * exp(ln_range(parameter) / (1 + exp(-x)));
}

static double part_of(const struct kvc_identified_parameter *parameter, double value)
{
    return log(value / parameter->low) / ln_range(parameter);
}

/* Returns the value that an override will have, so that a known answer is found again. */
static double settable(const struct kvc_identified_parameter *parameter, double value)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g", parameter->is_whole ? round(value) : value);
    return strtod(text, NULL);
}

static void set_values(const struct fitting *fitting, const gsl_vector *x, double value[MAX])
{
    const struct kvc_identified *identified = &fitting->paper->identified;
    memcpy(value, fitting->fixed, sizeof(fitting->fixed));
    for (size_t i = 0; i < fitting->parameters; i++) {
        size_t at = fitting->parameter[i];
        value[at] =
            settable(&identified->parameter[at], value_of(&identified->parameter[at], gsl_vector_get(x, i)));
    }
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *out)
{
    struct fitting *fitting = data;
    double value[MAX], ln_ratio[FIGURES];
    set_values(fitting, x, value);
    bool answered = ask(fitting, value, ln_ratio);
    for (size_t i = 0; i < fitting->figures && answered; i++) {
        gsl_vector_set(out, i, ln_ratio[fitting->figure[i]] / sigma(fitting, fitting->figure[i]));
    }
    return answered ? GSL_SUCCESS : GSL_EBADFUNC;
}

/* Fills slope[i], the derivative of the logarithm of figure i by that of the parameter. */
static bool find_slopes(struct fitting *fitting, const double value[MAX], size_t parameter,
                        double slope[FIGURES])
{
    const struct kvc_identified_parameter *asked = &fitting->paper->identified.parameter[parameter];
    double here[FIGURES], there[FIGURES], moved[MAX];
    memcpy(moved, value, sizeof(moved));
    double up = asked->is_whole ? ceil(value[parameter] * STEP) : value[parameter] * STEP;
    double down = asked->is_whole ? floor(value[parameter] / STEP) : value[parameter] / STEP;
    moved[parameter] = settable(asked, up <= asked->high ? up : down);
    if (!ask(fitting, value, here) || !ask(fitting, moved, there)) {
        return false;
    }
    for (size_t i = 0; i < fitting->figures; i++) {
        size_t figure = fitting->figure[i];
        slope[figure] = (there[figure] - here[figure]) / log(moved[parameter] / value[parameter]);
    }
    return true;
}

static int derivatives(const gsl_vector *x, void *data, gsl_matrix *out)
{
    struct fitting *fitting = data;
    double value[MAX], slope[FIGURES];
    set_values(fitting, x, value);
    for (size_t j = 0; j < fitting->parameters; j++) {
        const struct kvc_identified_parameter *asked =
            &fitting->paper->identified.parameter[fitting->parameter[j]];
        double part = 1 / (1 + exp(-gsl_vector_get(x, j)));
        if (!find_slopes(fitting, value, fitting->parameter[j], slope)) {
            return GSL_EBADFUNC;
        }
        for (size_t i = 0; i < fitting->figures; i++) {
            gsl_matrix_set(out, i, j,
                           slope[fitting->figure[i]] / sigma(fitting, fitting->figure[i]) * ln_range(asked) *
                               part * (1 - part));
        }
    }
    return GSL_SUCCESS;
}

/* Fits the free parameters to the figures, from the values in `value`, which then has the best ones, and
 * those of the fixed parameters. */
static void fit(struct fitting *fitting, double value[MAX])
{
    const struct kvc_identified *identified = &fitting->paper->identified;
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf function = {.f = residuals,
                                         .df = derivatives,
                                         .n = fitting->figures,
                                         .p = fitting->parameters,
                                         .params = fitting};
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &settings,
                                                                      fitting->figures, fitting->parameters);
    gsl_vector *begin = gsl_vector_alloc(fitting->parameters);
    if (work == NULL || begin == NULL) {
        kvc_out_of_memory("a fit of %zu parameters", fitting->parameters);
    }
    for (size_t i = 0; i < fitting->parameters; i++) {
        size_t at = fitting->parameter[i];
        double part = part_of(&identified->parameter[at], value[at]);
        part = fmin(fmax(part, 2 * EDGE), 1 - 2 * EDGE);
        gsl_vector_set(begin, i, log(part / (1 - part)));
    }
    int info, found = gsl_multifit_nlinear_init(begin, &function, work);
    if (found == GSL_SUCCESS) { /* A fit that stops early still has its best values. */
        gsl_multifit_nlinear_driver(ITERATIONS, NEAR, NEAR, 0, NULL, NULL, &info, work);
    }
    set_values(fitting, gsl_multifit_nlinear_position(work), value);
    gsl_multifit_nlinear_free(work);
    gsl_vector_free(begin);
}

/* ---- what the fit says about each parameter ---- */

static bool determines(const struct kvc_identified *identified, size_t parameter, size_t figure)
{
    bool found = false;
    for (size_t i = 0; i < identified->parameter[parameter].figures; i++) {
        found = found || identified->parameter[parameter].figure[i] == identified->figure[figure];
    }
    return found;
}

/* Marks the parameters that share figures with a marked one, by way of others if need be. */
static void spread_marks(const struct kvc_identified *identified, bool marked[MAX])
{
    for (size_t round = 0; round < identified->count; round++) {
        for (size_t a = 0; a < identified->count; a++) {
            for (size_t b = 0; b < identified->count; b++) {
                for (size_t j = 0; j < identified->figures && marked[a]; j++) {
                    marked[b] = marked[b] || (determines(identified, a, j) && determines(identified, b, j));
                }
            }
        }
    }
}

/* Chooses the free parameters and the figures of a fit among the marked parameters, or all if `marked` is
 * NULL, without the figure `left_out`, or with all if it is identified->figures. A parameter is free if it is
 * not dropped and keeps a figure; there are not more of them than figures. */
static void choose(struct fitting *fitting, const bool *marked, size_t left_out)
{
    const struct kvc_identified *identified = &fitting->paper->identified;
    bool used[FIGURES] = {false};
    fitting->parameters = fitting->figures = 0;
    for (size_t i = 0; i < identified->count; i++) {
        bool keeps = false;
        bool chosen = (marked == NULL || marked[i]) && identified->value[i].dropped[0] == '\0';
        for (size_t j = 0; j < identified->figures && chosen; j++) {
            if (j != left_out && determines(identified, i, j)) {
                keeps = used[j] = true;
            }
        }
        if (keeps) {
            fitting->parameter[fitting->parameters++] = i;
        }
    }
    for (size_t j = 0; j < identified->figures; j++) {
        if (used[j]) {
            fitting->figure[fitting->figures++] = j;
        }
    }
    fitting->parameters = fitting->parameters < fitting->figures ? fitting->parameters : fitting->figures;
}

/* The range of values of one parameter with which one figure is predicted within its tolerance, with the
 * other parameters as fitted. */
struct demand {
    double value, low, high;
};

static struct demand demand_of(const struct fitting *fitting, double value, double ln_ratio, double slope,
                               size_t figure)
{
    double half = SIGMAS * sigma(fitting, figure) / fabs(slope);
    double asked = value * exp(-ln_ratio / slope);
    return (struct demand){asked, asked * exp(-half), asked * exp(half)};
}

/* Says which two figures contradict each other about a parameter, if any do. */
static void find_contradiction(const struct fitting *fitting, size_t parameter, const double *value,
                               const double *ln_ratio, const double *slope, char dropped[400])
{
    const struct kvc_identified *identified = &fitting->paper->identified;
    const struct kvc_identified_parameter *asked = &identified->parameter[parameter];
    for (size_t a = 0; a < identified->figures; a++) {
        for (size_t b = 0; b < identified->figures; b++) {
            if (!determines(identified, parameter, a) || !determines(identified, parameter, b)) {
                continue; /* The present fit has all figures of the parameter. */
            }
            struct demand one = demand_of(fitting, value[parameter], ln_ratio[a], slope[a], a);
            struct demand other = demand_of(fitting, value[parameter], ln_ratio[b], slope[b], b);
            if (one.high < other.low) {
                snprintf(dropped, 400, "%s asks for %.3g%s (%.3g to %.3g) and %s for %.3g%s (%.3g to %.3g)",
                         fitting->paper->cases.entry[identified->figure[a]].id, one.value, asked->unit,
                         one.low, one.high, fitting->paper->cases.entry[identified->figure[b]].id,
                         other.value, asked->unit, other.low, other.high);
                return;
            }
        }
    }
}

/* Fills the variances of the logarithms of the free parameters and the condition number of the problem.
 * slope[j] belongs to free parameter j. Both are infinite where figures do not determine a parameter. */
static void find_variances(const struct fitting *fitting, double slope[MAX][FIGURES], double *variance,
                           double *condition)
{
    size_t rows = fitting->figures, columns = fitting->parameters;
    gsl_matrix *left = gsl_matrix_alloc(rows, columns), *right = gsl_matrix_alloc(columns, columns);
    gsl_vector *singular = gsl_vector_alloc(columns), *work = gsl_vector_alloc(columns);
    if (left == NULL || right == NULL || singular == NULL || work == NULL) {
        kvc_out_of_memory("a fit of %zu parameters", columns);
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            gsl_matrix_set(left, i, j, slope[j][fitting->figure[i]] / sigma(fitting, fitting->figure[i]));
        }
    }
    gsl_linalg_SV_decomp(left, right, singular, work);
    double most = gsl_vector_get(singular, 0), least = gsl_vector_get(singular, columns - 1);
    *condition = most / least;
    for (size_t j = 0; j < columns; j++) {
        variance[j] = 0;
        for (size_t k = 0; k < columns; k++) {
            variance[j] += pow(gsl_matrix_get(right, j, k) / gsl_vector_get(singular, k), 2);
        }
    }
    gsl_matrix_free(left);
    gsl_matrix_free(right);
    gsl_vector_free(singular);
    gsl_vector_free(work);
}

/* Returns the sum of the squares of values by figure, each relative to its figure's standard deviation. */
static double squares_of(const struct fitting *fitting, const double *by_figure)
{
    double squares = 0;
    for (size_t i = 0; i < fitting->figures; i++) {
        squares += pow(by_figure[fitting->figure[i]] / sigma(fitting, fitting->figure[i]), 2);
    }
    return squares;
}

/* Squared deviations of the figures from the fit by degree of freedom, at least 1. */
static double spread(const struct fitting *fitting, const double *ln_ratio)
{
    size_t free_figures = fitting->figures - fitting->parameters;
    return free_figures > 0 ? fmax(1, squares_of(fitting, ln_ratio) / (double)free_figures) : 1;
}

/* Drops parameters that the figures hardly feel, so that not even the others' values would leave a narrow
 * interval. Returns how many. */
static size_t drop_unfelt(struct fitting *fitting, double slope[MAX][FIGURES])
{
    size_t dropped = 0;
    for (size_t j = 0; j < fitting->parameters; j++) {
        struct kvc_identified_value *made = &fitting->paper->identified.value[fitting->parameter[j]];
        if (!(2 * SIGMAS <= log(WIDEST) * sqrt(squares_of(fitting, slope[j])))) {
            snprintf(
                made->dropped, sizeof(made->dropped),
                "its figures hardly depend on it: even with the others known, its interval would be wider "
                "than a factor of %g",
                WIDEST);
            dropped++;
        }
    }
    return dropped;
}

/* Says why the parameter is not used, if so. */
static void find_fault(const struct fitting *fitting, size_t at, const double *value, const double *ln_ratio,
                       const double *slope)
{
    const struct kvc_identified_parameter asked = fitting->paper->identified.parameter[at];
    struct kvc_identified_value *made = &fitting->paper->identified.value[at];
    double part = part_of(&asked, value[at]);
    find_contradiction(fitting, at, value, ln_ratio, slope, made->dropped);
    if (made->dropped[0] != '\0') {
        return;
    }
    if (part < EDGE || part > 1 - EDGE) {
        snprintf(made->dropped, sizeof(made->dropped),
                 "the figures ask for a value outside of the bounds, %.4g%s to %.4g%s", asked.low, asked.unit,
                 asked.high, asked.unit);
    } else if (!(made->high <= WIDEST * made->low)) {
        snprintf(made->dropped, sizeof(made->dropped),
                 "its interval from %.3g to %.3g%s is wider than a factor of %g", made->low, made->high,
                 asked.unit, WIDEST);
    }
}

/* Judges the free parameters with these values. Returns how many are dropped: those that the figures hardly
 * feel, or else the first one with a fault, because the others may fit without it. */
static size_t judge(struct fitting *fitting, const double *value)
{
    struct kvc_identified *identified = &fitting->paper->identified;
    double slope[MAX][FIGURES] = {{0}}, variance[MAX], condition = NAN, here[FIGURES];
    if (!ask(fitting, value, here)) {
        return 0;
    }
    for (size_t j = 0; j < fitting->parameters; j++) {
        if (!find_slopes(fitting, value, fitting->parameter[j], slope[j])) {
            return 0;
        }
    }
    size_t dropped = drop_unfelt(fitting, slope);
    if (dropped > 0) {
        return dropped;
    }
    find_variances(fitting, slope, variance, &condition);
    for (size_t j = 0; j < fitting->parameters && dropped == 0; j++) {
        size_t at = fitting->parameter[j];
        double half = SIGMAS * sqrt(variance[j] * spread(fitting, here));
        identified->value[at].value = value[at];
        identified->value[at].condition = condition;
        identified->value[at].low = value[at] * exp(-half);
        identified->value[at].high = value[at] * exp(half);
        find_fault(fitting, at, value, here, slope[j]);
        dropped += identified->value[at].dropped[0] != '\0';
    }
    return dropped;
}

/* Repeats the fit without each figure. Parameters that share no figure with those that it determines keep
 * their values. */
static void cross_validate(struct fitting *fitting, const double *whole)
{
    struct kvc_identified *identified = &fitting->paper->identified;
    for (size_t figure = 0; figure < identified->figures && fitting->status == KVC_OK; figure++) {
        double value[MAX];
        bool marked[MAX] = {false};
        for (size_t i = 0; i < identified->count; i++) {
            marked[i] = determines(identified, i, figure);
        }
        spread_marks(identified, marked);
        for (size_t i = 0; i < MAX; i++) {
            fitting->fixed[i] = i < identified->count && !marked[i] ? whole[i] : NAN;
        }
        choose(fitting, marked, figure);
        memcpy(value, whole, sizeof(value));
        if (fitting->parameters > 0) {
            fit(fitting, value);
        } else {
            memcpy(value, fitting->fixed, sizeof(value));
        }
        for (size_t i = 0; i < identified->count; i++) {
            identified->value[i].without[figure] = value[i];
        }
    }
}

/* Finds what the scenario of the first figure has without the parameter. */
static void find_facts(struct kvc_paper *paper, size_t at)
{
    const struct kvc_identified_parameter *parameter = &paper->identified.parameter[at];
    size_t first = parameter->figure[0], other;
    if (paper->cases.entry[first].mode == KVC_CASE_RATIO) {
        kvc_score_parts(&paper->cases, first, &first, &other, NULL);
    }
    const struct kvc_case *asked = &paper->cases.entry[first];
    struct kvc_capacity_bounds bounds;
    struct kvc_loaded *loaded;
    struct kvc_diag unused = {0};
    char *end = NULL;
    double *facts = &paper->identified.value[at].facts;
    *facts = NAN;
    if (kvc_validate_load_case(asked, asked->overrides, &bounds, &loaded, &unused) == KVC_OK) {
        const struct kvc_parameter *found = kvc_parameters_find(&loaded->parameters, parameter->path);
        double number = found != NULL ? strtod(found->value, &end) : NAN;
        *facts = end != NULL && strcmp(end, parameter->unit) == 0 ? number : NAN;
    }
    kvc_loaded_free(loaded);
}

/* Returns the squared deviations of the figures with these values, or infinity after a failure. */
static double deviation(struct fitting *fitting, const double *value)
{
    double ln_ratio[FIGURES];
    return ask(fitting, value, ln_ratio) ? squares_of(fitting, ln_ratio) : INFINITY;
}

/* Chooses the values from which the fit starts: of each parameter in turn, the best of a few over its range.
 * Where the figures hardly feel a parameter, near a bound, a fit would not move. */
static void find_start(struct fitting *fitting, double value[MAX])
{
    static const double parts[] = {0.5, 0.2, 0.35, 0.65, 0.8};
    const struct kvc_identified *identified = &fitting->paper->identified;
    for (size_t j = 0; j < fitting->parameters; j++) {
        size_t at = fitting->parameter[j];
        const struct kvc_identified_parameter *asked = &identified->parameter[at];
        double tried[MAX], least = INFINITY;
        memcpy(tried, value, sizeof(tried));
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
            tried[at] = settable(asked, asked->low * exp(parts[i] * ln_range(asked)));
            double found = deviation(fitting, tried);
            if (found < least) {
                least = found;
                value[at] = tried[at];
            }
        }
    }
}

static void identify(struct fitting *fitting)
{
    struct kvc_identified *identified = &fitting->paper->identified;
    double value[MAX];
    for (size_t i = 0; i < identified->count; i++) {
        find_facts(fitting->paper, i);
        identified->value[i].value = identified->value[i].low = identified->value[i].high = NAN;
        identified->value[i].condition = NAN;
    }
    do {
        memcpy(value, facts_alone, sizeof(value));
        memcpy(fitting->fixed, facts_alone, sizeof(fitting->fixed));
        choose(fitting, NULL, identified->figures);
        if (fitting->parameters > 0) {
            find_start(fitting, value);
            fit(fitting, value);
        }
    } while (fitting->status == KVC_OK && fitting->parameters > 0 && judge(fitting, value) > 0);
    cross_validate(fitting, value);
}

/* ---- report ---- */

static void add(struct kvc_grid *grid, double value, const char *unit)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g%s", value, unit);
    kvc_grid_add(grid, isfinite(value) ? text : "-");
}

static void print_parameters(const struct kvc_identified *identified)
{
    static const char *const heads[] = {"system",    "parameter", "facts",     "identified",
                                        "95 % from", "to",        "condition", "verdict"};
    struct kvc_grid grid = {.columns = 0};
    for (; grid.columns < (int)(sizeof(heads) / sizeof(*heads)); grid.columns++) {
        kvc_grid_add(&grid, heads[grid.columns]);
    }
    for (size_t i = 0; i < identified->count; i++) {
        const struct kvc_identified_parameter *parameter = &identified->parameter[i];
        const struct kvc_identified_value *value = &identified->value[i];
        kvc_grid_add(&grid, parameter->system);
        kvc_grid_add(&grid, parameter->path);
        add(&grid, value->facts, parameter->unit);
        add(&grid, value->value, parameter->unit);
        add(&grid, value->low, parameter->unit);
        add(&grid, value->high, parameter->unit);
        add(&grid, value->condition, "");
        kvc_grid_add(&grid, value->dropped[0] == '\0' ? "used" : "dropped");
    }
    kvc_grid_print(&grid, 2, stdout);
    for (size_t i = 0; i < identified->count; i++) {
        if (identified->value[i].dropped[0] != '\0') {
            printf("%s is dropped: %s\n", identified->parameter[i].path, identified->value[i].dropped);
        }
    }
}

/* Shows what each figure is predicted to be by facts and without having been seen: `shown`, by figure. */
static void print_figures(const struct fitting *fitting, double shown[2][FIGURES])
{
    static const char *const heads[] = {"figure left out", "error by facts", "cross-validated", "with"};
    const struct kvc_identified *identified = &fitting->paper->identified;
    struct kvc_grid grid = {.columns = 0};
    for (; grid.columns < (int)(sizeof(heads) / sizeof(*heads)); grid.columns++) {
        kvc_grid_add(&grid, heads[grid.columns]);
    }
    for (size_t figure = 0; figure < identified->figures; figure++) {
        double value[MAX];
        char text[KVC_IDENTIFIED_TEXT], error[32];
        kvc_identified_unseen(identified, &fitting->paper->cases, identified->figure[figure], value);
        kvc_identified_print(identified, value, text);
        kvc_grid_add(&grid, fitting->paper->cases.entry[identified->figure[figure]].id);
        for (size_t i = 0; i < 2; i++) {
            snprintf(error, sizeof(error), "%+.1f %%", 100 * expm1(shown[i][figure]));
            kvc_grid_add(&grid, error);
        }
        kvc_grid_add(&grid, text);
    }
    kvc_grid_print(&grid, 2, stdout);
}

/* Answers each figure by facts and with values that have not seen it, before anything is printed, because
 * children must not inherit output that is not yet written. */
static void ask_shown(struct fitting *fitting, double shown[2][FIGURES])
{
    const struct kvc_identified *identified = &fitting->paper->identified;
    for (size_t figure = 0; figure < identified->figures; figure++) {
        double value[MAX];
        kvc_identified_unseen(identified, &fitting->paper->cases, identified->figure[figure], value);
        fitting->figures = 1;
        fitting->figure[0] = figure;
        ask(fitting, facts_alone, shown[0]);
        ask(fitting, value, shown[1]);
    }
}

enum kvc_status kvc_paper_identify(const struct kvc_subject *subject, const struct kvc_run_options *options,
                                   struct kvc_diag *diag)
{
    struct kvc_paper paper;
    char path[PATH_MAX];
    double shown[2][FIGURES];
    enum kvc_status status = kvc_paper_open(subject, &paper, diag);
    kvc_subject_path(subject, "identified.csv", path);
    if (status == KVC_OK && paper.identified.count == 0) {
        status =
            kvc_diag_fail(diag, KVC_ERR_SCENARIO, "%s: the file that names the parameters is missing", path);
    }
    struct fitting fitting = {.paper = &paper, .options = options, .diag = diag, .status = status};
    if (status == KVC_OK) {
        gsl_error_handler_t *handler = gsl_set_error_handler_off();
        identify(&fitting);
        ask_shown(&fitting, shown);
        gsl_set_error_handler(handler);
        kvc_progress_done(options->progress);
    }
    if (fitting.status == KVC_OK) {
        print_parameters(&paper.identified);
        printf("\n");
        print_figures(&fitting, shown);
    }
    kvc_subject_path(subject, "identification.csv", path);
    status = fitting.status != KVC_OK ? fitting.status
                                      : kvc_identification_write(path, &paper.cases, &paper.identified, diag);
    free(fitting.known);
    kvc_paper_free(&paper);
    return status;
}
