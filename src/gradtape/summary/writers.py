"""Event files, who writes them, and whether and at which step."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.apply import tensor
from ..core.record import threads
from ..framework import convert
from ..framework.lifetimes import at_death
from ..io.gfile import make_folders
from ..io.protos import message
from ..io.records import framed

_numbers = itertools.count()


class _State(threading.local):
    """What a thread writes, to where, and if it does."""

    writer: Any = None
    step: Any = None
    condition: Any = True


state = _State()


class SummaryWriter:
    """What summaries are written to; `create_file_writer` makes one."""

    def set_as_default(self, step: Any = None) -> None:
        """Write to it from now on, at this step if one is given."""
        self._check()
        state.writer = self
        if step is not None:
            state.step = step

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Write to it in a block, at this step if one is given."""
        self._check()
        before = state.writer, state.step
        state.writer = self
        if step is not None:
            state.step = step
        try:
            yield self
            self.flush()
        finally:
            state.writer = before[0]
            if step is not None:
                state.step = before[1]

    def init(self) -> None:
        """It is ready when it is made."""

    def add(self, event: bytes) -> None:
        """Take the bytes of an event."""

    def flush(self) -> None:
        """Write what waits."""

    def close(self) -> None:
        """Write what waits, and end."""

    def _check(self) -> None:
        """Raise an error if it is closed."""


class _NoopSummaryWriter(SummaryWriter):
    """Takes what comes and writes nothing."""


class _FileSummaryWriter(SummaryWriter):
    """Appends records to a file; what a process that ends has not flushed is flushed then."""

    def __init__(
        self, folder: str, max_queue: int, flush_millis: int, suffix: str, number: int | None = None
    ) -> None:
        make_folders(folder)
        number = next(_numbers) if number is None else number
        name = f"{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{number}{suffix}"
        self.path = os.path.join(folder, f"events.out.tfevents.{name}")
        self._file = open(self.path, "ab", buffering=1 << 16)  # noqa: SIM115 (as long as it lives)
        self._death = at_death(self, [self._file.close])
        self._lock = threading.Lock()
        self._max_queue, self._seconds = max_queue, flush_millis / 1000.0
        self._waiting, self._flushed = 0, time.monotonic()
        begin = ((1, float(int(time.time()))), (3, "brain.Event:2"), (10, message((1, "gradtape"))))
        self._file.write(framed(message(*begin)))
        self._file.flush()

    def add(self, event: bytes) -> None:
        with self._lock:
            if self._file.closed:
                return
            self._file.write(framed(event))
            self._waiting += 1
            late = time.monotonic() - self._flushed > self._seconds
            if self._waiting > self._max_queue or late:
                self._flush()

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        if not self._file.closed:
            self._file.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _check(self) -> None:
        if self._file.closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new event file in a folder, for TensorBoard.

    >>> import tempfile
    >>> import gradtape as tf
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default():
    ...     written = tf.summary.scalar("loss", 0.5, step=1)
    >>> bool(written)
    True
    """
    if logdir is None:
        return create_noop_writer()
    suffix = ".v2" if filename_suffix is None else _text(filename_suffix)
    queue = 10 if max_queue is None else int(max_queue)
    return _FileSummaryWriter(_text(logdir), queue, int(flush_millis or 120_000), suffix)


class Aside(_FileSummaryWriter):
    """A file of gradtape's own, written at once, beside whatever the program writes: neither its
    default writer nor its step nor the numbers of its files have to do with this one."""

    serials = itertools.count()

    def __init__(self, folder: str) -> None:
        super().__init__(folder, 0, 0, ".gradtape", next(Aside.serials))

    def put(self, step: int, *summaries: bytes) -> None:
        """Write summaries, as `kinds.encoded` makes them, of one step."""
        self.add(message((1, time.time()), (2, step), (5, b"".join(summaries))))


def _text(value: Any) -> str:
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.decode() if isinstance(value, bytes) else os.fspath(value)


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return _NoopSummaryWriter()


def flush(writer: Any = None, name: str | None = None) -> None:
    """Write what waits, of a writer or of the one that is in use."""
    chosen = state.writer if writer is None else writer
    if chosen is not None:
        chosen.flush()


# --- whether, and at which step -------------------------------------------------------------------
@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Write summaries in a block only if a condition holds: a bool, a tensor, or what gives one."""
    before, state.condition = state.condition, condition
    try:
        yield
    finally:
        state.condition = before


def should_record_summaries() -> Any:
    """Whether summaries are written at this moment."""
    if state.writer is None or isinstance(state.writer, _NoopSummaryWriter):
        return tensor(np.bool_(False))
    condition = state.condition() if callable(state.condition) else state.condition
    return convert.to_tensor(condition)


def step_of(step: Any) -> Any:
    """The step that was given, or the one that was set, as a tensor of int64."""
    step = state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    found = convert.to_tensor(step)
    if found._value.dtype == np.int64:
        return found
    from ..arrays.values import cast

    return cast(found, np.int64)


def emit(make: Any, data: Any, step: Any) -> Any:
    """Write the summary that `make(array)` encodes; in a function, at every call. Was it?"""
    writer, wanted = state.writer, should_record_summaries()
    if writer is None or isinstance(writer, _NoopSummaryWriter):
        return wanted
    if threads.recording is None and not wanted._value:
        return wanted
    at, tensors = step_of(step), convert.to_tensor(data)

    def write(wanted: Any, at: Any, array: Any) -> None:
        if wanted:
            summary = make(np.asarray(array))
            writer.add(message((1, time.time()), (2, int(at)), (5, summary)))

    values = [one._value for one in (wanted, at, tensors)]
    if threads.recording is None:
        write(*values)
    else:
        threads.recording.effect("summary", write, values, arrays=False)
    return wanted
