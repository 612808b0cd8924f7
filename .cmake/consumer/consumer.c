/* A program outside kvcast that uses the installed kernels, in C: finds a key that it inserted. */
#include <stdio.h>

#include "kernels/index_kinds.h"

int main(void)
{
    struct kvc_index_stats stats = {0};
    uint64_t hash = 0x123456789abcdef0;
    uint32_t location = 42, left, found = 0;
    struct kvc_index *index = kvc_index_kinds[0]->create(1 << 20, 1);
    if (index == NULL) {
        return 1;
    }
    kvc_index_insert(index, &hash, &location, 1, &left, &stats);
    kvc_index_search(index, &hash, 1, &found, &stats);
    kvc_index_free(index);
    printf("found %u\n", found);
    return found != location;
}
