#include "sim/base/version.h"

const char kvc_version[] = KVC_VERSION;
