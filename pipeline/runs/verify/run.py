"""Verification of a run folder: its files and its renderings. Reads only."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...records.errors import DataError
from ..audit_log import LOG
from ..digests import Mismatch, compare_folder, read_regular
from .renderings import compare_page, compare_pdf, parse_result
from .verification import Verification


def compare_run(
    folder: Path, where: str = "", entry: Mapping[str, Any] | None = None
) -> Verification:
    """Return the verification of a run against its list, its line and its renderings.

    A file with another SHA-256 than stated is a mismatch and is not read further.

    Parameters
    ----------
    folder : Path
    where : str
        Prefix of the paths in mismatches: "", or a path that ends with "/".
    entry : mapping, optional
        The line of the run in the audit log.
    """
    of_line = entry or {}
    listed, intact, wrong = compare_folder(
        folder, where, of_line.get("list", ""), of_line.get("bytes")
    )
    if not listed:
        return Verification(0, "", tuple(wrong))
    if of_line and not wrong:
        size = sum((folder / path).stat().st_size for path in listed)
        if size != of_line["bytes"]:
            stated = f"{of_line['bytes']} bytes in {where or folder}"
            wrong.append(Mismatch(f"{LOG}: line {of_line['n']}", stated, str(size)))
    if "result.json" not in intact:
        note = f"{where}result.json was changed or is missing, so the content of the "
        note += "renderings was not compared"
        return Verification(len(listed), "", tuple(wrong), (note,))
    name = f"{where}result.json"
    try:
        data = read_regular(folder / "result.json")
        result, digest, stated = parse_result(data, name)
        if stated != digest:
            wrong.append(Mismatch(name, f"content digest {stated}", digest))
        of_result = {
            "run": result.run.volatile.get("run_id"),
            "verdict": result.verdict,
            "content_digest": digest,
        }
        for key, said in of_result.items():
            if of_line and of_line[key] != said:
                expected = f"{key} {of_line[key]} (line {of_line['n']})"
                wrong.append(Mismatch(name, expected, str(said)))
        if "report.html" in intact:
            data = read_regular(folder / "report.html")
            wrong += compare_page(data, f"{where}report.html", digest)
        if "report.pdf" in intact:
            data = read_regular(folder / "report.pdf")
            wrong += compare_pdf(data, f"{where}report.pdf", digest, listed)
    except (DataError, OSError) as error:
        unreadable = Mismatch(name, "a run that can be read", str(error))
        return Verification(len(listed), "", (*wrong, unreadable))
    return Verification(len(listed), digest, tuple(wrong))
