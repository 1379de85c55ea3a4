"""Audit the variable importances of fitted models, in Python and in R.

Read the modules in this order: `records` and `result` (the nouns), `audit` (the one
function), `importance` and `effects` (what is measured), `references` (who else
measures it), `agreement` (whether they agree), `report.view` (what the reader sees),
`running` (one run, from its file to its folder), `chain`, `trail` and `register` (runs,
signatures and findings over time), `unattended` (a run that nobody watches).
"""
