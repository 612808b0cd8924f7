#include "scenarios/output/page/page_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "sim/base/array.h"
#include "sim/base/text/printable.h"

enum { LONG_TEXT = 24 /* Bytes from which on a cell keeps a width on small screens. */ };

/* ---- text ---- */

/* Puts a text that a stranger may have written. */
static void put_text(const char *text, FILE *out)
{
    char *copy = kvc_array_of_text(text);
    kvc_make_printable(copy);
    kvc_put_html(copy, out);
    free(copy);
}

__attribute__((format(printf, 2, 3))) void kvc_page_put(const struct kvc_page_writer *to, const char *format,
                                                        ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        kvc_out_of_memory("the text of a page");
    }
    va_end(arguments);
    put_text(text, to->out);
    free(text);
}

void kvc_page_mark(const struct kvc_page_writer *to, const char *markup)
{
    fputs(markup, to->out);
}

/* ---- values ---- */

const json_t *kvc_page_at(const json_t *value, const char *path)
{
    while (value != NULL && *path != '\0') {
        char key[KVC_PAGE_KEY];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return value;
}

double kvc_page_number(const json_t *value, const char *path)
{
    const json_t *found = kvc_page_at(value, path);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

const char *kvc_page_text(const json_t *value, const char *path)
{
    const char *found = json_string_value(kvc_page_at(value, path));
    return found != NULL ? found : "";
}

/* Writes a number to be read: four digits, or all before the point. */
static void put_digits(const struct kvc_page_writer *to, double value)
{
    kvc_page_put(to, fabs(value) >= 1e4 && fabs(value) < 1e15 ? "%.0f" : "%.4g", value);
}

void kvc_page_put_data(const struct kvc_page_writer *to, double value, const char *key)
{
    char exact[KVC_NUMBER_TEXT_MAX];
    kvc_number_text(value, exact);
    kvc_page_mark(to, "<data value=\"");
    kvc_page_put(to, "%s", exact);
    kvc_page_mark(to, "\" data-key=\"");
    kvc_page_put(to, "%s", key);
    kvc_page_mark(to, "\">");
    put_digits(to, value);
    kvc_page_mark(to, "</data>");
}

void kvc_page_put_number(const struct kvc_page_writer *to, const char *path, const char *interval,
                         const char *unit)
{
    double half = kvc_page_number(to->document, interval);
    kvc_page_put_data(to, kvc_page_number(to->document, path), path);
    if (half > 0) {
        kvc_page_put(to, " ± %.2g", half);
    }
    kvc_page_put(to, " %s", unit);
}

/* ---- tables ---- */

void kvc_page_begin_table(const struct kvc_page_writer *to, const char *caption, const char *columns)
{
    kvc_page_mark(to, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
    kvc_page_put(to, "%s", caption);
    kvc_page_mark(to, "\"><table><caption>");
    kvc_page_put(to, "%s", caption);
    kvc_page_mark(to, "</caption>\n<thead><tr>");
    while (*columns != '\0') {
        size_t length = strcspn(columns, "|");
        bool is_number = *columns == '#';
        kvc_page_mark(to, is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        kvc_page_put(to, "%.*s", (int)length - is_number, columns + is_number);
        kvc_page_mark(to, "</th>");
        columns += length + (columns[length] == '|');
    }
    kvc_page_mark(to, "</tr></thead>\n<tbody>\n");
}

void kvc_page_end_table(const struct kvc_page_writer *to)
{
    kvc_page_mark(to, "</tbody></table></div>\n");
}

void kvc_page_begin_row(const struct kvc_page_writer *to, const char *name)
{
    kvc_page_mark(to,
                  strlen(name) > LONG_TEXT ? "<tr><th scope=\"row\" class=\"t\">" : "<tr><th scope=\"row\">");
    kvc_page_put(to, "%s", name);
    kvc_page_mark(to, "</th>");
}

void kvc_page_end_row(const struct kvc_page_writer *to)
{
    kvc_page_mark(to, "</tr>\n");
}

void kvc_page_put_cell(const struct kvc_page_writer *to, const char *content)
{
    kvc_page_mark(to, strlen(content) > LONG_TEXT ? "<td class=\"t\">" : "<td>");
    kvc_page_put(to, "%s", content);
    kvc_page_mark(to, "</td>");
}

void kvc_page_put_value(const struct kvc_page_writer *to, double value, double half)
{
    kvc_page_mark(to, "<td class=\"n\">");
    if (isnan(value)) {
        kvc_page_mark(to, "–");
    } else {
        put_digits(to, value);
    }
    if (half > 0) {
        kvc_page_put(to, " ± %.2g", half);
    }
    kvc_page_mark(to, "</td>");
}
