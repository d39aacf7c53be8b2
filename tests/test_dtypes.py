"""Element types answer as TensorFlow 2.21's do."""

import copy
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import gradtape as tf
from gradtape import dtypes
from gradtape.dtypes import DType, as_dtype

# name, enum, NumPy type, size in bytes, letters: Float, Complex, Integer, Unsigned, Bool, Numeric
TABLE = [
    ("bool", 10, np.bool_, 1, "B"),
    ("int8", 6, np.int8, 1, "IN"),
    ("int16", 5, np.int16, 2, "IN"),
    ("int32", 3, np.int32, 4, "IN"),
    ("int64", 9, np.int64, 8, "IN"),
    ("uint8", 4, np.uint8, 1, "IUN"),
    ("uint16", 17, np.uint16, 2, "IUN"),
    ("uint32", 22, np.uint32, 4, "IUN"),
    ("uint64", 23, np.uint64, 8, "IUN"),
    ("float16", 19, np.float16, 2, "FN"),
    ("bfloat16", 14, ml_dtypes.bfloat16, 2, "FN"),
    ("float32", 1, np.float32, 4, "FN"),
    ("float64", 2, np.float64, 8, "FN"),
    ("complex64", 8, np.complex64, 8, "CN"),
    ("complex128", 18, np.complex128, 16, "CN"),
    ("string", 7, object, 0, ""),
]


@pytest.mark.parametrize(("name", "enum", "np_type", "size", "letters"), TABLE)
def test_attributes(name, enum, np_type, size, letters):
    dtype = getattr(dtypes, name)
    assert (dtype.name, dtype.as_datatype_enum, dtype.size) == (name, enum, size)
    assert dtype.as_numpy_dtype is np_type
    assert dtype.is_floating is ("F" in letters)
    assert dtype.is_complex is ("C" in letters)
    assert dtype.is_integer is ("I" in letters)
    assert dtype.is_unsigned is ("U" in letters)
    assert dtype.is_bool is ("B" in letters)
    assert dtype.is_numeric is ("N" in letters)
    assert dtype.is_quantized is False
    assert dtype.is_numpy_compatible is True
    assert dtype.base_dtype is dtype
    assert hash(dtype) == enum
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"{dtype}" == f"<dtype: '{name}'>"


@pytest.mark.parametrize(("name", "enum", "np_type", "size", "letters"), TABLE)
def test_every_way_to_name_a_type(name, enum, np_type, size, letters):
    dtype = getattr(dtypes, name)
    for alias in (dtype, name, enum, np_type, np.dtype(np_type), np.zeros(2, np_type)):
        assert as_dtype(alias) is dtype
    assert dtypes.of(np.dtype(np_type)) is dtype
    assert DType(enum) == dtype


@pytest.mark.parametrize(("name", "enum"), [("resource", 20), ("variant", 21)])
def test_types_without_values(name, enum):
    dtype = getattr(dtypes, name)
    assert (dtype.name, dtype.as_datatype_enum, dtype.size) == (name, enum, 0)
    assert dtype.is_numpy_compatible is False
    assert dtype.is_numeric is False
    with pytest.raises(KeyError, match=str(enum)):
        _ = dtype.as_numpy_dtype
    with pytest.raises(TypeError, match=f"^Cannot find minimum value of <dtype: '{name}'>.$"):
        _ = dtype.min


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (np.object_, "string"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtypes.StringDType(), "string"),
        (np.dtype(">f4"), "float32"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (True, "float32"),  # the enum number 1
        (np.float64(77), "float64"),
    ],
)
def test_aliases(alias, name):
    assert as_dtype(alias) is getattr(dtypes, name)


@pytest.mark.parametrize(
    "value",
    [
        *(int, complex, str, bytes, list, None, 0, 999, -1, 3.5, [], {}, b"float32"),
        *("int", "f4", "<f4", "str", "object", "nonsense"),
        *(np.longdouble, np.generic, np.floating, np.void, np.dtype, np.dtypes.Float32DType),
        np.dtype("M8[s]"),
    ],
)
def test_not_a_type(value):
    with pytest.raises(TypeError) as failure:
        as_dtype(value)
    expected = f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType."
    assert str(failure.value) == expected
    assert (dtypes.float32 == value) is False


def test_equality():
    float32 = dtypes.float32
    for same in ("float32", "float", np.float32, np.dtype("float32"), float, 1, np.ones(2, "f4")):
        assert (float32 == same) is True
        assert (float32 != same) is False
    for left in ("float32", np.float32, np.dtype("float32")):
        assert left == float32
    assert float32 in ["float32"]
    for other in (dtypes.float64, "float64", np.float64, None, "foo", {}, int):
        assert (float32 == other) is False
        assert (float32 != other) is True


def test_one_object_for_each_type():
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64
    for dtype in (dtypes.float32, dtypes.bfloat16, dtypes.string, dtypes.resource):
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.copy(dtype) is dtype
        assert copy.deepcopy({"a": dtype})["a"] is dtype
    assert {dtypes.float32: 1}[as_dtype("float32")] == 1


def test_the_constructor_takes_an_enum_number():
    assert DType(1) == dtypes.float32
    with pytest.raises(ValueError, match="invalid literal"):
        DType("float32")
    with pytest.raises(
        TypeError, match=r"^999 does not correspond to a valid tensorflow::DataType$"
    ):
        DType(999)


def test_numpy_does_not_take_them():
    with pytest.raises(TypeError, match=r"Cannot interpret 'tf\.float32' as a data type"):
        np.dtype(dtypes.float32)


def test_range():
    assert (dtypes.int8.min, dtypes.int8.max) == (-128, 127)
    assert type(dtypes.int8.max) is int
    assert dtypes.uint64.max == 2**64 - 1
    assert dtypes.float32.max == np.finfo(np.float32).max
    assert type(dtypes.float16.min) is np.float16
    assert float(dtypes.bfloat16.max) == 3.3895313892515355e38
    assert type(dtypes.bfloat16.max) is ml_dtypes.bfloat16
    for dtype in (dtypes.bool, dtypes.string, dtypes.complex64):
        with pytest.raises(TypeError) as failure:
            _ = dtype.max
        assert str(failure.value) == f"Cannot find maximum value of {dtype} with type {dtype}."


def test_limits():
    assert dtypes.bool.limits == (0, True)
    assert dtypes.uint8.limits == (0, 255)
    assert dtypes.int8.limits == (0, 127)
    assert dtypes.float32.limits == dtypes.float64.limits == (0, 1)
    for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.complex64, dtypes.string):
        with pytest.raises(ValueError, match="does not have defined limits"):
            _ = dtype.limits


def test_real_part():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.int8.real_dtype is dtypes.int8


def test_compatibility():
    assert dtypes.float32.is_compatible_with("float32")
    assert not dtypes.float32.is_compatible_with(dtypes.float64)
    with pytest.raises(TypeError, match="Cannot convert"):
        dtypes.float32.is_compatible_with("foo")
    assert dtypes.float32.is_subtype_of(dtypes.float32)
    assert dtypes.float32.most_specific_common_supertype([dtypes.float32]) is dtypes.float32
    assert dtypes.float32.most_specific_common_supertype([dtypes.float64]) is None


def test_no_such_attribute():
    with pytest.raises(AttributeError, match="'DType' object has no attribute 'foo'"):
        _ = dtypes.float32.foo


def test_bfloat16_is_imported_only_when_it_is_used():
    code = (
        "import sys; from gradtape import dtypes; assert dtypes.bfloat16 != dtypes.float32\n"
        "assert 'ml_dtypes' not in sys.modules; dtypes.bfloat16.as_numpy_dtype\n"
        "assert 'ml_dtypes' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits_store_numbers_and_no_gradient(name):
    small = getattr(tf.experimental, name)
    assert as_dtype(name) is as_dtype(small.as_numpy_dtype) is small
    assert small.size == 1
    assert small.max == ml_dtypes.finfo(name).max
    x = tf.constant([0.3, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        stored = tf.cast(x, small)
        y = tf.cast(stored, tf.float32)
    assert stored.dtype is small
    assert y.numpy().tolist() == [0.3125, -1.0]
    assert tape.gradient(y, x) is None
    assert tf.saturate_cast(1e9, small).numpy() == small.max
    with pytest.raises(tf.errors.UnimplementedError, match=f"Cast int32 to {name}"):
        tf.cast([1, 2], small)
