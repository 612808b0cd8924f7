# Draws how long requests are in each part of a store, all of them and the slowest 1 %, and below it what each resource would
# change if it were 5 % faster. Bars are 95 % intervals.
# Usage: gnuplot -c critical.gp STYLE DATA OUTPUT FORMAT COLUMNS RESOURCES HAS_PARTS
# DATA has, if HAS_PARTS is 1, a block of "row begin_us end_us" for each part, and, unless RESOURCES is empty, three blocks of
# "row change_percent half_width_percent name", each under its title.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
RESOURCES = ARG6 eq "" ? 0 : int(ARG6)
HAS_PARTS = int(ARG7)
HEIGHT = (HAS_PARTS ? 3.8 : 0) + (RESOURCES > 0 ? 2.4 + 0.55 * RESOURCES : 0)
load load_style
stats DATA using 1 nooutput
parts = STATS_blocks - (RESOURCES > 0 ? 3 : 0)
share = 1.0 * (HAS_PARTS ? 3.8 : 0) / HEIGHT # Of the height, for the upper picture.
set multiplot
set lmargin 14
if (HAS_PARTS) {
    set origin 0, 1 - share
    set size 1, share
    set xlabel "time since the client sent the request (µs)"
    set yrange [0.4:2.6]
    set xrange [0:*]
    set ytics ("slowest 1 %%" 1, "all requests" 2)
    set style fill solid 0.75 border linecolor "black"
    plot for [i = 0:parts - 1] DATA index i using 2:1:2:3:($1 - 0.3):($1 + 0.3) with boxxyerror \
        linestyle style(i + 1) dashtype 1 title columnheader(1)
}
if (RESOURCES > 0) {
    set origin 0, 0
    set size 1, 1 - share
    set xlabel "change if 5 % faster (%)"
    set yrange [0.4:RESOURCES + 0.6]
    set xrange [*:*]
    set ytics ()
    set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 0.7
    plot DATA index parts using 2:($1 + 0.2):3 with xerrorbars linestyle 1 title columnheader(1), \
        DATA index parts + 1 using 2:1:3:ytic(4) with xerrorbars linestyle 2 dashtype 1 title columnheader(1), \
        DATA index parts + 2 using 2:($1 - 0.2):3 with xerrorbars linestyle 3 dashtype 1 title columnheader(1)
}
unset multiplot
set output
