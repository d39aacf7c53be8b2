"""Shapes and specs answer as TensorFlow 2.21's do."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtape import dtypes
from gradtape.framework.shapes import (
    Dimension,
    TensorShape,
    TensorSpec,
    TypeSpec,
    type_spec_from_value,
)

UNKNOWN = TensorShape(None)
NOT_A_SHAPE = (
    "Failed to convert ''ab'' to a shape: ''a''could not be converted to a dimension. A shape "
    "should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])"
    "."
)


class Fake:
    """What a spec needs of a tensor."""

    def __init__(self, value):
        self._value = value
        self.shape = TensorShape.known(value.shape)
        self.dtype = dtypes.of(value.dtype)


class FakeVariable(Fake):
    def assign(self, value):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("argument", "dims"),
    [
        ([2, 3], [2, 3]),
        ((2, 3), [2, 3]),
        ([], []),
        (5, [5]),
        (0, [0]),
        ([None, 3], [None, 3]),
        ([np.int64(3)], [3]),
        (np.int64(3), [3]),
        (np.array([2, 3]), [2, 3]),
        (np.array(2), [2]),
        (range(3), [0, 1, 2]),
        ((n for n in (1, 2)), [1, 2]),
        ({1: 2}, [1]),
        ({}, []),
        (b"ab", [97, 98]),
        ([Dimension(2), Dimension(None), Dimension(0)], [2, None, 0]),
        (Dimension(3), [3]),
        (TensorShape([1, None]), [1, None]),
        ([2**40], [2**40]),
    ],
)
def test_construction(argument, dims):
    shape = TensorShape(argument)
    assert shape.as_list() == dims
    assert repr(shape) == f"TensorShape({dims})"
    assert all(type(dim) is int or dim is None for dim in shape)


def test_bad_construction():
    for negative in (-1, [-1, 3]):
        with pytest.raises(ValueError, match=r"^Dimension -1 must be >= 0$"):
            TensorShape(negative)
    with pytest.raises(TypeError) as failure:
        TensorShape("ab")
    assert str(failure.value) == NOT_A_SHAPE
    for bad in (1.5, [1.5]):
        with pytest.raises(TypeError) as failure:
            TensorShape(bad)
        assert str(failure.value) == (
            "Dimension value must be integer or None or have an __index__ method, "
            "got value '1.5' with type '<class 'float'>'"
        )
    for bad in (["a"], [[1]], object()):
        with pytest.raises(TypeError, match="Dimension value must be integer or None"):
            TensorShape(bad)


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ([2, 3], "(2, 3)"),
        ([2], "(2,)"),
        ([], "()"),
        ([None], "(None,)"),
        ([2, None], "(2, None)"),
        (None, "<unknown>"),
    ],
)
def test_text(dims, text):
    assert str(TensorShape(dims)) == f"{TensorShape(dims)}" == text
    assert repr(TensorShape(dims)) == f"TensorShape({dims})"


@given(st.lists(st.integers(0, 9), max_size=5).map(tuple))
def test_known_shapes_are_shapes(dims):
    assert TensorShape.known(dims) == TensorShape(dims)
    assert TensorShape.known(dims)._dims is not None
    assert TensorShape.known(dims).num_elements() == np.prod(dims, dtype=int)


def test_rank_and_sizes():
    assert TensorShape([2, 3]).rank == TensorShape([2, 3]).ndims == 2
    assert UNKNOWN.rank is UNKNOWN.ndims is UNKNOWN.dims is None
    assert repr(TensorShape([2, None]).dims) == "[Dimension(2), Dimension(None)]"
    assert TensorShape([]).dims == []
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape([]).num_elements() == 1
    assert TensorShape([0, 3]).num_elements() == 0
    assert TensorShape([2, None]).num_elements() is UNKNOWN.num_elements() is None
    assert TensorShape([]).is_fully_defined()
    assert not TensorShape([2, None]).is_fully_defined()
    assert not UNKNOWN.is_fully_defined()
    with pytest.raises(
        ValueError, match=r"^as_list\(\) is not defined on an unknown TensorShape.$"
    ):
        UNKNOWN.as_list()


def test_as_a_sequence():
    shape = TensorShape([2, None, 4])
    assert list(shape) == [2, None, 4]
    assert len(shape) == 3
    assert (shape[0], shape[1], shape[-1], shape[np.int32(2)]) == (2, None, 4, 4)
    assert repr(shape[1:]) == "TensorShape([None, 4])"
    assert repr(shape[::-1]) == "TensorShape([4, None, 2])"
    assert 4 in shape
    assert None in shape
    assert max(TensorShape([2, 3])) == 3
    assert np.zeros(TensorShape([2, 3])).shape == (2, 3)
    assert bool(TensorShape([])) is bool(TensorShape([0])) is True
    assert bool(UNKNOWN) is False
    with pytest.raises(IndexError):
        shape[3]
    with pytest.raises(TypeError):
        shape["a"]


def test_an_unknown_shape_as_a_sequence():
    assert UNKNOWN[0] is UNKNOWN["a"] is None
    assert repr(UNKNOWN[1:3]) == repr(UNKNOWN[:2]) == "TensorShape([None, None])"
    assert repr(UNKNOWN[3:1]) == repr(UNKNOWN[0:0]) == "TensorShape([])"
    for part in (slice(1, None), slice(None, -1), slice(-3, -1), slice(-1, 2), slice(None)):
        assert UNKNOWN[part].rank is None
    with pytest.raises(ValueError, match=r"^Steps are not yet handled$"):
        UNKNOWN[::1]
    with pytest.raises(ValueError, match=r"^Cannot iterate over a shape with unknown rank.$"):
        list(UNKNOWN)
    with pytest.raises(ValueError, match=r"^Cannot take the length of shape with unknown rank.$"):
        len(UNKNOWN)


def test_concatenation():
    two = TensorShape([2])
    for other in ([3], (3,), 3, TensorShape([3]), Dimension(3)):
        assert repr(two + other) == repr(two.concatenate(other)) == "TensorShape([2, 3])"
    for other in ([3], (3,), 3):
        assert repr(other + two) == "TensorShape([3, 2])"
    for unknown in (two + None, None + two, UNKNOWN + two, two + UNKNOWN):
        assert repr(unknown) == "TensorShape(None)"
    with pytest.raises(TypeError, match="Failed to convert"):
        two + "ab"


def test_equality():
    shape = TensorShape([2, 3])
    for same in ((2, 3), [2, 3]):
        assert shape == same
        assert same == shape
    assert shape == np.array([2, 3])
    assert shape == shape.dims
    assert shape != [2, None]
    assert shape != [3]
    assert shape != 1.5
    assert shape != "ab"
    assert shape != None  # noqa: E711
    assert UNKNOWN == None  # noqa: E711
    assert TensorShape(None) == UNKNOWN
    assert TensorShape([2, None]) == [2, None]
    assert TensorShape([2]) == 2
    assert TensorShape([]) == {}
    with pytest.raises(ValueError, match="Dimension -1"):
        _ = shape == [-1]
    assert hash(shape) == hash((2, 3))
    assert hash(UNKNOWN) == hash(None)
    assert {(2, 3): 1}[shape] == 1


@pytest.mark.parametrize("dims", [[2, None], [2, 3], [], None])
def test_copies(dims):
    shape = TensorShape(dims)
    for twin in (pickle.loads(pickle.dumps(shape)), copy.copy(shape), copy.deepcopy(shape)):
        assert twin == shape
        assert type(twin) is TensorShape


def test_compatibility():
    shape = TensorShape([2, 3])
    assert shape.is_compatible_with([2, None])
    assert shape.is_compatible_with(None)
    assert UNKNOWN.is_compatible_with(shape)
    assert not shape.is_compatible_with([3, None])
    assert not shape.is_compatible_with([2])
    shape.assert_is_compatible_with([2, None])
    with pytest.raises(ValueError, match=r"^Shapes \(2, 3\) and \[3, None\] are incompatible$"):
        shape.assert_is_compatible_with([3, None])
    with pytest.raises(ValueError, match=r"^Shape \(2, None\) is not fully defined$"):
        TensorShape([2, None]).assert_is_fully_defined()
    with pytest.raises(ValueError, match=r"^Shape <unknown> is not fully defined$"):
        UNKNOWN.assert_is_fully_defined()


def test_ranks():
    shape = TensorShape([2, 3])
    shape.assert_has_rank(2)
    UNKNOWN.assert_has_rank(3)
    shape.assert_same_rank([1, 2])
    shape.assert_same_rank(None)
    assert shape.with_rank(2) is shape.with_rank_at_least(2) is shape.with_rank_at_most(2) is shape
    assert repr(UNKNOWN.with_rank(2)) == "TensorShape([None, None])"
    assert UNKNOWN.with_rank_at_least(3).rank is UNKNOWN.with_rank_at_most(3).rank is None
    for refused, message in [
        (lambda: shape.assert_has_rank(3), "Shape (2, 3) must have rank 3"),
        (lambda: shape.with_rank(3), "Shape (2, 3) must have rank 3"),
        (lambda: shape.with_rank_at_least(3), "Shape (2, 3) must have rank at least 3"),
        (lambda: shape.with_rank_at_most(1), "Shape (2, 3) must have rank at most 1"),
        (lambda: shape.assert_same_rank([1]), "Shapes (2, 3) and (1,) must have the same rank"),
    ]:
        with pytest.raises(ValueError) as failure:  # noqa: PT011
            refused()
        assert str(failure.value) == message


def test_merging():
    assert TensorShape([2, None]).merge_with([None, 3]) == [2, 3]
    assert TensorShape([2, None]).merge_with(None) == [2, None]
    assert UNKNOWN.merge_with([2]) == [2]
    assert UNKNOWN.merge_with(None).rank is None
    with pytest.raises(ValueError, match=r"^Shapes \(2, 3\) and \(3, 3\) are not compatible$"):
        TensorShape([2, 3]).merge_with([3, 3])
    with pytest.raises(ValueError, match=r"^Shapes \(2, 3\) and \(3,\) are not compatible$"):
        TensorShape([2, 3]).merge_with([3])


def test_what_covers_both():
    shape = TensorShape([2, 3])
    assert shape.most_specific_compatible_shape([2, 4]) == [2, None]
    assert shape.most_specific_compatible_shape([2]).rank is None
    assert shape.most_specific_compatible_shape(None).rank is None
    assert shape.most_specific_common_supertype([TensorShape([2, 4])]) == [2, None]
    assert shape.most_specific_common_supertype([TensorShape([2])]).rank is None
    assert shape.most_specific_common_supertype([]) == shape
    assert shape.most_specific_common_supertype([[2, 3]]) is None
    assert shape.is_subtype_of(TensorShape([2, None]))
    assert shape.is_subtype_of(UNKNOWN)
    assert not TensorShape([2, None]).is_subtype_of(shape)
    assert not UNKNOWN.is_subtype_of(shape)
    assert not shape.is_subtype_of([2, 3])


def test_dimension():
    three, unknown = Dimension(3), Dimension(None)
    assert (repr(three), str(three), repr(unknown), str(unknown)) == (
        "Dimension(3)",
        "3",
        "Dimension(None)",
        "?",
    )
    assert three == 3
    assert three != 4
    assert three < 4 <= Dimension(4)
    assert three > 2
    assert (three == None) is (unknown == None) is (three < unknown) is None  # noqa: E711
    assert int(three) == three.value == 3
    assert range(three) == range(3)
    assert not Dimension(0)
    assert repr([three + 2, 2 + three, three - 2, 7 - three]) == (
        "[Dimension(5), Dimension(5), Dimension(1), Dimension(4)]"
    )
    assert repr([three * 2, 7 // three, Dimension(7) // 2, 7 % three, Dimension(7) % 2]) == (
        "[Dimension(6), Dimension(2), Dimension(3), Dimension(1), Dimension(1)]"
    )
    assert (three * unknown).value is None
    assert three.merge_with(None).value == unknown.merge_with(3).value == 3
    assert not three.is_compatible_with(4)
    assert pickle.loads(pickle.dumps(three)) == 3
    with pytest.raises(ValueError, match=r"^Dimensions 3 and 4 are not compatible$"):
        three.merge_with(4)
    with pytest.raises(TypeError):
        three / 2
    with pytest.raises(TypeError):
        three + "a"
    with pytest.raises(TypeError):
        hash(three)
    with pytest.raises(TypeError):
        int(unknown)


def test_spec():
    spec = TensorSpec([2, None], "float32", "n")
    assert repr(spec) == str(spec) == "TensorSpec(shape=(2, None), dtype=tf.float32, name='n')"
    assert (spec.shape, spec.dtype, spec.name) == (TensorShape([2, None]), dtypes.float32, "n")
    assert repr(TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert repr(TensorSpec(3, np.int32)) == "TensorSpec(shape=(3,), dtype=tf.int32, name=None)"
    assert isinstance(spec, TypeSpec)
    assert spec == TensorSpec([2, None], dtypes.float32, "n")
    assert spec != TensorSpec([2, None], dtypes.float32)
    assert spec != 1
    assert hash(spec) == hash(TensorSpec([2, None]))
    for twin in (pickle.loads(pickle.dumps(spec)), copy.copy(spec), copy.deepcopy(spec)):
        assert twin == spec
    with pytest.raises(AttributeError):
        spec.name = "x"
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`: 'foo'"):
        TensorSpec([2], "foo")


def test_what_fits_a_spec():
    spec = TensorSpec([2, None], dtypes.float32, "n")
    values = np.ones((2, 3), np.float32)
    assert spec.is_compatible_with(Fake(values))
    assert spec.is_compatible_with(TensorSpec([2, 5]))
    assert spec.is_compatible_with(TensorSpec(None))
    for misfit in (Fake(np.ones((3, 3), np.float32)), Fake(np.ones((2, 3))), TensorSpec([3, None])):
        assert not spec.is_compatible_with(misfit)
    # Only tensors: not variables, arrays or numbers, even of that shape.
    for other in (FakeVariable(values), values, [[1.0], [2.0]], None, "s"):
        assert not spec.is_compatible_with(other)


def test_specs_that_cover_others():
    assert TensorSpec([2, 3]).is_subtype_of(TensorSpec([2, None], name="n"))
    assert not TensorSpec([2, 3], name="n").is_subtype_of(TensorSpec([2, None]))
    assert not TensorSpec([2, 3]).is_subtype_of(TensorSpec([2, 4]))
    assert not TensorSpec([2, 3]).is_subtype_of(1)
    spec = TensorSpec([2, 3])
    assert spec.most_specific_common_supertype([TensorSpec([2, 4])]) == TensorSpec([2, None])
    assert spec.most_specific_common_supertype([TensorSpec([2])]) == TensorSpec(None)
    assert spec.most_specific_common_supertype([]) == spec
    assert spec.most_specific_common_supertype([TensorSpec([2, 3], "int32")]) is None
    assert spec.most_specific_common_supertype([TensorSpec([2, 3], name="b")]) is None
    assert spec.most_specific_common_supertype([1]) is None
    named = TensorSpec([2, 3], name="a")
    assert named.most_specific_common_supertype([TensorSpec([2, 4], name="a")]).name == "a"
    assert named.most_specific_common_supertype([TensorSpec([2, 4], name="b")]) is None
    assert spec.most_specific_compatible_type(TensorSpec([2, 4])) == TensorSpec([2, None])
    with pytest.raises(ValueError, match=r"^No TypeSpec is compatible with both TensorSpec"):
        spec.most_specific_compatible_type(1)


def test_spec_of_a_value():
    tensor = Fake(np.ones((2, 3), np.float32))
    assert TensorSpec.from_tensor(tensor, "q") == TensorSpec([2, 3], name="q")
    assert type_spec_from_value(tensor) == TensorSpec([2, 3])
    spec = TensorSpec([2], name="n")
    assert TensorSpec.from_spec(spec) == spec
    assert TensorSpec.from_spec(spec, "z") == TensorSpec([2], name="z")
    for other in (np.ones(2), FakeVariable(np.ones(2))):
        with pytest.raises(ValueError, match=r"^`tensor` should be a tf.Tensor, but got type"):
            TensorSpec.from_tensor(other)


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (1, TensorSpec([], "int32")),
        (1.5, TensorSpec([])),
        ("a", TensorSpec([], "string")),
        ([[1.0, 2], [3, 4]], TensorSpec([2, 2])),
        ((1, 2), TensorSpec([2], "int32")),
        ([], TensorSpec([0])),
        (np.ones((2, 3)), TensorSpec([2, 3], "float64")),
        (np.float32(1), TensorSpec([])),
    ],
)
def test_spec_of_what_could_be_a_tensor(value, spec):
    assert type_spec_from_value(value) == spec


@pytest.mark.parametrize("value", [object(), {"a": 1}, TensorSpec([2])])
def test_no_spec(value):
    with pytest.raises(TypeError, match=r"^Could not build a TypeSpec for .* of unsupported type"):
        type_spec_from_value(value)


class Pair(TypeSpec):
    """A description of one's own."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    value_type = tuple
    _component_specs = ()

    def _serialize(self):
        return self.shape, self.dtype

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components


def test_own_specs():
    pair = Pair([2, 3], "int32")
    assert repr(pair) == "Pair(TensorShape([2, 3]), tf.int32)"
    assert pair == Pair((2, 3), dtypes.int32)
    assert hash(pair) == hash(Pair((2, 3), dtypes.int32))
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert pair.is_compatible_with(Pair([2, None], "int32"))
    assert not pair.is_compatible_with(Pair([2, 3], "int64"))
    assert pair.is_subtype_of(Pair([2, None], "int32"))
    assert pair.most_specific_common_supertype([Pair([2, 4], "int32")]) == Pair([2, None], "int32")
    assert pair.most_specific_common_supertype([TensorSpec([2, 3], "int32")]) is None
    with pytest.raises(TypeError, match="abstract class TypeSpec"):
        TypeSpec()
