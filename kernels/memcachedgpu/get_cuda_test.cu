/* The GET kernel and the table on the GPU against their CPU twins. Exit status 0 is success, 77: no device.
 */
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda_bench.cuh"
#include "kernels/memcachedgpu/get_cuda.h"

namespace
{

constexpr uint16_t port = 11211;
constexpr struct kvc_memcachedgpu_packet_ends ends = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, port};

void expect(bool right, const char *what)
{
    if (!right) {
        kvc::die(what);
    }
}

struct random_source {
    uint64_t state;
    uint64_t next()
    {
        return kvc::mix_64(state += 0x9e3779b97f4a7c15u);
    }
    uint32_t below(uint32_t end)
    {
        return static_cast<uint32_t>(next() % end);
    }
};

template <typename T> T *to_device(const std::vector<T> &host)
{
    T *device = kvc::device_array<T>(host.size() + 16); /* keys are read by the word */
    kvc::check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy in");
    return device;
}

template <typename T> std::vector<T> to_host(const T *device, size_t count)
{
    std::vector<T> host(count);
    kvc::check(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
    return host;
}

/* Key number `id`: text whose length and bytes depend on it alone. */
std::string key_of(uint32_t id, uint32_t longest)
{
    std::string key = std::to_string(id) + ":";
    key.resize(std::max<size_t>(std::min<size_t>(key.size(), longest), 1 + id % longest), 'x');
    return key;
}

struct kvc_set_assoc_item item_of(uint32_t id)
{
    struct kvc_set_assoc_item item = {id * 3, id % 10 == 9 ? 1000000 : id % 1000, 0,
                                      static_cast<uint16_t>(id * 131)};
    return item;
}

struct kvc_set_assoc_params params_of(uint32_t sets, uint32_t ways, uint32_t key_bytes_max, bool shared_lock)
{
    struct kvc_set_assoc_params params = {sets, ways, key_bytes_max, shared_lock};
    return params;
}

struct kvc_set_assoc *create_cpu(const struct kvc_set_assoc_params &params)
{
    struct kvc_set_assoc *table = kvc_set_assoc_create(&params);
    expect(table != nullptr, "create on the CPU");
    return table;
}

/* Keys of a batch, on the host and on the device. */
struct key_batch {
    std::vector<uint8_t> text;
    std::vector<uint32_t> offset;
    std::vector<uint8_t> bytes;

    void add(const std::string &key)
    {
        offset.push_back(static_cast<uint32_t>(text.size()));
        bytes.push_back(static_cast<uint8_t>(key.size()));
        text.insert(text.end(), key.begin(), key.end());
    }
    struct kvc_set_assoc_keys host() const
    {
        return {text.data(), offset.data(), bytes.data()};
    }
    struct kvc_set_assoc_keys device() const
    {
        return {to_device(text), to_device(offset), to_device(bytes)};
    }
    uint32_t count() const
    {
        return static_cast<uint32_t>(offset.size());
    }
};

void free_keys(const struct kvc_set_assoc_keys &keys)
{
    kvc_cuda_free(const_cast<uint8_t *>(keys.keys));
    kvc_cuda_free(const_cast<uint32_t *>(keys.offset));
    kvc_cuda_free(const_cast<uint8_t *>(keys.bytes));
}

void expect_same_table(const struct kvc_index *device, const struct kvc_set_assoc *host,
                       const struct kvc_set_assoc_params &params, const char *what)
{
    struct kvc_set_assoc *copy = create_cpu(params);
    expect(kvc_set_assoc_cuda_download(device, copy), "download");
    size_t bytes = static_cast<size_t>(host->table.set_count) * host->table.set_bytes;
    expect(std::memcmp(copy->table.sets, host->table.sets, bytes) == 0, what);
    expect(copy->used == host->used, "elements held");
    kvc_set_assoc_free(copy);
}

/* --- GETs --- */

struct packet_batch {
    std::vector<uint8_t> bytes;
    std::vector<struct kvc_memcachedgpu_get_packet> packet;
};

/* Something that is no correct request, or a different one. */
uint32_t spoil(std::vector<uint8_t> &packet, random_source &random)
{
    uint32_t size = static_cast<uint32_t>(packet.size());
    switch (random.below(8)) {
    case 0:
        return random.below(size);
    case 1:
        packet[random.below(size)] ^= static_cast<uint8_t>(1 + random.below(255));
        return size;
    case 2:
        packet[KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + random.below(4)] = 's';
        return size;
    case 3:
        packet[KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + random.below(size - KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET)] =
            ' ';
        return size;
    case 4:
        packet[KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + random.below(size - KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET)] =
            '\r';
        return size;
    case 5:
        packet[38] = static_cast<uint8_t>(random.below(3));
        packet[39] = static_cast<uint8_t>(random.next());
        return size;
    case 6: /* padding, or a jumbo frame: correct all the same */
        packet.resize(size + random.below(2000), 0xaa);
        return static_cast<uint32_t>(packet.size());
    default:
        for (uint8_t &byte : packet) {
            byte = static_cast<uint8_t>(random.next());
        }
        return size;
    }
}

packet_batch random_packets(uint32_t count, uint32_t ids, uint32_t longest, bool aligned,
                            random_source &random)
{
    packet_batch batch;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = random.below(2 * ids);
        std::string key = key_of(id, longest);
        std::vector<uint8_t> packet(KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX);
        packet.resize(kvc_memcachedgpu_packet_write_get(packet.data(), &ends, static_cast<uint16_t>(id),
                                                        key.data(), static_cast<uint32_t>(key.size())));
        uint32_t bytes = static_cast<uint32_t>(packet.size());
        if (random.below(4) == 0) {
            bytes = spoil(packet, random);
        }
        size_t at = batch.bytes.size() + (aligned ? 0 : random.below(33));
        at = aligned ? (at + 15) / 16 * 16 : at;
        batch.bytes.resize(at + packet.size());
        std::copy(packet.begin(), packet.end(), batch.bytes.begin() + static_cast<long>(at));
        batch.packet.push_back({static_cast<uint32_t>(at), bytes});
    }
    batch.bytes.resize((batch.bytes.size() + 31) / 16 * 16);
    return batch;
}

void expect_same_answers(const std::vector<struct kvc_memcachedgpu_get_result> &host,
                         const std::vector<uint8_t> &host_responses,
                         const std::vector<struct kvc_memcachedgpu_get_result> &device,
                         const std::vector<uint8_t> &device_responses)
{
    for (size_t i = 0; i < host.size(); i++) {
        if (std::memcmp(&host[i], &device[i], sizeof(host[i])) != 0) {
            std::fprintf(stderr, "packet %zu: CPU %s, location %u, response of %u; GPU %s, %u, %u\n", i,
                         kvc_memcachedgpu_packet_status_name(host[i].status), host[i].location,
                         host[i].response_bytes, kvc_memcachedgpu_packet_status_name(device[i].status),
                         device[i].location, device[i].response_bytes);
            kvc::die("results of GPU and CPU differ");
        }
        size_t at = i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
        size_t bytes = (host[i].response_bytes + 15u) / 16 * 16;
        expect(std::equal(host_responses.begin() + static_cast<long>(at),
                          host_responses.begin() + static_cast<long>(at + bytes),
                          device_responses.begin() + static_cast<long>(at)),
               "responses of GPU and CPU differ");
        for (size_t b = at + bytes;
             host[i].response_bytes != 0 && b < at + KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES; b++) {
            expect(device_responses[b] == 0xee, "bytes behind a response were written");
        }
    }
}

void test_gets(uint32_t sets, uint32_t ways, uint32_t longest, bool shared_lock)
{
    random_source random = {sets * 1000ull + longest};
    struct kvc_set_assoc_params params = params_of(sets, ways, longest, shared_lock);
    struct kvc_set_assoc *table = create_cpu(params);
    uint32_t ids = sets * ways;
    struct kvc_index_stats stats = {};
    key_batch keys;
    std::vector<struct kvc_set_assoc_item> items;
    for (uint32_t id = 0; id < ids; id++) {
        keys.add(key_of(id, longest));
        items.push_back(item_of(id));
    }
    struct kvc_set_assoc_keys host_keys = keys.host();
    kvc_set_assoc_insert(table, &host_keys, items.data(), ids, 1, nullptr, &stats);
    expect(stats.evicted > 0, "full sets");
    struct kvc_index *device = kvc_set_assoc_cuda_copy(table);
    expect(device != nullptr, "copy of a table");
    expect_same_table(device, table, params, "the copy of a table differs");
    uint64_t hits = 0, spoilt = 0, total = 0;
    uint32_t now = ids + 1;
    for (uint32_t count : {0u, 1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 511u, 512u, 513u, 4097u}) {
        packet_batch batch = random_packets(count, ids, longest, count % 2 == 0, random);
        std::vector<struct kvc_memcachedgpu_get_result> results(count);
        std::vector<uint8_t> responses(
            count * static_cast<size_t>(KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES) + 16, 0xee);
        struct kvc_memcachedgpu_get_batch host = {batch.bytes.data(), batch.packet.data(), count, now++, port,
                                                  responses.data(),   results.data()};
        struct kvc_memcachedgpu_get_batch on_device = host;
        std::vector<uint8_t> blank(responses.size(), 0xee);
        on_device.packets = to_device(batch.bytes);
        on_device.packet = to_device(batch.packet);
        on_device.responses = to_device(blank);
        on_device.results = to_device(results);
        kvc_memcachedgpu_get(table, &host, &stats);
        kvc_memcachedgpu_get_cuda(device, &on_device, nullptr);
        expect(kvc_cuda_stream_wait(nullptr), "GET kernel");
        expect_same_answers(results, responses, to_host(on_device.results, count),
                            to_host(on_device.responses, responses.size()));
        expect(to_host(on_device.responses, responses.size()).back() == 0xee, "written behind the responses");
        for (const struct kvc_memcachedgpu_get_result &result : results) {
            hits += result.location != KVC_LOCATION_NONE;
            spoilt += result.key_bytes == 0;
            total++;
        }
        kvc_cuda_free(const_cast<uint8_t *>(on_device.packets));
        kvc_cuda_free(const_cast<struct kvc_memcachedgpu_get_packet *>(on_device.packet));
        kvc_cuda_free(on_device.responses);
        kvc_cuda_free(on_device.results);
    }
    expect(hits > total / 5 && spoilt > total / 10, "batches of hits and of defects");
    expect_same_table(device, table, params, "timestamps of GPU and CPU differ");
    kvc_index_free(device);
    kvc_set_assoc_free(table);
}

/* --- SETs and erases --- */

bool same_item(const struct kvc_set_assoc_item &a, const struct kvc_set_assoc_item &b)
{
    return a.location == b.location &&
           (a.location == KVC_LOCATION_NONE ||
            (a.value_bytes == b.value_bytes && a.flags == b.flags && a.stamp == b.stamp));
}

/* Batches whose keys are in different sets leave the same bytes in the table as on the CPU. */
void test_changes(uint32_t sets, uint32_t ways, uint32_t longest)
{
    random_source random = {sets * 77ull + ways};
    struct kvc_set_assoc_params params = params_of(sets, ways, longest, random.below(2) == 0);
    struct kvc_set_assoc *host = create_cpu(params);
    struct kvc_index *device = kvc_set_assoc_cuda_create(&params);
    expect(device != nullptr, "create on the GPU");
    struct kvc_index_stats stats = {};
    uint32_t now = 0xfffff000u; /* wraps on the way */
    for (uint32_t round = 0; round < 150; round++) {
        key_batch keys;
        std::vector<struct kvc_set_assoc_item> items;
        std::vector<uint32_t> location;
        std::set<uint32_t> taken;
        for (uint32_t i = 0; i < sets; i++) {
            uint32_t id = random.below(sets * ways * 2);
            std::string key = random.below(50) == 0 ? std::string(longest < 250 ? longest + 1 : 0, 'y')
                                                    : key_of(id, longest);
            struct kvc_set_assoc_place place =
                kvc_set_assoc_place(&host->table, reinterpret_cast<const uint8_t *>(key.data()),
                                    static_cast<uint32_t>(key.size()));
            if (taken.insert(place.set).second) {
                keys.add(key);
                items.push_back(item_of(id + round % 2));
                items.back().stamp = 0;
                location.push_back(random.below(2) == 0 ? KVC_LOCATION_ANY : item_of(id).location);
            }
        }
        uint32_t count = keys.count();
        std::vector<struct kvc_set_assoc_item> host_out(count), blank(count);
        struct kvc_set_assoc_keys host_keys = keys.host(), device_keys = keys.device();
        struct kvc_set_assoc_item *device_items = to_device(items), *device_out = to_device(blank);
        uint32_t *device_location = to_device(location);
        switch (round % 5) {
        case 3:
            kvc_set_assoc_search(host, &host_keys, count, now, host_out.data(), &stats);
            kvc_set_assoc_cuda_search(device, nullptr, &device_keys, count, now, device_out);
            break;
        case 4:
            kvc_set_assoc_erase(host, &host_keys, location.data(), count, host_out.data(), &stats);
            kvc_set_assoc_cuda_erase(device, nullptr, &device_keys, device_location, count, device_out);
            break;
        default:
            kvc_set_assoc_insert(host, &host_keys, items.data(), count, now, host_out.data(), &stats);
            kvc_set_assoc_cuda_insert(device, nullptr, &device_keys, device_items, count, now, device_out);
        }
        expect(kvc_cuda_stream_wait(nullptr), "SET kernel");
        std::vector<struct kvc_set_assoc_item> out = to_host(device_out, count);
        for (uint32_t i = 0; i < count; i++) {
            expect(same_item(host_out[i], out[i]), "items of GPU and CPU differ");
        }
        now += count;
        free_keys(device_keys);
        kvc_cuda_free(device_items);
        kvc_cuda_free(device_out);
        kvc_cuda_free(device_location);
    }
    expect(stats.evicted > 0 && stats.replaced > 0 && stats.erased > 0 && stats.dropped > 0 &&
               stats.search_hits > 0,
           "changes of every kind");
    expect_same_table(device, host, params, "tables of GPU and CPU differ");
    kvc_index_free(device);
    kvc_set_assoc_free(host);
}

/* As an index, with arrays of the host and of the device; sets overflow within a batch. */
void test_index(bool device_arrays)
{
    random_source random = {5};
    struct kvc_index *index = kvc_set_assoc_cuda_kind.create(1 << 20, 0);
    expect(index != nullptr, "create an index");
    uint32_t count = static_cast<uint32_t>(kvc_index_capacity(index));
    std::vector<uint64_t> hash(count);
    std::vector<uint32_t> location(count), out(count), found(count);
    for (uint32_t i = 0; i < count; i++) {
        hash[i] = random.next();
        location[i] = i;
    }
    uint64_t *hashes = device_arrays ? to_device(hash) : hash.data();
    uint32_t *locations = device_arrays ? to_device(location) : location.data();
    uint32_t *outs = device_arrays ? to_device(out) : out.data();
    struct kvc_index_stats stats = {};
    kvc_index_insert(index, hashes, locations, count, outs, &stats);
    if (device_arrays) {
        out = to_host(outs, count);
    }
    std::vector<bool> gone(count);
    uint64_t evicted = 0;
    for (uint32_t left : out) {
        if (left != KVC_LOCATION_NONE) {
            expect(left < count && !gone[left], "a location left twice");
            gone[left] = true;
            evicted++;
        }
    }
    expect(stats.inserts == count && stats.evicted == evicted && evicted > count / 20,
           "evictions are counted");
    expect(kvc_index_used(index) == count - evicted, "elements held");

    /* The same table on the CPU: same answers, same lines. */
    struct kvc_set_assoc *host =
        reinterpret_cast<struct kvc_set_assoc *>(kvc_set_assoc_kind.create(1 << 20, 0));
    expect(host != nullptr && kvc_set_assoc_cuda_download(index, host), "download");
    struct kvc_index_stats device_stats = {}, host_stats = {};
    std::vector<uint32_t> host_found(count);
    kvc_index_search(index, hashes, count, outs, &device_stats);
    found = device_arrays ? to_host(outs, count) : out;
    kvc_index_search(&host->index, hash.data(), count, host_found.data(), &host_stats);
    for (uint32_t i = 0; i < count; i++) {
        expect(found[i] == (gone[i] ? KVC_LOCATION_NONE : i) && host_found[i] == found[i], "search");
    }
    expect(std::memcmp(&device_stats, &host_stats, sizeof(host_stats)) == 0, "search counts");

    /* Equal keys in one batch: one wins, the others are reported. */
    std::vector<uint64_t> same(1000, hash[0]);
    std::vector<uint32_t> same_out(1000);
    std::vector<uint32_t> same_location(1000);
    for (uint32_t i = 0; i < 1000; i++) {
        same_location[i] = count + i;
    }
    kvc_index_insert(index, same.data(), same_location.data(), 1000, same_out.data(), nullptr);
    uint32_t winner;
    kvc_index_search(index, hash.data(), 1, &winner, nullptr);
    std::set<uint32_t> seen(same_out.begin(), same_out.end());
    expect(winner >= count && winner < count + 1000 && seen.size() == 1000 && seen.count(winner) == 0,
           "equal keys in one batch");

    uint64_t used = kvc_index_used(index);
    kvc_index_erase(index, hashes, locations, count, outs, &stats);
    expect(stats.erased > 0 && kvc_index_used(index) == used - stats.erased, "erase");
    std::vector<uint32_t> any(count, KVC_LOCATION_ANY);
    kvc_index_erase(index, hash.data(), any.data(), count, nullptr, &stats);
    expect(kvc_index_used(index) == 0, "an empty table");
    if (device_arrays) {
        kvc_cuda_free(hashes);
        kvc_cuda_free(locations);
        kvc_cuda_free(outs);
    }
    kvc_set_assoc_free(host);
    kvc_index_free(index);
}

void test_bad_params()
{
    for (struct kvc_set_assoc_params bad : {params_of(0, 16, 8, false), params_of(4, 3, 8, false),
                                            params_of(4, 16, 0, false), params_of(4, 16, 251, false)}) {
        errno = 0;
        expect(kvc_set_assoc_cuda_create(&bad) == nullptr && errno == EINVAL, "bad params");
    }
}

/* --- GETs while SETs go on --- */

/* Every item of a key tells of which key it is, and its parts belong together. */
struct kvc_set_assoc_item generation_of(uint32_t id, uint32_t generation)
{
    struct kvc_set_assoc_item item = {};
    item.location = id << 16 | generation;
    item.value_bytes = kvc::mix_32(item.location) % 1000;
    item.flags = static_cast<uint16_t>(kvc::mix_32(item.location) >> 16);
    return item;
}

void test_concurrent(uint32_t sets, uint32_t ids, bool shared_lock)
{
    constexpr uint32_t batch_count = 2048, launches = 60;
    random_source random = {ids};
    struct kvc_set_assoc_params params = params_of(sets, 16, 60, shared_lock);
    struct kvc_index *device = kvc_set_assoc_cuda_create(&params);
    expect(device != nullptr, "create on the GPU");
    struct kvc_cuda_stream *gets = kvc_cuda_stream_create(), *changes = kvc_cuda_stream_create();
    expect(gets != nullptr && changes != nullptr, "streams");

    packet_batch packets;
    std::vector<uint32_t> packet_id;
    for (uint32_t i = 0; i < batch_count; i++) {
        uint32_t id = random.below(ids);
        std::string key = key_of(id, 60);
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        uint32_t bytes = kvc_memcachedgpu_packet_write_get(packet, &ends, 1, key.data(),
                                                           static_cast<uint32_t>(key.size()));
        packets.packet.push_back({static_cast<uint32_t>(packets.bytes.size()), bytes});
        packets.bytes.insert(packets.bytes.end(), packet, packet + (bytes + 15) / 16 * 16);
        packet_id.push_back(id);
    }
    struct kvc_memcachedgpu_get_batch batch = {};
    batch.packets = to_device(packets.bytes);
    batch.packet = to_device(packets.packet);
    batch.count = batch_count;
    batch.port = port;
    uint8_t *responses = kvc::device_array<uint8_t>(static_cast<uint64_t>(launches) * batch_count *
                                                    KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    auto *results =
        kvc::device_array<struct kvc_memcachedgpu_get_result>(static_cast<uint64_t>(launches) * batch_count);

    std::vector<struct kvc_set_assoc_keys> change_keys;
    std::vector<struct kvc_set_assoc_item *> change_items;
    for (uint32_t l = 0; l < launches; l++) {
        key_batch keys;
        std::vector<struct kvc_set_assoc_item> items;
        for (uint32_t i = 0; i < batch_count; i++) {
            uint32_t id = random.below(ids);
            keys.add(key_of(id, 60));
            items.push_back(generation_of(id, random.below(0xffff)));
        }
        change_keys.push_back(keys.device());
        change_items.push_back(to_device(items));
    }
    /* So that GETs that overtake all SETs find something, too. */
    kvc_set_assoc_cuda_insert(device, changes, &change_keys[0], change_items[0], batch_count, 0, nullptr);
    kvc::check(cudaDeviceSynchronize(), "preparation");
    for (uint32_t l = 0; l < launches; l++) {
        kvc_set_assoc_cuda_insert(device, changes, &change_keys[l], change_items[l], batch_count,
                                  l * batch_count, nullptr);
        if (l % 4 == 3) { /* a few, so that GETs find something whatever they overtake */
            kvc_set_assoc_cuda_erase(device, changes, &change_keys[l], nullptr, ids / 8, nullptr);
        }
        batch.now = l * batch_count;
        batch.results = results + static_cast<uint64_t>(l) * batch_count;
        batch.responses =
            responses + static_cast<uint64_t>(l) * batch_count * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
        kvc_memcachedgpu_get_cuda(device, &batch, gets);
    }
    expect(kvc_cuda_stream_wait(gets) && kvc_cuda_stream_wait(changes), "concurrent kernels");
    uint64_t hits = 0;
    std::vector<struct kvc_memcachedgpu_get_result> got =
        to_host(results, static_cast<size_t>(launches) * batch_count);
    std::vector<uint8_t> heads = to_host(responses, got.size() * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    for (size_t i = 0; i < got.size(); i++) {
        uint32_t id = packet_id[i % batch_count];
        struct kvc_memcachedgpu_packet_response response;
        expect(got[i].status == KVC_MEMCACHEDGPU_PACKET_OK &&
                   kvc_memcachedgpu_packet_read_response(heads.data() +
                                                             i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES,
                                                         got[i].response_bytes, &response),
               "response while SETs go on");
        expect(response.found == (got[i].location != KVC_LOCATION_NONE), "hit or miss while SETs go on");
        if (response.found) {
            struct kvc_set_assoc_item item = generation_of(id, got[i].location & 0xffff);
            expect(item.location == got[i].location, "another key's item while SETs go on");
            expect(item.value_bytes == got[i].value_bytes && item.value_bytes == response.value_bytes &&
                       item.flags == response.flags,
                   "parts of two items while SETs go on");
            hits++;
        }
    }
    expect(hits > got.size() / 20, "hits while SETs go on");
    struct kvc_set_assoc *host = create_cpu(params);
    expect(kvc_set_assoc_cuda_download(device, host), "download");
    uint64_t valid = 0;
    for (uint32_t s = 0; s < sets; s++) {
        const struct kvc_set_assoc_control *control = kvc_set_assoc_control(&host->table, s);
        expect((control->lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) == 0, "a lock is still held");
        valid += static_cast<uint64_t>(__builtin_popcount(control->valid));
    }
    expect(valid == host->used, "elements held");
    for (uint32_t l = 0; l < launches; l++) {
        free_keys(change_keys[l]);
        kvc_cuda_free(change_items[l]);
    }
    kvc_cuda_free(const_cast<uint8_t *>(batch.packets));
    kvc_cuda_free(const_cast<struct kvc_memcachedgpu_get_packet *>(batch.packet));
    kvc_cuda_free(responses);
    kvc_cuda_free(results);
    kvc_cuda_stream_free(gets);
    kvc_cuda_stream_free(changes);
    kvc_set_assoc_free(host);
    kvc_index_free(device);
}

} // namespace

int main()
{
    kvc::need_device();
    test_bad_params();
    for (bool shared_lock : {false, true}) {
        test_gets(300, 16, 250, shared_lock);
        test_gets(100, 16, 16, shared_lock);
        test_gets(400, 4, 48, shared_lock);
    }
    test_changes(40, 16, 8);
    test_changes(60, 16, 250);
    test_changes(200, 2, 49);
    test_index(false);
    test_index(true);
    for (bool shared_lock : {false, true}) {
        test_concurrent(2, 60, shared_lock);   /* evictions all the time */
        test_concurrent(64, 600, shared_lock); /* hardly any */
    }
    std::printf("MemcachedGPU on the GPU: as on the CPU\n");
    return 0;
}
