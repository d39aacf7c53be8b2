"""The files of a checkpoint: whose they are to read, and what is said of a damaged one."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

import gradtape as tf


@pytest.fixture
def path(tmp_path: Path) -> str:
    return tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt")


@pytest.mark.skipif(sys.platform == "win32", reason="rights as POSIX has them")
@pytest.mark.parametrize("umask", [0o022, 0o007, 0o077])
def test_all_files_have_the_rights_of_the_user(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ckpt")
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {0o666 & ~umask}


@pytest.mark.parametrize("data", [b"", b"garbage", b"garbage" * 20, b"[]", b"{}", bytes(200)])
def test_a_damaged_index_is_an_error(data: bytes, path: str) -> None:
    Path(f"{path}.index").write_bytes(data)
    checkpoint = tf.train.Checkpoint(v=tf.Variable(2.0))
    for read in (checkpoint.restore, tf.train.load_checkpoint, tf.train.list_variables):
        with pytest.raises(tf.errors.OpError, match="an sstable") as caught:
            read(path)
        assert caught.value.error_code == tf.errors.UNKNOWN


def test_every_byte_of_a_checkpoint_is_checked(tmp_path: Path) -> None:
    """What TensorFlow says of damage is recorded (damaged_checkpoints); here, all bytes of both."""
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "ckpt")
    for suffix in (".safetensors", ".index"):
        file = Path(path + suffix)
        sound = file.read_bytes()
        for at in range(len(sound)):
            file.write_bytes(sound[:at] + bytes([sound[at] ^ 4]) + sound[at + 1 :])
            v = tf.Variable(2.0)
            try:
                tf.train.Checkpoint(v=v).read(path).assert_consumed()
            except (tf.errors.OpError, IndexError):
                assert float(v) == 2.0
            else:
                assert float(v) == 1.0, f"byte {at} of {suffix}: {sound[at : at + 1]!r}"
        file.write_bytes(sound)


def test_a_checkpoint_whose_index_is_missing_was_not_written_to_its_end(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, 3)
    first = manager.save()
    v.assign(2.0)
    tf.train.Checkpoint(v=v).write(tmp_path / "ckpt-2")
    (tmp_path / "ckpt-2.index").unlink()  # a process that was killed between the two files
    assert tf.train.latest_checkpoint(tmp_path) == first
    tf.train.Checkpoint(v=v).restore(first)
    assert float(v) == 1.0
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(v=v).restore(str(tmp_path / "ckpt-2"))
