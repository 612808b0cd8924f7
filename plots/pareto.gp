# Draws the Pareto front of a plan: latency over price, or over power or nodes where prices are unknown. Colours are the
# power. The ring is the chosen point with its simulated latency and interval.
# Usage: gnuplot -c pareto.gp STYLE DATA OUTPUT FORMAT COLUMNS XLABEL COLOURED
# DATA has a block of "x latency_us watts half_width_us" for the front and, if there is one, a block with the chosen point,
# each under its title.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
COLOURED = int(ARG7)
load load_style
stats DATA using 1:2 name "ALL" nooutput
stats DATA using 3 name "WATTS" nooutput
x_margin = ALL_max_x > ALL_min_x ? 0.08 * (ALL_max_x - ALL_min_x) : 0.1 * ALL_max_x
y_margin = ALL_max_y > ALL_min_y ? 0.12 * (ALL_max_y - ALL_min_y) : 0.1 * ALL_max_y
set xrange [ALL_min_x - x_margin:ALL_max_x + x_margin]
set yrange [ALL_min_y - y_margin:ALL_max_y + y_margin]
if (ALL_max_x >= 1000) { set xtics round_tics(ALL_max_x - ALL_min_x + 2 * x_margin) }
set xlabel ARG6
set ylabel "latency (µs)"
if (COLOURED) {
    # Dark to light, so that the order survives grey.
    set palette defined (0 "#440154", 0.25 "#3b528b", 0.5 "#21918c", 0.75 "#5ec962", 1 "#fde725")
    set cblabel "power (W)"
    if (WATTS_max <= WATTS_min) { set cbrange [WATTS_min - 1:WATTS_max + 1] }
    plot DATA index 0 using 1:2:3 with points pointtype 7 palette title columnheader(1), \
        for [i = 1:ALL_blocks - 1] DATA index i using 1:2:4 with yerrorbars linestyle 2 pointtype 6 pointsize 1.6 \
            title columnheader(1)
} else {
    plot DATA index 0 using 1:2 with points linestyle 1 title columnheader(1), \
        for [i = 1:ALL_blocks - 1] DATA index i using 1:2:4 with yerrorbars linestyle 2 pointtype 6 pointsize 1.6 \
            title columnheader(1)
}
set output
