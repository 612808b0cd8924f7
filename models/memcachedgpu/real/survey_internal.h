/* Internal to the survey: its parts. */
#ifndef KVC_MODELS_MEMCACHEDGPU_REAL_SURVEY_INTERNAL_H
#define KVC_MODELS_MEMCACHEDGPU_REAL_SURVEY_INTERNAL_H

#include "models/memcachedgpu/real/survey.h"
#include "models/memcachedgpu/real/testbench.h"

/* Returns KVC_ERR_RUNTIME with the message of a device that failed. */
enum kvc_status kvc_memcachedgpu_survey_failed(struct kvc_diag *diag);

/* Measures batches that follow each other in several streams, of the testbench's table. */
enum kvc_status kvc_memcachedgpu_survey_all_streams(struct kvc_memcachedgpu_survey *survey,
                                                    struct kvc_memcachedgpu_testbench *bench, bool quick,
                                                    struct kvc_diag *diag);

/* The same for batches of 512 in all streams, while another thread asks for an event that is pending. */
enum kvc_status kvc_memcachedgpu_survey_polled(struct kvc_memcachedgpu_survey *survey,
                                               struct kvc_memcachedgpu_testbench *bench,
                                               struct kvc_diag *diag);

/* The same beside the background task. */
enum kvc_status kvc_memcachedgpu_survey_background(struct kvc_memcachedgpu_survey *survey,
                                                   struct kvc_memcachedgpu_testbench *bench, bool quick,
                                                   struct kvc_diag *diag);

#endif
