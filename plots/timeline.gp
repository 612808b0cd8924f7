# Draws the throughput over time, one step per window and one line per result.
# Usage: gnuplot -c timeline.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has one block of "time_ms mops" per line, under the title of the line.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA using 1:2 nooutput
if (STATS_blocks == 1) { unset key }
set xrange [0:STATS_max_x]
set yrange [0:STATS_max_y > 0 ? STATS_max_y * 1.08 : 1]
set xlabel "time after the warm-up (ms)"
set ylabel "throughput (Mops)"
plot for [i = 0:STATS_blocks - 1] DATA index i using 1:2 with steps linestyle style(i + 1) title columnheader(1)
set output
