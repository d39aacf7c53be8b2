"""Values of the trace that hold tensors: their numbers are fetched when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...source.place import Place
from ...trace import Value, Variable
from ..gradtape.fading import Again, Faded


class TensorValue(Value):
    """A tensor, or a read of a variable: what it holds is known by its tensor."""

    def __init__(
        self, tensor: Any, kind: str = "tensor", variable: Variable | None = None,
        place: Place | None = None, fetch: Callable[[], Any] | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.variable, self.place = kind, variable, place
        self.thing, self.maker, self.users = tensor, None, []
        self.fetch = fetch  # the tensor of a variable that nobody has read yet
        self._array: Any = None

    @property
    def array(self) -> Any:
        if self._array is None:
            self._array = array(self.tensor)
        return self._array

    @property
    def tensor(self) -> Any:
        if self.thing is None and self.fetch is not None:
            self.thing = self.fetch()
        return self.thing

    @property
    def dtype(self) -> Any:
        tensor = self.tensor
        if not numeric(tensor):
            return None
        return np.dtype(getattr(tensor.dtype, "as_numpy_dtype", tensor.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        tensor = self.tensor
        # A plain array, as Keras may hand to a function, has a tuple.
        known = numeric(tensor) and getattr(tensor.shape, "rank", 0) is not None
        return tuple(n or 0 for n in tensor.shape) if known else ()

    @property
    def floating(self) -> bool:
        return floating(self.tensor)


class FadedTensor(TensorValue):
    """A tensor that the log has let go: computed once more when it is asked for."""

    def __init__(self, faded: Faded, again: Again, place: Place | None = None) -> None:
        super().__init__(None, place=place, fetch=None)
        self.faded, self.again = faded, again
        self.compute: Callable[[], Any] | None = None

    @property
    def array(self) -> Any:
        return array(self.tensor)

    @property
    def tensor(self) -> Any:
        return self.again.of(self)

    @property
    def dtype(self) -> Any:
        return np.dtype(self.faded.dtype.as_numpy_dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.faded.shape

    @property
    def floating(self) -> bool:
        return bool(self.faded.dtype.is_floating or self.faded.dtype.is_complex)


def measure(tensor: Any) -> tuple[None, tuple[int, ...], Any]:
    """Of a tensor that is let go: nobody else's numbers are known, its shape, its type."""
    return None, tuple(tensor.shape), tensor.dtype


def size(tensor: Any) -> int:
    """The bytes of a tensor."""
    try:
        return int(tensor._num_elements() * tensor.dtype.size)
    except Exception:  # a symbol, a handle of something, or what was let go
        return 0


def symbol(thing: Any) -> bool:
    """Is it a tensor of a graph, without numbers?"""
    return hasattr(thing, "op") and hasattr(thing, "graph") and not hasattr(thing, "_numpy")


def numeric(tensor: Any) -> bool:
    """Does a tensor hold numbers, texts or truths, and not a handle of something?"""
    return tensor is not None and tensor.dtype.name not in ("resource", "variant")


def floating(tensor: Any) -> bool:
    """Does a tensor hold real or complex numbers?"""
    if isinstance(tensor, np.ndarray):
        return tensor.dtype.kind in "fc"
    return numeric(tensor) and (tensor.dtype.is_floating or tensor.dtype.is_complex)


def array(tensor: Any) -> Any:
    """The numbers of a tensor; None of a handle and of a symbol."""
    fetch = getattr(tensor, "_numpy", None)
    if fetch is None or not numeric(tensor):
        return None
    found = fetch()
    return found if isinstance(found, np.ndarray) else np.asarray(found)[()]


def gradient_array(g: Any) -> Any:
    """The numbers of an answer: of IndexedSlices or a ragged tensor, its values."""
    if g is None:
        return None
    g = getattr(g, "flat_values", g)
    return array(g.values if hasattr(g, "indices") else g)


def outside(value: Any) -> Any:
    """What a tensor or a variable holds, as an array; None of what has no numbers yet."""
    import tensorflow as tf

    if isinstance(value, tf.Variable):
        with tf.init_scope():  # also while a function is traced
            value = value.read_value()
    eager = isinstance(value, tf.__internal__.EagerTensor) and numeric(value)
    return np.asarray(value.numpy()) if eager else None
