/* What is on a flash page: a header with a checksum, and records.
 *
 * All numbers are little-endian. A page's checksum (XXH3, 64 bits) covers everything behind it up to `used`.
 * A record is a 16-byte header, the key and the value, and starts at a multiple of 8; one that does not fit
 * goes on behind the header of the next page in sequence. BlueCache does not publish its format; that records
 * carry the backward pointer to the index is from its sec. 3.4. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_PAGE_H
#define KVC_KERNELS_BLUECACHE_FLASH_PAGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_FLASH_PAGE_HEADER_BYTES = 40,
    KVC_FLASH_RECORD_HEADER_BYTES = 16,
    KVC_FLASH_PAGE_MIN_BYTES = 512, /* so that the longest key fits into a record's first page */
};

/* Sequence numbers are below this, so that adding to one never overflows. */
#define KVC_FLASH_SEQUENCE_END (UINT64_C(1) << 62)

enum kvc_flash_page_kind {
    KVC_FLASH_PAGE_LOG = 0x4c42,
    KVC_FLASH_PAGE_CHECKPOINT = 0x4342,
};

struct kvc_flash_page_header {
    uint64_t checksum;
    uint32_t magic;
    uint16_t kind;
    uint16_t step; /* log: sequence less that of the page written before; 0: there is none that counts */
    /* Log: the page's place in the order of writing. Checkpoint: the checkpoint's number. */
    uint64_t sequence;
    /* Log: no page with a smaller sequence counts any more. Checkpoint: the page's number in it. */
    uint64_t tail;
    uint32_t first; /* log: where the first record starts in this page, 0: none does; checkpoint: its pages */
    uint32_t used;  /* bytes from the page's start on */
};

enum kvc_flash_record_kind {
    KVC_FLASH_RECORD_VALUE = 0x51,
    KVC_FLASH_RECORD_TOMBSTONE = 0x52, /* the key was deleted */
};

struct kvc_flash_record {
    enum kvc_flash_record_kind kind;
    uint64_t back; /* backward pointer: the position of its index entry when it was written */
    uint32_t key_bytes, value_bytes;
    const uint8_t *key;     /* in the page */
    uint32_t value_in_page; /* bytes of the value in this page, behind the key */
    uint32_t pages;         /* that it is in */
    uint32_t next;          /* where the next record starts in this page, at least used: nowhere */
};

/* Fills in magic and checksum; the rest of the header and the contents are there already. False: `used` or
 * `first` is impossible in a page of this size. */
bool kvc_flash_page_seal(void *page, uint32_t page_bytes);

/* True: a whole page of this kind; its header is copied. Any bytes are allowed. */
bool kvc_flash_page_open(const void *page, uint32_t page_bytes, enum kvc_flash_page_kind kind,
                         struct kvc_flash_page_header *header);

/* Bytes from a record's start to where the next one may start. */
uint32_t kvc_flash_record_bytes(uint32_t key_bytes, uint32_t value_bytes);

/* Writes the header of a record. */
void kvc_flash_record_write(uint8_t *to, enum kvc_flash_record_kind kind, uint64_t back, uint32_t key_bytes,
                            uint32_t value_bytes);

/* Reads the record at `offset` of an opened page; false: there is none. Any offset and contents are allowed;
 * the key is whole and lies within the page. */
bool kvc_flash_record_read(const uint8_t *page, uint32_t page_bytes, uint32_t used, uint32_t offset,
                           struct kvc_flash_record *record);

#endif
