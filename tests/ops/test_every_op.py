"""Every declared op, whoever declared it: forward, both modes of derivative, shapes, dtypes.

Nothing is written per op: operands come from its declaration, truth from finite differences.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.op import Op
from gradtape.ops.reasons import Reason
from tests.tensorflow.api.record import OPS as LABELS

from .samples import CASES, OPS, as_kind, is_float, samples

STEP = 1e-5


def every(cases: list[tuple[str, int]]) -> Callable[[Callable[[str, int], None]], Any]:
    """One test for each op with its samples: most of a short test's time is pytest's.

    That is the first of them and one more, which is another one in another test, and with `--all`
    every one. A failure tells the sample; what a sample skips, the others still do.
    """
    numbers: dict[str, list[int]] = {}
    for name, k in cases:
        numbers.setdefault(name, []).append(k)

    def decorate(test: Callable[[str, int], None]) -> Any:
        def together(name: str, pytestconfig: pytest.Config) -> None:
            skipped, chosen = [], numbers[name]
            if not pytestconfig.getoption("--all"):
                drawn = zlib.crc32(f"{test.__name__} {name}".encode()) % max(len(chosen) - 1, 1)
                chosen = [*chosen[:1], *chosen[1:][drawn : drawn + 1]]
            for k in chosen:
                try:
                    test(name, k)
                except pytest.skip.Exception as skip:
                    skipped.append(skip)
                except Exception as error:
                    error.add_note(f"sample {k} of {name}")
                    raise
            if len(skipped) == len(chosen):
                raise skipped[0]

        together.__name__, together.__doc__ = test.__name__, test.__doc__
        return pytest.mark.sampled(pytest.mark.parametrize("name", numbers)(together))

    return decorate


every_sample = every(CASES)


class Sample:
    """One op with one set of operands, and what can be done to it through the public tape."""

    def __init__(self, name: str, k: int, dtype: Any = np.float64) -> None:
        self.op = OPS[name]
        operands, self.params = samples(self.op)[k]
        self.operands = as_kind(operands, dtype)
        self.derivatives = [
            i for i, a in enumerate(self.operands) if is_float(a) and has_grad(self.op, i)
        ]
        self.random = np.random.RandomState(k)

    def tensors(self, moves: dict[int, Any] | None = None) -> list:
        moves = moves or {}
        return [tf.constant(a + moves[i] if i in moves else a) for i, a in enumerate(self.operands)]

    def run(self, tensors: list) -> list:
        """The floating results."""
        results = self.op.apply(*tensors, **self.params)
        results = results if isinstance(results, tuple) else (results,)
        return [r for r in results if is_float(r.numpy())]

    def direction(self, value: Any) -> Any:
        value = np.asarray(value)
        drawn = self.random.uniform(-1, 1, value.shape)
        if value.dtype.kind == "c":
            drawn = drawn + 1j * self.random.uniform(-1, 1, value.shape)
        return drawn.astype(value.dtype)[()]

    def moves(self) -> dict[int, Any]:
        return {i: self.direction(self.operands[i]) for i in self.derivatives}

    def difference(self, moves: dict[int, Any]) -> list:
        """The central difference of the results along a direction."""
        ahead = self.run(self.tensors({i: STEP * m for i, m in moves.items()}))
        behind = self.run(self.tensors({i: -STEP * m for i, m in moves.items()}))
        pairs = zip(ahead, behind, strict=True)
        return [(p.numpy() - m.numpy()) / (2 * STEP) for p, m in pairs]

    def weights(self) -> list:
        return [self.direction(r.numpy()) for r in self.run(self.tensors())]

    def gradient(self, tensors: list, weights: list) -> list:
        sources = [tensors[i] for i in self.derivatives]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            results = self.run(tensors)
        return tape.gradient(results, sources, [tf.constant(w) for w in weights])

    def directional(self, moves: dict[int, Any], weights: list) -> float:
        """The derivative of the weighted results along the moves, by the tape."""
        grads = self.gradient(self.tensors(), weights)
        return total(zip(map(dense, grads), moves.values(), strict=True))


def has_grad(op: Op, i: int) -> bool:
    rule = op.rules[0] if op.joint else op.rules[i]
    return rule is not None and not isinstance(rule, Reason)


def total(pairs: Any) -> float:
    return sum(float(np.sum(np.real(np.conj(a) * b))) for a, b in pairs)


def dense(g: Any) -> Any:
    return 0.0 if g is None else tf.convert_to_tensor(g).numpy()


SLOPING = [(name, k) for name, k in CASES if Sample(name, k).derivatives]
every_grad = every(SLOPING)


def test_labels_are_names_of_tensorflows_ops() -> None:
    known = set(LABELS.read_text().split())
    assert {name: op.label for name, op in OPS.items() if op.label not in known} == {}


# --- what an op tells of its results before there are numbers -------------------------------------
PRECISE = (np.float64, np.float32)
DTYPES = tuple(np.dtype(d) for d in (*PRECISE, "c8", "c16", "f2", tf.bfloat16.as_numpy_dtype, "i4"))


class Told(Sample):
    """The shapes and dtypes of a sample's results, as the op tells them and as they are."""

    def __init__(self, name: str, k: int, dtype: Any = np.float64) -> None:
        super().__init__(name, k, dtype)
        self.shapes = [np.shape(a) for a in self.operands]

    @cached_property
    def real(self) -> list:
        results = self.op.apply(*self.tensors(), **self.params)
        results = results if isinstance(results, tuple) else (results,)
        return [(tuple(r.shape), r.numpy().dtype) for r in results]

    def infer(self, shapes: list) -> list | None:
        dtypes = [np.asarray(a).dtype for a in self.operands]
        told = self.op.infer(*zip(shapes, dtypes, strict=True), **self.params)
        return told if told is None or isinstance(told, list) else [told]

    def agrees(self, shapes: list) -> bool:
        """Whether all that is told of operands of such shapes is true."""
        told, real = self.infer(shapes), self.real
        return told is None or (
            [(len(shape), dtype) for shape, dtype in told]
            == [(len(shape), dtype) for shape, dtype in real]
            and all(
                m in (None, n)
                for (shape, _), (full, _) in zip(told, real, strict=True)
                for m, n in zip(shape, full, strict=True)
            )
        )

    def axes(self) -> list[tuple[int, int]]:
        """The numbers of all operands and their axes."""
        return [(i, axis) for i, shape in enumerate(self.shapes) for axis in range(len(shape))]

    def changed(self, i: int, axis: int, size: int | None) -> list:
        """The operands' shapes with another size in one axis."""
        shapes = list(self.shapes)
        shapes[i] = (*shapes[i][:axis], size, *shapes[i][axis + 1 :])
        return shapes

    def sizes(self, shapes: list) -> list | None:
        """All sizes that are told, one after the other."""
        told = self.infer(shapes)
        return None if told is None else [n for shape, _ in told for n in shape]


@every_sample
def test_infer_tells_shape_and_dtype(name: str, k: int) -> None:
    # The parameters of a bitcast go by the dtype.
    for dtype in DTYPES[:1] if name == "bitcast" else DTYPES[:2] if k else DTYPES:
        if dtype in PRECISE or dtype.kind in OPS[name].takes:
            sample = Told(name, k, dtype)
            try:
                sample.real  # noqa: B018
            except Exception:
                assert dtype not in PRECISE  # not all that it takes has a kernel in TensorFlow
                continue
            assert sample.agrees(sample.shapes), dtype


@every_sample
def test_infer_knows_the_defaults_of_parameters(name: str, k: int) -> None:
    for left_out in Told(name, k).params:
        sample = Told(name, k)
        del sample.params[left_out]
        try:
            sample.real  # noqa: B018
        except Exception:
            continue
        assert sample.agrees(sample.shapes), left_out


@every_sample
def test_infer_takes_unknown_sizes(name: str, k: int) -> None:
    sample = Told(name, k)
    for i, axis in sample.axes():
        assert sample.agrees(sample.changed(i, axis, None)), (i, axis)
    assert sample.agrees([(None,) * len(shape) for shape in sample.shapes])


@every_sample
def test_infer_knows_what_does_not_depend_on_an_unknown_size(name: str, k: int) -> None:
    sample = Told(name, k)
    for i, axis in sample.axes():
        n = sample.shapes[i][axis]
        others = []
        for other in (0, 1, n, n + 1, n + 50):
            with suppress(ValueError):  # such operands do not fit together
                others.append(sample.sizes(sample.changed(i, axis, other)))
        found = sample.sizes(sample.changed(i, axis, None))
        if found is None:
            assert name == "unstack"  # as many results as the size
            continue
        for size, *known in zip(found, *others, strict=True):
            assert size is not None or len(others) == 1 or len({*known}) > 1 or known[0] is None


@every_grad
def test_pull_agrees_with_differences(name: str, k: int) -> None:
    sample = Sample(name, k)
    moves, weights = sample.moves(), sample.weights()
    expected = total(zip(weights, sample.difference(moves), strict=True))
    assert sample.directional(moves, weights) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@every_grad
def test_push_agrees_with_differences(name: str, k: int) -> None:
    sample = Sample(name, k)
    moves, tensors = sample.moves(), sample.tensors()
    primals = [tensors[i] for i in moves]
    with tf.autodiff.ForwardAccumulator(primals, [tf.constant(m) for m in moves.values()]) as acc:
        results = sample.run(tensors)
    pushed = acc.jvp(results, unconnected_gradients="zero")
    for tangent, expected in zip(pushed, sample.difference(moves), strict=True):
        np.testing.assert_allclose(tangent.numpy(), expected, rtol=1e-5, atol=1e-7)


@every_grad
def test_recorded_rule_gives_what_the_plain_one_gives(name: str, k: int) -> None:
    sample = Sample(name, k)
    weights = sample.weights()
    plain = sample.gradient(sample.tensors(), weights)
    with tf.GradientTape():  # somebody watches, so the sweep itself is recorded
        recorded = sample.gradient(sample.tensors(), weights)
    for p, r in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(dense(r), dense(p), rtol=1e-12, atol=1e-14)


@every_grad
def test_recorded_rule_takes_a_plain_cotangent(name: str, k: int) -> None:
    sample = Sample(name, k)
    tensors = sample.tensors()
    sources = [tensors[i] for i in sample.derivatives]
    with tf.GradientTape(), tf.GradientTape() as tape:
        tape.watch(sources)
        results = [tf.math.real(result) for result in sample.run(tensors)]
        signs = [tf.sign(result) for result in results]  # whose zeros are not recorded
        grads = tape.gradient(signs, sources)
    assert not any(np.any(dense(g)) for g in grads)


@every_grad
def test_stacked_cotangents_are_swept_as_single_ones(name: str, k: int) -> None:
    sample = Sample(name, k)
    tensors = sample.tensors()
    sources = [tensors[i] for i in sample.derivatives]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        result = sample.run(tensors)[0]
    if result.shape.num_elements() > 30:
        pytest.skip("too large to go through row by row")
    jacobians = tape.jacobian(result, sources)
    for source, jacobian in zip(sources, jacobians, strict=True):
        rows = []
        for place in np.ndindex(*result.shape):
            seed = np.zeros(result.shape, result.numpy().dtype)
            seed[place] = 1
            rows.append(dense(tape.gradient(result, source, tf.constant(seed))))
        if jacobian is None:
            assert not np.any(rows)
        else:
            assert jacobian.shape == result.shape + source.shape
            stacked = np.reshape(rows, jacobian.shape) if rows else np.zeros(jacobian.shape)
            np.testing.assert_allclose(jacobian.numpy(), stacked, rtol=1e-10, atol=1e-12)


# TensorFlow has no second derivative of these.
ONCE = ("ctc", "igamma", "igammac", "softsign")


@every([(name, k) for name, k in SLOPING if name in ONCE])
def test_a_second_order_that_is_not_there_is_told(name: str, k: int) -> None:
    sample = Sample(name, k)
    tensors, weights = sample.tensors(), sample.weights()
    sources = [tensors[i] for i in sample.derivatives]

    def twice() -> None:
        with tf.GradientTape() as outer:
            outer.watch(sources)
            first = sample.gradient(tensors, weights)
        outer.gradient(first, sources)

    with pytest.raises(LookupError, match="no entry for"):
        twice()


@every([(name, k) for name, k in SLOPING if name not in ONCE])
def test_second_order_agrees_with_differences(name: str, k: int) -> None:
    sample = Sample(name, k)
    moves, weights = sample.moves(), sample.weights()
    tensors = sample.tensors()
    sources = [tensors[i] for i in sample.derivatives]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        found = [g for g in sample.gradient(tensors, weights) if g is not None]
        found = [tf.convert_to_tensor(g) for g in found]
        chosen = [sample.direction(g.numpy()) for g in found]
    second = outer.gradient(found, sources, [tf.constant(c) for c in chosen])
    derivative = total(zip(map(dense, second), moves.values(), strict=True))

    def first_along(step: float) -> float:
        moved = sample.tensors({i: step * m for i, m in moves.items()})
        grads = [dense(g) for g in sample.gradient(moved, weights) if g is not None]
        return total(zip(chosen, grads, strict=True))

    expected = (first_along(STEP) - first_along(-STEP)) / (2 * STEP)
    assert derivative == pytest.approx(expected, rel=1e-4, abs=1e-6)


@every([(name, k) for name, k in CASES if "dtype" not in samples(OPS[name])[k][1]])
def test_single_precision_stays_single(name: str, k: int) -> None:
    sample = Sample(name, k, np.float32)
    single = (np.float32, np.complex64)
    results = sample.run(sample.tensors())
    assert all(r.numpy().dtype.type in single for r in results)
    if sample.derivatives and results:
        weights = [sample.direction(r.numpy()) for r in results]
        for g in sample.gradient(sample.tensors(), weights):
            assert g is None or tf.convert_to_tensor(g).numpy().dtype.type in single


@every_grad
def test_operands_are_not_written_to(name: str, k: int) -> None:
    sample = Sample(name, k)
    tensors = sample.tensors()
    for tensor in tensors:
        if tensor.ndim:
            tensor._value.flags.writeable = False
    weights = [np.ones_like(r.numpy()) for r in sample.run(tensors)]
    for weight in weights:
        if weight.ndim:
            weight.flags.writeable = False
    sample.gradient(tensors, weights)


def reasons() -> list:
    return [
        (name, i)
        for name, op in OPS.items()
        if op.push == "diagonal" or op.sample
        for i, rule in enumerate(op.rules)
        if isinstance(rule, Reason)
    ]


@pytest.mark.parametrize(("name", "i"), reasons())
def test_no_grad_gives_what_its_reason_says(name: str, i: int) -> None:
    sample = Sample(name, 0)
    reason = sample.op.rules[i]
    assert reason.why
    if not is_float(sample.operands[i]):
        return
    tensors = sample.tensors()
    with tf.GradientTape() as tape:
        tape.watch(tensors[i])
        results = sample.op.apply(*tensors, **sample.params)
    results = results[0] if isinstance(results, tuple) else results
    if reason.gives == "error" and results._mark is not None:
        with pytest.raises(LookupError):
            tape.gradient(results, tensors[i])
    else:
        g = tape.gradient(results, tensors[i])
        assert g is None if reason.gives != "zeros" else not np.any(g.numpy())
