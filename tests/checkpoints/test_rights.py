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
        assert caught.value.error_code == tf.errors.DATA_LOSS


def test_a_process_that_was_killed_may_have_left_no_index(path: str) -> None:
    Path(f"{path}.index").unlink()
    v = tf.Variable(2.0)
    tf.train.Checkpoint(v=v).restore(path).assert_consumed()
    assert float(v) == 1.0
