# Draws each figure of the report of speed as a bar from its goal to what is reached of it: blue where the goal is met, else
# orange.
# Usage: gnuplot -c report.gp STYLE DATA OUTPUT FORMAT TITLE
# DATA has lines "height<TAB>label<TAB>reached<TAB>text" from the top, at negative heights; the line of a topic has no value.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = 2
set datafile separator tab
stats DATA using 1:3 name "REACHED" nooutput
stats DATA using 1 name "ROWS" nooutput
HEIGHT = 2.2 - 0.34 * ROWS_min
load load_style
left = REACHED_min_y < 0.5 ? REACHED_min_y / 1.5 : 0.33
right = (REACHED_max_y > 2 ? REACHED_max_y : 2) * 12 # The texts stand to the right of the bars.
set tmargin 2.5
set label 1 ARG5 at screen 0.03, graph 1 offset 0, 0.7 font ",6" noenhanced
set logscale x
set xrange [left:right]
set yrange [ROWS_min - 1:0]
set xtics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
set xlabel "value / goal, or goal / value where less is better"
set border 1
unset ytics
set grid noytics
set lmargin at screen 0.40
set rmargin at screen 0.97
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb "#808080" linewidth 1 front
set style fill solid noborder
is_topic(text) = strlen(text) == 0
end(reached) = reached > 1 ? reached : 1
plot DATA using 3:1:(1):3:($1 - 0.35):($1 + 0.35):($3 >= 1 ? 0x0072b2 : 0xd55e00) with boxxyerror linecolor rgb variable notitle, \
    DATA using (left):1:(is_topic(strcol(3)) ? "" : strcol(2)) with labels right offset -0.7, 0 font ",7" notitle, \
    DATA using (left):1:(is_topic(strcol(3)) ? strcol(2) : "") with labels right offset -0.7, 0 font ":Bold,7" notitle, \
    DATA using (end($3)):1:4 with labels left offset 0.7, 0 font ",7" notitle
set output
