"""Whether a run folder still says what the run found. Reads only.

A run is held against its own manifest, its renderings against the content digest of
its result, its manifest against what the runs before and after it state, and its
sign-offs against the trail (`verify_signoffs`). Who wishes to deceive can write a whole
folder anew; then only a run or a signature that names the SHA-256 of its manifest
tells. Not: computing anything again (`replay`).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from ...records.as_json import from_dict
from ...records.errors import DataError
from ..events import read_events
from ..files import LOG
from ..manifest import is_sealed
from ..signoff.signoff_trail import RUNS, sha256
from .files import (
    SIGNED,
    compare_listed,
    compare_page,
    compare_pdf,
    files_below,
    kind_of,
    read_file,
)
from .signoffs import RunFiles, compare_anchors, verify_signoffs
from .statements import (
    Mismatch,
    Verification,
    compare_digest,
    compare_file,
    compare_run,
    parse_result,
    read_statement,
)

RENDERINGS = re.compile(
    r"report\.(html|pdf)|figures/.*|models/.*|summary\..*|junit\.xml|tables\.xlsx"
)
LEFT = re.compile(r"signed/\.[1-9][0-9]*\.[0-9a-f]{8}\.part/")
"""What a sign-off that was killed leaves; the next one removes it."""


def verify_folder(folder: Path, *, chained: bool = True) -> Verification:
    """Return how a run compares with its manifest, its renderings and its neighbours.

    A file whose SHA-256 is not the stated one is named once and not read further.

    Parameters
    ----------
    folder : Path
    chained : bool, default True
        Whether to look at the runs before and after it.

    Raises
    ------
    DataError
        If a file that says what to expect, or a rendering, cannot be read.
    """
    folder = folder.resolve()
    if kind := kind_of(folder / "manifest.json"):
        return Verification(0, "", (Mismatch("manifest.json", "a file", kind),))
    data = read_file(folder / "manifest.json")
    manifest = read_statement(data, "manifest.json")
    all_files, others = files_below(folder)
    here = {path: file for path, file in all_files.items() if not LEFT.match(path)}
    audit = folder.parents[1] if folder.parent.name == RUNS else None
    run = RunFiles(here, manifest, sha256(data), audit)
    gaps, notes = _chain(folder, manifest, run.sha256) if chained else ([], [])
    no_files = {item.file for item in others}
    listed = [file for file in manifest["files"] if file["path"] not in no_files]
    wrong = [*others, *_seal(data, manifest)]
    wrong += compare_listed({**manifest, "files": listed}, here, "")
    wrong += [*verify_signoffs(run), *gaps]
    if len(here) < len(all_files):
        notes.append("signed/: files left by a killed sign-off were not checked")
    if "trail" in manifest and audit is not None:
        wrong += compare_anchors(manifest, "manifest.json", audit, "../../")
    elif "trail" in manifest:
        notes.append(
            "the sign-off trail of its audit is not here, so it was not compared"
        )
    sound = here.keys() - {item.file for item in wrong}
    digest = ""
    if "result.json" in sound:
        document, digest = parse_result(read_file(here["result.json"]), "result.json")
        wrong += compare_digest(document, digest)
        wrong += compare_run(manifest, "manifest.json", document, digest)
        wrong += _facts(manifest, document, folder)
        wrong += _renderings(here, sound, digest)
        wrong += _evidence(here, sound, document, digest)
    else:
        notes.append(
            "result.json was changed, so the content of the renderings was not compared"
        )
    if "evidence.json" not in here:
        notes.append("evidence.json: not in this folder")
    n_files = sum(not path.endswith("manifest.json") for path in here)
    return Verification(n_files, digest, tuple(wrong), tuple(notes))


def _seal(data: bytes, manifest: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Yield if a manifest is not as it was sealed; early ones have no seal."""
    if {"seal", "trail"} & manifest.keys() and not is_sealed(data):
        yield Mismatch("manifest.json", "the seal of its own lines", "another")


def _chain(
    folder: Path, manifest: Mapping[str, Any], own: str
) -> tuple[list[Mismatch], list[str]]:
    """Return where the run before is not as stated, or this not as the next says."""
    wrong, notes = [], []
    if manifest["previous"] is not None:
        gap, note = _before(folder, manifest["previous"])
        wrong += gap
        notes += note
    for path in sorted(folder.parent.glob("[!.]*/manifest.json")):
        if kind_of(path):
            continue
        with suppress(DataError, OSError):  # what another folder lacks is not asked
            later = read_statement(path.read_bytes(), "manifest.json")["previous"] or {}
            stated = later.get("manifest_sha256")
            if later.get("run_id") == folder.name and stated != own:
                expected = f"SHA-256 {stated}, as run {path.parent.name} states"
                wrong.append(Mismatch("manifest.json", expected, own))
    return wrong, notes


def _before(
    folder: Path, previous: Mapping[str, str]
) -> tuple[list[Mismatch], list[str]]:
    """Return a gap, if the run before is gone or another one; a note, if explained."""
    try:
        name, stated = previous["run_id"], previous["manifest_sha256"]
    except (KeyError, TypeError) as error:
        raise DataError(
            "manifest.json does not name the run before by run_id and manifest_sha256."
        ) from error
    where = f"../{name}/manifest.json"
    expected = f"the run before with SHA-256 {stated}"
    try:
        path = folder.parent / PurePosixPath(name).name / "manifest.json"
        if kind := kind_of(path):
            return [Mismatch(where, expected, kind)], []
        digest = sha256(path.read_bytes())
    except (OSError, ValueError):
        if folder.parent.name != RUNS:
            return [], [f"the run before, {name}, is not here, so it was not compared"]
        if _is_removed(folder.parents[1], name, stated):
            return [], [f"the run before, {name}, was removed by retention"]
        return [Mismatch(where, expected, "a gap: no such file")], []
    return ([] if digest == stated else [Mismatch(where, expected, digest)]), []


def _is_removed(audit: Path, name: str, digest: str) -> bool:
    """Return whether retention says that it removed this very run."""
    return any(
        (event["event"], event.get("run_id"), event.get("manifest_sha256"))
        == ("removed", name, digest)
        for event in read_events(audit)
    )


def _facts(
    manifest: Mapping[str, Any], document: Mapping[str, Any], folder: Path
) -> Iterator[Mismatch]:
    """Yield what the manifest says in short, and the result or the folder otherwise.

    A folder outside runs/ may have any name: somebody was given it.
    """
    result = from_dict(document)
    if folder.parent.name == "runs" and manifest["run_id"] != folder.name:
        expected = f"run id {folder.name} (the folder)"
        yield Mismatch("manifest.json", expected, manifest["run_id"])
    if manifest["verdict"] != result.verdict:
        expected = f"verdict {result.verdict!r} (result.json)"
        yield Mismatch("manifest.json", expected, repr(manifest["verdict"]))
    digests = {str(item.get("sha256")) for item in manifest.get("inputs", ())}
    for row in result.datasets.to_dict("records"):
        if row["sha256"] not in digests:
            expected = f"input {row['name']} with SHA-256 {row['sha256']} (result.json)"
            yield Mismatch("manifest.json", expected, "no such input")


def _renderings(
    here: Mapping[str, Path], sound: set[str], digest: str
) -> Iterator[Mismatch]:
    """Yield where the page or the print has another content digest, or other files."""
    if "report.html" in sound:
        yield from compare_page(read_file(here["report.html"]), "report.html", digest)
    if "report.pdf" in sound:
        data = read_file(here["report.pdf"])
        yield from compare_pdf(data, "report.pdf", digest, here, sound)


def _evidence(
    here: Mapping[str, Path], sound: set[str], document: Mapping[str, Any], digest: str
) -> Iterator[Mismatch]:
    """Yield where evidence.json is about another run, or lists other files."""
    if "evidence.json" not in sound:
        return
    stated = read_statement(read_file(here["evidence.json"]), "evidence.json")
    yield from compare_run(stated, "evidence.json", document, digest)
    listed = {file["path"]: file for file in stated["files"]}
    for path, file in listed.items():
        if path in sound:
            for item in compare_file(file, read_file(here[path])):
                yield Mismatch("evidence.json", f"{path}: {item.expected}", item.actual)
        elif path not in here:
            expected = f"{path} with SHA-256 {file['sha256']}"
            yield Mismatch("evidence.json", expected, "no such file")
    for path in sorted(sound - listed.keys() - {LOG, "evidence.json", "manifest.json"}):
        if not RENDERINGS.fullmatch(path) and not SIGNED.match(path):
            yield Mismatch("evidence.json", f"an entry for {path}", "none")
