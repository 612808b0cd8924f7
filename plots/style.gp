# The style that all figures share. It needs FORMAT ("svg", "pdf" or "png"), OUTPUT and COLUMNS (1 for one column of a
# paper, 8.5 cm; 2 for both columns, 17.5 cm).
set encoding utf8
width = COLUMNS == 2 ? 17.5 : 8.5
height = exists("HEIGHT") ? HEIGHT : 6.0 # cm
if (FORMAT eq "pdf") {
    set terminal pdfcairo noenhanced size width cm, height cm font "Sans,8" fontscale 0.7 linewidth 2 \
        pointscale 0.45 rounded
}
if (FORMAT eq "svg") {
    set terminal svg noenhanced size width * 37.8, height * 37.8 font "Sans,9" linewidth 1.2 rounded background "white"
    set pointsize 0.5
}
if (FORMAT eq "png") { # 300 dots per inch; the terminal assumes 72 for sizes and 96 for fonts.
    set terminal pngcairo noenhanced size width * 118.1, height * 118.1 font "Sans,8" fontscale 2.9 linewidth 4 \
        pointscale 1.7 rounded
}
set output OUTPUT

# The colours of Okabe and Ito, which colour-blind readers can tell apart, begin with the strong ones. Dashes and points
# differ as well, for printing in grey.
set colorsequence podo
set style line 1 linetype 1 linewidth 1.1 pointtype 7
set style line 2 linetype 7 linewidth 1.1 pointtype 5 dashtype (20, 9)
set style line 3 linetype 6 linewidth 1.1 pointtype 9 dashtype (5, 9)
set style line 4 linetype 4 linewidth 1.1 pointtype 11 dashtype (20, 9, 5, 9)
set style line 5 linetype 2 linewidth 1.1 pointtype 13 dashtype (32, 9)
set style line 6 linetype 8 linewidth 1.1 pointtype 6 dashtype (20, 9, 5, 9, 5, 9)
set style line 7 linetype 3 linewidth 1.1 pointtype 4
set style line 8 linetype 5 linewidth 1.1 pointtype 8 dashtype (12, 9)
set style line 9 linetype 1 linewidth 0.6 pointtype 12 dashtype (5, 9)
set style line 10 linetype 7 linewidth 0.6 pointtype 10
set style line 11 linetype 6 linewidth 0.6 pointtype 6 dashtype (20, 9)
set style line 12 linetype 4 linewidth 0.6 pointtype 4
set style line 13 linetype 2 linewidth 0.6 pointtype 8 dashtype (5, 9)
set style line 14 linetype 8 linewidth 0.6 pointtype 7
set style line 15 linetype 3 linewidth 0.6 pointtype 5 dashtype (5, 9)
set style line 16 linetype 5 linewidth 0.6 pointtype 9 dashtype (32, 9)
style(i) = (i - 1) % 16 + 1
# The filled point of a style: in gnuplot's point types, each filled one follows its open counterpart.
filled(i) = int(word("7 5 9 11 13 7 5 9 13 11 7 5 9 5 5 9", style(i)))
# Point sizes relative to the usual one, which only some terminals scale.
scaled(size) = FORMAT eq "svg" ? 0.5 * size : size
# The grey line of an objective.
objective = "linecolor rgb '#808080' linewidth 1.5 dashtype 3"
# The end of a plot command that explains a mark in the legend, if there is such a mark.
entry(is_there, kind, colour, look, text) = !is_there ? "" : ", keyentry with " . kind . " linewidth 0.7 linecolor rgb '" . \
    colour . "' " . look . " title '" . text . "'"
interval_entry(is_there, kind) = entry(is_there, kind, "#404040", "pointtype 0", "95 % interval")

set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid linetype 1 linecolor rgb "#dddddd" linewidth 0.4 dashtype 1
set bars 0.6
# The legend is above the picture and never covers data. gnuplot breaks it into columns by the width of the frame; where
# that leaves too few, these place it over the whole page: the rows that entries of a length need, and the command.
abreast(longest) = (COLUMNS == 2 ? 120 : 58) / (longest + 9)
legend_rows(entries, longest) = abreast(longest) < 2 ? entries : (entries + abreast(longest) - 1) / abreast(longest)
legend_height(rows) = 0.2 + 0.42 * rows # cm
key_on_page(rows) = sprintf("set key at screen 0.5, screen %.4f center top vertical maxrows %d", 1 - 0.1 / height, rows)
legend_on_page(rows) = key_on_page(rows) . sprintf("; set tmargin at screen %.4f", 1 - legend_height(rows) / height)
set key tmargin center horizontal reverse Left samplen 2.4 spacing 1.0 width 1

# Returns a distance that gives about five round tics over the range.
scale(range) = 10 ** floor(log10(range / 5.0))
round_tics(range) = range / 5.0 / scale(range) > 5 ? 10 * scale(range) : \
    range / 5.0 / scale(range) > 2 ? 5 * scale(range) : 2 * scale(range)

# Tics of a logarithmic axis are written as people do: 100, 1000, and from a million on 10⁶. Over less than a decade and a half,
# 2 and 5 are labelled, too. Use: set logscale y; eval log_tics("y", low, high)
raised(k) = (k < 0 ? "⁻" : "") . (abs(k) >= 10 ? word("⁰ ¹ ² ³ ⁴ ⁵ ⁶ ⁷ ⁸ ⁹", abs(k) / 10 + 1) : "") . \
    word("⁰ ¹ ² ³ ⁴ ⁵ ⁶ ⁷ ⁸ ⁹", abs(k) % 10 + 1)
tic_label(m, k) = k >= -4 && k <= 5 ? sprintf("%g", m * 10.0 ** k) : (m == 1 ? "" : sprintf("%d·", m)) . "10" . raised(k)
is_labelled(m, low, high) = m == 1 || (high < 30 * low && (m == 2 || m == 5))
log_tic(m, k, low, high) = sprintf("'%s' %de%d %d, ", is_labelled(m, low, high) ? tic_label(m, k) : "", m, k, \
    is_labelled(m, low, high) ? 0 : 1)
add_log_tics(low, high) = sum [k = floor(log10(low)):ceil(log10(high))] sum [m = 1:9] \
    (m * 10.0 ** k < low || m * 10.0 ** k > high ? 0 : (tics = tics . log_tic(m, k, low, high), 0))
log_tics(axis, low, high) = (tics = "", add_log_tics(low, high), "set " . axis . "tics (" . tics . "1e-99)")
