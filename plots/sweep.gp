# Draws a metric of a sweep over a swept value, one line per value of others and one panel per value of the rest. Bars
# are 95 % intervals, the grey line is the objective.
# Usage: gnuplot -c sweep.gp STYLE DATA OUTPUT FORMAT COLUMNS XLABEL NUMERIC YLABEL
# DATA has a block under the title of the legend with a line "title is_bounded objective words" per panel, and then, for each panel, a block of
# "x label y half_width" per line, under the title of the line. If NUMERIC is 0, x only counts and the labels name it.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
NUMERIC = int(ARG7)
stats DATA index 0 using 2 name "PANEL" nooutput
stats DATA using 1 name "BLOCK" nooutput
PANELS = int(PANEL_records)
LINES = (BLOCK_blocks - 1) / PANELS
across = PANELS == 1 ? 1 : COLUMNS == 1 ? 2 : PANELS < 4 ? PANELS : 4
down = (PANELS + across - 1) / across
# The legend: as many columns as its longest text leaves room for.
array LINE[LINES]
longest = 0
do for [i = 1:LINES] {
    stats DATA index i every ::0::0 using (LINE[i] = strcol(1), 0) nooutput
    longest = strlen(LINE[i]) > longest ? strlen(LINE[i]) : longest
}
array TITLE[PANELS]
array BOUND[PANELS]
bounded = 0
do for [p = 1:PANELS] {
    stats DATA index 0 every ::p::p using (TITLE[p] = strcol(1), BOUND[p] = $2 == 1 ? $3 : NaN, \
        bounded = $2 == 1 ? 1 : bounded, words = strcol(4), 0) nooutput
}
stats DATA index 1:100000 using 4 name "HALF" nooutput
has_intervals = HALF_max > 0
is_same = 1
do for [p = 2:PANELS] { is_same = is_same && BOUND[p] == BOUND[1] }
entries = (longest > 0 ? LINES : 0) + bounded + has_intervals
longest = bounded && longest < 24 ? 24 : has_intervals && longest < 13 ? 13 : longest
# Each swept value of a panel's title has a line of its own.
lines_of(text) = strstrt(text, ", ") == 0 ? 1 : 1 + lines_of(text[strstrt(text, ", ") + 2:])
broken(text) = strstrt(text, ", ") == 0 ? text : \
    text[1:strstrt(text, ", ") - 1] . "\n" . broken(text[strstrt(text, ", ") + 2:])
# Labels that would touch each other are turned.
label_bytes = 0
longest_label = 0
stats DATA index 1 using (label_bytes = label_bytes + strlen(strcol(2)) + 2, \
    longest_label = strlen(strcol(2)) > longest_label ? strlen(strcol(2)) : longest_label, $3) nooutput
turned = !NUMERIC && label_bytes > 56 * (COLUMNS == 1 ? 1 : 2.2) / across
load load_style # Its functions; the height follows from them.
stats DATA index 0 every ::0::0 using (KEY = strcol(1), 0) nooutput
rows = legend_rows(entries, longest)
above = legend_height(rows + (KEY ne "")) # cm
title_height = PANELS > 1 ? 0.42 * lines_of(TITLE[1]) : 0
slope = longest_label > 14 ? 90 : 45
below = turned ? 1.2 + longest_label * (slope == 90 ? 0.13 : 0.1) : 1.2
HEIGHT = PANELS > 1 ? above + down * (2.8 + title_height + below) : (above > 1.5 ? 4.5 + above : 6.0) + below - 1.2
load load_style
if (entries == 0) { unset key }
if (KEY ne "") { set key title KEY }

stats DATA index 1:100000 using 1:3 name "ALL" nooutput
stats DATA index 1:100000 using ($3 - $4):($3 + $4) name "ENDS" nooutput
low = ENDS_min_x
high = ENDS_max_y
do for [p = 1:PANELS] {
    low = BOUND[p] < low ? BOUND[p] : low
    high = BOUND[p] > high ? BOUND[p] : high
}
if (ALL_min_y > 0 && high > 30 * ALL_min_y) {
    # A bar that reaches to 0 or below ends at the axis.
    low = low < ALL_min_y / 3 ? ALL_min_y / 3 : low
    set logscale y
    set yrange [low / 1.3:high * 1.3]
    eval log_tics("y", low / 1.3, high * 1.3)
} else {
    # The axis begins at 0 unless all values are far from it; it then covers at least a tenth of the largest value.
    span = high - low > 0.1 * abs(high) ? high - low : 0.1 * abs(high)
    middle = 0.5 * (low + high)
    near_zero = low >= 0 && low < 0.5 * high
    set yrange [near_zero ? 0 : middle - 0.6 * span : high > low || high != 0 ? (near_zero ? high * 1.08 : middle + 0.6 * span) : 1]
}

# All panels have the same axes.
if (ALL_min_x > 0 && ALL_max_x > 30 * ALL_min_x) {
    set logscale x
    set xrange [ALL_min_x / 1.2:ALL_max_x * 1.2]
    if (NUMERIC) { eval log_tics("x", ALL_min_x / 1.2, ALL_max_x * 1.2) }
} else {
    margin = ALL_max_x > ALL_min_x ? 0.06 * (ALL_max_x - ALL_min_x) : 1
    set xrange [ALL_min_x - margin:ALL_max_x + margin]
    if (NUMERIC) { set xtics round_tics((ALL_max_x - ALL_min_x + 2 * margin) * (across > COLUMNS ? 1.5 : 1)) }
}
unit = ARG8[strstrt(ARG8, "(") + 1:strstrt(ARG8, ")") - 1]
bound_title = !bounded ? "" : is_same ? sprintf("objective: %s %g %s", words, BOUND[1], unit) : "objective"
bottom = below / HEIGHT
if (turned) { set xtics rotate by slope right; set bmargin at screen bottom }
explained = interval_entry(has_intervals, "yerrorbars")
columns = NUMERIC ? "1:3" : "1:3:xtic(2)"
set xlabel ARG6
set ylabel ARG8
if (PANELS > 1) {
    left = COLUMNS == 1 ? 0.17 : 0.085
    gap = COLUMNS == 1 ? 0.05 : 0.025
    right = COLUMNS == 1 ? 0.95 : 0.98
    panel_width = (right - left - (across - 1) * gap) / across
    set multiplot
    unset key
}
do for [p = 1:PANELS] {
    first = 1 + (p - 1) * LINES
    if (PANELS > 1) {
        at_left = left + (p - 1) % across * (panel_width + gap)
        bottom = 1 - (above + ((p - 1) / across + 1) * (2.8 + title_height + below) - below) / HEIGHT
        set margins screen at_left, screen at_left + panel_width, screen bottom, screen bottom + 2.8 / HEIGHT
        set title broken(TITLE[p]) offset 0, -0.7
        if ((p - 1) % across > 0) { set format y ""; unset ylabel }
        if ((p - 1) % across == 0) { set format y "%h"; set ylabel ARG8 }
    }
    # gnuplot would put the title of the axis too far below turned labels.
    if (turned) {
        unset xlabel
        set label 1 ARG6 at graph 0.5, screen bottom - (below - 0.4) / HEIGHT center
    }
    plot BOUND[p] with lines @objective title bound_title, \
        for [i = 0:LINES - 1] DATA index first + i using 1:($4 > 0 ? $3 : NaN):4 with yerrorbars \
            linestyle style(i + 1) dashtype 1 pointtype 0 notitle, \
        for [i = 0:LINES - 1] DATA index first + i using @columns with linespoints linestyle style(i + 1) \
            title LINE[i + 1] @explained
}
# The legend of several panels has the page for itself, because a legend that is higher than its panel would be broken.
if (PANELS > 1) {
    unset border
    unset tics
    unset logscale
    unset grid
    unset title
    unset xlabel
    unset ylabel
    unset label
    set margins screen 0, screen 1, screen 0, screen 1
    eval key_on_page(rows)
    plot [0:1] [0:1] -1 notitle, keyentry with lines @objective title bound_title, \
        for [i = 1:(longest > 0 ? LINES : 0)] keyentry with linespoints linestyle style(i) title LINE[i] @explained
    unset multiplot
}
set output
