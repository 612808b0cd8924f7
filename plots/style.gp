# Shared by all figures. Needs FORMAT ("svg", "pdf", "png"), OUTPUT and COLUMNS (1: 8.5 cm, one column of a paper;
# 2: 17.5 cm, both).
set encoding utf8
width = COLUMNS == 2 ? 17.5 : 8.5
height = 6.0
if (FORMAT eq "pdf") {
    set terminal pdfcairo noenhanced size width cm, height cm font "Sans,8" linewidth 1.2 pointscale 0.45
}
if (FORMAT eq "svg") {
    set terminal svg noenhanced size width * 37.8, height * 37.8 font "Sans,10.6" linewidth 1.2 pointscale 0.55 \
        background rgb "white"
}
if (FORMAT eq "png") { # 300 dots per inch; the terminal itself counts in 72
    set terminal pngcairo noenhanced size width * 118.1, height * 118.1 font "Sans,8" fontscale 4.17 linewidth 4 \
        pointscale 2
}
set output OUTPUT

# Colours of Okabe and Ito, which colour-blind readers can tell apart, the strong ones first; dashes and points differ
# as well, for print without colour.
set colorsequence podo
order = "1 7 6 4 2 8 3 5"
dashes = "1 2 3 4 5 1 2 3"
shapes = "7 5 9 11 13 6 4 8"
do for [i = 1:8] {
    set style line i linetype word(order, i) linewidth 1.1 dashtype int(word(dashes, i)) pointtype int(word(shapes, i))
}
style(i) = (i - 1) % 8 + 1

set border 3 linewidth 0.7
set tics nomirror out scale 0.5
set grid linetype 1 linecolor rgb "#dddddd" linewidth 0.4 dashtype 1
set bars 0.6
# The legend stands above the picture, never on the data.
set key tmargin center horizontal reverse Left samplen 2.4 spacing 1.0 width 1
