# Draws the throughput over time and, below it, the mean latency of the requests that each window answered: one step per
# window and one line per result.
# Usage: gnuplot -c timeline.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has two blocks per line, "time_ms mops" and "time_ms latency_us", under the title of the line.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
stats DATA using 1:2 name "ALL" nooutput
lines = ALL_blocks / 2
# The largest values of both, and the smallest latency.
throughput = 0
latency = 0
least = 0
do for [i = 0:lines - 1] {
    stats DATA index 2 * i using (throughput = $2 > throughput ? $2 : throughput) nooutput
    known = 0
    stats DATA index 2 * i + 1 using (latency = $2 > latency ? $2 : latency, \
        least = $2 > 0 && (least == 0 || $2 < least) ? $2 : least, 1) nooutput
}
HEIGHT = latency > 0 ? 8.5 : 6.0
load load_style
set xrange [0:ALL_max_x]
set xtics round_tics(ALL_max_x / COLUMNS)
set yrange [0:throughput > 0 ? throughput * 1.08 : 1]
if (latency > 0 && throughput > 0) { set ytics round_tics(throughput * 1.08) }
set xlabel "time after the warm-up (ms)"
set ylabel "throughput (Mops)"
legend = lines == 1 ? 0.3 : 0.3 + 0.42 * (COLUMNS == 1 ? lines : (lines + 1) / 2)
if (latency > 0) {
    left = COLUMNS == 1 ? 0.18 : 0.1
    middle = (8.5 - legend + 1.2) / 2
    set multiplot
    set ylabel offset (COLUMNS == 1 ? 0.5 : 0), 0
    set key at screen 0.5, screen 1 - 0.1 / HEIGHT center top vertical maxrows (COLUMNS == 1 ? lines : (lines + 1) / 2)
    set margins screen left, screen 0.96, screen (middle + 0.2) / HEIGHT, screen 1 - legend / HEIGHT
    unset xlabel
    set format x ""
}
if (lines == 1) { unset key }
plot for [i = 0:lines - 1] DATA index 2 * i using 1:2 with steps linestyle style(i + 1) title columnheader(1)
if (latency > 0) {
    unset key
    set margins screen left, screen 0.96, screen 1.2 / HEIGHT, screen (middle - 0.2) / HEIGHT
    set xlabel "time after the warm-up (ms)"
    set ylabel "mean latency (µs)"
    set format x "%h"
    if (latency > 30 * least) {
        set logscale y
        set yrange [least / 1.3:latency * 1.3]
        eval log_tics("y", least / 1.3, latency * 1.3)
    } else {
        set yrange [0:latency * 1.08]
        set ytics round_tics(latency * 1.08)
    }
    plot for [i = 0:lines - 1] DATA index 2 * i + 1 using 1:2 with steps linestyle style(i + 1) notitle
    unset multiplot
}
set output
