"""tf.data: iterators, optionals, datasets in functions; errors."""

from __future__ import annotations

import numpy as np

from ..harness import attempt, case, cases


@case
def iterators(tf):
    iterator = iter(tf.data.Dataset.range(3))
    first = next(iterator)
    second = iterator.get_next()
    third = iterator.get_next_as_optional()
    fourth = iterator.get_next_as_optional()
    return (
        first,
        second,
        third.has_value(),
        third.get_value(),
        fourth.has_value(),
        str(third.element_spec),
        str(iterator.element_spec),
        attempt(fourth.get_value),
        attempt(iterator.get_next),
        [int(x) for x in iter(tf.data.Dataset.range(2))],
    )


@case
def optionals(tf):
    optional = tf.experimental.Optional.from_value({"a": 1, "b": (2.0, "x")})
    empty = tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
    return (
        optional.has_value(),
        optional.get_value(),
        str(optional.element_spec),
        empty.has_value(),
        attempt(empty.get_value),
        str(tf.OptionalSpec.from_value(empty)),
        tf.OptionalSpec(tf.TensorSpec([], tf.int32)) == tf.OptionalSpec.from_value(empty),
    )


@case
def an_iterator_as_an_argument(tf):
    @tf.function
    def draw(iterator):
        return next(iterator) * 2

    iterator = iter(tf.data.Dataset.range(4))
    found = [draw(iterator) for _ in range(3)]
    other = draw(iter(tf.data.Dataset.range(10, 12)))
    rest = next(iterator)
    return (
        found,
        other,
        rest,
        attempt(lambda: draw(iterator)),
        draw.experimental_get_tracing_count(),
    )


@case
def an_iterator_from_outside(tf):
    iterator = iter(tf.data.Dataset.range(4).map(lambda x: (x, -x)))

    @tf.function
    def draw():
        first, second = next(iterator)
        return first * 10 + second

    return [draw(), next(iterator), draw(), draw.experimental_get_tracing_count()]


@case
def several_steps_in_a_function(tf):
    total = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def steps(iterator):
        for _ in tf.range(3):
            total.assign_add(next(iterator))
        return total.read_value()

    iterator = iter(tf.data.Dataset.range(9))
    return [steps(iterator) for _ in range(3)], total


@case
def a_loop_over_a_dataset_in_a_function(tf):
    total = tf.Variable(0, dtype=tf.int64)
    data = tf.data.Dataset.range(5).shuffle(5, seed=1)

    @tf.function
    def run():
        for x in data:
            total.assign_add(x)
            total.assign(total * 2)
        return total.read_value()

    return run(), run(), total


@case
def a_dataset_as_an_argument(tf):
    @tf.function
    def run(data):
        total = tf.constant(0, tf.int64)
        for x in data:
            total += x
        return total

    return run(tf.data.Dataset.range(4)), run(tf.data.Dataset.range(7))


@case
def a_dataset_made_in_a_function(tf):
    @tf.function
    def run(x):
        data = tf.data.Dataset.from_tensor_slices(x).map(lambda v: v * 2)
        return data.reduce(0.0, lambda s, v: s + v)

    return run(tf.constant([1.0, 2.0])), run(tf.constant([3.0, 4.0])), run(tf.constant([1.0]))


@case
def an_optional_in_a_function(tf):
    @tf.function
    def draw(iterator):
        optional = iterator.get_next_as_optional()
        if optional.has_value():
            return optional.get_value()
        return tf.constant(-1, tf.int64)

    iterator = iter(tf.data.Dataset.range(2))
    return [draw(iterator) for _ in range(4)]


@case
def training_in_a_function(tf):
    weight = tf.Variable(1.0)
    x = np.arange(8, dtype=np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, 3 * x)).shuffle(8, seed=1).batch(3)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * x - y) ** 2)
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss

    return [step(x, y) for _ in range(2) for x, y in data], weight


WRONG = {
    "slices_scalar": lambda tf, d: tf.data.Dataset.from_tensor_slices(3),
    "slices_mismatch": lambda tf, d: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])),
    "batch_0": lambda tf, d: d.batch(0),
    "batch_mixed": lambda tf, d: list(d.map(lambda x: tf.fill([x], x)).batch(2)),
    "shuffle_0": lambda tf, d: d.shuffle(0),
    "shard_0": lambda tf, d: list(d.shard(0, 0)),
    "shard_index": lambda tf, d: list(d.shard(2, 2)),
    "unbatch_scalar": lambda tf, d: d.unbatch(),
    "rebatch_scalar": lambda tf, d: d.rebatch(2),
    "map_arguments": lambda tf, d: d.map(lambda x, y: x),
    "map_object": lambda tf, d: d.map(lambda x: object()),
    "filter_number": lambda tf, d: d.filter(lambda x: x),
    "flat_map_tensor": lambda tf, d: d.flat_map(lambda x: x),
    "concatenate": lambda tf, d: d.concatenate(tf.data.Dataset.from_tensors("text")),
    "zip_list": lambda tf, d: tf.data.Dataset.zip([d, d]),
    "zip_nothing": lambda tf, d: tf.data.Dataset.zip(),
    "single": lambda tf, d: d.get_single_element(),
    "single_empty": lambda tf, d: d.take(0).get_single_element(),
    "len_unknown": lambda tf, d: len(d.filter(lambda x: True)),
    "len_infinite": lambda tf, d: len(d.repeat()),
    "apply": lambda tf, d: d.apply(lambda d: 3),
    "window_0": lambda tf, d: list(d.window(0)),
    "group_by_window": lambda tf, d: d.group_by_window(lambda x: x, lambda k, g: g),
    "reduce_dtype": lambda tf, d: d.reduce(0, lambda s, x: x),
    "scan_single": lambda tf, d: d.scan(0, lambda s, x: s),
    "generator": lambda tf, d: tf.data.Dataset.from_generator(3, tf.int32),
    "generator_no_types": lambda tf, d: tf.data.Dataset.from_generator(lambda: iter([1])),
    "generator_type": lambda tf, d: list(
        tf.data.Dataset.from_generator(lambda: iter(["a"]), output_types=tf.int32)
    ),
    "generator_shape": lambda tf, d: list(
        tf.data.Dataset.from_generator(
            lambda: iter([[1]]), output_signature=tf.TensorSpec([2], tf.int32)
        )
    ),
    "generator_structure": lambda tf, d: list(
        tf.data.Dataset.from_generator(lambda: iter([1]), output_types=(tf.int32, tf.int32))
    ),
    "padded_smaller": lambda tf, d: list(d.map(lambda x: tf.fill([x], x)).padded_batch(9, [2])),
    "padded_rank": lambda tf, d: d.padded_batch(2, padded_shapes=[3]),
    "padded_value": lambda tf, d: d.padded_batch(2, padding_values=1.5),
    "bucket_sizes": lambda tf, d: d.bucket_by_sequence_length(lambda x: x, [1], [1]),
    "unique_floats": lambda tf, d: d.map(lambda x: 1.5).unique(),
    "cardinality": lambda tf, d: list(d.apply(tf.data.experimental.assert_cardinality(3))),
    "choose_floats": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [d], tf.data.Dataset.from_tensors(1.5)
    ),
    "sample_nothing": lambda tf, d: tf.data.Dataset.sample_from_datasets([]),
    "sample_weights": lambda tf, d: tf.data.Dataset.sample_from_datasets([d, d], [1.0]),
    "fails_later": lambda tf, d: list(d.map(lambda x: tf.gather([1, 2, 3], x))),
    "repeat_text": lambda tf, d: d.repeat("x"),
    "load": lambda tf, d: tf.data.Dataset.load("/nowhere/at/all"),
}


@cases(wrong=WRONG, excuses=True)
def errors(tf, wrong):
    return wrong(tf, tf.data.Dataset.range(5))
