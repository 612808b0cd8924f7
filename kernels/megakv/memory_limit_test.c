#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>

#include "kernels/megakv/cuckoo.h"
#include "kernels/megakv/slab.h"

#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer's shadow memory alone exceeds any such limit */
Test(memory, tables_and_stores_that_do_not_fit)
{
    struct rlimit limit = {.rlim_cur = UINT64_C(1) << 30, .rlim_max = UINT64_C(1) << 30};
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    errno = 0;
    cr_assert_null(kvc_megakv_slab_create(UINT64_C(4) << 30, 0));
    cr_assert_eq(errno, ENOMEM);
    errno = 0;
    cr_assert_null(kvc_megakv_cuckoo_create(&(struct kvc_megakv_cuckoo_params){.bytes = UINT64_C(4) << 30}));
    cr_assert_eq(errno, ENOMEM);
}
#endif
