# Draws the latency over the offered load, one line per percentile. Bars are 95 % intervals; an arrow says that one goes on
# beyond the picture. Lines end where not all replicas serve the load: points of such loads are open, because the mean of
# replicas that queue and replicas that do not is no point of a curve. The band is the interval of the capacity. Loads that
# only the search for the capacity probed have no points, because they are too close to each other.
# Usage: gnuplot -c capacity.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has a block with the line "low mean high" of the capacity, and then one block of
# "offered_mops latency_us low_us high_us state on_curve" per line, under the title of the line; the state is 2 if all
# replicas serve the load, 1 if some do, and 0 if none does.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
HEIGHT = COLUMNS == 1 ? 8.0 : 6.5
load load_style
stats DATA index 0 using 1:3 name "CAPACITY" nooutput
stats DATA index 0 using 2 name "MEAN" nooutput
stats DATA using 1:2 name "ALL" nooutput
lines = ALL_blocks - 1
simulated = lines < 4 ? lines : 4 # The closed form comes last and has no points.
# Far beyond the capacity, the latency depends only on the length of the run.
right = CAPACITY_max_y * 1.1
set xrange [0:right]
set logscale y
stats [0:right] DATA index 1:simulated using 1:2 name "SHOWN" nooutput
bottom = SHOWN_min_y / 1.5
top = SHOWN_max_y * 1.5
set yrange [bottom:top]
eval log_tics("y", bottom, top)
set xlabel "offered load (Mops)"
set ylabel "latency (µs)"
set object 1 rectangle from CAPACITY_min_x, graph 0 to CAPACITY_max_y, graph 1 behind fillcolor rgb "#e4e4e4" \
    fillstyle solid noborder
is_known = MEAN_min > 0
if (is_known) { set arrow 1 from MEAN_min, graph 0 to MEAN_min, graph 1 nohead linecolor rgb "#808080" linewidth 0.7 }
# The bars of a load stand beside each other, further apart where they are long.
beside(i, state) = (i - 0.5 - simulated / 2.0) * (state == 2 ? 0.002 : 0.006) * right
# Where replicas disagree, the intervals span the picture: there is room for those of the first and the last line only.
has_bar(i, state) = state == 2 || i == 1 || i == simulated
is_marked(state, on_curve) = state == 0 || on_curve == 1
inside(us) = us < bottom ? bottom : us > top ? top : us
# Counts what the legend has to explain.
disputed = 0
unserved = 0
bars = 0
stats [0:right] DATA index 1:simulated using 1:(disputed = $5 == 1 && $6 == 1 ? 1 : disputed, unserved = $5 == 0 ? 1 : unserved, \
    bars = $4 > $3 ? 1 : bars, 0) nooutput
eval legend_on_page(legend_rows(lines + bars + disputed + unserved + is_known + 1, 18))
entries = interval_entry(bars, "yerrorbars") . entry(disputed, "points", "#404040", "pointtype 6", "replicas disagree") . \
    entry(unserved, "points", "#404040", "pointtype 2", "not served") . \
    entry(is_known, "lines", "#808080", "", sprintf("capacity %.4g Mops", MEAN_min))
plot for [i = 1:lines] DATA index i using 1:($5 == 2 || i > simulated ? $2 : NaN) with lines linestyle style(i) \
        title columnheader(1), \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):(is_marked($5, $6) && has_bar(i, $5) && $4 > $3 ? inside($2) : NaN):(inside($3)):(inside($4)) \
        with yerrorbars linestyle style(i) dashtype 1 linewidth 0.7 pointtype 0 notitle, \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):(is_marked($5, $6) && has_bar(i, $5) && $4 > top ? top / 1.25 : NaN):(0):(top - top / 1.25) \
        with vectors filled head size screen 0.012, 25 linestyle style(i) dashtype 1 linewidth 0.7 notitle, \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):(is_marked($5, $6) && has_bar(i, $5) && $3 < bottom ? bottom * 1.25 : NaN):(0):(bottom - bottom * 1.25) \
        with vectors filled head size screen 0.012, 25 linestyle style(i) dashtype 1 linewidth 0.7 notitle, \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):($5 == 2 && is_marked($5, $6) ? $2 : NaN) with points \
        linestyle style(i) pointtype filled(i) notitle, \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):($5 == 1 && is_marked($5, $6) ? $2 : NaN) with points \
        linestyle style(i) pointtype filled(i) - 1 notitle, \
    for [i = 1:simulated] DATA index i using ($1 + beside(i, $5)):($5 == 0 ? $2 : NaN) with points \
        linestyle style(i) pointtype 2 notitle @entries, \
    keyentry with boxes fillcolor rgb "#e4e4e4" fillstyle solid noborder title "its interval"
set output
