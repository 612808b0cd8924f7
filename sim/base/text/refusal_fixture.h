/** @file
 * What fuzz targets expect of a parser that refuses its input. */
#ifndef KVC_SIM_BASE_TEXT_REFUSAL_FIXTURE_H
#define KVC_SIM_BASE_TEXT_REFUSAL_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/diag.h"

/** Aborts unless `right`. */
void kvc_fuzz_check(bool right);

/** Aborts unless the text is one line without control characters, and not empty. */
void kvc_fuzz_check_line(const char *text);

/** Aborts unless the status is one of a failure and the error has one line as message. */
void kvc_fuzz_check_refusal(enum kvc_status status, const struct kvc_diag *diag);

#endif
