# Draws the cumulative distribution of the latency, one line per result. Bars are 95 % intervals of percentiles.
# Usage: gnuplot -c cdf.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has two blocks per line under the title of the line: "latency_us fraction", and "latency_us fraction low_us
# high_us" for the percentiles whose interval is known.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA using 1:2 nooutput
lines = STATS_blocks / 2
has_intervals = 0
stats DATA using (has_intervals = valid(3) && $3 > 0 ? 1 : has_intervals, $1) name "BARS" nooutput
if (lines == 1 && !has_intervals) { unset key }
if (STATS_max_x > 30 * STATS_min_x && STATS_min_x > 0) {
    set logscale x
    set xrange [STATS_min_x / 1.1:STATS_max_x * 1.1]
    eval log_tics("x", STATS_min_x / 1.1, STATS_max_x * 1.1)
} else {
    margin = STATS_max_x > STATS_min_x ? 0.04 * (STATS_max_x - STATS_min_x) : 1
    set xrange [STATS_min_x - margin:STATS_max_x + margin]
}
set yrange [0:102]
set ytics 20
set xlabel "latency (µs)"
set ylabel "share of requests (%)"
entries = interval_entry(has_intervals, "xerrorbars")
plot for [i = 0:lines - 1] DATA index 2 * i using 1:(100 * $2) with steps linestyle style(i + 1) \
        title columnheader(1), \
    for [i = 0:lines - 1] DATA index 2 * i + 1 using 1:(100 * $2):3:4 with xerrorbars linestyle style(i + 1) dashtype 1 \
        linewidth 0.7 pointtype 0 notitle @entries
set output
