"""Datasets in a directory: `save` and `load`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from .. import dtypes, errors
from ..framework.shapes import NoneTensorSpec, TensorShape, TensorSpec
from ..io.gfile import make_folders
from ..ragged.tensor import RaggedTensorSpec
from ..sparse.tensor import SparseTensorSpec
from . import records, structure
from .functions import Call
from .node import UNKNOWN, Element, Node

ABOUT = "dataset.json"


def save(node: Node, path: str, shard_func: Callable[..., Any] | None) -> None:
    """Write all elements, those of a shard into one file."""
    make_folders(path)
    spec = node.spec()
    call = None if shard_func is None else Call(shard_func, node.spec, "save")
    writers: dict[int, records.Writer] = {}
    count = 0
    try:
        for element in node.elements():
            shard = 0 if call is None else int(call(element)[0]._value)
            if shard not in writers:
                file = os.path.join(path, f"shard_{shard:05d}.elements")
                writers[shard] = records.Writer(file).__enter__()
            writers[shard].write(element)
            count += 1
        for writer in writers.values():
            writer.finish()
    finally:
        for writer in writers.values():
            writer.__exit__()
    about = {"version": 1, "count": count, "shards": sorted(writers), "element_spec": _told(spec)}
    made = os.path.join(path, f"{ABOUT}.tmp")
    with open(made, "w") as file_of_spec:
        json.dump(about, file_of_spec)
    os.replace(made, os.path.join(path, ABOUT))


def about(path: str) -> dict[str, Any]:
    """What is known of a saved dataset."""
    file = os.path.join(path, ABOUT)
    if not os.path.exists(file):
        raise errors.NotFoundError(
            None, None, f"Could not find saved dataset in {path}; No such file or directory: {file}"
        )
    with open(file) as opened:
        return json.load(opened)


def saved_spec(path: str) -> Any:
    return _understood(about(path)["element_spec"])


class Saved(Node):
    """One file of a saved dataset."""

    label = "_LoadDataset"

    def __init__(self, file: str, spec: Any, count: int = UNKNOWN) -> None:
        self._file, self._spec, self._count = file, spec, count

    def spec(self) -> Any:
        return self._spec

    def cardinality(self) -> int:
        return self._count

    def elements(self) -> Iterator[Element]:
        return records.read(self._file, structure.flatten(self._spec))


def shards(path: str, spec: Any) -> list[Node]:
    """The files of a saved dataset."""
    told = about(path)
    found = told["shards"]
    known = _understood(told["element_spec"])
    spec = known if spec is None else spec
    for mine, theirs in zip(structure.flatten(spec), structure.flatten(known), strict=False):
        if not mine.is_compatible_with(theirs):
            raise TypeError(f"The saved dataset has elements of {known}, not of {spec}.")
    count = told["count"] if len(found) == 1 else UNKNOWN
    return [
        Saved(os.path.join(path, f"shard_{shard:05d}.elements"), spec, count) for shard in found
    ]


# --- specs as JSON --------------------------------------------------------------------------------
def _told(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {"dict": [[key, _told(part)] for key, part in spec.items()]}
    if isinstance(spec, tuple):
        return {"tuple": [_told(part) for part in spec]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": True}
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    told = {"shape": shape, "dtype": spec.dtype.name}
    if isinstance(spec, TensorSpec):
        return {"tensor": told}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": told}
    splits = spec.row_splits_dtype.name
    return {"ragged": {**told, "depth": spec.ragged_rank, "splits": splits}}


def _understood(told: Any) -> Any:
    ((kind, inside),) = told.items()
    if kind == "dict":
        return {key: _understood(part) for key, part in inside}
    if kind == "tuple":
        return tuple(map(_understood, inside))
    if kind == "none":
        return NoneTensorSpec()
    shape, dtype = TensorShape(inside["shape"]), dtypes.as_dtype(inside["dtype"])
    if kind == "tensor":
        return TensorSpec(shape, dtype)
    if kind == "sparse":
        return SparseTensorSpec(shape, dtype)
    return RaggedTensorSpec(shape, dtype, inside["depth"], dtypes.as_dtype(inside["splits"]))
