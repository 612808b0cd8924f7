/* Measures what receivers do with GETs and SETs, and how long the scheduler collects the SETs' index jobs. */
#ifndef KVC_MODELS_MEGAKV_REAL_SURVEY_RECEIVERS_H
#define KVC_MODELS_MEGAKV_REAL_SURVEY_RECEIVERS_H

#include "models/megakv/real/survey.h"

/* What the SETs of a survey may take of the slabs [bytes]. */
extern const double kvc_megakv_survey_room_bytes;

/* Measures the time of a receiver for a frame of GETs, by the batches that it fills. */
void kvc_megakv_survey_receive(struct kvc_megakv_survey *survey, uint32_t frame_requests);

/* Measures SETs that find free places, then SETs that evict while no item was read since the CLOCK hand
 * passed it, and then SETs that evict while every other one was. */
void kvc_megakv_survey_writes(struct kvc_megakv_survey *survey);

/* Measures how long the CLOCK hand takes to pass an item that was read: the first SET that finds no free
 * place sends it around. Afterwards every SET evicts. */
void kvc_megakv_survey_pass(struct kvc_megakv_survey *survey);

/* Measures what a request costs more if a random half of them are SETs. Every SET must evict. */
void kvc_megakv_survey_mix(struct kvc_megakv_survey *survey);

/* Measures the scheduler's time to collect the jobs of SETs that evict. */
void kvc_megakv_survey_drain(struct kvc_megakv_survey *survey);

#endif
