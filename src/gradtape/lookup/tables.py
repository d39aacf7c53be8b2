"""Tables that stay as they are: `StaticHashTable`, and one for words that may be unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..strings.hashing import farm
from .initializers import KeysAndValues


class LookupInterface(KeysAndValues):
    """What all tables have."""

    @property
    def name(self) -> Any:
        """None: tables have no names."""
        return None

    @property
    def resource_handle(self) -> Any:
        """The table itself: there is no resource behind it."""
        return self

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        raise NotImplementedError

    def __getitem__(self, keys: Any) -> Any:
        """The values of keys."""
        return self.lookup(keys)


def over(keys: Any, dtype: Any, look: Callable[[Any], Any]) -> Any:
    """Apply a function to the array of keys, of tensors, sparse tensors and ragged ones."""
    given = getattr(keys, "dtype", None)
    if given is not None and dtypes.as_dtype(given) is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype}, received: {given}")
    if hasattr(keys, "with_flat_values"):
        return keys.with_flat_values(over(keys.flat_values, dtype, look))
    if hasattr(keys, "dense_shape") and hasattr(keys, "indices"):
        return type(keys)(keys.indices, over(keys.values, dtype, look), keys.dense_shape)
    return look(convert.to_tensor(keys, np.dtype(dtype.as_numpy_dtype))._value)


def values_of(table: dict[Any, Any], keys: Any, default: Any, dtype: np.dtype) -> Any:
    """The array of the values of all keys; those that are not there have the default."""
    keys = np.asarray(keys)
    inner = np.shape(default)
    made = np.empty((keys.size, *inner), dtype)
    for at, key in enumerate(keys.ravel().tolist()):
        made[at] = table.get(key, default)
    found = made.reshape(keys.shape + inner)
    return found if found.ndim or dtype.kind == "O" else found[()]


def scalar(value: Any) -> Any:
    """A default value as it is put into arrays: a number, bytes, or an array."""
    return value if np.ndim(value) else np.asarray(value).item()


class StaticHashTable(LookupInterface):
    """A table that is filled once.

    >>> import gradtape as tf
    >>> words = tf.lookup.KeyValueTensorInitializer(["one", "two"], [1, 2])
    >>> table = tf.lookup.StaticHashTable(words, default_value=-1)
    >>> table.lookup(tf.constant(["two", "ten"])).numpy().tolist()
    [2, -1]
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        self._dtype = np.dtype(self._value_dtype.as_numpy_dtype)
        self._default = convert.to_tensor(default_value, self._dtype)
        self._filled: dict[Any, Any] | None = None
        initializer.initialize(self)

    def _fill(self, keys: Any, values: Any) -> None:
        """Put all keys in, once: a table that is filled stays as it is."""
        if self._filled is not None:
            return
        if keys.shape != values.shape:
            raise errors.invalid(
                f"keys of the shape {list(keys.shape)} and values of the shape "
                f"{list(values.shape)} must have the same shape [Op:LookupTableImportV2]"
            )
        table: dict[Any, Any] = {}
        for key, value in zip(keys.ravel().tolist(), values.ravel().tolist(), strict=True):
            if table.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(
                    None, None,
                    "HashTable has different value for same key. Key "
                    f"{_shown(key)} has {_shown(table[key])} and trying to add value "
                    f"{_shown(value)} [Op:LookupTableImportV2]",
                )  # fmt: skip
        self._filled = table

    @property
    def default_value(self) -> Any:
        """The value of keys that are not there."""
        return self._default

    def size(self, name: str | None = None) -> Any:
        """How many keys there are."""
        return tensor(np.int64(len(self._filled or ())))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys, and all values."""
        if self._filled is None:
            told = "HashTable is not initialized. [Op:LookupTableExportV2]"
            raise errors.AbortedError(None, None, told)
        keys = np.array(list(self._filled), np.dtype(self._key_dtype.as_numpy_dtype))
        return tensor(keys), tensor(np.array(list(self._filled.values()), self._dtype))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys."""
        default = scalar(self._default._value)

        def find(keys: Any) -> Any:
            if self._filled is None:  # by an initializer of the user's that did not
                told = "Table not initialized. [Op:LookupTableFindV2]"
                raise errors.FailedPreconditionError(None, None, told)
            return values_of(self._filled, keys, default, self._dtype)

        return over(keys, self._key_dtype, lambda keys: tensor(convert.computed(find, keys)))


def _shown(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


class StaticVocabularyTable(LookupInterface):
    """A table from words to numbers, and from unknown words to one of some numbers after those.

    >>> import gradtape as tf
    >>> numbers = tf.constant([0, 1], tf.int64)
    >>> words = tf.lookup.KeyValueTensorInitializer(["one", "two"], numbers)
    >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=1)
    >>> table.lookup(tf.constant(["two", "ten"])).numpy().tolist()
    [1, 2]
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        known = (dtypes.int64, dtypes.string)
        if initializer is not None:
            if initializer.value_dtype is not dtypes.int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {dtypes.int64} but got "
                    f"{initializer.value_dtype}."
                )
            if initializer.key_dtype not in known:
                raise TypeError(
                    "Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got "
                    f"{initializer.key_dtype}."
                )
        kind = lookup_key_dtype
        if kind is None:
            kind = dtypes.string if initializer is None else initializer.key_dtype
        super().__init__(kind, dtypes.int64)
        self._initializer = initializer
        self._static = None if initializer is None else StaticHashTable(initializer, -1)
        self._start = 0 if self._static is None else int(self._static.size())
        self._buckets = num_oov_buckets

    def size(self, name: str | None = None) -> Any:
        """How many numbers there are, those of unknown words included."""
        return tensor(np.int64(self._start + self._buckets))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of words."""
        table = {} if self._static is None else self._static._filled or {}

        def number(key: Any) -> int:
            text = key if isinstance(key, bytes) else str(key).encode()
            return self._start + farm(text) % self._buckets

        def find(keys: Any) -> Any:
            flat = np.asarray(keys).ravel().tolist()
            found = [table[key] if key in table else number(key) for key in flat]
            made = np.array(found, np.int64).reshape(np.shape(keys))
            return made if made.ndim else made[()]

        return over(keys, self._key_dtype, lambda keys: tensor(convert.computed(find, keys)))
