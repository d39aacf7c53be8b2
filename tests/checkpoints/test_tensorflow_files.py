"""Checkpoints that TensorFlow wrote."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf

from .tensorflow_writes import objects

WRITTEN = Path(__file__).parent / "written"


def check(path: str) -> None:
    given, wanted = objects(tf, False), objects(tf, True)
    checkpoint = tf.train.Checkpoint(**given)
    checkpoint.restore(path).assert_consumed()
    assert int(checkpoint.save_counter) == 1
    flat = [tf.nest.flatten([k["model"].variables, k["many"], k["step"]]) for k in (given, wanted)]
    assert len(flat[0]) == 308
    for restored, value in zip(*flat, strict=True):
        np.testing.assert_array_equal(restored.numpy(), value.numpy())


def test_recorded() -> None:
    check(str(WRITTEN / "ckpt-1"))


def test_keys_shapes_and_dtypes() -> None:
    reader = tf.train.load_checkpoint(WRITTEN)
    assert reader.get_variable_to_shape_map()["model/w/.ATTRIBUTES/VARIABLE_VALUE"] == [2, 3]
    dtypes = reader.get_variable_to_dtype_map()
    assert dtypes["model/small/.ATTRIBUTES/VARIABLE_VALUE"] is tf.bfloat16
    key = "model/parts/1/a/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.get_tensor(key).tolist() == [b"text", b""]


def test_what_is_cut_off_is_told(tmp_path: Path) -> None:
    shutil.copytree(WRITTEN, tmp_path / "copy")
    data = tmp_path / "copy" / "ckpt-1.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(IndexError, match="Read less bytes than requested"):
        tf.train.Checkpoint(**objects(tf, False)).restore(str(tmp_path / "copy" / "ckpt-1"))


def test_each_tensor_is_checked_by_its_sum(tmp_path: Path) -> None:
    shutil.copytree(WRITTEN, tmp_path / "copy")
    prefix = tmp_path / "copy" / "ckpt-1"
    given = objects(tf, False)
    before = [v.numpy() for v in tf.nest.flatten(given["model"].variables)]
    for suffix, at in (
        (".data-00000-of-00001", 40),
        (".data-00000-of-00001", 27000),
        (".index", 9),
    ):
        file = Path(f"{prefix}{suffix}")
        sound = file.read_bytes()
        file.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        with pytest.raises(tf.errors.OpError, match=r"checksum|Checksum"):
            tf.train.Checkpoint(**given).restore(str(prefix))
        file.write_bytes(sound)
    after = [v.numpy() for v in tf.nest.flatten(given["model"].variables)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_gradtape_takes_the_place_of_tensorflows(tmp_path: Path) -> None:
    shutil.copytree(WRITTEN, tmp_path / "copy")
    prefix = str(tmp_path / "copy" / "ckpt-1")
    tf.train.Checkpoint(v=tf.Variable(5.0)).write(prefix)
    v = tf.Variable(0.0)
    tf.train.Checkpoint(v=v).read(prefix).assert_consumed()
    assert v.numpy() == 5.0


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="without TensorFlow")
def test_written_now(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.checkpoints.tensorflow_writes", f"{tmp_path}/ckpt"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    check(run.stdout.split()[-1])
