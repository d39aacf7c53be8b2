"""Convolution and pooling by every way their code may take: layouts, pieces, threads, stacks."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops import convolve, depthwise, pool
from gradtape.ops.kernels import jobs, parallel
from gradtape.ops.kernels.windows import Geometry


@pytest.fixture(params=["small", "threads"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As small cases go by themselves, and in many pieces that three threads share."""
    if request.param == "threads":
        monkeypatch.setattr(parallel, "limit", 3)
        for module in (convolve, pool):
            monkeypatch.setattr(module, "PIECE", 1)
        for module in (convolve, depthwise):
            monkeypatch.setattr(module, "LARGE", 0)
    return str(request.param)


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def reference(x: Any, f: Any, geometry: Geometry) -> Any:
    """Cell by cell, group by group."""
    x = np.pad(x, [(0, 0), *geometry.pads, (0, 0)])
    bare = geometry._replace(pads=((0, 0),) * len(geometry.size))
    cells = bare.cells(bare.counts(x.shape[1:-1]))
    depth, groups = f.shape[-2], x.shape[-1] // f.shape[-2]
    parts = []
    for k in range(groups):
        some = x[..., k * depth : (k + 1) * depth]
        each = f.reshape(len(cells), depth, groups, -1)[:, :, k]
        parts.append(sum(some[:, *cell] @ w for cell, w in zip(cells, each, strict=True)))
    return np.concatenate(parts, axis=-1)


ONE, TWO = ((0, 0),), ((0, 0), (0, 0))
GEOMETRIES = [
    Geometry((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))),
    Geometry((2, 3), (2, 1), (1, 2), ((1, 0), (2, 1))),
    Geometry((3, 2), (1, 2), (1, 1), ((0, 1), (0, 0))),
    Geometry((1, 1), (1, 1), (1, 1), TWO),
    Geometry((1, 1), (2, 2), (1, 1), TWO),
    Geometry((2, 2), (3, 3), (1, 1), TWO),
    Geometry((2, 2), (1, 1), (1, 1), ((3, 0), (0, 2))),
    Geometry((3,), (1,), (1,), ((1, 1),)),
    Geometry((2,), (2,), (2,), ONE),
    Geometry((2, 1, 2), (1, 1, 1), (1, 1, 1), ((0, 1), (0, 0), (1, 0))),
    Geometry((2, 2, 2), (1, 2, 1), (1, 1, 1), ((0, 0),) * 3),
]
# Channels of the input and of the filter, results.
CHANNELS = [(1, 1, 2), (3, 3, 4), (8, 8, 3), (6, 3, 4), (16, 8, 4), (4, 1, 4), (3, 1, 6)]


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_convolution_and_its_transposes(geometry: Geometry, channels: Any, ways: str) -> None:
    outer, depth, results = channels
    x = draw(4, *(5, 6, 4)[: len(geometry.size)], outer)
    f = draw(*geometry.size, depth, results, seed=1)
    y = convolve.conv(x, f, geometry=geometry)
    np.testing.assert_allclose(y, reference(x, f, geometry), atol=1e-12)
    g = draw(*y.shape, seed=2)
    gx = convolve.conv_input(g, f, geometry=geometry, shape=x.shape[1:])
    gf = convolve.conv_filter(x, g, geometry=geometry, depth=depth)
    assert (gx.shape, gf.shape) == (x.shape, f.shape)
    d, e = draw(*x.shape, seed=3), draw(*f.shape, seed=4)
    assert np.sum(gx * d) == pytest.approx(np.sum(g * reference(d, f, geometry)), abs=1e-10)
    assert np.sum(gf * e) == pytest.approx(np.sum(g * reference(x, e, geometry)), abs=1e-10)


@pytest.mark.parametrize("seen", ["transposed", "stretched", "backward", "read-only"])
def test_any_memory_layout(seen: str, ways: str) -> None:
    geometry = Geometry((2, 2), (1, 1), (1, 1), TWO)
    pairs = Geometry((2, 2), (2, 2), (1, 1), TWO)
    x = draw(2, 6, 4, 8)
    strange = {
        "transposed": lambda: np.moveaxis(np.moveaxis(x, -1, 1).copy(), 1, -1),
        "stretched": lambda: np.broadcast_to(x[:1, :1], x.shape),
        "backward": lambda: x[:, ::-1, :, ::-1],
        "read-only": lambda: np.frombuffer(x.tobytes()).reshape(x.shape),
    }[seen]()
    plain, f = np.array(strange, order="C"), draw(2, 2, 8, 3)
    g = convolve.conv(plain, f, geometry=geometry)
    calls = [
        lambda a: convolve.conv(a, f, geometry=geometry),
        lambda a: convolve.conv_filter(a, g, geometry=geometry, depth=8),
        lambda a: convolve.conv_input(a, draw(2, 2, 8, 8), geometry=geometry, shape=(7, 5, 8)),
        lambda a: convolve.conv(a, draw(2, 2, 1, 8), geometry=geometry),
        lambda a: pool.max_pool(a, geometry=pairs),
        lambda a: pool.avg_pool(a, geometry=pairs, inner=(6, 4)),
        lambda a: pool.avg_spread(a, geometry=pairs, inner=(12, 8)),
        lambda a: pool.max_spread(a, draw(2, 12, 8, 8), draw(2, 6, 4, 8), geometry=pairs),
        lambda a: pool.max_pick(a, plain, pool.max_pool(plain, geometry=pairs), geometry=pairs),
    ]
    for call in calls:
        np.testing.assert_allclose(call(strange), call(plain), atol=1e-12)


@pytest.mark.parametrize("geometry", GEOMETRIES[:3] + GEOMETRIES[5:6] + GEOMETRIES[7:])
def test_pools(geometry: Geometry, ways: str) -> None:
    x = np.random.default_rng(0).integers(0, 3, (3, *(5, 6, 4)[: len(geometry.size)], 2)) / 2
    lowest = np.pad(x, [(0, 0), *geometry.pads, (0, 0)], constant_values=-9.0)
    cells = geometry.cells(geometry.counts(x.shape[1:-1]))
    stack = np.stack([lowest[:, *cell] for cell in cells])
    y = pool.max_pool(x, geometry=geometry)
    np.testing.assert_array_equal(y, stack.max(0))
    # Of equal numbers the first, in the order of cells, gets all of the cotangent; in space, as in
    # TensorFlow, each of them gets it.
    g, derivative, space = draw(*y.shape), np.zeros_like(lowest), len(geometry.size) == 3
    for k, cell in enumerate(cells):
        derivative[:, *cell] += g * (stack[k] == y if space else stack.argmax(0) == k)
    inner = tuple(slice(p, p + n) for (p, _), n in zip(geometry.pads, x.shape[1:-1], strict=True))
    found = pool.max_spread(g, x, y, geometry=geometry)
    np.testing.assert_allclose(found, derivative[:, *inner], atol=1e-12)
    picked = pool.max_pick(draw(*x.shape), x, y, geometry=geometry)
    assert space or np.sum(picked * g) == pytest.approx(np.sum(draw(*x.shape) * found))
    counted = np.stack([(lowest > -9)[:, *cell] for cell in cells])
    mean = pool.avg_pool(x, geometry=geometry, inner=x.shape[1:-1])
    np.testing.assert_allclose(mean, (stack * counted).sum(0) / counted.sum(0), atol=1e-12)
    back = pool.avg_spread(g, geometry=geometry, inner=x.shape[1:-1])
    assert np.sum(back * x) == pytest.approx(np.sum(mean * g))


def test_an_infinite_cotangent_stays_in_its_place() -> None:
    x = tf.constant([[[[1.0], [2.0]], [[4.0], [3.0]]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    g = tape.gradient(y, x, output_gradients=tf.constant([[[[np.inf]]]]))
    assert g.numpy().ravel().tolist() == [0.0, 0.0, np.inf, 0.0]


def test_threads_add_up_in_one_order(ways: str) -> None:
    geometry = GEOMETRIES[0]
    x, g = draw(9, 5, 6, 3).astype("f"), draw(9, 5, 6, 4).astype("f")
    for depth, results in ((3, g), (1, g[..., :3])):
        once, *more = [
            convolve.conv_filter(x, results, geometry=geometry, depth=depth) for _ in range(20)
        ]
        assert all(np.array_equal(once, other) for other in more)


def test_gradients_of_filters_that_threads_compute_meanwhile(ways: str) -> None:
    x, halves = tf.constant(draw(3, 8, 6, 2)), tf.Variable(draw(2, 3, 3, 2, 4, seed=1))
    f, h = tf.Variable(draw(3, 3, 2, 2, seed=2)), tf.Variable(draw(3, 3, 2, 2, seed=3))

    def call() -> Any:
        y = x
        for k in (f, *tf.unstack(halves[..., :2]), f, h):  # one twice, two that are made of another
            y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(y, k, 1, "SAME")), 2, 1, "SAME")
        return tf.reduce_sum(y**2) + tf.reduce_sum(f)

    with tf.GradientTape() as outer:  # records the sweep, in which nothing is left to others
        with tf.GradientTape() as tape:
            y = call()
        wanted = tape.gradient(y, [f, halves, h])
    assert outer.gradient(wanted, f) is not None
    with tf.GradientTape() as tape:
        y = call()
    found = tape.gradient(y, [f, halves, h])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# --- Jacobians: all rows at once ------------------------------------------------------------------
def _layers() -> dict[str, Any]:
    return {
        "conv2d": lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"),
        "strided": lambda x, f: tf.nn.conv2d(x, f, 2, "VALID"),
        "grouped": lambda x, f: tf.nn.conv2d(x, f[:, :, :2], 1, "VALID"),
        "depthwise": lambda x, f: tf.nn.depthwise_conv2d(x, f[..., :2], [1, 1, 1, 1], "SAME"),
        "transpose": lambda x, f: tf.nn.conv2d_transpose(
            x, tf.transpose(f, [0, 1, 3, 2]), [2, 8, 6, 4], 2, "SAME"
        ),
        "max_pool": lambda x, f: tf.nn.max_pool2d(x, 2, 1, "SAME") * f[0, 0, :, 0],
        "avg_pool": lambda x, f: tf.nn.avg_pool2d(x, 2, 2, "SAME") * f[0, 0, :, 0],
    }


@pytest.mark.parametrize("name", _layers())
@pytest.mark.parametrize("order", [1, 2])
def test_jacobians_are_their_rows(name: str, order: int) -> None:
    layer = _layers()[name]
    x, f = tf.constant(draw(2, 4, 3, 4)), tf.constant(draw(2, 2, 4, 4, seed=1))

    def call(tape: Any) -> Any:
        tape.watch([x, f])
        if order == 1:
            return layer(x, f)
        with tf.GradientTape() as inner:
            inner.watch([x, f])
            y = tf.reduce_sum(layer(x, f) ** 3)
        return tf.concat([tf.reshape(g, [-1]) for g in inner.gradient(y, [x, f])], 0)[::7]

    with tf.GradientTape(persistent=True) as tape:
        y = call(tape)
        rows = list(tf.reshape(y, [-1]))
    for source in (x, f):
        found = tape.jacobian(y, source).numpy().reshape(len(rows), -1)
        one_by_one = [tape.gradient(row, source).numpy().ravel() for row in rows]
        np.testing.assert_allclose(found, one_by_one, atol=1e-12)


@pytest.mark.parametrize("name", ["conv2d", "strided", "grouped", "max_pool", "avg_pool"])
def test_jacobians_of_no_images(name: str) -> None:
    x, f = tf.zeros([0, 4, 3, 4]), tf.ones([2, 2, 4, 4])
    with tf.GradientTape() as tape:
        tape.watch([x, f])
        y = _layers()[name](x, f)
    found = tape.jacobian(y, [x, f])
    assert [g.shape for g in found] == [y.shape + x.shape, y.shape + f.shape]


# --- work in pieces -------------------------------------------------------------------------------
def test_errors_in_threads_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "limit", 3)
    done = []

    def work(todo: Any) -> None:
        for k in todo:
            if k == 5:
                raise ZeroDivisionError("five")
            done.append(k)

    with pytest.raises(ZeroDivisionError, match="five"):
        jobs.spread(work, range(12), products=True)
    jobs.spread(work, range(6, 40), products=True)
    assert set(done) >= set(range(6, 40))


def test_an_effort_is_finished_once_for_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "limit", 2)
    done: list[int] = []
    effort = jobs.Effort(done.extend, range(7))
    for _ in range(2):
        effort.finish()
        assert sorted(done) == list(range(7))

    def fail(todo: Any) -> None:
        raise ZeroDivisionError(next(todo))

    effort = jobs.Effort(fail, range(7), products=True)
    effort.complete()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            effort.finish()


def test_blas_has_its_threads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    monkeypatch.setattr(parallel, "limit", 2)
    count = jobs.blas._functions[0]
    before, inside = count(), []
    jobs.spread(lambda todo: inside.extend(count() for _ in todo), range(4), products=True)
    assert (inside, count()) == ([1] * 4, before)


@pytest.mark.parametrize(("n", "parts"), [*product([0, 1, 5, 64], [1, 2, 3])])
def test_portions_are_all_of_it(n: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "limit", parts)
    found = jobs.portions(range(n))
    assert [k for part in found for k in part] == list(range(n))
    assert len(found) == min(n, parts)
