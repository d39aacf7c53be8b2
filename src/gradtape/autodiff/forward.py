"""`ForwardAccumulator`: derivatives along a direction, computed beside the values."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from .. import nest
from ..core.apply import QUIET, restore, silence, tensor
from ..core.record import Value, threads
from ..framework import convert
from ..framework.enums import UnconnectedGradients
from ..framework.variable import Variable
from ..ops.shape import broadcast_to
from .push import push
from .recording import Owned, close_lost, follow, follows, resume

log = logging.getLogger("gradtape")
_NONE = (None, None)


class _Tangents(Owned):
    """The recorder behind an accumulator: it holds tangents as long as their tensors live."""

    def __init__(self) -> None:
        super().__init__()
        self.tangents: dict[int, tuple[Any, Any]] = {}  # with the reference to their tensors

    def tangent(self, value: Any) -> Any:
        return self.tangents.get(value._id, _NONE)[0] if follows(self, value) else None

    def keep(self, result: Any, tangent: Any) -> None:
        # `pop` is called with the dead reference, which it takes for the default.
        death = ref(result, partial(self.tangents.pop, result._id))
        self.tangents[result._id] = tangent, death

    def push(self, op: Any, operands: Any, params: dict, results: Any) -> None:
        eager = not getattr(op, "of_graph", True)
        inside = [self.tangent(r) for r in op.inside] if eager else []
        tangents = [self.tangent(a) for a in operands]
        if all(t is None for t in tangents):
            return
        # Only recorders that were there before may see how this one works; with none there,
        # nothing is recorded and plain arrays do.
        later = [r for r in threads.active if r.serial >= self.serial]
        recorded = len(later) < len(threads.active) or _some_bfloat16(operands)
        try:
            for recorder in later:
                recorder.stop()
            token = silence[QUIET]
            try:
                pushed = push(op, operands, tangents, params, results, recorded)
            finally:
                restore(token)
        finally:
            try:
                resume(later)
            except BaseException:  # Ctrl-C in the middle of it
                resume(later)
                raise
        if any(t is not None for t in inside):
            self._keep_all(results, inside)  # the gradient function was only asked what it gives
        elif results.__class__ is tuple:
            self._keep_all(results, pushed)
        else:
            self._keep_all((results,), (pushed,))

    def close(self) -> None:
        super().close()
        self.tangents.clear()

    def _keep_all(self, results: Any, tangents: Any) -> None:
        for result, tangent in zip(results, tangents, strict=True):
            if tangent is not None and result._mark is not None:
                self.keep(result, tangent)


def _some_bfloat16(operands: Any) -> bool:
    """Of bfloat16 arrays and Python's numbers NumPy makes float32; ops keep the dtype."""
    return any(a._value.dtype.kind == "V" for a in operands)


def _check(primal: Any) -> None:
    if not isinstance(primal, (Value, Variable)):
        raise AttributeError(
            f"primals must be tensors or variables, got {primal!r} of type "
            f"{type(primal).__name__}: make a tensor of it first, with tf.constant"
        )


class ForwardAccumulator:
    """Computes Jacobian-vector products with forward-mode automatic differentiation.

    >>> import gradtape as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x * x
    >>> acc.jvp(y)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 0.], dtype=float32)>
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        close_lost()
        self._recorder = _Tangents()
        self._recorder.belong_to(self, self._recorder.tangents.clear)
        self._recording = False
        self._primals = nest.flatten(primals)
        nest.assert_same_structure(primals, tangents)
        seen: set[int] = set()
        for primal, tangent in zip(self._primals, nest.flatten(tangents), strict=True):
            if id(primal) in seen:
                raise ValueError(
                    f"Tensor {primal} was specified as a primal multiple times. This may indicate "
                    "an error. If it was intended, please sum the corresponding tangents."
                )
            seen.add(id(primal))
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        _check(primal)
        dtype = primal._value.dtype
        if dtype.kind not in "fcV":
            log.warning(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                primal.dtype,
            )
            return
        tangent = convert.to_tensor(tangent, dtype)
        if not tangent._value.shape:
            tangent = broadcast_to.apply(tangent, shape=primal._value.shape)
        if tangent._value.shape != primal._value.shape:
            raise ValueError(
                f"The tangent of shape {tangent.shape} does not fit its primal of shape "
                f"{primal.shape}: a direction has the shape of what it moves."
            )
        follow(primal, self._recorder)
        self._recorder.tangents[primal._id] = tangent, None

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._recorder.start()
        self._recording = True
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._recording:
            self._recorder.stop()
            self._recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The tangents of these values: the change per step along the accumulator's direction."""
        unconnected = UnconnectedGradients(unconnected_gradients)

        def tangent(primal: Any) -> Any:
            _check(primal)
            found = self._recorder.tangent(primal)
            if found is None and unconnected is UnconnectedGradients.ZERO:
                return tensor(np.zeros_like(primal._value))
            return found

        return nest.map_structure(tangent, primals)
