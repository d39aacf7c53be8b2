"""Boards: event files for TensorBoard, a run of wandb, and neither touches the program's own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape import doctor
from gradtape.doctor.entry.boards import HISTOGRAMS, SCALARS, Feed, TensorBoard, Wandb, _due
from gradtape.doctor.entry.session import Session
from gradtape.doctor.entry.watch import conclude
from gradtape.doctor.report import Report
from gradtape.io.protos import array_of, fields
from gradtape.io.records import records
from tests.commands import gradtape

LOOP = """
import sys
import tensorflow as tf
w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.5)
writer = tf.summary.create_file_writer(sys.argv[1])
with writer.as_default(step=7):
    for step in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w) + tf.stop_gradient(b)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        tf.summary.scalar("own", loss)
"""


def events(folder: Path) -> dict[str, list[tuple[int, Any]]]:
    """What the one file in a folder has, by tags: steps and values."""
    (path,) = folder.iterdir()
    found = defaultdict(list)
    with path.open("rb") as file:
        for one in records(file):
            step, summary = 0, b""
            for number, value in fields(one):
                step = value if number == 2 else step
                summary = value if number == 5 else summary
            for _, value in fields(summary) if summary else ():
                parts = dict(fields(value))
                found[parts[1].decode()].append((step, array_of(parts[8])))
    return found


def watched(session: Session, work: Any) -> Report:
    session.start()
    work()
    report = Report("x", "gradtape", session.history, [])
    conclude(session, report)
    assert not report.faults
    return report


def test_the_command_writes_event_files(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(LOOP)
    board, own = tmp_path / "board", tmp_path / "own"
    plain = gradtape("run", program, own)
    assert plain.returncode == 0, plain.stderr
    process = gradtape("doctor", "--tensorboard", board, program, tmp_path / "under")
    assert process.returncode == 0, process.stderr
    found = events(board)
    assert [step for step, _ in found["train.py:10/norm/w"]] == [1, 2, 3, 4]
    norms = [float(norm) for _, norm in found["train.py:10/norm/w"]]
    assert norms == pytest.approx([4.472136 * 0.8**k for k in range(4)], rel=1e-5)
    assert found["train.py:10/target/loss"][0][1] == 5.5
    assert [float(n) for _, n in found["train.py:10/states/none"]] == [1, 1, 1, 1]
    assert "train.py:10/norm/b" not in found  # it has none
    steps, (rows, *_) = zip(*found["train.py:10/gradient/w"], strict=True)
    assert steps == (1, 2, 3, 4)
    assert (rows.shape, rows[:, 2].sum()) == ((30, 3), 2)
    ((step, text),) = found["findings/GT124 stop-gradient"]
    assert step == 1
    assert "tf.stop_gradient(b)" in text.item().decode()
    assert "report" in found
    # The program's own file has what it has without.
    assert events(own).keys() == events(tmp_path / "under").keys() == {"own"}
    assert [step for step, _ in events(tmp_path / "under")["own"]] == [7, 7, 7, 7]
    names = [next(folder.iterdir()).name.split(".")[-2:] for folder in (own, tmp_path / "under")]
    assert names[0] == names[1]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    process = gradtape("doctor", "--tensorboard", tmp_path / "file", "-c", "print('ran')")
    assert (process.returncode, process.stdout) == (2, "")
    assert "is a file; name a folder" in process.stderr


# In a process of its own, where nothing stands for TensorFlow.
READER = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

found = EventAccumulator(sys.argv[1]).Reload()
tags = found.Tags()["tensors"]
print(json.dumps({tag: [event.step for event in found.Tensors(tag)] for tag in tags}))
"""


def test_tensorboard_reads_it(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorboard") is None:
        pytest.skip("TensorBoard is not there")
    session = Session()
    session.observers.append(Feed(TensorBoard(str(tmp_path))))
    v = tf.Variable([1.0, 2.0])

    def train() -> None:
        for _ in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            tape.gradient(loss, v)

    watched(session, train)
    process = subprocess.run(
        [sys.executable, "-c", READER, tmp_path], capture_output=True, text=True, check=True
    )
    steps = json.loads(process.stdout.splitlines()[-1])
    assert [steps[tag] for tag in steps if "/norm/v" in tag] == [[1, 2, 3]]
    assert any("/gradient/v" in tag for tag in steps)


def test_many_steps_have_few_points() -> None:
    for dense in (SCALARS, HISTOGRAMS):
        due = [step for step in range(1, 100_001) if _due(step, dense)]
        assert due[: dense - 1] == list(range(1, dense))
        assert len(due) < dense * 18
        assert due[-1] > 90_000


def test_what_is_not_finite_and_what_is_large(tmp_path: Path) -> None:
    session = Session()
    session.observers.append(Feed(TensorBoard(str(tmp_path))))
    large, bad = tf.Variable(tf.ones([300_000])), tf.Variable([0.0, 4.0])

    def train() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(large * large) + tf.reduce_sum(tf.sqrt(bad))
        tape.gradient(loss, [large, bad])

    watched(session, train)
    found = events(tmp_path)
    tags = {tag.rpartition("/")[2]: rows for tag, rows in found.items() if "/gradient/" in tag}
    assert 1 << 13 < tags["large"][0][1][:, 2].sum() <= 1 << 14
    assert tags["bad"][0][1][:, 2].sum() == 1  # infinity has no place among the others
    norm = next(rows for tag, rows in found.items() if tag.endswith("norm/bad"))
    assert np.isinf(norm[0][1])


# --- wandb ----------------------------------------------------------------------------------------
class Run:
    """Of a run of wandb, what is asked of it: rows are counted as wandb counts them."""

    def __init__(self) -> None:
        self.rows: list[dict] = [{}]
        self.summary: dict[str, Any] = {}
        self.axes: dict[str, Any] = {}

    def log(self, row: dict, commit: bool = True) -> None:
        self.rows[-1].update(row)
        if commit:
            self.rows.append({})

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.axes[name] = step_metric


def test_a_run_of_wandb_has_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=run))
    x, v = tf.constant(1.0), tf.Variable(2.0)
    with doctor.watch():
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = v * v * x
            tape.gradient(loss, [v, x])
            run.log({"loss": step})
    assert [row.get("loss") for row in run.rows] == [0, 1, 2, None]  # the program's rows
    assert [row["gradtape/step"] for row in run.rows[:3]] == [1, 2, 3]
    assert run.axes == {"gradtape/step": None, "gradtape/*": "gradtape/step"}
    norm = next(key for key in run.rows[0] if key.endswith("/norm/v"))
    assert [row[norm] for row in run.rows[:3]] == [4.0, 4.0, 4.0]
    assert "is None" in run.summary["gradtape/GT101 not-watched"]
    assert run.summary["gradtape/findings"] == 1


@pytest.mark.parametrize("module", [None, SimpleNamespace(run=None), ModuleType("wandb")])
def test_no_run_of_wandb_is_none(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if module is None:
        monkeypatch.delitem(sys.modules, "wandb", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "wandb", module)
    session, v = Session(), tf.Variable(2.0)
    session.observers.append(Feed(Wandb()))

    def train() -> None:
        with tf.GradientTape() as tape:
            loss = v * v
        tape.gradient(loss, v)

    watched(session, train)
    assert module is not None or "wandb" not in sys.modules


def test_only_the_outermost_block_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=run))
    told = []
    monkeypatch.setattr(run, "log", lambda row, commit=True: told.append(row))
    v = tf.Variable(2.0)
    with doctor.watch(), doctor.watch():
        with tf.GradientTape() as tape:
            loss = v * v
        tape.gradient(loss, v)
    assert len(told) == 1
