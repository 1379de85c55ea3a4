"""Print the claims of the newest run of each audit that is named, as one page.

.venv/bin/python scripts/paper_page.py zien-boolean fokoue-pima
"""

import sys
from pathlib import Path

from importance_audit.records.errors import DataError
from importance_audit.records.result import AuditResult
from importance_audit.runs.folder import load_run

REPORTS = Path(__file__).parents[1] / "reports"
HEAD = "| claim | asked | claimed | paper | ours | verdict |\n|---|---|---|---|---|---|"


def page(names: list[str]) -> str:
    """Return the page: a line of totals, then a table per audit."""
    parts, verdicts = [], []
    for name in names:
        runs = sorted((REPORTS / name / "runs").glob("[!.]*"))
        try:
            result = load_run(runs[-1])
        except (IndexError, DataError) as error:
            parts.append(f"## {name}\n\nNot run: {str(error) or 'there is no run'}")
            continue
        verdicts += result.claims["verdict"].tolist()
        parts.append(_part(name, result))
    totals = (f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts))
    first = f"# Claims of the papers\n\n{len(verdicts)} claims: {', '.join(totals)}."
    return "\n\n".join((first, *parts)) + "\n"


def _part(name: str, result: AuditResult) -> str:
    rows = result.claims.to_dict("records")
    title = result.run.config["report"]["title"] or name
    return "\n".join((f"## {title} ({name})\n", HEAD, *map(_row, rows)))


def _row(row: dict[str, object]) -> str:
    reason = f", because: {row['reason']}" if row["reason"] else ""
    cells = (
        f"{row['claim']} ({row['source']})",
        ", ".join(filter(None, (row["asked"], row["method"], row["model"]))),
        row["must"],
        _number(row["paper"], row["decimals"]),
        _number(row["ours"], row["decimals"]),
        f"{row['verdict']}{reason}",
    )
    return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |"


def _number(value: float, decimals: float) -> str:
    """Return a number to its printed decimals, or to four digits where none are."""
    if value != value:
        return "–"
    return f"{value:.4g}" if decimals != decimals else f"{value:.{int(decimals)}f}"


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1:]))
