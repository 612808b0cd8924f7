# Draws the share of requests that take longer than a latency, one line per result. Bars are 95 % intervals of percentiles.
# Usage: gnuplot -c tail.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA is that of cdf.gp.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
# No request takes longer than the largest latency: the line ends there at the share before it.
last = 100
longer(share) = last = share < 1 ? 100 * (1 - share) : last # Percent.
stats DATA using 1:2 nooutput
lines = STATS_blocks / 2
stats DATA using (longer($2)) nooutput
least = STATS_min
has_intervals = 0
stats DATA using (has_intervals = valid(3) && $3 > 0 ? 1 : has_intervals, $1) name "BARS" nooutput
if (lines == 1 && !has_intervals) { unset key }
stats DATA using 1 nooutput
if (STATS_max > 30 * STATS_min && STATS_min > 0) {
    set logscale x
    set xrange [STATS_min / 1.1:STATS_max * 1.1]
    eval log_tics("x", STATS_min / 1.1, STATS_max * 1.1)
} else {
    margin = STATS_max > STATS_min ? 0.04 * (STATS_max - STATS_min) : 1
    set xrange [STATS_min - margin:STATS_max + margin]
}
set logscale y
set yrange [10 ** floor(log10(least)):100]
eval log_tics("y", 10 ** floor(log10(least)), 100)
set xlabel "latency (µs)"
set ylabel "slower requests (%)"
entries = interval_entry(has_intervals, "xerrorbars")
plot for [i = 0:lines - 1] DATA index 2 * i using 1:(longer($2)) with steps linestyle style(i + 1) \
        title columnheader(1), \
    for [i = 0:lines - 1] DATA index 2 * i + 1 using 1:($2 < 1 ? 100 * (1 - $2) : NaN):3:4 with xerrorbars \
        linestyle style(i + 1) dashtype 1 linewidth 0.7 pointtype 0 notitle @entries
set output
