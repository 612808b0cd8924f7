#include "kernels/peers/workload.hh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/hash.h"

namespace kvc::peers
{

drawn_keys draw(uint64_t keys)
{
    drawn_keys drawn(runs);
    uint64_t number = 1;
    for (auto &each : drawn) {
        each.resize(run_keys);
        for (uint64_t &key : each) {
            key = kvc_mix_64(kvc_mix_64(number++ + (UINT64_C(1) << 60)) % keys);
        }
    }
    return drawn;
}

double fill(table &into, uint64_t keys)
{
    uint64_t key[32];
    double start = kvc_bench_own_s();
    for (uint64_t done = 0; done < keys; done += 32) {
        uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(keys - done, 32));
        for (uint32_t i = 0; i < count; i++) {
            key[i] = kvc_mix_64(done + i);
        }
        into.insert(key, count);
    }
    return static_cast<double>(keys) / (kvc_bench_own_s() - start) / 1e6;
}

double run_once(table &on, const requests &what, const std::vector<uint64_t> &keys)
{
    uint64_t value[batch_max], batch[batch_max];
    uint64_t number = 0;
    double start = kvc_bench_now_s();
    for (uint64_t i = 0; i < run_keys; i += what.batch) {
        if (what.sets_percent == 0) {
            on.get(&keys[i], what.batch, value);
            continue;
        }
        uint32_t sets = 0, gets = what.batch;
        for (uint32_t j = 0; j < what.batch; j++, number++) {
            bool is_set = number * what.sets_percent % 100 < what.sets_percent;
            batch[is_set ? sets++ : --gets] = keys[i + j];
        }
        on.set_and_get(batch, sets, what.batch, value);
    }
    return static_cast<double>(run_keys) / (kvc_bench_now_s() - start) / 1e6;
}

void verify(table &on, const std::vector<uint64_t> &keys, const char *name, double forgotten)
{
    uint64_t value[batch_max], absent = 0, asked = 0;
    for (uint32_t batch : {1u, 32u, batch_max}) {
        for (uint64_t i = 0; i < 64 * batch_max; i += batch) {
            std::memset(value, 0, sizeof(value));
            on.get(&keys[i], batch, value);
            for (uint32_t j = 0; j < batch; j++) {
                asked++;
                absent += value[j] == 0;
                if (value[j] != value_of(keys[i + j]) && value[j] != 0) {
                    std::fprintf(stderr, "%s: a wrong value\n", name);
                    std::exit(1);
                }
            }
        }
    }
    if (static_cast<double>(absent) > forgotten * static_cast<double>(asked)) {
        std::fprintf(stderr, "%s: %llu of %llu keys are missing\n", name,
                     static_cast<unsigned long long>(absent), static_cast<unsigned long long>(asked));
        std::exit(1);
    }
}

} // namespace kvc::peers
