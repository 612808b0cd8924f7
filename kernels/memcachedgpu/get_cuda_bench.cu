/* Measures the speed of the GET kernel, from raw packets in device memory to heads of responses.
 *
 * The table has 4 M keys at load 0.75, far more than the second-level cache holds. Successive launches take
 * successive parts of a pool of 2^20 packets in slots of 128 bytes, so that neither packets nor responses are
 * cached. First, every answer is compared with the CPU's. Then, for each launch size, the program measures
 * launches that follow each other in one stream (rate and time per launch) and launches that the host waits
 * for one by one (latency). The bytes per GET count the 32-byte sectors that the design reads and writes for
 * packet, table, response and result. */
#include <cmath>
#include <cstring>
#include <string>

#include "kernels/cuda_bench.cuh"
#include "kernels/hash.h"
#include "kernels/memcachedgpu/get_cuda.h"

namespace
{

constexpr uint32_t key_count = 4 << 20;
constexpr uint32_t key_bytes = 32;
constexpr uint32_t pool = 1 << 20;
constexpr uint32_t slot_bytes = 128;
constexpr uint16_t port = 11211;
constexpr struct kvc_memcachedgpu_packet_ends ends = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, port};

void key_of(uint32_t id, char *key)
{
    char digits[key_bytes + 1];
    std::snprintf(digits, sizeof(digits), "user%028u", kvc::mix_32(id));
    std::memcpy(key, digits, key_bytes);
}

struct kvc_set_assoc *filled_table(bool shared_lock)
{
    struct kvc_set_assoc_params params = {key_count / 12, KVC_SET_ASSOC_WAYS, key_bytes, shared_lock};
    struct kvc_set_assoc *table = kvc_set_assoc_create(&params);
    if (table == nullptr) {
        kvc::die("no memory for the table");
    }
    constexpr uint32_t batch = 4096;
    std::vector<char> text(batch * key_bytes);
    std::vector<uint32_t> offset(batch);
    std::vector<uint8_t> bytes(batch, key_bytes);
    std::vector<struct kvc_set_assoc_item> items(batch);
    struct kvc_index_stats stats = {};
    for (uint32_t first = 0; first < key_count; first += batch) {
        for (uint32_t i = 0; i < batch; i++) {
            key_of(first + i, &text[i * key_bytes]);
            offset[i] = i * key_bytes;
            items[i] = {first + i, 2, 0, 0}; /* values of 2 bytes, as in the paper's tests */
        }
        struct kvc_set_assoc_keys keys = {reinterpret_cast<const uint8_t *>(text.data()), offset.data(),
                                          bytes.data()};
        kvc_table_insert(&table->base, &keys, items.data(), batch, first, nullptr, &stats);
    }
    return table;
}

/* Draws ranks from 0 to key_count - 1. */
class key_choice
{
  public:
    explicit key_choice(double exponent) : cumulative_(exponent > 0 ? key_count : 0)
    {
        double sum = 0;
        for (uint32_t i = 0; i < cumulative_.size(); i++) {
            cumulative_[i] = sum += std::pow(i + 1.0, -exponent);
        }
    }

    uint32_t next()
    {
        uint64_t word = kvc_mix_64(state_ += 0x9e3779b97f4a7c15u);
        double uniform = static_cast<double>(word >> 11) * 0x1p-53;
        if (cumulative_.empty()) {
            return static_cast<uint32_t>(uniform * key_count);
        }
        auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(), uniform * cumulative_.back());
        return std::min<uint32_t>(static_cast<uint32_t>(at - cumulative_.begin()), key_count - 1);
    }

  private:
    std::vector<double> cumulative_;
    uint64_t state_ = 1;
};

struct device_batch {
    struct kvc_memcachedgpu_get_batch batch;
    std::vector<uint8_t> packets;
    std::vector<struct kvc_memcachedgpu_get_packet> packet;
};

device_batch make_packets(double exponent)
{
    device_batch made = {};
    made.packets.resize(static_cast<size_t>(pool) * slot_bytes);
    made.packet.resize(pool);
    key_choice choice(exponent);
    for (uint32_t i = 0; i < pool; i++) {
        char key[key_bytes];
        key_of(choice.next(), key);
        made.packet[i].offset = i * slot_bytes;
        made.packet[i].bytes =
            kvc_memcachedgpu_packet_write_get(&made.packets[static_cast<size_t>(i) * slot_bytes], &ends,
                                              static_cast<uint16_t>(i), key, key_bytes);
    }
    uint8_t *packets = kvc::device_array<uint8_t>(made.packets.size());
    auto *packet = kvc::device_array<struct kvc_memcachedgpu_get_packet>(pool);
    kvc::check(cudaMemcpy(packets, made.packets.data(), made.packets.size(), cudaMemcpyHostToDevice),
               "packets");
    kvc::check(cudaMemcpy(packet, made.packet.data(), pool * sizeof(*packet), cudaMemcpyHostToDevice),
               "packets");
    made.batch.packets = packets;
    made.batch.packet = packet;
    made.batch.count = pool;
    made.batch.port = port;
    made.batch.responses =
        kvc::device_array<uint8_t>(static_cast<uint64_t>(pool) * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    made.batch.results = kvc::device_array<struct kvc_memcachedgpu_get_result>(pool);
    return made;
}

void free_packets(const device_batch &made)
{
    kvc_cuda_free(const_cast<uint8_t *>(made.batch.packets));
    kvc_cuda_free(const_cast<struct kvc_memcachedgpu_get_packet *>(made.batch.packet));
    kvc_cuda_free(made.batch.responses);
    kvc_cuda_free(made.batch.results);
}

uint32_t sectors(uint32_t bytes)
{
    return (bytes + 31) / 32 * 32;
}

/* Compares all answers with the CPU's and returns the bytes per GET. */
double verify(const struct kvc_index *index, struct kvc_set_assoc *table, const device_batch &made)
{
    std::vector<struct kvc_memcachedgpu_get_result> results(pool), device_results(pool);
    constexpr size_t response_bytes = KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
    std::vector<uint8_t> responses(pool * response_bytes + 16), device_responses(pool * response_bytes);
    uint8_t *aligned = responses.data() + (16 - reinterpret_cast<uintptr_t>(responses.data()) % 16) % 16;
    struct kvc_memcachedgpu_get_batch host = made.batch;
    host.packets = made.packets.data();
    host.packet = made.packet.data();
    host.responses = aligned;
    host.results = results.data();
    struct kvc_index_stats stats = {};
    kvc_memcachedgpu_get(table, &host, &stats);
    kvc_memcachedgpu_get_cuda(index, &made.batch, nullptr);
    kvc::check(cudaDeviceSynchronize(), "GET kernel");
    kvc::check(cudaMemcpy(device_results.data(), made.batch.results, pool * sizeof(results[0]),
                          cudaMemcpyDeviceToHost),
               "results");
    kvc::check(cudaMemcpy(device_responses.data(), made.batch.responses, device_responses.size(),
                          cudaMemcpyDeviceToHost),
               "responses");
    if (std::memcmp(results.data(), device_results.data(), pool * sizeof(results[0])) != 0) {
        kvc::die("results of GPU and CPU differ");
    }
    uint64_t hits = 0, bytes = 0;
    for (uint32_t i = 0; i < pool; i++) {
        if (std::memcmp(aligned + i * response_bytes, &device_responses[i * response_bytes],
                        (results[i].response_bytes + 15u) / 16 * 16) != 0) {
            kvc::die("responses of GPU and CPU differ");
        }
        bool hit = results[i].location != KVC_LOCATION_NONE;
        hits += hit;
        bytes += sizeof(struct kvc_memcachedgpu_get_packet) + sectors(made.packet[i].bytes) +
                 sizeof(struct kvc_memcachedgpu_get_result) + 32 /* control line */ +
                 sectors(results[i].response_bytes) +
                 (hit ? sectors(sizeof(struct kvc_set_assoc_entry) + key_bytes) : 0);
    }
    std::printf("# verified %u answers, %.4f hits, %.3f lines of the table per GET\n", pool,
                static_cast<double>(hits) / pool, static_cast<double>(stats.search_lines) / pool);
    return static_cast<double>(bytes) / pool;
}

/* Returns the part of the pool for launch number `launch` of `count` packets. */
struct kvc_memcachedgpu_get_batch part(const device_batch &made, uint32_t count, uint32_t launch)
{
    struct kvc_memcachedgpu_get_batch batch = made.batch;
    uint64_t first = static_cast<uint64_t>(launch) * count % pool;
    batch.packet += first;
    batch.responses += first * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
    batch.results += first;
    batch.count = count;
    batch.now = launch + 1;
    return batch;
}

void measure(const struct kvc_index *index, const device_batch &made, const char *keys, const char *reads,
             double bytes_per_get)
{
    struct kvc_cuda_stream *stream = kvc_cuda_stream_create();
    cudaStream_t queue = reinterpret_cast<cudaStream_t>(stream);
    cudaEvent_t start, stop;
    kvc::check(cudaEventCreate(&start), "event");
    kvc::check(cudaEventCreate(&stop), "event");
    for (uint32_t count = 512; count <= pool; count *= count < 4096 ? 2 : 4) {
        uint32_t launches = std::max<uint32_t>(8, std::min<uint32_t>(2048, 4 * pool / count));
        std::vector<double> rate_s, wait_s;
        for (int run = 0; run < 9; run++) {
            uint32_t launch = static_cast<uint32_t>(run) * launches;
            float ms = 0;
            cudaEventRecord(start, queue);
            for (uint32_t l = 0; l < launches; l++) {
                struct kvc_memcachedgpu_get_batch batch = part(made, count, launch + l);
                kvc_memcachedgpu_get_cuda(index, &batch, stream);
            }
            cudaEventRecord(stop, queue);
            kvc::check(cudaEventSynchronize(stop), "timed launches");
            cudaEventElapsedTime(&ms, start, stop);
            rate_s.push_back(ms * 1e-3 / launches);
        }
        for (uint32_t l = 0; l < 51; l++) {
            struct kvc_memcachedgpu_get_batch batch = part(made, count, l);
            double from = kvc::now_s();
            kvc_memcachedgpu_get_cuda(index, &batch, stream);
            if (!kvc_cuda_stream_wait(stream)) {
                kvc::die("GET kernel");
            }
            wait_s.push_back(kvc::now_s() - from);
        }
        double seconds = kvc::median(rate_s);
        double gets_per_s = count / seconds;
        std::printf("%-8s %-10s %8u %10.3f %10.2f %10.2f %8.0f %10.0f\n", keys, reads, count,
                    gets_per_s * 1e-9, seconds * 1e6, kvc::median(wait_s) * 1e6, bytes_per_get,
                    gets_per_s * bytes_per_get * 1e-9);
        std::fflush(stdout);
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    kvc_cuda_stream_free(stream);
}

/* Measures SETs that replace the items of keys in the table. */
void measure_sets(struct kvc_index *index, const device_batch &made)
{
    std::vector<uint32_t> offset(pool);
    std::vector<uint8_t> bytes(pool, key_bytes);
    std::vector<struct kvc_set_assoc_item> items(pool);
    for (uint32_t i = 0; i < pool; i++) {
        offset[i] = made.packet[i].offset + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
        items[i] = {i, 2, 0, 0};
    }
    uint32_t *device_offset = kvc::device_array<uint32_t>(pool);
    uint8_t *device_bytes = kvc::device_array<uint8_t>(pool);
    auto *device_items = kvc::device_array<struct kvc_set_assoc_item>(pool);
    kvc::check(cudaMemcpy(device_offset, offset.data(), pool * sizeof(offset[0]), cudaMemcpyHostToDevice),
               "SETs");
    kvc::check(cudaMemcpy(device_bytes, bytes.data(), pool, cudaMemcpyHostToDevice), "SETs");
    kvc::check(cudaMemcpy(device_items, items.data(), pool * sizeof(items[0]), cudaMemcpyHostToDevice),
               "SETs");
    for (uint32_t count : {512u, 16384u, pool}) {
        int runs = count == pool ? 9 : 101;
        double seconds = kvc::time_device_s(runs, [&](int run) {
            uint64_t first = static_cast<uint64_t>(run) * count % pool;
            struct kvc_set_assoc_keys keys = {made.batch.packets, device_offset + first,
                                              device_bytes + first};
            kvc_set_assoc_cuda_insert(index, nullptr, &keys, device_items + first, count, 1, nullptr);
        });
        std::printf("%-8s %-10s %8u %10.3f %10.2f\n", "SET", "exclusive", count, count / seconds * 1e-9,
                    seconds * 1e6);
    }
    kvc_cuda_free(device_offset);
    kvc_cuda_free(device_bytes);
    kvc_cuda_free(device_items);
}

} // namespace

int main()
{
    kvc::print_header("memcachedgpu GET");
    for (bool shared_lock : {false, true}) {
        struct kvc_set_assoc *table = filled_table(shared_lock);
        struct kvc_index *index = kvc_set_assoc_cuda_copy(table);
        if (index == nullptr) {
            kvc::die("no device memory for the table");
        }
        const char *reads = shared_lock ? "shared" : "version";
        for (double exponent : {0.99, 0.0}) {
            device_batch made = make_packets(exponent);
            double bytes_per_get = verify(index, table, made);
            std::printf("%-8s %-10s %8s %10s %10s %10s %8s %10s\n", "keys", "reads", "batch", "G/s",
                        "us/launch", "us waited", "B/GET", "GB/s");
            measure(index, made, exponent > 0 ? "zipf.99" : "uniform", reads, bytes_per_get);
            if (!shared_lock && exponent == 0) {
                measure_sets(index, made); /* last, because it changes the table */
            }
            free_packets(made);
        }
        kvc_index_free(index);
        kvc_set_assoc_free(table);
    }
    return 0;
}
