#include "plots/figure.h"

void kvc_figure_put_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        fputc(*text == '"' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

void kvc_figure_begin_block(struct kvc_figure_data *figure, const char *title)
{
    if (figure->blocks++ > 0) {
        fputs("\n\n", figure->data);
    }
    kvc_figure_put_quoted(title, figure->data);
    fputc('\n', figure->data);
}
