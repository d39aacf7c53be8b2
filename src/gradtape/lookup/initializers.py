"""What a table is filled with: keys and values, or the lines of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..framework import convert
from ..framework.tracking import Trackable
from ..io import gfile


class KeysAndValues(Trackable):
    """What has keys of one dtype and values of another."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> Any:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> Any:
        """The dtype of the values."""
        return self._value_dtype


class TableInitializerBase(KeysAndValues):
    """Keys and values for a table."""

    def initialize(self, table: Any) -> None:
        """Fill a table, if it is not filled yet."""
        table._fill(*self.arrays())

    def arrays(self) -> tuple[Any, Any]:
        """The keys and the values."""
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values that are tensors."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        self._keys, self._values = _tensor(keys, key_dtype), _tensor(values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def arrays(self) -> tuple[Any, Any]:
        """The keys and the values."""
        return np.asarray(self._keys._value), np.asarray(self._values._value)


def _tensor(value: Any, dtype: Any) -> Any:
    wanted = None if dtype is None else np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    return convert.to_tensor(value, wanted)


class TextFileIndex:
    """What is taken of a line, beside a column: its number, or all of it."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a text file."""

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, (str, bytes)) and hasattr(filename, "numpy"):
            filename = filename.numpy()
        if not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        for word, index, dtype in (
            ("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype),
        ):  # fmt: skip
            if index < -2:
                raise ValueError(f"`{word}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                when = "if" if word == "key" else "for"
                is_ = " is" if word == "key" else ""
                raise ValueError(
                    f"`{word}_dtype` must be int64 {when} `{word}_index`{is_} -1, received: {dtype}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename, self._delimiter = filename, delimiter.encode()
        self._indices, self._vocab_size = (key_index, value_index), vocab_size
        self._offset = value_index_offset

    def arrays(self) -> tuple[Any, Any]:
        """The keys and the values."""
        with gfile.GFile(self._filename, "rb") as file:
            lines = [line.rstrip(b"\n").rstrip(b"\r") for line in file.readlines()]
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise errors.invalid(
                    f"Invalid vocab_size in {self._filename!r}: expected {self._vocab_size} but "
                    f"got {len(lines)} lines [Op:InitializeTableFromTextFileV2]"
                )
            lines = lines[: self._vocab_size]
        kinds = self._key_dtype, self._value_dtype
        keys, values = (
            self._column(lines, index, dtype)
            for index, dtype in zip(self._indices, kinds, strict=True)
        )
        if self._indices[1] == TextFileIndex.LINE_NUMBER:
            values = values + self._offset
        return keys, values

    def _column(self, lines: list[bytes], index: int, dtype: Any) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return np.arange(len(lines), dtype=np.int64)
        found = lines
        if index != TextFileIndex.WHOLE_LINE:
            split = [line.split(self._delimiter) for line in lines]
            for number, parts in enumerate(split):
                if len(parts) <= index:
                    raise errors.invalid(
                        f"Invalid number of columns in {self._filename!r} line {number} "
                        f"({lines[number].decode(errors='replace')}) : expected at least "
                        f"{index + 1} got {len(parts)} [Op:InitializeTableFromTextFileV2]"
                    )
            found = [parts[index] for parts in split]
        column = np.empty(len(found), object)
        column[:] = found
        if dtype is dtypes.string:
            return column
        kind = np.dtype(dtype.as_numpy_dtype)
        try:
            return np.array([kind.type(one.decode()) for one in found], kind)
        except ValueError as cause:
            raise errors.invalid(
                f"{cause}: {self._filename!r} has other values than {dtype.name} in the column "
                f"{index} [Op:InitializeTableFromTextFileV2]"
            ) from cause
