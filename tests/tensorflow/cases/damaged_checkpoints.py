"""What is said of checkpoints whose files are damaged, and what is restored of them."""

from __future__ import annotations

import glob
import os
import struct
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt, cases

KEY = "{}/.ATTRIBUTES/VARIABLE_VALUE"
ROW = [1.0, 2.0, 3.0]


def data(prefix: str) -> str:
    """The file with the tensors, TensorFlow's or gradtape's."""
    (path,) = [*glob.glob(f"{prefix}.data-*"), *glob.glob(f"{prefix}.safetensors")]
    return path


def remove(*suffixes: str) -> Callable[[str], None]:
    def spoil(prefix: str) -> None:
        for suffix in suffixes:
            os.remove(prefix + suffix if suffix else data(prefix))

    return spoil


def rewrite(change: Callable[[bytes], bytes], suffix: str = "") -> Callable[[str], None]:
    def spoil(prefix: str) -> None:
        path = prefix + suffix if suffix else data(prefix)
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(change(content))

    return spoil


def flipped(content: bytes, at: int) -> bytes:
    """With one bit turned over."""
    assert at >= 0
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def folder(prefix: str) -> None:
    path = data(prefix)
    os.remove(path)
    os.mkdir(path)


DAMAGE: dict[str, Callable[[str], None]] = {
    "none": lambda prefix: None,
    "no_index": remove(".index"),
    "no_data": remove(""),
    "neither": remove("", ".index"),
    "folder": folder,
    "empty": rewrite(lambda content: b""),
    "few_bytes": rewrite(lambda content: content[:8]),
    "garbage": rewrite(lambda content: np.random.RandomState(0).bytes(len(content))),
    "zeros": rewrite(lambda content: bytes(len(content))),
    "flip_in_floats": rewrite(
        lambda content: flipped(content, content.rfind(struct.pack("<3f", *ROW)))
    ),
    "flip_in_texts": rewrite(lambda content: flipped(content, content.rfind(b"xyy"))),
    "empty_index": rewrite(lambda content: b"", ".index"),
    "short_index": rewrite(lambda content: content[:20], ".index"),
    "garbage_index": rewrite(
        lambda content: np.random.RandomState(1).bytes(len(content)), ".index"
    ),
    "zeros_in_index": rewrite(lambda content: bytes(len(content)), ".index"),
    "flip_in_index": rewrite(lambda content: flipped(content, len(content) // 3), ".index"),
}
# Where it lies in the file decides whether what is read lies before the end.
CUT = {"cut_by_one": -1, "cut_by_ten": -10}


def written(tf: Any) -> Any:
    folder = tempfile.mkdtemp()
    held = {"a": tf.Variable(ROW), "s": tf.Variable(5), "t": tf.Variable(["x", "yy"])}
    return tf.train.Checkpoint(**held).save(os.path.join(folder, "ckpt"))


def restored(tf: Any, prefix: str, method: str) -> Any:
    """What comes of it, and what the variables hold afterwards."""
    held = {"a": tf.Variable([0.0] * 3), "s": tf.Variable(0), "t": tf.Variable(["", ""])}
    checkpoint = tf.train.Checkpoint(**held)

    def read() -> str:
        getattr(checkpoint, method)(prefix).assert_existing_objects_matched()
        return "read"

    return outcome(read), [held[name].numpy().tolist() for name in ("a", "s", "t")]


def outcome(call: Callable[[], Any]) -> Any:
    """The answer, or the name of the exception with its code and classes."""
    answer = attempt(call)
    if not isinstance(answer, Exception):
        return answer
    return type(answer).__name__, getattr(answer, "error_code", None)


@cases(damage=DAMAGE)
def damaged(tf: Any, damage: Callable[[str], None]) -> Any:
    prefix = written(tf)
    damage(prefix)
    train, root = tf.train, os.path.dirname(prefix)
    listed = outcome(lambda: train.list_variables(prefix))
    if isinstance(listed, list):  # TensorFlow lists the objects' own string, too
        listed = [[key, shape] for key, shape in listed if "CHECKPOINTABLE" not in key]
    reader = outcome(lambda: type(train.load_checkpoint(prefix)).__name__)
    values = [
        outcome(lambda key=key: train.load_checkpoint(prefix).get_tensor(KEY.format(key)))
        for key in ("a", "s", "t")
    ]
    latest = outcome(lambda: os.path.basename(train.latest_checkpoint(root) or "none"))
    beside = outcome(lambda: type(train.load_checkpoint(root)).__name__)
    manager = train.CheckpointManager(train.Checkpoint(s=tf.Variable(0)), root, 3)
    managed = outcome(lambda: os.path.basename(manager.restore_or_initialize() or "none"))
    return (
        [restored(tf, prefix, method) for method in ("restore", "read")],
        listed, reader, values, latest, beside, managed,
    )  # fmt: skip


@cases(size=CUT)
def cut(tf: Any, size: int) -> Any:
    prefix = written(tf)
    rewrite(lambda content: content[:size])(prefix)
    listed = outcome(lambda: len(tf.train.list_variables(prefix)))
    return [restored(tf, prefix, method) for method in ("restore", "read")], listed
