/* A program outside kvcast that uses the installed kernels, in C: finds a key that it inserted. */
#include <stdio.h>

#include "kernels/megakv/cuckoo.h"

int main(void)
{
    struct kvc_megakv_cuckoo_params params = {.bytes = 1 << 20, .max_displacements = 200};
    struct kvc_index_stats stats = {0};
    uint64_t hash = 0x123456789abcdef0;
    uint32_t location = 42, left, found = 0;
    struct kvc_index *index = kvc_megakv_cuckoo_create(&params);
    if (index == NULL) {
        return 1;
    }
    kvc_index_insert(index, &hash, &location, 1, &left, &stats);
    kvc_index_search(index, &hash, 1, &found, &stats);
    kvc_index_free(index);
    printf("found %u\n", found);
    return found != location;
}
