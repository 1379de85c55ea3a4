"""The figures of the report, one per file: from plain view data to a drawing.

All are 174 mm wide and as high as their rows need. Text is written as text, not as
outlines; equal data give equal bytes. The data is already sorted, cut and worded: names
are those of the page, except that a figure may shorten a long one; a field `text` is
the number printed next to a mark, rounded as in the table below the figure.

`parts` has what figures share, such as a plot with two axes or the rows of a panel, and
the treatment of numbers that are not finite. `drawing` has the `Sheet` on which figures
are drawn, `typeface` the widths of texts.
"""
