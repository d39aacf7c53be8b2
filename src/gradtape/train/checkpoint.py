"""`tf.train.Checkpoint`: objects and the variables that they hold, saved and restored."""

from __future__ import annotations

import os
from typing import Any

from .. import dtypes, errors
from ..core.record import threads
from ..framework.tracking import AutoTrackable, children
from ..framework.variable import Variable
from . import files
from .manager import update_checkpoint_state
from .reading import opened
from .restoring import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    Restoration,
    check_followed,
    collect,
    saved_tensors,
)  # fmt: skip


class CheckpointOptions:
    """Options of saving and restoring: callbacks are called, the others are accepted."""

    def __init__(
        self,
        experimental_io_device: Any = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback


class Checkpoint(AutoTrackable):
    """Saves objects, and restores them: variables are told by the names of attributes.

    Files are written whole or not at all, and reading one never runs code. Checkpoints that
    TensorFlow wrote are restored, too.

    >>> import tempfile
    >>> import gradtape as tf
    >>> step = tf.Variable(3)
    >>> path = tf.train.Checkpoint(step=step).save(tempfile.mkdtemp() + "/ckpt")
    >>> _ = step.assign(0)
    >>> _ = tf.train.Checkpoint(step=step).restore(path).assert_consumed()
    >>> step.numpy().item()
    3

    Differs from TensorFlow: the files are safetensors. What is put later into a list or a
    dictionary is restored when the status is asked, or when the next attribute is set.
    """

    _root: Any
    _save_counter: Variable | None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        object.__setattr__(self, "_root", root)
        object.__setattr__(self, "_save_counter", None)
        if root is not None:
            check_followed("root", root)
        for name, value in sorted(kwargs.items()):
            check_followed(name, value)
            if root is not None and children(root).get(name, value) is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )
            setattr(self, name, value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        held = {} if self._root is None else children(self._root)
        return {**held, **super()._trackable_children(save_type)}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return saved_tensors(self._root)

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return self._root._restore_from_tensors(restored_tensors)

    @property
    def _deferred_dependencies(self) -> dict[str, Any]:
        own = super()._deferred_dependencies
        theirs = getattr(self._root, "_deferred_dependencies", None)
        return _Both(own, theirs) if isinstance(theirs, dict) else own

    @property
    def save_counter(self) -> Variable:
        """How often `save` was called, which numbers the files; it is saved, too."""
        made = self._save_counter
        if made is None:
            made = Variable(0, dtype=dtypes.int64, name="save_counter", trainable=False)
            object.__setattr__(self, "_save_counter", made)
            self._track_trackable(made, "save_counter", overwrite=True)
        return made

    # --- saving -----------------------------------------------------------------------------------
    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to files with this very prefix, which is returned."""
        if threads.recording is not None:
            raise errors.UnimplementedError(
                None, None, "Save checkpoints outside of tf.function, between two of its calls."
            )
        prefix = os.fspath(file_prefix)
        files.write(prefix, *collect(self))
        for callback in getattr(options, "experimental_write_callbacks", None) or ():
            from inspect import signature

            callback(*[prefix][: len(signature(callback).parameters)])
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to files whose prefix gets a number, and note it as the latest."""
        self.save_counter.assign_add(1)
        path = self.write(f"{os.fspath(file_prefix)}-{int(self.save_counter)}", options)
        update_checkpoint_state(os.path.dirname(path), path, [path])
        return path

    def sync(self) -> None:
        """Everything is on the disk when `write` and `save` return."""

    # --- restoring --------------------------------------------------------------------------------
    def read(self, save_path: Any, options: Any = None) -> Any:
        """Restore what `write` wrote: values that exist at once, others when they are made."""
        if save_path is None:
            return InitializationOnlyStatus()
        path = os.fspath(save_path)
        restoration = Restoration(opened(path), path)
        restoration.bind(self, 0)
        return CheckpointLoadStatus(restoration, self)

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Restore what `save` wrote, its counter included; of None, nothing."""
        path = None if save_path is None else os.fspath(save_path)
        try:
            status = self.read(path, options)
        except errors.NotFoundError as cause:
            raise errors.NotFoundError(
                None, None,
                f"Error when restoring from checkpoint or SavedModel at {path}: {cause}\nPlease "
                "double-check that the path is correct. You may be missing the checkpoint suffix "
                "(e.g. the '-1' in 'path/to/ckpt-1').",
            ) from None  # fmt: skip
        _ = self.save_counter  # which is restored when it is made
        return status


class _Both(dict):
    """What waits at a checkpoint waits at its root, too: whichever has it first."""

    def __init__(self, *tables: dict[str, Any]) -> None:
        super().__init__()
        self._tables = tables

    def __setitem__(self, name: str, arrive: Any) -> None:
        for table in self._tables:
            table[name] = arrive
