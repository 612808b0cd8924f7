#include "kernels/index.h"

#include "kernels/megakv/cuckoo.h"

const struct kvc_index_kind *const kvc_index_kinds[] = {
    &kvc_cuckoo_kind,
    NULL,
};
