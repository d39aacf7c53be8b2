"""TensorFlow's rules of calling: the numbers and words here are what TensorFlow 2.21 answers."""

from __future__ import annotations

import collections
import dataclasses
import functools
import types
import weakref
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.concrete import ConcreteSignature
from gradtape.compile.signature import Signature, why
from gradtape.compile.traces import Traces, printed
from tests.collecting import collect

Point = collections.namedtuple("Point", "x y")
SPEC = tf.TensorSpec([None], tf.float32)


@dataclasses.dataclass
class Plain:
    x: int


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


class Thing:
    pass


class Attributes:
    """What the decorator of `attrs` leaves behind."""

    __attrs_attrs__ = (types.SimpleNamespace(name="a"), types.SimpleNamespace(name="b"))

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


class Own:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __tf_flatten__(self) -> Any:
        return (self.a,), (self.b,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, parts: Any) -> Own:
        return cls(metadata[0], parts[0])


def counts(values: list[Any], **options: Any) -> list[int]:
    """How many traces there are after each call with one argument."""
    signature = Signature(lambda x: x, **options)
    traces = Traces(signature)
    found = []
    for value in values:
        traces.of(signature.bind((value,), {}))
        found.append(len(traces))
    return found


def ragged(rows: list[Any], dtype: Any = tf.int32) -> Any:
    return tf.ragged.constant(rows, dtype=dtype)


def slices(*dense: Any) -> Any:
    return tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1]), *dense)


THING, OTHER, FROZEN = Thing(), Thing(), [Frozen(1), Frozen(1), Frozen(2)]
V, W, VECTOR, FIXED = (
    tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0]), tf.Variable(1.0, trainable=False)
)  # fmt: skip
DOUBLE = lambda x: x + x


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 1.0, True, 2], [1, 1, 1, 2]),
        ([0, False, -0.0, 0j], [1, 1, 1, 1]),
        ([float("nan"), float("nan"), np.nan, 1.0], [1, 1, 1, 2]),
        (["a", b"a", "a", "b"], [1, 2, 2, 3]),
        ([np.float32(1), np.float32(2), np.float64(2), np.int64(2)], [1, 1, 2, 3]),
        ([np.str_("a"), "a", np.str_("b")], [1, 1, 2]),
        ([np.zeros(2), tf.zeros(2, tf.float64), np.zeros(3)], [1, 1, 2]),
        ([tf.zeros(2), tf.ones(2), tf.zeros([2, 1]), tf.zeros(2, tf.int32)], [1, 1, 2, 3]),
        ([[1, 2], [1, 2], (1, 2), [1, 3]], [1, 1, 2, 3]),
        ([[tf.zeros(2)], [tf.ones(2)], (tf.ones(2),), [np.zeros(2, "f4")]], [1, 1, 2, 2]),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}, collections.OrderedDict(a=1, b=2)], [1, 1, 1]),
        ([Point(1, 2), (1, 2), collections.namedtuple("Point", "x y")(1, 2)], [1, 2, 2]),
        ([Attributes(1, tf.zeros(1)), Attributes(1, tf.ones(1)), Attributes(2, 0)], [1, 1, 2]),
        ([Own([1], tf.zeros(1)), Own([1], tf.ones(1)), Own([2], tf.ones(1))], [1, 1, 2]),
        ([range(3), range(3), [0, 1, 2], range(4)], [1, 1, 2, 3]),
        (FROZEN, [1, 1, 2]),
        ([THING, OTHER, THING], [1, 2, 2]),
        ([None, None, 0], [1, 1, 2]),
        ([tf.float32, tf.float32, tf.int32], [1, 1, 2]),
        ([tf.TensorShape([1]), tf.TensorShape([1]), tf.TensorShape([None])], [1, 1, 2]),
        ([int, int, float, ...], [1, 1, 2, 3]),
        ([DOUBLE, DOUBLE, lambda x: x], [1, 1, 2]),
        ([V, W, VECTOR, FIXED, V], [1, 1, 2, 3, 3]),
        ([(V, W), (W, V), (V, V), (W, W)], [1, 1, 2, 2]),
        ([V, tf.constant(1.0)], [1, 2]),
        ([ragged([[1], [2, 3]]), ragged([[1, 1], [2, 3]]), ragged([[1], [2], [3]])], [1, 1, 2]),
        ([ragged([[1]]), ragged([[1.0]], tf.float32)], [1, 2]),
        ([tf.sparse.from_dense(m) for m in ([[1, 0]], [[1, 1]], [[1, 1, 2]])], [1, 1, 2]),
        ([slices(), slices(), slices(tf.constant([4, 3]))], [1, 1, 2]),
    ],
)  # fmt: skip
def test_what_is_traced_anew(values: list[Any], expected: list[int]) -> None:
    assert counts(values) == expected


def test_fewer_traces_by_wider_shapes() -> None:
    shapes = [[2], [3], [4], [2], [2, 2], [3, 2], []]
    wide = counts([*map(tf.zeros, shapes), tf.zeros(2, tf.float64)], reduce_retracing=True)
    assert wide == [1, 2, 2, 2, 3, 3, 3, 4]
    sizes = [(2, 1), (3, 2), (4, 1), (5, 2), (6, 2)]
    assert counts([(tf.zeros(n), k) for n, k in sizes], reduce_retracing=True) == [1, 2, 3, 4, 4]


def test_a_trace_for_a_spec_serves_what_it_covers() -> None:
    signature = Signature(lambda x: x)
    traces = Traces(signature)
    wide = traces.of(signature.bind((SPEC,), {}, specs=True))
    assert traces.of(signature.bind((tf.zeros(2),), {})) is wide
    assert traces.of(signature.bind((tf.zeros([]),), {})) is not wide
    named = signature.bind((tf.TensorSpec([2], tf.float32, "n"),), {}, specs=True)
    assert traces.of(named) is not wide
    assert len(traces) == 3


def test_the_key_has_all_sizes_and_the_variables() -> None:
    signature = Signature(lambda x: x)
    keys = [signature.bind((x,), {}).key for x in (ragged([[1], [2, 3]]), ragged([[1], [2]]))]
    assert keys[0] != keys[1]
    bound = [signature.bind((x,), {}) for x in (V, W, V)]
    assert bound[0].key == bound[2].key != bound[1].key
    assert bound[0].variables == [V]
    assert bound[0].leaves == []
    constrained = Signature(lambda x: x, [SPEC])
    assert constrained.bind((tf.zeros(2),), {}).key != constrained.bind((tf.zeros(3),), {}).key


def test_a_call_is_the_same_however_it_is_written() -> None:
    signature, x = Signature(lambda x, y=2, *, z=3: x), tf.constant(1.0)
    calls: list[Any] = [
        ((x,), {}), ((x, 2), {}), ((), {"x": x}), ((), {"y": 2, "x": x}), ((x,), {"z": 3}),
    ]  # fmt: skip
    assert len({signature.bind(*call).key for call in calls}) == 1
    assert signature.bind((x, 3), {}).key == signature.bind((x,), {"y": 3}).key
    args, kwargs = signature.bind((x,), {}).rebuild(["new"])
    assert (args, kwargs) == (("new", 2), {"z": 3})


def test_arguments_are_made_again_around_their_tensors() -> None:
    def many(a: Any, b: Any = None, *rest: Any, k: Any = 5, **more: Any) -> None: ...

    t = tf.constant
    signature = Signature(many)
    bound = signature.bind(
        (t(1), [t(2), None], {"q": (t(4), np.float32(5)), "p": t(3)}, Point(t(6), 7)),
        {"zz": np.ones(2), "aa": None, "k": t(8)},
    )
    assert [leaf.numpy().tolist() for leaf in bound.leaves] == [1, 2, 3, 4, 5, 6, 8, [1, 1]]
    assert all(isinstance(leaf, tf.Tensor) for leaf in bound.leaves)
    args, kwargs = bound.rebuild("abcdefgh")
    assert args == ("a", ["b", None], {"q": ("d", "e"), "p": "c"}, Point("f", 7))
    assert list(args[2]) == ["q", "p"]
    assert kwargs == {"aa": None, "k": "g", "zz": "h"}


def test_containers_come_as_tensorflow_hands_them_to_the_function() -> None:
    signature = Signature(lambda x: x)

    def again(value: Any) -> Any:
        bound = signature.bind((value,), {})
        return bound.rebuild(bound.leaves)[0][0]

    assert again(range(3)) == [0, 1, 2]
    assert type(again(collections.defaultdict(int, a=1))) is dict
    assert type(again(collections.OrderedDict(a=1))) is collections.OrderedDict
    assert again(Attributes(1, 2)).b == 2
    assert again(Own(1, 2)).a == 1
    assert again(ragged([[1], [2, 3]])).to_list() == [[1], [2, 3]]
    assert again(V) is V
    decorated = functools.wraps(DOUBLE)(lambda x: DOUBLE(x))
    assert again(decorated) is DOUBLE
    compiled = tf.function(DOUBLE)
    assert again(compiled) is compiled


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1}, "Could not generate a generic TraceType for {1}.Please verify that it is"),
        ([{1}], "Could not generate a generic TraceType for {1}."),
        (Plain(1), "Could not generate a generic TraceType for Plain(x=1)."),
        (weakref.ref(THING), "not supported for tf.function"),
        ({"a": 1, 2: 3}, "'<' not supported between instances of 'int' and 'str'"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(value: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Signature(lambda x: x).bind((value,), {})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "`missing a required argument: 'x'`. Received args: () and kwargs: {} for"),
        ((1, 2, 3), {}, "`too many positional arguments`. Received args: (1, 2, 3) and kwargs: {}"),
        ((1,), {"q": 1}, "`got an unexpected keyword argument 'q'`."),
        ((1,), {"x": 1}, "`multiple values for argument 'x'`."),
    ],
)
def test_arguments_that_do_not_fit(args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Signature(lambda x, y=2, *, z=3: x).bind(args, kwargs)
    text = str(raised.value)
    assert text.startswith(f"Binding inputs to tf.function failed due to {message}")
    shown = "(x, y=<captured_default_value>, *, z=<captured_default_value>)."
    assert text.endswith(f"for signature: {shown}")


def test_names_are_sanitized() -> None:
    with pytest.raises(TypeError, match="missing a required argument: '_x'"):
        Signature(lambda _x: _x).bind((), {"_x": 1})
    everything = Signature(lambda **named: named)
    assert everything.bind((), {"_x": 1}).rebuild([]) == ((), {"arg__x": 1})
    with pytest.raises(ValueError, match="Name collision after sanitization"):
        everything.bind((), {"a-b": 1, "a_b": 2})


def test_a_spec_is_a_leaf_without_numbers() -> None:
    signature = Signature(lambda x, y: x)
    bound = signature.bind((SPEC, tf.zeros(2)), {}, specs=True)
    assert bound.abstract
    assert bound.leaves[0] is SPEC
    with pytest.raises(ValueError, match=r"Attempt to convert a value .TensorSpec"):
        signature.bind((SPEC, tf.zeros(2)), {})


# --- input_signature ------------------------------------------------------------------------------
def test_values_for_an_input_signature_become_tensors() -> None:
    signature = Signature(lambda x: x, [SPEC])
    traces = Traces(signature)
    for value in (tf.zeros(2), [1.0, 2.0], [1, 2], np.zeros(2), tf.Variable([1.0])):
        bound = signature.bind((value,), {})
        assert isinstance(bound.leaves[0], tf.Tensor)
        assert bound.leaves[0].dtype == tf.float32
        traces.of(bound)
    assert len(traces) == 1
    assert signature.bind((), {}, specs=True).leaves == [SPEC]
    assert signature.bind((tf.TensorSpec([2]),), {}, specs=True).leaves == [SPEC]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (tf.zeros(2, tf.float64), "Can not cast TensorSpec(shape=(2,), dtype=tf.float64, name="),
        (tf.zeros([]), "Can not cast TensorSpec(shape=(), dtype=tf.float32, name=None) to Tens"),
        (1.0, "Can not cast TensorSpec(shape=(), dtype=tf.float32, name=None) to TensorSpec(sh"),
        (None, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>"),
        ("a", "Cannot convert 'a' to EagerTensor of dtype float"),
    ],
)
def test_what_an_input_signature_refuses(value: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Signature(lambda x: x, [SPEC]).bind((value,), {})
    text = str(raised.value)
    assert text.startswith(f"Binding inputs to tf.function failed due to `{message}")
    assert text.endswith("(x: TensorSpec(shape=(None,), dtype=tf.float32, name=None)).")


SCALAR = tf.TensorSpec([])


def _named_only(x: Any, *, z: Any) -> Any: ...


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (lambda x, y: x, [SCALAR], "input_signature missing type constraint for y"),
        (lambda x: x, [SCALAR] * 2, "input_signature contains 1 extra type constraints."),
        (_named_only, [SCALAR] * 2, "keyword-only parameter `z` must have a default value"),
        (lambda x: x, [1], "got invalid args [1] with types [<class 'int'>]."),
        (lambda x: x, {"x": SCALAR}, "must be either a tuple or a list, got <class 'dict'>."),
    ],
)
def test_an_input_signature_that_does_not_fit(function: Any, given: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Signature(function, given)
    assert message in str(raised.value)


def test_beside_an_input_signature_defaults_are_fixed() -> None:
    signature = Signature(lambda x, y=3: x, [SCALAR])
    for call in (((1,), {}), ((1.5,), {}), ((1, 3), {}), ((1,), {"y": 3.0})):
        assert signature.bind(*call).leaves[0].dtype == tf.float32
    with pytest.raises(TypeError, match=r"due to `Can not cast 4 to Literal\[3\]`"):
        signature.bind((1, 4), {})


def test_nested_and_starred_input_signatures() -> None:
    nested = Signature(lambda d: d, [{"a": SCALAR, "b": [SCALAR]}])
    assert len(nested.bind(({"a": 1.0, "b": [2]},), {}).leaves) == 2
    for value, message in (
        ({"a": 1.0, "b": (2,)}, "Can not cast (2,) to list type."),
        ({"a": 1.0}, "{'a': 1.0} has different keys with the TraceType Dict[['a', TensorSpec(s"),
        (1.0, "Can not cast 1.0 to a Dict type."),
    ):
        with pytest.raises(TypeError) as raised:
            nested.bind((value,), {})
        assert f"due to `{message}" in str(raised.value)
    starred = Signature(lambda *a: a, [SCALAR] * 2)
    assert starred.bind((1.0, 2.0), {}).key[0] == ("a_0", "a_1")
    with pytest.raises(TypeError, match="missing a required argument: 'a_1'"):
        starred.bind((1.0,), {})
    rows = Signature(lambda r: r, [tf.RaggedTensorSpec([None, None], tf.int32)])
    assert len(rows.bind((ragged([[1], [2, 3]]),), {}).leaves) == 2
    with pytest.raises(TypeError, match=r"Binding inputs to tf\.function failed"):
        rows.bind((tf.constant([[1]]),), {})


# --- kinds of functions ---------------------------------------------------------------------------
def test_methods_partials_and_callable_objects() -> None:
    class Model:
        def step(self, x: Any) -> Any: ...

        def __call__(self, x: Any, y: Any = 1) -> Any: ...

    model = Model()
    assert Signature(model.step).bind((1,), {}).key[0] == ("x",)
    assert Signature(model).bind((1,), {}).key[0] == ("x", "y")
    partial = Signature(functools.partial(lambda a, b, c=1: a, 1, c=5))
    assert partial.bind((2,), {}).rebuild([]) == ((2,), {"c": 5})
    unbound = Signature(Model.step)
    one, other = (unbound.bind((m, 1), {}).key for m in (model, Model()))
    assert one != other
    with pytest.raises(TypeError, match="3 is not a callable object"):
        Signature(3)  # type: ignore[arg-type]


def test_a_key_keeps_no_object_alive() -> None:
    signature, thing = Signature(lambda x: x), Thing()
    key, gone = signature.bind(([thing],), {}).key, weakref.ref(thing)
    del thing
    collect()
    assert gone() is None
    assert signature.bind(([Thing()],), {}).key != key


# --- what is said of them -------------------------------------------------------------------------
def test_the_structured_signature() -> None:
    x, signature = tf.constant(1.0), Signature(lambda p, v, d, *r, k=1, **m: p)
    bound = signature.bind((Point(x, 1), V, {"b": x, "a": "s"}, [x, None]), {"z": x, "k": THING})
    args, kwargs = bound.specs
    assert repr(args) == (
        "(Point(x=TensorSpec(shape=(), dtype=tf.float32, name='p_x'), y=1), "
        "VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0), "
        "{'b': TensorSpec(shape=(), dtype=tf.float32, name='d_b'), 'a': 's'}, "
        "[TensorSpec(shape=(), dtype=tf.float32, name='r_0_0'), None])"
    )
    assert list(kwargs) == ["k", "z"]
    assert type(kwargs["k"]).__name__ == "UnknownArgument"
    named = Signature(lambda x: x, [tf.TensorSpec(None, tf.float32, "inp")])
    assert repr(named.bind((1,), {}).specs) == (
        "((TensorSpec(shape=<unknown>, dtype=tf.float32, name='inp'),), {})"
    )


def test_signatures_are_printed_as_tensorflow_prints_them() -> None:
    def many(a: Any, b: Any = None, *rest: Any, k: Any = 5, **more: Any) -> None: ...

    x, signature = tf.constant(1.0), Signature(many)
    bound = signature.bind((x, (x, x), 7, "s"), {"k": tf.zeros([2, 3]), "zz": {"q": x}, "aa": None})
    scalar = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    outputs = (x, {"q": None})
    assert printed(signature, bound.trace, outputs) == "\n".join(
        [
            "Input Parameters:",
            f"  a (POSITIONAL_ONLY): {scalar}",
            f"  b (POSITIONAL_ONLY): Tuple[{scalar}, {scalar}]",
            "  rest_0 (POSITIONAL_ONLY): Literal[7]",
            "  rest_1 (POSITIONAL_ONLY): Literal['s']",
            "  k (KEYWORD_ONLY): TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)",
            "  aa (KEYWORD_ONLY): Literal[None]",
            f"  zz (KEYWORD_ONLY): Dict[['q', {scalar}]]",
            "Output Type:",
            f"  Tuple[{scalar}, Dict[['q', Literal[None]]]]",
            "Captures:",
            "  None",
        ]
    )
    assert printed(signature, bound.trace, x, verbose=False) == (
        f"(a: {scalar}, b: Tuple[{scalar}, {scalar}], rest_0: Literal[7], rest_1: Literal['s'], /, "
        "*, k: TensorSpec(shape=(2, 3), dtype=tf.float32, name=None), aa: Literal[None], "
        f"zz: Dict[['q', {scalar}]]) -> {scalar}"
    )
    plain = Signature(lambda x, *, c=5: x)
    assert printed(plain, plain.bind((x,), {}).trace, x, verbose=False) == (
        f"(x: {scalar}, *, c: Literal[5]) -> {scalar}"
    )
    captured = printed(plain, plain.bind((x,), {}).trace, x, [V])
    assert captured.endswith(f"  {id(V)}: TensorSpec(shape=(), dtype=tf.resource, name=None)")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (tf.zeros(2), tf.zeros(3), "argument `x`: shape (3,) instead of (2,)"),
        (tf.zeros(2), tf.zeros(2, tf.int32), "argument `x`: dtype int32 instead of float32"),
        (1, 2, "argument `x`: 2 instead of 1"),
        (tf.zeros(2), 2, "argument `x`: 2 instead of a tensor of shape (2,) and dtype float32"),
        ([1, {"a": 2}], [1, {"a": 3}], "argument `x[1]['a']`: 3 instead of 2"),
        (Point(1, 2), Point(3, 2), "argument `x.x`: 3 instead of 1"),
        ([1], [1, 2], "argument `x`: a list of 2 instead of a list of 1"),
        (THING, OTHER, "argument `x`: another Thing"),
        (V, W, "argument `x`: another variable"),
        (V, VECTOR, "argument `x`: shape (1,) instead of ()"),
        (V, FIXED, "argument `x`: not trainable"),
        (ragged([[1]]), ragged([[1, 2]]), "argument `x[0]`: shape (2,) instead of (1,)"),
        (1, 1.0, "the arguments are the same"),
    ],
)
def test_why_a_call_is_recorded_anew(old: Any, new: Any, said: str) -> None:
    signature = Signature(lambda x: x)
    assert why(signature.bind((old,), {}).key, signature.bind((new,), {}).key) == said


def test_why_with_other_names() -> None:
    signature = Signature(lambda *a, **k: a)
    one, two = signature.bind((1,), {}), signature.bind((), {"q": 2})
    assert why(one.key, two.key) == "argument `q`: is given; argument `a_0`: is not given any more"


# --- concrete functions ---------------------------------------------------------------------------
def concrete(function: Any, *args: Any) -> ConcreteSignature:
    signature = Signature(function)
    bound = signature.bind(args, {}, specs=True)
    return ConcreteSignature(signature, bound, bound.trace, "__inference_f_7")


def test_a_concrete_function_takes_its_arguments_or_its_tensors() -> None:
    taken = concrete(lambda x, n=2: x, SPEC)
    x = tf.zeros(2)
    calls: list[Any] = [((x,), {}), ((), {"x": x}), ((x, 2), {}), ((x,), {"n": 2})]
    for call in calls:
        bound = taken.bind(*call)
        assert bound.leaves[0] is x
        assert bound.rebuild(bound.leaves) == ((x, 2), {})
    nested = concrete(lambda d: d, {"a": SCALAR, "b": SCALAR})
    one = tf.constant(1.0)
    assert nested.keywords == ["d", "d_1"]
    for args, kwargs in (
        ((one, one), {}),
        ((), {"d": one, "d_1": one}),
        (({"a": 1, "b": one},), {}),
    ):
        assert len(nested.bind(args, kwargs).leaves) == 2


@pytest.mark.parametrize(
    ("args", "kwargs", "first", "second"),
    [
        (
            ([1.0],), {}, "missing a required argument: 'n'",
            "f(x): expected argument #0(zero-based) to be a Tensor; got list ([1.0]).",
        ),
        (
            (tf.zeros(2), 3), {}, "Can not cast 3 to Literal[2]",
            "f(x) takes 1 positional arguments, got 2.",
        ),
        ((), {}, "missing a required argument: 'x'", "f(x) missing required arguments: x."),
        (
            (tf.zeros(2),), {"q": 3}, "missing a required argument: 'n'",
            "f(x) got unexpected keyword arguments: q.",
        ),
    ],
)  # fmt: skip
def test_what_a_concrete_function_refuses(args: Any, kwargs: Any, first: str, second: str) -> None:
    taken = concrete(lambda x, n=2: x, SPEC)
    taken.returned(tf.zeros(2))
    with pytest.raises(TypeError) as raised:
        taken.bind(args, kwargs)
    line, fallback = str(raised.value).split("\n")
    assert line.startswith(f"Binding inputs to tf.function failed due to `{first}`.")
    assert line.endswith(" -> TensorSpec(shape=(2,), dtype=tf.float32, name=None).")
    assert fallback == f"Fallback to flat signature also failed due to: {second}"


def test_a_tensor_of_another_dtype_is_seen_when_it_runs() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        concrete(lambda x, n=2: x, SPEC).bind((tf.zeros(2, tf.int32),), {})
    said = (
        "cannot compute __inference_f_7 as input #0(zero-based) was expected to be a float tensor"
    )
    assert f"{said} but is a int32 tensor [Op:__inference_f_7]" in str(raised.value)
