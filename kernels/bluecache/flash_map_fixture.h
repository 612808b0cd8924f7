/* A plain map on top of a flash log: it holds the expected index, and the keys that must survive a crash. */
#ifndef KVC_KERNELS_BLUECACHE_FLASH_MAP_FIXTURE_H
#define KVC_KERNELS_BLUECACHE_FLASH_MAP_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/bluecache/flash_log.h"
#include "kernels/bluecache/flash_memory.h"

enum {
    FLASH_KEYS = 64,        /* Key k has k + 1 bytes. */
    FLASH_VALUE_MAX = 1500, /* Longest value; it spans four pages of 512 bytes [bytes]. */
    FLASH_NEVER = 0,        /* No version; versions count from 1. */
    FLASH_BUFFER_POINTER = 1 << 20,
};

/* The medium of most tests: 10 rows of 16 pages, of which the last two rows are for checkpoints. */
extern const struct kvc_flash_geometry flash_small;

/* A record in the write buffer. */
struct flash_unwritten {
    uint32_t key, version;
    uint64_t pointer;  /* Place in the write buffer. */
    uint64_t moved_to; /* Place on flash, once it is there. */
    uint32_t bytes;    /* Length of the record [bytes]. */
    bool deleted;      /* True if it is a tombstone. */
};

struct flash_map {
    struct kvc_flash_memory *memory;
    struct kvc_flash_log *log;
    uint64_t pointer[FLASH_KEYS]; /* The index: KVC_BLUECACHE_NOWHERE means no value. */
    uint32_t version[FLASH_KEYS]; /* Version that pointer[] leads to. */
    uint32_t last_version;
    uint64_t durable_pointer[FLASH_KEYS]; /* Last record on flash; NOWHERE once it is reclaimed. */
    uint32_t
        durable_version[FLASH_KEYS]; /* Version of this record; FLASH_NEVER for none and for a tombstone. */
    uint32_t maybe_version[FLASH_KEYS]; /* Version that may have survived a power cut. */
    bool maybe_gone[FLASH_KEYS];        /* A tombstone may have survived a power cut. */
    struct flash_unwritten unwritten[4096];
    uint32_t unwritten_count;
    bool power_cut; /* A power cut is planned; the map freezes at the first failure. */
    uint64_t failures_before;
};

/* Length of a version of a key's value, at least 8 bytes, and the value itself, which names key and version.
 */
uint32_t flash_value_bytes(uint32_t key, uint32_t version);
void flash_value(uint32_t key, uint32_t version, uint8_t *value);

/* Writes a key and returns its length. */
uint32_t flash_key(uint32_t key, uint8_t *bytes);

/* A map on an erased medium; its log must be formatted or recovered. */
struct flash_map *flash_map_create(const struct kvc_flash_geometry *geometry);
/* Frees a map and checks that no rule of NAND was broken. */
void flash_map_free(struct flash_map *map);

/* Parameters of the map's log. */
struct kvc_flash_log_params flash_map_params(struct flash_map *map);
/* Creates a new log over the same medium, with an empty index. */
void flash_map_start(struct flash_map *map);
/* Turns the power on, creates a new log and recovers it. */
void flash_map_restart(struct flash_map *map);

/* True once the planned power cut happened. */
bool flash_map_crashed(const struct flash_map *map);

/* Append a value or a tombstone, flush, and write a checkpoint, keeping the map up to date. */
void flash_map_append(struct flash_map *map, uint32_t key, bool deleted);
bool flash_map_flush(struct flash_map *map);
bool flash_map_checkpoint(struct flash_map *map);

/* Returns the version that the log has at a key's pointer. The test fails if it is none that the key ever
 * had. */
uint32_t flash_map_read_version(struct flash_map *map, uint32_t key);

/* Checks that the log returns the last version of every key in the index. */
void flash_map_check_all(struct flash_map *map);

/* Checks that every key has its durable version after a crash, or one that may have survived. */
void flash_map_check_recovered(struct flash_map *map, uint64_t cut);

#endif
