"""Steps for programs that run in a `tf.function`: Python that looks at numbers, state and chance.

`FAMILIES` are drawn beside the others'; the functions are what their expressions call as `py.…`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tensorflow.fuzz.draw import FLOATS, Draw


# --- what programs call ---------------------------------------------------------------------------
def branch(tf: Any, x: Any, y: Any) -> Any:
    """A Python `if` on a tensor."""
    return tf.sin(x) if tf.reduce_sum(x) > tf.reduce_mean(y) else x * 0.5 - 1.0


def halved(tf: Any, x: Any) -> Any:
    """A Python `while` whose length depends on the numbers."""
    for _ in range(6):
        if not tf.reduce_max(tf.abs(tf.reshape(x, [-1])), axis=None) > 1.0:
            break
        x = x * 0.5
    return x


def early(tf: Any, x: Any) -> Any:
    """The rows of a tensor up to the first one that is large, which is returned."""
    rows = tf.reshape(x, [-1])
    total = rows[0] * 0.0
    for row in rows:
        if row > 1.0:
            return x * row + total
        total += row * row
    return x + total


def recursive(tf: Any, x: Any, depth: int = 4) -> Any:
    """A function that calls itself as long as it is asked to by the numbers."""
    if not depth or tf.reduce_mean(x) <= 0.25:
        return tf.tanh(x)
    return recursive(tf, x - 0.5, depth - 1) * 0.75


def counted(tf: Any, x: Any) -> Any:
    """Python's whole numbers out of a tensor."""
    times = int(tf.cast(tf.clip_by_value(tf.reduce_sum(x), -2.0, 2.0), "int32"))
    for _ in range(min(abs(times), 2)):  # of NaN, a cast makes what it likes
        x = tf.cos(x) + times
    return x


def caught(tf: Any, x: Any) -> Any:
    """An exception that the program handles."""
    try:
        tf.debugging.assert_less(tf.reduce_sum(x), tf.cast(1.5, x.dtype))
    except tf.errors.InvalidArgumentError:
        return x * 0.25
    return x * 2.0


def refused(tf: Any, x: Any) -> Any:
    """An exception that it does not handle, for some numbers."""
    tf.debugging.assert_less(tf.reduce_sum(x), tf.cast(4.0, x.dtype), "too much")
    return x + 1.0


def masked(tf: Any, x: Any) -> Any:
    """A size that depends on the numbers."""
    kept = tf.boolean_mask(x, x > 0.0)
    return tf.reduce_sum(kept * kept) + x * float(kept.shape[0])


def placed(tf: Any, x: Any) -> Any:
    """A place that does."""
    flat = tf.reshape(x, [-1])
    return flat[tf.argmax(flat)] + tf.gather(flat, tf.argmin(flat)) * x


def stepped(tf: Any, variable: Any, x: Any) -> Any:
    """A step down a gradient, then a look at what the variable holds now."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(variable)) + tf.reduce_sum(tf.sin(x))
    variable.assign_sub(0.125 * tape.gradient(loss, variable))
    return x * 0.5 if tf.reduce_sum(variable) > 0.5 else x - loss


def nested(tf: Any, x: Any) -> Any:
    """A tape in a tape."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x)
        first = tape.gradient(y, x)
    return outer.gradient(first, x) + first


def told(tf: Any, x: Any) -> Any:
    """A printed line between looks at numbers."""
    tf.print(tf.reduce_sum(x), output_stream="file:///dev/null")
    return tf.square(x) if tf.reduce_sum(x) > 0.0 else x


# --- steps ----------------------------------------------------------------------------------------
ALONE = [halved, early, recursive, counted, caught, refused, masked, placed, nested, told]


def looks(d: Draw) -> Any:
    a = d.value(FLOATS, fits=lambda s: 0 not in s)
    if d.chance(0.15):
        b = d.value(FLOATS, fits=lambda s: 0 not in s)
        return d.step("py.branch(tf, {0}, tf.cast({1}, {0}.dtype))", [a, b], *d.known[a])
    return d.step(f"py.{d.one(ALONE).__name__}(tf, {{0}})", [a], *d.known[a])


def steps(d: Draw) -> Any:
    a = d.value(FLOATS, fits=lambda s: 0 not in s)
    same = [g["name"] for g in d.inputs if g["kind"] == "variable" and g["dtype"] == d.dtype(a)]
    if not same or d.copies:
        return None
    return d.step("py.stepped(tf, {1}, {0})", [a, d.one(same)], *d.known[a])


def draws(d: Draw) -> Any:
    """Random numbers whose state is compared: those of a generator."""
    a = d.value(FLOATS)
    op = d.one(
        "{0} + chance.normal({0}.shape, dtype={0}.dtype)"
        " | {0} * chance.uniform({0}.shape, dtype={0}.dtype)"
        " | {0} if chance.uniform([]) < 0.5 else {0} * 2.0"
        " | {0} * tf.random.stateless_normal("
        "{0}.shape, chance.make_seeds(1)[:, 0], dtype={0}.dtype)"
    )
    return d.step(op, [a], *d.known[a])


FAMILIES: list[tuple[int, Callable[[Draw], Any]]] = [(12, looks), (4, steps), (4, draws)]
