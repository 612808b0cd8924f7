/* The files that pictures are drawn from: their kinds, where they stand in a folder, and how they are read.
 */
#ifndef KVC_PLOTS_DOCUMENT_H
#define KVC_PLOTS_DOCUMENT_H

#include <jansson.h>
#include <limits.h>

#include "sim/base/diag.h"

enum kvc_document_kind {
    KVC_DOCUMENT_RESULT,
    KVC_DOCUMENT_CAPACITY,
    KVC_DOCUMENT_PLAN,
    KVC_DOCUMENT_WHY,
    KVC_DOCUMENT_COMPARE,
    KVC_DOCUMENT_TRACE,
    KVC_DOCUMENT_DAY,
    KVC_DOCUMENT_SWEEP,  /* CSV */
    KVC_DOCUMENT_ERRORS, /* CSV */
};

/* Finds the file of this kind that `path` names: the path itself or, if it is a folder, the file in it that
 * the command that writes such folders gave its name. Returns KVC_ERR_SCENARIO if the folder has no such
 * file, or if the file is known to be of another kind; the message then says what draws it. Files that are
 * unknown or cannot be read pass: their parsers have better messages. */
enum kvc_status kvc_document_find(const char *path, enum kvc_document_kind kind, char file[PATH_MAX],
                                  struct kvc_diag *diag);

/* Finds the file that `path` names, and its kind: the path itself or, if it is a folder, the first file in it
 * that has the name of a kind. Returns KVC_ERR_SCENARIO if it is none of these kinds. */
enum kvc_status kvc_document_find_any(const char *path, enum kvc_document_kind *kind, char file[PATH_MAX],
                                      struct kvc_diag *diag);

/* Returns what a file of this kind is called: "document of kvcast plan". */
const char *kvc_document_noun(enum kvc_document_kind kind);

/* Loads a JSON document of this kind. Returns KVC_ERR_SCENARIO if it cannot be read or has another schema. */
enum kvc_status kvc_document_load(const char *file, enum kvc_document_kind kind, json_t **document,
                                  struct kvc_diag *diag);

/* Returns the number of an object's member, or NaN if it is missing, null or no number. */
double kvc_document_number(const json_t *object, const char *key);

/* Returns the text of an object's member, or "-" if it is missing, null or no text. */
const char *kvc_document_text(const json_t *object, const char *key);

/* Returns KVC_ERR_SCENARIO unless the result has a throughput, which every result of kvcast has. */
enum kvc_status kvc_document_check_result(const char *file, const json_t *document, struct kvc_diag *diag);

#endif
