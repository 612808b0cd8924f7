// A program outside kvcast that uses the installed kernels, in C++: finds in every index a key that it
// inserted.
#include <cstdint>
#include <cstdio>

#include "kernels/index.h"
#include "kernels/index_kinds.h"

int main()
{
    int missing = 0;
    for (const struct kvc_index_kind *const *kind = kvc_index_kinds; *kind != nullptr; kind++) {
        struct kvc_index_stats stats = {};
        uint64_t hash = 0x123456789abcdef0;
        uint32_t location = 42, left, found = 0;
        struct kvc_index *index = (*kind)->create(1 << 20, 1);
        if (index == nullptr) {
            return 1;
        }
        kvc_index_insert(index, &hash, &location, 1, &left, &stats);
        kvc_index_search(index, &hash, 1, &found, &stats);
        kvc_index_free(index);
        std::printf("%s: found %u\n", (*kind)->name, found);
        missing += found != location;
    }
    return missing;
}
