"""Runs Keras's own tests on gradtape and on the real TensorFlow, and says where they differ.

    python -m tests.keras.run                        # all of them: some hours
    python -m tests.keras.run layers/core ops/nn     # files whose path begins so

TensorFlow, JAX and pytest must be installed beside gradtape: Keras's tests use the first two as
oracles. The tests are those that the installed Keras brings along (`keras/src/**/*_test.py`); each
file runs in a process of its own, in an empty directory, with a limit of time for each test. With
`--together 20`, as many files share a process: half of the time of small files is its start. A test
that TensorFlow does not pass (no network, no GPU) does not count. What TensorFlow passes and
gradtape does not must be named in `exceptions.toml`, with the reason.

`--baseline FILE` keeps TensorFlow's outcomes, so that they need not be asked for again; a run that
was interrupted goes on where it was. `--outcomes FILE` keeps gradtape's, with what each failure
said.

The exit code is 1 if a test fails that is not listed, if a listed one passes, or if fewer than 98 %
of TensorFlow's tests pass.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.commands import environment

from .outcomes import lines

EXCEPTIONS = Path(__file__).with_name("exceptions.toml")
ROOT = Path(__file__).parents[2]
ENOUGH = 0.98
ENGINES = ("tensorflow", "gradtape")
STARTS = 20  # of a file whose tests kill their process
END = "file"  # the key of the line that says that a file was run to its end


def keras_source() -> Path:
    """The directory `keras/src`, found without importing Keras."""
    found = importlib.util.find_spec("keras")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "src"


def find_files(parts: Iterable[str] = ()) -> list[str]:
    """Keras's files of tests, relative to `keras/src`, in the order of the parts."""
    source = keras_source()
    every = sorted(path.relative_to(source).as_posix() for path in source.rglob("*_test.py"))
    asked = tuple(part.removeprefix("keras/src/") for part in parts)
    found = [file for part in asked for file in every if file.startswith(part)]
    return list(dict.fromkeys(found)) if asked else every


def command(engine: str, files: Iterable[str], outcomes: Path, *options: str) -> list[str]:
    """The words that run files of tests on an engine."""
    source = keras_source()
    plugins = ["tests.keras.outcomes", "no:cacheprovider", "no:gradtape", "no:xdist", "no:randomly"]
    if engine == "gradtape":
        plugins.insert(0, "tests.keras.plugin")  # before anything imports Keras
    words = [word for plugin in plugins for word in ("-p", plugin)]
    words += ["-q", "--tb=short", "-c", os.devnull, "--rootdir", str(source)]
    paths = [str(source / file) for file in files]
    return [sys.executable, "-m", "pytest", *words, "--outcomes", str(outcomes), *options, *paths]


def start(words: list[str], folder: str | Path, limit: float) -> str:
    """Run them in a directory, and return the end of what was printed if the process died."""
    surroundings = environment()
    paths = [str(ROOT), surroundings["PYTHONPATH"]]
    quiet = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_HOME": str(folder)}
    env = {**surroundings, **quiet, "PYTHONPATH": os.pathsep.join(paths)}
    with tempfile.TemporaryFile() as out:
        try:
            code = subprocess.run(
                words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return "more than the limit of a file"
        out.seek(0)
        said = out.read().decode("utf-8", "replace")
    ended = code in (0, 1, 2, 5)  # of these pytest has told what happened
    return "" if ended else f"exit code {code}: {said[-300:]}"


def run_files(engine: str, files: list[str], limit: float) -> list[dict[str, Any]]:
    """How each test of some files ended; a process that a test kills goes on after it."""
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes.jsonl"
        work = Path(folder) / "work"
        work.mkdir()
        options = ["--limit", str(limit), "--continue-on-collection-errors"]
        words = command(engine, files, outcomes, *options)
        for _ in range(STARTS):
            died = start(words, work, 3600 * len(files))
            if not died:
                break
            with outcomes.open("a", encoding="utf-8") as out:
                out.write("\n")
        found = {line["id"]: line for line in lines(outcomes)}
    for line in found.values():
        if line["outcome"] == "begun":
            line.update(outcome="failed", message="the process died")
    return [*found.values()]


class Record:
    """Outcomes by test, kept in a file of lines if there is one."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.tests: dict[str, dict[str, Any]] = {}
        self.files: set[str] = set()
        self.lock = threading.Lock()
        for line in lines(file) if file is not None else ():
            if END in line:
                self.files.add(line[END])
            else:
                self.tests[line["id"]] = line

    def add(self, file: str, found: list[dict[str, Any]]) -> None:
        with self.lock:
            self.files.add(file)
            self.tests |= {line["id"]: line for line in found}
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as out:
                    out.writelines(json.dumps(line) + "\n" for line in [*found, {END: file}])

    def outcome(self, test: str) -> str:
        return self.tests.get(test, {}).get("outcome", "not run")

    def passed(self, files: Iterable[str]) -> list[str]:
        chosen = set(files)
        names = [name for name in self.tests if name.partition("::")[0] in chosen]
        return [name for name in names if self.outcome(name) == "passed"]


def exceptions(file: Path = EXCEPTIONS) -> dict[str, str]:
    """Test ids, or patterns of them, with the reason why they fail on gradtape."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def compare(files: list[str], theirs: Record, ours: Record, listed: dict[str, str]) -> bool:
    """Print what passes on both, and what only on TensorFlow; is it enough, and all listed?"""
    passed = theirs.passed(files)
    failed = [name for name in passed if ours.outcome(name) != "passed"]
    folders = Counter(_folder(name) for name in passed)
    failures = Counter(_folder(name) for name in failed)
    for folder, count in sorted(folders.items()):
        print(_line(folder, count, count - failures[folder]))
    print(_line("all", len(passed), len(passed) - len(failed)))
    unlisted = [name for name in failed if not _matches(name, listed)]
    for name in unlisted:
        told = ours.tests.get(name, {}).get("message", "")
        print(f"fails: {name}: {ours.outcome(name)}: {told}")
    stale = [
        pattern
        for pattern in listed
        if not any(fnmatchcase(name, pattern) for name in failed) and _whole(pattern, files)
    ]
    for pattern in stale:
        print(f"listed, and does not fail: {pattern}")
    enough = len(passed) - len(failed) >= ENOUGH * len(passed)
    return enough and not unlisted and not stale


def _folder(name: str) -> str:
    return name.partition("::")[0].rpartition("/")[0]


def _matches(name: str, listed: Iterable[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in listed)


def _whole(pattern: str, files: list[str]) -> bool:
    """Whether all the files that a pattern may mean were looked at."""
    file = pattern.partition("::")[0]
    return {one for one in find_files() if fnmatchcase(one, file)} <= {*files}


def _line(title: str, count: int, here: int) -> str:
    share = 100 * here / count if count else 100.0
    return f"{title:32} TensorFlow {count:6}   gradtape {here:6}   {share:6.2f} %"


def main() -> int:
    """Run what is asked for and compare."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.keras.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", help="beginnings of paths below keras/src")
    parser.add_argument("--engine", choices=[*ENGINES, "both"], default="both")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--together", type=int, default=1, help="files in one process")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each test")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="TensorFlow's outcomes")
    parser.add_argument("--outcomes", type=Path, metavar="FILE", help="gradtape's outcomes")
    given = parser.parse_args()
    files = find_files(given.parts)
    if not files:
        parser.error("no file of Keras's tests is named so")
    if given.outcomes is not None:
        given.outcomes.unlink(missing_ok=True)
    records = {"tensorflow": Record(given.baseline), "gradtape": Record(given.outcomes)}
    engines = ENGINES if given.engine == "both" else (given.engine,)

    def some(engine: str, files: list[str]) -> None:
        found = run_files(engine, files, given.limit)
        for file in files:
            own = [line for line in found if line["id"].partition("::")[0] == file]
            records[engine].add(file, own)
            count = Counter(line["outcome"] for line in own)
            told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items()))
            print(f"{engine} {file}: {told}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        work = []
        for engine in engines:
            left = [file for file in files if file not in records[engine].files]
            groups = [left[k : k + given.together] for k in range(0, len(left), given.together)]
            work += [pool.submit(some, engine, group) for group in groups]
        for done in work:
            done.result()
    if given.engine == "tensorflow":
        print(f"{len(records['tensorflow'].passed(files))} tests pass on TensorFlow")
        return 0
    known = [file for file in files if file in records["tensorflow"].files]
    if len(known) < len(files):
        print(f"compared: {len(known)} of {len(files)} files, TensorFlow's outcomes are known")
    return 0 if compare(known, records["tensorflow"], records["gradtape"], exceptions()) else 1


if __name__ == "__main__":
    sys.exit(main())
