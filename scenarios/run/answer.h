/* The work that `kvcast run`, `predict` and `measure` share: open the outputs, find the answer, write it. */
#ifndef KVC_SCENARIOS_RUN_ANSWER_H
#define KVC_SCENARIOS_RUN_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plots/plot.h"
#include "scenarios/load/load.h"
#include "scenarios/output/folder.h"
#include "scenarios/output/report.h"
#include "sim/base/diag.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"

/* Method of finding the answer. */
enum kvc_answer_by { KVC_ANSWER_BY_RUN, KVC_ANSWER_BY_PREDICTION, KVC_ANSWER_BY_MEASUREMENT };

struct kvc_answer_options {
    const struct kvc_loaded *loaded;
    const char *path;                /* Path of the scenario, as the user wrote it. */
    const struct kvc_overrides *set; /* The user's overrides. */
    enum kvc_answer_by by;
    uint32_t jobs;    /* 0 for as many as fit. */
    const char *out;  /* Folder for all files, or NULL. */
    const char *json; /* File for the JSON document, "-" for the stream, or NULL. */
    bool keeps;       /* Keep the answer to another question that is in `out` (kvc_folder_keep()). */
    bool sensitivity; /* Also find the sensitivity to the hardware; not for a measurement. */
    bool color;       /* Use terminal colours in the table. */
    const struct kvc_progress *progress;
};

/* Finds the answer, writes the folder and the JSON file, and then writes the table to `out`, or the document
 * if `json` is "-". Nothing starts if an output cannot be opened. */
enum kvc_status kvc_answer(const struct kvc_answer_options *task, FILE *out, struct kvc_diag *diag);

/* Draws latency_cdf.svg, .pdf and .png from the result in the folder. */
enum kvc_status kvc_answer_draw(const char *folder, struct kvc_diag *diag);

/* The files of a search over many results: a document and a table in a folder, and the document where the
 * user wants it.
 *
 * All are opened before the work starts, so that a path that cannot be written fails at once. They are put in
 * place when they are complete. */

struct kvc_answer_files {
    bool to_stdout; /* The document goes to stdout, in place of the table for people. */
    struct kvc_partial_file folder_json, folder_csv, json;
    struct kvc_folder_lock lock; /* Locks the folder. */
};

/* Writes an answer in each of its forms. */
struct kvc_answer_forms {
    const void *report;
    enum kvc_status (*json)(const void *report, FILE *out, struct kvc_diag *diag);
    void (*csv)(const void *report, FILE *out);
    void (*table)(const void *report, bool color,
                  FILE *out); /* Receives a table for people, with terminal escapes if `color` is set. */
    bool color;
    const struct kvc_question
        *question; /* Keep the answer to another one (kvc_folder_keep()), unless NULL. */
};

/* Opens FOLDER/NAME.json and FOLDER/NAME.csv, unless `folder` is NULL, and the file `json`, unless it is NULL
 * or "-", which stands for stdout. Whatever it returns, the files must be discarded. */
enum kvc_status kvc_answer_files_open(struct kvc_answer_files *files, const char *folder, const char *name,
                                      const char *json, struct kvc_diag *diag);

/* Writes the files and puts them in place, then writes the table or the document to `out`, even if a file
 * failed. Returns the first failure. */
enum kvc_status kvc_answer_files_write(struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                       FILE *out, struct kvc_diag *diag);

/* Removes files that are not in place, and gives the folder up. */
void kvc_answer_files_discard(struct kvc_answer_files *files);

/* Draws FOLDER/NAME.svg, .pdf and .png from its inputs, as the owner of the folder. */
enum kvc_status kvc_answer_files_draw(const char *folder, const char *name, enum kvc_plot_kind kind,
                                      const char *const *inputs, int count, struct kvc_diag *diag);

/* Checks that all ranks of a job (scenarios/run/ranks/ranks.h) answer the same question: their files may
 * differ if they do not come from one file system. */

/* Fails on all ranks unless they loaded the same scenario: the file itself, every resolved value with its
 * source, which includes the hardware, and the trace that it names. All ranks call it. */
enum kvc_status kvc_ranks_check_loaded(const struct kvc_loaded *loaded, struct kvc_diag *diag);

#endif
