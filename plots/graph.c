#include "plots/graph.h"

#include <math.h>
#include <string.h>

#include "plots/program.h"

/* One hue from light to dark. */
static const unsigned light[] = {0xf7, 0xfb, 0xff}, dark[] = {0x08, 0x45, 0x94};

void kvc_graph_put_colour(double frac, FILE *out)
{
    unsigned rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = (unsigned)lround(light[i] + fmin(fmax(frac, 0), 1) * ((double)dark[i] - light[i]));
    }
    fprintf(out, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

bool kvc_graph_needs_white(double frac)
{
    return frac > 0.55;
}

void kvc_graph_put_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

void kvc_graph_put_cell(double frac, FILE *out)
{
    fprintf(out, "<td");
    if (isnan(frac)) {
        fprintf(out, ">");
        return;
    }
    fprintf(out, " bgcolor=\"");
    kvc_graph_put_colour(frac, out);
    fprintf(out, "\"><font color=\"%s\">", kvc_graph_needs_white(frac) ? "white" : "black");
}

void kvc_graph_put_scale(FILE *out)
{
    fprintf(out, "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\"><tr><td border=\"0\">busy </td>");
    for (int percent = 0; percent <= 100; percent += 25) {
        kvc_graph_put_cell(percent / 100.0, out);
        fprintf(out, "%d %%</font></td>", percent);
    }
    fprintf(out, "</tr></table>");
}

enum kvc_status kvc_graph_draw(int graph, const char *format, const char *what,
                               struct kvc_partial_file *picture, struct kvc_diag *diag)
{
    static const struct kvc_drawing_program dot = {"dot", "graphviz"};
    char type[16];
    snprintf(type, sizeof(type), "-T%s", format);
    char *const arguments[] = {"dot", type, strcmp(format, "png") == 0 ? "-Gdpi=300" : NULL, NULL};
    const struct kvc_drawing drawing = {
        .arguments = arguments, .input = graph, .format = format, .what = what};
    return kvc_program_draw(&dot, &drawing, picture, diag);
}
