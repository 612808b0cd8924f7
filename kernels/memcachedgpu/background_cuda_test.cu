/* Tests the background task, the clocks of the GET kernel and of SETs, and events. Exit status 0 means
 * success, 77 means that there is no device. */
#include <cerrno>

#include "kernels/memcachedgpu/background_cuda.h"
#include "kernels/memcachedgpu/set_assoc_cuda_fixture.cuh"

namespace
{

using fixture::expect;

/* Every split covers all blocks once, and nothing but them. */
void test_products()
{
    for (uint32_t kernels : {1u, 3u, 16u}) {
        struct kvc_background_params params = {16, 96, kernels, 4 * 1000};
        struct kvc_background *background = kvc_background_create(&params);
        expect(background != nullptr, "create");
        expect(kvc_background_products(background) == 0, "products before the task");
        kvc_background_begin(background, 2, nullptr);
        expect(kvc_background_products(background) == 16 * 1000, "products of all blocks");
        kvc_background_free(background);
    }
}

double task_s(struct kvc_background *background, uint32_t rounds)
{
    return kvc::time_device_s(3, [&](int) { kvc_background_begin(background, rounds, nullptr); });
}

/* Twice as many rounds take about twice as long, and a task whose blocks run one after another takes as long
 * as all its blocks.
 */
void test_times()
{
    struct kvc_background_params together = {8, 1024, 1, 1 << 20}, apart = {8, 1024, 8, 1 << 20};
    struct kvc_background *one = kvc_background_create(&together), *many = kvc_background_create(&apart);
    expect(one != nullptr && many != nullptr, "create");
    double once = task_s(one, 50), twice = task_s(one, 100), split = task_s(many, 50);
    expect(twice > 1.8 * once && twice < 2.2 * once, "time over rounds");
    expect(split > 6 * once, "kernels run one after the other");
    kvc_background_free(one);
    kvc_background_free(many);
}

void test_bad_params()
{
    for (struct kvc_background_params params : {kvc_background_params{0, 32, 1, 64},
                                                {1, 0, 1, 64},
                                                {1, 1025, 1, 64},
                                                {1, 32, 0, 64},
                                                {1, 32, 2, 64},
                                                {1, 32, 1, 3}}) {
        errno = 0;
        expect(kvc_background_create(&params) == nullptr && errno == EINVAL, "bad parameters");
    }
    kvc_background_free(nullptr);
}

} // namespace

int main()
{
    kvc::need_device();
    test_bad_params();
    test_products();
    test_times();
    std::printf("the background task works on all blocks\n");
    return 0;
}
