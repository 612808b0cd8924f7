# Draws the throughput over a swept parameter, one line per value of the other parameters. Bars are 95 % intervals.
# Usage: gnuplot -c throughput.gp STYLE DATA OUTPUT FORMAT COLUMNS XLABEL NUMERIC
# DATA has one block of "x label mops half_width" per line, under the title of the line. If NUMERIC is 0, x only counts
# the values and the labels name them.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
NUMERIC = int(ARG7)
load load_style
stats DATA using 1:($3 + $4) nooutput
if (STATS_blocks == 1) { unset key }
if (NUMERIC && STATS_min_x > 0 && STATS_max_x > 30 * STATS_min_x) {
    set logscale x
    set xrange [STATS_min_x / 1.2:STATS_max_x * 1.2]
} else {
    margin = STATS_max_x > STATS_min_x ? 0.05 * (STATS_max_x - STATS_min_x) : 1
    set xrange [STATS_min_x - margin:STATS_max_x + margin]
    if (NUMERIC && STATS_max_x >= 1000) { set xtics round_tics(2 * margin + STATS_max_x - STATS_min_x) }
}
set yrange [0:STATS_max_y > 0 ? STATS_max_y * 1.08 : 1]
set xlabel ARG6
set ylabel "throughput (Mops)"
if (NUMERIC) {
    plot for [i = 0:STATS_blocks - 1] DATA index i using 1:3:4 with yerrorlines linestyle style(i + 1) \
        title columnheader(1)
} else {
    plot for [i = 0:STATS_blocks - 1] DATA index i using 1:3:4:xtic(2) with yerrorlines linestyle style(i + 1) \
        title columnheader(1)
}
set output
