/* Fuzz target that takes any bytes as validate/accuracy.csv. A table that is refused has one message. One
 * that is accepted comes back when it is written, as far as its store is concerned. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/accuracy.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Returns the scores as a file. */
static char *written(const struct kvc_accuracy *accuracy, size_t *bytes)
{
    char *text;
    FILE *out = open_memstream(&text, bytes);
    kvc_fuzz_check(out != NULL);
    kvc_accuracy_write_header(out);
    kvc_accuracy_write(accuracy, "megakv", out);
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct kvc_accuracy accuracy, again;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_accuracy_read(kvc_memory_file(data, bytes), "megakv", &accuracy, &diag);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
        return 0;
    }
    size_t first_bytes, second_bytes;
    char *first = written(&accuracy, &first_bytes);
    const bool is_plain = strpbrk(first, "\"\r") == NULL; /* Names of cases have no quotes. */
    status = kvc_accuracy_read(kvc_memory_file((const uint8_t *)first, first_bytes), "megakv", &again, &diag);
    if (is_plain && status == KVC_OK) {
        char *second = written(&again, &second_bytes);
        kvc_fuzz_check(first_bytes == second_bytes && memcmp(first, second, first_bytes) == 0);
        free(second);
    }
    free(first);
    return 0;
}
