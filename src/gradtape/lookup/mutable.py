"""Tables that change, which checkpoints keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import threads
from ..framework import convert
from .tables import LookupInterface, over, scalar, values_of


class MutableHashTable(LookupInterface):
    """A table that keys and values are put into.

    >>> import gradtape as tf
    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(tf.constant(["one"]), tf.constant([1], tf.int64))
    >>> table.lookup(tf.constant(["one", "two"])).numpy().tolist()
    [1, -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._keys_as = np.dtype(self._key_dtype.as_numpy_dtype)
        self._dtype = np.dtype(self._value_dtype.as_numpy_dtype)
        self._default = convert.to_tensor(default_value, self._dtype)
        self._table: dict[Any, Any] = {}
        self._checkpoint = checkpoint

    def size(self, name: str | None = None) -> Any:
        """How many keys there are."""
        return self._performed("size", lambda: np.int64(len(self._table)))

    def lookup(  # type: ignore[override]
        self, keys: Any, dynamic_default_values: Any = None, name: str | None = None
    ) -> Any:
        """The values of keys; of those that are not there, one default for all or one for each."""
        if dynamic_default_values is None:
            default = scalar(self._default._value)
            find = self._finding(lambda keys: values_of(self._table, keys, default, self._dtype))
            return over(self._like(keys), self._key_dtype, find)
        each = convert.to_tensor(dynamic_default_values, self._dtype)._value

        def find_or(keys: Any, each: Any) -> Any:
            keys, inner = np.asarray(keys), np.ndim(self._default._value)
            shape = keys.shape + np.shape(each)[np.ndim(each) - inner :]
            made = np.array(np.broadcast_to(each, shape)).reshape(keys.size, *shape[keys.ndim :])
            for at, key in enumerate(keys.ravel().tolist()):
                if key in self._table:
                    made[at] = self._table[key]
            return made.reshape(shape)

        given = self._like(keys)
        return over(given, self._key_dtype, lambda k: self._performed("lookup", find_or, k, each))

    def _finding(self, find: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda keys: self._performed("lookup", find, keys)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Put values of keys in, in the place of those that they had."""
        keys = self._converted(keys, self._keys_as, "keys")._value
        values = self._converted(values, self._dtype, "values")._value
        wanted = keys.shape + np.shape(self._default._value)
        if values.shape != wanted:
            raise errors.invalid(
                f"Expected shape {list(wanted)} for value, got {list(values.shape)} "
                "[Op:LookupTableInsertV2]"
            )

        def put(keys: Any, values: Any) -> None:
            self._check(keys, "LookupTableInsertV2")
            keys = np.asarray(keys)
            rows = np.asarray(values).reshape(keys.size, *wanted[keys.ndim :])
            for key, row in zip(keys.ravel().tolist(), rows, strict=True):
                self._table[key] = row

        self._done("insert", put, keys, values)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Take keys out; those that are not there do not matter."""
        keys = self._like(keys)
        if dtypes.as_dtype(keys.dtype) is not self._key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}"
            )

        def take(keys: Any) -> None:
            for key in np.asarray(keys).ravel().tolist():
                self._table.pop(key, None)

        self._done("remove", take, keys._value)

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys, and all values."""
        keys = self._performed("export", lambda: self._arrays()[0])
        return keys, self._performed("export", lambda: self._arrays()[1])

    def _arrays(self) -> tuple[Any, Any]:
        keys = np.array(list(self._table), self._keys_as)
        values = np.empty((len(keys), *np.shape(self._default._value)), self._dtype)
        for at, value in enumerate(self._table.values()):
            values[at] = value
        return keys, values

    # --- checkpoints ------------------------------------------------------------------------------
    def _serialize_to_tensors(self) -> dict[str, Any]:
        if not self._checkpoint:
            return {}
        keys, values = self._arrays()
        return {"table-keys": tensor(keys), "table-values": tensor(values)}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        keys = np.asarray(restored_tensors["table-keys"]._value)
        values = np.asarray(restored_tensors["table-values"]._value)
        self._table = dict(zip(keys.tolist(), values, strict=True))

    # --- at every call of a function --------------------------------------------------------------
    def _performed(self, name: str, function: Callable[..., Any], *values: Any) -> Any:
        if threads.recording is None:
            return tensor(function(*values))
        (made,) = threads.recording.effect(name, lambda *a: [function(*a)], values, True)
        return tensor(made)

    def _done(self, name: str, function: Callable[..., None], *values: Any) -> None:
        def then_nothing(*arrays: Any) -> list[Any]:
            function(*arrays)
            return []

        if threads.recording is None:
            function(*values)
        else:  # at once, as what is looked up later depends on it
            threads.recording.effect(name, then_nothing, values, True)

    def _like(self, keys: Any) -> Any:
        if hasattr(keys, "with_flat_values") or hasattr(keys, "dense_shape"):
            return keys
        return self._converted(keys, self._keys_as, "keys")

    def _converted(self, value: Any, dtype: Any, word: str) -> Any:
        if convert.is_tensor_like(value) and value._value.dtype != dtype:
            wanted, given = dtypes.of(dtype).name, dtypes.of(value._value.dtype).name
            raise ValueError(
                f"{word}: Tensor conversion requested dtype {wanted} for Tensor with dtype "
                f"{given}: {value!r}"
            )
        return convert.to_tensor(value, dtype)

    def _check(self, keys: Any, label: str) -> None:
        """Raise an error for keys that there cannot be."""


class DenseHashTable(MutableHashTable):
    """A table that keys and values are put into, with two keys that are never used.

    Differs from TensorFlow: `export` gives the keys that are there, without empty places.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        self._unused = {
            scalar(convert.to_tensor(key, self._keys_as)._value): word
            for key, word in ((empty_key, "empty_key"), (deleted_key, "deleted_key"))
        }
        if len(self._unused) < 2:
            raise errors.invalid("Empty and deleted keys cannot be equal [Op:DenseHashTable]")

    def lookup(self, keys: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """The values of keys; of those that are not there, the default."""
        return super().lookup(keys)

    def _finding(self, find: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def checked(keys: Any) -> Any:
            self._check(keys, "LookupTableFindV2")
            return find(keys)

        return super()._finding(checked)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Put values of keys in, in the place of those that they had."""
        self.insert(keys, values)

    def erase(self, keys: Any, name: str | None = None) -> None:
        """Take keys out; those that are not there do not matter."""
        self.remove(keys)

    def _check(self, keys: Any, label: str) -> None:
        for key in np.asarray(keys).ravel().tolist():
            if key in self._unused:
                raise errors.invalid(
                    f"Using the {self._unused[key]} as a table key is not allowed [Op:{label}]"
                )
