/** @file
 * Format of a flash page: a header with a checksum, followed by records.
 *
 * All numbers are little-endian. The checksum of a page (XXH3, 64 bits) covers everything between the
 * checksum field and `used`. A record consists of an 8-byte header, the key and the value, and starts at a
 * multiple of 8 bytes. A record that does not fit continues after the header of the next page in sequence.
 *
 * A record carries the backward pointer to the index (BlueCache, VLDB 10(4) 2016, sec. 3.4). Its header is as
 * large as in the program of the authors (github.com/xushuotao/fpgamemcached), which moves an item of DRAM to
 * the log without its timestamp and so keeps 32 bits of bucket and way and 32 bits of length
 * (bsv/valuestr/ValuestrCommon.bsv: ValHeader; ValDRAMCtrl_128.bsv: flashHeaderSz). Here these bits are
 * divided differently. That program has neither page headers nor checksums, and its records begin at any
 * byte. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_PAGE_H
#define KVC_KERNELS_BLUECACHE_FLASH_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    KVC_FLASH_PAGE_HEADER_BYTES = 40,  /**< Size of a page header [bytes]. */
    KVC_FLASH_RECORD_HEADER_BYTES = 8, /**< Size of a record header [bytes]. */
    KVC_FLASH_PAGE_MIN_BYTES =
        512, /**< Smallest page; it holds a record header and the longest key [bytes]. */
};

/** All sequence numbers are below this, so that incrementing one never overflows. */
#define KVC_FLASH_SEQUENCE_END (UINT64_C(1) << 62)

/** Purpose of a page. */
enum kvc_flash_page_kind {
    KVC_FLASH_PAGE_LOG = 0x4c42,        /**< The log. */
    KVC_FLASH_PAGE_CHECKPOINT = 0x4342, /**< A checkpoint. */
};

/** Header of a page on flash. */
struct kvc_flash_page_header {
    uint64_t checksum; /**< XXH3 of the bytes from the next field up to `used`. */
    uint16_t magic;    /**< Marks a page of this format. */
    uint16_t open;     /**< Log: earlier pages that may still be missing on flash once this page is there. */
    uint16_t kind;     /**< An enum kvc_flash_page_kind. */
    /** Log: distance of the sequence number from the previous page's; 0 if no earlier page counts. */
    uint16_t step;
    /** Log: position of the page in the order of writing. Checkpoint: number of the checkpoint. */
    uint64_t sequence;
    /** Log: pages with smaller sequence numbers no longer count. Checkpoint: number of the page in it. */
    uint64_t tail;
    /** Log: offset of the first record that starts in this page, or 0 [bytes]. Checkpoint: its number of
     * pages. */
    uint32_t first;
    uint32_t used; /**< Bytes in use, counted from the start of the page [bytes]. */
};

/** Kind of a record. */
enum kvc_flash_record_kind {
    KVC_FLASH_RECORD_VALUE = 1,     /**< The key has this value. */
    KVC_FLASH_RECORD_TOMBSTONE = 2, /**< The key was deleted. */
};

/** A record that starts in a page. */
struct kvc_flash_record {
    enum kvc_flash_record_kind kind; /**< Value or tombstone. */
    uint64_t back;          /**< Backward pointer: position of its index entry when it was written. */
    uint32_t key_bytes;     /**< Length of the key [bytes]. */
    uint32_t value_bytes;   /**< Length of the whole value [bytes]. */
    const uint8_t *key;     /**< The key, which is always complete in the page. */
    uint32_t value_in_page; /**< Bytes of the value in this page, after the key [bytes]. */
    uint32_t pages;         /**< Pages that the record spans. */
    uint32_t next;          /**< Offset of the next record; there is none if it is at least `used` [bytes]. */
};

/** Fills in the magic number and the checksum of a page whose header and contents are otherwise complete.
 * Returns false if `used`, `first` or `sequence` is impossible in a page of this size. */
bool kvc_flash_page_seal(void *page, uint32_t page_bytes);

/** Checks a page and copies its header. Returns true if it is an intact page of this kind. The page may hold
 * arbitrary bytes. */
bool kvc_flash_page_open(const void *page, uint32_t page_bytes, enum kvc_flash_page_kind kind,
                         struct kvc_flash_page_header *header);

/** Copies the header of a page that is known to be intact. Returns true if it is a page of this kind. */
bool kvc_flash_page_trust(const void *page, uint32_t page_bytes, enum kvc_flash_page_kind kind,
                          struct kvc_flash_page_header *header);

/** Bytes from the start of a record to the earliest start of the next one. */
uint32_t kvc_flash_record_bytes(uint32_t key_bytes, uint32_t value_bytes);

/** Writes the header of a record. */
void kvc_flash_record_write(uint8_t *to, enum kvc_flash_record_kind kind, uint64_t back, uint32_t key_bytes,
                            uint32_t value_bytes);

/** Reads the record at `offset` of a page whose header has `used`. Returns false if there is none. Any offset
 * and contents are allowed; the key of the result lies completely within the page. */
bool kvc_flash_record_read(const uint8_t *page, uint32_t page_bytes, uint32_t used, uint32_t offset,
                           struct kvc_flash_record *record);

#ifdef __cplusplus
}
#endif

#endif
