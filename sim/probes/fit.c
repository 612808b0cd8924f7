#include "sim/probes/fit.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>

static const double linear_frac = 0.1;

/* Smaller residuals are rounding errors, from which no robust scale can be estimated. */
static const double exact_frac = 1e-9;

/* The linear system with every row divided by its y, which turns relative residuals into absolute ones. Every
 * other row changes its sign: the solution stays the same, but GSL assumes a residual scale of 1 if all right
 * sides are equal. */
struct system {
    gsl_matrix *rows;
    gsl_vector *right, *solution;
    gsl_matrix *covariance;
};

static void free_system(struct system *system)
{
    gsl_matrix_free(system->rows);
    gsl_vector_free(system->right);
    gsl_vector_free(system->solution);
    gsl_matrix_free(system->covariance);
}

static struct system make_system(const double *x, const double *y, size_t count)
{
    struct system system = {gsl_matrix_alloc(count, 2), gsl_vector_alloc(count), gsl_vector_alloc(2),
                            gsl_matrix_calloc(2, 2)};
    if (system.rows == NULL || system.right == NULL || system.solution == NULL || system.covariance == NULL) {
        kvc_out_of_memory("a line through %zu points", count);
    }
    for (size_t i = 0; i < count; i++) {
        double sign = i % 2 == 0 ? 1 : -1;
        gsl_matrix_set(system.rows, i, 0, sign * x[i] / y[i]);
        gsl_matrix_set(system.rows, i, 1, sign / y[i]);
        gsl_vector_set(system.right, i, sign);
    }
    return system;
}

static bool solve_ordinary(struct system *system, size_t count)
{
    double chi_squared;
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(count, 2);
    if (work == NULL) {
        kvc_out_of_memory("a line through %zu points", count);
    }
    int error = gsl_multifit_linear(system->rows, system->right, system->solution, system->covariance,
                                    &chi_squared, work);
    gsl_multifit_linear_free(work);
    return error == GSL_SUCCESS && isfinite(gsl_vector_get(system->solution, 0)) &&
           gsl_matrix_get(system->covariance, 0, 0) < INFINITY;
}

static void solve_robust(struct system *system, size_t count)
{
    gsl_multifit_robust_workspace *work = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, count, 2);
    gsl_vector *ordinary = gsl_vector_alloc(2);
    if (work == NULL || ordinary == NULL) {
        kvc_out_of_memory("a line through %zu points", count);
    }
    int error = gsl_vector_memcpy(ordinary, system->solution);
    if (error == GSL_SUCCESS) {
        error = gsl_multifit_robust(system->rows, system->right, system->solution, system->covariance, work);
    }
    /* The last iteration is good enough if the fit did not converge; the ordinary fit stays if it is not
     * finite. */
    if (error == GSL_EMAXITER || error == GSL_SUCCESS) {
        bool finite =
            isfinite(gsl_vector_get(system->solution, 0)) && isfinite(gsl_vector_get(system->solution, 1));
        error = finite ? GSL_SUCCESS : gsl_vector_memcpy(system->solution, ordinary);
    }
    if (error != GSL_SUCCESS) {
        kvc_give_up("no line fits %zu points: %s", count, gsl_strerror(error));
    }
    gsl_vector_free(ordinary);
    gsl_multifit_robust_free(work);
}

static void measure_residuals(const double *x, const double *y, size_t count, struct kvc_fit *fit)
{
    double sum = 0;
    size_t far = 0;
    fit->worst_frac = 0;
    for (size_t i = 0; i < count; i++) {
        double off = fabs(fit->slope * x[i] + fit->base - y[i]) / y[i];
        sum += off * off;
        far += off > linear_frac;
        fit->worst_frac = fmax(fit->worst_frac, off);
    }
    fit->rms_frac = sqrt(sum / (double)count);
    fit->linear = far <= 1;
}

static void take_solution(const struct system *system, const double *x, const double *y, size_t count,
                          struct kvc_fit *fit)
{
    double quantile = gsl_cdf_tdist_Pinv(0.975, (double)count - 2);
    fit->points = count;
    fit->slope = gsl_vector_get(system->solution, 0);
    fit->base = gsl_vector_get(system->solution, 1);
    fit->slope_half = quantile * sqrt(fmax(gsl_matrix_get(system->covariance, 0, 0), 0));
    fit->base_half = quantile * sqrt(fmax(gsl_matrix_get(system->covariance, 1, 1), 0));
    measure_residuals(x, y, count, fit);
}

enum kvc_status kvc_fit_line(const double *x, const double *y, size_t count, struct kvc_fit *fit,
                             struct kvc_diag *diag)
{
    double x_low = INFINITY, x_high = -INFINITY;
    if (count < KVC_FIT_POINTS_MIN || count > KVC_FIT_POINTS_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "found %zu points for a line; allowed: %d to %d", count,
                             KVC_FIT_POINTS_MIN, KVC_FIT_POINTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        if (!(y[i] > 0) || !isfinite(y[i]) || !isfinite(x[i])) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                                 "point %zu of a line is %g at %g; allowed: times above 0", i, y[i], x[i]);
        }
        x_low = fmin(x_low, x[i]);
        x_high = fmax(x_high, x[i]);
    }
    if (x_low == x_high) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME,
                             "found a line whose points are all at %g; allowed: two or more sizes", x_low);
    }
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    struct system system = make_system(x, y, count);
    bool solved = solve_ordinary(&system, count);
    if (solved) {
        take_solution(&system, x, y, count, fit);
        if (fit->rms_frac > exact_frac) {
            solve_robust(&system, count);
            take_solution(&system, x, y, count, fit);
        }
    }
    free_system(&system);
    gsl_set_error_handler(handler);
    return solved ? KVC_OK
                  : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no line can be fitted to %zu points", count);
}

void kvc_fit_describe(const struct kvc_fit *fit, double middle, double half, char *text, size_t size)
{
    snprintf(text, size, "%.3g .. %.3g (95 %%), %zu points, worst %.1f %% off%s", middle - half,
             middle + half, fit->points, 100 * fit->worst_frac, fit->linear ? "" : "; NOT a straight line");
}
