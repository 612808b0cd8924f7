/** @file
 * memcached GET over UDP: parsing a request packet and building the head of its response.
 *
 * Source: MemcachedGPU (SoCC 2015), sec. 3.2.2 and 4.1.1; memcached's protocol.txt. A request is one Ethernet
 * frame, with these parts:
 *  - offset 0: Ethernet header (destination, source, type 0x0800);
 *  - offset 14: IPv4 header of 20 bytes;
 *  - offset 34: UDP header;
 *  - offset 42: memcached's frame header (request id, sequence number, number of datagrams, reserved);
 *  - offset 50: "get KEY" and the line end.
 *
 * The response has the same headers with both ends exchanged. For a hit, "VALUE KEY FLAGS BYTES" and the line
 * end follow, behind which the CPU puts the value, a line end and "END"; for a miss, "END" alone follows. The
 * lengths and the checksum in the head include the value.
 *
 * The work has the two parts of the paper, which two threads may do at the same time. The helper thread
 * checks the headers and writes everything in the response that does not depend on the search
 * (kvc_memcachedgpu_packet_check(), kvc_memcachedgpu_packet_begin()). The main thread parses the request and
 * looks up the key (kvc_memcachedgpu_packet_get()). When both have finished, kvc_memcachedgpu_packet_end()
 * adds what depends on the result. kvc_memcachedgpu_packet_parse() and kvc_memcachedgpu_packet_respond() do
 * the same in one thread. The source is the same on the host and on the device.
 *
 * Checked: lengths, IPv4 without options, no fragment, IP header checksum, UDP, destination port, a request
 * of one datagram. Not modelled: the UDP checksum (not checked, and 0, which means none, in responses),
 * several keys in one get, requests and responses of several datagrams, IPv6, VLAN tags. Requests of these
 * kinds get a status of their own; the CPU must answer them.
 */
#ifndef KVC_KERNELS_MEMCACHEDGPU_PACKET_H
#define KVC_KERNELS_MEMCACHEDGPU_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/device.h"
#include "kernels/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sizes and offsets. */
enum {
    KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES = 42, /**< Size of the Ethernet, IPv4 and UDP headers [bytes]. */
    /** Offset of the text, behind memcached's frame header [bytes]. */
    KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET = 50,
    KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET = 54, /**< Offset of the key in a request [bytes]. */
    KVC_MEMCACHEDGPU_PACKET_KEY_MAX = 250,   /**< Longest key [bytes]. */
    /** Longest request [bytes]. */
    KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX =
        KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET + KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 2,
    KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET = 56, /**< Offset of the key in a hit's response [bytes]. */
    /** Room for the head of any response, padded with zeros to a multiple of 16 bytes [bytes]. */
    KVC_MEMCACHEDGPU_PACKET_RESPONSE_BYTES = 320,
    /** Longest payload that memcached sends in one datagram, frame header included [bytes]. */
    KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX = 1400,
    /** Largest key with its value whose response fits one datagram, with the words of the protocol [bytes].
     */
    KVC_MEMCACHEDGPU_PACKET_PAIR_MAX = KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX - 32,
};

/** What a packet is. */
enum kvc_memcachedgpu_packet_status {
    KVC_MEMCACHEDGPU_PACKET_OK,             /**< A correct request. */
    KVC_MEMCACHEDGPU_PACKET_SHORT,          /**< The packet is shorter than its headers. */
    KVC_MEMCACHEDGPU_PACKET_NOT_IPV4,       /**< The Ethernet type is not IPv4. */
    KVC_MEMCACHEDGPU_PACKET_IP_HEADER,      /**< The IP version is not 4, or the IP header has options. */
    KVC_MEMCACHEDGPU_PACKET_FRAGMENT,       /**< The packet is a fragment. */
    KVC_MEMCACHEDGPU_PACKET_NOT_UDP,        /**< The IP protocol is not UDP. */
    KVC_MEMCACHEDGPU_PACKET_CHECKSUM,       /**< The checksum of the IP header is wrong. */
    KVC_MEMCACHEDGPU_PACKET_PORT,           /**< The destination port is another one. */
    KVC_MEMCACHEDGPU_PACKET_LENGTH,         /**< The lengths of packet, IP and UDP contradict each other. */
    KVC_MEMCACHEDGPU_PACKET_MULTI_DATAGRAM, /**< The packet is part of a longer request. */
    KVC_MEMCACHEDGPU_PACKET_NOT_GET,        /**< The command is not "get". */
    KVC_MEMCACHEDGPU_PACKET_NO_KEY,         /**< The request has no key. */
    KVC_MEMCACHEDGPU_PACKET_MULTI_KEY,      /**< A space follows the key. */
    KVC_MEMCACHEDGPU_PACKET_KEY_LONG,       /**< The key is longer than KVC_MEMCACHEDGPU_PACKET_KEY_MAX. */
    /** The line end is missing, bytes follow it, or the key contains a control character. */
    KVC_MEMCACHEDGPU_PACKET_MALFORMED,
    /** The response to the hit needs several datagrams, so the CPU must answer. */
    KVC_MEMCACHEDGPU_PACKET_VALUE_LONG,
    KVC_MEMCACHEDGPU_PACKET_STATUS_COUNT, /**< Number of statuses. */
};

/** The part of an item that a response contains. */
struct kvc_memcachedgpu_packet_item {
    bool found;           /**< Whether the key was found. */
    uint16_t flags;       /**< memcached's opaque flags. */
    uint32_t value_bytes; /**< Length of the value [bytes]. */
};

/** Loads 16 bits of a header, which are big-endian. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_load_16(const uint8_t *from)
{
    return (uint32_t)from[0] << 8 | from[1];
}

/** Folds a sum of 16-bit words into 16 bits by one's complement addition. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

/** Returns the sum of the two halves of a word. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_halves(uint32_t word)
{
    return (word & 0xffff) + (word >> 16);
}

/** Returns the one's complement sum of the 20 bytes of an IP header, as little-endian 16-bit words.
 *
 * The sum is 0xffff if the checksum is right; the byte order does not matter for that (RFC 1071).
 */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_ip_sum(const uint8_t *ip)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < 20; at += 4) {
        sum += kvc_memcachedgpu_packet_halves(kvc_bytes_word(ip + at, 4));
    }
    return kvc_memcachedgpu_packet_fold(sum);
}

/** Checks all headers; the helper thread's part. Reads nothing behind `bytes`. */
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
    /* Short frames are padded, so the packet may be longer than its headers say. */
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

/** Returns the length of the text according to the UDP header, limited to what the packet contains [bytes].
 * The function is safe before the headers have been checked. */
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

/** Returns the offset in `word`, little-endian, of its first byte that is a space or a control character, or
 * 4 if there is none. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_key_end(uint32_t word)
{
    /* correct for the lowest such byte, because borrows go upwards */
    uint32_t below = (word - 0x21212121u) & ~word & 0x80808080u;
#ifdef __CUDA_ARCH__
    return below == 0 ? 4 : ((uint32_t)__ffs((int)below) - 1) / 8;
#else
    return below == 0 ? 4 : (uint32_t)__builtin_ctz(below) / 8;
#endif
}

/** Parses "get KEY" and the line end; the main thread's part.
 *
 * The key starts at KVC_MEMCACHEDGPU_PACKET_KEY_OFFSET. `*key_bytes` receives its length, or 0 unless the
 * result is KVC_MEMCACHEDGPU_PACKET_OK. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_get(const uint8_t *packet, uint32_t bytes, uint32_t *key_bytes)
{
    uint32_t text_bytes = kvc_memcachedgpu_packet_text_bytes(packet, bytes);
    *key_bytes = 0;
    /* 0x20746567 is "get ". */
    if (text_bytes < 4 || kvc_bytes_word(packet + KVC_MEMCACHEDGPU_PACKET_TEXT_OFFSET, 4) != 0x20746567) {
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

/** Returns which of the two threads' results counts. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_both(enum kvc_memcachedgpu_packet_status headers,
                             enum kvc_memcachedgpu_packet_status text)
{
    return headers != KVC_MEMCACHEDGPU_PACKET_OK ? headers : text;
}

/** Checks and parses a request in one thread. */
static inline KVC_HOST_DEVICE enum kvc_memcachedgpu_packet_status
kvc_memcachedgpu_packet_parse(const uint8_t *packet, uint32_t bytes, uint16_t port, uint32_t *key_bytes)
{
    enum kvc_memcachedgpu_packet_status status = kvc_memcachedgpu_packet_check(packet, bytes, port);
    *key_bytes = 0;
    return status != KVC_MEMCACHEDGPU_PACKET_OK ? status
                                                : kvc_memcachedgpu_packet_get(packet, bytes, key_bytes);
}

/** Returns the length of the key on the assumption that the request is correct [bytes]. The helper thread
 * copies as many bytes before the request has been parsed. */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_key_guess(const uint8_t *packet,
                                                                         uint32_t bytes)
{
    uint32_t text_bytes = kvc_memcachedgpu_packet_text_bytes(packet, bytes);
    uint32_t guess = text_bytes < 6 ? 0 : text_bytes - 6;
    return guess < KVC_MEMCACHEDGPU_PACKET_KEY_MAX ? guess : (uint32_t)KVC_MEMCACHEDGPU_PACKET_KEY_MAX;
}

/** Begins a response: its headers without lengths and checksum, and the head of a hit; the helper thread's
 * part.
 *
 * `response` is aligned to 4 bytes, and the packet must be long enough for its headers. */
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
    to[4] = 0;          /* length is added later; identification is 0, since nothing may be fragmented */
    to[5] = 0x11400040; /* do not fragment; 64 hops; UDP */
    to[6] = own_address << 16;
    to[7] = own_address >> 16 | addresses << 16;
    to[8] = addresses >> 16 | (ports & 0xffff0000);
    to[9] = ports & 0xffff; /* length is added later */
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

/** Writes a decimal number and returns its number of digits. */
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

/** Completes the response to a correct request whose key has `key_bytes` bytes.
 *
 * Returns the length of the head [bytes]; zeros follow it up to a multiple of 16 bytes. Returns 0, and leaves
 * the response unusable, if the value is too long for one datagram (KVC_MEMCACHEDGPU_PACKET_VALUE_LONG). */
static inline KVC_HOST_DEVICE uint32_t kvc_memcachedgpu_packet_end(
    uint8_t *response, uint32_t key_bytes, const struct kvc_memcachedgpu_packet_item *item)
{
    uint32_t *words = (uint32_t *)(void *)response;
    uint32_t end, behind; /* end of the head; bytes that the CPU adds */
    if (item->found) {
        end = KVC_MEMCACHEDGPU_PACKET_RESPONSE_KEY_OFFSET + key_bytes;
        response[end++] = ' ';
        end += kvc_memcachedgpu_packet_write_number(response + end, item->flags);
        response[end++] = ' ';
        /* An unlimited value length might overflow the sum. */
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
    /* The IP header is bytes 14 to 33. */
    uint32_t sum = (words[3] >> 16) + kvc_memcachedgpu_packet_halves(words[4]) +
                   kvc_memcachedgpu_packet_halves(words[5]) + kvc_memcachedgpu_packet_halves(words[6]) +
                   kvc_memcachedgpu_packet_halves(words[7]) + (words[8] & 0xffff);
    words[6] |= ~kvc_memcachedgpu_packet_fold(sum) & 0xffff;
    return end;
}

/** Builds the whole head of a response in one thread; see kvc_memcachedgpu_packet_end() for the result. */
static inline KVC_HOST_DEVICE uint32_t
kvc_memcachedgpu_packet_respond(const uint8_t *packet, uint32_t bytes, uint32_t key_bytes,
                                const struct kvc_memcachedgpu_packet_item *item, uint8_t *response)
{
    kvc_memcachedgpu_packet_begin(packet, bytes, response);
    return kvc_memcachedgpu_packet_end(response, key_bytes, item);
}

/** Both ends of a request; addresses and ports are in host byte order. */
struct kvc_memcachedgpu_packet_ends {
    uint8_t source_mac[6];        /**< Ethernet address of the client. */
    uint8_t destination_mac[6];   /**< Ethernet address of the server. */
    uint32_t source_address;      /**< IPv4 address of the client. */
    uint32_t destination_address; /**< IPv4 address of the server. */
    uint16_t source_port;         /**< UDP port of the client. */
    uint16_t destination_port;    /**< UDP port of the server. */
};

/** Writes a GET request of up to KVC_MEMCACHEDGPU_PACKET_REQUEST_MAX bytes; the client's side.
 *
 * Returns its length [bytes], or 0 if the key has no valid length. The bytes of the key are not checked. */
uint32_t kvc_memcachedgpu_packet_write_get(uint8_t *packet, const struct kvc_memcachedgpu_packet_ends *ends,
                                           uint16_t request_id, const void *key, uint32_t key_bytes);

/** A parsed response. */
struct kvc_memcachedgpu_packet_response {
    uint16_t request_id;  /**< Id of the request. */
    bool found;           /**< Whether it is a hit. */
    const uint8_t *key;   /**< The key in the packet; this and the following fields are set for hits only. */
    uint32_t key_bytes;   /**< Length of the key [bytes]. */
    uint16_t flags;       /**< memcached's opaque flags. */
    uint32_t value_bytes; /**< Length of the value [bytes]. */
};

/** Parses the head of a response that is `bytes` long and does not include the value; the client's side.
 *
 * Returns false if it is not a valid head. */
bool kvc_memcachedgpu_packet_read_response(const uint8_t *packet, uint32_t bytes,
                                           struct kvc_memcachedgpu_packet_response *response);

/** Returns the name of a status, such as "malformed", or "unknown" for any other number. */
const char *kvc_memcachedgpu_packet_status_name(unsigned status);

#ifdef __cplusplus
}
#endif

#endif
