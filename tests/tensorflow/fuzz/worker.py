"""The real TensorFlow in a process of its own."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from tests.tensorflow.fuzz import limits

CRASHED = {"crashed": True}
PATIENCE = 60.0  # seconds for one answer
STARTING = 600.0  # and for TensorFlow to be imported, on a busy machine
MISSING = """\
{python} has no TensorFlow to compare with. Install it there,
    {python} -m pip install 'tensorflow-cpu>=2.21,<2.22'
or name a Python that has it with --tensorflow PYTHON. (What TensorFlow answered to the stored
programs is replayed without it: python -m pytest tests/tensorflow.)"""


def check(python: str) -> None:
    """Leave with words of help if this Python has no TensorFlow."""
    code = "import importlib.util as u; raise SystemExit(u.find_spec('tensorflow') is None)"
    try:
        found = subprocess.run([python, "-c", code], capture_output=True).returncode == 0
    except OSError as error:
        raise SystemExit(f"{python} cannot be run: {error.strerror}.") from None
    if not found:
        raise SystemExit(MISSING.format(python=python))


class TensorFlow:
    """A worker that is started again when TensorFlow takes it down."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.version = ""
        self.process: subprocess.Popen[str] | None = None

    def answers(self, programs: Sequence[dict[str, Any]]) -> list[Any]:
        """What TensorFlow answers to each; programs with a `nudge` are answered nudged."""
        found: list[Any] = []
        while len(found) < len(programs):
            process = self._running()
            assert process.stdin
            process.stdin.write(json.dumps(programs[len(found) :]) + "\n")
            process.stdin.flush()
            found += [json.loads(line) for line in self._lines(len(programs) - len(found))]
            if len(found) < len(programs):
                found.append(CRASHED)
                self.close()
        return found

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            command = [self.python, "-m", "tests.tensorflow.fuzz.interpret"]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(
                command,
                **pipes,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                preexec_fn=limits.unbind_memory,
            )
            greeting = next(self._lines(1, STARTING), None)
            if greeting is None:
                self.close()
                raise RuntimeError(f"{self.python} cannot run TensorFlow's worker")
            self.version = json.loads(greeting)["tensorflow"]
        return self.process

    def _lines(self, count: int, patience: float = PATIENCE) -> Iterator[str]:
        assert self.process
        assert self.process.stdout
        for _ in range(count):
            watchdog = threading.Timer(patience, self.process.kill)
            watchdog.start()
            line = self.process.stdout.readline()
            watchdog.cancel()
            if not line:
                return
            yield line
