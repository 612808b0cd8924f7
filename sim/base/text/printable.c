#include "sim/base/text/printable.h"

#include <stdint.h>
#include <string.h>

static bool is_shown(uint32_t character)
{
    bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    bool separator = character == 0x2028 || character == 0x2029;
    bool direction = character == 0x200e || character == 0x200f ||
                     (character >= 0x202a && character <= 0x202e) ||
                     (character >= 0x2066 && character <= 0x2069);
    return !control && !separator && !direction;
}

/* Returns the length of the first character of the text, or 0 if it is none that can be shown. */
static size_t first_character(const char *text, size_t bytes)
{
    static const uint32_t least[] = {
        0, 0, 0x80, 0x800,
        0x10000}; /* Least character of each length; a smaller one must have a shorter form. */
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t character = length == 1 ? first : first & (0x7fu >> length);
    if (length == 0 || length > bytes || first >= 0xf8) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80) {
            return 0;
        }
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    }
    bool surrogate = character >= 0xd800 && character < 0xe000;
    bool valid = character >= least[length] && character <= 0x10ffff && !surrogate;
    return valid && is_shown(character) ? length : 0;
}

bool kvc_is_printable(const char *text, size_t bytes)
{
    size_t length = 1;
    for (size_t at = 0; at < bytes && length > 0; at += length) {
        length = first_character(text + at, bytes - at);
    }
    return length > 0;
}

void kvc_make_printable(char *text)
{
    size_t bytes = strlen(text);
    for (size_t at = 0; at < bytes;) {
        size_t length = first_character(text + at, bytes - at);
        if (length == 0) {
            text[at] = strchr("\t\n\v\f\r", text[at]) != NULL ? ' ' : '?';
        }
        at += length > 0 ? length : 1;
    }
}

void kvc_put_html(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}
