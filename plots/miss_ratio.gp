# Draws the share of the GETs of a trace that an LRU cache misses, over the size of the cache.
# Usage: gnuplot -c miss_ratio.gp STYLE DATA OUTPUT FORMAT COLUMNS
# DATA has a block of "cache_bytes miss_percent" under the name of the trace.
load_style = ARG1
DATA = ARG2
OUTPUT = ARG3
FORMAT = ARG4
COLUMNS = int(ARG5)
load load_style
stats DATA using 1 nooutput
# The unit that leaves the largest size at least 1.
unit = STATS_max >= 2.0 ** 40 ? 4 : STATS_max >= 2.0 ** 30 ? 3 : STATS_max >= 2.0 ** 20 ? 2 : STATS_max >= 2.0 ** 10 ? 1 : 0
by = 1024.0 ** unit
set logscale x
set xrange [STATS_min / by:STATS_max / by]
eval log_tics("x", STATS_min / by, STATS_max / by)
set yrange [0:100]
set xlabel sprintf("LRU cache (%s)", word("B KiB MiB GiB TiB", unit + 1))
set ylabel "missed GETs (%)"
plot DATA using ($1 / by):2 with lines linestyle 1 title columnheader(1)
set output
