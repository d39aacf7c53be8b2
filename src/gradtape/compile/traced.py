"""The values of tensors while a function is recorded: who looks at their numbers makes a guard."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ..core.apply import tensor
from ..core.record import threads
from ..framework.tensor import Tensor
from .program import Var

OUT_OF_SCOPE = (
    "{} is out of scope and cannot be used here: it stands for a value inside of the function in "
    "which it was made, while that is recorded. Use return values, explicit Python locals or "
    "TensorFlow collections to access it."
)


def numbers(value: Any) -> Any:
    """All numbers of a value as something that can be compared: nan is nan, -0.0 is not 0.0."""
    if value.dtype.kind == "O":
        return tuple(np.asarray(value).ravel().tolist())
    return value.tobytes()


def shape(value: Any) -> tuple[int, ...]:
    """The shape of a value, where only the numbers before it tell."""
    return value.shape


def raised(function: Callable[..., Any], *values: Any) -> str:
    """The kind of the exception that a function raises; nothing if it does not."""
    try:
        function(*values)
    except Exception as error:
        return type(error).__name__
    return ""


READERS: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": operator.index, "numbers": numbers, "shape": shape,
}  # fmt: skip


class Traced:
    """The value of a recorded tensor; to all but the recorder it is an array that is looked at."""

    __slots__ = ("array", "recording", "var")

    def __init__(self, array: Any, recording: Any, var: Var) -> None:
        self.array, self.recording, self.var = array, recording, var

    # What everybody may know. `type(x) is Traced` tells it from arrays, `x.__class__` does not.
    __class__ = property(lambda self: type(self.array))
    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    nbytes = property(lambda self: self.array.nbytes)
    itemsize = property(lambda self: self.array.itemsize)
    flags = property(lambda self: self.array.flags)
    strides = property(lambda self: self.array.strides)
    base = property(lambda self: None)

    def __len__(self) -> int:
        return len(self.array)

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, key: Any) -> Any:
        return self if key.__class__ is tuple and not key else self.read("numbers")[key]

    # What is read of it.
    def read(self, how: str) -> Any:
        """The numbers, for someone who looks at them: a guard."""
        recording = threads.recording
        if recording is None or self.recording.closed:
            raise TypeError(OUT_OF_SCOPE.format(f"A tensor of the shape {self.shape}"))
        recording.guard(how, self)
        return self.array

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a protocol that it does not speak
            raise AttributeError(name)
        return getattr(self.read("numbers"), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = np.asarray(self.read("numbers"), dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_looked_at, inputs), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_looked_at(args), **_looked_at(kwargs))

    def __bool__(self) -> bool:
        return bool(self.read("bool"))

    def __int__(self) -> int:
        whole = self.dtype.kind in "iub"
        return int(self.read("int" if whole and self.dtype.kind != "b" else "numbers"))

    def __index__(self) -> int:
        return operator.index(self.read("int"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read("numbers"))

    def __format__(self, spec: str) -> str:
        return format(self.read("numbers"), spec)


def _reading(name: str) -> Any:
    function = getattr(operator, name)
    return lambda self, *others: function(self.read("numbers"), *map(_looked_at, others))


def _reflected(name: str) -> Any:
    function = getattr(operator, name)
    return lambda self, other: function(_looked_at(other), self.read("numbers"))


for _name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert", "contains"):
    setattr(Traced, f"__{_name}__", _reading(_name))
for _name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
    "lshift", "rshift",
):  # fmt: skip
    setattr(Traced, f"__{_name.strip('_')}__", _reading(_name))
    setattr(Traced, f"__r{_name.strip('_')}__", _reflected(_name))
Traced.__float__ = lambda self: float(self.read("numbers"))  # type: ignore[attr-defined]
Traced.__complex__ = lambda self: complex(self.read("numbers"))  # type: ignore[attr-defined]


def _looked_at(value: Any) -> Any:
    if type(value) is Traced:
        return value.read("numbers")
    if value.__class__ in (list, tuple):
        return type(value)([_looked_at(v) for v in value])
    return {k: _looked_at(v) for k, v in value.items()} if value.__class__ is dict else value


class Recorded(Tensor):
    """A tensor while its function is recorded: it has a value, and a name in the program."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return f"{self._value.var}:0"

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self)

    def numpy(self) -> Any:
        value = self._value.read("numbers")
        if value.dtype.kind == "O" and not value.ndim:
            return value.item()
        return value.copy() if value.ndim else value

    def __deepcopy__(self, memo: dict) -> Recorded:
        return memo.setdefault(id(self), tensor(self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be pickled: it has a value only while it is recorded.")


def untraced(value: Any) -> Any:
    """The array itself, for those who record."""
    return value.array if type(value) is Traced else value
