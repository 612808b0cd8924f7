#include "kernels/bluecache/flash_page.h"

#include <stddef.h>
#include <string.h>

#include <xxhash.h>

#include "kernels/bluecache/index.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the flash page format needs a little-endian machine"
#endif

enum { RECORD_ALIGN = 8 };

static const uint16_t page_magic = 0x764b;

struct record_header {
    uint64_t back : 34;
    uint64_t key_bytes : 8;
    uint64_t value_bytes : 20;
    uint64_t kind : 2;
};

_Static_assert(sizeof(struct kvc_flash_page_header) == KVC_FLASH_PAGE_HEADER_BYTES,
               "the layout on flash is fixed");
_Static_assert(sizeof(struct record_header) == KVC_FLASH_RECORD_HEADER_BYTES, "the layout on flash is fixed");
_Static_assert(KVC_BLUECACHE_VALUE_MAX < 1 << 20, "the length of a value has 20 bits");

static uint64_t checksum_of(const void *page, uint32_t used)
{
    size_t skipped = sizeof(uint64_t);
    return XXH3_64bits((const uint8_t *)page + skipped, used - skipped);
}

static bool possible(const struct kvc_flash_page_header *header, uint32_t page_bytes)
{
    if (header->used < KVC_FLASH_PAGE_HEADER_BYTES || header->used > page_bytes ||
        header->sequence >= KVC_FLASH_SEQUENCE_END) {
        return false;
    }
    return header->kind != KVC_FLASH_PAGE_LOG || header->first == 0 ||
           (header->first >= KVC_FLASH_PAGE_HEADER_BYTES && header->first < header->used);
}

bool kvc_flash_page_seal(void *page, uint32_t page_bytes)
{
    struct kvc_flash_page_header header;
    memcpy(&header, page, sizeof(header));
    header.magic = page_magic;
    if (!possible(&header, page_bytes)) {
        return false;
    }
    memcpy(page, &header, sizeof(header));
    header.checksum = checksum_of(page, header.used);
    memcpy(page, &header, sizeof(header));
    return true;
}

bool kvc_flash_page_open(const void *page, uint32_t page_bytes, enum kvc_flash_page_kind kind,
                         struct kvc_flash_page_header *header)
{
    return kvc_flash_page_trust(page, page_bytes, kind, header) &&
           header->checksum == checksum_of(page, header->used);
}

bool kvc_flash_page_trust(const void *page, uint32_t page_bytes, enum kvc_flash_page_kind kind,
                          struct kvc_flash_page_header *header)
{
    memcpy(header, page, sizeof(*header));
    return header->magic == page_magic && header->kind == kind && possible(header, page_bytes);
}

uint32_t kvc_flash_record_bytes(uint32_t key_bytes, uint32_t value_bytes)
{
    uint32_t bytes = KVC_FLASH_RECORD_HEADER_BYTES + key_bytes + value_bytes;
    return (bytes + RECORD_ALIGN - 1) & ~(uint32_t)(RECORD_ALIGN - 1);
}

void kvc_flash_record_write(uint8_t *to, enum kvc_flash_record_kind kind, uint64_t back, uint32_t key_bytes,
                            uint32_t value_bytes)
{
    struct record_header header = {
        .back = back, .key_bytes = key_bytes, .kind = kind, .value_bytes = value_bytes};
    memcpy(to, &header, sizeof(header));
}

bool kvc_flash_record_read(const uint8_t *page, uint32_t page_bytes, uint32_t used, uint32_t offset,
                           struct kvc_flash_record *record)
{
    struct record_header header;
    if (offset < KVC_FLASH_PAGE_HEADER_BYTES || offset > used || used - offset < sizeof(header)) {
        return false;
    }
    memcpy(&header, page + offset, sizeof(header));
    uint32_t in_page = used - offset - (uint32_t)sizeof(header);
    if ((header.kind != KVC_FLASH_RECORD_VALUE && header.kind != KVC_FLASH_RECORD_TOMBSTONE) ||
        header.key_bytes > in_page ||
        (header.kind == KVC_FLASH_RECORD_TOMBSTONE && header.value_bytes != 0)) {
        return false;
    }
    in_page -= header.key_bytes;
    uint32_t value_in_page = header.value_bytes < in_page ? header.value_bytes : in_page;
    uint32_t value_left = header.value_bytes - value_in_page;
    if (value_left != 0 && used != page_bytes) {
        return false; /* only a full page continues in the next one */
    }
    uint32_t payload = page_bytes - KVC_FLASH_PAGE_HEADER_BYTES;
    *record = (struct kvc_flash_record){
        .kind = (enum kvc_flash_record_kind)header.kind,
        .back = header.back,
        .key_bytes = header.key_bytes,
        .value_bytes = header.value_bytes,
        .key = page + offset + sizeof(header),
        .value_in_page = value_in_page,
        .pages = 1 + (value_left + payload - 1) / payload,
        .next = offset + kvc_flash_record_bytes(header.key_bytes, value_in_page),
    };
    return true;
}
