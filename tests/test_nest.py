"""Nested structures are opened, made and compared as by TensorFlow 2.21."""

import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtape import nest
from gradtape.framework.shapes import CompositeTensor, TensorShape, TypeSpec

Point = namedtuple("Point", "y x")
Other = namedtuple("Other", "y x")
SamePoint = namedtuple("Point", "y x")


class SubPoint(Point):
    pass


class OwnSequence(Sequence):
    def __init__(self, values):
        self.values = list(values)

    def __getitem__(self, index):
        return self.values[index]

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        return f"OwnSequence({self.values})"


class OwnMapping(Mapping):
    def __init__(self, pairs=()):
        self.pairs = dict(pairs)

    def __getitem__(self, key):
        return self.pairs[key]

    def __iter__(self):
        return iter(self.pairs)

    def __len__(self):
        return len(self.pairs)

    def __repr__(self):
        return f"{type(self).__name__}({self.pairs})"


class OwnMutableMapping(OwnMapping, MutableMapping):
    def __init__(self):
        super().__init__()

    def __setitem__(self, key, value):
        self.pairs[key] = value

    def __delitem__(self, key):
        del self.pairs[key]


class Attrs:
    """What `attr.s` leaves on a class."""

    __attrs_attrs__ = (types.SimpleNamespace(name="b"), types.SimpleNamespace(name="a"))

    def __init__(self, b, a):
        self.b, self.a = b, a

    def __repr__(self):
        return f"Attrs(b={self.b}, a={self.a})"


@dataclass
class Plain:
    a: int


@dataclass
class Own:
    a: object
    b: object

    def __tf_flatten__(self):
        return (self.b,), (self.a,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, *metadata)


class List(list):
    pass


class Tuple(tuple):
    pass


class Slices(CompositeTensor):
    def __init__(self, values, indices):
        self.values, self.indices = values, indices

    @property
    def _type_spec(self):
        return SlicesSpec()


class SlicesSpec(TypeSpec):
    value_type = Slices
    _component_specs = ()

    def _serialize(self):
        return ()

    def _to_components(self, value):
        return value.values, value.indices

    def _from_components(self, components):
        return Slices(*components)


def mutable(**pairs):
    mapping = OwnMutableMapping()
    mapping.update(pairs)
    return mapping


ARRAY = np.arange(3)

STRUCTURES = [
    # structure, leaves, the structure with the leaves 10, 11, … as Python prints it
    ([], [], "[]"),
    ((), [], "()"),
    ({}, [], "{}"),
    ([1, [2, (3,)], {"b": 4, "a": 5}], [1, 2, 3, 5, 4], "[10, [11, (12,)], {'b': 14, 'a': 13}]"),
    ([[], 1], [1], "[[], 10]"),
    ({"b": 1, "a": 2}, [2, 1], "{'b': 11, 'a': 10}"),
    ({2: 1, 1: 2}, [2, 1], "{2: 11, 1: 10}"),
    ({(1, 2): 1, (0, 1): 2}, [2, 1], "{(1, 2): 11, (0, 1): 10}"),
    (defaultdict(int, b=1, a=2), [2, 1], "defaultdict(<class 'int'>, {'b': 11, 'a': 10})"),
    (Point(1, 2), [1, 2], "Point(y=10, x=11)"),
    (SubPoint(1, 2), [1, 2], "SubPoint(y=10, x=11)"),
    (range(2), [0, 1], "[10, 11]"),
    (deque([1, 2]), [1, 2], "deque([10, 11])"),
    (bytearray(b"ab"), [97, 98], r"bytearray(b'\n\x0b')"),
    ({"b": 1, "a": 2}.keys(), ["b", "a"], "[10, 11]"),
    ({"b": 1, "a": 2}.values(), [1, 2], "[10, 11]"),
    ({"b": 1, "a": 2}.items(), ["b", 1, "a", 2], "[(10, 11), (12, 13)]"),
    (OwnSequence([1, [2]]), [1, 2], "OwnSequence([10, [11]])"),
    (OwnMapping({"b": 1, "a": 2}), [2, 1], "OwnMapping({'b': 11, 'a': 10})"),
    (mutable(b=1, a=2), [2, 1], "OwnMutableMapping({'b': 11, 'a': 10})"),
    (Attrs(1, [2, 3]), [1, 2, 3], "Attrs(b=10, a=[11, 12])"),
    (Own(1, 2), [1], "Own(a=10, b=2)"),
    ([Own([1, 2], 3), 4], [1, 2, 4], "[Own(a=[10, 11], b=3), 12]"),
]


@pytest.mark.parametrize(("structure", "leaves", "packed"), STRUCTURES)
def test_structures(structure, leaves, packed):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == leaves
    new = nest.pack_sequence_as(structure, list(range(10, 10 + len(leaves))))
    assert repr(new) == packed
    assert [leaf for _, leaf in nest.flatten_with_paths(structure)] == leaves


@pytest.mark.parametrize(
    "leaf",
    [
        *(1, None, "abc", b"abc", ARRAY, {1, 2}, frozenset({1}), TensorShape([1, 2])),
        *(Plain(1), Own, Point, types.SimpleNamespace(a=1), iter([1])),
    ],
)
def test_leaves(leaf):
    assert not nest.is_nested(leaf)
    (only,) = nest.flatten(leaf)
    assert only is leaf
    assert nest.pack_sequence_as(leaf, ["new"]) == "new"
    assert nest.flatten([leaf, [leaf]])[1] is leaf


def test_ordered_dict():
    new = nest.pack_sequence_as(OrderedDict([("b", 1), ("a", 2)]), [3, 4])
    assert type(new) is OrderedDict
    assert list(new.items()) == [("b", 4), ("a", 3)]


def test_subclasses_are_kept():
    assert type(nest.pack_sequence_as(List([1, 2]), [3, 4])) is List
    assert type(nest.pack_sequence_as(Tuple([1, 2]), [3, 4])) is Tuple


def test_paths():
    structure = {"b": [1, Point(2, 3)], "a": Attrs(4, 5)}
    assert list(nest.flatten_with_paths(structure)) == [
        (("a", "b"), 4),
        (("a", "a"), 5),
        (("b", 0), 1),
        (("b", 1, "y"), 2),
        (("b", 1, "x"), 3),
    ]


nested = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner).map(lambda pair: Point(*pair))
    ),
)


@given(nested)
def test_packing_undoes_flattening(structure):
    leaves = nest.flatten(structure)
    assert not any(nest.is_nested(leaf) for leaf in leaves)
    packed = nest.pack_sequence_as(structure, leaves)
    assert packed == structure
    nest.assert_same_structure(structure, packed)


def test_keys_must_sort():
    for call in (nest.flatten, lambda s: nest.pack_sequence_as(s, [1, 2])):
        with pytest.raises(TypeError):
            call({2: 1, "a": 2})


def test_packing_errors():
    with pytest.raises(ValueError) as failure:  # noqa: PT011
        nest.pack_sequence_as([1, 2], [3])
    assert str(failure.value) == (
        "Could not pack sequence. Structure had 2 atoms, but flat_sequence had 1 items.  "
        "Structure: [1, 2], flat_sequence: [3]."
    )
    with pytest.raises(ValueError, match="had 2 atoms, but flat_sequence had 3 items"):
        nest.pack_sequence_as([1, 2], [3, 4, 5])
    with pytest.raises(ValueError, match="had 0 atoms, but flat_sequence had 1 items"):
        nest.pack_sequence_as([], [1])
    with pytest.raises(ValueError) as failure:  # noqa: PT011
        nest.pack_sequence_as("a" * 101, [2, 3])
    assert str(failure.value) == (
        f"The target structure is of type `<class 'str'>`\n  {'a' * 100}...\n"
        "However the input is a sequence (<class 'list'>) of length 2.\n  [2, 3]\n"
        "nest cannot guarantee that it is safe to map one to the other."
    )
    with pytest.raises(TypeError) as failure:
        nest.pack_sequence_as([1, 2], 5)
    assert str(failure.value) == (
        "Attempted to pack value:\n  5\ninto a structure, but found incompatible type "
        "`<class 'int'>` instead."
    )
    for flat in (ARRAY, "ab", iter([3, 4])):
        with pytest.raises(TypeError, match="Attempted to pack value"):
            nest.pack_sequence_as([1, 2], flat)
    with pytest.raises(KeyError):
        nest.pack_sequence_as([1, 2], {"a": 1})
    with pytest.raises(TypeError, match="Error creating an object of type <class 'mappingproxy'>"):
        nest.pack_sequence_as(types.MappingProxyType({"a": 1}), [1])


def test_what_may_be_packed():
    assert nest.pack_sequence_as([1, 2], (3, 4)) == [3, 4]
    assert nest.pack_sequence_as([1, (2,)], deque([3, 4])) == [3, (4,)]
    assert nest.pack_sequence_as([1, 2], [[3], None]) == [[3], None]
    assert nest.pack_sequence_as(1, (2,)) == 2
    assert nest.pack_sequence_as(1, [[2]]) == [2]
    flat = [3, 4]
    assert nest.pack_sequence_as([1, 2], flat) is not flat


def test_map():
    assert nest.map_structure(lambda a: a + 1, [1, (2, {"a": 3})]) == [2, (3, {"a": 4})]
    assert nest.map_structure(lambda a: a, None) is None
    assert nest.map_structure(lambda a: [a], (1, 2)) == ([1], [2])
    assert nest.map_structure(lambda a, b: a + b, 1, 2) == 3
    assert nest.map_structure(lambda a, b: (a, b), {"a": 1, "b": 2}, OrderedDict(b=3, a=4)) == {
        "a": (1, 4),
        "b": (2, 3),
    }
    assert nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4), check_types=False) == [4, 6]
    assert nest.map_structure(lambda *a: a, {"a": 1}, {"a": 2}, {"a": 3}) == {"a": (1, 2, 3)}
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4))
    with pytest.raises(ValueError, match="don't have the same number of elements"):
        nest.map_structure(lambda a, b, c: a, [1], [2], [3, 4])
    with pytest.raises(ValueError, match=r"^Must provide at least one structure$"):
        nest.map_structure(lambda: 0)
    with pytest.raises(TypeError, match=r"^func must be callable, got: 1$"):
        nest.map_structure(1, [1])
    with pytest.raises(ValueError, match=r"and `expand_composites`, not: `foo`, `bar`$"):
        nest.map_structure(lambda a: a, [1], foo=1, bar=2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 2),
        (None, 1),
        (1, "abc"),
        ([1], [2]),
        ([1], List([2])),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, defaultdict(int, a=1)),
        ({"a": 1}, OwnMapping({"a": 1})),
        (Point(1, 2), SamePoint(1, 2)),
        (Own(1, 2), Own(3, 4)),
        (Attrs(1, 2), Attrs(3, 4)),
        ({"a": 1}.keys(), {"a": 1}.keys()),
        (Tuple([1]), Tuple([1])),
    ],
)
def test_same_structure(first, second):
    nest.assert_same_structure(first, second)
    nest.assert_same_structure(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1], (1,)),
        ([], ()),
        ((1,), Tuple([1])),
        (Point(1, 2), (1, 2)),
        (Point(1, 2), Other(1, 2)),
        (Point(1, 2), SubPoint(1, 2)),
        ({"a": 1}, [1]),
        ([0, 1], range(2)),
        (deque([1]), [1]),
        ({"a": 1}.keys(), [1]),
        (Attrs(1, 2), [1, 2]),
        (Own(1, 2), [1]),
    ],
)
def test_other_types_of_container(first, second):
    for one, two in ((first, second), (second, first)):
        with pytest.raises(TypeError, match="don't have the same sequence type"):
            nest.assert_same_structure(one, two)
        nest.assert_same_structure(one, two, check_types=False)


def test_other_structure():
    with pytest.raises(ValueError) as failure:  # noqa: PT011
        nest.assert_same_structure([1, [2]], [1, 2])
    assert str(failure.value) == (
        "The two structures don't have the same nested structure.\n\n"
        "First structure: type=list str=[1, [2]]\n\n"
        "Second structure: type=list str=[1, 2]\n\n"
        'More specifically: Substructure "type=list str=[2]" is a sequence, '
        'while substructure "type=int str=2" is not\n'
        "Entire first structure:\n[., [.]]\n"
        "Entire second structure:\n[., .]"
    )
    with pytest.raises(ValueError) as failure:  # noqa: PT011
        nest.assert_same_structure({"a": 1}, {"a": 1, "b": 2})
    assert (
        "More specifically: The two dictionaries don't have the same set of keys. First structure "
        "has keys type=list str=['a'], while second structure has keys type=list str=['a', 'b']\n"
    ) in str(failure.value)
    nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)
    with pytest.raises(ValueError, match="number of elements"):
        nest.assert_same_structure({"a": 1}, {"a": 1, "b": 2}, check_types=False)
    with pytest.raises(ValueError, match=r"First structure: type=list str=\[2\]. Second structure"):
        nest.assert_same_structure([1, [2]], [1, [2, 3]])
    with pytest.raises(ValueError, match=r'"type=list str=\[0, 1\]" is a sequence'):
        nest.assert_same_structure([0, 1], np.array([0, 1]))


def test_composites():
    slices = Slices("values", "indices")
    assert nest.flatten([slices, 1]) == [slices, 1]
    assert nest.flatten([slices, 1], expand_composites=True) == ["values", "indices", 1]
    new = nest.map_structure(str.upper, [slices], expand_composites=True)
    assert (new[0].values, new[0].indices) == ("VALUES", "INDICES")
    assert list(nest.flatten_with_paths([slices], expand_composites=True)) == [
        ((0, "Slices", 0), "values"),
        ((0, "Slices", 1), "indices"),
    ]
    nest.assert_same_structure([slices], [Slices(1, 2)], expand_composites=True)
    nest.assert_same_structure([slices], [1])
    with pytest.raises(ValueError, match="is a sequence"):
        nest.assert_same_structure([slices], [1], expand_composites=True)
