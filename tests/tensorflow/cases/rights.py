"""Whose the files and folders are to read that TensorFlow writes: as the user's umask says."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

from tests.tensorflow.harness import cases

Writes = Callable[[Any, str], Any]


def file_of(tf: Any, path: str, mode: str) -> None:
    with tf.io.gfile.GFile(path, mode) as file:
        file.write("text" if mode != "wb" else b"text")


def records(tf: Any, path: str) -> None:
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"text")


def summary(tf: Any, path: str) -> None:
    writer = tf.summary.create_file_writer(path)
    with writer.as_default():
        tf.summary.write("tag", 1.0, step=0)
    writer.close()


def managed(tf: Any, path: str) -> None:
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), path, 2)
    for _ in range(3):
        manager.save()


def written_anew(tf: Any, path: str) -> None:
    for _ in range(2):
        tf.train.Checkpoint(v=tf.Variable(1.0)).write(path)


def copied(tf: Any, path: str) -> None:
    file_of(tf, path, "w")
    os.chmod(path, 0o640)
    tf.io.gfile.copy(path, path + "-copy")
    os.remove(path)


def replaced(tf: Any, path: str) -> None:
    file_of(tf, path, "w")
    os.chmod(path, 0o640)
    tf.io.write_file(path, "more")


WRITERS: dict[str, Writes] = {
    "checkpoint": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1.0)).save(path),
    "checkpoint_in_a_new_folder": lambda tf, path: tf.train.Checkpoint(v=tf.Variable(1.0)).write(
        os.path.join(path, "a", "b")
    ),
    "checkpoint_written_anew": written_anew,
    "manager": managed,
    "write_file": lambda tf, path: tf.io.write_file(path, "text"),
    "write_file_in_a_new_folder": lambda tf, path: tf.io.write_file(
        os.path.join(path, "a", "b"), "text"
    ),
    "replaced": replaced,
    "gfile": lambda tf, path: file_of(tf, path, "w"),
    "gfile_bytes": lambda tf, path: file_of(tf, path, "wb"),
    "gfile_appended": lambda tf, path: file_of(tf, path, "a"),
    "copy": copied,
    "makedirs": lambda tf, path: tf.io.gfile.makedirs(os.path.join(path, "a", "b")),
    "mkdir": lambda tf, path: tf.io.gfile.mkdir(path),
    "records": records,
    "summary": summary,
    "printed": lambda tf, path: tf.print("text", output_stream=f"file://{path}"),
    "dataset": lambda tf, path: tf.data.Dataset.range(3).save(path),
    "cache": lambda tf, path: list(tf.data.Dataset.range(3).cache(path)),
    "snapshot": lambda tf, path: list(tf.data.Dataset.range(3).snapshot(path)),
    "module": lambda tf, path: tf.train.Checkpoint(tf.Module()).write(path),
}


@cases(kind=WRITERS, umask={"002": 0o002, "022": 0o022, "027": 0o027, "077": 0o077})
def rights(tf: Any, kind: Writes, umask: int) -> Any:
    root = tempfile.mkdtemp()
    before = os.umask(umask)
    try:
        kind(tf, os.path.join(root, "name"))
    finally:
        os.umask(before)
    modes: dict[str, set[str]] = {"files": set(), "folders": set()}
    for folder, folders, files in os.walk(root):
        for what, names in (("files", files), ("folders", folders)):
            for name in names:
                mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
                modes[what].add(oct(mode))
    return {what: sorted(found) for what, found in modes.items()}
