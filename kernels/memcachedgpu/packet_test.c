#include "kernels/memcachedgpu/packet.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 11211 };

static const struct kvc_memcachedgpu_packet_ends ends = {
    {1, 2, 3, 4, 5, 6}, {17, 18, 19, 20, 21, 22}, 0xc0a80101, 0xc0a801fe, 50123, PORT};

static uint32_t write_get(uint8_t *packet, const char *key)
{
    return kvc_memcachedgpu_packet_write_get(packet, &ends, 0xabcd, key, (uint32_t)strlen(key));
}

/* Sets the lengths and the checksum for a packet of this many bytes. */
static void set_lengths(uint8_t *packet, uint32_t bytes)
{
    packet[16] = (uint8_t)((bytes - 14) >> 8);
    packet[17] = (uint8_t)(bytes - 14);
    packet[38] = (uint8_t)((bytes - 34) >> 8);
    packet[39] = (uint8_t)(bytes - 34);
    packet[24] = packet[25] = 0;
    uint32_t checksum = ~kvc_memcachedgpu_packet_ip_sum(packet + 14) & 0xffff;
    packet[24] = (uint8_t)checksum;
    packet[25] = (uint8_t)(checksum >> 8);
}

static enum kvc_memcachedgpu_packet_status parse(const uint8_t *packet, uint32_t bytes, uint32_t *key_bytes)
{
    /* The copy is exactly this long, so that a sanitizer sees reads behind it. */
    uint8_t *copy = malloc(bytes + 1);
    memcpy(copy + 1, packet, bytes);
    enum kvc_memcachedgpu_packet_status status =
        kvc_memcachedgpu_packet_parse(copy + 1, bytes, PORT, key_bytes);
    uint32_t text_key_bytes;
    enum kvc_memcachedgpu_packet_status both =
        kvc_memcachedgpu_packet_both(kvc_memcachedgpu_packet_check(copy + 1, bytes, PORT),
                                     kvc_memcachedgpu_packet_get(copy + 1, bytes, &text_key_bytes));
    cr_assert_eq(both, status, "two threads find %d, one %d", both, status);
    cr_assert(status != KVC_MEMCACHEDGPU_PACKET_OK || text_key_bytes == *key_bytes);
    free(copy);
    return status;
}

/* The Ethernet, IP and UDP headers and memcached's own header are compared byte by byte; the IP checksum was
 * computed by hand. */
Test(packet, request_is_as_the_protocols_say)
{
    static const uint8_t expected[] = {
        17,   18,   19,   20,   21,   22,   1,    2,    3,    4,    5,    6,    0x08, 0x00, /* Ethernet */
        0x45, 0x00, 0x00, 0x2d, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb6, 0x70,             /* IP */
        192,  168,  1,    1,    192,  168,  1,    254,                                      /* addresses */
        0xc3, 0xcb, 0x2b, 0xcb, 0x00, 0x19, 0x00, 0x00,                                     /* UDP */
        0xab, 0xcd, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,                                     /* frame header */
        'g',  'e',  't',  ' ',  'k',  'e',  'y',  '\r', '\n',
    };
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    uint32_t bytes = write_get(packet, "key");
    cr_expect_eq(bytes, sizeof(expected));
    cr_expect_arr_eq(packet, expected, sizeof(expected));
}

Test(packet, writes_no_request_without_a_valid_key_length)
{
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1];
    memset(key, 'k', sizeof(key));
    cr_expect_eq(kvc_memcachedgpu_packet_write_get(packet, &ends, 0, key, 0), 0);
    cr_expect_eq(kvc_memcachedgpu_packet_write_get(packet, &ends, 0, key, 251), 0);
    cr_expect_eq(kvc_memcachedgpu_packet_write_get(packet, &ends, 0, key, 250),
                 KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX);
}

Test(packet, takes_keys_of_every_length)
{
    for (uint32_t length = 1; length <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX; length++) {
        char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
        for (uint32_t i = 0; i < length; i++) {
            /* bytes above the space, up to 254, are not special */
            key[i] = (char)('!' + (i * 7 + length) % 222);
        }
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX + 40];
        memset(packet, 0xff, sizeof(packet));
        uint32_t bytes = kvc_memcachedgpu_packet_write_get(packet, &ends, 1, key, length), key_bytes;
        cr_assert_eq(parse(packet, bytes, &key_bytes), KVC_MEMCACHEDGPU_PACKET_OK);
        cr_assert_eq(key_bytes, length);
        /* Padding behind the frame is not part of it. */
        cr_assert_eq(parse(packet, bytes + 40, &key_bytes), KVC_MEMCACHEDGPU_PACKET_OK);
        cr_assert_eq(key_bytes, length);
    }
}

/* Each case changes one field of a correct packet; lengths and checksum are corrected unless they are the
 * change. */
Test(packet, gives_each_defect_its_status)
{
    static const struct {
        uint32_t at;
        uint8_t value;
        bool fix_checksum;
        enum kvc_memcachedgpu_packet_status status;
    } cases[] = {
        {12, 0x86, false, KVC_MEMCACHEDGPU_PACKET_NOT_IPV4},
        {13, 0x06, false, KVC_MEMCACHEDGPU_PACKET_NOT_IPV4},
        {14, 0x65, false, KVC_MEMCACHEDGPU_PACKET_IP_HEADER},
        {14, 0x46, true, KVC_MEMCACHEDGPU_PACKET_IP_HEADER},
        {20, 0x20, true, KVC_MEMCACHEDGPU_PACKET_FRAGMENT},
        {21, 0x01, true, KVC_MEMCACHEDGPU_PACKET_FRAGMENT},
        {23, 6, true, KVC_MEMCACHEDGPU_PACKET_NOT_UDP},
        {25, 0x00, false, KVC_MEMCACHEDGPU_PACKET_CHECKSUM},
        {22, 63, false, KVC_MEMCACHEDGPU_PACKET_CHECKSUM},
        {36, 0x00, true, KVC_MEMCACHEDGPU_PACKET_PORT},
        {37, 0x00, true, KVC_MEMCACHEDGPU_PACKET_PORT},
        {45, 1, true, KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM},
        {47, 2, true, KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM},
        {47, 0, true, KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM},
        {50, 'G', true, KVC_MEMCACHEDGPU_PACKET_NOT_GET},
        {53, 's', true, KVC_MEMCACHEDGPU_PACKET_NOT_GET},
        {54, ' ', true, KVC_MEMCACHEDGPU_PACKET_MALFORMED},
        {55, ' ', true, KVC_MEMCACHEDGPU_PACKET_MULTI_KEY},
        {60, '\0', true, KVC_MEMCACHEDGPU_PACKET_MALFORMED},
        {60, '\n', true, KVC_MEMCACHEDGPU_PACKET_MALFORMED},
        {60, '\t', true, KVC_MEMCACHEDGPU_PACKET_MALFORMED},
        {60, '\r', true, KVC_MEMCACHEDGPU_PACKET_MALFORMED},
        {20, 0x00, true, KVC_MEMCACHEDGPU_PACKET_OK},
        {19, 77, true, KVC_MEMCACHEDGPU_PACKET_OK},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        uint32_t bytes = write_get(packet, "some_key_here"), key_bytes;
        packet[cases[i].at] = cases[i].value;
        if (cases[i].fix_checksum) {
            set_lengths(packet, bytes);
        }
        enum kvc_memcachedgpu_packet_status status = parse(packet, bytes, &key_bytes);
        cr_expect_eq(status, cases[i].status, "case %zu: %s", i, kvc_memcachedgpu_packet_status_name(status));
        cr_expect_eq(key_bytes, status == KVC_MEMCACHEDGPU_PACKET_OK ? 13 : 0, "case %zu", i);
    }
}

Test(packet, gives_each_wrong_text_its_status)
{
    static const struct {
        const char *text;
        enum kvc_memcachedgpu_packet_status status;
        uint32_t key_bytes;
    } cases[] = {
        {"get a\r\n", KVC_MEMCACHEDGPU_PACKET_OK, 1},
        {"get \r\n", KVC_MEMCACHEDGPU_PACKET_NO_KEY, 0},
        {"get a b\r\n", KVC_MEMCACHEDGPU_PACKET_MULTI_KEY, 0},
        {"get a \r\n", KVC_MEMCACHEDGPU_PACKET_MULTI_KEY, 0},
        {"get  a\r\n", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a\r", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a\n", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a\r\nget b\r\n", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a\r\n\r\n", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get a\r\r\n", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get ", KVC_MEMCACHEDGPU_PACKET_MALFORMED, 0},
        {"get", KVC_MEMCACHEDGPU_PACKET_NOT_GET, 0},
        {"", KVC_MEMCACHEDGPU_PACKET_NOT_GET, 0},
        {"gets a\r\n", KVC_MEMCACHEDGPU_PACKET_NOT_GET, 0},
        {"set a 0 0 1\r\nx\r\n", KVC_MEMCACHEDGPU_PACKET_NOT_GET, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        write_get(packet, "key");
        uint32_t length = (uint32_t)strlen(cases[i].text), key_bytes;
        memcpy(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, cases[i].text, length);
        set_lengths(packet, KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + length);
        enum kvc_memcachedgpu_packet_status status =
            parse(packet, KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + length, &key_bytes);
        cr_expect_eq(status, cases[i].status, "case %zu: %s", i, kvc_memcachedgpu_packet_status_name(status));
        cr_expect_eq(key_bytes, cases[i].key_bytes, "case %zu", i);
    }
}

Test(packet, gives_too_long_keys_their_status)
{
    for (uint32_t length = 249; length <= 1000; length++) {
        uint8_t packet[1100];
        write_get(packet, "key");
        memset(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET, 'k', length);
        memcpy(packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + length, "\r\n", 2);
        uint32_t bytes = KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + length + 2, key_bytes;
        set_lengths(packet, bytes);
        cr_assert_eq(parse(packet, bytes, &key_bytes),
                     length <= 250 ? KVC_MEMCACHEDGPU_PACKET_OK : KVC_MEMCACHEDGPU_PACKET_KEY_LONG);
    }
}

Test(packet, rejects_every_cut_and_every_wrong_length)
{
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    uint32_t bytes = write_get(packet, "abcdefghijklmnopq"), key_bytes;
    for (uint32_t cut = 0; cut < bytes; cut++) {
        enum kvc_memcachedgpu_packet_status status = parse(packet, cut, &key_bytes);
        cr_assert_eq(status, cut < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET ? KVC_MEMCACHEDGPU_PACKET_SHORT
                                                                       : KVC_MEMCACHEDGPU_PACKET_LENGTH);
    }
    for (uint32_t claimed = 0; claimed < 2000; claimed++) {
        set_lengths(packet, bytes);
        packet[38] = (uint8_t)(claimed >> 8);
        packet[39] = (uint8_t)claimed;
        enum kvc_memcachedgpu_packet_status status = parse(packet, bytes, &key_bytes);
        cr_assert_eq(status,
                     claimed == bytes - 34 ? KVC_MEMCACHEDGPU_PACKET_OK : KVC_MEMCACHEDGPU_PACKET_LENGTH);
        set_lengths(packet, claimed + 34);
        status = parse(packet, bytes, &key_bytes);
        cr_assert_eq(status == KVC_MEMCACHEDGPU_PACKET_OK, claimed == bytes - 34, "%u", claimed);
    }
}

/* A whole response is compared byte by byte; the checksum was computed by hand. */
Test(packet, hit_response_is_as_the_protocols_say)
{
    static const uint8_t expected[] = {
        1,    2,    3,    4,    5,    6,    17,   18,   19,   20,   21,   22,   0x08, 0x00, /* Ethernet */
        0x45, 0x00, 0x00, 0x48, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb6, 0x55,             /* IP */
        192,  168,  1,    254,  192,  168,  1,    1,                                        /* addresses */
        0x2b, 0xcb, 0xc3, 0xcb, 0x00, 0x34, 0x00, 0x00,                                     /* UDP */
        0xab, 0xcd, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,                                     /* frame header */
        'V',  'A',  'L',  'U',  'E',  ' ',  'k',  'e',  'y',  ' ',  '3',  '2',  ' ',  '1',  '2',
        '\r', '\n', 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    };
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    uint32_t bytes = write_get(packet, "key");
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
    memset(response, 0xee, sizeof(response));
    struct kvc_memcachedgpu_packet_item item = {.found = true, .flags = 32, .value_bytes = 12};
    /* The head has 67 bytes; the value and "\r\nEND\r\n" make 86. */
    cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 3, &item, response), 67);
    cr_expect_arr_eq(response, expected, sizeof(expected));
}

Test(packet, miss_response_is_end)
{
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    uint32_t bytes = write_get(packet, "a_key_that_is_long_enough_to_leave_something");
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
    memset(response, 0xee, sizeof(response));
    struct kvc_memcachedgpu_packet_item item = {.found = false};
    cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 44, &item, response), 55);
    cr_expect_eq(memcmp(response + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, "END\r\n\0\0\0\0\0\0\0\0\0", 14), 0);
    struct kvc_memcachedgpu_packet_response read;
    cr_expect(kvc_memcachedgpu_packet_read_response(response, 55, &read));
    cr_expect_not(read.found);
    cr_expect_eq(read.request_id, 0xabcd);
    cr_expect_not(kvc_memcachedgpu_packet_read_response(response, 54, &read));
    response[25] ^= 1;
    cr_expect_not(kvc_memcachedgpu_packet_read_response(response, 55, &read));
}

Test(packet, responses_read_back)
{
    for (uint32_t length = 1; length <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX; length++) {
        char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
        memset(key, 'a' + (int)(length % 26), length);
        uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
        uint32_t bytes = kvc_memcachedgpu_packet_write_get(packet, &ends, (uint16_t)length, key, length);
        struct kvc_memcachedgpu_packet_item item = {
            .found = true, .flags = (uint16_t)(length * 523), .value_bytes = (length * length) % 1100};
        _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES + 16];
        memset(response, 0xee, sizeof(response));
        uint32_t head = kvc_memcachedgpu_packet_respond(packet, bytes, length, &item, response);
        cr_assert_leq((head + 15) / 16 * 16, KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES);
        cr_assert_eq(response[(head + 15) / 16 * 16], 0xee);
        struct kvc_memcachedgpu_packet_response read;
        cr_assert(kvc_memcachedgpu_packet_read_response(response, head, &read));
        cr_assert(read.found && read.key_bytes == length && memcmp(read.key, key, length) == 0);
        cr_assert_eq(read.flags, item.flags);
        cr_assert_eq(read.value_bytes, item.value_bytes);
        cr_assert_eq(read.request_id, length);
    }
}

/* Reads a head of this text whose headers are right, from memory that is exactly as long. */
static bool read_text(const char *text, struct kvc_memcachedgpu_packet_response *read)
{
    uint32_t bytes = KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + (uint32_t)strlen(text);
    bool is_hit = strncmp(text, "VALUE ", 6) == 0;
    uint8_t request[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX], *packet = malloc(bytes);
    write_get(request, "key");
    memcpy(packet, request, KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET);
    memcpy(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, text, strlen(text));
    set_lengths(packet, bytes + (is_hit ? 7 : 0)); /* A hit ends with "\r\nEND\r\n". */
    bool valid = kvc_memcachedgpu_packet_read_response(packet, bytes, read);
    free(packet);
    return valid;
}

Test(packet, refuses_every_cut_of_a_response)
{
    char text[32];
    struct kvc_memcachedgpu_packet_response read;
    for (const char *whole = "VALUE k 7 0\r\n", *end = whole; *end != '\0'; end++) {
        snprintf(text, sizeof(text), "%.*s", (int)(end - whole), whole);
        cr_assert_not(read_text(text, &read), "%s", text);
    }
}

Test(packet, refuses_responses_with_keys_of_no_valid_length)
{
    char text[300], key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1];
    struct kvc_memcachedgpu_packet_response read;
    memset(key, 'k', sizeof(key));
    for (int bytes = 0; bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1; bytes++) {
        snprintf(text, sizeof(text), "VALUE %.*s 7 0\r\n", bytes, key);
        cr_assert_eq(read_text(text, &read), bytes > 0 && bytes <= KVC_MEMCACHEDGPU_PACKET_KEY_MAX, "%d",
                     bytes);
    }
}

/* Frame header, "VALUE k 0 1369\r\n", value and "\r\nEND\r\n" fill the most that fits: 8 + 16 + 1369 + 7 =
 * 1400 bytes. */
Test(packet, values_over_one_datagram_get_no_response)
{
    uint8_t packet[KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX];
    uint32_t bytes = write_get(packet, "k");
    _Alignas(16) uint8_t response[KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES];
    struct kvc_memcachedgpu_packet_item item = {.found = true, .value_bytes = 1369};
    cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 1, &item, response), 66);
    static const uint32_t too_long[] = {1370, 1400, 2799, 2800, 65536, 0x7fffffff, 0xffffffff, 0xfffffff0};
    for (size_t i = 0; i < sizeof(too_long) / sizeof(*too_long); i++) {
        item.value_bytes = too_long[i];
        cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 1, &item, response), 0, "%u",
                     too_long[i]);
    }
    /* This is the longest possible head. */
    char key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX];
    memset(key, 'k', sizeof(key));
    bytes = kvc_memcachedgpu_packet_write_get(packet, &ends, 1, key, sizeof(key));
    item = (struct kvc_memcachedgpu_packet_item){.found = true, .flags = 65535, .value_bytes = 1116};
    cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 250, &item, response), 319);
    item.value_bytes++;
    cr_expect_eq(kvc_memcachedgpu_packet_respond(packet, bytes, 250, &item, response), 0);
}

Test(packet, every_status_has_a_name)
{
    for (unsigned status = 0; status < KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT; status++) {
        cr_expect_str_neq(kvc_memcachedgpu_packet_status_name(status), "unknown", "%u", status);
    }
    cr_expect_str_eq(kvc_memcachedgpu_packet_status_name(KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT), "unknown");
}
