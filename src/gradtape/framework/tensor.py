"""The tensor: a NumPy array that a tape can follow, with the face of TensorFlow's eager tensors."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..core.apply import tensor as _untracked
from ..core.op import FLOATS
from ..core.record import Value, threads
from ..dtypes import DType
from ..ops import bits, compare, elementwise, linear
from ..ops import complex as complex_ops
from ..ops.shape import cast
from . import convert
from .pickles import made
from .shapes import TensorShape

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


class _TensorType(type):
    """Errors call a tensor by its full name, as TensorFlow's do; asked for, it is the short one."""

    __name__ = property(lambda cls: "EagerTensor")


class Tensor(Value, metaclass=_TensorType):
    """A value that ops take and return; made by `tf.constant`, `tf.convert_to_tensor` and ops.

    >>> import gradtape as tf
    >>> tf.constant([1.0, 2.0]) * 3
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 6.], dtype=float32)>
    """

    __slots__ = ("__dict__",)  # libraries keep notes on tensors
    # NumPy arrays and scalars on the left leave binary operators to us.
    __array_priority__ = 100

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "tf.Tensor is not made by calling it: use tf.constant(value) or "
            "tf.convert_to_tensor(value)."
        )

    # --- what it is -----------------------------------------------------------------------------
    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return dtypes.of(self._value.dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        if threads.recording is not None:
            return threads.recording.known(self._value.shape)
        return TensorShape.known(self._value.shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check a shape: an eager tensor has its own."""
        if not self.shape.is_compatible_with(TensorShape(shape)):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}."
            )

    @property
    def ndim(self) -> int:
        return self._value.ndim

    @property
    def device(self) -> str:
        return CPU

    backing_device = device

    def cpu(self) -> Tensor:
        return self

    def gpu(self, gpu_index: int = 0) -> NoReturn:
        raise RuntimeError("gradtape computes on the CPU: there is no GPU to copy to.")

    @property
    def is_packed(self) -> bool:
        return False

    # --- its text -------------------------------------------------------------------------------
    def __str__(self) -> str:
        return f"tf.Tensor({text(self._value)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return (
            f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, "
            f"numpy={text(self._value, precise=True)}>"
        )

    def __format__(self, spec: str) -> str:
        return format(_plain(self._value), spec)

    # --- leaving the tape ------------------------------------------------------------------------
    def numpy(self) -> Any:
        """A copy as a NumPy array, or a NumPy scalar for a tensor without axes."""
        value = self._value
        return value.copy() if value.ndim else _plain(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = np.asarray(self._value)
        if dtype is not None and value.dtype != dtype:
            if copy is False:
                raise ValueError(f"A copy is needed to make {value.dtype} into {np.dtype(dtype)}.")
            return value.astype(dtype)
        if copy:
            return value.copy()
        view = value.view()
        view.flags.writeable = False
        return view

    def __buffer__(self, flags: int) -> memoryview:
        """The numbers for `memoryview`, read-only; Python asks for them since 3.12."""
        return memoryview(self.__array__())

    def __dlpack__(self, **options: Any) -> Any:
        # A copy: whoever takes it may write into it.
        return np.array(self._value).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.asarray(self._value).__dlpack_device__()

    def __bool__(self) -> bool:
        value = self._value
        if value.size > 1:
            raise ValueError(
                "The truth value of a tensor with more than one element is ambiguous (this one has "
                f"the shape {value.shape}): use tf.reduce_any(x) or tf.reduce_all(x), or tf.where "
                "to choose element by element."
            )
        return bool(value) if value.size else False

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        return _plain(self._value).__index__()

    def _scalar(self) -> Any:
        if self._value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return _plain(self._value)

    def __round__(self, digits: int | None = None) -> Tensor:
        return elementwise.round.apply(self)

    # --- as a container ---------------------------------------------------------------------------
    def __len__(self) -> int:
        if not self._value.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._value)

    def __iter__(self) -> Any:
        if not self._value.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        elements = (self[k] for k in range(len(self._value)))
        return elements if threads.recording is None else threads.recording.turns(elements)

    def __getitem__(self, key: Any) -> Tensor:
        from .indexing import getitem

        return getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(
            "'EagerTensor' object does not support item assignment, tensors are never changed: "
            "make another with tf.tensor_scatter_nd_update(x, indices, values), or keep the "
            "numbers in a tf.Variable v and write v[...].assign(value)."
        )

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError("'EagerTensor' object doesn't support item deletion: slice what is to stay")

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def ref(self) -> Reference:
        """A hashable stand-in, for sets and dictionaries."""
        return Reference(self)

    experimental_ref = ref

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict) -> Tensor:
        copy = memo[id(self)] = _untracked(self._value)
        return copy

    def __reduce__(self) -> tuple:
        return made, ("Tensor._again", np.asarray(self._value))

    @staticmethod
    def _again(array: Any) -> Tensor:
        return _untracked(array if array.ndim or array.dtype.kind == "O" else array[()])

    # --- operators --------------------------------------------------------------------------------
    # The op itself is the method: recording starts without another call in between.
    __add__ = elementwise.add.apply
    __sub__ = elementwise.sub.apply
    __mul__ = elementwise.mul.apply
    __pow__ = elementwise.power.apply
    __floordiv__ = elementwise.floordiv.apply
    __mod__ = elementwise.mod.apply
    __matmul__ = linear.matmul.apply
    __lt__ = compare.less.apply
    __le__ = compare.less_equal.apply
    __gt__ = compare.greater.apply
    __ge__ = compare.greater_equal.apply
    __neg__ = elementwise.neg.apply

    def __abs__(self) -> Tensor:
        return absolute(self)

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    __div__ = __truediv__

    def __radd__(self, other: Any) -> Any:
        return elementwise.add.apply(other, self)

    def __rsub__(self, other: Any) -> Any:
        return elementwise.sub.apply(other, self)

    def __rmul__(self, other: Any) -> Any:
        return elementwise.mul.apply(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __rpow__(self, other: Any) -> Any:
        return elementwise.power.apply(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return elementwise.floordiv.apply(other, self)

    def __rmod__(self, other: Any) -> Any:
        return elementwise.mod.apply(other, self)

    def __rmatmul__(self, other: Any) -> Any:
        if not convert.is_tensor_like(other):
            other = convert.to_tensor(other, self._value.dtype)
        return linear.matmul.apply(other, self)

    def __eq__(self, other: Any) -> Any:
        return equals(self, other)

    def __ne__(self, other: Any) -> Any:
        return equals(self, other, negate=True)

    def __invert__(self) -> Any:
        return bits.invert(self)

    def __and__(self, other: Any) -> Any:
        return bits.both(self, other)

    def __or__(self, other: Any) -> Any:
        return bits.either(self, other)

    def __xor__(self, other: Any) -> Any:
        return bits.differ(self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


# Libraries tell TensorFlow's classes by name and module: theirs is a class above EagerTensor.
Value.__module__ = "tensorflow.python.framework.tensor"
Value.__name__ = Value.__qualname__ = "Tensor"
Tensor.__module__, Tensor.__qualname__ = "tensorflow.python.framework.ops", "EagerTensor"
type.__dict__["__name__"].__set__(Tensor, "tensorflow.python.framework.ops.EagerTensor")


class Absent:
    """A method of NumPy's or PyTorch's that is not there, and says what to write instead.

    Not `__getattr__`, with which every attribute would be read twice as slowly.
    """

    def __init__(self, message: str = "") -> None:
        self._message = message

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        from ..api.absent import no_method

        long = f"{Tensor.__module__}.EagerTensor"
        kind = long if issubclass(owner, Tensor) else owner.__name__
        message = self._message or no_method(kind, self._name)
        raise AttributeError(message, name=self._name, obj=owner if instance is None else instance)


# Those for which `absent.METHODS` has advice.
_METHODS = """
T all any argmax argmin astype backward clip clone copy cumsum data
detach dot flatten float grad item max mean min permute prod ravel requires_grad reshape size
squeeze std sum tolist transpose unsqueeze var view
"""
ARRAY_METHODS = _METHODS.split()


def tell_absent(cls: type, names: list[str], message: str = "") -> None:
    """Let a class answer for the names that it does not have."""
    for name in names:
        absent = Absent(message.format(name))
        absent.__set_name__(cls, name)
        setattr(cls, name, absent)


_UNDEFINED = "Tensor.{} is undefined when eager execution is enabled."
tell_absent(Tensor, ["name", "op", "graph"], _UNDEFINED)
tell_absent(Tensor, ARRAY_METHODS)


class Reference:
    """Wraps a tensor or variable so that it can be a key: equal only to a reference to the same."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


def _plain(value: Any) -> Any:
    """A string tensor without axes holds its bytes in an array."""
    return value.item() if value.dtype.kind == "O" and not value.ndim else value


def text(value: Any, precise: bool = False) -> str:
    """A tensor's numbers as NumPy prints them; several lines begin on a line of their own."""
    if not value.ndim:
        plain = _plain(value)
        if isinstance(plain, bytes):
            return repr(plain)
        # The exact text is that of the Python number: 0.1 in float32 is 0.10000000149011612.
        if precise and plain.dtype.kind != "O":
            return repr(float(plain) if plain.dtype.kind == "V" else plain.item())
        return str(plain)
    lines = repr(value) if precise else str(value)
    return "\n" + lines if "\n" in lines else lines


# --- operators with rules of their own ------------------------------------------------------------
_DIVIDED = {"int8": "f4", "uint8": "f4", "int16": "f4", "uint16": "f4"} | dict.fromkeys(
    ("int32", "uint32", "int64", "uint64"), "f8"
)


def divide(x: Any, y: Any) -> Any:
    """True division: of whole numbers in float32 or float64, by their width."""
    x, y = (convert.to_tensor(z) if hasattr(z, "_read") else z for z in (x, y))
    # Tensors of a recording are of another class, and have a dtype of their own as well.
    plain = x.__class__ is y.__class__ is Tensor
    if not plain and not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        pair = convert.pair(elementwise.div, x, y)
        if pair is NotImplemented:
            return pair
        x, y = pair
    if x._value.dtype is not y._value.dtype or x._value.dtype.kind not in FLOATS:
        x, y = divisible(x, y)
    return elementwise.div.apply(x, y)


def divisible(x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors of one dtype, whole numbers as floating-point ones."""
    dtype = x._value.dtype
    if dtype != y._value.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    if dtype.kind in FLOATS:
        return x, y
    if dtype.name not in _DIVIDED:
        raise TypeError(f"Invalid dtype {x.dtype!r} in __truediv__: numbers can be divided.")
    wide = np.dtype(_DIVIDED[dtype.name])
    return cast.apply(x, dtype=wide), cast.apply(y, dtype=wide)


def absolute(x: Any) -> Any:
    """|x|, which of a complex number is another op than of a real one."""
    x = convert.to_tensor(x)
    return (complex_ops.complex_abs if x._value.dtype.kind == "c" else complex_ops.absolute).apply(
        x
    )


def equals(x: Any, other: Any, negate: bool = False) -> Any:
    """`==` and `!=`: element by element; shapes that do not fit are simply not equal."""
    if other is None:
        return negate
    op = compare.not_equal if negate else compare.equal
    pair = convert.pair(op, x, other)
    if pair is NotImplemented:
        return pair
    a, b = pair
    try:
        np.broadcast_shapes(a._value.shape, b._value.shape)
    except ValueError:
        return _untracked(np.bool_(negate))
    return op.apply(a, b)
