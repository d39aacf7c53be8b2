"""`tf.TensorArray`: a list of tensors, through which gradients flow, with TensorFlow's rules."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from .. import arrays, dtypes, errors
from ..core.apply import tensor
from ..core.record import threads
from ..dtypes import DType
from ..framework import convert
from ..framework.shapes import TensorShape


class TensorArray:
    """Tensors of one dtype, written and read one by one, or stacked.

    >>> import gradtape as tf
    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array = array.write(0, 1.5).write(1, 2.5)
    >>> array.stack()
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled: "
                "tf.TensorArray(dtype, size=n), with dynamic_size=True if it may grow."
            )
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._list: list[Any] = [None] * operator.index(_plain(size))
        self._cleared: set[int] = set()
        self._whole: Any = None  # while a function is recorded: a tensor of all elements as rows,
        self._recording: Any = None  # made in this recording, in place of the list

    @property
    def _items(self) -> list[Any]:
        """The elements; from now on they stand for themselves."""
        if self._whole is None:
            return self._list
        rows = list(arrays.unstack(self._whole))
        if threads.recording is self._recording:  # else these are values of the body of a loop
            self._list, self._whole = rows, None
        return rows

    @_items.setter
    def _items(self, items: list[Any]) -> None:
        self._list, self._whole = items, None

    def _gather_up(self) -> None:
        """Hold the elements as the rows of one tensor."""
        self._whole, self._recording = self.stack(), threads.recording

    # --- what it is -------------------------------------------------------------------------------
    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writing past the end makes it longer."""
        return self._dynamic_size

    @property
    def flow(self) -> Any:
        """What orders the ops of a graph: nothing to order here."""
        return tensor(np.int32(0))

    @property
    def handle(self) -> None:
        """The graph's reference to the array: none here."""
        return None

    def size(self, name: str | None = None) -> Any:
        """The number of elements."""
        return tensor(np.int32(self._count))

    @property
    def _count(self) -> int:
        return len(self._list) if self._whole is None else self._whole._value.shape[0]

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> NoReturn:
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; the tape follows the "
            "tensors that the array holds."
        )

    def close(self, name: str | None = None) -> None:
        """Forget the elements."""
        self._items = []

    # --- one by one -------------------------------------------------------------------------------
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Set an element; the array itself is returned, as functions of graphs need."""
        at = operator.index(_plain(index))
        if at < 0:
            raise _out_of_range(f"Writing to negative indices (index {at}) is not allowed.")
        if at >= len(self._items):
            if not self._dynamic_size:
                raise _out_of_range(
                    f"Tried to write to index {at} but array is not resizeable and size is: "
                    f"{len(self._items)} "
                )
            self._items += [None] * (at + 1 - len(self._items))
        self._items[at] = self._fitting(value)
        self._cleared.discard(at)
        return self

    def _fitting(self, value: Any) -> Any:
        value = convert.to_tensor(value, hint=np.dtype(self._dtype.as_numpy_dtype))
        if value.dtype is not self._dtype:
            raise errors.at_run(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name} "
            )
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(value.shape)
        return value

    def read(self, index: Any, name: str | None = None) -> Any:
        """An element, which is then forgotten unless `clear_after_read=False`."""
        if threads.recording is not None:
            row = threads.recording.row(self, index)
            if row is not None:
                return row
        at = operator.index(_plain(index))
        if at < 0:
            raise _out_of_range(f"Reading from negative indices (index {at}) is not allowed.")
        if at >= len(self._items):
            raise _out_of_range(
                f"Tried to read from index {at} but array size is: {len(self._items)} "
            )
        if at in self._cleared:
            raise errors.invalid(
                f"Could not read index {at} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        found = self._item(at)
        if self._clear_after_read and threads.recording is None:  # arrays of graphs keep them
            self._items[at] = None
            self._cleared.add(at)
        return found

    def _item(self, at: int) -> Any:
        """An element, or zeros where none was written."""
        if self._items[at] is None:
            if not self._element_shape.is_fully_defined():
                message = (
                    f"Cannot convert a partially known TensorShape {self._element_shape} to a "
                    f"Tensor: element {at} of the TensorArray was not written, and without "
                    "element_shape its zeros have no shape."
                )
                raise ValueError(message) if threads.recording is None else errors.at_run(message)
            return arrays.zeros(self._element_shape, self._dtype)
        return self._items[at]

    # --- together ---------------------------------------------------------------------------------
    def stack(self, name: str | None = None) -> Any:
        """All elements along a new first axis."""
        if self._whole is not None:
            return arrays.cast(self._whole, self._dtype)
        if not self._items:
            rest = self._element_shape
            known = rest.as_list() if rest.is_fully_defined() else []
            return arrays.zeros([0, *known], self._dtype)
        stacked = arrays.stack([self._item(k) for k in range(len(self._items))])
        return arrays.cast(stacked, self._dtype)  # `unstack` takes others, as TensorFlow's does

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements along a new first axis."""
        places = np.atleast_1d(convert.to_tensor(indices)._value).tolist()
        for k in places:
            if not 0 <= k < len(self._items):
                message = f"Tried to gather element {k} of an array of size {len(self._items)} "
                raise IndexError(message) if threads.recording is None else errors.at_run(message)
        return arrays.stack([self._item(k) for k in places])

    def concat(self, name: str | None = None) -> Any:
        """All elements, one behind the other along their first axis."""
        items = [self._item(k) for k in range(len(self._items))]
        for k, item in enumerate(items):
            if not item._value.ndim:
                raise errors.invalid(
                    f"Concat saw a scalar shape at index {k} but requires at least vectors."
                )
        return arrays.concat(items, 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Take the rows of a tensor as elements."""
        value = convert.to_tensor(value, hint=np.dtype(self._dtype.as_numpy_dtype))
        count = len(value._value) if value._value.ndim else 0
        if count > self._count and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {count} tensors into a TensorArray of static size {self._count} "
            )
        if threads.recording is not None and count:  # a loop along the rows takes them as they are
            self._whole, self._recording = value, threads.recording
        else:
            self._items = list(arrays.unstack(value))
        self._cleared = set()
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the rows of a tensor to some places."""
        places = np.atleast_1d(convert.to_tensor(indices)._value).tolist()
        value = convert.to_tensor(value, hint=np.dtype(self._dtype.as_numpy_dtype))
        for k, row in zip(places, arrays.unstack(value), strict=False):
            self.write(k, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Cut a tensor along its first axis into elements of these lengths."""
        value = convert.to_tensor(value, hint=np.dtype(self._dtype.as_numpy_dtype))
        sizes = np.atleast_1d(convert.to_tensor(lengths)._value).tolist()
        if sum(sizes) != value._value.shape[0]:
            raise errors.at_run(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(sizes)} and value's shape is: {list(value._value.shape)} "
            )
        if len(sizes) != len(self._items) and not self._dynamic_size:
            raise errors.at_run(
                f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. "
                f"{len(sizes)}), and the TensorArray is not marked as dynamically resizeable."
            )
        self._items, self._cleared = list(arrays.split(value, sizes)), set()
        return self


def _out_of_range(message: str) -> Exception:
    """The error for a wrong index, which the arrays of graphs have a kind of their own for."""
    if threads.recording is not None:
        return errors.at_run(message)
    return errors.OutOfRangeError(None, None, message)


def _plain(number: Any) -> Any:
    """A whole number that may be a tensor; what is none fails in `operator.index`."""
    return convert.to_tensor(number)._value if convert.is_tensor_like(number) else number
