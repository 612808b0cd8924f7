/* Measures what senders do: reads of items. */
#ifndef KVC_MODELS_MEGAKV_REAL_SURVEY_SENDERS_H
#define KVC_MODELS_MEGAKV_REAL_SURVEY_SENDERS_H

#include "models/megakv/real/survey.h"

/* Measures only reads with all reference bits nearby known to be set, in a store that fits the caches next to
 * a core: popular items are found there. `misses` and the errors are as below. */
enum kvc_status kvc_megakv_survey_reads_nearby(struct kvc_megakv_survey *survey, bool misses,
                                               struct kvc_diag *diag);

/* Measures GETs that hit by the size of their batches. */
void kvc_megakv_survey_read_batches(struct kvc_megakv_survey *survey);

/* Measures reads of all kinds, and with `misses` the time of a miss, too. Returns KVC_ERR_RUNTIME if items
 * that were stored are not found. */
enum kvc_status kvc_megakv_survey_senders(struct kvc_megakv_survey *survey, bool misses,
                                          struct kvc_diag *diag);

#endif
