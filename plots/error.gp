# Predicted against published: the diagonal is a perfect prediction, the band is within 10 % of it. Cases outside the
# band are named.
# gnuplot -c error.gp STYLE DATA OUTPUT FORMAT COLUMNS; DATA: blocks of "published predicted case" headed by a title
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA using 1:2 nooutput
low = STATS_min_x < STATS_min_y ? STATS_min_x : STATS_min_y
high = STATS_max_x > STATS_max_y ? STATS_max_x : STATS_max_y
if (low > 0 && high > 30 * low) {
    set logscale xy
    low = low / 1.3
    high = high * 1.3
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
set xlabel "published"
set ylabel "predicted, same unit"
outside(published, predicted) = abs(predicted - published) > 0.1 * abs(published)
# Names stand on the side away from the diagonal, but inside the frame.
right(published, predicted) = predicted > published || published > (low > 0 ? (low * high ** 3) ** 0.25 : 0.7 * high)
plot '+' using 1:(0.9 * $1):(1.1 * $1) with filledcurves linecolor rgb "#e4e4e4" title "within 10 %", \
    x with lines linecolor rgb "#808080" linewidth 0.7 notitle, \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:2 with points linestyle style(i + 1) title columnheader(1), \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:(outside($1, $2) && right($1, $2) ? $2 : NaN):3 with labels right \
        offset -0.7, 0 font ",6" notitle, \
    for [i = 0:STATS_blocks - 1] DATA index i using 1:(outside($1, $2) && !right($1, $2) ? $2 : NaN):3 with labels left \
        offset 0.7, 0 font ",6" notitle
set output
