"""Runs the programs of `programs/` plain and under the doctor, and says what differs.

`python -m tests.doctor.tensorflow.same` takes all of them, with names only those:

    python -m tests.doctor.tensorflow.same vae_fit mirrored_loop

Each runs in an empty directory, plain and under the doctor: what it prints, the files that it
writes, the exit code, and the doctor's report, which has nothing to find. Where something differs,
a second plain run tells what differs from run to run (the time in an event file): that cannot be
compared and is left out. Processor time and memory are noted as multiples of the plain run's, with
and without what importing TensorFlow takes. The programs in `programs/both/` also run on gradtape's
own engine, as those in `programs/tricky/` do: short ones that look at what a doctor might change.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import pickle
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.commands import environment

FOLDER = Path(__file__).with_name("programs")
LIMIT = 600  # seconds
# What the doctor changes, on which engine, and why; see "what stays visible" in docs/design.md.
HELD = "the log holds tensors until it is cut short"
ASKED = "a gradient function of the program's is called once more where a step is looked into"
GRAPHS = "what is known of a function, its sources and calls, is held beside its graph"
VISIBLE = {
    "custom_gradient_calls": {"tensorflow": ASKED},
    "custom_gradients_in_functions": {"gradtape": ASKED, "tensorflow": ASKED},
    "closures_die": {"tensorflow": GRAPHS},
    "graph_sources": {"tensorflow": GRAPHS},
    "import_finders": {"gradtape": "Keras is waited for in `sys.meta_path`"},
    "tensors_die": {"tensorflow": HELD},
    "weak_steps": {"tensorflow": HELD},
    "weak_tensors": {"tensorflow": HELD},
}
SILENT = {"exit_at_once"}  # `os._exit` leaves no time for a report
START = "import tensorflow as tf\ntf.Variable(1.0)\n"  # what every program costs
# The others: 0.
ENDS = {
    "crash_in_function": 1,
    "crash_traceback": 1,
    "exit_code": 4,
    "excepthook_own": 1,
    "exit_at_once": 3,
    "exit_by_signal": -15,
    "exit_five": 5,
    "exit_in_thread": 6,
    "exit_text": 1,
}
BOTH = ("both", "tricky")  # folders of those that run on gradtape's own engine, too
# What TensorFlow, Keras and the interpreter write that is another word each time.
MOMENTS = [
    (re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", re.M), "<time>"),
    (re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d+\.\d+ +\d+ ", re.M), r"\1 "),
    (re.compile(r"\b\d+(\.\d+)?(m|u|μ)?s(/step|/epoch)?\b"), "<span>"),
    (re.compile(r"0x[0-9a-f]{8,}"), "<address>"),
    (re.compile(r"__autograph_generated_file\w+\.py"), "<autograph>"),
]


class Run(NamedTuple):
    """What one run of a program left behind."""

    code: int
    out: str
    err: str
    files: dict[str, bytes]
    seconds: float  # of processor time, children included
    memory: int  # kB at most
    report: dict | None = None


class Verdict(NamedTuple):
    """What differs, what the doctor said, and what it cost."""

    name: str
    engine: str
    differs: list[str]
    said: list[str]
    plain: Run
    watched: Run


def programs() -> dict[str, Path]:
    """All programs by name."""
    return {path.stem: path for path in sorted(FOLDER.rglob("*.py"))}


def engines(path: Path) -> tuple[str, ...]:
    """What a program can run on."""
    return ("tensorflow", "gradtape") if path.parent.name in BOTH else ("tensorflow",)


def visible(name: str, engine: str) -> bool:
    """Is a program known to show that the doctor is there?"""
    return engine in VISIBLE.get(name, {})


def compare(path: Path, engine: str, place: Path, kept: Path | None = None) -> Verdict:
    """Run a program plain and watched, each in the same directory made anew, and compare."""
    report = place / "report.json"
    doctor = ["-m", "gradtape", "doctor", "--engine", engine, "--output", str(report)]
    plain = _plain(path, engine, place, kept, 1)
    watched = run([*doctor, str(path)], place / "run", report)
    differs = [*_differences(plain, plain, watched)]
    if plain.code != ENDS.get(path.stem, 0):
        differs = [f"the program is broken: {' '.join(plain.err.splitlines()[-1:])}"]
    elif differs:
        again = _plain(path, engine, place, kept, 2)
        differs = [*_differences(plain, again, watched)]
    said = [] if path.stem in SILENT else [*_said(watched)]
    return Verdict(path.stem, engine, differs, said, plain, watched)


def _plain(path: Path, engine: str, place: Path, kept: Path | None, number: int) -> Run:
    """A run without the doctor, or what is known of it."""
    command = ["-m", "gradtape", "run"] if engine == "gradtape" else []
    if kept is None or engine == "gradtape":
        return run([*command, str(path)], place / "run")
    digest = hashlib.sha256(path.read_bytes() + str(place).encode()).hexdigest()[:16]
    known = kept / f"{path.stem}.{number}.{digest}"
    if not known.exists():
        known.write_bytes(pickle.dumps(tuple(run([*command, str(path)], place / "run"))))
    return Run(*pickle.loads(known.read_bytes()))


def run(words: list[str], folder: Path, report: Path | None = None) -> Run:
    """Run Python in an empty directory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if report is not None:
        report.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
        )  # fmt: skip
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        _, status, usage = os.wait4(process.pid, 0)
        limit.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(_timeless(stream.read().decode(errors="replace")))
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip
    said = json.loads(report.read_text()) if report is not None and report.exists() else None
    seconds = usage.ru_utime + usage.ru_stime
    return Run(process.returncode, *texts, files, seconds, usage.ru_maxrss, said)


def _timeless(text: str) -> str:
    for pattern, word in MOMENTS:
        text = pattern.sub(word, text)
    return text


def _differences(first: Run, second: Run, watched: Run) -> Iterator[str]:
    if watched.code != first.code:
        yield f"exit code {watched.code}, not {first.code}"
    lines = [x for x in watched.err.splitlines() if not x.startswith("gradtape doctor: ")]
    if first.out != second.out:
        yield "two plain runs differ in stdout, so nothing is known of it"
    elif watched.out != first.out:
        yield "stdout: " + _first_difference(first.out.splitlines(), watched.out.splitlines())
    if sorted(first.err.splitlines()) == sorted(second.err.splitlines()) and sorted(
        lines
    ) != sorted(first.err.splitlines()):  # TensorFlow's threads write to it in any order
        yield "stderr: " + _first_difference(first.err.splitlines(), lines)
    yield from _files(first.files, second.files, watched.files)


def _first_difference(one: list[str], other: list[str]) -> str:
    for k, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"line {k + 1} is {b!r}, not {a!r}"
    more = one[len(other) :] or other[len(one) :]
    return f"{len(other)} lines, not {len(one)}: {more[:1]}"


def _files(first: dict, second: dict, watched: dict) -> Iterator[str]:
    known = {_ageless(name) for name in first}
    if known != {_ageless(name) for name in watched}:
        yield f"files: {sorted(watched)}, not {sorted(first)}"
        return
    for name in sorted(first.keys() & second.keys() & watched.keys()):
        parts = [_parts(run[name]) for run in (first, second, watched)]
        for part, content in parts[0].items():
            if content == parts[1].get(part) != parts[2].get(part):
                yield f"file {name} {part}".rstrip()


def _ageless(name: str) -> str:
    """The name of a file without the time, the host and the process in it."""
    return re.sub(r"events\.out\.tfevents\.\S*?(\.v2|$)", "events", name)


def _parts(content: bytes) -> dict[str, bytes]:
    """What can be compared of a file: of an archive its members, without when they were put in."""
    if content[:4] != b"PK\x03\x04":
        return {"": content}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _said(watched: Run) -> Iterator[str]:
    """What the doctor said of a healthy program."""
    report = watched.report
    if report is None:
        yield "no report"
        return
    for finding in report["findings"]:
        place = finding.get("place") or {}
        yield f"{finding['code']} {finding['name']} in line {place.get('line')}"
    for query in report["queries"]:
        for line in query["results"]:
            if line["states"].get("none"):
                yield f"no gradient of {line['source']} in line {query['place']['line']}"
    yield from (f"fault: {fault}" for fault in report["faults"])


def line(verdict: Verdict, start: tuple[float, float]) -> str:
    """A verdict on one line, and what differs below it."""
    plain, watched = verdict.plain, verdict.watched
    below = "".join(f"\n    {words}" for words in (*verdict.differs, *verdict.said))
    return (
        f"{verdict.name:28} {verdict.engine:10} {'same' if not verdict.differs else 'DIFFERS':8}"
        f"{'quiet' if not verdict.said else 'SPEAKS':7}"
        f"{plain.seconds:6.1f} s {watched.seconds / plain.seconds:5.2f}x"
        f" {beyond(verdict, start):5.2f}x beyond the start"
        f" {plain.memory / 1024:6.0f} MB {watched.memory / plain.memory:5.2f}x{below}"
    )


def beyond(verdict: Verdict, start: tuple[float, float]) -> float:
    """The cost without that of the start, which is the same for every program."""
    least = 0.2  # seconds: a program that does nothing else has no ratio
    watched = max(verdict.watched.seconds - start[1], 0.0) + least
    return watched / (max(verdict.plain.seconds - start[0], 0.0) + least)


def starts(engine: str, place: Path) -> tuple[float, float]:
    """What importing costs, plain and under the doctor."""
    script = place / "start.py"
    script.write_text(START)
    command = ["-m", "gradtape", "run"] if engine == "gradtape" else []
    doctor = ["-m", "gradtape", "doctor", "--engine", engine]
    both = ([*command, str(script)], [*doctor, str(script)])
    plain, watched = (run(words, place / "run").seconds for words in both)
    return plain, watched


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="of programs; by default all")
    parser.add_argument("--engine", choices=("tensorflow", "gradtape"), help="only on this one")
    parser.add_argument("--from", dest="first", default="", help="begin at this name")
    parser.add_argument(
        "--kept", type=Path, metavar="FOLDER",
        help="keep the plain runs on TensorFlow there, and take them from there the next time",
    )  # fmt: skip
    options = parser.parse_args()
    known = programs()
    unknown = set(options.names) - known.keys()
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    verdicts: list[tuple[Verdict, float]] = []
    with contextlib.ExitStack() as stack:
        place = options.kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = place.resolve()
        place.mkdir(exist_ok=True)
        fixed = {e: starts(e, place) for e in ("tensorflow", "gradtape")}
        for engine, (plain, watched) in fixed.items():
            print(f"to import {engine}: {plain:.1f} s, {watched:.1f} s under the doctor")
        for name in options.names or [n for n in known if n >= options.first]:
            for engine in engines(known[name]):
                if options.engine in (None, engine):
                    verdict = compare(known[name], engine, place, options.kept)
                    verdicts.append((verdict, beyond(verdict, fixed[engine])))
                    print(line(verdict, fixed[engine]), flush=True)
    return _sum_up(verdicts)


def _sum_up(verdicts: list[tuple[Verdict, float]]) -> int:
    for engine in ("tensorflow", "gradtape"):
        of = [(v, ratio) for v, ratio in verdicts if v.engine == engine]
        if not of:
            continue
        same, quiet = sum(not v.differs for v, _ in of), sum(not v.said for v, _ in of)
        whole = [v.watched.seconds / v.plain.seconds for v, _ in of]
        over = [ratio for _, ratio in of]
        memory = [v.watched.memory / v.plain.memory for v, _ in of]
        print(f"{engine}: {len(of)} programs, {same} the same, {quiet} quiet")
        for what, ratios in (
            ("processor time", whole), ("beyond the start", over), ("memory", memory)
        ):  # fmt: skip
            print(f"  {what}: {statistics.median(ratios):.2f}x median, {max(ratios):.2f}x at most")
    return int(any(v.said or bool(v.differs) != visible(v.name, v.engine) for v, _ in verdicts))


if __name__ == "__main__":
    sys.exit(main())
