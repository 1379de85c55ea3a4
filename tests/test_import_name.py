"""The package is imported as importance_audit, whatever else is called pipeline."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import importance_audit

ROOT = Path(__file__).parents[1]
AUDIT = """
[data]
train = { sklearn = "load_diabetes" }
test = { fraction = 0.33 }
target = "target"
task = "regression"
[[models]]
name = "m"
"""
FITTED = 'estimator = "sklearn.linear_model.LinearRegression"\n'
REST = '[[importance]]\nmethod = "permutation"\n[report]\nprofile = "bundle"\n'
USERS_OWN = '''
"""A user's own module of this name; the audit of its model must not notice."""
from sklearn.linear_model import LinearRegression

class Own(LinearRegression):
    pass
'''


def run(*words, cwd, **variables):
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": ""} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def succeeded(*words, **options):
    ran = run(*words, **options)
    assert ran.returncode == 0, ran.stderr
    return ran


def audit(folder, model=FITTED):
    folder.mkdir()
    (folder / "audit.toml").write_text(AUDIT + model + REST, encoding="utf8")
    return folder


def n_runs(folder):
    """Return how many runs an audit has left."""
    return len(list((folder / "runs").iterdir()))


COMMAND = Path(sys.executable).with_name("importance-audit")


@pytest.mark.parametrize(
    "words", [[COMMAND], [sys.executable, "-m", "importance_audit"]]
)
def test_a_users_own_pipeline_is_neither_imported_nor_in_the_way(tmp_path, words):
    """Neither of the working folder nor of PYTHONPATH: to import one ends the run."""
    places = tmp_path / "working folder", tmp_path / "path"
    for place in places:
        place.mkdir()
        (place / "pipeline.py").write_text("1 / 0", encoding="utf8")
        (place / "r_bridge.py").write_text("1 / 0", encoding="utf8")
    folder, path = places
    command = [*words, "run", audit(folder / "audit")]
    succeeded(*command, cwd=folder, PYTHONPATH=str(path))
    assert n_runs(folder / "audit") == 1


def test_a_saved_model_may_be_of_a_users_own_pipeline(tmp_path):
    (tmp_path / "pipeline.py").write_text(USERS_OWN, encoding="utf8")
    target = tmp_path / "audit"
    save = (
        "import joblib, pipeline; from sklearn.datasets import load_diabetes\n"
        "X, y = load_diabetes(return_X_y=True, as_frame=True)\n"
        "joblib.dump(pipeline.Own().fit(X, y), 'm.joblib')"
    )
    succeeded(sys.executable, "-c", save, cwd=tmp_path)
    digest = hashlib.sha256((tmp_path / "m.joblib").read_bytes()).hexdigest()
    audit(target, f'file = "../m.joblib"\nsha256 = "{digest}"\n')
    succeeded(COMMAND, "run", target, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert n_runs(target) == 1


def test_no_command_imports_the_folders_by_their_own_names(tmp_path):
    code = (
        "import sys; from importance_audit.cli.main import main\n"
        "try:\n    main(['run', sys.argv[1]])\n"
        "except SystemExit as end:\n    assert end.code == 0, end.code\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names & {'pipeline', 'r_bridge', 'templates'}))"
    )
    # -c puts the working folder first: from the repository both could be imported
    ran = run(sys.executable, "-c", code, audit(tmp_path / "audit"), cwd=ROOT)
    assert ran.stdout.splitlines()[-1:] == ["[]"], ran.stderr


def test_a_job_of_an_earlier_checkout_runs_under_the_old_name(tmp_path):
    """Its line reads PYTHONPATH=<checkout> python -P -m pipeline run ..."""
    command = [sys.executable, "-P", "-m", "pipeline", "run", audit(tmp_path / "audit")]
    succeeded(*command, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert n_runs(tmp_path / "audit") == 1


def test_the_old_name_without_the_package_ends_with_one_sentence(tmp_path):
    """Without site-packages nothing is installed, as after the package moved."""
    code = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1])\n"
        "runpy.run_module('pipeline', run_name='__main__')"
    )
    ran = run(sys.executable, "-I", "-S", "-c", code, ROOT, cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == (
        "importance-audit is not installed in this Python, and `-m pipeline` is its "
        "old name. Install it, and print schedules again: importance-audit schedule "
        "AUDIT\n"
    )


def test_public_names_are_loaded_when_they_are_used():
    code = (
        "import sys, importance_audit as ia\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'matplotlib', 'rpy2'}\n"
        "assert not heavy & set(sys.modules), sorted(heavy & set(sys.modules))\n"
        "assert all(getattr(ia, name) for name in ia.__all__)\n"
        "assert set(ia.__all__) <= set(dir(ia))"
    )
    ran = run(sys.executable, "-c", code, cwd="/")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'importance_audit' has no .*'adit'"):
        _ = importance_audit.adit


def test_a_wheel_holds_every_data_file_and_runs_beside_a_users_pipeline(tmp_path):
    source, target = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    for name in ("pipeline", "r_bridge", "templates"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet"]
    succeeded(*_pip(), "wheel", *build, "--wheel-dir", tmp_path, source, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
        archive.extractall(target)
    own = {name for name in contents if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in own} == {"importance_audit"}
    for folder in ("pipeline", "r_bridge", "templates"):
        place = "importance_audit" + f"/{folder}" * (folder != "pipeline")
        for path in filter(Path.is_file, (source / folder).rglob("*")):
            inside = f"{place}/{path.relative_to(source / folder).as_posix()}"
            assert contents.get(inside) == path.read_bytes(), inside
    (tmp_path / "pipeline.py").write_text("1 / 0", encoding="utf8")
    words = [sys.executable, "-P", "-m", "importance_audit", "run"]
    code = "import importance_audit; print(importance_audit.__file__)"
    for command in ([*words, audit(tmp_path / "audit")], [*words[:1], "-c", code]):
        ran = succeeded(*command, cwd=tmp_path, PYTHONPATH=str(target))
    assert ran.stdout.strip() == str(target / "importance_audit" / "__init__.py")


def _pip():
    """Return a pip that builds with the libraries of this Python, or skip."""
    if run(sys.executable, "-m", "pip", "--version", cwd="/").returncode == 0:
        return [sys.executable, "-m", "pip"]
    if run("/usr/bin/python3", "-m", "pip", "--version", cwd="/").returncode == 0:
        return ["/usr/bin/python3", "-m", "pip", "--python", sys.executable]
    pytest.skip("there is no pip to build a wheel with")
