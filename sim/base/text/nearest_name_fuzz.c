/* Fuzz target for the search for the name that a user may have meant. The first line is the name found, the
 * others are those allowed. The answer is one of them, and a name that is allowed is its own nearest. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { NAMES_MAX = 16 };

static void check(bool right)
{
    if (!right) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = strndup((const char *)data, bytes), *rest = text;
    const char *names[NAMES_MAX + 1] = {NULL};
    bool is_allowed = false, is_listed = false;
    check(text != NULL);
    const char *found = strsep(&rest, "\n");
    for (int i = 0; i < NAMES_MAX && rest != NULL; i++) {
        names[i] = strsep(&rest, "\n");
        is_allowed = is_allowed || strcmp(names[i], found) == 0;
    }
    const char *nearest = kvc_nearest_name(found, names);
    for (const char *const *name = names; *name != NULL; name++) {
        is_listed = is_listed || *name == nearest;
    }
    check(nearest == NULL || is_listed);
    /* Names of more than 63 characters count as far from all. */
    check(!is_allowed || strlen(found) > 63 || (nearest != NULL && strcmp(nearest, found) == 0));
    free(text);
    return 0;
}
