"""Cells of a notebook: `In [3]` in every report, with their source; in a shell and a kernel."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest

from gradtape.doctor.source import cells

shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not there")
# IPython's own, when a shell is made anew: its history is of no interest here.
pytestmark = pytest.mark.filterwarnings("ignore:::IPython", "ignore::ResourceWarning")

FAULTY = """\
with tf.GradientTape() as tape:
    loss = square(x)
tape.gradient(loss, x)
"""


@pytest.fixture
def shell(monkeypatch):
    """A shell of its own, which is gone afterwards, with the extension loaded."""
    from traitlets.config import Config

    quiet = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    )
    for name in ("displayhook", "excepthook"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    shells.InteractiveShell.clear_instance()
    made = shells.InteractiveShell.instance(config=quiet)
    made.run_line_magic("load_ext", "gradtape")
    run(made, "import gradtape as tf")
    yield made
    made.restore_sys_module_state()
    made.reset(new_session=False)
    shells.InteractiveShell.clear_instance()


def run(shell, text: str):
    result = shell.run_cell(dedent(text), store_history=True)
    result.raise_error()
    return result


def test_a_cell_has_its_number(shell) -> None:
    run(shell, "x = tf.constant(3.0)\nsquare = tf.square")
    run(shell, "with tf.doctor.watch() as report:\n    " + FAULTY.replace("\n", "\n    "))
    report = shell.user_ns["report"]
    shown = report.to_text()
    assert "\n  In [3]:2\n" in shown
    assert "with tf.GradientTape() as tape:" in shown  # with its source
    assert [f.edit or f.fix for f in report.findings]
    for made in (
        shown,
        json.dumps(report.to_json()),
        report.to_html(),
        json.dumps(report.to_sarif()),
    ):
        assert "ipython-input" not in made
        assert "ipykernel" not in made
    assert report.to_json()["findings"][0]["place"]["file"] == "In [3]"
    (result,) = report.to_sarif()["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "In%20%5B3%5D"}
    assert report.script == "<interactive>"


def test_a_function_of_another_cell_is_there(shell) -> None:
    run(shell, "def square(x):\n    return tf.stop_gradient(x) * 2.0\n")  # In [2]
    run(shell, "x = tf.Variable(3.0)")
    run(shell, "1 + 1")
    run(shell, "with tf.doctor.watch() as report:\n    " + FAULTY.replace("\n", "\n    "))  # In [5]
    finding = shell.user_ns["report"].to_json()["findings"][0]
    assert finding["code"] == "GT124"
    assert (finding["place"]["file"], finding["place"]["line"]) == ("In [2]", 2)
    assert finding["edit"] == "return x * 2.0"
    asked = shell.user_ns["report"].to_json()["queries"][0]["place"]
    assert (asked["file"], asked["line"]) == ("In [5]", 4)
    assert "  In [2]:2\n" in shell.user_ns["report"].to_text()


def test_a_cell_that_is_run_again_has_its_last_number(shell) -> None:
    cell = "x, square = tf.constant(1.0), tf.square\nwith tf.doctor.watch() as report:\n    "
    cell += FAULTY.replace("\n", "\n    ")
    for number in (2, 3):
        run(shell, cell)
        assert f"  In [{number}]:3\n" in shell.user_ns["report"].to_text()


def test_the_magic(shell, capsys) -> None:
    run(shell, "x, square = tf.constant(3.0), tf.square\n")
    run(shell, "%%doctor\n" + FAULTY + "print('ran')")
    out = capsys.readouterr().out
    assert out.startswith("ran\nGT101 not-watched  `d loss/d x` is None\n")
    assert "\n  In [3]:2\n" in out  # as the notebook counts, the magic's own line included
    assert out.rstrip().endswith("1 finding in 1 gradient")
    run(shell, "%%doctor --max-findings 0\n" + FAULTY)
    assert capsys.readouterr().out.startswith("… and 1 more finding")


def test_the_magic_writes_a_file(shell, capsys, tmp_path) -> None:
    run(shell, "x, square = tf.constant(3.0), tf.square\n")
    run(shell, f"%%doctor --output {tmp_path / 'report.json'}\n{FAULTY}")
    found = json.loads((tmp_path / "report.json").read_text())["findings"]
    assert [f["place"]["file"] for f in found] == ["In [3]"]
    assert "1 finding in 1 gradient: report.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--nosuch", "unrecognized arguments: --nosuch"),
        ("--max-findings -1", "-1 is no whole number from 0 on"),
        ("--output report.pdf", "'report.pdf' names no format (text, json, html, sarif, patch)"),
        ("--engine nosuch", "invalid choice: 'nosuch'"),
    ],
)
def test_an_option_that_cannot_be_meant(words, said, shell, capsys) -> None:
    result = shell.run_cell(f"%%doctor {words}\nprint('ran')")
    assert type(result.error_in_exec).__name__ == "UsageError"
    assert said in str(result.error_in_exec)
    assert "ran" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("<ipython-input-12-0123456789ab>", "In [12]"),
        ("/var/folders/x/ipykernel_4711/1234567890.py", "In [ ]"),
        (r"C:\Temp\ipykernel_4711\1234567890.py", "In [ ]"),
        ("/home/me/ipykernel_4711/notes/train.py", None),
        ("<string>", None),
        ("train.py", None),
    ],
)
def test_names_of_cells(file, name) -> None:
    assert cells.called(file) == name


def test_a_kernel(tmp_path) -> None:
    """Through Jupyter's own protocol: the page is shown, and the cell is called by its number."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not there")
    pytest.importorskip("ipykernel", reason="ipykernel is not there")
    import nbformat.v4 as notebooks

    texts = [
        "%load_ext gradtape\nimport gradtape as tf",
        "def square(x):\n    return tf.stop_gradient(x) * 2.0\n",
        "x = tf.Variable(3.0)",
        "%%doctor\n" + FAULTY,
        "with tf.doctor.watch() as report:\n    "
        + FAULTY.replace("\n", "\n    ")
        + "\nprint(report)",
    ]
    book = notebooks.new_notebook(cells=[notebooks.new_code_cell(text) for text in texts])
    nbclient.NotebookClient(book, timeout=60, resources={"metadata": {"path": tmp_path}}).execute()
    page = book.cells[3].outputs[0]["data"]["text/html"]
    assert page.startswith("<iframe")
    assert "In [2]" in page
    assert "ipykernel" not in page
    assert "\n  In [2]:2\n" in book.cells[4].outputs[0]["text"]
