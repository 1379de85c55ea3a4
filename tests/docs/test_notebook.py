"""The Python page in a real notebook kernel; only where nbclient and ipykernel are."""

import json
import sys

import pytest
from tests.docs.pages import blocks
from tests.docs.test_blocks import SMALL

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
nbformat = pytest.importorskip("nbformat")


@pytest.mark.pages
@pytest.mark.processes
def test_the_python_page_runs_in_a_notebook_and_shows_its_result(tmp_path, monkeypatch):
    kernel = tmp_path / "kernels" / "this"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "this", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "audit.toml").write_text(SMALL)
    texts = [block.text for block in blocks("python") if block.page == "docs/python.md"]
    cells = [nbformat.v4.new_code_cell(text) for text in texts]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="this", resources=resources
    )
    client.execute()
    shown = {
        cell.source.splitlines()[-1].partition("  #")[0]: output["data"]
        for cell in notebook.cells
        for output in cell.outputs
        if output["output_type"] == "execute_result"
    }
    assert "<svg" in shown["result"]["text/html"]
    assert shown["result"]["text/plain"].startswith("Audit: ")
    figures = [data for source, data in shown.items() if source.startswith("result.pl")]
    assert len(figures) == 2
    assert all("image/png" in data for data in figures)
    (tmp_path / "page.ipynb").write_text(nbformat.writes(notebook))
