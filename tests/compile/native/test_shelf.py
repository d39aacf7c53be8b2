"""Object code on disk: found again, never believed blindly, and never in the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")
from gradtape.compile.native import shelf

CODE = bytes(range(256)) * 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GRADTAPE_CACHE", str(tmp_path / "shelf"))
    shelf._folder.cache_clear()
    yield tmp_path / "shelf"
    shelf._folder.cache_clear()


def test_what_was_put_is_found(folder: Path) -> None:
    name = shelf.name_of("a program")
    assert shelf.find(name) is None
    shelf.put(name, CODE)
    assert shelf.find(name) == CODE
    assert shelf.find(shelf.name_of("another program")) is None
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_was_changed_is_not_believed(folder: Path) -> None:
    name = shelf.name_of("a program")
    shelf.put(name, CODE)
    (file,) = folder.iterdir()
    for at in (0, 20, -1):
        data = bytearray(file.read_bytes())
        data[at] ^= 1
        file.write_bytes(data)
        assert shelf.find(name) is None
        shelf.put(name, CODE)
    file.write_bytes(file.read_bytes()[:-9])
    assert shelf.find(name) is None


def test_code_under_another_name_is_not_believed(folder: Path) -> None:
    one, other = shelf.name_of("one"), shelf.name_of("other")
    shelf.put(one, CODE)
    os.rename(folder / f"{one}.o", folder / f"{other}.o")
    assert shelf.find(other) is None


def test_what_others_may_write_is_not_believed(folder: Path) -> None:
    name = shelf.name_of("a program")
    shelf.put(name, CODE)
    (file,) = folder.iterdir()
    file.chmod(0o666)
    assert shelf.find(name) is None
    folder.chmod(0o777)
    shelf._folder.cache_clear()
    shelf.put(name, CODE)
    assert shelf.find(name) is None


def test_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [shelf.name_of(str(k)) for k in range(4)]
    for k, name in enumerate(names[:3]):
        shelf.put(name, CODE)
        os.utime(folder / f"{name}.o", (k, k))
    assert shelf.find(names[0]) == CODE  # which makes it the newest
    monkeypatch.setattr(shelf, "MOST", 3 * (folder / f"{names[0]}.o").stat().st_size)
    shelf.put(names[3], CODE)
    assert [shelf.find(name) is not None for name in names] == [True, False, True, True]


def test_without_a_folder_nothing_is_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for setting in ("0", str(tmp_path / "file" / "below")):
        monkeypatch.setenv("GRADTAPE_CACHE", setting)
        shelf._folder.cache_clear()
        shelf.put(shelf.name_of("a program"), CODE)
        assert shelf.find(shelf.name_of("a program")) is None
