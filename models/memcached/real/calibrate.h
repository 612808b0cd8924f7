/* memcached's part of a calibration: the costs of the server that is installed
 * (models/memcached/cost_profile.h), with clients on another core of this machine. */
#ifndef KVC_MODELS_MEMCACHED_REAL_CALIBRATE_H
#define KVC_MODELS_MEMCACHED_REAL_CALIBRATE_H

#include "models/model.h"

/* Adds the device memcached_costs to the profile. Where memcached is not installed, or on a machine of one
 * core, it adds a line to the summary instead. Returns KVC_ERR_RUNTIME if the server does not start. */
enum kvc_status kvc_memcached_calibrate(const struct kvc_calibration *calibration, struct kvc_diag *diag);

#endif
