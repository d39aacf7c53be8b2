"""The variable: a value that may change, read by ops as a tensor that tapes watch by themselves."""

from __future__ import annotations

from functools import partial
from threading import RLock, get_ident
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from .. import dtypes, errors
from ..core import apply
from ..core.apply import QUIET, new, restore, silence, tensor
from ..core.op import NUMBERS
from ..core.operand import vocabulary
from ..core.record import Value, join, next_id, threads
from ..dtypes import DType
from ..ops import shape as shape_ops
from ..ops.index import check_range
from ..ops.kernels.forks import before_forks, in_children, in_parents
from ..ops.rows import add_at
from . import convert, name_scopes
from .enums import VariableAggregation, VariableSynchronization
from .indexed_slices import IndexedSlices
from .indexing import getitem, numpy_key
from .pickles import made
from .shapes import TensorShape
from .tensor import ARRAY_METHODS, CPU, Reference, Tensor, equals, tell_absent, text
from .tracking import Trackable

# What `tf.variable_creator_scope` adds, the innermost last.
creators: list[Any] = []

# Tensors without axes of these need no look at their shape and dtype, which take NumPy 0.2 us.
_SCALARS = frozenset((np.float32, np.float64, np.int32, np.int64))
# An update reads, computes and writes while it holds one of these, so that threads lose none: some
# for all, not one for each variable, because a fork must make them anew. Nothing of the user's runs
# in between, as other variables were read before, unless the collector or a signal comes at that
# moment and updates the variable, too: hence `RLock`, and a second look before it is set.
_LOCKS = [RLock() for _ in range(64)]
_held: dict[int, list] = {}  # by threads that fork


# Bytes from which it pays to write into the array that is there: less is as quick into a new one.
_LARGE = 1 << 14
_NOTHING = new(Value)  # what was seen of a variable that is being written to
_NOTHING._value, _NOTHING._mark = _NOTHING, None


class _Memory(np.ndarray):
    """The numbers of a large variable, which nobody sees but through one view, an `ndarray`.

    Whoever holds numbers of it holds that view, by whatever way: NumPy lets a view of a view lead
    to the first one, as this is a class of its own. When the view is gone, nobody does.
    """


@before_forks
def _let_writing_end() -> None:
    """A child would have half of it. Who waits for another lock meanwhile is not waited for."""
    _held[get_ident()] = [lock for lock in _LOCKS if lock.acquire(timeout=1)]


@in_parents
def _go_on() -> None:
    for lock in _held.pop(get_ident(), ()):
        lock.release()


@in_children
def _unlock() -> None:
    _held.clear()
    _LOCKS[:] = [RLock() for _ in _LOCKS]


class _Made(type):
    """Lets the creators that are in scope make variables."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = super().__call__
        if not creators or cls is not Variable:
            return make(*args, **kwargs)
        code = cls.__init__.__code__
        name_scopes = code.co_varnames[1 : code.co_argcount]
        defaults = dict(zip(name_scopes, cls.__init__.__defaults__ or (), strict=False))
        given = {**defaults, **dict(zip(name_scopes, args, strict=False)), **kwargs}
        for creator in creators:
            make = partial(creator, make)
        return make(**given)


class Variable(Trackable, metaclass=_Made):
    """A tensor-like value with `assign`; trainable ones are watched by every tape that sees them.

    >>> import gradtape as tf
    >>> v = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = v * v
    >>> tape.gradient(y, v)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    __array_priority__ = 100
    __slots__ = (
        "__dict__", "__weakref__", "_aggregation", "_array", "_constraint", "_id", "_mark", "_name",
        "_seen", "_shape", "_synchronization", "_trainable", "_writing",
    )  # fmt: skip
    _array: Any  # None while it is written to
    _writing: tuple[_Memory, list] | None  # what is, and the calls to be made afterwards

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if callable(initial_value) and not isinstance(initial_value, (Value, Variable)):
            initial_value = initial_value()
        if isinstance(initial_value, Variable):  # made from another, it takes its value, no more
            initial_value = tensor(initial_value._value)
        wanted = None if dtype is None else np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
        value = convert.to_tensor(initial_value, wanted)._value
        if threads.recording is not None:
            value = threads.recording.create(self, value)
        self._array = value
        self._writing = None
        self._shape = TensorShape.known(value.shape) if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(TensorShape.known(value.shape)):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is "
                f"not compatible with the explicitly supplied `shape` argument ({self._shape})."
            )
        self._trainable = True if trainable is None else bool(trainable)
        self._name = name_scopes.scoped(name or "Variable") + ":0"
        self._constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        self._mark = None
        self._id = next_id()
        self._seen = tensor(value)

    def _read(self) -> Any:
        """The value as a tensor, for ops: one tensor as long as value and tapes stay the same."""
        if threads.recording is not None:
            return threads.recording.read(self)
        seen = self._seen
        mark = threads.watching if self._trainable else None
        if self._mark is not None:
            mark = join(mark, self._mark)
        if seen._value is self._array and seen._mark is mark:
            return seen
        value = self._array
        if value is None:
            value = self._value
        seen = new(Tensor)
        seen._value = value
        seen._mark = mark
        if mark is not None:
            for recorder in mark.recorders:
                recorder.variables[self._id] = self
            if value.dtype.kind in "fcV":
                seen._id = self._id
            else:  # listed by the tape, but nothing to follow
                seen._mark = None
        self._seen = seen
        return seen

    @property
    def _value(self) -> Any:
        """The array, or a scalar of NumPy's; in a function that is recorded, what it knows."""
        return self._outside() if threads.recording is None else threads.recording.value_of(self)

    def _outside(self) -> Any:
        value = self._array
        if value is None:
            with self._lock():
                value = self._array
                if value is None:  # this thread writes: the collector or a signal came in between
                    value = np.array(self._writing[0])  # type: ignore[index]
        return value

    # --- what it is -------------------------------------------------------------------------------
    @property
    def dtype(self) -> DType:
        return dtypes.of(self._outside().dtype)

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    @property
    def name(self) -> str:
        return self._name

    @property
    def _shared_name(self) -> str:
        return self._name[:-2]

    @property
    def _unique_id(self) -> str:
        """A name that no other variable has."""
        return f"{self._shared_name}_{self._id}"

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def ndim(self) -> int:
        return self._outside().ndim

    @property
    def device(self) -> str:
        return CPU

    @property
    def constraint(self) -> Any:
        return self._constraint

    @property
    def synchronization(self) -> Any:
        return self._synchronization or VariableSynchronization.AUTO

    @property
    def aggregation(self) -> Any:
        return self._aggregation or VariableAggregation.NONE

    @property
    def initializer(self) -> None:
        return None

    @property
    def handle(self) -> Variable:
        """The variable itself: there is no resource behind it."""
        return self

    @property
    def op(self) -> Any:
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> Any:
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self._name}' shape={self.shape} dtype={self.dtype.name}" + (
            ">" if threads.recording else f", numpy={text(self._read()._value, precise=True)}>"
        )

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def ref(self) -> Reference:
        return Reference(self)

    experimental_ref = ref

    # --- reading ----------------------------------------------------------------------------------
    def read_value(self) -> Any:
        """A new tensor with the value of this moment; it has a gradient of its own."""
        return shape_ops.identity.apply(self._read())

    def value(self) -> Any:
        """A new tensor with the value of this moment."""
        return shape_ops.identity.apply(self._read())

    def numpy(self) -> Any:
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._read().__array__(dtype, copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._read().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._read().__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __iter__(self) -> Any:
        return iter(self._read())

    def __getitem__(self, key: Any) -> Any:
        return sliced(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(
            "'ResourceVariable' object does not support item assignment: write "
            "v[...].assign(value), or v.scatter_nd_update(indices, values)."
        )

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError("'ResourceVariable' object doesn't support item deletion")

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        from ..arrays.gathering import gather

        return gather(self, indices)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        from ..arrays.gathering import gather_nd

        return gather_nd(self, indices)

    def is_initialized(self, name: str | None = None) -> Any:
        return tensor(np.bool_(True))

    def set_shape(self, shape: Any) -> None:
        self._shape = self._shape.merge_with(TensorShape(shape))

    def __copy__(self) -> Variable:
        """The variable itself: a shallow copy has the same value, also after an assignment."""
        return self

    def __deepcopy__(self, memo: dict) -> Variable:
        copy = memo[id(self)] = Variable(
            tensor(self._value), trainable=self._trainable, constraint=self._constraint
        )
        copy._name = self._name
        return copy

    def __reduce__(self) -> tuple:
        return made, ("Variable._again", tensor(self._value), self._trainable, self._name)

    @staticmethod
    def _again(value: Any, trainable: bool, name: str) -> Variable:
        variable = Variable(value, trainable=trainable)
        variable._name = name
        return variable

    # --- checkpoints ------------------------------------------------------------------------------
    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": tensor(self._outside())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Variable:
        value = restored_tensors["VARIABLE_VALUE"]._value
        if not self._shape.is_compatible_with(TensorShape.known(value.shape)):
            raise ValueError(
                f"Received incompatible tensor with shape {value.shape} when attempting to restore "
                f"variable with shape {self._shape} and name {self._name}."
            )
        # Also in a function that is being recorded: it is the value that the variable begins with.
        with self._lock():
            if self._writing is None:
                self._array = value
            else:
                self._writing[1].append(partial(self._restore_from_tensors, restored_tensors))
        return self

    # --- writing: invisible to the tape -----------------------------------------------------------
    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | None:
        """Set the value; gradients do not flow through it."""
        value = self._fitting(value)
        if value.shape != self._value.shape and not self._shape.is_compatible_with(
            TensorShape.known(value.shape)
        ):
            raise ValueError(
                f"Cannot assign value to variable ' {self._name}': Shape mismatch."
                f"The variable shape {self._shape}, and the assigned value shape {value.shape} "
                "are incompatible."
            )
        if threads.recording is not None:
            threads.recording.write(self, value)
            return self if read_value else None
        with self._lock():
            if self._writing is None:
                self._array = value
            else:
                self._writing[1].append(partial(self.assign, tensor(value)))
        return self if read_value else None

    def _lock(self) -> Any:
        """What is held while the value is exchanged."""
        return _LOCKS[self._id & 63]

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | None:
        """Add to the value, in place for the user and anew for the tape."""
        return self._update(delta, np.add, "AssignAddVariableOp", read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable | None:
        """Subtract from the value."""
        return self._update(delta, np.subtract, "AssignSubVariableOp", read_value)

    def _update(self, delta: Any, function: Any, label: str, read_value: bool) -> Variable | None:
        delta = self._fitting(delta)
        old = self._array
        if old is None:
            old = self._value
        if (delta.__class__ not in _SCALARS or delta.__class__ is not old.__class__) and (
            delta.shape != old.shape or delta.dtype.kind not in NUMBERS
        ):
            raise self._unfit(delta, label)
        if threads.recording is not None:
            value = vocabulary[function].apply(tensor(self._value), tensor(delta))._value
            threads.recording.write(self, value)
            return self if read_value else None
        if old.__class__ is np.ndarray and old.nbytes >= _LARGE:
            del old  # or somebody would hold it
            self._rewrite(_writing(function, delta))
            return self if read_value else None
        with self._lock():  # `_rewrite` for what is small, 0.3 us faster
            token = silence[QUIET]
            try:
                while True:
                    old = self._array
                    value = function(old, delta)
                    if self._array is old:
                        self._array = value
                        return self if read_value else None
            finally:
                restore(token)

    def _unfit(self, delta: Any, label: str) -> Exception:
        if delta.shape != self._value.shape:
            return errors.invalid(
                f"Cannot update variable with shape {list(self._value.shape)} using a Tensor with "
                f"shape {list(delta.shape)}, shapes must be equal. [Op:{label}]"
            )
        return errors.invalid(
            f"No OpKernel was registered to support Op '{label}' with {self.dtype.name}: only "
            f"numbers can be added and subtracted. [Op:{label}]"
        )

    def _rewrite(self, write: Any) -> None:
        """Let `write(old, out)` fill an array, the old one itself if nobody else can see it: no
        tape kept it, no view is left of it. It makes a new one if `out` is None.

        A step on 784 x 256 weights then takes 0.03 ms instead of 0.07, one that changes 1,024 of
        50,000 rows of 64 numbers a fifth of the time.
        """
        with self._lock():
            token = silence[QUIET]
            try:
                while self._writing is None:
                    old, out = self._array, None
                    if old.__class__ is np.ndarray:
                        memory = old.base
                        if memory.__class__ is _Memory:
                            del old
                            self._write_into(memory, write)
                            return
                        if old.nbytes >= _LARGE and old.dtype.kind != "O":
                            out = _Memory(old.shape, old.dtype).view(np.ndarray)
                    value = write(old, out)
                    if self._array is old:
                        self._array = value
                        return
                self._writing[1].append(partial(self._rewrite, write))
            finally:
                restore(token)

    def _write_into(self, memory: _Memory, write: Any) -> None:
        """Without the one view of it, so that whoever reads in the meantime waits."""
        shown, value = ref(self._array), None
        later: list[Any] = []
        self._writing = memory, later
        try:
            self._array, self._seen = None, _NOTHING
            old = shown()
            if old is None:
                old = out = memory.view(np.ndarray)
            else:
                out = _Memory(memory.shape, memory.dtype).view(np.ndarray)
            value = write(old, out)
        finally:
            self._array = memory.view(np.ndarray) if value is None else value
            self._writing = None
        for call in later:
            call()

    # Rows (`scatter_add` and its kind, of IndexedSlices) and places (`scatter_nd_add`, …).
    def _scatter(self, function: Any, slices: Any) -> Variable:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"sparse_delta is not IndexedSlices: {slices!r}. Give tf.IndexedSlices(values, "
                "indices), or use scatter_nd_update and its kind."
            )
        indices = convert.to_tensor(slices.indices)._value
        values = self._fitting(slices.values)
        convert.examine(partial(check_rows, self._value.shape[0]), indices)
        if values.shape and values.shape != indices.shape + self._value.shape[1:]:
            raise errors.invalid(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
                f"got updates.shape {list(values.shape)}, indices.shape {list(indices.shape)}, "
                f"params.shape {list(self._value.shape)} [Op:ResourceScatter]"
            )
        return self._at(function, np.asarray, indices, values)

    def _scatter_nd(self, function: Any, indices: Any, updates: Any) -> Variable:
        places = convert.to_tensor(indices)._value
        convert.examine(partial(_check_places, self._value.shape), places)
        values = self._fitting(updates)
        rest = self._value.shape[places.shape[-1] :]
        if values.shape != places.shape[:-1] + rest:
            raise errors.invalid(
                f"Updates of the shape {list(values.shape)} do not fit: indices of the shape "
                f"{list(places.shape)} name {list(places.shape[:-1])} places of the shape "
                f"{list(rest)} [Op:ResourceScatterNd]"
            )
        return self._at(function, _coordinates, places, values)

    def _at(self, function: Any, key: Any, places: Any, values: Any) -> Variable:
        """Write to the places that `key` makes of these."""
        if (recording := threads.recording) is not None:
            put = partial(put_anew, function, key)
            whole = recording.compute("scatter", put, self._value, places, values)
            recording.write(self, whole)
            return self

        self._rewrite(lambda old, out: put_into(function, key, old, out, places, values))
        return self

    def _exchange(self, function: Any) -> Any:
        """Set the value to a function of itself; the value before."""
        if (recording := threads.recording) is not None:
            before = recording.value_of(self)
            recording.write(self, recording.compute("exchange", function, before))
            return before
        with self._lock():
            while self._writing is None:
                before = self._array
                value = function(before)
                if self._array is before:
                    self._array = value
                    return before
            self._writing[1].append(partial(self._exchange, function))
            return self._value

    def scatter_update(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        """Set the rows `sparse_delta.indices` to `sparse_delta.values`."""
        return self._scatter(None, sparse_delta)

    def scatter_add(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.add, sparse_delta)

    def scatter_sub(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.subtract, sparse_delta)

    def scatter_mul(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.multiply, sparse_delta)

    def scatter_div(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.divide, sparse_delta)

    def scatter_max(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.maximum, sparse_delta)

    def scatter_min(self, sparse_delta: Any, use_locking: bool = False, name: Any = None) -> Any:
        return self._scatter(np.minimum, sparse_delta)

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Any:
        """Set the places `indices` (one row of coordinates each) to `updates`."""
        return self._scatter_nd(None, indices, updates)

    def scatter_nd_add(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter_nd(np.add, indices, updates)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter_nd(np.subtract, indices, updates)

    def scatter_nd_max(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter_nd(np.maximum, indices, updates)

    def scatter_nd_min(self, indices: Any, updates: Any, name: Any = None) -> Any:
        return self._scatter_nd(np.minimum, indices, updates)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        """For every leading index, set the places `sparse_delta.indices` of the last index axis."""
        indices = convert.to_tensor(sparse_delta.indices)._value
        values = self._fitting(sparse_delta.values)
        if values.shape != indices.shape + self._value.shape[indices.ndim :]:
            raise errors.invalid(
                f"Updates of the shape {list(values.shape)} do not fit indices of the shape "
                f"{list(indices.shape)} [Op:ResourceScatterNdUpdate]"
            )
        return self._at(None, _in_batches, indices, values)

    def count_up_to(self, limit: int) -> Any:
        """Add one, up to a limit; the value before."""

        def next_to(value: Any) -> Any:
            if value >= limit:
                raise errors.OutOfRangeError(None, None, f"Reached limit of {limit} [Op:CountUpTo]")
            return value + value.dtype.type(1)

        return tensor(self._exchange(next_to))

    def _fitting(self, value: Any) -> Any:
        if threads.watching is not None:
            self._read()  # tapes watch a variable that is written to, as one that is read
        own = self._array
        if own is None:
            own = self._value
        if value.__class__ is Tensor and value._value.dtype is own.dtype:
            return value._value
        return convert.to_tensor(value, own.dtype)._value

    def __eq__(self, other: Any) -> Any:
        return equals(self._read(), convert.to_tensor(other) if other is None else other)

    def __ne__(self, other: Any) -> Any:
        return equals(self._read(), convert.to_tensor(other) if other is None else other, True)


def _writing(function: Any, delta: Any) -> Any:
    # Not in `_update` itself: what a closure there shares costs every call 0.8 us.
    return lambda old, out: function(old, delta, out=out)


# What makes places for NumPy of those that users give.
def _coordinates(places: Any) -> Any:
    return tuple(np.moveaxis(np.asarray(places), -1, 0))


def _in_batches(places: Any) -> Any:
    places = np.asarray(places)
    grid = np.ogrid[tuple(slice(n) for n in places.shape)]
    return (*grid[:-1], places)


def check_rows(count: int, indices: Any) -> None:
    indices = np.asarray(indices)
    try:
        check_range(indices, count)
    except IndexError:
        k = int(np.argmax((indices < 0) | (indices >= count)))
        raise errors.invalid(
            f"indices[{k}] = {indices.ravel()[k]} is not in [0, {count}) [Op:ResourceScatter]"
        ) from None


def _check_places(shape: tuple[int, ...], places: Any) -> None:
    wrong = (places < 0) | (places >= np.array(shape[: places.shape[-1]]))
    if wrong.any():
        k = int(np.argmax(wrong.any(-1)))
        raise errors.invalid(
            f"indices[{k}] = {places.reshape(-1, places.shape[-1])[k].tolist()} does not index "
            f"into shape {list(shape)} [Op:ResourceScatterNd]"
        )


def put_anew(function: Any, key: Any, whole: Any, places: Any, values: Any) -> Any:
    whole = np.array(whole)
    _put(function, whole, key(places), values)
    return whole


def put_into(function: Any, key: Any, old: Any, out: Any, places: Any, values: Any) -> Any:
    """The same into `out`, which may be `old` itself; None is a new array."""
    if out is None:
        out = np.array(old)
    elif out is not old:
        np.copyto(out, old)
    _put(function, out, key(places), values)
    return out


def _put(function: Any, whole: Any, where: Any, values: Any) -> None:
    """Write values, or what a function makes of the old ones and them, to places of an array."""
    if function is None:
        whole[where] = values
    elif function in (np.add, np.subtract) and _are_rows(whole, where, values):
        add_at(whole, where.reshape(-1), values.reshape(-1, *whole.shape[1:]), function)
    else:
        function.at(whole, where, values)


def _are_rows(whole: Any, where: Any, values: Any) -> bool:
    """Whether `where` holds numbers of rows, and there is one of `values` for each."""
    return (
        where.__class__ is np.ndarray
        and whole.flags.c_contiguous
        and values.shape == where.shape + whole.shape[1:]
    )


class SlicedTensor(Tensor):
    """A slice of a variable: a tensor that can also be assigned to, into the variable."""

    __slots__ = ("_key", "_part", "_variable")
    _key: Any
    _part: Any  # what was recorded: it lives as long, because accumulators forget dead tensors
    _variable: Any

    def assign(self, value: Any, name: str | None = None, read_value: bool = True) -> Any:
        """Write into this part of the variable."""
        return self._write(lambda old, value: value, value, read_value)

    def assign_add(self, value: Any, name: str | None = None, read_value: bool = True) -> Any:
        return self._write(np.add, value, read_value)

    def assign_sub(self, value: Any, name: str | None = None, read_value: bool = True) -> Any:
        return self._write(np.subtract, value, read_value)

    def _write(self, function: Any, value: Any, read_value: bool) -> Any:
        variable = self._variable
        key, value = numpy_key(self._key, variable._value.shape), variable._fitting(value)

        def written(whole: Any, value: Any = value) -> Any:
            whole = np.array(whole)
            part = whole[key]
            try:
                whole[key] = function(part, value)
            except ValueError:
                raise errors.invalid(
                    f"Cannot broadcast input shape {list(value.shape)} into final shape "
                    f"{list(part.shape)} [Op:ResourceStridedSliceAssign]"
                ) from None
            return whole

        if (recording := threads.recording) is not None:
            whole = recording.compute("assign_slice", written, variable._value, value)
            recording.write(variable, whole)
        else:
            variable._exchange(written)
        return variable if read_value else None


def sliced(variable: Variable, key: Any) -> Any:
    """A part of a variable, to read or to assign to."""
    part, made = getitem(variable._read(), key), new(SlicedTensor)
    made._value, made._mark = part._value, part._mark
    if part._mark is not None:
        made._id = part._id
    made._variable, made._key, made._part = variable, key, part
    return made


def _operator(name: str) -> Any:
    method = getattr(Tensor, name)

    def operator(self: Variable, *others: Any) -> Any:
        return method(self._read(), *others)

    operator.__name__ = name
    return operator


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "div", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "lt", "le", "gt", "ge",
    "neg", "abs", "invert", "and", "or", "xor", "rand", "ror", "rxor",
):  # fmt: skip
    setattr(Variable, f"__{_name}__", _operator(f"__{_name}__"))


def _no_in_place(symbol: str, instead: str) -> Any:
    def method(self: Variable, other: Any) -> Any:
        raise RuntimeError(
            f"`variable {symbol} value` with `tf.Variable`s is not supported. Use "
            f"`{instead}` to modify the variable, or `out = variable {symbol[:-1]} value` if you "
            "need to get a new output Tensor."
        )

    return method


for _name, _symbol, _instead in (
    ("iadd", "+=", "variable.assign_add(value)"),
    ("isub", "-=", "variable.assign_sub(value)"),
    ("imul", "*=", "variable.assign(variable * value)"),
    ("itruediv", "/=", "variable.assign(variable / value)"),
    ("ipow", "**=", "variable.assign(variable ** value)"),
):
    setattr(Variable, f"__{_name}__", _no_in_place(_symbol, _instead))


tell_absent(Variable, [name for name in ARRAY_METHODS if not hasattr(Variable, name)])
apply.bind(Tensor, Variable, convert)
Variable.__name__ = Variable.__qualname__ = "ResourceVariable"
Variable.__module__ = "tensorflow.python.ops.resource_variable_ops"
