"""Tensors of a checkpoint by their keys: `tf.train.load_checkpoint`, `list_variables`."""

from __future__ import annotations

import os
from typing import Any

from .. import dtypes, errors
from .bundle import OBJECT_GRAPH, Bundle, is_bundle
from .files import INDEX, Safetensors, unreadable


def opened(prefix: str) -> Safetensors | Bundle:
    """The reader of the checkpoint with a prefix, gradtape's or TensorFlow's."""
    if is_bundle(prefix + INDEX):
        return Bundle(prefix)
    return Safetensors(prefix)


def exists(prefix: str) -> bool:
    """Whether a checkpoint with a prefix was written to its end."""
    return os.path.exists(prefix + INDEX)


class CheckpointReader:
    """The tensors of a checkpoint as arrays."""

    def __init__(self, prefix: str) -> None:
        self._reader = opened(prefix)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Shapes by keys."""
        shapes = {key: shape for key, (_, shape) in self._reader.tensors.items()}
        return {OBJECT_GRAPH: [], **shapes}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Dtypes by keys."""
        names = {key: name for key, (name, _) in self._reader.tensors.items()}
        return {
            key: dtypes.as_dtype(name) for key, name in {OBJECT_GRAPH: "string", **names}.items()
        }

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of this key."""
        return tensor_str in self._reader.tensors

    def get_tensor(self, tensor_str: str) -> Any:
        """The array of a key; strings and numbers without axes as such."""
        if not self.has_tensor(tensor_str):
            message = f"Key {tensor_str} not found in checkpoint"
            raise errors.NotFoundError(None, None, message)
        try:
            return self._reader.get(tensor_str)[()]
        except errors.DataLossError as cause:
            raise unreadable(cause.message) from None  # TensorFlow's reader has no other word

    def debug_string(self) -> bytes:
        """Keys, dtypes and shapes, one a line."""
        found = sorted(self._reader.tensors.items())
        return "".join(f"{key} (DT_{n.upper()}) {shape}\n" for key, (n, shape) in found).encode()


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """The reader of a checkpoint, or of the latest one in a folder.

    >>> import tempfile
    >>> import gradtape as tf
    >>> path = tf.train.Checkpoint(step=tf.Variable(3)).write(tempfile.mkdtemp() + "/ckpt")
    >>> reader = tf.train.load_checkpoint(path)
    >>> int(reader.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE"))
    3
    """
    from .manager import latest_checkpoint

    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = found
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Keys and shapes of all tensors of a checkpoint, sorted."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The array of one key of a checkpoint."""
    name = name.removesuffix(":0")
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
