"""tf.data: the elements that sources and transformations give."""

from __future__ import annotations

import collections
import os
import tempfile

import numpy as np

from ..harness import attempt, case, cases

Pair = collections.namedtuple("Pair", "first second")


def listed(dataset, count=50):
    """The first elements."""
    return list(dataset.take(count))


SOURCES = {
    "range": lambda tf, D: D.range(5),
    "range2": lambda tf, D: D.range(2, 5),
    "range3": lambda tf, D: D.range(5, 1, -2),
    "range_empty": lambda tf, D: D.range(5, 1),
    "range_float": lambda tf, D: D.range(3, output_type=tf.float32),
    "tensors": lambda tf, D: D.from_tensors([[1, 2], [3, 4]]),
    "tensors_nest": lambda tf, D: D.from_tensors(({"b": 1, "a": [2.5]}, "text")),
    "slices": lambda tf, D: D.from_tensor_slices([[1, 2], [3, 4]]),
    "slices_pair": lambda tf, D: D.from_tensor_slices(([1, 2], ["a", "b"])),
    "slices_dict": lambda tf, D: D.from_tensor_slices({"x": [1.0, 2.0], "a": [[1], [2]]}),
    "slices_named": lambda tf, D: D.from_tensor_slices(Pair([1, 2], [3, 4])),
    "slices_deep": lambda tf, D: D.from_tensor_slices((([1, 2], [3, 4]), {"k": [5, 6]})),
    "slices_array": lambda tf, D: D.from_tensor_slices(np.arange(6.0).reshape(3, 2)),
    "slices_ragged": lambda tf, D: D.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])),
    "slices_ragged_deep": lambda tf, D: D.from_tensor_slices(
        tf.ragged.constant([[[1], [2, 3]], [[4]]])
    ),
    "slices_sparse": lambda tf, D: D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 3]])),
    "counter": lambda tf, D: D.counter(3, 2).take(3),
    "counter_float": lambda tf, D: D.counter(dtype=tf.float32, step=0.5).take(3),
    "zip": lambda tf, D: D.zip((D.range(3), D.range(5))),
    "zip_args": lambda tf, D: D.zip(D.range(3), D.range(5)),
    "zip_dict": lambda tf, D: D.zip({"a": D.range(2), "b": (D.range(3), D.range(4))}),
    "zip_one": lambda tf, D: D.zip((D.range(2),)),
    "list": lambda tf, D: tf.data.experimental.from_list([1, 2, 3]),
    "generator": lambda tf, D: D.from_generator(
        lambda: iter([(1, [2.0]), (3, [4.0, 5.0])]), output_types=(tf.int32, tf.float32)
    ),
    "generator_shapes": lambda tf, D: D.from_generator(
        lambda: iter([1, 2]), output_types=tf.int64, output_shapes=()
    ),
    "generator_signature": lambda tf, D: D.from_generator(
        lambda: iter([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        output_signature={
            "a": tf.TensorSpec([], tf.int32),
            "b": tf.TensorSpec([], tf.string),
        },
    ),
    "generator_args": lambda tf, D: D.from_generator(
        lambda stop, scale: (k * scale for k in range(stop)),
        output_signature=tf.TensorSpec([], tf.float32),
        args=(3, 0.5),
    ),
    "generator_ragged": lambda tf, D: D.from_generator(
        lambda: iter([tf.ragged.constant([[1], [2, 3]])]),
        output_signature=tf.RaggedTensorSpec([2, None], tf.int32),
    ),
}


@cases(source=SOURCES)
def sources(tf, source):
    made = source(tf, tf.data.Dataset)
    return listed(made), str(made.element_spec), int(made.cardinality()), repr(made)


STEPS = {
    "batch": lambda tf, d: d.batch(3),
    "batch_drop": lambda tf, d: d.batch(3, drop_remainder=True),
    "batch_parallel": lambda tf, d: d.batch(3, num_parallel_calls=2),
    "batch_twice": lambda tf, d: d.batch(2).batch(2),
    "unbatch": lambda tf, d: d.batch(3).unbatch(),
    "unbatch_drop": lambda tf, d: d.batch(3, drop_remainder=True).unbatch(),
    "rebatch": lambda tf, d: d.batch(4).rebatch(3),
    "rebatch_list": lambda tf, d: d.batch(4).rebatch([1, 2]),
    "rebatch_drop": lambda tf, d: d.batch(4).rebatch(3, drop_remainder=True),
    "repeat": lambda tf, d: d.repeat(2),
    "repeat_0": lambda tf, d: d.repeat(0),
    "repeat_for_ever": lambda tf, d: d.repeat(),
    "repeat_batch": lambda tf, d: d.repeat(2).batch(4),
    "batch_repeat": lambda tf, d: d.batch(4).repeat(2),
    "take": lambda tf, d: d.take(3),
    "take_all": lambda tf, d: d.take(-1),
    "take_more": lambda tf, d: d.take(100),
    "skip": lambda tf, d: d.skip(7),
    "skip_all": lambda tf, d: d.skip(-1),
    "skip_more": lambda tf, d: d.skip(100),
    "take_skip_batch": lambda tf, d: d.skip(1).take(7).batch(3),
    "shard": lambda tf, d: d.shard(3, 1),
    "shard_last": lambda tf, d: d.shard(3, 2),
    "shard_batch": lambda tf, d: d.shard(3, 0).batch(2),
    "concatenate": lambda tf, d: d.concatenate(d.take(2)),
    "enumerate": lambda tf, d: d.enumerate(),
    "enumerate_start": lambda tf, d: d.enumerate(start=5),
    "enumerate_batch": lambda tf, d: d.enumerate(start=5).batch(4),
    "map": lambda tf, d: d.map(lambda x: x * x),
    "map_parallel": lambda tf, d: d.map(lambda x: x * x, num_parallel_calls=3),
    "map_autotune": lambda tf, d: d.map(lambda x: x * x, num_parallel_calls=tf.data.AUTOTUNE),
    "map_tuple": lambda tf, d: d.map(lambda x: (x, tf.cast(x, tf.float32) / 2)),
    "map_dict": lambda tf, d: d.map(lambda x: {"b": x, "a": 1}),
    "map_list": lambda tf, d: d.map(lambda x: [x, x]),
    "map_number": lambda tf, d: d.map(lambda x: 3.5),
    "map_none": lambda tf, d: d.map(lambda x: (x, None)),
    "map_named": lambda tf, d: d.map(lambda x: Pair(x, x + 1)),
    "map_text": lambda tf, d: d.map(lambda x: tf.strings.as_string(x)),
    "map_two": lambda tf, d: d.map(lambda x: (x, x + 1)).map(lambda a, b: a * b),
    "map_branch": lambda tf, d: d.map(lambda x: x if x > 4 else -x),
    "map_size": lambda tf, d: d.map(lambda x: tf.fill([x], x)),
    "map_batch": lambda tf, d: d.map(lambda x: x + 1).batch(4),
    "batch_map": lambda tf, d: d.batch(4).map(lambda x: tf.reduce_sum(x)),
    "batch_map_rows": lambda tf, d: d.batch(4).map(lambda x: x + 1),
    "map_ragged": lambda tf, d: d.map(
        lambda x: tf.RaggedTensor.from_row_lengths([x, x, x], [1, 2])
    ),
    "filter": lambda tf, d: d.filter(lambda x: x % 3 == 0),
    "filter_pair": lambda tf, d: d.map(lambda x: (x, x + 1)).filter(lambda a, b: b > 4),
    "take_while": lambda tf, d: d.take_while(lambda x: x < 4),
    "flat_map": lambda tf, d: d.flat_map(lambda x: tf.data.Dataset.range(x)),
    "flat_map_slices": lambda tf, d: d.batch(4).flat_map(
        lambda x: tf.data.Dataset.from_tensor_slices(x + 1)
    ),
    "interleave": lambda tf, d: d.interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
    ),
    "interleave_uneven": lambda tf, d: d.interleave(
        lambda x: tf.data.Dataset.range(x), cycle_length=3, block_length=2
    ),
    "interleave_wide": lambda tf, d: d.interleave(
        lambda x: tf.data.Dataset.range(x), cycle_length=20, block_length=1
    ),
    "scan": lambda tf, d: d.scan(np.int64(0), lambda s, x: (s + x, s + x)),
    "scan_pair": lambda tf, d: d.scan(
        (np.int64(0), 1.0), lambda s, x: ((s[0] + x, s[1] * 2), {"sum": s[0], "power": s[1]})
    ),
    "cache": lambda tf, d: d.cache(),
    "cache_batch": lambda tf, d: d.map(lambda x: x * 2).cache().batch(3),
    "prefetch": lambda tf, d: d.prefetch(2),
    "prefetch_0": lambda tf, d: d.prefetch(0),
    "prefetch_autotune": lambda tf, d: d.batch(2).prefetch(tf.data.AUTOTUNE),
    "unique": lambda tf, d: d.map(lambda x: x % 4).unique(),
    "window": lambda tf, d: d.window(3).flat_map(lambda w: w.batch(3)),
    "window_shift": lambda tf, d: d.window(3, shift=1).flat_map(lambda w: w.batch(3)),
    "window_drop": lambda tf, d: d.window(3, shift=1, drop_remainder=True).flat_map(
        lambda w: w.batch(3)
    ),
    "window_stride": lambda tf, d: d.window(3, shift=2, stride=2).flat_map(lambda w: w.batch(3)),
    "window_gaps": lambda tf, d: d.window(2, shift=4).flat_map(lambda w: w.batch(2)),
    "window_gaps_drop": lambda tf, d: d.window(2, shift=4, stride=3, drop_remainder=True).flat_map(
        lambda w: w.batch(2)
    ),
    "window_map": lambda tf, d: d.window(4).map(lambda w: w.batch(2)).flat_map(lambda w: w),
    "window_pair": lambda tf, d: (
        tf.data.Dataset.zip((d, d.skip(1)))
        .window(3)
        .flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(3), b.batch(3))))
    ),
    "group_by_window": lambda tf, d: d.group_by_window(
        lambda x: x % 3, lambda key, group: group.batch(2), window_size=2
    ),
    "group_by_window_size": lambda tf, d: d.group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(10), window_size_func=lambda key: key + 2
    ),
    "padded_batch": lambda tf, d: d.map(lambda x: tf.fill([x], x)).padded_batch(4),
    "padded_batch_shape": lambda tf, d: d.map(lambda x: tf.fill([x], x)).padded_batch(
        4, padded_shapes=[12], padding_values=tf.constant(-1, tf.int64)
    ),
    "padded_batch_open": lambda tf, d: d.map(lambda x: tf.fill([x], x)).padded_batch(
        4, padded_shapes=[None], drop_remainder=True
    ),
    "padded_batch_pair": lambda tf, d: d.map(lambda x: (tf.fill([x], 1.0), x)).padded_batch(
        3, padded_shapes=([None], []), padding_values=(-1.0, None)
    ),
    "padded_batch_text": lambda tf, d: d.map(
        lambda x: tf.fill([x], tf.strings.as_string(x))
    ).padded_batch(3),
    "ragged_batch": lambda tf, d: d.map(lambda x: tf.fill([x], x)).ragged_batch(4),
    "ragged_batch_drop": lambda tf, d: d.map(lambda x: tf.fill([x], x)).ragged_batch(
        4, drop_remainder=True
    ),
    "ragged_batch_deep": lambda tf, d: d.map(lambda x: tf.fill([x, 2], x)).ragged_batch(3),
    "ragged_batch_unbatch": lambda tf, d: (
        d.map(lambda x: tf.fill([x], x)).ragged_batch(4).unbatch()
    ),
    "bucket": lambda tf, d: d.map(lambda x: tf.fill([x], x)).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 5], [2, 3, 2]
    ),
    "bucket_boundary": lambda tf, d: d.map(lambda x: tf.fill([x], x)).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 12], [2, 3, 2], pad_to_bucket_boundary=True
    ),
    "assert_cardinality": lambda tf, d: d.filter(lambda x: x < 5).apply(
        tf.data.experimental.assert_cardinality(5)
    ),
    "choose": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [d, d.map(lambda x: -x)], tf.data.Dataset.range(2).repeat(3)
    ),
    "choose_go_on": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [d.take(1), d.map(lambda x: -x)],
        tf.data.Dataset.range(2).repeat(3),
        stop_on_empty_dataset=False,
    ),
    "options": lambda tf, d: d.with_options(tf.data.Options()),
    "apply": lambda tf, d: d.apply(lambda d: d.batch(2)),
    "shuffle_and_batch": lambda tf, d: d.shuffle(4, seed=2).batch(3),
    "ignore_errors": lambda tf, d: d.map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 3, tf.float32), "infinite")
    ).ignore_errors(),
    "group_by_reducer": lambda tf, d: d.apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x % 2,
            tf.data.experimental.Reducer(
                lambda key: np.int64(0), lambda s, x: s + x, lambda s: s * 10
            ),
        )
    ),
    "pad_to_cardinality": lambda tf, d: d.map(lambda x: {"x": x}).apply(
        tf.data.experimental.pad_to_cardinality(12)
    ),
}


@cases(step=STEPS)
def steps(tf, step):
    made = step(tf, tf.data.Dataset.range(10))
    return listed(made), str(made.element_spec), int(made.cardinality())


@cases(step=["batch", "unbatch", "enumerate", "concatenate", "take", "cache", "prefetch", "map"])
def steps_of_pairs(tf, step):
    x, y = np.arange(10.0, dtype=np.float32).reshape(5, 2), ["a", "b", "c", "d", "e"]
    data = tf.data.Dataset.from_tensor_slices((x, {"label": y}))
    step = {
        "batch": lambda d: d.batch(2),
        "unbatch": lambda d: d.batch(2).unbatch(),
        "enumerate": lambda d: d.enumerate().batch(2),
        "concatenate": lambda d: d.concatenate(d.map(lambda x, y: (-x, y))).batch(3),
        "take": lambda d: d.take(3).batch(2),
        "cache": lambda d: d.cache().shuffle(3, seed=1).batch(2),
        "prefetch": lambda d: d.prefetch(1).shuffle(3, seed=1).batch(2),
        "map": lambda d: d.map(lambda x, y: (y["label"], x * 2)).batch(2),
    }[step]
    made = step(data)
    return listed(made), str(made.element_spec), int(made.cardinality())


@case
def batches_of_ragged_and_sparse(tf):
    ragged = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]], []]))
    sparse = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 3], [4, 5]]))
    both = [made.batch(2) for made in (ragged, sparse)]
    return [(listed(made), str(made.element_spec)) for made in both]


@case
def reduced(tf):
    data = tf.data.Dataset.range(5)
    return [
        data.reduce(np.int64(0), lambda s, x: s + x),
        data.reduce(0, lambda s, _: s + 1),
        data.reduce((0, 1.0), lambda s, x: (s[0] + 1, s[1] * 2.0)),
        data.reduce({"n": 0}, lambda s, x: {"n": s["n"] + 1}),
        data.take(0).reduce(7, lambda s, x: s),
        data.reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0)),
    ]


@case
def single_elements(tf):
    data = tf.data.Dataset.range(5)
    return data.batch(5).get_single_element(), data.take(1).get_single_element()


@case
def numpy_elements(tf):
    data = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [["x"], ["y"]]})
    return [{k: np.asarray(v).tolist() for k, v in one.items()} for one in data.as_numpy_iterator()]


@case
def python_runs_once(tf):
    ran = []

    def function(x):
        ran.append(1)
        return x + 1

    data = tf.data.Dataset.range(5).map(function)
    before = len(ran)
    return before, [list(data), list(data)], len(ran)


@case
def lines_of_files(tf):
    folder = tempfile.mkdtemp()
    names = [os.path.join(folder, name) for name in ("a.txt", "b.txt", "c.csv")]
    for name, text in zip(names, ["1\n2\r\n\n3", "", "x\n"], strict=True):
        with open(name, "w", newline="") as file:
            file.write(text)
    files = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
    lines = tf.data.TextLineDataset(names)
    read = files.interleave(tf.data.TextLineDataset, cycle_length=2)
    return (
        [os.path.basename(f.numpy()) for f in files],
        len(files),
        listed(lines),
        listed(read),
        str(lines.element_spec),
        int(lines.cardinality()),
        listed(tf.data.TextLineDataset(files)),
        attempt(lambda: tf.data.Dataset.list_files(os.path.join(folder, "*.jpg"))),
        attempt(lambda: list(tf.data.TextLineDataset(os.path.join(folder, "none")))),
    )


@case
def records_of_files(tf):
    path = os.path.join(tempfile.mkdtemp(), "file")
    data = tf.data.Dataset.from_tensor_slices(["first", "", "third"])
    tf.data.experimental.TFRecordWriter(path).write(data)
    with open(path, "rb") as file:
        written = file.read()
    fixed = tf.data.FixedLengthRecordDataset(path, 7, header_bytes=6)
    return written, listed(tf.data.TFRecordDataset(path)), listed(fixed)


@case
def saved(tf):
    folder = tempfile.mkdtemp()
    data = tf.data.Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "", "z"]})
    data.save(folder)
    loaded = tf.data.Dataset.load(folder)
    specs = {key: str(spec) for key, spec in loaded.element_spec.items()}
    return listed(loaded), specs, int(loaded.cardinality())


@case
def cached_in_a_file(tf):
    path = os.path.join(tempfile.mkdtemp(), "cache")
    data = tf.data.Dataset.range(3).map(lambda x: (x, tf.strings.as_string(x))).cache(path)
    again = tf.data.Dataset.range(0).map(lambda x: (x, tf.strings.as_string(x))).cache(path)
    return listed(data, 3), list(data), list(again)


@case
def cached_in_memory(tf):
    ran = []

    def note(x):
        ran.append(int(x))
        return x

    data = tf.data.Dataset.range(3)
    data = data.map(lambda x: tf.numpy_function(note, [x], tf.int64)).cache()
    return list(data), list(data), list(data.take(1)), ran


@case
def structures(tf):
    data = tf.data.Dataset.range(3)
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    return (
        str(tf.data.DatasetSpec.from_value(data)),
        spec == tf.data.DatasetSpec.from_value(data),
        spec.is_compatible_with(data),
        str(tf.data.experimental.get_structure(data)),
        str(tf.data.IteratorSpec.from_value(iter(data))),
        str(data.window(2).element_spec),
        str(tf.type_spec_from_value(data)),
        tf.data.INFINITE_CARDINALITY,
        tf.data.UNKNOWN_CARDINALITY,
        tf.data.AUTOTUNE,
        bool(data),
        len(data),
    )


@case
def options(tf):
    first, second = tf.data.Options(), tf.data.Options()
    first.deterministic = False
    first.autotune.enabled = True
    policy = tf.data.experimental.AutoShardPolicy
    second.experimental_distribute.auto_shard_policy = policy.OFF
    second.threading.private_threadpool_size = 3
    data = tf.data.Dataset.range(3).with_options(first).map(lambda x: x).with_options(second)
    found = data.options()
    return (
        found.deterministic,
        found.autotune.enabled,
        int(found.experimental_distribute.auto_shard_policy),
        found.threading.private_threadpool_size,
        found.experimental_optimization.map_fusion,
        tf.data.Dataset.range(3).options() == tf.data.Options(),
        first.merge(second) == found,
        attempt(lambda: setattr(found, "deterministic", True)),
        attempt(lambda: setattr(first, "deterministic", 3)),
        attempt(lambda: setattr(first, "determinism", True)),
    )
