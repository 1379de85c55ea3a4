"""The figures of the report, one per file: plain view data in, a sheet out.

All are 174 mm wide and as high as their rows need; text stays text; equal data give
equal bytes. The data is already sorted, cut and worded: names are as the
page shows them, except that a figure may shorten a long one; a field `text` is the
number beside a mark, rounded like the table below the figure. `parts` is what figures
share, such as a plot with two axes and the rows of a panel, and says what happens to
numbers that are not finite; `drawing` is the sheet they are drawn on; `typeface` knows
how wide words are.
"""
