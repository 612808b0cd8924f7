/** @file
 * Gives a parser that takes a path the contents that a fuzz target has in memory. */
#ifndef KVC_SIM_BASE_FILES_MEMORY_FILE_FIXTURE_H
#define KVC_SIM_BASE_FILES_MEMORY_FILE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/** Replaces the contents of a file in memory, of which each process has one. Returns its path, which is valid
 * until the process ends. Aborts if the system refuses. */
const char *kvc_memory_file(const uint8_t *data, size_t bytes);

#endif
