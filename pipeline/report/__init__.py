"""The report in stages: each takes what the one before returned, none does its work.

`view` turns an AuditResult into a ReportView: every sentence, number and order on the
page. It asks the modules of the sections, A to N: `control`, `executive`, `scope`,
`data_card`, `cards`, `results`, `pairs`, `findings`, `provenance`; these share `facts`,
`rankings`, `ranking_tables`, `verdicts`, and write with `wording`, `number_text` and
the pieces of `blocks`. `figures` turns view data into SVG. `html` places a
ReportView in the templates, `pdf` prints that page.
"""
