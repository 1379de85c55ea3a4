"""The report, made in stages: result, view data, HTML, PDF.

`pages.view` turns an AuditResult into a ReportView, which has every sentence and number
of the page in their order. It calls the modules of `sections`, A to Q in the order of
its table. These share `facts`, `rankings`, `ranking_tables` and `verdicts`, and are
written with the blocks, numbers and words of `text`. `figures` turns view data into
SVG. `pages.html` renders a ReportView with the templates; `pages.pdf` prints that page.
"""
