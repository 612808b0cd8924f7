# Draws the cumulative distribution of the latency, one line per result.
# Usage: gnuplot -c cdf.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has one block of "latency_us fraction" per line, under the title of the line.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA using 1:2 nooutput
if (STATS_blocks == 1) { unset key }
if (STATS_max_x > 30 * STATS_min_x && STATS_min_x > 0) {
    set logscale x
    set xrange [STATS_min_x:STATS_max_x]
} else {
    margin = STATS_max_x > STATS_min_x ? 0.04 * (STATS_max_x - STATS_min_x) : 1
    set xrange [STATS_min_x - margin:STATS_max_x + margin]
}
set yrange [0:1.02]
set ytics 0.2
set xlabel "latency (µs)"
set ylabel "share of requests"
plot for [i = 0:STATS_blocks - 1] DATA index i using 1:2 with steps linestyle style(i + 1) title columnheader(1)
set output
