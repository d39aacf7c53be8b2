"""The families of steps: each function appends a random step to a draw, or finds none that fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.tensorflow.fuzz import expressions as text
from tests.tensorflow.fuzz import shaped
from tests.tensorflow.fuzz.draw import (
    COMPLEX,
    FLOATS,
    HALVES,
    SMALL,
    WHOLE,
    Draw,
    Unfit,
    broadcast,
)

REAL = (*FLOATS, *HALVES)
ANY = (*FLOATS, *HALVES, *COMPLEX, *WHOLE, "bool")
SLOPED = (*FLOATS, *HALVES, *COMPLEX)


def unary(d: Draw) -> Any:
    a = d.value(REAL if d.chance(0.2) else FLOATS)
    domain = d.one(["any", "any", "unit", "positive", "fraction"])
    a = d.into(domain, a)
    return d.step(d.one(text.UNARY[domain]), [a], d.shape(a), d.dtype(a))


def activation(d: Draw) -> Any:
    a = d.value(REAL if d.chance(0.2) else FLOATS)
    return d.step(d.one(text.ACTIVATIONS), [a], d.shape(a), d.dtype(a))


def binary(d: Draw) -> Any:
    a = d.value(REAL if d.chance(0.2) else FLOATS)
    b = d.partner(a)
    domain = d.one(["any", "any", "positive"])
    b = d.into(domain, b)
    shape = broadcast(d.shape(a), d.shape(b))
    return d.step(d.one(text.BINARY[domain]), [a, b], shape or (), d.dtype(a))


def whole(d: Draw) -> Any:
    dtypes = (*WHOLE, *SMALL) if d.chance(0.3) else WHOLE
    a = d.value(dtypes) if d.chance(0.7) else d.need((3,), d.one(WHOLE))
    b = d.partner(a)
    return d.step(d.one(text.BITS), [a, b], broadcast(d.shape(a), d.shape(b)) or (), d.dtype(a))


def whole_alone(d: Draw) -> Any:
    a = d.need((d.one([2, 3, 3]),), "int32")
    if d.chance(0.3):
        return d.step(d.one(text.WHOLE_TO_SCALAR), [a], (), "int32")
    op = d.one(text.WHOLE)
    return d.step(op, [a], d.shape(a), "int8" if '"int8"' in op else "int32")


def truth(d: Draw) -> Any:
    a = d.value()
    op = d.one(text.TO_BOOL)
    whole = any(word in op for word in ("reduce", "decreasing", "increasing"))
    return d.step(op, [a], () if whole else d.shape(a), "bool")


def indicator(d: Draw) -> Any:
    """Whole numbers turned into others with more axes, and into floats."""
    a = d.need((d.one([2, 3, 3]),), "int32")
    shape, dtype = d.shape(a), d.one(FLOATS)
    if d.chance(0.5):
        op = "tf.one_hot({0}, 3, on_value=2.0, dtype={to})"
        op = d.one([op, "tf.one_hot({0}, 3, dtype={to})"])
        return d.step(op, [a], (*shape, 3), dtype, to=dtype)
    if d.chance(0.5):
        op = "tf.sequence_mask(tf.abs({0}), 3, dtype={to})"
        return d.step(op, [a], (*shape, 3), dtype, to=dtype)
    op = "tf.cast(tf.math.bincount(tf.abs({0}), minlength=3, maxlength=3), {to})"
    return d.step(op, [a], (3,), dtype, to=dtype)


def made(d: Draw) -> Any:
    """Values out of nothing: constants, ranges, random numbers of a seed."""
    dtype = d.one(FLOATS)
    seed = [d.rng.randint(0, 99), d.rng.randint(0, 99)]
    op, shape = d.one(
        [
            ("tf.random.stateless_uniform([2, 3], {seed}, -1.0, 1.0, {to})", (2, 3)),
            ("tf.random.stateless_normal([3], {seed}, dtype={to})", (3,)),
            ("tf.random.stateless_truncated_normal([3, 1], {seed}, dtype={to})", (3, 1)),
            ("tf.random.stateless_gamma([3], {seed}, 2.0, dtype={to})", (3,)),
            ("tf.random.stateless_poisson([3], {seed}, 2.0, {to})", (3,)),
            ("tf.cast(tf.random.stateless_categorical([[0.0, 1.0]], 3, {seed}), {to})", (1, 3)),
            ("tf.linspace(tf.constant(-1.0, {to}), 2.0, 3)", (3,)),
            ("tf.range(3, dtype={to})", (3,)),
            ("tf.eye(3, dtype={to})", (3, 3)),
            ("tf.fill([2, 3], tf.constant(0.5, {to}))", (2, 3)),
            ("tf.meshgrid(tf.range(3, dtype={to}), tf.range(2, dtype={to}))[0]", (2, 3)),
            ("tf.zeros([0, 3], {to})", (0, 3)),
        ]
    )
    params = {"to": dtype, "seed": seed} if "{seed}" in op else {"to": dtype}
    return d.step(op, [], shape, dtype, **params)


def assign(d: Draw) -> Any:
    """A variable changes between its uses."""
    names = [given["name"] for given in d.inputs if given["kind"] == "variable"]
    names = [name for name in names if d.dtype(name) in FLOATS]
    if not names or d.copies:
        raise Unfit
    a = d.one(names)
    op = d.one(
        "{0}.assign({0} * 0.5 + 0.25) | {0}.assign_add(tf.ones_like({0}))"
        " | {0}.assign_sub({0} * 0.5) | {0}.assign(tf.sin({0}), read_value=True)"
        " | tf.identity({0}.assign_add({0}))"
    )
    return d.step(op, [a], d.shape(a), d.dtype(a))


def compare(d: Draw) -> Any:
    a = d.value()
    b = d.partner(a)
    shape = broadcast(d.shape(a), d.shape(b))
    return d.step(d.one(text.COMPARE), [a, b], shape or (), "bool")


def logic(d: Draw) -> Any:
    a = d.value(("bool",))
    b = d.partner(a)
    shape = broadcast(d.shape(a), d.shape(b))
    op = d.one("tf.logical_and({0}, {1}) | tf.logical_or({0}, {1}) | {0} ^ {1} | ~{0} & {1}")
    return d.step(op, [a, b], shape or (), "bool")


def select(d: Draw) -> Any:
    test, a = d.value(("bool",)), d.value()
    b = d.partner(a)
    shape = broadcast(d.shape(a), d.shape(b)) or ()
    whole = broadcast(shape, d.shape(test))
    if whole is None:
        raise Unfit
    return d.step("tf.where({0}, {1}, {2})", [test, a, b], whole, d.dtype(a))


def cast(d: Draw) -> Any:
    a = d.value((*FLOATS, *HALVES, *COMPLEX, *WHOLE, "bool"))
    to = d.one([*FLOATS * 3, *HALVES, *COMPLEX, *WHOLE, d.one(SMALL), "bool"])
    # What is halved or cut to whole numbers is mostly led back at once.
    name = d.step("tf.cast({0}, {to})", [a], d.shape(a), to, to=to)
    if to not in FLOATS and d.chance(0.6):
        back = d.one(FLOATS)
        return d.step("tf.cast({0}, {to})", [name], d.shape(a), back, to=back)
    return name


def complexes(d: Draw) -> Any:
    found = [name for name, (_, dtype) in d.known.items() if dtype in COMPLEX]
    if not found or d.chance(0.3):
        a = d.value()
        b = d.need(d.shape(a), d.dtype(a))
        to = "complex64" if d.dtype(a) == "float32" else "complex128"
        return d.step("tf.complex({0}, {1})", [a, b], d.shape(a), to)
    a = d.one(found)
    shape, dtype = d.known[a]
    if d.chance(0.3):
        op = d.one("tf.math.real({0}) | tf.math.imag({0}) | tf.abs({0}) | tf.math.angle({0})")
        return d.step(op, [a], shape, "float32" if dtype == "complex64" else "float64")
    b = d.partner(a)
    op = d.one(
        "{0} * {1} | {0} + {1} | {0} - {1} | tf.math.conj({0}) * {1}"
        " | tf.exp({0} * 0.25) + {1} | tf.sin({0} * 0.5) * {1} | tf.square({0}) - {1}"
        " | {0} / ({1} + 4.0) | -{0} * {1} | tf.sqrt({0} + 3.0) + {1}"
        " | tf.tanh({0} * 0.25) + {1} | tf.math.log({0} + 4.0) * {1}"
        " | tf.math.reciprocal({0} + 4.0) * {1} | tf.cos({0} * 0.5) - {1} | {0} ** 2 + {1}"
        " | tf.sigmoid({0} * 0.25) + {1} | tf.sinh({0} * 0.25) * {1} | tf.cosh({0} * 0.25) * {1}"
        " | tf.math.rsqrt({0} + 4.0) * {1} | tf.math.expm1({0} * 0.25) + {1}"
        " | tf.identity({0}) * {1} | tf.math.log1p({0} * 0.125) + {1}"
        " | tf.reduce_sum({0}) + {0} * {1} | tf.sign({0}) * {1}"
        " | tf.math.divide_no_nan({0}, {1}) | tf.math.asinh({0} * 0.25) + {1}"
        " | {0} * (1.0 + 2.0j) - {1} | tf.math.atan({0} * 0.25) + {1}"
        " | tf.reduce_mean({0}) * {1} + {0} | tf.pow({0} + 4.0, 1.5) * {1}"
        " | tf.math.conj({1}) + {0} | tf.where(tf.abs({0}) > 1.0, {0}, {1})"
        " | tf.tan({0} * 0.125) + {1} | tf.math.acosh({0} * 0.125 + 3.0) + {1}"
        " | tf.math.asin({0} * 0.125) + {1} | tf.math.acos({0} * 0.125) - {1}"
        " | tf.math.atanh({0} * 0.125) + {1} | tf.math.xlogy({0}, {1} + 4.0)"
        " | tf.math.xdivy({0}, {1} + 4.0) | tf.cumsum([{0}, {0}])[1] + {1}"
        " | tf.stack([{0}, {0}])[1] * {1} | tf.math.squared_difference({0}, {1})"
    )
    return d.step(op, [a, b], broadcast(shape, d.shape(b)) or (), dtype)


def flow(d: Draw) -> Any:
    a = d.value()
    return d.step(d.one(text.FLOW), [a], d.shape(a), d.dtype(a))


def over_rows(d: Draw) -> Any:
    a = d.value(REAL if d.chance(0.1) else FLOATS, fits=lambda s: len(s) > 0)
    return d.step(d.one(text.OVER_ROWS), [a], d.shape(a), d.dtype(a))


def reduce(d: Draw) -> Any:
    a = d.value(SLOPED if d.chance(0.2) else FLOATS)
    shape, rank = d.shape(a), len(d.shape(a))
    axes: Any = None
    if rank and d.chance(0.7):
        axes = d.axis(rank) if d.chance(0.7) else d.rng.sample(range(rank), d.rng.randint(0, rank))
    keep = d.chance(0.3)
    over = range(rank) if axes is None else [axes % rank] if isinstance(axes, int) else axes
    left = [1 if i in over else n for i, n in enumerate(shape) if keep or i not in over]
    function = d.one(text.REDUCE_COMPLEX if d.dtype(a) in COMPLEX else text.REDUCE)
    op = f"{function}({{0}}, axis={{axis}}, keepdims={{keep}})"
    return d.step(op, [a], left, d.dtype(a), axis=axes, keep=keep)


def scalar(d: Draw) -> Any:
    a = d.value()
    return d.step(d.one(text.TO_SCALAR), [a], (), d.dtype(a))


def position(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) > 0 and 0 not in s)
    axis = d.axis(len(d.shape(a)))
    left = list(d.shape(a))
    del left[axis]
    op = d.one("tf.argmax({0}, axis={axis}) | tf.argmin({0}, {axis})")
    return d.step(op, [a], left, "int64", axis=axis)


# ------------------------------------------------------------------------------------- shape


def reshape(d: Draw) -> Any:
    a = d.value(ANY)
    n = math.prod(d.shape(a))
    shapes = [(n,), (1, n), (n, 1), (-1,)] + [(m, n // m) for m in (2, 3) if n and n % m == 0]
    if n == 1:
        shapes.append(())
    to = list(d.one([s for s in shapes if n or -1 not in s]))
    return d.step("tf.reshape({0}, {to})", [a], [n] if to == [-1] else to, d.dtype(a), to=to)


def transpose(d: Draw) -> Any:
    a = d.value(ANY)
    order = list(range(len(d.shape(a))))
    d.rng.shuffle(order)
    shape = [d.shape(a)[i] for i in order]
    return d.step("tf.transpose({0}, {order})", [a], shape, d.dtype(a), order=order)


def expand(d: Draw) -> Any:
    a = d.value(ANY)
    shape = list(d.shape(a))
    if 1 in shape and d.chance(0.5):
        return d.step("tf.squeeze({0})", [a], [n for n in shape if n != 1], d.dtype(a))
    axis = d.rng.randint(0, len(shape))
    shape.insert(axis, 1)
    return d.step("tf.expand_dims({0}, {axis})", [a], shape, d.dtype(a), axis=axis)


def enlarge(d: Draw) -> Any:
    a = d.value(SLOPED if d.chance(0.2) else FLOATS)
    shape, rank = d.shape(a), len(d.shape(a))
    if d.chance(0.4):
        to = [d.one([2, 3]) if n == 1 else n for n in shape]
        to = [2, *to] if d.chance(0.3) else to
        return d.step("tf.broadcast_to({0}, {to})", [a], to, d.dtype(a), to=to)
    if d.chance(0.4):
        times = [d.one([1, 1, 2]) for _ in shape]
        to = [n * t for n, t in zip(shape, times, strict=True)]
        return d.step("tf.tile({0}, {times})", [a], to, d.dtype(a), times=times)
    axis = d.axis(rank) % rank
    if d.chance(0.3):
        times = [d.one([0, 1, 2]) for _ in range(shape[axis])]
        to = [sum(times) if i == axis else n for i, n in enumerate(shape)]
        op = "tf.repeat({0}, {times}, axis={axis})"
        return d.step(op, [a], to, d.dtype(a), times=times, axis=axis)
    to = [n * 2 if i == axis else n for i, n in enumerate(shape)]
    return d.step("tf.repeat({0}, 2, axis={axis})", [a], to, d.dtype(a), axis=axis)


def pad(d: Draw) -> Any:
    a = d.value(SLOPED if d.chance(0.2) else FLOATS, fits=lambda s: len(s) > 0)
    shape = d.shape(a)
    mode = d.one(["CONSTANT", "REFLECT", "SYMMETRIC"])
    least = {"CONSTANT": 0, "REFLECT": 2, "SYMMETRIC": 1}[mode]
    by = [[d.one([0, 1]), d.one([0, 1])] if n >= least else [0, 0] for n in shape]
    to = [n + sum(pair) for n, pair in zip(shape, by, strict=True)]
    if mode == "CONSTANT" and d.chance(0.3):
        op = "tf.pad({0}, {by}, constant_values=0.5)"
        return d.step(op, [a], to, d.dtype(a), by=by)
    return d.step("tf.pad({0}, {by}, mode={mode})", [a], to, d.dtype(a), by=by, mode=mode)


def join(d: Draw) -> Any:
    a = d.value(SLOPED if d.chance(0.2) else FLOATS)
    b = d.need(d.shape(a), d.dtype(a))
    shape = list(d.shape(a))
    if d.chance(0.5) and shape:
        axis = d.axis(len(shape))
        shape[axis] *= 2
        return d.step("tf.concat([{0}, {1}], axis={axis})", [a, b], shape, d.dtype(a), axis=axis)
    axis = d.rng.randint(0, len(shape))
    shape.insert(axis, 2)
    return d.step("tf.stack([{0}, {1}], axis={axis})", [a, b], shape, d.dtype(a), axis=axis)


def part(d: Draw) -> Any:
    a = d.value(ANY, fits=lambda s: len(s) > 0 and s[0] > 0)
    shape, dtype = d.shape(a), d.dtype(a)
    first, rest = shape[0], shape[1:]
    which = d.rng.randrange(12)
    if which > 7:
        return _slice(d, a)
    if which == 0:
        return d.step("{0}[{i}]", [a], rest, dtype, i=d.rng.randrange(-first, first))
    if which == 1:
        return d.step("{0}[1:]", [a], (first - 1, *rest), dtype)
    if which == 2:
        return d.step("{0}[::2]", [a], ((first + 1) // 2, *rest), dtype)
    if which == 3:
        return d.step("{0}[..., tf.newaxis]", [a], (*shape, 1), dtype)
    if which == 4:
        return d.step("{0}[..., -1]", [a], shape[:-1], dtype) if shape[-1] else None
    if which == 5:
        return d.step("tf.unstack({0})[0]", [a], rest, dtype)
    if which == 6 and first % 2 == 0:
        return d.step("tf.split({0}, 2)[1]", [a], (first // 2, *rest), dtype)
    size = [d.rng.randint(0, n) if d.chance(0.2) else max(n - 1, 0) for n in shape]
    begin = [d.rng.randint(0, n - m) for n, m in zip(shape, size, strict=True)]
    return d.step("tf.slice({0}, {begin}, {size})", [a], size, dtype, begin=begin, size=size)


def _slice(d: Draw, a: str) -> Any:
    """Any basic index: numbers, slices with steps of either sign, new axes, an ellipsis."""
    shape, texts = d.shape(a), []
    dots = d.chance(0.3)
    for n in shape[: d.rng.randint(1, len(shape))]:
        if d.chance(0.15):
            texts.append("tf.newaxis")
        if n and d.chance(0.35):
            i = d.rng.randrange(-n, n)
            texts.append(str(i) if d.chance(0.8) else f"tf.constant({i})")
        else:
            ends = [d.one(["", str(d.rng.randint(-n - 1, n + 1))]) for _ in range(2)]
            step = d.one(["", "", ":1", ":2", ":-1", ":-2"])
            texts.append(f"{ends[0]}:{ends[1]}{step}")
    if dots:
        texts.append("...")
        if d.chance(0.3):
            texts.append("tf.newaxis")
    key = ", ".join(texts)
    plain = key.replace("tf.newaxis", "None").replace("tf.constant", "int")
    to = np.zeros(shape)[eval(f"np.s_[{plain}]", {"np": np})].shape
    return d.step(f"{{0}}[{key}]", [a], to, d.dtype(a))


# ------------------------------------------------------------------------------------- index


def gather(d: Draw) -> Any:
    a = d.value((*FLOATS, *FLOATS, *WHOLE), fits=lambda s: len(s) > 0 and 0 not in s)
    shape, dtype = list(d.shape(a)), d.dtype(a)
    axis = d.axis(len(shape)) % len(shape)
    indices = [d.rng.randrange(shape[axis]) for _ in range(d.rng.randint(1, 4))]
    if axis == 0 and d.chance(0.3):
        pairs = [[i] for i in indices]
        return d.step("tf.gather_nd({0}, {at})", [a], [len(pairs), *shape[1:]], dtype, at=pairs)
    to = [*shape[:axis], len(indices), *shape[axis + 1 :]]
    if axis == 0 and d.chance(0.2):
        return d.step("tf.nn.embedding_lookup({0}, {at})", [a], to, dtype, at=indices)
    if len(shape) >= 2 and d.chance(0.2):
        at = [[d.rng.randrange(shape[1]) for _ in range(2)] for _ in range(shape[0])]
        to = [shape[0], 2, *shape[2:]]
        return d.step("tf.gather({0}, {at}, batch_dims=1)", [a], to, dtype, at=at)
    if len(shape) >= 2 and d.chance(0.2):
        at = [[d.rng.randrange(n) for n in shape[:2]] for _ in range(2)]
        return d.step("tf.gather_nd({0}, {at})", [a], [2, *shape[2:]], dtype, at=at)
    return d.step("tf.gather({0}, {at}, axis={axis})", [a], to, dtype, at=indices, axis=axis)


def scatter(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) > 0 and 0 not in s)
    shape, dtype = d.shape(a), d.dtype(a)
    rows = d.rng.randint(1, 3)
    if d.chance(0.3):
        at = [[d.rng.randrange(4)] for _ in range(shape[0])]
        to = [4, *shape[1:]]
        return d.step("tf.scatter_nd({at}, {0}, {to})", [a], to, dtype, at=at, to=to)
    how = d.one(["update", "add", "sub", "max", "min"])
    # Which of two updates of one place is the last is nowhere promised.
    at = [[i] for i in d.rng.sample(range(shape[0]), min(rows, shape[0]))]
    if how in ("add", "sub"):
        at = [[d.rng.randrange(shape[0])] for _ in range(rows)]
    b = d.need((len(at), *shape[1:]), dtype)
    return d.step(f"tf.tensor_scatter_nd_{how}({{0}}, {{at}}, {{1}})", [a, b], shape, dtype, at=at)


def segment(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) > 0 and 0 not in s)
    shape, dtype = d.shape(a), d.dtype(a)
    ids = [d.rng.randrange(3) for _ in range(shape[0])]
    if d.chance(0.4):
        ids = sorted(ids)
        how = d.one(["sum", "mean", "max", "min", "prod"])
        op = f"tf.math.segment_{how}({{0}}, {{ids}})"
        return d.step(op, [a], [ids[-1] + 1, *shape[1:]], dtype, ids=ids)
    how = d.one(["sum", "mean", "sqrt_n", "prod", "max", "min"])
    op = f"tf.math.unsorted_segment_{how}({{0}}, {{ids}}, 3)"
    if how in ("max", "min"):  # of no rows, the end of the numbers
        op = f"tf.clip_by_value({op}, -9.0, 9.0)"
    return d.step(op, [a], [3, *shape[1:]], dtype, ids=ids)


def pick(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) > 0 and 0 not in s)
    shape, dtype = d.shape(a), d.dtype(a)
    if d.chance(0.4):
        mask = [d.chance(0.6) for _ in range(shape[0])]
        to = [sum(mask), *shape[1:]]
        return d.step("tf.boolean_mask({0}, {mask})", [a], to, dtype, mask=mask)
    if d.chance(0.4):
        k = d.rng.randint(1, shape[-1])
        return d.step("tf.nn.top_k({0}, {k})[0]", [a], [*shape[:-1], k], dtype, k=k)
    if d.chance(0.3):
        mask = [d.chance(0.6) for _ in range(shape[-1])]
        axis, to = len(shape) - 1, [*shape[:-1], sum(mask)]
        op = "tf.boolean_mask({0}, {mask}, axis={axis})"
        return d.step(op, [a], to, dtype, mask=mask, axis=axis)
    parts = [d.rng.randrange(2) for _ in range(shape[0])]
    to = [sum(parts), *shape[1:]]
    return d.step("tf.dynamic_partition({0}, {parts}, 2)[1]", [a], to, dtype, parts=parts)


# ------------------------------------------------------------------------------------ linear


def matmul(d: Draw) -> Any:
    a = d.value(SLOPED if d.chance(0.2) else FLOATS, fits=lambda s: len(s) >= 2)
    *lead, m, k = d.shape(a)
    dtype, n = d.dtype(a), d.one([1, 2, 3])
    which = d.rng.randrange(6)
    if which == 0:
        b = d.need((k,), dtype)
        return d.step("tf.linalg.matvec({0}, {1})", [a, b], [*lead, m], dtype)
    if which == 1:
        b = d.need((m, n), dtype)
        return d.step("tf.matmul({0}, {1}, transpose_a=True)", [a, b], [*lead, k, n], dtype)
    if which == 2:
        b = d.need((n, k), dtype)
        return d.step("tf.matmul({0}, {1}, transpose_b=True)", [a, b], [*lead, m, n], dtype)
    b = d.need((k, n), dtype)
    if which == 3:
        return d.step("tf.tensordot({0}, {1}, axes=1)", [a, b], [*lead, m, n], dtype)
    if which == 4:
        return d.step('tf.einsum("...ij,jk->...ki", {0}, {1})', [a, b], [*lead, n, m], dtype)
    return d.step("{0} @ {1}", [a, b], [*lead, m, n], dtype)


def einsum(d: Draw) -> Any:
    a = d.value((*FLOATS, *COMPLEX) if d.chance(0.2) else FLOATS, fits=lambda s: len(s) == 2)
    m, n = d.shape(a)
    b = d.need((m, n), d.dtype(a))
    equation, to = d.one(
        [
            ("ij,ij->i", [m]),
            ("ij,ij->", []),
            ("ij,kj->ik", [m, m]),
            ("ij,ik->jk", [n, n]),
            ("ij,ij->ji", [n, m]),
            ("ij,kl->jl", [n, n]),
            ("ij,ij->j", [n]),
        ]
    )
    return d.step("tf.einsum({eq}, {0}, {1})", [a, b], to, d.dtype(a), eq=equation)


def square(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) == 2 and s[0] == s[1] and s[0] > 0)
    n, dtype = d.shape(a)[0], d.dtype(a)
    # Positive definite, with distinct eigenvalues.
    spread = [2.0 + 1.5 * i for i in range(n)]
    op = "tf.matmul(tf.tanh({0}), tf.tanh({0}), transpose_b=True)"
    op += " + tf.linalg.diag(tf.constant({spread}, {0}.dtype))"
    a = d.step(op, [a], (n, n), dtype, spread=spread)
    which = d.rng.randrange(3)
    if which == 0:
        return d.step(d.one(text.SQUARE), [a], (n, n), dtype)
    if which == 1:
        return d.step(d.one(text.SQUARE_TO_VECTOR), [a], (n,), dtype)
    return d.step(d.one(text.SQUARE_TO_SCALAR), [a], (), dtype)


# ------------------------------------------------------------------------------------ neural


def losses(d: Draw) -> Any:
    a = d.value(fits=lambda s: len(s) == 2 and 0 not in s)
    shape, dtype = d.shape(a), d.dtype(a)
    b = d.need(shape, dtype)
    which = d.rng.randrange(6)
    if which == 0:
        at = [d.rng.randrange(shape[1]) for _ in range(shape[0])]
        op = "tf.nn.sparse_softmax_cross_entropy_with_logits({at}, {0})"
        return d.step(op, [a], shape[:1], dtype, at=at)
    if which == 1:
        op = "tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax({1}), {0})"
        return d.step(op, [a, b], shape[:1], dtype)
    op = d.one(
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid({1}), logits={0})"
        " | tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid({1}), {0}, 2.0)"
        " | tf.nn.log_poisson_loss(tf.abs({1}), {0})"
        " | tf.nn.batch_normalization({0}, *tf.nn.moments({1}, [0]), None, None, 0.1)"
        " | tf.nn.bias_add({0}, {1}[0])"
        " | {0} - tf.nn.moments({1}, [1], keepdims=True)[0]"
        " | tf.nn.batch_normalization({0}, {1}[0], {1}[0] ** 2, {1}[0], {1}[0] + 1.0, 0.001)"
        " | tf.nn.log_poisson_loss(tf.abs({1}) + 1.5, {0}, compute_full_loss=True)"
        " | {0} * tf.nn.weighted_moments({1}, [0], tf.abs({0}) + 0.5, keepdims=True)[1]"
        " | {0} * tf.nn.normalize_moments({1}[0] * 0.0 + 2.0, *tf.nn.moments({1}, [0]), None)[1]"
        " | tf.nn.dropout({0}, 0.0) * {1} | {0} + tf.math.lbeta(tf.abs({1}) + 0.5)[:, None]"
        " | tf.cast(tf.math.in_top_k([0], tf.cast({0}[:1], 'float32'), 1), {0}.dtype) * {1}"
        " | {0} * tf.cast(tf.math.confusion_matrix([1, 0], [0, 1]), {1}.dtype)[0, 0]"
    )
    return d.step(op, [a, b], shape, dtype)


def convolve(d: Draw) -> Any:
    dtype = d.one(FLOATS)
    a = d.need((1, 3, 3, 2) if d.chance(0.5) else (1, 4, 3, 1), dtype)
    _, high, wide, deep = d.shape(a)
    same, by = d.chance(0.5), d.one([1, 1, 2])
    padding = "SAME" if same else "VALID"

    def left(n: int, k: int) -> int:
        return -(-n // by) if same else -(-(n - k + 1) // by)

    to = [1, left(high, 2), left(wide, 2)]
    params: dict[str, Any] = {"by": by, "padding": padding}
    if d.chance(0.5):
        op = f"tf.nn.{d.one(['max', 'avg'])}_pool2d({{0}}, 2, {{by}}, {{padding}})"
        return d.step(op, [a], [*to, deep], dtype, **params)
    if d.chance(0.3):
        b = d.need((2, 2, deep, 1), dtype)
        op = "tf.nn.depthwise_conv2d({0}, {1}, [1, {by}, {by}, 1], {padding})"
        return d.step(op, [a, b], [*to, deep], dtype, **params)
    b = d.need((2, 2, deep, 2), dtype)
    return d.step("tf.nn.conv2d({0}, {1}, {by}, {padding})", [a, b], [*to, 2], dtype, **params)


# ---------------------------------------------------------------- operands of their own shapes


def _shaped(d: Draw, table: str, dtypes: Sequence[str]) -> Any:
    """An expression of a table; its operands are values of these shapes, or new inputs."""
    op, of, to = d.one(shaped.listed(table))
    dtype = d.one(dtypes)
    return d.step(op, [d.need(shape, dtype) for shape in of], to, dtype)


def neural(d: Draw) -> Any:
    return _shaped(d, shaped.NEURAL, FLOATS)


def images(d: Draw) -> Any:
    return _shaped(d, shaped.IMAGES, ("float32",))


def signals(d: Draw) -> Any:
    return _shaped(d, shaped.SIGNALS, FLOATS)


def sparse(d: Draw) -> Any:
    return _shaped(d, shaped.SPARSE, FLOATS)


def linear(d: Draw) -> Any:
    return _shaped(d, shaped.LINEAR, (*FLOATS, *FLOATS, *COMPLEX))


def numpy_names(d: Draw) -> Any:
    return _shaped(d, shaped.NUMPY, FLOATS)


def wrong(d: Draw) -> Any:
    """One deliberate error; its result is never used."""
    a = d.value((*REAL, *COMPLEX, *WHOLE))
    op = d.one(text.WRONG)
    name = d.step(op, [a], (), "error")
    del d.known[name]
    return name


FAMILIES: list[tuple[int, Callable[[Draw], Any]]] = [
    (14, unary),
    (12, binary),
    (5, activation),
    (3, compare),
    (3, select),
    (1, logic),
    (2, whole),
    (1, whole_alone),
    (1, truth),
    (1, indicator),
    (1, made),
    (1, assign),
    (3, cast),
    (3, complexes),
    (4, flow),
    (5, over_rows),
    (7, reduce),
    (2, scalar),
    (1, position),
    (3, reshape),
    (3, transpose),
    (2, expand),
    (3, enlarge),
    (2, pad),
    (4, join),
    (5, part),
    (4, gather),
    (3, scatter),
    (2, segment),
    (2, pick),
    (4, matmul),
    (2, einsum),
    (4, square),
    (3, losses),
    (2, convolve),
    (4, neural),
    (1, images),
    (1, signals),
    (1, sparse),
    (1, linear),
    (2, numpy_names),
]
