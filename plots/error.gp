# Draws predicted over published or measured values. The diagonal is a perfect prediction, and the band is within 10 %
# of it. The cases with the largest errors are named if they are outside the band.
# Usage: gnuplot -c error.gp STYLE DATA OUTPUT FORMAT COLUMNS XLABEL
# DATA has one block of "reference predicted case" per metric, under the title of the metric.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
XLABEL = ARG6
load load_style
stats DATA using 1:2 nooutput
low = STATS_min_x < STATS_min_y ? STATS_min_x : STATS_min_y
high = STATS_max_x > STATS_max_y ? STATS_max_x : STATS_max_y
if (low > 0 && high > 30 * low) {
    set logscale xy
    low = low / 1.3
    high = high * 1.3
    eval log_tics("x", low, high)
    eval log_tics("y", low, high)
} else {
    low = low > 0 ? 0 : low * 1.1
    high = high * 1.1
    set xtics round_tics(high - low)
    set ytics round_tics(high - low)
}
set xrange [low:high]
set yrange [low:high]
set size square
set samples 400
set xlabel XLABEL
set ylabel "predicted (same unit)"
outside(reference, predicted) = abs(predicted - reference) > 0.1 * abs(reference)
# Names are placed towards the middle of the picture, where the frame has room. The other points get empty labels,
# because gnuplot 5.4 crashes on labels whose places are all NaN.
right(reference) = reference > (low > 0 ? sqrt(low * high) : 0.5 * (low + high))
plot '+' using 1:(0.9 * $1):(1.1 * $1) with filledcurves linecolor rgb "#e4e4e4" title "within 10 %", \
    x with lines linecolor rgb "#808080" linewidth 0.7 notitle, \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:2 with points linestyle style(i + 1) pointtype filled(i + 1) \
        title columnheader(1), \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:2:(outside($1, $2) && right($1) ? strcol(3) : "") \
        with labels right offset -0.7, 0 font ",6" notitle, \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:2:(outside($1, $2) && !right($1) ? strcol(3) : "") \
        with labels left offset 0.7, 0 font ",6" notitle
set output
