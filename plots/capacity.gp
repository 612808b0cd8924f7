# Draws the latency over the offered load, one line per percentile. Bars are 95 % intervals, open points are loads that
# are not served, and the band is the interval of the capacity. Served loads that only the search for the capacity probed
# have no points, because they are too close to each other.
# Usage: gnuplot -c capacity.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has a block with the line "low mean high" of the capacity, and then one block of
# "offered_mops latency_us low_us high_us served on_curve" per line, under the title of the line.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA index 0 using 1:3 name "CAPACITY" nooutput
stats DATA index 0 using 2 name "MEAN" nooutput
stats DATA using 1:2 name "ALL" nooutput
lines = ALL_blocks - 1
# Far beyond the capacity, the latency depends only on the length of the run.
right = CAPACITY_max_y * 1.1
set xrange [0:right]
set logscale y
stats [0:right] DATA index 1:100 using 1:2 name "SHOWN" nooutput
if (SHOWN_max_y < 30 * SHOWN_min_y) {
    do for [k = -3:9] {
        set ytics add (sprintf("%g", 10.0 ** k) 10.0 ** k, sprintf("%g", 2 * 10.0 ** k) 2 * 10.0 ** k, \
            sprintf("%g", 5 * 10.0 ** k) 5 * 10.0 ** k)
    }
}
set yrange [SHOWN_min_y / 1.5:SHOWN_max_y * 1.5]
set xlabel "offered load (Mops)"
set ylabel "latency (µs)"
set object 1 rectangle from CAPACITY_min_x, graph 0 to CAPACITY_max_y, graph 1 behind fillcolor rgb "#e4e4e4" \
    fillstyle solid noborder
if (MEAN_min > 0) { # It is known.
    set arrow 1 from MEAN_min, graph 0 to MEAN_min, graph 1 nohead linecolor rgb "#808080" linewidth 0.7
    set label 1 sprintf("%.4g Mops ", MEAN_min) at MEAN_min, graph 0.95 right font ",6"
}
# In gnuplot's point types, each filled point follows its open counterpart.
filled(i) = int(word("7 5 9 11 13 15 7 5", style(i)))
simulated = lines < 4 ? lines : 4 # The closed form comes last and has no points.
plot for [i = 1:lines] DATA index i using 1:2 with lines linestyle style(i) title columnheader(1), \
    for [i = 1:simulated] DATA index i using 1:($5 == 1 && $6 == 1 ? $2 : NaN):3:4 with yerrorbars \
        linestyle style(i) dashtype 1 pointtype filled(i) notitle, \
    for [i = 1:simulated] DATA index i using 1:($5 == 0 ? $2 : NaN):3:4 with yerrorbars \
        linestyle style(i) dashtype 1 pointtype filled(i) - 1 notitle
set output
