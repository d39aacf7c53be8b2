"""`tf.train.CheckpointManager`, and the file `checkpoint` that says which one is the latest."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import files
from .reading import exists

log = logging.getLogger("gradtape")
_LINE = re.compile(r'^\s*(\w+)\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s*$')


@dataclass
class CheckpointState:
    """What the file `checkpoint` of a folder says."""

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list)
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)
    last_preserved_timestamp: float = 0.0

    def __str__(self) -> str:
        lines = [f'model_checkpoint_path: "{_quoted(self.model_checkpoint_path)}"']
        paths, moments = self.all_model_checkpoint_paths, self.all_model_checkpoint_timestamps
        lines += [f'all_model_checkpoint_paths: "{_quoted(path)}"' for path in paths]
        lines += [f"all_model_checkpoint_timestamps: {moment!r}" for moment in moments]
        if self.last_preserved_timestamp:
            lines.append(f"last_preserved_timestamp: {self.last_preserved_timestamp!r}")
        return "\n".join(lines) + "\n"

    __repr__ = __str__


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')


def update_checkpoint_state(
    folder: str,
    latest: str,
    paths: list[str],
    timestamps: list[float] | None = None,
    preserved: float = 0.0,
) -> None:
    """Write the file `checkpoint`, with paths as seen from the folder."""
    start = folder or "."
    names = [os.path.relpath(path, start) for path in (latest, *paths)]
    state = CheckpointState(names[0], names[1:], timestamps or [], preserved)
    path = os.path.join(folder, "checkpoint")
    with files.replaced(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(str(state))


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the file `checkpoint` in a folder says, or None."""
    folder = os.fspath(checkpoint_dir)
    path = os.path.join(folder, latest_filename or "checkpoint")
    if not os.path.exists(path):
        return None
    state = CheckpointState()
    with open(path, encoding="utf-8") as file:
        for line in file:
            matched = _LINE.match(line)
            if not line.strip():
                continue
            if matched is None or not hasattr(state, matched[1]):
                log.warning("%s: %s is no line of a checkpoint state", path, line.strip())
                return None
            name, text, number = matched.groups()
            value: Any = float(number) if text is None else re.sub(r"\\(.)", r"\1", text)
            if isinstance(value, str) and not os.path.isabs(value):
                value = os.path.join(folder, value)
            if isinstance(getattr(state, name), list):
                getattr(state, name).append(value)
            else:
                setattr(state, name, value)
    if not state.model_checkpoint_path:
        log.error("Checkpoint state at %s does not set model_checkpoint_path", path)
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the latest checkpoint in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    if exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    log.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Any = None,
) -> Iterator[str]:
    """Checkpoints of a folder as they come, each once the next one is asked for."""
    last: str | None = None
    while True:
        until = None if timeout is None else time.time() + timeout
        found = latest_checkpoint(checkpoint_dir)
        while found is None or found == last:
            if until is not None and time.time() + 1 > until:
                found = None
                break
            time.sleep(1)
            found = latest_checkpoint(checkpoint_dir)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        begun, last = time.time(), found
        yield found
        time.sleep(max(0.0, begun + min_interval_secs - time.time()))


class CheckpointManager:
    """Saves checkpoints into a folder and deletes the oldest.

    >>> import tempfile
    >>> import gradtape as tf
    >>> checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
    >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> paths = [manager.save() for _ in range(3)]
    >>> manager.checkpoints == paths[1:], manager.latest_checkpoint == paths[2]
    (True, True)
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Any = None,
        last_checkpoint_step: Any = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter, self._checkpoint_interval = step_counter, checkpoint_interval
        self._init_fn, self._last_checkpoint_step = init_fn, last_checkpoint_step
        self._kept: dict[str, float] = {}  # when each was saved, the oldest first
        self._latest: str | None = None
        now = time.time()
        self._preserved = now - 1.0
        state = get_checkpoint_state(self._directory)
        if state is not None:
            self._latest = state.model_checkpoint_path
            self._preserved = min(state.last_preserved_timestamp, now)
            paths = state.all_model_checkpoint_paths
            moments = state.all_model_checkpoint_timestamps or [self._preserved] * len(paths)
            for path, moment in zip(paths, moments, strict=False):
                if min(moment, now) > self._preserved:
                    self._kept[path] = min(moment, now)

    @property
    def checkpoint(self) -> Any:
        """The `tf.train.Checkpoint`."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint_interval(self) -> int | None:
        """How many steps are between two checkpoints at least."""
        return self._checkpoint_interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of those that may be deleted, the oldest first."""
        return list(self._kept)

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Save a checkpoint and delete what is too old; its prefix, or None if it is too early."""
        if self._checkpoint_interval is not None:
            step, last = int(self._step_counter), self._last_checkpoint_step
            early = check_interval and last is not None and step < last + self._checkpoint_interval
            if step == last or early:
                return None
            self._last_checkpoint_step = step
        counter = self._checkpoint.save_counter.assign_add(1)
        number = int(counter if checkpoint_number is None else checkpoint_number)
        path = self._checkpoint.write(f"{self._checkpoint_prefix}-{number}", options)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        self._record()  # before anything is deleted: a process may end at any moment
        self._sweep()
        self._record()
        return path

    def _record(self) -> None:
        assert self._latest is not None
        update_checkpoint_state(
            self._directory, self._latest, [*self._kept], [*self._kept.values()], self._preserved
        )

    def _sweep(self) -> None:
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            path, moment = next(iter(self._kept.items()))
            del self._kept[path]
            if self._hours and moment - self._hours * 3600.0 >= self._preserved:
                self._preserved = moment
                continue
            files.remove(path)

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or call `init_fn` if there is none; its prefix or None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._checkpoint_interval is not None:
                self._last_checkpoint_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Everything is on the disk when `save` returns."""
