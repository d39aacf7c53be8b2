"""Object code on disk: found again, never believed blindly, and never in the way."""

from __future__ import annotations

import os
import pwd
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
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    anew()
    yield tmp_path / "shelf"
    anew()


def anew() -> None:
    """As in a process that begins now."""
    shelf._folder.cache_clear()
    shelf._secret.cache_clear()


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
    anew()
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
        anew()
        shelf.put(shelf.name_of("a program"), CODE)
        assert shelf.find(shelf.name_of("a program")) is None


def test_without_a_home_directory_nothing_is_kept_and_no_folder_is_made(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for home in (None, "", "somewhere"):
        for cache in (None, str(folder)):
            for name, value in (("HOME", home), ("GRADTAPE_CACHE", cache)):
                if value is None:
                    monkeypatch.delenv(name, raising=False)
                else:
                    monkeypatch.setenv(name, value)
            anew()
            shelf.put(shelf.name_of("a program"), CODE)
            assert shelf.find(shelf.name_of("a program")) is None
    assert not [*(tmp_path / "here").iterdir()]
    assert not folder.exists()


def test_the_secret_is_the_users_alone(tmp_path: Path, folder: Path) -> None:
    shelf.put(shelf.name_of("a program"), CODE)
    (secret,) = (tmp_path / "home" / "gradtape").iterdir()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_bytes() not in (folder / f"{shelf.name_of('a program')}.o").read_bytes()
    secret.chmod(0o644)  # others may have read it
    anew()
    assert shelf.find(shelf.name_of("a program")) is None
    shelf.put(shelf.name_of("a program"), CODE)
    assert shelf.find(shelf.name_of("a program")) == CODE
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_code_that_another_user_signed_is_not_believed(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = shelf.name_of("a program")
    shelf.put(name, CODE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another home"))
    anew()
    assert shelf.find(name) is None
    data = shelf.MARK + shelf.DIGEST(name.encode() + CODE).digest() + CODE
    (folder / f"{name}.o").write_bytes(data)  # with a digest, as anybody can make
    assert shelf.find(name) is None


def test_what_is_no_regular_file_is_not_read(tmp_path: Path, folder: Path) -> None:
    name = shelf.name_of("a program")
    shelf.put(name, CODE)
    path = folder / f"{name}.o"
    os.rename(path, tmp_path / "elsewhere")
    for make in (
        lambda: os.mkfifo(path, 0o600),  # to open which one waits for a writer
        lambda: os.symlink(tmp_path / "elsewhere", path),
        lambda: os.symlink("/dev/zero", path),
        lambda: path.mkdir(mode=0o700),
    ):
        make()
        assert shelf.find(name) is None
        path.rmdir() if path.is_dir() else path.unlink()
    os.mkfifo(path, 0o600)
    shelf.put(name, CODE)
    assert shelf.find(name) == CODE


def test_a_secret_that_is_a_pipe_is_made_anew(tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "home" / "gradtape"
    home.mkdir(mode=0o700, parents=True)
    os.mkfifo(home / shelf.SECRET, 0o600)
    shelf.put(shelf.name_of("a program"), CODE)
    assert shelf.find(shelf.name_of("a program")) == CODE


def test_files_that_are_not_ours_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    (folder / "thesis.o").write_bytes(CODE)
    monkeypatch.setattr(shelf, "MOST", 1)
    shelf.put(shelf.name_of("a program"), CODE)
    assert [file.name for file in folder.iterdir()] == ["thesis.o"]
