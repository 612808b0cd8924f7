/* Calls of libraries that fault injection can let fail: the GSL functions that we call and that allocate or
 * return a status, and Jansson's writer. */
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_roots.h>
#include <jansson.h>
#include <stddef.h>

#include "scenarios/faults/fault.h"

KVC_FAULT_WRAPPED(gsl_root_fsolver_alloc);
KVC_FAULT_WRAPPED(gsl_root_fsolver_set);
KVC_FAULT_WRAPPED(gsl_root_fsolver_iterate);
KVC_FAULT_WRAPPED(gsl_fit_linear);
KVC_FAULT_WRAPPED(gsl_matrix_alloc);
KVC_FAULT_WRAPPED(gsl_matrix_calloc);
KVC_FAULT_WRAPPED(gsl_vector_alloc);
KVC_FAULT_WRAPPED(gsl_vector_memcpy);
KVC_FAULT_WRAPPED(gsl_multifit_linear_alloc);
KVC_FAULT_WRAPPED(gsl_multifit_linear);
KVC_FAULT_WRAPPED(gsl_multifit_robust_alloc);
KVC_FAULT_WRAPPED(gsl_multifit_robust);

static bool gsl_strikes(const char *function)
{
    return kvc_fault_strikes(KVC_FAULT_GSL, function);
}

gsl_root_fsolver *__wrap_gsl_root_fsolver_alloc(const gsl_root_fsolver_type *type)
{
    return gsl_strikes("gsl_root_fsolver_alloc") ? NULL : __real_gsl_root_fsolver_alloc(type);
}

int __wrap_gsl_root_fsolver_set(gsl_root_fsolver *solver, gsl_function *function, double low, double high)
{
    return gsl_strikes("gsl_root_fsolver_set") ? GSL_EINVAL
                                               : __real_gsl_root_fsolver_set(solver, function, low, high);
}

int __wrap_gsl_root_fsolver_iterate(gsl_root_fsolver *solver)
{
    return gsl_strikes("gsl_root_fsolver_iterate") ? GSL_EBADFUNC : __real_gsl_root_fsolver_iterate(solver);
}

int __wrap_gsl_fit_linear(const double *x, size_t x_stride, const double *y, size_t y_stride, size_t count,
                          double *start, double *slope, double *cov00, double *cov01, double *cov11,
                          double *squares)
{
    return gsl_strikes("gsl_fit_linear") ? GSL_EINVAL
                                         : __real_gsl_fit_linear(x, x_stride, y, y_stride, count, start,
                                                                 slope, cov00, cov01, cov11, squares);
}

gsl_matrix *__wrap_gsl_matrix_alloc(size_t rows, size_t columns)
{
    return gsl_strikes("gsl_matrix_alloc") ? NULL : __real_gsl_matrix_alloc(rows, columns);
}

gsl_matrix *__wrap_gsl_matrix_calloc(size_t rows, size_t columns)
{
    return gsl_strikes("gsl_matrix_calloc") ? NULL : __real_gsl_matrix_calloc(rows, columns);
}

gsl_vector *__wrap_gsl_vector_alloc(size_t count)
{
    return gsl_strikes("gsl_vector_alloc") ? NULL : __real_gsl_vector_alloc(count);
}

int __wrap_gsl_vector_memcpy(gsl_vector *to, const gsl_vector *from)
{
    return gsl_strikes("gsl_vector_memcpy") ? GSL_EBADLEN : __real_gsl_vector_memcpy(to, from);
}

gsl_multifit_linear_workspace *__wrap_gsl_multifit_linear_alloc(size_t rows, size_t columns)
{
    return gsl_strikes("gsl_multifit_linear_alloc") ? NULL : __real_gsl_multifit_linear_alloc(rows, columns);
}

int __wrap_gsl_multifit_linear(const gsl_matrix *rows, const gsl_vector *right, gsl_vector *solution,
                               gsl_matrix *covariance, double *squares, gsl_multifit_linear_workspace *work)
{
    return gsl_strikes("gsl_multifit_linear")
               ? GSL_EINVAL
               : __real_gsl_multifit_linear(rows, right, solution, covariance, squares, work);
}

gsl_multifit_robust_workspace *__wrap_gsl_multifit_robust_alloc(const gsl_multifit_robust_type *type,
                                                                size_t rows, size_t columns)
{
    return gsl_strikes("gsl_multifit_robust_alloc") ? NULL
                                                    : __real_gsl_multifit_robust_alloc(type, rows, columns);
}

int __wrap_gsl_multifit_robust(const gsl_matrix *rows, const gsl_vector *right, gsl_vector *solution,
                               gsl_matrix *covariance, gsl_multifit_robust_workspace *work)
{
    return gsl_strikes("gsl_multifit_robust")
               ? GSL_EMAXITER
               : __real_gsl_multifit_robust(rows, right, solution, covariance, work);
}

/* Jansson writes documents with calls of its own, which fault injection cannot see. Its allocations are ours
 * (scenarios/cli/main.c). */
KVC_FAULT_WRAPPED(json_dumpf);

int __wrap_json_dumpf(const json_t *document, FILE *out, size_t flags)
{
    if (kvc_fault_strikes(KVC_FAULT_WRITE, "json_dumpf")) {
        errno = ENOSPC;
        return -1;
    }
    return __real_json_dumpf(document, out, flags);
}
