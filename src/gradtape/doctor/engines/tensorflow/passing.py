"""Handles that the doctor must not hold.

An iterator that outlives its loop goes on prefetching, its generator is not closed in time, and one
of several devices waits for the others, which are gone. In the log a token stands for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any
from weakref import ref

RESOURCE = 20  # TensorFlow's number of the type of handles


def handles(args: Sequence[Any]) -> list[int]:
    """Which arguments of a call stand for something that is no variable?"""
    return [
        k for k, a in enumerate(args)
        if a._datatype_enum() == RESOURCE and getattr(a, "_handle_data", None) is None
    ]  # fmt: skip


def without(args: Sequence[Any], which: list[int]) -> tuple:
    """The arguments of a call with something else in the place of these."""
    kept = list(args)
    for k in which:
        kept[k] = _nobody()
    return tuple(kept)


def of_an_iterator(op_type: Any) -> bool:
    """Is it an op that makes, asks or deletes an iterator?"""
    return isinstance(op_type, str) and "Iterator" in op_type


def tells(op_type: str) -> bool:
    """Does it say what is iterated over, or give some of it?"""
    return "GetNext" in op_type or op_type == "MakeIterator"


def standing(inputs: Sequence[Any]) -> tuple:
    """The operands of an op, with tokens in the place of handles."""
    return tuple(_token(t) if t._datatype_enum() == RESOURCE else t for t in inputs)


_tokens: dict[int, tuple[Any, Any]] = {}  # by the id of a handle that is alive


def _token(handle: Any) -> Any:
    key = id(handle)
    known = _tokens.get(key)
    if known is None or known[0]() is not handle:
        import tensorflow as tf
        from tensorflow.python.framework import ops

        with ops.init_scope():  # like a handle it holds no numbers
            token = tf.raw_ops.EmptyTensorList(
                element_shape=-1, max_num_elements=0, element_dtype=tf.float32
            )
        known = _tokens[key] = ref(handle, partial(_tokens.pop, key)), token
    return known[1]


@cache
def _nobody() -> Any:
    import tensorflow as tf
    from tensorflow.python.framework import ops

    with ops.init_scope():
        return tf.constant(0)
