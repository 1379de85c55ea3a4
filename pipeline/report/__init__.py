"""The report in stages: each takes what the one before returned, none does its work.

`pages.view` turns an AuditResult into a ReportView: every sentence, number and order
on the page. It calls the modules of `sections`, A to Q in the order of its table; these
share `facts`, `rankings`, `ranking_tables` and `verdicts`, and write with the pieces,
numbers and words of `text`. `figures` turns view data into SVG. `pages.html` places a
ReportView in the templates, `pages.pdf` prints that page.
"""
