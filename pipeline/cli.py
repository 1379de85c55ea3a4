"""The commands: arguments, calls, exit code. Not: numbers, HTML, hiding faults.

Exit codes: 0 confirmed (also with exceptions), 1 not confirmed, 2 usage,
configuration or data, 3 R required but unavailable, 4 a method or a step failed (the
report is still written) or there is no report (the numbers are still written), 130
interrupted, by Ctrl-C or SIGTERM. Only 2 leaves no run folder.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from pipeline.config import AuditConfig
    from pipeline.journal import Step
    from pipeline.replay import Replay
    from pipeline.result import AuditResult
    from pipeline.statements import Verification

    Tell = Callable[[int, int, str], None]

REPORTS = ("report.html", "report.pdf")
FOLDER = click.Path(path_type=Path)
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but faults.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="importance-audit")
def main() -> None:
    """Audit the variable importances of fitted models, in Python and in R."""


@main.command()
@click.argument("folder", type=FOLDER, default=Path())
@click.option("--data", type=FOLDER, help="A CSV file to fill the configuration from.")
@click.option("--target", help="The column that the models predict; goes with --data.")
def init(folder: Path, data: Path | None, target: str | None) -> None:
    """Write a commented audit.toml into FOLDER (default: here)."""
    from pipeline.starter import starter, starter_from

    if (data is None) != (target is None):
        raise click.UsageError("--data and --target go together.")
    with _faults():
        file = folder / "audit.toml"
        if file.exists():
            _stop(
                2,
                f"{file} must not exist yet, but it does. Choose another folder.",
            )
        text = starter() if data is None else starter_from(data, str(target), folder)
        _write(file, text)
    click.echo(f"{file} was written. Read it, then: importance-audit run {folder}")


@main.command()
@click.argument("audit", type=FOLDER)
@QUIET
def run(audit: Path, quiet: bool) -> None:
    """Run the audit in folder (or file) AUDIT and write its report."""
    with _faults(), _terminable():
        from pipeline.config import load_config
        from pipeline.history import with_free_name
        from pipeline.report.fonts import check_fonts

        config = load_config(audit)
        check_fonts(config.base, config.report.fonts)
        with _progress(quiet) as on_step:
            result = _audited(config, on_step)
        code = _kept(with_free_name(result, config.base), config, quiet)
    sys.exit(code)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--output", type=FOLDER, default=Path(), help="Where to write (default: here)."
)
@click.option(
    "--profile",
    type=click.Choice(("technical", "executive")),
    default=None,
    help="All sections, or one page and its control (default: as configured).",
)
@click.option("--baseline", type=FOLDER, help="A stored run to compare with.")
@QUIET
def render(
    folder: Path,
    output: Path,
    profile: str | None,
    baseline: Path | None,
    quiet: bool,
) -> None:
    """Render the stored run in FOLDER again, without R, model or data."""
    fault = ""
    with _faults():
        from pipeline.bundle import stored_attachments
        from pipeline.report.html import page_files
        from pipeline.report.pdf import PdfError
        from pipeline.stored import load_whole_run

        result = load_whole_run(folder)
        carried = stored_attachments(folder)
        asked = partial(
            page_files,
            result,
            attachments=carried,
            profile=profile or "",
            baseline=load_whole_run(baseline) if baseline else None,
        )
        try:
            files = asked()
        except PdfError as error:
            fault = f"The PDF must be written beside the HTML, but {error}"
            files = asked(pdf=False)
        stem = f"{result.run.audit}-{result.run.volatile['run_id']}"
        shown = [name for name in files if Path(name).suffix in (".html", ".pdf")]
        for name in shown:
            alone = len(shown) <= len(REPORTS)
            path = output / (
                f"{stem}{Path(name).suffix}" if alone else f"{stem}/{name}"
            )
            _write(path, files[name])
            if name in REPORTS and not quiet:
                click.echo(path)
    if fault:
        _stop(4, fault)


@main.command()
@click.argument("baseline", type=FOLDER)
@click.argument("run", type=FOLDER)
def diff(baseline: Path, run: Path) -> None:
    """Say what differs between two stored runs and which importances moved."""
    from pipeline.report.change_section import section_of
    from pipeline.report.plain_text import to_text
    from pipeline.stored import load_whole_run

    with _faults():
        runs = load_whole_run(run), load_whole_run(baseline)
        click.echo(to_text(section_of(*runs)), nl=False)


@main.command()
@click.argument("path", type=FOLDER)
@click.option("--replay", is_flag=True, help="Measure again, and compare every number.")
@QUIET
def verify(path: Path, replay: bool, quiet: bool) -> None:
    """Check the run folder, or the PDF report, in PATH against its own digests.

    Exit codes: 0 match, 1 mismatch, 2 unreadable, 3 R is required to measure again,
    but unavailable. Nothing is written.
    """
    with _faults(), _progress(quiet or not replay) as on_step:
        found: Verification | Replay = (
            _replayed(path, on_step) if replay else _verified(path)
        )
    for line in found.lines():
        if found.is_mismatch or not quiet:
            click.echo(line, err=quiet)
    sys.exit(int(found.is_mismatch))


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--to", type=FOLDER, help="A folder to make (default: here, by the run).")
@QUIET
def handoff(folder: Path, to: Path | None, quiet: bool) -> None:
    """Hand the stored run in FOLDER to R users: tables, vip's and DALEX's objects."""
    from pipeline.handoff import handoff as files_of
    from pipeline.history import write_folder
    from pipeline.stored import load_whole_run
    from r_bridge import host

    with _faults():
        result = load_whole_run(folder)
        name = f"{result.run.audit}-{result.run.volatile['run_id']}-handoff"
        target = to or Path(name)
        with host.session():
            files = files_of(result)
        write_folder(target, files)
    if not quiet:
        click.echo(f"{target} was written. Read its README.md, or: Rscript read.R")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Say what this machine has and lacks, with the remedy."""
    import json

    from pipeline.doctor import examine

    with _faults():
        rows = examine()
    if as_json:
        click.echo(json.dumps({"checks": [row._asdict() for row in rows]}, indent=2))
    else:
        width = max(len(row.what) for row in rows)
        for row in rows:
            click.echo(f"{row.verdict:8} {row.what:{width}}  {row.state}")
            if row.remedy:
                click.echo(f"{'':8} {'':{width}}  → {row.remedy}")
    sys.exit(1 if any(row.verdict == "missing" for row in rows) else 0)


@main.command("install-r")
@click.argument("what", nargs=-1)
@click.option("--library", type=FOLDER, help="Where to (default: the project's own).")
def install_r(what: tuple[str, ...], library: Path | None) -> None:
    """Install R packages: DALEX and pdp, and vip and fastshap where they can be had.

    WHAT names others: DALEX, vip, pdp, fastshap, hstats, iml, or "models" for
    randomForest, ranger, gbm, rpart, nnet, e1071 and earth.
    """
    from r_bridge.install import PACKAGES, SETS, default_library, install

    unknown = [name for name in what if name not in SETS]
    if unknown:
        raise click.UsageError(
            f"WHAT must be one of {', '.join(SETS)}, but {unknown[0]!r} was given."
        )
    packages = tuple(dict.fromkeys(p for name in what for p in SETS[name]))
    with _faults():
        sys.exit(install(library or default_library(), packages or PACKAGES))


def _audited(config: "AuditConfig", on_step: "Tell | None") -> "AuditResult":
    """Return what the audit found; of one that cannot begin, that and why.

    What the user can mend in configuration, data or model is raised.
    """
    from datetime import UTC, datetime

    from pipeline.audit import audit
    from pipeline.data import read_datasets
    from pipeline.errors import AuditError
    from pipeline.not_begun import not_begun
    from r_bridge import host
    from r_bridge.errors import RBridgeError, RUnavailable

    rows, r, started = None, config.r, datetime.now(UTC)
    try:
        with host.session(r_seconds=r.seconds, r_memory_gb=r.memory_gb):
            rows = read_datasets(config)
            return audit(*rows, config, on_step=on_step)
    except RUnavailable as error:
        click.echo(str(error), err=True)
        step = "engines and models" if rows else "reading of the rows"
        return not_begun(config, error, step, rows, started=started)
    except (AuditError, RBridgeError):
        raise
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        step = "gathering of the result" if rows else "reading of the rows"
        return not_begun(config, error, step, rows, started=started)


def _kept(result: "AuditResult", config: "AuditConfig", quiet: bool) -> int:
    """Save the run with its report, or without if there can be none; return the code.

    An audit may have taken hours: no fault of what comes after it may lose it.
    """
    from pipeline.audit import exit_code
    from pipeline.bundle import short_views
    from pipeline.history import save_run

    given = {"audit.toml": config.text}
    try:
        from pipeline.rendering import rendered

        shown, files, checks = rendered(result, given)
        code, fault = exit_code(shown), ""
        folder = save_run(
            shown,
            config.base,
            {**given, **files},
            exit_code=code,
            pdf_checks=checks,
        )
    except (Exception, KeyboardInterrupt) as error:
        interrupted, code = isinstance(error, KeyboardInterrupt), exit_code(result)
        code = 130 if interrupted else code if code in (3, 130) else 4
        shown, files = result, {}
        words = "it was interrupted." if interrupted else _told(error)
        fault = f"The report must be written beside the numbers, but {words}"
        folder = save_run(
            result,
            config.base,
            {**given, "report-failed.txt": f"{fault}\n\n{format_exc()}"},
            exit_code=code,
            note=fault,
        )
    if code or not quiet:
        click.echo(short_views(shown)["summary.txt"].decode(), err=quiet)
        for name in files:
            if name in REPORTS:
                click.echo(f"{name[7:].upper():5} {folder / name}", err=quiet)
    if fault:
        click.echo(f"{fault}\nTry again: importance-audit render {folder}", err=True)
    return code


def _verified(path: Path) -> "Verification":
    """Return how a run folder or a PDF report compares with its own digests."""
    from pipeline.verify import verify

    return verify(path)


def _replayed(folder: Path, on_step: "Step | None") -> "Replay":
    """Return how the numbers of a run compare with those measured now."""
    from pipeline.replay import replay

    return replay(folder, on_step)


def _told(error: BaseException) -> str:
    """Return what kept a report from being written, in the words of its cause."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return f"the system says: {cause.strerror}."
    return f"{type(cause).__name__} says: {cause}."


@contextmanager
def _terminable() -> Iterator[None]:
    """Take SIGTERM, as schedulers send it, for Ctrl-C."""

    def stop(number: int, _: object) -> NoReturn:
        raise KeyboardInterrupt(signal.Signals(number).name)

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


@contextmanager
def _progress(quiet: bool) -> "Iterator[Tell | None]":
    """Show steps: a bar on a terminal, plain lines elsewhere, nothing if quiet."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("reading", total=None)
            yield lambda done, total, label: bar.update(
                task, completed=done, total=total, description=label
            )
    else:
        yield lambda done, total, label: click.echo(
            f"[{done}/{total}] {label}", err=True
        )


@contextmanager
def _faults() -> Iterator[None]:
    """Turn what a user can mend into one message and an exit code."""
    from pipeline.errors import AuditError
    from r_bridge.errors import RBridgeError, RUnavailable

    try:
        yield
    except RUnavailable as error:
        _stop(3, str(error))
    except (AuditError, RBridgeError) as error:
        _stop(2, str(error))
    except ImportError as error:
        needed = "The libraries of this command must load"
        _stop(4, f"{needed}, but {error}. Run: importance-audit doctor")
    except KeyboardInterrupt:
        _stop(130, "Interrupted.")


def _stop(code: int, message: str) -> NoReturn:
    """Print `message` on standard error and leave with `code`."""
    click.echo(message, err=True)
    sys.exit(code)


def _write(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all."""
    from pipeline.history import write_file

    write_file(path, content)
