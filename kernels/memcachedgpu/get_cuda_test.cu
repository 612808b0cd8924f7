/* Tests the GET kernel against its CPU twin, and while SETs change the table. Exit status 0 means success, 77
 * means that there is no device. */
#include "kernels/memcachedgpu/get_cuda.h"
#include "kernels/memcachedgpu/set_assoc_cuda_fixture.cuh"

using namespace fixture;

namespace
{

constexpr uint16_t port = 11211;
constexpr struct kvc_memcachedgpu_packet_ends ends = {
    {2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, 0x0a000001, 0x0a000002, 40000, port};

struct packet_batch {
    std::vector<uint8_t> bytes;
    std::vector<struct kvc_memcachedgpu_get_packet> packet;
};

/* Turns a packet into an incorrect request or a different one; returns its length. */
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
    case 6: /* padding, or a jumbo frame, leaves the request correct */
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
    kvc_table_insert(&table->base, &host_keys, items.data(), ids, 1, nullptr, &stats);
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

/* --- GETs while SETs run --- */

/* Returns an item that names its key and whose parts belong together. */
struct kvc_set_assoc_item generation_of(uint32_t id, uint32_t generation)
{
    struct kvc_set_assoc_item item = {};
    item.location = id << 16 | generation;
    item.value_bytes = kvc::mix_32(item.location) % 1000;
    item.flags = static_cast<uint16_t>(kvc::mix_32(item.location) >> 16);
    return item;
}

constexpr uint32_t concurrent_count = 2048, concurrent_launches = 60;

/* A table, batches of GETs that read it and batches of changes that run meanwhile. */
struct concurrent_run {
    struct kvc_index *device;
    struct kvc_cuda_stream *gets, *changes;
    std::vector<uint32_t> packet_id; /* the key that each packet asks for */
    struct kvc_memcachedgpu_get_batch batch;
    uint8_t *responses;
    struct kvc_memcachedgpu_get_result *results;
    std::vector<struct kvc_set_assoc_keys> change_keys;
    std::vector<struct kvc_set_assoc_item *> change_items;
};

void make_concurrent_gets(concurrent_run &run, uint32_t ids, random_source &random)
{
    packet_batch packets;
    for (uint32_t i = 0; i < concurrent_count; i++) {
        uint32_t id = random.below(ids);
        std::string key = key_of(id, 60);
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        uint32_t bytes = kvc_memcachedgpu_packet_write_get(packet, &ends, 1, key.data(),
                                                           static_cast<uint32_t>(key.size()));
        packets.packet.push_back({static_cast<uint32_t>(packets.bytes.size()), bytes});
        packets.bytes.insert(packets.bytes.end(), packet, packet + (bytes + 15) / 16 * 16);
        run.packet_id.push_back(id);
    }
    run.batch = {};
    run.batch.packets = to_device(packets.bytes);
    run.batch.packet = to_device(packets.packet);
    run.batch.count = concurrent_count;
    run.batch.port = port;
    constexpr uint64_t total = static_cast<uint64_t>(concurrent_launches) * concurrent_count;
    run.responses = kvc::device_array<uint8_t>(total * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    run.results = kvc::device_array<struct kvc_memcachedgpu_get_result>(total);
}

void make_concurrent_changes(concurrent_run &run, uint32_t ids, random_source &random)
{
    for (uint32_t l = 0; l < concurrent_launches; l++) {
        key_batch keys;
        std::vector<struct kvc_set_assoc_item> items;
        for (uint32_t i = 0; i < concurrent_count; i++) {
            uint32_t id = random.below(ids);
            keys.add(key_of(id, 60));
            items.push_back(generation_of(id, random.below(0xffff)));
        }
        run.change_keys.push_back(keys.device());
        run.change_items.push_back(to_device(items));
    }
}

void launch_concurrent(concurrent_run &run, uint32_t ids)
{
    /* GETs that overtake all SETs must find something, too. */
    kvc_set_assoc_cuda_insert(run.device, run.changes, &run.change_keys[0], run.change_items[0],
                              concurrent_count, 0, nullptr);
    kvc::check(cudaDeviceSynchronize(), "preparation");
    for (uint32_t l = 0; l < concurrent_launches; l++) {
        kvc_set_assoc_cuda_insert(run.device, run.changes, &run.change_keys[l], run.change_items[l],
                                  concurrent_count, l * concurrent_count, nullptr);
        if (l % 4 == 3) { /* only a few, so that GETs find something whatever they overtake */
            kvc_set_assoc_cuda_erase(run.device, run.changes, &run.change_keys[l], nullptr, ids / 8, nullptr);
        }
        uint64_t first = static_cast<uint64_t>(l) * concurrent_count;
        struct kvc_memcachedgpu_get_batch batch = run.batch;
        batch.now = l * concurrent_count;
        batch.results = run.results + first;
        batch.responses = run.responses + first * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES;
        kvc_memcachedgpu_get_cuda(run.device, &batch, run.gets);
    }
    expect(kvc_cuda_stream_wait(run.gets) && kvc_cuda_stream_wait(run.changes), "concurrent kernels");
}

/* Every response must be whole, and every hit must have one generation of its key's item. */
void check_concurrent_answers(const concurrent_run &run)
{
    uint64_t hits = 0;
    std::vector<struct kvc_memcachedgpu_get_result> got =
        to_host(run.results, static_cast<size_t>(concurrent_launches) * concurrent_count);
    std::vector<uint8_t> heads = to_host(run.responses, got.size() * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    for (size_t i = 0; i < got.size(); i++) {
        uint32_t id = run.packet_id[i % concurrent_count];
        struct kvc_memcachedgpu_packet_response response;
        expect(got[i].status == KVC_MEMCACHEDGPU_PACKET_OK &&
                   kvc_memcachedgpu_packet_read_response(heads.data() +
                                                             i * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES,
                                                         got[i].response_bytes, &response),
               "a response while SETs run");
        expect(response.found == (got[i].location != KVC_LOCATION_NONE), "hit or miss while SETs run");
        if (response.found) {
            struct kvc_set_assoc_item item = generation_of(id, got[i].location & 0xffff);
            expect(item.location == got[i].location, "another key's item while SETs run");
            expect(item.value_bytes == got[i].value_bytes && item.value_bytes == response.value_bytes &&
                       item.flags == response.flags,
                   "parts of two items while SETs run");
            hits++;
        }
    }
    expect(hits > got.size() / 20, "hits while SETs run");
}

/* When all work has ended, no lock is held and the valid flags agree with the count of entries. */
void check_table_at_rest(const struct kvc_index *device, const struct kvc_set_assoc_params &params)
{
    struct kvc_set_assoc *host = create_cpu(params);
    expect(kvc_set_assoc_cuda_download(device, host), "download");
    uint64_t valid = 0;
    for (uint32_t s = 0; s < params.sets; s++) {
        const struct kvc_set_assoc_control *control = kvc_set_assoc_control(&host->table, s);
        expect((control->lock & (KVC_SET_ASSOC_WRITER | KVC_SET_ASSOC_READERS)) == 0, "a lock is still held");
        valid += static_cast<uint64_t>(__builtin_popcount(control->valid));
    }
    expect(valid == host->used, "number of entries in use");
    kvc_set_assoc_free(host);
}

void test_concurrent(uint32_t sets, uint32_t ids, bool shared_lock)
{
    random_source random = {ids};
    struct kvc_set_assoc_params params = params_of(sets, 16, 60, shared_lock);
    concurrent_run run = {};
    run.device = kvc_set_assoc_cuda_create(&params);
    expect(run.device != nullptr, "create on the GPU");
    run.gets = kvc_cuda_stream_create();
    run.changes = kvc_cuda_stream_create();
    expect(run.gets != nullptr && run.changes != nullptr, "streams");
    make_concurrent_gets(run, ids, random);
    make_concurrent_changes(run, ids, random);
    launch_concurrent(run, ids);
    check_concurrent_answers(run);
    check_table_at_rest(run.device, params);
    for (uint32_t l = 0; l < concurrent_launches; l++) {
        free_keys(run.change_keys[l]);
        kvc_cuda_free(run.change_items[l]);
    }
    kvc_cuda_free(const_cast<uint8_t *>(run.batch.packets));
    kvc_cuda_free(const_cast<struct kvc_memcachedgpu_get_packet *>(run.batch.packet));
    kvc_cuda_free(run.responses);
    kvc_cuda_free(run.results);
    kvc_cuda_stream_free(run.gets);
    kvc_cuda_stream_free(run.changes);
    kvc_index_free(run.device);
}

/* The timed kernels give the answers of the others, and every block and warp has a clock. */
void test_clocks()
{
    constexpr uint32_t count = 100, slot = 128, blocks = 4;
    struct kvc_set_assoc_params params = params_of(64, 16, 32, false);
    struct kvc_index *index = kvc_set_assoc_cuda_create(&params);
    expect(index != nullptr, "create");
    key_batch keys;
    std::vector<struct kvc_set_assoc_item> items;
    std::vector<uint8_t> packets(count * slot);
    std::vector<struct kvc_memcachedgpu_get_packet> packet(count);
    for (uint32_t i = 0; i < count; i++) {
        std::string key = key_of(i, 32);
        keys.add(key);
        items.push_back(item_of(i));
        packet[i] = {i * slot, kvc_memcachedgpu_packet_write_get(&packets[i * slot], &ends, 0, key.data(),
                                                                 static_cast<uint32_t>(key.size()))};
    }
    struct kvc_set_assoc_keys device_keys = keys.device();
    struct kvc_set_assoc_item *device_items = to_device(items);
    uint64_t *cycles = to_device(std::vector<uint64_t>(count, 0));
    kvc_set_assoc_cuda_insert_timed(index, nullptr, &device_keys, device_items, count, 1, nullptr, cycles);
    struct kvc_memcachedgpu_get_clock *clocks =
        to_device(std::vector<struct kvc_memcachedgpu_get_clock>(blocks));
    struct kvc_memcachedgpu_get_batch batch = {};
    batch.packets = to_device(packets);
    batch.packet = to_device(packet);
    batch.count = count;
    batch.port = port;
    batch.responses = kvc::device_array<uint8_t>(count * KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
    batch.results = kvc::device_array<struct kvc_memcachedgpu_get_result>(count);
    kvc_memcachedgpu_get_cuda(index, &batch, nullptr);
    std::vector<struct kvc_memcachedgpu_get_result> plain = to_host(batch.results, count);
    kvc::check(cudaMemset(batch.results, 0, count * sizeof(plain[0])), "clear");
    kvc_memcachedgpu_get_cuda_timed(index, &batch, clocks, nullptr);
    std::vector<struct kvc_memcachedgpu_get_result> timed = to_host(batch.results, count);
    expect(std::memcmp(plain.data(), timed.data(), count * sizeof(plain[0])) == 0,
           "answers of the timed kernel");
    for (const struct kvc_memcachedgpu_get_clock &clock : to_host(clocks, blocks)) {
        expect(clock.cycles > 500 && clock.cycles < 1000000000 && clock.end_ns > clock.begin_ns,
               "a block's clock");
    }
    for (uint64_t took : to_host(cycles, count)) {
        expect(took > 100 && took < 1000000000, "cycles of a SET");
    }
    free_keys(device_keys);
    for (void *memory :
         {static_cast<void *>(device_items), static_cast<void *>(cycles), static_cast<void *>(clocks),
          static_cast<void *>(batch.responses), static_cast<void *>(batch.results),
          const_cast<void *>(static_cast<const void *>(batch.packets)),
          const_cast<void *>(static_cast<const void *>(batch.packet))}) {
        kvc_cuda_free(memory);
    }
    kvc_index_free(index);
}

} // namespace

int main()
{
    kvc::need_device();
    for (bool shared_lock : {false, true}) {
        test_gets(300, 16, 250, shared_lock);
        test_gets(100, 16, 16, shared_lock);
        test_gets(400, 4, 48, shared_lock);
    }
    for (bool shared_lock : {false, true}) {
        test_concurrent(2, 60, shared_lock);   /* evictions all the time */
        test_concurrent(64, 600, shared_lock); /* hardly any evictions */
    }
    test_clocks();
    std::printf("GET kernel: the same as on the CPU\n");
    return 0;
}
