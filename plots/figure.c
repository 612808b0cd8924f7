#include "plots/figure.h"

void kvc_figure_put_quoted(struct kvc_figure_data *figure, const char *text)
{
    fputc('"', figure->data);
    for (; *text != '\0'; text++) {
        fputc(*text == '"' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text, figure->data);
    }
    fputc('"', figure->data);
}

void kvc_figure_begin_block(struct kvc_figure_data *figure, const char *title)
{
    if (figure->blocks++ > 0) {
        fputs("\n\n", figure->data);
    }
    kvc_figure_put_quoted(figure, title);
    fputc('\n', figure->data);
}
