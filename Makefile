# Each target sets up what is missing first; see scripts/install.
python := .venv/bin/python

.PHONY: report papers example test quick check lint types bench shots install

report: ## run an audit with real R in it and say where its report lies
	@scripts/install report
	@$(python) -m importance_audit run reports/$$(scripts/which-audit)

papers: ## run every audit that states claims of a paper, and show what reproduces
	@scripts/install papers
	@scripts/papers

example: ## run reports/apartments again as the example report, with its picture
	@scripts/install test
	@$(python) scripts/example.py

test: ## run the whole test suite, a file at a time on each core
	@scripts/install test
	@$(python) -m pytest --numprocesses auto --dist loadfile

quick: ## the tests that ask no R, make no pages, start no processes and are not slow
	@scripts/install test
	@$(python) -m pytest --numprocesses auto --dist loadfile --hypothesis-profile quick \
		-m "not (r or pages or processes or slow)"

check: lint types ## lint, format, types

lint:
	ruff check .
	ruff format --check .

types:
	@scripts/install test
	@d=.cache/typed/importance_audit; rm -rf $$d; mkdir -p $$d; ln -s "$$PWD"/pipeline/* "$$PWD"/r_bridge "$$PWD"/templates $$d/
	$(python) -m mypy

bench: ## side-by-side timings, one table each
	@scripts/install test
	@worst=0; for file in tests/benchmarks/*.py; do $(python) -m tests.benchmarks.$$(basename $$file .py) || worst=1; done; exit $$worst

shots: ## pictures of the newest report, for eyes: screens light and dark, pages in colour and grey
	@scripts/install test
	@$(python) scripts/shots $(run) $(folder)
