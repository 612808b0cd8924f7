/* Checks pictures in SVG: they are well-formed, no text leaves the page, and axes have titles with units.
 * Usage: svg_check KIND FILE, where KIND is axes (both titles have a unit), words (the x axis has words or
 * plain numbers), bars (the y axis has words, and no title), or graph (there are no axes). Prints every
 * fault; exit status 1 if there is one.
 *
 * It knows of SVG what gnuplot and dot write: nested groups with translate, scale and rotate, and text with
 * an anchor and a size. Text is as wide as in DejaVu Sans, which fontconfig takes for Sans. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NAME_BYTES = 32, VALUE_BYTES = 256, FILE_BYTES = 4 << 20 };

/* Maps the coordinates of an element to those of the page: x' = a x + c y + e, y' = b x + d y + f. */
struct matrix {
    double a, b, c, d, e, f;
};

/* An open element, with what it inherits. */
struct element {
    char name[NAME_BYTES];
    struct matrix to_page;
    double font_size, x, y;
    char anchor[NAME_BYTES];
};

/* Corners of a text on the page. */
struct box {
    double left, right, top, bottom;
};

struct check {
    const char *file;
    double width, height;
    struct element open[DEPTH_MAX];
    int depth;
    int faults, texts, upright_titles;
    double lowest;           /* Bottom of the lowest text so far. */
    char title[VALUE_BYTES]; /* The lowest text: the title of the x axis. */
};

static void fault(struct check *check, const char *what, const char *text)
{
    printf("%s: %s: \"%s\"\n", check->file, what, text);
    check->faults++;
}

/* Widths of the characters from blank to ~ in DejaVu Sans [1/1000 of the size]. */
static const int widths[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838,
};

static double width_of(const char *text, double size)
{
    double sum = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        bool continues = (*at & 0xc0) == 0x80; /* Only the first byte of a character counts. */
        sum += *at >= ' ' && *at <= '~' ? widths[*at - ' '] : continues ? 0 : 636;
    }
    return sum / 1000 * size;
}

static struct matrix product(const struct matrix *m, const struct matrix *n)
{
    return (struct matrix){m->a * n->a + m->c * n->b,        m->b * n->a + m->d * n->b,
                           m->a * n->c + m->c * n->d,        m->b * n->c + m->d * n->d,
                           m->a * n->e + m->c * n->f + m->e, m->b * n->e + m->d * n->f + m->f};
}

/* Applies a list of transformations, such as "translate(4,9) rotate(270)". */
static void transform(struct check *check, struct matrix *matrix, const char *list)
{
    for (const char *at = list; *at != '\0'; at += strspn(at, ") ,")) {
        double first = 0, second = 0;
        char name[NAME_BYTES];
        int used = 0, numbers = sscanf(at, "%31[a-z](%lf%*1[ ,]%lf%n", name, &first, &second, &used);
        if (numbers < 2) {
            fault(check, "unknown transformation", list);
            return;
        }
        struct matrix step = {1, 0, 0, 1, 0, 0};
        if (strcmp(name, "translate") == 0) {
            step.e = first;
            step.f = second;
        } else if (strcmp(name, "scale") == 0) {
            step.a = first;
            step.d = numbers == 3 ? second : first;
        } else if (strcmp(name, "rotate") == 0) {
            double angle = first * acos(-1) / 180;
            step = (struct matrix){cos(angle), sin(angle), -sin(angle), cos(angle), 0, 0};
        } else {
            fault(check, "unknown transformation", list);
        }
        *matrix = product(matrix, &step);
        at += strcspn(at, ")");
    }
}

static struct box box_of(const struct element *element, const char *text)
{
    double width = width_of(text, element->font_size);
    double left = strcmp(element->anchor, "end") == 0      ? -width
                  : strcmp(element->anchor, "middle") == 0 ? -width / 2
                                                           : 0;
    struct box box = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int corner = 0; corner < 4; corner++) {
        const struct matrix *m = &element->to_page;
        double x = element->x + left + (corner % 2 == 0 ? 0 : width);
        double y = element->y + (corner < 2 ? 0.2 : -0.75) * element->font_size;
        double page_x = m->a * x + m->c * y + m->e, page_y = m->b * x + m->d * y + m->f;
        box.left = fmin(box.left, page_x);
        box.right = fmax(box.right, page_x);
        box.top = fmin(box.top, page_y);
        box.bottom = fmax(box.bottom, page_y);
    }
    return box;
}

static bool has_unit(const char *text)
{
    const char *open = strrchr(text, '(');
    return open != NULL && open > text && text[strlen(text) - 1] == ')';
}

/* Checks the text of an element. A title of a y axis stands upright. */
static void take_text(struct check *check, const char *text)
{
    const struct element *element = &check->open[check->depth - 1];
    struct box box = box_of(element, text);
    check->texts++;
    if (box.left < -1 || box.top < -1 || box.right > check->width + 1 || box.bottom > check->height + 1) {
        fault(check, "a text leaves the page", text);
    }
    if (fabs(element->to_page.b + 1) < 0.01) {
        check->upright_titles++;
        if (!has_unit(text)) {
            fault(check, "the title of a y axis has no unit", text);
        }
    } else if (box.bottom > check->lowest) {
        check->lowest = box.bottom;
        snprintf(check->title, sizeof(check->title), "%s", text);
    }
}

/* Reads the attributes of a tag into its element. Returns the end of the tag, or NULL if it is not
 * well-formed. */
static const char *read_attributes(struct check *check, const char *at, struct element *element)
{
    while (true) {
        char name[NAME_BYTES], value[VALUE_BYTES];
        at += strspn(at, " \t\r\n");
        if (*at == '>' || strncmp(at, "/>", 2) == 0) {
            return at;
        }
        size_t length = strcspn(at, "= \t\r\n<>\"'");
        const char *quote = at + length + strspn(at + length, " \t\r\n");
        bool has_value = *quote == '=';
        quote += has_value;
        quote += strspn(quote, " \t\r\n");
        if (length == 0 || length >= sizeof(name) || !has_value || (*quote != '"' && *quote != '\'')) {
            return NULL;
        }
        const char *end = strchr(quote + 1, *quote);
        if (end == NULL || memchr(quote + 1, '<', (size_t)(end - quote - 1)) != NULL) {
            return NULL;
        }
        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        snprintf(value, sizeof(value), "%.*s",
                 (int)(end - quote - 1 < VALUE_BYTES - 1 ? end - quote - 1 : VALUE_BYTES - 1), quote + 1);
        if (strcmp(name, "transform") == 0 && strcmp(element->name, "g") == 0) {
            transform(check, &element->to_page, value);
        } else if (strcmp(name, "viewBox") == 0) {
            sscanf(value, "%*f %*f %lf %lf", &check->width, &check->height);
        } else if (strcmp(name, "font-size") == 0) {
            element->font_size = strtod(value, NULL);
        } else if (strcmp(name, "text-anchor") == 0) {
            snprintf(element->anchor, sizeof(element->anchor), "%.31s", value);
        } else if (strcmp(name, "x") == 0 || strcmp(name, "y") == 0) {
            *(name[0] == 'x' ? &element->x : &element->y) = strtod(value, NULL);
        }
        at = end + 1;
    }
}

/* Reads a tag that begins at `at`. Returns what follows it, or NULL if it is not well-formed. */
static const char *read_tag(struct check *check, const char *at)
{
    if (strncmp(at, "<!--", 4) == 0) {
        const char *end = strstr(at, "-->");
        return end != NULL ? end + 3 : NULL;
    }
    if (at[1] == '?' || at[1] == '!') {
        const char *end = strchr(at, '>');
        return end != NULL ? end + 1 : NULL;
    }
    bool closes = at[1] == '/';
    at += 1 + closes;
    size_t length = strcspn(at, " \t\r\n/>");
    if (closes) {
        const char *open = check->depth > 0 ? check->open[check->depth - 1].name : "";
        bool matches = strlen(open) == length && strncmp(open, at, length) == 0 && at[length] == '>';
        check->depth -= matches;
        return matches ? at + length + 1 : NULL;
    }
    if (length == 0 || length >= NAME_BYTES || check->depth == DEPTH_MAX) {
        return NULL;
    }
    struct element element = {.to_page = {1, 0, 0, 1, 0, 0}, .font_size = 10};
    if (check->depth > 0) {
        element = check->open[check->depth - 1];
    }
    snprintf(element.name, sizeof(element.name), "%.*s", (int)length, at);
    at = read_attributes(check, at + length, &element);
    if (at != NULL && *at == '>') {
        check->open[check->depth++] = element;
    }
    return at == NULL ? NULL : at + (*at == '>' ? 1 : 2);
}

/* Copies the text up to the next tag, without blanks around it and with its entities. Returns false if one is
 * unknown. */
static bool copy_text(const char *at, size_t length, char text[VALUE_BYTES])
{
    static const struct {
        const char *entity;
        char character;
    } known[] = {{"&amp;", '&'},   {"&lt;", '<'},  {"&gt;", '>'},  {"&quot;", '"'},
                 {"&apos;", '\''}, {"&#45;", '-'}, {"&#160;", ' '}};
    size_t used = 0;
    for (size_t i = 0; i < length && used < VALUE_BYTES - 1; i++) {
        char character = at[i];
        if (character == '&') {
            size_t k = 0;
            while (k < sizeof(known) / sizeof(*known) &&
                   strncmp(at + i, known[k].entity, strlen(known[k].entity)) != 0) {
                k++;
            }
            if (k == sizeof(known) / sizeof(*known)) {
                return false;
            }
            character = known[k].character;
            i += strlen(known[k].entity) - 1;
        }
        if (used > 0 || strchr(" \t\r\n", character) == NULL) {
            text[used++] = character;
        }
    }
    while (used > 0 && strchr(" \t\r\n", text[used - 1]) != NULL) {
        used--;
    }
    text[used] = '\0';
    return true;
}

static void check_picture(struct check *check, const char *bytes)
{
    const char *at = bytes;
    bool any = false;
    while (at != NULL && *at != '\0') {
        char text[VALUE_BYTES];
        size_t length = strcspn(at, "<");
        bool in_text = false;
        for (int i = 0; i < check->depth; i++) {
            in_text = in_text || strcmp(check->open[i].name, "text") == 0;
        }
        if (!copy_text(at, length, text)) {
            at = NULL;
            break;
        }
        if (in_text && text[0] != '\0') {
            take_text(check, text);
        } else if (check->depth == 0 && text[0] != '\0') {
            at = NULL;
            break;
        }
        at += length;
        const char *tag = at;
        at = *at == '<' ? read_tag(check, at) : at;
        if (at == NULL) {
            snprintf(text, sizeof(text), "%.60s", tag);
            text[strcspn(text, "\n")] = '\0';
            fault(check, "is not well-formed", text);
            return;
        }
        any = any || check->depth > 0;
    }
    if (at == NULL || check->depth > 0 || !any) {
        fault(check, "is not well-formed", check->depth > 0 ? check->open[check->depth - 1].name : "");
    }
}

int main(int argc, char **argv)
{
    static char bytes[FILE_BYTES];
    struct check check = {.lowest = -INFINITY};
    if (argc != 3 || (strcmp(argv[1], "axes") != 0 && strcmp(argv[1], "words") != 0 &&
                      strcmp(argv[1], "bars") != 0 && strcmp(argv[1], "graph") != 0)) {
        fputs("usage: svg_check axes|words|bars|graph FILE\n", stderr);
        return 2;
    }
    check.file = argv[2];
    FILE *file = fopen(argv[2], "r");
    size_t size = file != NULL ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;
    if (file == NULL || size == 0 || size == sizeof(bytes) - 1 || strlen(bytes) != size) {
        fault(&check, "cannot be read", argv[2]);
        return 1;
    }
    fclose(file);
    check_picture(&check, bytes);
    if (check.texts == 0) {
        fault(&check, "has no text", "");
    }
    bool has_y_title = strcmp(argv[1], "axes") == 0 || strcmp(argv[1], "words") == 0;
    if (has_y_title && check.upright_titles == 0) {
        fault(&check, "no y axis has a title", "");
    }
    bool has_x_unit = strcmp(argv[1], "axes") == 0 || strcmp(argv[1], "bars") == 0;
    if (has_x_unit && !has_unit(check.title)) {
        fault(&check, "the title of the x axis has no unit", check.title);
    }
    return check.faults > 0;
}
