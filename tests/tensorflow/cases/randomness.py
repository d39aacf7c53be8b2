"""Random numbers: the exact sequences that seeds give, and the ranges of those without one."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.harness import attempt, case, cases


@cases(
    op=["stateless_uniform", "stateless_normal", "stateless_truncated_normal"],
    dtype=["float32", "float64", "float16", "bfloat16"],
    shape=[(), (3,), (2, 3), (0, 3)],
)
def stateless(tf, op, dtype, shape):
    return getattr(tf.random, op)(shape, seed=[1, 2], dtype=dtype)


@cases(
    seed={
        "zero": (0, 0),
        "large": (2**31 - 1, 7),
        "negative": (-1, 5),
        "array": np.array([3, 4]),
        "short": (1,),
        "scalar": 1,
        "fraction": (1.5, 2.0),
        "huge": (2**40, 1),
    }
)
def stateless_seeds(tf, seed):
    return tf.random.stateless_uniform([3], seed), tf.random.stateless_normal([3], seed=seed)


@cases(
    given={
        "range": lambda r: r.stateless_uniform([4], [1, 2], minval=-3.0, maxval=5.0),
        "whole": lambda r: r.stateless_uniform([6], [1, 2], minval=0, maxval=10, dtype="int32"),
        "whole64": lambda r: r.stateless_uniform([4], [1, 2], minval=-5, maxval=5, dtype="int64"),
        "full_range": lambda r: r.stateless_uniform([3], [1, 2], None, None, "int32"),
        "whole_no_bounds": lambda r: r.stateless_uniform([3], [1, 2], dtype="int32"),
        "moments": lambda r: r.stateless_normal([4], [1, 2], mean=3.0, stddev=0.5),
        "broadcast": lambda r: r.stateless_normal([2, 2], [1, 2], mean=[1.0, 5.0]),
        "truncated": lambda r: r.stateless_truncated_normal([5], [1, 2], 1.0, 2.0),
        "long": lambda r: r.stateless_uniform([9], [7, 9]),
        "long_normal": lambda r: r.stateless_normal([9], [7, 9]),
        "bernoulli_like": lambda r: r.stateless_uniform([4], [1, 2]) < 0.5,
        "categorical": lambda r: r.stateless_categorical([[0.0, 1.0]], 5, [1, 2]),
        "philox": lambda r: r.stateless_uniform([3], [1, 2], alg="philox"),
        "split": lambda r: r.split([1, 2], 2),
        "fold_in": lambda r: r.fold_in([1, 2], 3),
        "shuffle": lambda r: r.experimental.stateless_shuffle(list(range(6)), [1, 2]),
        "swapped": lambda r: r.stateless_uniform([2], [1, 2], 5.0, 1.0),
        "no_seed": lambda r: r.stateless_uniform([2]),
        "bad_shape": lambda r: r.stateless_uniform([-1], [1, 2]),
        "text_dtype": lambda r: r.stateless_uniform([1], [1, 2], dtype="string"),
    }
)
def stateless_options(tf, given):
    return given(tf.random)


SEEDED = {
    "normal": lambda r: r.normal([3]),
    "normal_keywords": lambda r: r.normal(shape=[2], mean=1.0, stddev=2.0, dtype="float64"),
    "uniform": lambda r: r.uniform([3]),
    "uniform_range": lambda r: r.uniform(shape=(3,), minval=-1, maxval=1),
    "uniform_whole": lambda r: r.uniform([4], maxval=10, dtype="int32"),
    "uniform_wide": lambda r: r.uniform([2], dtype="float64"),
    "truncated_normal": lambda r: r.truncated_normal([4], stddev=0.5),
    "gamma": lambda r: r.gamma([2], alpha=2.0, beta=1.0),
    "shuffle": lambda r: r.shuffle(list(range(8))),
    "categorical": lambda r: r.categorical([[0.0, 1.0, 2.0]], 6),
}


@cases(draw=SEEDED, seed=[0, 42])
def global_seed(tf, draw, seed):
    tf.random.set_seed(seed)
    first, second = draw(tf.random), draw(tf.random)
    tf.random.set_seed(seed)
    return first, second, draw(tf.random)


@cases(op=["normal", "uniform", "truncated_normal"], seed={"one": 1, "seven": 7})
def op_seed(tf, op, seed):
    tf.random.set_seed(5)
    draw = lambda: getattr(tf.random, op)([2], seed=seed)
    first, second = draw(), draw()
    tf.random.set_seed(5)
    return first, second, draw()


@case
def interleaved(tf):
    tf.random.set_seed(3)
    return [
        tf.random.normal([2]),
        tf.random.uniform([2]),
        tf.random.normal([2], seed=1),
        tf.random.normal([2]),
    ]


@case
def shuffle_with_seeds(tf):
    tf.random.set_seed(9)
    x = tf.reshape(tf.range(12), [6, 2])
    return tf.random.shuffle(x, seed=4), tf.random.shuffle(x, seed=4)


@cases(
    draw={
        "normal": lambda tf, g: g.normal([3]),
        "normal_keywords": lambda tf, g: g.normal([2], mean=1.0, stddev=2.0, dtype=tf.float64),
        "uniform": lambda tf, g: g.uniform([3]),
        "uniform_whole": lambda tf, g: g.uniform([3], maxval=10, dtype=tf.int32),
        "truncated": lambda tf, g: g.truncated_normal([3]),
        "full_int": lambda tf, g: g.uniform_full_int([2]),
        "binomial": lambda tf, g: g.binomial([2], counts=5.0, probs=0.5).shape,
        "make_seeds": lambda tf, g: g.make_seeds(2),
        "split": lambda tf, g: [h.normal([1]) for h in g.split(2)],
        "key": lambda tf, g: g.key,
        "state": lambda tf, g: g.state,
        "algorithm": lambda tf, g: g.algorithm,
        "skip": lambda tf, g: (g.skip(10), g.normal([2]))[1],
        "odd_sizes": lambda tf, g: [g.normal([1]), g.normal([5]), g.uniform([3])],
        "reset": lambda tf, g: (g.reset_from_seed(1), g.normal([2]))[1],
    }
)
def generator(tf, draw):
    g = tf.random.Generator.from_seed(1)
    return draw(tf, g), g.normal([2])


@case
def generators(tf):
    g = tf.random.Generator.from_seed(7, alg="philox")
    h = tf.random.Generator.from_key_counter(key=3, counter=[0, 0], alg="philox")
    free = tf.random.Generator.from_non_deterministic_state()
    tf.random.set_global_generator(tf.random.Generator.from_seed(2))
    return [
        g.normal([2]),
        h.normal([2]),
        h.uniform([2]),
        free.normal([2]).shape,
        tf.random.get_global_generator().normal([2]),
        attempt(lambda: tf.random.Generator.from_seed(1, alg="nonsense").normal([1])),
    ]


@cases(op=["normal", "uniform", "truncated_normal"], dtype=["float16", "float32", "float64"])
def free(tf, op, dtype):
    x = getattr(tf.random, op)([500], dtype=dtype)
    wide = tf.cast(x, tf.float64)
    low, high = float(tf.reduce_min(wide)), float(tf.reduce_max(wide))
    bounds = {"normal": (-7, 7), "uniform": (0, 1), "truncated_normal": (-2, 2)}[op]
    middle = float(tf.reduce_mean(wide))
    expected = 0.5 if op == "uniform" else 0.0
    return x.shape, x.dtype, bounds[0] <= low, high <= bounds[1], abs(middle - expected) < 0.3


@case
def free_things(tf):
    x = tf.random.uniform([200], minval=2, maxval=5, dtype=tf.int32)
    shuffled = tf.random.shuffle(tf.range(50))
    drawn = tf.random.categorical(tf.math.log([[0.5, 0.5]]), 20)
    return [
        x.dtype,
        tf.reduce_all((x >= 2) & (x < 5)),
        tf.sort(shuffled),
        drawn.shape,
        drawn.dtype,
        tf.random.categorical([[0.0, 1.0]], 3, dtype=tf.int32).dtype,
        tf.random.normal(tf.constant([2, 3])).shape,
        tf.random.normal([]).shape,
        tf.random.normal([0, 3]),
        tf.random.gamma([3], alpha=[1.0, 2.0]).shape,
        bool(tf.reduce_any(tf.random.normal([4]) != tf.random.normal([4]))),
    ]


@cases(
    given={
        "whole_normal": lambda r: r.normal([2], dtype="int32"),
        "whole_no_maximum": lambda r: r.uniform([2], dtype="int32"),
        "negative_shape": lambda r: r.normal([-1]),
        "no_shape": lambda r: r.normal(),
        "text_shape": lambda r: r.normal("a"),
        "fraction_shape": lambda r: r.normal([1.5]),
        "equal_bounds": lambda r: r.uniform([2], 3, 3, "int32"),
        "shuffle_scalar": lambda r: r.shuffle(3),
        "categorical_vector": lambda r: r.categorical([0.0, 1.0], 2),
    }
)
def bad(tf, given):
    return given(tf.random)


@cases(name=["random_normal_initializer", "random_uniform_initializer"], seed=[1, 5])
def initializers(tf, name, seed):
    tf.random.set_seed(0)
    make = getattr(tf, name)
    options = {"stddev": 2.0, "mean": 1.0} if "normal" in name else {"minval": -1.0, "maxval": 2.0}
    once = make(**options, seed=seed)
    return once([2, 2]), once([2], dtype=tf.float64), attempt(lambda: once([2], dtype=tf.int32))


@case
def draws_are_followed(tf):
    tf.random.set_seed(1)
    mean = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(mean)
        y = tf.random.normal([2], mean=mean, stddev=mean)
        z = tf.random.stateless_normal([2], [1, 2], mean=mean)
        u = tf.random.uniform([2], maxval=mean)
    return y, [tape.gradient(v, mean) for v in (y, z, u)]


@cases(dtype=["bfloat16", "float16", "complex64", "int32"], alpha={"2.0": 2.0, "2": 2})
def gamma_of_other_dtypes(tf, dtype, alpha):
    calls = (
        lambda: tf.random.gamma([2], alpha, dtype=dtype).dtype,
        lambda: tf.random.stateless_gamma([2], [1, 2], alpha, dtype=dtype).dtype,
        lambda: tf.random.stateless_gamma([2], [1, 2], alpha, tf.ones([]), dtype=dtype).dtype,
    )
    return [attempt(call) for call in calls]
