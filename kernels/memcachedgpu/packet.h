/* memcached GET over UDP: parsing a request packet, building the head of the response.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2 and 4.1.1; memcached's protocol.txt. A request is one Ethernet
 * frame, with at offset
 *  - 0: Ethernet header (destination, source, type 0x0800);
 *  - 14: IPv4 header of 20 bytes;
 *  - 34: UDP header;
 *  - 42: memcached's frame header (request id, sequence number, datagrams in all, reserved);
 *  - 50: "get <key>" and the line end.
 *
 * Its response has the same headers with both ends exchanged, then "VALUE <key> <flags> <bytes>" and the line
 * end, where the CPU puts the value, a line end and "END" behind it, or "END" alone for a miss. Lengths and
 * checksum of the head count the value in.
 *
 * The work comes in the paper's two parts, which two threads may do at the same time: the helper checks the
 * headers and writes all of the response that does not depend on what is found
 * (kvc_memcachedgpu_packet_check, kvc_memcachedgpu_packet_begin), the main thread takes the request apart and
 * looks the key up (kvc_memcachedgpu_packet_get); when both are done, kvc_memcachedgpu_packet_end adds what
 * depends on the result. kvc_memcachedgpu_packet_parse and kvc_memcachedgpu_packet_respond do the same in one
 * thread. All is the same source on the host and on the device.
 *
 * Checked: lengths, IPv4 without options, no fragment, IP header checksum, UDP, destination port, a request
 * of one datagram. Not modelled: the UDP checksum (not checked; 0, none, in responses), several keys in one
 * get, requests and responses of several datagrams, IPv6, VLAN tags: those get a status of their own and are
 * the CPU's to answer. */
#ifndef KVC_KERNELS_MEMCACHEDGPU_PACKET_H
#define KVC_KERNELS_MEMCACHEDGPU_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES = 42, /* Ethernet, IPv4, UDP */
    KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET = 50,  /* and memcached's frame header */
    KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET = 54,
    KVC_MEMCACHEDGPU_PACKET_KEY_MAX = 250,
    KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX =
        KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 2,
    KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET = 56,
    /* Room for any response's head, and for the zeros that fill it up to a multiple of 16 bytes. */
    KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES = 320,
    /* memcached sends no longer payload, frame header included, in one datagram. */
    KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX = 1400,
};

enum kvc_memcachedgpu_packet_status {
    KVC_MEMCACHEDGPU_PACKET_OK,
    KVC_MEMCACHEDGPU_PACKET_SHORT,          /* shorter than its headers */
    KVC_MEMCACHEDGPU_PACKET_NOT_IPV4,       /* ethertype */
    KVC_MEMCACHEDGPU_PACKET_IP_HEADER,      /* another version, or with options */
    KVC_MEMCACHEDGPU_PACKET_FRAGMENT,       /* of an IP packet */
    KVC_MEMCACHEDGPU_PACKET_NOT_UDP,        /* IP protocol */
    KVC_MEMCACHEDGPU_PACKET_CHECKSUM,       /* of the IP header is wrong */
    KVC_MEMCACHEDGPU_PACKET_PORT,           /* another destination port */
    KVC_MEMCACHEDGPU_PACKET_LENGTH,         /* those of packet, IP and UDP contradict each other */
    KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM, /* part of a longer request */
    KVC_MEMCACHEDGPU_PACKET_NOT_GET,        /* another command */
    KVC_MEMCACHEDGPU_PACKET_NO_KEY,         /* "get \r\n" */
    KVC_MEMCACHEDGPU_PACKET_MULTI_KEY,      /* a space behind the key */
    KVC_MEMCACHEDGPU_PACKET_KEY_LONG,       /* over 250 bytes */
    KVC_MEMCACHEDGPU_PACKET_MALFORMED,  /* no line end, bytes behind it, or a control character in the key */
    KVC_MEMCACHEDGPU_PACKET_VALUE_LONG, /* a hit whose response needs several datagrams: the CPU's to answer
                                         */
    KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT,
};

/* What a response says of the item. */
struct kvc_memcachedgpu_packet_item {
    bool found;
    uint16_t flags;
    uint32_t value_bytes;
};

/* Big-endian 16 bits of a header. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_load_16(const uint8_t *from)
{
    return (uint32_t)from[0] << 8 | from[1];
}

/* One's complement sum of the IP header's 20 bytes as little-endian 16-bit words, folded; 0xffff if its
 * checksum is right. (RFC 1071: the byte order does not matter to whether it is.) */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_halves(uint32_t word)
{
    return (word & 0xffff) + (word >> 16);
}

static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_ip_sum(const uint8_t *ip)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < 20; at += 4) {
        sum += kvc_memcachedgpu_packet_halves(kvc_bytes_word(ip + at, 4));
    }
    return kvc_memcachedgpu_packet_fold(sum);
}

/* The helper's check of all headers. Reads nothing behind `bytes`. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_check(const uint8_t *packet, uint32_t bytes, uint16_t port)
{
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
        return KVC_MEMCACHEDGPU_PACKET_SHORT;
    }
    if (kvc_memcachedgpu_packet_load_16(packet + 12) != 0x0800) {
        return KVC_MEMCACHEDGPU_PACKET_NOT_IPV4;
    }
    if (packet[14] != 0x45) {
        return KVC_MEMCACHEDGPU_PACKET_IP_HEADER;
    }
    /* Short frames are padded, so there may be more bytes than the headers speak of. */
    uint32_t ip_bytes = kvc_memcachedgpu_packet_load_16(packet + 16);
    uint32_t udp_bytes = kvc_memcachedgpu_packet_load_16(packet + 38);
    if (ip_bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET - 14 || ip_bytes > bytes - 14) {
        return KVC_MEMCACHEDGPU_PACKET_LENGTH;
    }
    if ((kvc_memcachedgpu_packet_load_16(packet + 20) & 0x3fff) != 0) {
        return KVC_MEMCACHEDGPU_PACKET_FRAGMENT;
    }
    if (packet[23] != 17) {
        return KVC_MEMCACHEDGPU_PACKET_NOT_UDP;
    }
    if (kvc_memcachedgpu_packet_ip_sum(packet + 14) != 0xffff) {
        return KVC_MEMCACHEDGPU_PACKET_CHECKSUM;
    }
    if (kvc_memcachedgpu_packet_load_16(packet + 36) != port) {
        return KVC_MEMCACHEDGPU_PACKET_PORT;
    }
    if (udp_bytes != ip_bytes - 20) {
        return KVC_MEMCACHEDGPU_PACKET_LENGTH;
    }
    if (kvc_memcachedgpu_packet_load_16(packet + 44) != 0 ||
        kvc_memcachedgpu_packet_load_16(packet + 46) != 1) {
        return KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM;
    }
    return KVC_MEMCACHEDGPU_PACKET_OK;
}

/* Bytes of text in the packet by its UDP length, cut to what is there: safe to use before the check is done.
 */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_text_bytes(const uint8_t *packet,
                                                                          uint32_t bytes)
{
    if (bytes < KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET) {
        return 0;
    }
    uint32_t udp_bytes = kvc_memcachedgpu_packet_load_16(packet + 38);
    uint32_t text_bytes = udp_bytes < 16 ? 0 : udp_bytes - 16;
    uint32_t most = bytes - KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET;
    return text_bytes < most ? text_bytes : most;
}

/* Offset in `word`, little-endian, of its first byte that is a space or a control character; 4: none. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_key_end(uint32_t word)
{
    uint32_t below = (word - 0x21212121u) & ~word & 0x80808080u; /* the lowest one is right; borrows go up */
#ifdef __CUDA_ARCH__
    return below == 0 ? 4 : ((uint32_t)__ffs((int)below) - 1) / 8;
#else
    return below == 0 ? 4 : (uint32_t)__builtin_ctz(below) / 8;
#endif
}

/* The main thread's part: takes "get <key>\r\n" apart. The key is at KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
 * *key_bytes is its length, 0 unless the result is KVC_MEMCACHEDGPU_PACKET_OK. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_get(const uint8_t *packet, uint32_t bytes, uint32_t *key_bytes)
{
    uint32_t text_bytes = kvc_memcachedgpu_packet_text_bytes(packet, bytes);
    *key_bytes = 0;
    if (text_bytes < 4 ||
        kvc_bytes_word(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, 4) != 0x20746567) { /* "get " */
        return KVC_MEMCACHEDGPU_PACKET_NOT_GET;
    }
    const uint8_t *key = packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
    uint32_t left = text_bytes - 4;
    uint32_t most = left < KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1 ? left : KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1;
    uint32_t end = 0;
    while (end < most) {
        uint32_t step = most - end < 4 ? most - end : 4;
        uint32_t found = kvc_memcachedgpu_packet_key_end(kvc_bytes_word(key + end, step));
        end += found < step ? found : step;
        if (found < step) {
            break;
        }
    }
    if (end == KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 1) {
        return KVC_MEMCACHEDGPU_PACKET_KEY_LONG;
    }
    if (end == left) {
        return KVC_MEMCACHEDGPU_PACKET_MALFORMED;
    }
    if (key[end] == ' ') {
        return end == 0 ? KVC_MEMCACHEDGPU_PACKET_MALFORMED : KVC_MEMCACHEDGPU_PACKET_MULTI_KEY;
    }
    if (key[end] != '\r' || left != end + 2 || key[end + 1] != '\n') {
        return KVC_MEMCACHEDGPU_PACKET_MALFORMED;
    }
    if (end == 0) {
        return KVC_MEMCACHEDGPU_PACKET_NO_KEY;
    }
    *key_bytes = end;
    return KVC_MEMCACHEDGPU_PACKET_OK;
}

/* Of the two threads' findings, the one that counts. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_both(enum kvc_memcachedgpu_packet_status headers,
                             enum kvc_memcachedgpu_packet_status text)
{
    return headers != KVC_MEMCACHEDGPU_PACKET_OK ? headers : text;
}

/* One thread: checks and takes apart. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_parse(const uint8_t *packet, uint32_t bytes, uint16_t port, uint32_t *key_bytes)
{
    enum kvc_memcachedgpu_packet_status status = kvc_memcachedgpu_packet_check(packet, bytes, port);
    *key_bytes = 0;
    return status != KVC_MEMCACHEDGPU_PACKET_OK ? status
                                                : kvc_memcachedgpu_packet_get(packet, bytes, key_bytes);
}

/* Length of the key if the request is a correct one; what the helper copies before that is known. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_key_guess(const uint8_t *packet,
                                                                         uint32_t bytes)
{
    uint32_t text_bytes = kvc_memcachedgpu_packet_text_bytes(packet, bytes);
    uint32_t guess = text_bytes < 6 ? 0 : text_bytes - 6;
    return guess < KVC_MEMCACHEDGPU_PACKET_KEY_MAX ? guess : (uint32_t)KVC_MEMCACHEDGPU_PACKET_KEY_MAX;
}

/* The helper's response: headers without lengths and checksum, and the head of a hit. `response` is aligned
 * to 4 bytes. The packet must have its headers. */
static inline KVC_HOST_DEVICE void kvc_memcachedgpu_packet_begin(const uint8_t *packet, uint32_t bytes,
                                                                 uint8_t *response)
{
    uint32_t *to = (uint32_t *)(void *)response;
    uint32_t addresses = kvc_bytes_word(packet + 26, 4), ports = kvc_bytes_word(packet + 34, 4);
    uint32_t own_address = kvc_bytes_word(packet + 30, 4);
    to[0] = kvc_bytes_word(packet + 6, 4);
    to[1] = kvc_bytes_word(packet + 10, 2) | kvc_bytes_word(packet, 2) << 16;
    to[2] = kvc_bytes_word(packet + 2, 4);
    to[3] = 0x00450008; /* IPv4; version and header length */
    to[4] = 0;          /* length, later; identification: none is needed where nothing may be fragmented */
    to[5] = 0x11400040; /* do not fragment; 64 hops; UDP */
    to[6] = own_address << 16;
    to[7] = own_address >> 16 | addresses << 16;
    to[8] = addresses >> 16 | (ports & 0xffff0000);
    to[9] = ports & 0xffff; /* length, later */
    to[10] = kvc_bytes_word(packet + 42, 2) << 16;
    to[11] = 0x01000000; /* datagram 0 of 1 */
    to[12] = 0x41560000; /* "VA" */
    to[13] = 0x2045554c; /* "LUE " */
    uint32_t key_bytes = kvc_memcachedgpu_packet_key_guess(packet, bytes);
    const uint8_t *key = packet + KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET;
    for (uint32_t at = 0; at < key_bytes; at += 4) {
        to[KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET / 4 + at / 4] =
            kvc_bytes_word(key + at, key_bytes - at < 4 ? key_bytes - at : 4);
    }
}

static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_write_number(uint8_t *to, uint32_t number)
{
    uint32_t digits = 1;
    for (uint32_t rest = number / 10; rest != 0; rest /= 10) {
        digits++;
    }
    for (uint32_t i = digits; i > 0; i--, number /= 10) {
        to[i - 1] = (uint8_t)('0' + number % 10);
    }
    return digits;
}

/* The rest of a response to a correct request, whose key has `key_bytes`. Returns the length of the head;
 * behind it are zeros up to a multiple of 16 bytes. 0: the value is too long for one datagram
 * (KVC_MEMCACHEDGPU_PACKET_VALUE_LONG), the response is not to be used. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_end(
    uint8_t *response, uint32_t key_bytes, const struct kvc_memcachedgpu_packet_item *item)
{
    uint32_t *words = (uint32_t *)(void *)response;
    uint32_t end, behind; /* of the head; bytes that the CPU adds */
    if (item->found) {
        end = KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes;
        response[end++] = ' ';
        end += kvc_memcachedgpu_packet_write_number(response + end, item->flags);
        response[end++] = ' ';
        /* A value over the limit might not even fit the sum. */
        uint32_t value_bytes = item->value_bytes < 2 * KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX
                                   ? item->value_bytes
                                   : 2 * KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX;
        end += kvc_memcachedgpu_packet_write_number(response + end, value_bytes);
        response[end++] = '\r';
        response[end++] = '\n';
        behind = value_bytes + 7; /* "\r\nEND\r\n" */
    } else {
        words[12] = 0x4e450000; /* "EN" */
        words[13] = 0x000a0d44; /* "D\r\n" */
        end = KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET + 5;
        behind = 0;
    }
    for (uint32_t at = end; at % 16 != 0; at++) {
        response[at] = 0;
    }
    uint32_t udp_bytes = end - 34 + behind;
    if (udp_bytes - 8 > KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX) {
        return 0;
    }
    uint32_t ip_bytes = udp_bytes + 20;
    words[4] |= (ip_bytes >> 8) | (ip_bytes & 0xff) << 8;
    words[9] |= ((udp_bytes >> 8) | (udp_bytes & 0xff) << 8) << 16;
    /* The IP header is bytes 14 .. 33. */
    uint32_t sum = (words[3] >> 16) + kvc_memcachedgpu_packet_halves(words[4]) +
                   kvc_memcachedgpu_packet_halves(words[5]) + kvc_memcachedgpu_packet_halves(words[6]) +
                   kvc_memcachedgpu_packet_halves(words[7]) + (words[8] & 0xffff);
    words[6] |= ~kvc_memcachedgpu_packet_fold(sum) & 0xffff;
    return end;
}

/* One thread: the whole head of a response. */
static inline KVC_HOST_DEVICE uint32_t
kvc_memcachedgpu_packet_respond(const uint8_t *packet, uint32_t bytes, uint32_t key_bytes,
                                const struct kvc_memcachedgpu_packet_item *item, uint8_t *response)
{
    kvc_memcachedgpu_packet_begin(packet, bytes, response);
    return kvc_memcachedgpu_packet_end(response, key_bytes, item);
}

/* Both ends of a request, in host byte order. */
struct kvc_memcachedgpu_packet_ends {
    uint8_t source_mac[6], destination_mac[6];
    uint32_t source_address, destination_address;
    uint16_t source_port, destination_port;
};

/* The client's side: writes a GET request of up to KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX bytes. Returns its
 * length; 0: the key has no valid length. The key's bytes are not looked at. */
uint32_t kvc_memcachedgpu_packet_write_get(uint8_t *packet, const struct kvc_memcachedgpu_packet_ends *ends,
                                           uint16_t request_id, const void *key, uint32_t key_bytes);

struct kvc_memcachedgpu_packet_response {
    uint16_t request_id;
    bool found;
    const uint8_t *key; /* in the packet; of hits, as all that follows */
    uint32_t key_bytes;
    uint16_t flags;
    uint32_t value_bytes;
};

/* The client's side: reads the head of a response, `bytes` long, value not yet behind it. false: it is none.
 */
bool kvc_memcachedgpu_packet_read_response(const uint8_t *packet, uint32_t bytes,
                                           struct kvc_memcachedgpu_packet_response *response);

/* "malformed"; a status that there is not is "unknown". */
const char *kvc_memcachedgpu_packet_status_name(unsigned status);

#ifdef __cplusplus
}
#endif

#endif
