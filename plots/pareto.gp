# Draws the Pareto front of a plan: latency over price, or over power or nodes where prices are unknown. Colours are the
# power. The ring is the chosen point as it was simulated, with its interval; grey lines are objectives.
# Usage: gnuplot -c pareto.gp STYLE DATA OUTPUT FORMAT COLUMNS XLABEL COLOURED YLABEL
# DATA has a block with the line "x_objective y_objective" (0: none), a block of "x latency_us watts x_half_width
# half_width_us" for the front and, if there is one, a block with the chosen point, each under its title.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
COLOURED = int(ARG7)
load load_style
stats DATA index 0 using 1:2 name "BOUND" nooutput
stats DATA index 1:2 using ($1 - $4):($2 - $5) name "LOW" nooutput
stats DATA index 1:2 using ($1 + $4):($2 + $5) name "HIGH" nooutput
stats DATA index 1 using 3 name "WATTS" nooutput
chosen = LOW_blocks - 1
# An objective far from all points would only shrink them.
low_y = LOW_min_y
high_y = HIGH_max_y
shows_y = BOUND_max_y > 0 && BOUND_max_y < high_y + 2 * (high_y - 0.8 * low_y)
shows_x = BOUND_max_x > 0 && BOUND_max_x < HIGH_max_x + 1 * (HIGH_max_x - 0.8 * LOW_min_x)
high_y = shows_y && BOUND_max_y > high_y ? BOUND_max_y : high_y
high_x = shows_x && BOUND_max_x > HIGH_max_x ? BOUND_max_x : HIGH_max_x
# Axes cover at least a tenth of the largest value, so that small differences look small.
margin(low, high) = (0.1 * high - (high - low) > 0 ? 0.5 * (0.1 * high - (high - low)) : 0) + 0.08 * (high - low)
x_margin = margin(LOW_min_x, high_x)
y_margin = margin(low_y, high_y)
set xrange [LOW_min_x - x_margin:high_x + x_margin]
set yrange [low_y - y_margin:high_y + y_margin]
set xtics round_tics(1.3 * (high_x - LOW_min_x + 2 * x_margin))
set xlabel ARG6
set ylabel ARG8
front = COLOURED ? "DATA index 1 using 1:2:3 with points pointtype 7 pointsize scaled(1.3) palette" : \
    "DATA index 1 using 1:2 with points linestyle 1 pointsize scaled(1.3)"
if (COLOURED) {
    # Dark to light, so that the order survives grey; yellow would vanish on white paper.
    set palette defined (0 "#440154", 0.33 "#3b528b", 0.67 "#21918c", 1 "#a0da39")
    set cblabel "power (W)" offset -0.5, 0
    set rmargin at screen (COLUMNS == 1 ? 0.78 : 0.87)
    if (WATTS_max <= WATTS_min) { set cbrange [WATTS_min - 1:WATTS_max + 1] }
}
if (shows_x) { set arrow 1 from BOUND_max_x, graph 0 to BOUND_max_x, graph 1 nohead @objective }
if (shows_y) { set arrow 2 from graph 0, first BOUND_max_y to graph 1, first BOUND_max_y nohead @objective }
eval legend_on_page(legend_rows(1 + 2 * chosen + (shows_x || shows_y), 20))
entries = entry(shows_x || shows_y, "lines", "#808080", "dashtype 3", "objective") . \
    interval_entry(chosen, "yerrorbars")
plot @front title columnheader(1), \
    for [i = 2:1 + chosen] DATA index i using 1:2 with points linestyle 2 pointtype 6 pointsize scaled(2.2) title columnheader(1), \
    for [i = 2:1 + chosen] DATA index i using 1:2:4:5 with xyerrorbars linecolor rgb "#404040" linewidth 0.7 pointtype 0 notitle @entries
set output
