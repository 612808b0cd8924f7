# Draws a day: the load and what of it is served, the p99 latency with its objective, and the power, one step per window.
# Usage: gnuplot -c day.gp STYLE DATA OUTPUT FORMAT COLUMNS OBJECTIVE
# DATA has a block of lines "hour offered_mops served_mops p99_us watts", the last one for the end of the day; unknown values are NaN.
# OBJECTIVE is the bound of the p99 latency in microseconds, or empty.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
OBJECTIVE = ARG6
HEIGHT = 9.5
load load_style
panels = 3
left = COLUMNS == 1 ? 0.18 : 0.1
bottom(panel) = (1.2 + (panels - panel) * (HEIGHT - 2.0) / panels) / HEIGHT
top(panel) = bottom(panel) + ((HEIGHT - 2.0) / panels - 0.35) / HEIGHT
largest(column) = sprintf("stats DATA using (column(%d) == column(%d) ? column(%d) : 0) name 'COLUMN' nooutput", column, column, column)
begin_panel(panel) = sprintf("set margins screen left, screen 0.96, screen bottom(%d), screen top(%d)", panel, panel)
axis(most) = sprintf("set yrange [0:%g]; set ytics round_tics(%g)", most > 0 ? most * 1.1 : 1, most > 0 ? most * 1.1 : 1)
set multiplot
set xrange [0:24]
set xtics COLUMNS == 1 ? 6 : 3
set format x ""
unset xlabel
set key at screen 0.5, screen 1 - 0.1 / HEIGHT center top maxrows 1
eval begin_panel(1)
eval largest(2)
eval axis(COLUMN_max)
set ylabel "load (Mops)"
bound = OBJECTIVE eq "" ? 0 : real(OBJECTIVE)
entries = bound > 0 ? ", keyentry with lines " . objective . " title 'objective'" : ""
plot DATA using 1:2 with steps linestyle 2 title "offered", DATA using 1:3 with steps linestyle 1 title "served" @entries
unset key
eval begin_panel(2)
eval largest(4)
eval axis(COLUMN_max > bound ? COLUMN_max : bound)
set ylabel "p99 latency (µs)"
if (bound > 0) { set arrow 1 from 0, bound to 24, bound nohead @objective }
plot DATA using 1:4 with steps linestyle 1 notitle
unset arrow 1
eval begin_panel(3)
eval largest(5)
eval axis(COLUMN_max)
set format x "%h"
set xlabel "time of the day (h)"
set ylabel "power (W)"
plot DATA using 1:5 with steps linestyle 1 notitle
unset multiplot
set output
